//! Compressed texts: by the end of a name, or by the first bytes.

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use std::io::{self, BufRead, Read};

/// How a text is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Bzip2,
}

impl Compression {
    /// What the end of a name says, and the name without it.
    pub(super) fn of_name(name: &str) -> (&str, Compression) {
        let ends = [(".gz", Compression::Gzip), (".zst", Compression::Zstd), (".bz2", Compression::Bzip2)];
        let found = ends.iter().find_map(|(end, compression)| Some((name.strip_suffix(end)?, *compression)));
        found.unwrap_or((name, Compression::None))
    }

    /// What the first bytes say.
    pub(super) fn of_bytes(bytes: &[u8]) -> Compression {
        match bytes {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            [b'B', b'Z', b'h', ..] => Compression::Bzip2,
            _ => Compression::None,
        }
    }

    /// The bytes that were compressed.
    pub(super) fn decoder<R: BufRead + Send + 'static>(self, bytes: R) -> Box<dyn Read + Send> {
        match self {
            Compression::None => Box::new(bytes),
            Compression::Gzip => Box::new(MultiGzDecoder::new(bytes)),
            Compression::Zstd => Box::new(ZstdFrames(ZstdState::Between(bytes))),
            Compression::Bzip2 => Box::new(MultiBzDecoder::new(bytes)),
        }
    }
}

/// Frames of zstd, one after the other.
struct ZstdFrames<R: Read>(ZstdState<R>);

enum ZstdState<R: Read> {
    Between(R),
    Inside(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
    Ended,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.0, ZstdState::Ended) {
                ZstdState::Ended => return Ok(0),
                ZstdState::Between(mut bytes) => {
                    if bytes.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(bytes).map_err(|error| invalid(&error))?;
                    self.0 = ZstdState::Inside(Box::new(decoder));
                }
                ZstdState::Inside(mut decoder) => match decoder.read(out)? {
                    0 if !out.is_empty() => self.0 = ZstdState::Between(decoder.into_inner()),
                    n => {
                        self.0 = ZstdState::Inside(decoder);
                        return Ok(n);
                    }
                },
            }
        }
    }
}

fn invalid(error: &impl ToString) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error.to_string())
}
