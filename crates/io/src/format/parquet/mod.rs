//! `.parquet`: columns of numbers and words, in groups of rows.
//!
//! Columns may be integers of any size, signed or not, floating point numbers, booleans or text, with or
//! without nulls (a null is a missing value), dates, times and decimals, compressed with snappy, gzip, zstd or lz4.
//! Nested columns cannot be used: they have to be dropped. A column `__index_level_0__`, in which pandas
//! keeps an index, is left out unless it is named. Features are stored in single precision if the type of
//! every feature column fits into it, else in double.
//!
//! Chunks of rows are read from all columns in parallel, a page of each at a time, so that memory holds a
//! chunk and a page per column, however large the file is.
//!
//! # Files that are wrong
//!
//! A wrong file must end in an [`Error`](crate::Error). The `parquet` crate of arrow-rs, which reads and writes
//! the files, may panic on corrupt input (apache/arrow-rs issue 9742), and sets memory aside for what a page
//! claims. So it runs behind `no_panic`, which turns a panic into an error. Pages are decompressed by `codec`,
//! up to a limit, and `claims` compares what they claim with their bytes before the crate decodes them; `thrift`
//! does so with headers.

mod arrow_schema;
mod claims;
mod codec;
mod column;
mod pages;
mod read;
mod schema;
mod shared_file;
mod thrift;
mod write;

use super::{FileFormat, table_columns};

/// Columns in binary, compressed.
pub(super) const FORMAT: FileFormat =
    table_columns::format(&["parquet"], read::ParquetCursor::open, write::ParquetWriter::create);
