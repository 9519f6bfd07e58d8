//! `.npy`: one array of numpy, header then items. Inputs alone: there is no room for anything else.
//!
//! The header is parsed here and not by a crate (npyz): a header's claims are limited before memory is set
//! aside, pickled and structured arrays are refused with a reason, and npz shares all of it. A crate would
//! replace the small parser alone.

mod header;
mod matrix;
mod read;
mod values;
mod write;

pub(super) use header::{ArrayHeader, shape_text};
pub(super) use matrix::{MatrixReader, shape};
pub(super) use values::{ArrayValues, array_values};
pub use write::npy_bytes;
pub(super) use write::{integers, matrix, numbers, words};

use super::{CellKind, ColumnWriter, FileFormat, InputFile, OutputFile, cannot_hold};
use crate::{ColumnRoles, Error, Result, Schema, Source, Table, Targets};
use kinfolk::Inputs;

/// An array of numbers.
pub(super) struct Npy;

impl FileFormat for Npy {
    fn extensions(&self) -> &'static [&'static str] {
        &["npy"]
    }

    fn holds_targets(&self) -> bool {
        false
    }

    fn writes_columns(&self) -> bool {
        true
    }

    fn open(
        &self,
        input: &InputFile,
        columns: &ColumnRoles,
        schema: Option<&Schema>,
    ) -> Result<Box<dyn Source>> {
        Ok(Box::new(read::NpySource::open(input, columns, schema)?))
    }

    fn check(&self, table: &Table) -> Result<()> {
        match (&table.inputs, &table.targets, &table.weight, &table.offset, &table.split) {
            (Inputs::Gram(_), ..) => Err(cannot_hold("a Gram matrix")),
            (_, Targets::None, None, None, None) => check_size(table),
            _ => Err(cannot_hold("labels, weights, offsets or parts")),
        }
    }

    fn write_table(&self, table: &Table, mut to: OutputFile) -> Result<OutputFile> {
        write::matrix(&table.inputs, &mut to)?;
        Ok(to)
    }

    fn column_writer(&self, to: OutputFile, columns: &[(String, CellKind)]) -> Result<Box<dyn ColumnWriter>> {
        if let Some((name, _)) = columns.iter().find(|(_, kind)| *kind == CellKind::Words) {
            return Err(Error::of_table("an array holds numbers alone, not words").in_column(name));
        }
        Ok(Box::new(write::NpyWriter::new(to, columns.len())?))
    }
}

/// `Err` if an array, zeros included, would be too large.
pub(super) fn check_size(table: &Table) -> Result<()> {
    let (rows, cols) = (table.inputs.n_inputs() as u128, table.inputs.n_features() as u128);
    match rows * cols > 1 << 34 {
        true => Err(Error::of_table(format!(
            "{rows} rows of {cols} numbers, zeros included, are too many for this format; write .svm"
        ))),
        false => Ok(()),
    }
}
