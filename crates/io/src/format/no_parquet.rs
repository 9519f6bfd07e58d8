//! `.parquet` in a program that was built without it.

use super::{FileFormat, table_columns};
use crate::Error;

/// Columns in binary, which this program does not know.
pub(super) const FORMAT: FileFormat =
    table_columns::format(&["parquet"], |_| Err(not_built_in()), |_, _| Err(not_built_in()));

fn not_built_in() -> Error {
    wrong!("this program was built without parquet; rebuild it with --features parquet")
}
