//! Files larger than memory, a chunk of rows at a time.

use crate::failure::Result;
use kinfolk_io::{Source, Table};

/// Bytes of features that a chunk may have: large enough to be quick, small beside the rest of the program.
const CHUNK_BYTES: usize = 16 << 20;
/// Rows that a chunk may have.
const CHUNK_ROWS: usize = 16_384;

/// Calls `visit` with all rows, chunk by chunk.
pub(crate) fn for_each(source: &mut dyn Source, mut visit: impl FnMut(Table) -> Result<()>) -> Result<()> {
    let width = source.schema().n_features.max(1);
    let rows = (CHUNK_BYTES / 8 / width).clamp(1, CHUNK_ROWS);
    while let Some(table) = source.next_chunk(rows)? {
        visit(table)?;
    }
    Ok(())
}
