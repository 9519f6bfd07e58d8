//! Files: where they can be written, how they are replaced, which formats there are.

use crate::failure::{Failure, Result};
use crate::interrupt;
use kinfolk::Model;
use kinfolk_train::Trained;
use std::io::Write;
use std::path::Path;

/// Replaces a file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    interrupt::will_write(path);
    kinfolk::write_atomically(path, |file| file.write_all(bytes))
        .map_err(|error| Failure::output(format!("{}: {error}", path.display())))
}

/// `Err` if nothing can be written there, found out before the work and not after it.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
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

/// Formats of files that hold data with labels, for help texts.
pub(crate) fn data_formats() -> String {
    format!("{}; see `kinfolk data info`", kinfolk_io::format_names(|format| format.holds_targets))
}

/// All formats of data files, for help texts.
pub(crate) fn all_formats() -> String {
    kinfolk_io::format_names(|_| true)
}

/// A model file of `fit` or `select`.
pub(crate) fn load_model(path: &Path) -> Result<Trained> {
    trained(path, Model::load(path)?)
}

/// A model that was loaded from there, with its spec.
pub(crate) fn trained(path: &Path, model: Model) -> Result<Trained> {
    Trained::from_model(model).map_err(|error| Failure::from(error).about(path))
}
