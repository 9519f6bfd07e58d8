//! `.jsonl` and `.ndjson`, plain or compressed: one JSON object per line, its keys are the names of columns.
//!
//! Columns come in the order in which their keys first appear, and a key that an object lacks is a missing value.
//! Reading goes through the file once more, for the names.

mod object;
mod read;
mod write;

use super::{FileFormat, table_columns};

/// Objects as text.
pub(super) const FORMAT: FileFormat = FileFormat {
    may_be_compressed: true,
    ..table_columns::format(&["jsonl", "ndjson"], read::JsonCursor::open, write::JsonWriter::create)
};
