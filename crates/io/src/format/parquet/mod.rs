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

#[cfg(feature = "parquet")]
mod bits;
#[cfg(feature = "parquet")]
mod codec;
#[cfg(feature = "parquet")]
mod column;
#[cfg(feature = "parquet")]
mod delta;
#[cfg(feature = "parquet")]
mod no_panic;
#[cfg(feature = "parquet")]
mod pages;
#[cfg(feature = "parquet")]
mod read;
#[cfg(feature = "parquet")]
mod schema;
#[cfg(feature = "parquet")]
mod strings;
#[cfg(feature = "parquet")]
mod values;
#[cfg(feature = "parquet")]
mod write;

use super::{CellKind, ColumnWriter, FileFormat, InputFile, OutputFile, table_columns};
use crate::{ColumnRoles, Result, Schema, Source, Table};

/// Columns in binary, compressed.
pub(super) struct Parquet;

impl FileFormat for Parquet {
    fn extensions(&self) -> &'static [&'static str] {
        &["parquet"]
    }

    fn has_named_columns(&self) -> bool {
        true
    }

    #[cfg(feature = "parquet")]
    fn open(
        &self,
        input: &InputFile,
        columns: &ColumnRoles,
        schema: Option<&Schema>,
    ) -> Result<Box<dyn Source>> {
        Ok(Box::new(read::ParquetSource::open(input, columns, schema)?))
    }

    #[cfg(not(feature = "parquet"))]
    fn open(&self, _: &InputFile, _: &ColumnRoles, _: Option<&Schema>) -> Result<Box<dyn Source>> {
        Err(not_built_in())
    }

    fn check(&self, table: &Table) -> Result<()> {
        table_columns::check(table)
    }

    #[cfg(feature = "parquet")]
    fn column_writer(&self, to: OutputFile, columns: &[(String, CellKind)]) -> Result<Box<dyn ColumnWriter>> {
        Ok(Box::new(write::ParquetWriter::new(to, columns)?))
    }

    #[cfg(not(feature = "parquet"))]
    fn column_writer(&self, _: OutputFile, _: &[(String, CellKind)]) -> Result<Box<dyn ColumnWriter>> {
        Err(not_built_in())
    }
}

#[cfg(not(feature = "parquet"))]
fn not_built_in() -> crate::Error {
    crate::Error::of_table("this program was built without parquet; rebuild it with --features parquet")
}
