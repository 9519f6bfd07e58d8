//! `.csv`, `.tsv`, `.txt`, plain or compressed: text, one row per line, names of columns in the first.
//!
//! Cells are separated by commas, or by semicolons, tabs or bars where those cut the first line into more columns, or
//! by what a first line `sep=;` of Excel says, or by single spaces, as R writes them. Quotes are as in RFC 4180, lines
//! end in `\n`, `\r\n` or `\r`, empty ones are skipped, and so are lines of a title above the header. The text is
//! UTF-8, with or without a byte order mark, or Windows-1252. Numbers are read in double precision.
//!
//! Reading for fitting goes through the file twice, first to find out what the columns hold; memory holds a chunk of
//! rows, however large the file is.

mod read;
mod records;
mod titles;
mod write;

use super::{FileFormat, table_columns};

pub(super) use write::with_decimal;

/// Text with named columns.
pub(super) const FORMAT: FileFormat = FileFormat {
    may_be_compressed: true,
    ..table_columns::format(&["csv", "tsv", "txt"], read::CsvCursor::open, write::CsvWriter::create)
};
