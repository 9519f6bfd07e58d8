//! `.arrow`, `.feather` and `.ipc`: Arrow's files of record batches, as pandas, polars and R write them.
//!
//! Numbers, booleans, text, dates, times, decimals and dictionaries of these, with or without nulls, plain or
//! compressed with lz4 or zstd. Nested columns cannot be used. The library that decodes the files runs behind
//! `no_panic`.

mod blocks;
mod cells;
mod read;
mod write;
mod zstd;

use super::{FileFormat, table_columns};

/// Columns in binary, in batches of rows.
pub(super) const FORMAT: FileFormat =
    table_columns::format(&["arrow", "feather", "ipc"], read::ArrowCursor::open, write::ArrowWriter::create);
