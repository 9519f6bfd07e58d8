//! Which files a command may write: none that it reads, no file twice, and nothing that may be somebody else's.

use crate::args::Global;
use crate::failure::{Failure, Result};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a command writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputKind {
    Model,
    Checkpoint,
    Trace,
    Results,
    Report,
    /// A page for `man`.
    Manual,
    /// A format that other programs write too. Such a file may be anybody's.
    General,
}

/// Bytes at the start of a file by which its kind is recognised.
const SNIFFED_BYTES: u64 = 4096;

impl OutputKind {
    fn name(self) -> &'static str {
        match self {
            OutputKind::Model => "a model of kinfolk",
            OutputKind::Checkpoint => "a checkpoint of kinfolk",
            OutputKind::Trace => "a trace of kinfolk fit",
            OutputKind::Results => "results of kinfolk select",
            OutputKind::Report => "a report of kinfolk",
            OutputKind::Manual => "a manual page of kinfolk",
            OutputKind::General => "a file of kinfolk",
        }
    }

    /// Whether a file that starts like this was written by a command that writes this kind.
    fn recognises(self, start: &[u8]) -> bool {
        let text = String::from_utf8_lossy(start);
        match self {
            OutputKind::Model => text.contains("\"__metadata__\"") && text.contains("\"kinfolk\":"),
            OutputKind::Checkpoint => text.contains(&format!("\"{}\":", crate::checkpoint::KEY)),
            OutputKind::Trace => text.starts_with(crate::trace::HEADER),
            OutputKind::Results => text.starts_with("{\"metric\":"),
            OutputKind::Report => text.contains("kinfolk report</title>"),
            OutputKind::Manual => text.lines().any(|line| line.starts_with(".TH kinfolk")),
            OutputKind::General => false,
        }
    }

    /// Whether a file may be replaced without being asked: one of this kind, or an empty one.
    pub(crate) fn may_replace(self, path: &Path) -> bool {
        let mut start = vec![];
        let read =
            std::fs::File::open(path).and_then(|file| file.take(SNIFFED_BYTES).read_to_end(&mut start));
        read.is_ok() && (start.is_empty() || self.recognises(&start))
    }
}

/// All files of a command line.
#[derive(Debug, Default)]
pub(crate) struct CommandFiles {
    read: Vec<PathBuf>,
    written: Vec<(PathBuf, OutputKind)>,
}

impl CommandFiles {
    /// Files that are read.
    pub(crate) fn reads<'a>(
        mut self,
        paths: impl IntoIterator<Item = &'a (impl AsRef<Path> + 'a + ?Sized)>,
    ) -> Self {
        self.read.extend(paths.into_iter().map(|path| path.as_ref().to_path_buf()));
        self
    }

    /// Files that are written.
    pub(crate) fn writes<'a>(
        mut self,
        paths: impl IntoIterator<Item = &'a (impl AsRef<Path> + 'a + ?Sized)>,
        kind: OutputKind,
    ) -> Self {
        self.written.extend(paths.into_iter().map(|path| (path.as_ref().to_path_buf(), kind)));
        self
    }

    /// `Err` if a file cannot or must not be written, found out before the work and not after it.
    pub(crate) fn check(&self, global: &Global) -> Result<()> {
        let identities: Vec<Identity> = self.written.iter().map(|(path, _)| Identity::of(path)).collect();
        for (i, (path, kind)) in self.written.iter().enumerate() {
            if path.as_os_str() == "-" {
                return Err(Failure::usage(format!(
                    "-: {} goes to a file, not to standard output; give it a name",
                    kind.name()
                )));
            }
            check_place(path)?;
            let refuse = |why: String| Err(Failure::usage(why).about(path));
            // Standard input may be a file, too.
            let source = |path: &Path| match path.as_os_str() == "-" {
                true => Identity::of(Path::new("/dev/stdin")),
                false => Identity::of(path),
            };
            let same = |other: &&PathBuf| source(other) == identities[i];
            if let Some(other) = self.read.iter().find(same) {
                let name = if other == path { String::new() } else { format!(" (as {})", other.display()) };
                return refuse(format!(
                    "this command reads it{name} and would replace it: write to another file"
                ));
            }
            if identities[..i].contains(&identities[i]) {
                return refuse("two outputs have this name".into());
            }
            if path.exists() && !global.force && !kind.may_replace(path) {
                let what = match kind {
                    OutputKind::General => "it exists: replace it with --force".into(),
                    _ => format!("it exists and is not {}: replace it with --force", kind.name()),
                };
                return Err(Failure::output(what).about(path));
            }
            // A hidden file in the same folder, gone again at once: whether one may be written there at all.
            kinfolk::AtomicFile::create(path).map_err(|error| Failure::output(error).about(path))?;
        }
        Ok(())
    }
}

/// What became of the files that a command writes after its work: one that cannot be written (a full disk) keeps no
/// other from being written, and is told at the end.
#[derive(Debug, Default)]
pub(crate) struct Written(Vec<Failure>);

impl Written {
    /// Takes note of one; whether it is there.
    pub(crate) fn add(&mut self, written: Result<()>) -> bool {
        let is_there = written.is_ok();
        self.0.extend(written.err());
        is_there
    }

    /// `Err` with all that could not be written.
    pub(crate) fn finish(self) -> Result<()> {
        match self.0.into_iter().reduce(Failure::and) {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }
}

/// `Err` if the name of a file promises another format than the only one that is written. Names without an ending
/// promise nothing.
pub(crate) fn check_ending(path: &Path, option: &str, endings: &[&str]) -> Result<()> {
    let Some(ending) = path.extension() else { return Ok(()) };
    if endings.iter().any(|known| ending.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let known = endings[0];
    let better = path.with_extension(known);
    let better = crate::failure::argument(&better.to_string_lossy());
    let format = known.to_uppercase();
    Err(Failure::usage(format!("{option} writes {format}, whatever the ending: name it {better}"))
        .about(path))
}

/// `Err` if nothing can be written there.
fn check_place(path: &Path) -> Result<()> {
    let refuse = |why: &str| Err(Failure::output(format!("{}: {why}", path.display())));
    if path.file_name().is_none() {
        return refuse("it is not the name of a file");
    }
    if path.exists() && !path.is_file() {
        return refuse("it exists and is not a file");
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            refuse("there is no such folder")
        }
        _ => Ok(()),
    }
}

/// What a name stands for: links, `./` and other spellings of one file have the same identity.
#[derive(Debug, PartialEq, Eq)]
enum Identity {
    /// Device and number of a file.
    #[cfg(unix)]
    File(u64, u64),
    /// Where a file is, or will be.
    Place(PathBuf),
}

impl Identity {
    fn of(path: &Path) -> Self {
        #[cfg(unix)]
        if let Ok(file) = std::fs::metadata(path) {
            use std::os::unix::fs::MetadataExt;
            return Identity::File(file.dev(), file.ino());
        }
        if let Ok(place) = path.canonicalize() {
            return Identity::Place(place);
        }
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let place = parent.canonicalize().unwrap_or_else(|_| parent.to_path_buf());
        let name = path.file_name().unwrap_or_default();
        // Where names differ in more than their case.
        let name = match cfg!(any(windows, target_os = "macos")) {
            true => name.to_string_lossy().to_lowercase().into(),
            false => name.to_os_string(),
        };
        Identity::Place(place.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_written_is_told_at_the_end() {
        let mut written = Written::default();
        assert!(!written.add(Err(Failure::output("a.csv: the disk is full"))));
        assert!(written.add(Ok(())));
        assert!(!written.add(Err(Failure::output("b.json: the disk is full"))));
        let failure = written.finish().unwrap_err();
        assert_eq!(failure.to_string(), "a.csv: the disk is full; b.json: the disk is full");
        assert_eq!(failure.code, crate::failure::OUTPUT);
        assert!(Written::default().finish().is_ok());
    }

    #[test]
    fn manual_pages_of_others_are_not_ours() {
        let page = |command: &str| format!(".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH {command} 1 \n");
        assert!(OutputKind::Manual.recognises(page("kinfolk-fit").as_bytes()));
        assert!(!OutputKind::Manual.recognises(page("git-fit").as_bytes()));
    }
}
