//! Ctrl-C: the first one asks a fit to end with the model it has, the second ends the program at once. Where there is
//! nothing to save the first is the second.

use crate::failure::INTERRUPTED;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
static CAN_END_WELL: AtomicBool = AtomicBool::new(false);
/// Where unfinished files may lie.
static OUTPUTS: Mutex<Vec<PathBuf>> = Mutex::new(vec![]);

/// Starts to listen. Without signals (a strange system) Ctrl-C is what it always was.
pub(crate) fn listen() {
    let heard = || {
        if !CAN_END_WELL.load(Ordering::SeqCst) || ASKED.swap(true, Ordering::SeqCst) {
            remove_unfinished();
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    if let Err(error) = ctrlc::set_handler(heard) {
        tracing::warn!("Ctrl-C cannot be caught: {error}");
    }
}

/// Whether Ctrl-C was pressed during the work that [`end_well`] announced.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// From now on the work looks at [`asked`] and ends well by itself.
pub(crate) fn end_well() {
    CAN_END_WELL.store(true, Ordering::SeqCst);
}

/// The work that looks is over: from now on Ctrl-C ends the program at once, as before.
pub(crate) fn end_at_once() {
    CAN_END_WELL.store(false, Ordering::SeqCst);
}

/// Announces a file that will be written, so that nothing unfinished stays beside it.
pub(crate) fn will_write(path: &Path) {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    };
    OUTPUTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(directory);
}

fn remove_unfinished() {
    let Ok(directories) = OUTPUTS.try_lock() else { return };
    directories.iter().for_each(|directory| kinfolk::remove_unfinished(directory));
}
