//! Replacing a file at once or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, ErrorKind, Result};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Makes a new file beside `path`, has it filled, flushes it to the disk and renames it. On failure the new file is removed
/// again and the old one is as it was.
pub(super) fn write_atomically(path: &Path, fill: impl FnOnce(&mut File) -> Result<()>) -> Result<()> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    if fs::metadata(path).is_ok_and(|old| !old.is_file()) {
        return Err(Error::new(ErrorKind::InvalidInput, "it exists and is not a file"));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let temporary = directory.join(format!(".kinfolk-data-{process}-{count}.tmp"));
    let mut file = OpenOptions::new().read(true).write(true).create_new(true).open(&temporary)?;
    let filled = fill(&mut file).and_then(|()| file.sync_all());
    drop(file);
    filled.and_then(|()| fs::rename(&temporary, path)).inspect_err(|_| {
        // If this fails too, the first error is the one to tell.
        let _ = fs::remove_file(&temporary);
    })
}
