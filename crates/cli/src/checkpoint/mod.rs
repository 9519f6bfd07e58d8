//! Checkpoints: a long fit that was killed goes on where it was, to the same bits.
//!
//! A checkpoint is a safetensors file with the duals, how many passes they took, and a fingerprint of data
//! and parameters: going on with others would give an answer to neither question.

mod fingerprint;

pub(crate) use fingerprint::Fingerprint;

use crate::failure::{Failure, Result};
use crate::files;
use kinfolk::{Progress, Snapshot};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Entry of the metadata that makes a safetensors file a checkpoint.
pub(crate) const KEY: &str = "kinfolk_checkpoint";
const VERSION: u32 = 2;
/// Its checksum did not cover where the fit stands, only the duals.
const VERSION_WITHOUT_STATE: u32 = 1;
/// A fit of the first version has not taken more passes than that: it would have taken years.
const MOST_PASSES: usize = 1 << 40;

/// What is stored under [`KEY`].
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    solver: String,
    seed: u64,
    passes: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<(usize, f64)>,
    alpha_crc32: u32,
    /// Of everything above but the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state_crc32: Option<u32>,
    fingerprint: Fingerprint,
}

/// Writes checkpoints now and then.
#[derive(Debug)]
pub(crate) struct Saver {
    path: PathBuf,
    every: Duration,
    fingerprint: Fingerprint,
    written: Instant,
    /// Newer than what is on the disk.
    pending: Option<Snapshot>,
    any: bool,
    failed: Option<Failure>,
}

impl Saver {
    pub(crate) fn new(path: &Path, every: Duration, fingerprint: Fingerprint) -> Self {
        let (path, written) = (path.to_path_buf(), Instant::now());
        Saver { path, every, fingerprint, written, pending: None, any: false, failed: None }
    }

    /// Takes note of where a fit stands, and writes it down if it is time.
    pub(crate) fn offer(&mut self, progress: &Progress<'_>) {
        let Some(snapshot) = progress.snapshot() else { return };
        (self.pending, self.any) = (Some(snapshot), true);
        if self.written.elapsed() >= self.every {
            let written = self.write();
            // A full disk now is no reason to lose the fit; it is told at the end.
            self.failed = written.err().inspect(|failure| tracing::warn!("{failure}"));
        }
    }

    /// Writes down the last point of a fit, so that nothing is lost; whether there was any to write.
    pub(crate) fn finish(mut self) -> Result<bool> {
        self.write()?;
        self.failed.map_or(Ok(self.any), Err)
    }

    fn write(&mut self) -> Result<()> {
        let Some(snapshot) = self.pending.take() else { return Ok(()) };
        files::write(&self.path, &to_bytes(&snapshot, &self.fingerprint)?)?;
        tracing::info!("checkpoint after {} passes in {}", snapshot.passes, self.path.display());
        self.written = Instant::now();
        Ok(())
    }
}

fn to_bytes(snapshot: &Snapshot, fingerprint: &Fingerprint) -> Result<Vec<u8>> {
    let bytes: Vec<u8> = snapshot.alpha.iter().flat_map(|a| a.to_le_bytes()).collect();
    let header = Header {
        version: VERSION,
        solver: snapshot.solver.clone(),
        seed: snapshot.seed,
        passes: snapshot.passes,
        previous: snapshot.previous,
        alpha_crc32: crc32fast::hash(&bytes),
        state_crc32: Some(state_crc32(snapshot)),
        fingerprint: fingerprint.clone(),
    };
    let header = serde_json::to_string(&header).map_err(Failure::output)?;
    let alpha = TensorView::new(Dtype::F64, vec![snapshot.alpha.len()], &bytes).map_err(Failure::output)?;
    let metadata = HashMap::from([(KEY.to_string(), header)]);
    safetensors::serialize([("alpha", alpha)], Some(metadata)).map_err(Failure::output)
}

/// A checksum of where a fit stands, without its duals.
fn state_crc32(snapshot: &Snapshot) -> u32 {
    let Snapshot { solver, seed, passes, previous, .. } = snapshot;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(solver.as_bytes());
    let (before, gap) = previous.map_or((u64::MAX, 0.0), |(before, gap)| (before as u64, gap));
    [*seed, *passes as u64, before, gap.to_bits()].iter().for_each(|own| hasher.update(&own.to_le_bytes()));
    hasher.finalize()
}

/// The checkpoint of this very fit; `None` if there is no file.
pub(crate) fn load(path: &Path, fingerprint: &Fingerprint) -> Result<Option<Snapshot>> {
    let wrong = |why: String| Failure::input(why).about(path);
    let bytes = match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|error| wrong(error.to_string()))?,
    };
    let (header, snapshot) =
        from_bytes(&bytes).map_err(|why| wrong(format!("it is not a valid checkpoint: {why}")))?;
    let differences = header.fingerprint.differences(fingerprint);
    if !differences.is_empty() {
        return Err(wrong(format!(
            "this checkpoint is of another fit: {}; leave out --resume to start from the beginning",
            differences.join("; ")
        )));
    }
    Ok(Some(snapshot))
}

fn from_bytes(bytes: &[u8]) -> std::result::Result<(Header, Snapshot), String> {
    let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| error.to_string())?;
    let text = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
    let header: Header = serde_json::from_str(text.ok_or("it has no entry for kinfolk")?)
        .map_err(|error| format!("its entry for kinfolk: {error}"))?;
    if ![VERSION, VERSION_WITHOUT_STATE].contains(&header.version) {
        return Err(format!("it has version {}, this program knows {VERSION}", header.version));
    }
    let tensors = SafeTensors::deserialize(bytes).map_err(|error| error.to_string())?;
    let alpha = tensors.tensor("alpha").map_err(|error| error.to_string())?;
    if alpha.dtype() != Dtype::F64 || crc32fast::hash(alpha.data()) != header.alpha_crc32 {
        return Err("its duals are damaged".into());
    }
    let number = |chunk: &[u8; 8]| f64::from_le_bytes(*chunk);
    let alpha: Vec<f64> = alpha.data().as_chunks::<8>().0.iter().map(number).collect();
    if let Some(i) = alpha.iter().position(|a| !a.is_finite()) {
        return Err(format!("dual {i} is {}", alpha[i]));
    }
    let Header { ref solver, seed, passes, previous, .. } = header;
    let snapshot = Snapshot { solver: solver.clone(), seed, passes, previous, alpha };
    let is_sound = match header.version {
        VERSION_WITHOUT_STATE => passes <= MOST_PASSES,
        _ => header.state_crc32 == Some(state_crc32(&snapshot)),
    };
    if !is_sound {
        return Err("its count of passes, or what stands beside it, is damaged".into());
    }
    Ok((header, snapshot))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> (Snapshot, Fingerprint) {
        let snapshot = Snapshot {
            solver: "sdca".into(),
            seed: 7,
            passes: 12,
            previous: Some((9, 0.1)),
            alpha: vec![0.5, -1e-300, 3.0],
        };
        (snapshot, Fingerprint::example())
    }

    #[test]
    fn a_checkpoint_comes_back_to_the_last_bit() {
        let (snapshot, fingerprint) = example();
        let bytes = to_bytes(&snapshot, &fingerprint).unwrap();
        let (header, back) = from_bytes(&bytes).unwrap();
        assert_eq!((back.alpha, back.passes, back.seed, back.solver), (snapshot.alpha, 12, 7, "sdca".into()));
        assert!(header.fingerprint.differences(&fingerprint).is_empty());
    }

    #[test]
    fn damage_of_any_byte_is_noticed_or_harmless() {
        let (snapshot, fingerprint) = example();
        let bytes = to_bytes(&snapshot, &fingerprint).unwrap();
        for i in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[i] ^= 1;
            if let Ok((_, back)) = from_bytes(&damaged) {
                assert_eq!(back.alpha, snapshot.alpha, "byte {i}");
                assert_eq!((back.passes, back.seed), (snapshot.passes, snapshot.seed), "byte {i}");
                assert_eq!((back.previous, &back.solver), (snapshot.previous, &snapshot.solver), "byte {i}");
            }
            assert!(from_bytes(&bytes[..i]).is_err(), "cut at {i}");
        }
    }

    #[test]
    fn checkpoints_of_the_first_version_are_read_unless_no_fit_can_be_there() {
        let (snapshot, fingerprint) = example();
        let bytes = to_bytes(&snapshot, &fingerprint).unwrap();
        let (mut header, _) = from_bytes(&bytes).unwrap();
        (header.version, header.state_crc32) = (VERSION_WITHOUT_STATE, None);
        let alpha: Vec<u8> = snapshot.alpha.iter().flat_map(|a| a.to_le_bytes()).collect();
        let old = |header: &Header| {
            let alpha = TensorView::new(Dtype::F64, vec![snapshot.alpha.len()], &alpha).unwrap();
            let metadata = HashMap::from([(KEY.to_string(), serde_json::to_string(header).unwrap())]);
            safetensors::serialize([("alpha", alpha)], Some(metadata)).unwrap()
        };
        assert_eq!(from_bytes(&old(&header)).unwrap().1.passes, 12);
        header.passes = usize::MAX;
        assert!(from_bytes(&old(&header)).unwrap_err().contains("passes"));
    }

    #[test]
    fn another_fit_is_refused_and_no_file_is_a_fresh_start() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.checkpoint");
        let (snapshot, fingerprint) = example();
        assert!(load(&path, &fingerprint).unwrap().is_none());
        std::fs::write(&path, to_bytes(&snapshot, &fingerprint).unwrap()).unwrap();
        assert_eq!(load(&path, &fingerprint).unwrap().unwrap().passes, 12);
        let message = load(&path, &fingerprint.with_other_c()).unwrap_err().to_string();
        assert!(
            message.ends_with(
                "this checkpoint is of another fit: c was 1.0 and is 2.0; \
                 leave out --resume to start from the beginning"
            ),
            "{message}"
        );
    }
}
