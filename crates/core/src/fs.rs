//! Replaces a file completely or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes a new file in the same folder, flushes it to the disk and renames it to `path`: at any moment there is
/// either the old file or the complete new one. The new file gets the permissions of the old one.
///
/// ```
/// use std::io::Write;
/// let directory = tempfile::tempdir()?;
/// let path = directory.path().join("answer.txt");
/// kinfolk::write_atomically(&path, |file| file.write_all(b"42"))?;
/// assert_eq!(std::fs::read(&path)?, b"42");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Errors of `fill` or of the system, or [`ErrorKind::InvalidInput`] if `path` exists and is not a file. The new
/// file is then removed and the old one is unchanged. A process that is killed in between leaves a file
/// `.kinfolk-PROCESS-NUMBER.tmp` behind.
pub fn write_atomically(path: impl AsRef<Path>, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let (replacement, mut file) = AtomicFile::create(path)?;
    fill(&mut file)?;
    replacement.commit(file)
}

/// A file that gets its name when it is complete: [`write_atomically`] for content that arrives in parts.
///
/// If it is dropped before [`commit`](Self::commit), the new file is removed and the old one is unchanged.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    temporary: PathBuf,
    committed: bool,
}

impl AtomicFile {
    /// Creates an empty file in the folder of `path`, to be written by the caller.
    ///
    /// # Errors
    /// Errors of the system, or [`ErrorKind::InvalidInput`] if `path` exists and is not a file.
    pub fn create(path: impl AsRef<Path>) -> Result<(Self, File)> {
        let path = path.as_ref();
        // Renaming onto a device or a pipe would replace it by a file.
        if fs::metadata(path).is_ok_and(|old| !old.is_file()) {
            return Err(Error::new(ErrorKind::InvalidInput, "it exists and is not a file"));
        }
        if path.file_name().is_none() {
            return Err(Error::new(ErrorKind::InvalidInput, "it is not the name of a file"));
        }
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let temporary = path.with_file_name(format!(".kinfolk-{process}-{count}.tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    return Ok((AtomicFile { path: path.to_path_buf(), temporary, committed: false }, file));
                }
                // A killed process with the same number left it behind.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
        }
    }

    /// Flushes the file to the disk and gives it its name.
    ///
    /// # Errors
    /// Errors of the system.
    pub fn commit(mut self, file: File) -> Result<()> {
        if let Ok(old) = fs::metadata(&self.path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        drop(file);
        fs::rename(&self.temporary, &self.path)?;
        self.committed = true;
        // The new name must survive a power failure too. Not every system supports this, so errors are ignored.
        let directory = match self.path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let _ = File::open(directory).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.committed {
            // An error here must not hide the first one.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn an_interrupted_write_leaves_the_old_file_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model");
        write_atomically(&path, |file| file.write_all(b"old")).unwrap();
        let error = write_atomically(&path, |file| {
            file.write_all(b"half of the n")?;
            Err(Error::other("the disk is full"))
        });
        assert_eq!(error.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn a_failed_rename_leaves_nothing_behind() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model");
        // A directory appears under that name while the file is being written.
        let error = write_atomically(&path, |_| fs::create_dir_all(path.join("inside")));
        assert!(error.is_err());
        assert!(path.is_dir());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
