//! Where the bytes of a csv file come from: a file, plain or compressed, or memory. Can be opened more than once.

use crate::bytes::Bounded;
use crate::{Error, Result};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Large enough that a read costs nothing beside what is done with it, small enough for the cache.
const BUFFER: usize = 256 * 1024;

/// Bytes that can be read from the beginning, as often as need be.
#[derive(Clone)]
pub(crate) enum Bytes {
    /// A file; `.gz` is decompressed as it is read, all members of it.
    File(PathBuf),
    /// Bytes at hand, and what to call them.
    Memory(PathBuf, Arc<[u8]>),
}

impl Bytes {
    /// The name of the file.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Bytes::File(path) | Bytes::Memory(path, _) => path,
        }
    }

    /// Whether a second reading gives the same bytes: not so for a pipe.
    pub(crate) fn is_repeatable(&self) -> bool {
        match self {
            Bytes::File(path) => path.metadata().is_ok_and(|metadata| metadata.is_file()),
            Bytes::Memory(..) => true,
        }
    }

    /// The bytes from the beginning, decompressed.
    pub(crate) fn open(&self) -> Result<Box<dyn BufRead + Send>> {
        match self {
            Bytes::File(path) => {
                let file = File::open(path).map_err(|error| Error::new(path, error))?;
                if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
                    return Err(Error::new(path, "is a folder, not a file"));
                }
                let size = file.metadata().map_or(0, |metadata| metadata.len());
                Ok(self.decompressed(BufReader::with_capacity(BUFFER, file), size))
            }
            Bytes::Memory(_, bytes) => {
                Ok(self.decompressed(Cursor::new(Arc::clone(bytes)), bytes.len() as u64))
            }
        }
    }

    fn decompressed(&self, bytes: impl BufRead + Send + 'static, size: u64) -> Box<dyn BufRead + Send> {
        let gzip = self.path().extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        if !gzip {
            return Box::new(bytes);
        }
        Box::new(BufReader::with_capacity(BUFFER, Bounded::new(MultiGzDecoder::new(bytes), size)))
    }
}
