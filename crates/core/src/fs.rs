//! Reads whole files, and replaces a file as a whole or not at all.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A new file that replaces `path` when it is [committed](Self::commit). Until then it lies beside `path`
/// under the name `.kinfolk-PROCESS-RANDOM.tmp`, and it is removed again if it is dropped. At any moment
/// there is either the old file or the whole new one.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: NamedTempFile,
    path: PathBuf,
    /// Largest size in bytes, if there is a limit: beyond it the system would end the program by a signal.
    limit: Option<u64>,
}

impl AtomicFile {
    /// Creates the file in the folder of `path`.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] if `path` names no file or something that is not a file, or the system's
    /// error.
    pub fn create(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref().to_path_buf();
        match fs::metadata(&path) {
            // Renaming onto a device or a pipe would replace it by a file.
            Ok(old) if !old.is_file() => {
                return Err(Error::new(ErrorKind::InvalidInput, "it exists and is not a file"));
            }
            // Renaming needs no write permission of the file that it replaces; without one the file is to stay.
            Ok(old) if old.permissions().readonly() => {
                return Err(Error::new(ErrorKind::PermissionDenied, "it is write-protected"));
            }
            // A name that is too long, or links in a circle: renaming would fail, too, after all the work.
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        if path.file_name().is_none() {
            return Err(Error::new(ErrorKind::InvalidInput, "it is not the name of a file"));
        }
        let prefix = temporary_prefix();
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(TEMPORARY_SUFFIX);
        // Like any new file: readable for others as far as the user's mask allows.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(folder_of(&path)).map_err(without_name)?;
        Ok(AtomicFile { temporary, path, limit: size_limit() })
    }

    /// Flushes the file to the disk and gives it its name and the permissions of the file it replaces.
    ///
    /// # Errors
    /// The system's error. Then the new file is removed and the old one is as it was.
    pub fn commit(self) -> Result<()> {
        let file = self.temporary.as_file();
        if let Ok(old) = fs::metadata(&self.path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        self.temporary.persist(&self.path).map_err(|error| error.error)?;
        // The new name must survive a power failure too. Not every system can sync a folder, and the file is
        // in its place already: no reason to fail.
        let _ = File::open(folder_of(&self.path)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let file = self.temporary.as_file_mut();
        if let Some(limit) = self.limit
            && file.stream_position()?.saturating_add(bytes.len() as u64) > limit
        {
            let why = format!("it would be larger than the limit of file sizes, {limit} bytes (ulimit -f)");
            return Err(Error::new(ErrorKind::FileTooLarge, why));
        }
        file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.temporary.as_file_mut().flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.temporary.as_file_mut().seek(to)
    }
}

/// Writes a file with [`AtomicFile`]: `fill` writes the content.
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
/// What `fill` or the system says; then the old file is as it was.
pub fn write_atomically(
    path: impl AsRef<Path>,
    fill: impl FnOnce(&mut AtomicFile) -> Result<()>,
) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    fill(&mut file)?;
    file.commit()
}

/// Reads a whole file. Devices and pipes, which may be endless, are refused.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] if it is not a file, or the system's error.
pub fn read_file(path: impl AsRef<Path>) -> Result<Vec<u8>> {
    if !fs::metadata(&path)?.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is not a file"));
    }
    fs::read(path)
}

/// Removes the unfinished files that this process left in a folder: for a program that is ended by a signal.
pub fn remove_unfinished(folder: &Path) {
    let prefix = temporary_prefix();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(&prefix) && name.ends_with(TEMPORARY_SUFFIX) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The limit of the size of files of this process, where the system says it.
fn size_limit() -> Option<u64> {
    let limits = fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    line.split_whitespace().next()?.parse().ok()
}

const TEMPORARY_SUFFIX: &str = ".tmp";

fn temporary_prefix() -> String {
    format!(".kinfolk-{}-", std::process::id())
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// The error without the name of the temporary file, which tempfile adds to the system's own words.
fn without_name(error: Error) -> Error {
    let text = error.to_string();
    let reason = text.split(" at path ").next().unwrap_or(&text);
    Error::new(error.kind(), reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_too_long_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        assert!(AtomicFile::create(directory.path().join("x".repeat(300))).is_err());
        assert_eq!(directory.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn a_write_protected_file_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("model");
        std::fs::write(&path, b"old").unwrap();
        let mut permissions = std::fs::metadata(&path).unwrap().permissions();
        permissions.set_readonly(true);
        std::fs::set_permissions(&path, permissions).unwrap();
        let error = write_atomically(&path, |file| file.write_all(b"new")).unwrap_err();
        assert_eq!(error.to_string(), "it is write-protected");
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    }

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

    #[test]
    fn unfinished_files_of_this_process_are_removed_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join(".kinfolk-0-abc.tmp");
        fs::write(&other, "of another process").unwrap();
        let unfinished = AtomicFile::create(directory.path().join("model")).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
        remove_unfinished(directory.path());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(other.is_file());
        assert!(unfinished.commit().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_usual_permissions_and_a_replaced_one_its_own() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let (plain, path) = (directory.path().join("plain"), directory.path().join("model"));
        fs::write(&plain, "").unwrap();
        write_atomically(&path, |_| Ok(())).unwrap();
        assert_eq!(mode(&path), mode(&plain));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        write_atomically(&path, |_| Ok(())).unwrap();
        assert_eq!(mode(&path), 0o640);
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_is_not_there_is_the_systems_error() {
        let error = AtomicFile::create("/no/such/folder/model").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(error.to_string(), "No such file or directory (os error 2)");
    }
}
