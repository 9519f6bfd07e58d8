//! A file that gets its name when it is complete.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file beside the one it is to replace. [`kinfolk::write_atomically`] for those who cannot write all at once.
pub(super) struct FileBeside {
    path: PathBuf,
    temporary: PathBuf,
    renamed: bool,
}

impl FileBeside {
    /// A new file in the folder of `path`.
    pub(super) fn create(path: &Path) -> Result<(Self, File)> {
        if fs::metadata(path).is_ok_and(|old| !old.is_file()) {
            return Err(Error::new(ErrorKind::InvalidInput, "it exists and is not a file"));
        }
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let temporary = path.with_file_name(format!(".kinfolk-rows-{process}-{count}.tmp"));
            match OpenOptions::new().write(true).create_new(true).open(&temporary) {
                Ok(file) => {
                    return Ok((FileBeside { path: path.to_path_buf(), temporary, renamed: false }, file));
                }
                // Left behind by a process of the same number that was killed.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives the file its name, once it is on the disk, and the permissions of the one it replaces.
    pub(super) fn rename(mut self, file: File) -> Result<()> {
        if let Ok(old) = fs::metadata(&self.path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        drop(file);
        fs::rename(&self.temporary, &self.path)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for FileBeside {
    fn drop(&mut self) {
        if !self.renamed {
            // If this fails there is nobody to tell.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}
