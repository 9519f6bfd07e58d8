//! Types that parquet does not have: programs write what columns are as Arrow types into a note of the file.

use crate::format::no_panic::no_panic;
use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_schema::{DataType, TimeUnit};
use data_encoding::BASE64;

/// The key of the note.
pub(super) const KEY: &str = "ARROW:schema";

/// What a column is besides its parquet type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArrowType {
    /// Integers are durations, so many of whose units make a second.
    Duration(i64),
    /// Values are categories.
    Dictionary,
}

/// The columns of such types. A note that cannot be read says nothing.
pub(super) fn in_note(text: &str) -> Vec<(String, ArrowType)> {
    let Ok(bytes) = BASE64.decode(text.trim_ascii().as_bytes()) else { return vec![] };
    let Ok(schema) = no_panic(|| try_schema_from_ipc_buffer(&bytes)) else { return vec![] };
    let of = |data_type: &DataType| match data_type {
        DataType::Duration(TimeUnit::Second) => Some(ArrowType::Duration(1)),
        DataType::Duration(TimeUnit::Millisecond) => Some(ArrowType::Duration(1_000)),
        DataType::Duration(TimeUnit::Microsecond) => Some(ArrowType::Duration(1_000_000)),
        DataType::Duration(TimeUnit::Nanosecond) => Some(ArrowType::Duration(1_000_000_000)),
        DataType::Dictionary(..) => Some(ArrowType::Dictionary),
        _ => None,
    };
    let fields = schema.fields().iter();
    fields.filter_map(|field| Some((field.name().clone(), of(field.data_type())?))).collect()
}
