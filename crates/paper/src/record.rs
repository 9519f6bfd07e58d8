//! What came out, one line of JSON each.

use crate::{Error, Origin, Result};
use kinfolk_train::{Params, Weight};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A method on a split of a set: what was tried, what was chosen, how it did.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// Data set.
    pub set: String,
    /// Method, as in the experiment.
    pub method: String,
    /// Number of the split.
    pub split: usize,
    /// Its seed.
    pub seed: u64,
    /// Where the rows come from.
    pub origin: Origin,
    /// Rows for training, and for testing.
    pub rows: (usize, usize),
    /// Number of tasks.
    pub tasks: usize,
    /// Parameters chosen.
    pub params: Params,
    /// Strength chosen.
    pub point: Weight,
    /// C that it stands for.
    pub c: f64,
    /// Whether the strength is the first or last that was tried.
    pub at_the_edge: bool,
    /// Score on the test rows.
    pub score: f64,
    /// Score of each task; none where it is not defined.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub per_task: Vec<Option<f64>>,
    /// Relative gap of the fit; none where the method has no certificate.
    pub rel_gap: Option<f64>,
    /// Seconds of that fit.
    pub seconds: f64,
    /// Seconds of choosing.
    pub choosing: f64,
    /// Every setting that was tried.
    pub tried: Vec<Tried>,
    /// Theta over its largest entry, by rows, where the experiment wants it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub theta: Vec<Vec<f64>>,
    /// Names of its rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Version of kinfolk.
    pub version: String,
}

/// A setting that was tried.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Tried {
    /// Parameters.
    pub params: Params,
    /// Strength.
    pub point: Weight,
    /// Mean score over folds, or on the validation rows.
    pub score: Option<f64>,
    /// Largest relative gap of its fits.
    pub rel_gap: Option<f64>,
    /// Seconds of its fits.
    pub seconds: f64,
}

/// One fit with a stop watch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Timing {
    /// Data set.
    pub set: String,
    /// Method, as in the experiment.
    pub method: String,
    /// Which repeat.
    pub repeat: usize,
    /// Where the rows come from.
    pub origin: Origin,
    /// Tasks.
    pub tasks: usize,
    /// Rows.
    pub rows: usize,
    /// Features.
    pub features: usize,
    /// Threads.
    pub threads: usize,
    /// Strength, and the C it stands for.
    pub strength: f64,
    /// C.
    pub c: f64,
    /// Seconds until the objective was reached, or until it was given up.
    pub seconds: f64,
    /// Seconds until it came back with a certificate, for the method that sets the objective.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certified: Option<f64>,
    /// Whether it was reached.
    pub reached: bool,
    /// Primal objective at the end, and the one that was to be reached.
    pub primal: f64,
    /// The latter.
    pub target: f64,
    /// Relative gap at the end.
    pub rel_gap: f64,
    /// Seconds and primal objectives on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<(f64, f64)>,
    /// Load of the machine before, where the system tells.
    pub load: Option<f64>,
    /// Version of kinfolk.
    pub version: String,
}

/// A record that can be told from others.
pub trait Key {
    /// Not the same for any two of an experiment.
    fn key(&self) -> String;
}

impl Key for Record {
    fn key(&self) -> String {
        format!("{}/{}/{}", self.set, self.method, self.split)
    }
}

impl Key for Timing {
    fn key(&self) -> String {
        format!("{}/{}/{}/{}/{}", self.set, self.method, self.tasks, self.strength, self.repeat)
    }
}

impl Timing {
    /// The problem it is about.
    pub(crate) fn place(&self) -> (&str, usize, f64) {
        (&self.set, self.tasks, self.strength)
    }
}

/// A file of records, to which lines are added.
#[derive(Debug)]
pub struct RecordFile<T> {
    /// All that it holds.
    pub all: Vec<T>,
    path: PathBuf,
    file: Mutex<()>,
}

impl<T: Serialize + DeserializeOwned + Key> RecordFile<T> {
    /// Reads a file, which need not be there. A last line that was cut short, by a power failure, is left
    /// out and overwritten.
    ///
    /// # Errors
    /// If it cannot be read, or a line other than the last makes no sense.
    pub fn open(path: &Path) -> Result<Self> {
        let mut all = vec![];
        if let Ok(file) = File::open(path) {
            let lines: Vec<String> = BufReader::new(file)
                .lines()
                .collect::<std::io::Result<_>>()
                .map_err(|error| Error::file(path, error))?;
            let mut whole = 0u64;
            for (number, line) in lines.iter().enumerate() {
                match serde_json::from_str(line) {
                    Ok(record) => all.push(record),
                    Err(_) if number + 1 == lines.len() => cut_at(path, whole)?,
                    Err(error) => return Err(Error::file(path, format!("line {}: {error}", number + 1))),
                }
                whole += line.len() as u64 + 1;
            }
        }
        Ok(RecordFile { all, path: path.to_path_buf(), file: Mutex::new(()) })
    }

    /// Whether there is a record of this key.
    pub fn has(&self, key: &str) -> bool {
        self.all.iter().any(|record| record.key() == key)
    }

    /// Writes a line, and waits until it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn append(&self, record: &T) -> Result<()> {
        let _one_at_a_time = self.file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut line = serde_json::to_string(record).map_err(|error| Error::file(&self.path, error))?;
        line.push('\n');
        let write = || {
            let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
            file.write_all(line.as_bytes())?;
            file.sync_data()
        };
        write().map_err(|error| Error::file(&self.path, error))
    }
}

fn cut_at(path: &Path, length: u64) -> Result<()> {
    let cut = || OpenOptions::new().write(true).open(path)?.set_len(length);
    cut().map_err(|error| Error::file(path, error))
}

/// Six digits: more would only make files large.
pub(crate) fn rounded(x: f64) -> f64 {
    format!("{x:.5e}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, serde::Deserialize, PartialEq)]
    struct Line(String);

    impl Key for Line {
        fn key(&self) -> String {
            self.0.clone()
        }
    }

    #[test]
    fn a_line_cut_short_is_overwritten_and_others_are_errors() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("records.jsonl");
        let records = RecordFile::open(&path).unwrap();
        records.append(&Line("a".into())).unwrap();
        records.append(&Line("b".into())).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{text}\"c")).unwrap();
        let again: RecordFile<Line> = RecordFile::open(&path).unwrap();
        assert!(again.has("a") && again.has("b") && again.all.len() == 2);
        again.append(&Line("d".into())).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "\"a\"\n\"b\"\n\"d\"\n");
        std::fs::write(&path, "\"a\"\nx\n\"b\"\n").unwrap();
        let error = RecordFile::<Line>::open(&path).unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }

    #[test]
    fn numbers_keep_six_digits() {
        assert_eq!(rounded(123.456789), 123.457);
        assert_eq!(rounded(-1.23456789e-7), -1.23457e-7);
        assert_eq!((rounded(0.0), rounded(1e300)), (0.0, 1e300));
    }
}
