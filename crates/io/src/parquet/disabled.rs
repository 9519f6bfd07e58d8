//! A program built without parquet says so.

use crate::{Columns, Error, Recipe, Result, Source, Table};
use std::path::Path;

/// What would read parquet files.
pub struct ParquetSource(std::convert::Infallible);

impl ParquetSource {
    /// Says that it cannot.
    pub fn open(path: &Path, _: &Columns, _: Option<&Recipe>) -> Result<Self> {
        Err(refusal(path))
    }

    /// Says that it cannot.
    pub fn from_bytes(path: &Path, _: &[u8], _: &Columns, _: Option<&Recipe>) -> Result<Self> {
        Err(refusal(path))
    }
}

impl Source for ParquetSource {
    fn next_chunk(&mut self, _: usize) -> Result<Option<Table>> {
        match self.0 {}
    }

    fn recipe(&self) -> Recipe {
        match self.0 {}
    }
}

fn refusal(path: &Path) -> Error {
    Error::new(path, "this program was built without parquet; rebuild it with --features parquet")
}
