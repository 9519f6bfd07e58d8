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

use super::{FileFormat, Reader, cannot_hold};
use crate::{Result, Table, Targets};

/// An array of numbers.
pub(super) const FORMAT: FileFormat = FileFormat {
    extensions: &["npy"],
    may_be_compressed: false,
    holds_targets: false,
    has_named_columns: false,
    holds_gram: false,
    reader: Reader::Arrays(read::NpySource::open),
    check,
    write_table: Some(write::write),
    columns: Some(write::NpyWriter::create),
};

fn check(table: &Table) -> Result<()> {
    match (&table.targets, &table.weight, &table.offset, &table.split) {
        (Targets::None, None, None, None) => check_size(table),
        _ => Err(cannot_hold("labels, weights, offsets or parts")),
    }
}

/// `Err` if an array, zeros included, would be too large.
pub(super) fn check_size(table: &Table) -> Result<()> {
    let (rows, cols) = (table.inputs.n_inputs() as u128, table.inputs.n_features() as u128);
    match rows * cols > 1 << 34 {
        true => Err(wrong!(
            "{rows} rows of {cols} numbers, zeros included, are too many for this format; write .svm"
        )),
        false => Ok(()),
    }
}
