//! `.npz`: numpy's archives of arrays, inputs with everything that belongs to them.

mod archive;
mod columns;
mod read;
mod read_array;
mod targets;
mod write;

pub use read_array::read_array;

use super::{FileFormat, Reader, npy};

/// An archive of arrays.
pub(super) const FORMAT: FileFormat = FileFormat {
    extensions: &["npz"],
    may_be_compressed: false,
    holds_targets: true,
    has_named_columns: false,
    holds_gram: true,
    reader: Reader::Arrays(read::NpzSource::open),
    check: npy::check_size,
    write_table: Some(write::write),
    columns: None,
};
