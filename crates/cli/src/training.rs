//! Rows of one part of a file.

use crate::failure::{Failure, Result};
use kinfolk_io::Table;

/// The rows of one part.
pub(crate) fn part(table: Table, split: Option<i64>) -> Result<Table> {
    match split {
        None => Ok(table),
        Some(part) => Ok(table.take_split(part)?),
    }
}

/// The rows of one part among those of a chunk, which may have none.
pub(crate) fn part_of_chunk(table: Table, split: Option<i64>) -> Result<Option<Table>> {
    let Some(part) = split else { return Ok(Some(table)) };
    let Some(parts) = &table.split else {
        return Err(Failure::input("there is no split: name its column with --split-column"));
    };
    let rows: Vec<u32> = (0..parts.len()).filter(|&i| parts[i] == part).map(|i| i as u32).collect();
    Ok(match rows.len() {
        0 => None,
        n if n == parts.len() => Some(table),
        _ => Some(table.select_rows(&rows)),
    })
}
