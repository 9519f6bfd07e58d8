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

use super::{FileFormat, table_columns};

/// Text with named columns.
pub(super) const FORMAT: FileFormat = FileFormat {
    may_be_gzipped: true,
    ..table_columns::format(&["csv"], read::CsvSource::open, read::texts, write::CsvWriter::create)
};
