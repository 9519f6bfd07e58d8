//! `.parquet`: columns of numbers and words, in groups of rows.
//!
//! Columns may be integers of any size, signed or not, floating point numbers, booleans or text, with or
//! without nulls (a null is a missing value), compressed with snappy, gzip, zstd or lz4. Nested columns,
//! dates and decimals cannot be used: they have to be dropped. A column `__index_level_0__`, in which pandas
//! keeps an index, is left out unless it is named. Features are stored in single precision if the type of
//! every feature column fits into it, else in double.
//!
//! Chunks of rows are read from all columns in parallel, a page of each at a time, so that memory holds a
//! chunk and a page per column, however large the file is.
//!
//! # Why pages are decoded here
//!
//! The `parquet` crate of arrow-rs reads metadata and page headers, and writes files. It does not decode
//! pages: its decoders panic on corrupt input (apache/arrow-rs issue 9742) and set memory aside for what a
//! page claims. A wrong file must end in an [`Error`](crate::Error), so pages are decompressed and decoded
//! here, with every length checked. The parts of the crate that are used run behind [`no_panic`], which turns
//! a panic into an error. Once the issue is closed, the crate's own column readers can replace `bits`,
//! `values`, `delta` and `strings`.

mod bits;
mod codec;
mod column;
mod delta;
mod no_panic;
mod pages;
mod read;
mod schema;
mod strings;
mod values;
mod write;

use super::{FileFormat, table_columns};

/// Columns in binary, compressed.
pub(super) const FORMAT: FileFormat =
    table_columns::format(&["parquet"], read::ParquetSource::open, write::ParquetWriter::create);
