//! `.parquet` in a program that was built without it.

use super::{FileFormat, table_columns};
use crate::Error;

/// Columns in binary, compressed.
pub(super) const FORMAT: FileFormat = FileFormat {
    extensions: &["parquet"],
    may_be_gzipped: false,
    holds_targets: true,
    has_named_columns: true,
    holds_gram: false,
    open: |_, _, _| Err(not_built_in()),
    check: table_columns::check,
    write_table: None,
    columns: Some(|_, _| Err(not_built_in())),
};

fn not_built_in() -> Error {
    Error::of_table("this program was built without parquet; rebuild it with --features parquet")
}
