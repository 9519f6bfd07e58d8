//! One array of an archive, whatever it means.

use super::archive::Archive;
use super::columns::numbers;
use crate::format::{Compression, InputFile};
use crate::{Error, Result};
use kinfolk::Matrix;
use std::path::Path;

/// An array of numbers of an npz file, by name: a list as a matrix of one row. Booleans are 0 and 1.
///
/// # Errors
/// If the file or the array cannot be read, holds strings, or has more than two dimensions.
pub fn read_array(path: &Path, name: &str) -> Result<Matrix> {
    let read = || {
        let mut archive = Archive::open(InputFile::new(path, None, Compression::None).bytes()?)?;
        let (header, column) = archive.column(name)?;
        let (rows, cols) = match header.shape[..] {
            [n] => (1, n),
            [rows, cols] if !header.fortran => (rows, cols),
            _ => {
                return Err(wrong!(
                    "it has shape {}; expected a list or a table by rows",
                    header.shape_text()
                )
                .in_column(name));
            }
        };
        let values = numbers(column, name)?;
        Matrix::from_vec(values, rows as usize, cols as usize)
            .map_err(|error| Error::of_table(error).in_column(name))
    };
    read().map_err(|error: Error| error.in_file(path))
}
