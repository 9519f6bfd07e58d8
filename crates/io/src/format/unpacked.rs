//! A small compressed text, unpacked once: reading for fitting goes through a text several times.

use std::io::{self, BufRead, Cursor, ErrorKind, Read};
use std::sync::Arc;

/// The longest text that is kept, in bytes.
const MOST_BYTES: usize = 8 << 20;

/// A text, and the error that ended it early, if one did.
#[derive(Debug, Clone)]
pub(super) struct Unpacked {
    text: Arc<[u8]>,
    error: Option<(ErrorKind, String)>,
}

impl Unpacked {
    /// Reads to the end; `None` if there is more than is kept.
    pub(super) fn read(from: impl Read) -> Option<Self> {
        let mut text = vec![];
        let read = from.take(MOST_BYTES as u64 + 1).read_to_end(&mut text);
        let error = read.err().map(|error| (error.kind(), error.to_string()));
        (text.len() <= MOST_BYTES).then(|| Unpacked { text: text.into(), error })
    }

    /// The text from the beginning, then its error.
    pub(super) fn text(&self) -> impl BufRead + Send + use<> {
        Cursor::new(Arc::clone(&self.text)).chain(End(self.error.clone()))
    }
}

/// No bytes, or an error.
pub(super) struct End(Option<(ErrorKind, String)>);

impl End {
    /// This error, every time.
    pub(super) fn after(error: &io::Error) -> Self {
        End(Some((error.kind(), error.to_string())))
    }
}

impl BufRead for End {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match &self.0 {
            None => Ok(&[]),
            Some((kind, text)) => Err(io::Error::new(*kind, text.clone())),
        }
    }

    fn consume(&mut self, _: usize) {}
}

impl Read for End {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.fill_buf().map(<[u8]>::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_text_ends_with_its_error_every_time() {
        let broken = io::Error::new(ErrorKind::InvalidData, "bad block");
        let kept = Unpacked::read(b"a,b\n1".chain(End(Some((broken.kind(), broken.to_string()))))).unwrap();
        for _ in 0..2 {
            let (mut text, mut found) = (kept.text(), vec![]);
            let error = text.read_to_end(&mut found).unwrap_err();
            assert_eq!(
                (&found[..], error.kind(), &*error.to_string()),
                (&b"a,b\n1"[..], broken.kind(), "bad block")
            );
        }
    }

    #[test]
    fn a_long_text_is_not_kept() {
        assert!(Unpacked::read(io::repeat(b'1').take(MOST_BYTES as u64)).is_some());
        assert!(Unpacked::read(io::repeat(b'1')).is_none());
    }
}
