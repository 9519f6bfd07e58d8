//! Where bytes go: a new file, plain or compressed, that gets its name when it is complete.

use super::Compression;
use bzip2::write::BzEncoder;
use flate2::write::GzEncoder;
use kinfolk::AtomicFile;
use std::io::{BufWriter, Error, ErrorKind, IntoInnerError, Result, Seek, SeekFrom, Write};
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 16;

/// A file being written. Until [`commit`](Self::commit) whatever has that name is as it was.
pub(crate) struct OutputFile(Compressed);

enum Compressed {
    Plain(BufWriter<AtomicFile>),
    Gzip(Box<GzEncoder<BufWriter<AtomicFile>>>),
    Bzip2(Box<BzEncoder<BufWriter<AtomicFile>>>),
}

impl OutputFile {
    pub(crate) fn create(path: &Path, compression: Compression) -> Result<Self> {
        if compression == Compression::Zstd {
            return Err(Error::new(ErrorKind::Unsupported, "zstd can only be read; write .gz or .bz2"));
        }
        let file = BufWriter::with_capacity(BUFFER_BYTES, AtomicFile::create(path)?);
        Ok(OutputFile(match compression {
            Compression::Gzip => {
                Compressed::Gzip(Box::new(GzEncoder::new(file, flate2::Compression::default())))
            }
            Compression::Bzip2 => {
                Compressed::Bzip2(Box::new(BzEncoder::new(file, bzip2::Compression::default())))
            }
            Compression::None | Compression::Zstd => Compressed::Plain(file),
        }))
    }

    /// Ends the file and gives it its name.
    pub(crate) fn commit(self) -> Result<()> {
        let file = match self.0 {
            Compressed::Plain(file) => file,
            Compressed::Gzip(file) => file.finish()?,
            Compressed::Bzip2(file) => file.finish()?,
        };
        file.into_inner().map_err(IntoInnerError::into_error)?.commit()
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        match &mut self.0 {
            Compressed::Plain(to) => to.write(bytes),
            Compressed::Gzip(to) => to.write(bytes),
            Compressed::Bzip2(to) => to.write(bytes),
        }
    }

    fn flush(&mut self) -> Result<()> {
        match &mut self.0 {
            Compressed::Plain(to) => to.flush(),
            Compressed::Gzip(to) => to.flush(),
            Compressed::Bzip2(to) => to.flush(),
        }
    }
}

impl Seek for OutputFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        match &mut self.0 {
            Compressed::Plain(file) => file.seek(to),
            Compressed::Gzip(_) | Compressed::Bzip2(_) => {
                Err(Error::new(ErrorKind::Unsupported, "compressed files have no positions"))
            }
        }
    }
}
