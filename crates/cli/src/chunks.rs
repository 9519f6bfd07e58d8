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

/// Bytes of features of a chunk that is read ahead, in double precision: enough rows for several threads, and as much
/// memory as programs keep for the next one.
const AHEAD_BYTES: usize = 32 << 20;
/// Rows of such a chunk.
const AHEAD_ROWS: usize = 65_536;

/// Chunks that wait to be visited: reading goes on while the rows of a file are loaded from the disk.
const WAITING: usize = 4;

/// The same with the next chunks being read while one is visited. `visit` says whether to go on; the result is whether
/// it said no.
pub(crate) fn for_each_ahead(
    source: &mut dyn Source,
    mut visit: impl FnMut(Table) -> Result<bool>,
) -> Result<bool> {
    let width = source.schema().n_features.max(1);
    let rows = (AHEAD_BYTES / 8 / width).clamp(1, AHEAD_ROWS);
    std::thread::scope(|scope| {
        let (sender, chunks) = std::sync::mpsc::sync_channel(WAITING);
        scope.spawn(move || {
            loop {
                let chunk = source.next_chunk(rows).transpose();
                let is_last = !matches!(chunk, Some(Ok(_)));
                // An error means that nobody wants more.
                if chunk.is_some_and(|chunk| sender.send(chunk).is_err()) || is_last {
                    return;
                }
            }
        });
        // Taken here, so that the reader is not left waiting when this ends early.
        let chunks = chunks;
        for table in &chunks {
            if !visit(table?)? {
                return Ok(true);
            }
        }
        Ok(false)
    })
}
