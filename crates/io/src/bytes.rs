//! Where bytes come from, and how many may come out of few.

use crate::{Error, Result};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// A file, or bytes in memory.
pub(crate) trait Bytes: Read + Seek + Send {}
impl<T: Read + Seek + Send> Bytes for T {}

/// Compressed data may grow to this many bytes without question...
const FREE: u64 = 1 << 28;
/// ... and beyond that to this many times their size. Numbers that are worth learning from do not shrink more than that.
const MOST_FOLD: u64 = 250;

/// Opens a file; a folder is none.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Bytes>> {
    let file = File::open(path).map_err(|error| Error::new(path, error))?;
    let kind = file.metadata().map_err(|error| Error::new(path, error))?;
    match kind.is_dir() {
        true => Err(Error::new(path, "it is a folder, not a file")),
        false => Ok(Box::new(BufReader::with_capacity(1 << 16, file))),
    }
}

/// What a gzip file holds.
pub(crate) fn gunzip(mut from: Box<dyn Bytes>) -> Result<Box<dyn Read + Send>> {
    let size =
        from.seek(SeekFrom::End(0)).and_then(|size| from.rewind().map(|()| size)).map_err(Error::of_table)?;
    Ok(Box::new(Bounded::new(MultiGzDecoder::new(from), size)))
}

/// A reader that ends with an error when far more comes out of it than went in: a zip bomb.
pub(crate) struct Bounded<R> {
    from: R,
    left: u64,
}

impl<R: Read> Bounded<R> {
    /// `compressed` is the number of bytes that go in.
    pub(crate) fn new(from: R, compressed: u64) -> Self {
        Bounded { from, left: compressed.saturating_mul(MOST_FOLD).max(FREE) }
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = self.from.read(out)?;
        self.left = self.left.checked_sub(n as u64).ok_or_else(|| {
            let why = format!(
                "it unpacks to over {} MiB and {MOST_FOLD} times its size, as zip bombs do",
                FREE >> 20
            );
            io::Error::other(why + "; save it uncompressed if that is meant")
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
    fn what_is_not_there_is_said_so() {
        assert!(open(Path::new("/no/such/file")).err().unwrap().to_string().starts_with("/no/such/file: "));
        assert_eq!(open(Path::new("/")).err().unwrap().to_string(), "/: it is a folder, not a file");
    }
}
