//! A file that several threads read at once, each at its own place.

use super::pages::PageInput;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes read at once for the head of a page, most of which has fewer.
const HEAD_BYTES: usize = 256;

/// A file of a known length. The handle of a `File` has one position for all that use it, so that threads would be in
/// each other's way.
#[derive(Clone)]
pub(super) struct SharedFile {
    path: PathBuf,
    file: Arc<Mutex<Option<Arc<File>>>>,
    length: u64,
}

impl SharedFile {
    pub(super) fn new(path: &Path, file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(SharedFile { path: path.to_path_buf(), file: Arc::new(Mutex::new(Some(Arc::new(file)))), length })
    }

    fn file(&self) -> io::Result<Arc<File>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = &*file {
            return Ok(Arc::clone(file));
        }
        let opened = File::open(&self.path)?;
        if opened.metadata()?.len() != self.length {
            return Err(io::Error::other("it has another length than before"));
        }
        Ok(Arc::clone(file.insert(Arc::new(opened))))
    }
}

/// A file from some place on.
pub(super) struct FileFrom {
    file: Arc<File>,
    at: u64,
}

impl Read for FileFrom {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let n = read_at(&self.file, out, self.at)?;
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(unix)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, out, at)
}

#[cfg(windows)]
fn read_at(file: &File, out: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, out, at)
}

impl Length for SharedFile {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for SharedFile {
    type T = BufReader<FileFrom>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(BufReader::with_capacity(HEAD_BYTES, FileFrom { file: self.file()?, at: start }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let mut bytes = Vec::with_capacity(length);
        let from = FileFrom { file: self.file()?, at: start };
        match from.take(length as u64).read_to_end(&mut bytes)? {
            n if n == length => Ok(bytes.into()),
            n => Err(ParquetError::EOF(format!("expected {length} bytes at {start}, and there are {n}"))),
        }
    }
}

impl PageInput for SharedFile {
    /// Folders may have more files than can be open.
    fn close(&self) {
        *self.file.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
