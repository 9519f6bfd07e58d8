//! Replacing a file at once or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes a new file beside `path`, has it filled, flushes it to the disk and renames it to `path`: at any moment there is
/// either the old file or the whole new one. The new file gets the permissions of the old one.
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
/// What `fill` or the system says, or [`ErrorKind::InvalidInput`] if something that is not a file has this name. The new
/// file is removed again and the old one is as it was. A process that is killed on the way leaves a file
/// `.kinfolk-*.tmp` behind.
pub fn write_atomically(path: impl AsRef<Path>, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    let path = path.as_ref();
    let old = fs::metadata(path).ok();
    // Renaming onto a device or a pipe would replace it by a file.
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(Error::new(ErrorKind::InvalidInput, "it exists and is not a file"));
    }
    if path.file_name().is_none() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not the name of a file"));
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (mut file, temporary) = create_in(directory)?;
    let finish = || {
        fill(&mut file)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()
    };
    let finished = finish();
    drop(file);
    if let Err(error) = finished.and_then(|()| fs::rename(&temporary, path)) {
        // If this fails too, the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    // So that the new name outlives a power failure too. The old file is gone already and not every system can do this:
    // no reason to fail.
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
    Ok(())
}

/// A new file with a name that nothing else has.
fn create_in(directory: &Path) -> Result<(File, PathBuf)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let temporary = directory.join(format!(".kinfolk-{process}-{count}.tmp"));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            // Left behind by a process of the same number that was killed, here or on another machine.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(error),
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
