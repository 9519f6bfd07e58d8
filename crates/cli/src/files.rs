//! Files: how they are replaced, which formats there are.

use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::limits::Need;
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

/// Formats of files that hold data with labels, for help texts.
pub(crate) fn data_formats() -> String {
    format!("{}; see `kinfolk data info`", kinfolk_io::format_names(|format| format.holds_targets))
}

/// All formats of data files, for help texts.
pub(crate) fn all_formats() -> String {
    kinfolk_io::format_names(|_| true)
}

/// A text file; devices and pipes, which may be endless, are refused.
pub(crate) fn read_text(path: &Path) -> Result<String> {
    let bytes = kinfolk::read_file(path).map_err(|error| Failure::input(error).about(path))?;
    String::from_utf8(bytes).map_err(|_| Failure::input("it is not text (utf-8)").about(path))
}

/// A model file of `fit` or `select`.
pub(crate) fn load_model(path: &Path) -> Result<Trained> {
    trained(path, load_any_model(path)?)
}

/// Any model file.
pub(crate) fn load_any_model(path: &Path) -> Result<Model> {
    Need::model(path).check().map_err(|failure| failure.about(path))?;
    Ok(Model::load(path)?)
}

/// A model that was loaded from there, with its spec.
pub(crate) fn trained(path: &Path, model: Model) -> Result<Trained> {
    Trained::from_model(model).map_err(|error| Failure::from(error).about(path))
}
