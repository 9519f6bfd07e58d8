//! Durations: parquet has no type for them, so programs write integers, and what they are into a note of the file.

use crate::format::no_panic::no_panic;
use arrow_ipc::convert::try_schema_from_ipc_buffer;
use arrow_schema::{DataType, TimeUnit};
use data_encoding::BASE64;

/// The key of the note.
pub(super) const KEY: &str = "ARROW:schema";

/// The columns of durations, and how many of their units make a second. A note that cannot be read says nothing.
pub(super) fn in_arrow_schema(text: &str) -> Vec<(String, i64)> {
    let Ok(bytes) = BASE64.decode(text.trim_ascii().as_bytes()) else { return vec![] };
    let Ok(schema) = no_panic(|| try_schema_from_ipc_buffer(&bytes)) else { return vec![] };
    let units = |data_type: &DataType| match data_type {
        DataType::Duration(TimeUnit::Second) => Some(1),
        DataType::Duration(TimeUnit::Millisecond) => Some(1_000),
        DataType::Duration(TimeUnit::Microsecond) => Some(1_000_000),
        DataType::Duration(TimeUnit::Nanosecond) => Some(1_000_000_000),
        _ => None,
    };
    let fields = schema.fields().iter();
    fields.filter_map(|field| Some((field.name().clone(), units(field.data_type())?))).collect()
}
