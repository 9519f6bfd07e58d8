//! Where bytes come from, and how many may come out of few.

use super::unpacked::Unpacked;
use super::{Compression, encoding};
use crate::Result;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Large enough that a read costs nothing beside what is done with it, small enough for the cache.
const BUFFER_BYTES: usize = 256 * 1024;
/// Compressed texts of at most this size are unpacked once and kept.
const KEPT_BYTES: u64 = 1 << 20;
/// Compressed data may grow to this many bytes without question...
const FREE_BYTES: u64 = 1 << 28;
/// ... and beyond that to this many times their size. Numbers that are worth learning from do not shrink more
/// than that.
const MAX_GROWTH: u64 = 250;

/// A file to read, or bytes in memory. It can be opened more than once.
#[derive(Debug, Clone)]
pub(crate) struct InputFile {
    pub(super) path: PathBuf,
    /// What stands for the file.
    pub(super) bytes: Option<Arc<[u8]>>,
    compression: Compression,
    /// Lines above the header of a csv file, if that is said.
    pub(super) skip_lines: Option<u64>,
    /// A small text that was compressed; `None` if there is more of it than is kept.
    unpacked: Arc<OnceLock<Option<Unpacked>>>,
}

/// Bytes with a position.
pub(crate) trait SeekableBytes: BufRead + Seek + Send {}
impl<T: BufRead + Seek + Send> SeekableBytes for T {}

impl InputFile {
    /// A file, or `bytes` that stand for one.
    pub(crate) fn new(path: &Path, bytes: Option<Arc<[u8]>>, compression: Compression) -> Self {
        let (path, unpacked) = (path.to_path_buf(), Arc::default());
        InputFile { path, bytes, compression, skip_lines: None, unpacked }
    }

    /// The same with so many lines above the header of a csv file, if that is said.
    pub(super) fn with_lines_above(self, skip_lines: Option<u64>) -> Self {
        InputFile { skip_lines, ..self }
    }

    /// Whether a second reading gives the same bytes: not so for a pipe.
    pub(crate) fn is_repeatable(&self) -> bool {
        self.bytes.is_some() || self.path.metadata().is_ok_and(|metadata| metadata.is_file())
    }

    /// The file itself; a folder is none.
    pub(crate) fn file(&self) -> Result<File> {
        let file = File::open(&self.path)?;
        match file.metadata()?.is_dir() {
            true => Err(wrong!("it is a folder, not a file")),
            false => Ok(file),
        }
    }

    /// The bytes as they are.
    pub(crate) fn bytes(&self) -> Result<Box<dyn SeekableBytes>> {
        Ok(match &self.bytes {
            Some(bytes) => Box::new(Cursor::new(Arc::clone(bytes))),
            None => Box::new(BufReader::with_capacity(BUFFER_BYTES, self.file()?)),
        })
    }

    /// The bytes from the beginning, decompressed; of a text in UTF-16, the same text in UTF-8.
    pub(crate) fn text(&self) -> Result<Box<dyn BufRead + Send>> {
        Ok(encoding::from_utf16(self.decompressed()?))
    }

    fn decompressed(&self) -> Result<Box<dyn BufRead + Send>> {
        if self.compression == Compression::None {
            return Ok(Box::new(self.bytes()?));
        }
        let size = match &self.bytes {
            Some(bytes) => bytes.len() as u64,
            None => self.path.metadata().map_or(0, |metadata| metadata.len()),
        };
        let stream = || self.bytes().map(|bytes| Bounded::new(self.compression.decoder(bytes), size));
        if size <= KEPT_BYTES && self.is_repeatable() {
            if self.unpacked.get().is_none() {
                let _ = self.unpacked.set(Unpacked::read(stream()?));
            }
            if let Some(Some(kept)) = self.unpacked.get() {
                return Ok(Box::new(kept.text()));
            }
        }
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, stream()?)))
    }
}

/// A reader that ends with an error when far more comes out of it than went in: a zip bomb.
pub(crate) struct Bounded<R> {
    from: R,
    left: u64,
}

impl<R: Read> Bounded<R> {
    /// `compressed` is the number of bytes that go in.
    pub(crate) fn new(from: R, compressed: u64) -> Self {
        Bounded { from, left: compressed.saturating_mul(MAX_GROWTH).max(FREE_BYTES) }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(out)?;
        self.left = self.left.checked_sub(n as u64).ok_or_else(|| {
            io::Error::other(format!(
                "it unpacks to over {} MiB and {MAX_GROWTH} times its size, as zip bombs do; \
                 save it uncompressed if that is meant",
                FREE_BYTES >> 20
            ))
        })?;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bomb_is_not_read_to_its_end() {
        let mut bomb = Bounded::new(io::repeat(0), 1000);
        let error = io::copy(&mut bomb, &mut io::sink()).unwrap_err();
        assert!(error.to_string().contains("as zip bombs do"), "{error}");
    }

    #[test]
    fn a_folder_is_no_file() {
        let error = |path: &str| {
            InputFile::new(Path::new(path), None, Compression::None).bytes().err().unwrap().to_string()
        };
        assert!(error("/no/such/file").contains("No such file"));
        assert_eq!(error("/"), "it is a folder, not a file");
    }
}
