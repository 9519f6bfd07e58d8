//! `.csv` and `.csv.gz`: text, one row per line, names of columns in the first.
//!
//! Cells are separated by commas, or by semicolons or tabs where those cut the first line into more columns.
//! Quotes are as in RFC 4180, lines end in `\n`, `\r\n` or `\r`, empty ones are skipped, and the text is
//! UTF-8, with or without a byte order mark. Numbers have a decimal point and are read in double precision.
//!
//! Reading for fitting goes through the file twice if the values of one-hot columns, or the kind of the
//! labels, have to be found out; memory holds a chunk of rows, however large the file is.

mod read;
mod records;
mod write;

use super::{CellKind, ColumnWriter, FileFormat, InputFile, OutputFile, table_columns};
use crate::{ColumnRoles, Result, Schema, Source, Table};

/// Text with named columns.
pub(super) struct Csv;

impl FileFormat for Csv {
    fn extensions(&self) -> &'static [&'static str] {
        &["csv"]
    }

    fn may_be_gzipped(&self) -> bool {
        true
    }

    fn has_named_columns(&self) -> bool {
        true
    }

    fn open(
        &self,
        input: &InputFile,
        columns: &ColumnRoles,
        schema: Option<&Schema>,
    ) -> Result<Box<dyn Source>> {
        Ok(Box::new(read::CsvSource::open(input, columns, schema)?))
    }

    fn check(&self, table: &Table) -> Result<()> {
        table_columns::check(table)
    }

    fn column_writer(&self, to: OutputFile, columns: &[(String, CellKind)]) -> Result<Box<dyn ColumnWriter>> {
        Ok(Box::new(write::CsvWriter::new(to, columns)?))
    }
}
