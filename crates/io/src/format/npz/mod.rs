//! `.npz`: numpy's archives of arrays, inputs with everything that belongs to them.

mod archive;
mod columns;
mod read;
mod read_array;
mod targets;
mod write;

pub use read_array::read_array;

use super::{FileFormat, InputFile, OutputFile, npy};
use crate::{ColumnRoles, Result, Schema, Source, Table};

/// An archive of arrays.
pub(super) struct Npz;

impl FileFormat for Npz {
    fn extensions(&self) -> &'static [&'static str] {
        &["npz"]
    }

    fn open(
        &self,
        input: &InputFile,
        columns: &ColumnRoles,
        schema: Option<&Schema>,
    ) -> Result<Box<dyn Source>> {
        Ok(Box::new(read::NpzSource::open(input, columns, schema)?))
    }

    fn check(&self, table: &Table) -> Result<()> {
        npy::check_size(table)
    }

    fn write_table(&self, table: &Table, to: OutputFile) -> Result<OutputFile> {
        Ok(write::write(table, to)?)
    }
}
