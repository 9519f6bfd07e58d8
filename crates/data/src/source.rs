//! The one door to all formats.

use crate::{Columns, Error, Recipe, Result, Table};
use std::path::Path;

/// A kind of file, known by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.npz`: arrays `X` or `K`, and `y` and `task`, or `label`, or `Y`.
    Npz,
    /// `.npy`: inputs alone.
    Npy,
    /// `.csv` or `.csv.gz`.
    Csv,
    /// `.parquet`.
    Parquet,
    /// `.svm`, `.svmlight`, `.libsvm`: sparse, the task as `qid:`.
    Svm,
}

/// Rows of a file, a chunk at a time.
pub trait Source: Send {
    /// The next rows, at most this many; `None` at the end. Chunks are whole tables whose features agree.
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>>;

    /// How many rows there are in all, if the format tells beforehand.
    fn n_rows(&self) -> Option<usize> {
        None
    }

    /// The recipe that reads another file the same way.
    fn recipe(&self) -> Recipe;
}

/// Opens a file for reading in chunks, as it was first read (`recipe`) or as the caller says (`columns`).
pub fn open(path: &Path, columns: &Columns, recipe: Option<&Recipe>) -> Result<Box<dyn Source>> {
    let _ = (columns, recipe);
    Err(Error::new(path, "not yet"))
}

/// Reads a whole file.
pub fn read(path: &Path, columns: &Columns, recipe: Option<&Recipe>) -> Result<(Table, Recipe)> {
    let _ = (columns, recipe);
    Err(Error::new(path, "not yet"))
}
