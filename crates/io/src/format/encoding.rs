//! Texts that are not UTF-8: spreadsheets in Europe and America often write Windows-1252, and "Unicode text" of Windows
//! is UTF-16.

use super::unpacked::End;
use encoding_rs::{Decoder, DecoderResult, UTF_16BE, UTF_16LE, WINDOWS_1252};
use std::io::{self, BufRead, Read};

/// Bytes decoded in one go.
const CHUNK_BYTES: usize = 16 * 1024;

/// Bytes without a meaning in Windows-1252.
const UNDEFINED: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// How a text is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8, or something of which only a part can be read; the error then names the place.
    Utf8,
    /// Windows-1252, which contains latin-1.
    Windows1252,
}

impl Encoding {
    /// Looks at all bytes of a text: it is Windows-1252 if it is not UTF-8, no letter beyond ASCII is, and all bytes
    /// mean something. A text that has letters in UTF-8 as well is damaged, and every reading of it would be wrong
    /// somewhere.
    pub(crate) fn of(mut text: impl BufRead) -> io::Result<Self> {
        let mut is_utf8 = true;
        // The start of a letter that goes on in the next buffer.
        let mut rest: Vec<u8> = vec![];
        loop {
            let buffer = text.fill_buf()?;
            if buffer.is_empty() {
                break;
            }
            let n = buffer.len();
            if memchr::memchr(0, buffer).is_some() {
                // Not a text, or UTF-16 without a mark that says so.
                return Ok(Encoding::Utf8);
            }
            if rest.is_empty() && buffer.is_ascii() {
                text.consume(n);
                continue;
            }
            rest.extend_from_slice(buffer);
            text.consume(n);
            let mut from = 0;
            while from < rest.len() {
                let (valid, wrong) = match std::str::from_utf8(&rest[from..]) {
                    Ok(_) => (rest.len() - from, Some(0)),
                    Err(error) => (error.valid_up_to(), error.error_len()),
                };
                if !rest[from..from + valid].is_ascii() && !is_byte_order_mark(&rest[from..from + valid]) {
                    return Ok(Encoding::Utf8);
                }
                from += valid;
                if rest[from..].first().is_some_and(|byte| UNDEFINED.contains(byte)) {
                    return Ok(Encoding::Utf8);
                }
                match wrong {
                    Some(0) => {}
                    // One byte at a time: the next ones may be undefined.
                    Some(_) => (is_utf8, from) = (false, from + 1),
                    None => break,
                }
            }
            rest.drain(..from);
        }
        is_utf8 &= rest.is_empty();
        Ok(if is_utf8 { Encoding::Utf8 } else { Encoding::Windows1252 })
    }

    /// The text in UTF-8.
    pub(crate) fn decoded(self, text: Box<dyn BufRead + Send>) -> Box<dyn BufRead + Send> {
        match self {
            Encoding::Utf8 => text,
            Encoding::Windows1252 => Decoded::boxed(text, WINDOWS_1252.new_decoder_without_bom_handling()),
        }
    }

    /// What is to be said about it.
    pub(crate) fn remark(self) -> Option<String> {
        (self == Encoding::Windows1252).then(|| "the text is not UTF-8, and is read as Windows-1252".into())
    }
}

/// Whether a text has no other letter beyond ASCII than a byte order mark, which a program may put before any text.
fn is_byte_order_mark(text: &[u8]) -> bool {
    text.strip_prefix(b"\xef\xbb\xbf").is_some_and(<[u8]>::is_ascii)
}

/// The text in UTF-8 if it begins with a byte order mark of UTF-16; any other as it is. An error comes when it is read.
pub(super) fn from_utf16(mut text: Box<dyn BufRead + Send>) -> Box<dyn BufRead + Send> {
    let mut first = vec![];
    let read = match text.fill_buf().map(|bytes| bytes.first().copied()) {
        // A pipe may give one byte at a time.
        Ok(Some(0xfe | 0xff)) => (&mut text).take(2).read_to_end(&mut first).map(drop),
        other => other.map(drop),
    };
    match (read, &first[..]) {
        (Err(error), _) => Box::new(End::after(&error)),
        (Ok(()), []) => text,
        (Ok(()), [0xff, 0xfe]) => Decoded::boxed(text, UTF_16LE.new_decoder_without_bom_handling()),
        (Ok(()), [0xfe, 0xff]) => Decoded::boxed(text, UTF_16BE.new_decoder_without_bom_handling()),
        (Ok(()), _) => Box::new(io::Cursor::new(first).chain(text)),
    }
}

/// A text in UTF-8, decoded as it is read.
struct Decoded {
    text: Box<dyn BufRead + Send>,
    decoder: Decoder,
    out: Vec<u8>,
    next: usize,
    is_at_end: bool,
}

impl Decoded {
    fn boxed(text: Box<dyn BufRead + Send>, decoder: Decoder) -> Box<dyn BufRead + Send> {
        Box::new(io::BufReader::new(Decoded { text, decoder, out: vec![], next: 0, is_at_end: false }))
    }

    /// Decodes some more bytes.
    fn advance(&mut self) -> io::Result<()> {
        let bytes = self.text.fill_buf()?;
        let taken = bytes.len().min(CHUNK_BYTES);
        self.is_at_end = taken == 0;
        // Each byte becomes at most three.
        self.out.resize(3 * taken + 16, 0);
        let (result, read, wrote) =
            self.decoder.decode_to_utf8_without_replacement(&bytes[..taken], &mut self.out, self.is_at_end);
        if let DecoderResult::Malformed(..) = result {
            let name = self.decoder.encoding().name();
            return Err(io::Error::other(format!(
                "it is {name} text, and damaged: some bytes are no character"
            )));
        }
        debug_assert_eq!(read, taken, "there is room for all of it");
        self.text.consume(read);
        self.out.truncate(wrote);
        self.next = 0;
        Ok(())
    }
}

impl Read for Decoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        // A part of a character becomes nothing yet.
        while self.next == self.out.len() && !self.is_at_end {
            self.advance()?;
        }
        let n = out.len().min(self.out.len() - self.next);
        out[..n].copy_from_slice(&self.out[self.next..self.next + n]);
        self.next += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// With a buffer of this size, so that letters are cut anywhere.
    fn found(bytes: &[u8], buffer: usize) -> Encoding {
        Encoding::of(BufReader::with_capacity(buffer, bytes)).unwrap()
    }

    #[test]
    fn texts_are_told_apart_wherever_buffers_end() {
        for buffer in 1..9 {
            let is = |bytes: &[u8]| found(bytes, buffer);
            assert_eq!(is(b"plain"), Encoding::Utf8);
            assert_eq!(is("M\u{fc}ller \u{20ac}\u{1f600}".as_bytes()), Encoding::Utf8);
            assert_eq!(is(b"M\xfcller"), Encoding::Windows1252);
            assert_eq!(is(b"M\xfcller stra\xdfe \x80"), Encoding::Windows1252);
            assert_eq!(is(b"ends with \xfc"), Encoding::Windows1252);
            // Damaged UTF-8 is not something else, nor is what has bytes without a meaning.
            assert_eq!(is(b"M\xc3\xbcller \xfc;"), Encoding::Utf8);
            assert_eq!(is(b"M\xfcller \x81"), Encoding::Utf8);
            assert_eq!(is(b"\xff\xfea\0,\0"), Encoding::Utf8);
        }
    }

    #[test]
    fn letters_and_signs_are_decoded() {
        let decoded = |bytes: &'static [u8]| {
            let mut text = String::new();
            Encoding::Windows1252.decoded(Box::new(bytes)).read_to_string(&mut text).unwrap();
            text
        };
        assert_eq!(
            decoded(b"M\xfcller, stra\xdfe: 5 \x80 \x96 ok"),
            "M\u{fc}ller, stra\u{df}e: 5 \u{20ac} \u{2013} ok"
        );
        let long: &'static [u8] = Box::leak(vec![0xe4; 100_000].into_boxed_slice());
        assert_eq!(decoded(long), "\u{e4}".repeat(100_000));
    }

    /// One byte at a time, as a pipe may give them.
    struct Slow(io::Cursor<Vec<u8>>);

    impl Read for Slow {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let n = out.len().min(1);
            self.0.read(&mut out[..n])
        }
    }

    fn from_bytes(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        from_utf16(Box::new(BufReader::new(Slow(io::Cursor::new(bytes))))).read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn a_mark_of_utf_16_says_how_to_read() {
        let plain = "a\tM\u{fc}ller \u{20ac} \u{1f600}\r\n".repeat(3000);
        let bytes = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
            "\u{feff}".encode_utf16().chain(plain.encode_utf16()).flat_map(order).collect()
        };
        assert_eq!(from_bytes(bytes(u16::to_le_bytes)).unwrap(), plain);
        assert_eq!(from_bytes(bytes(u16::to_be_bytes)).unwrap(), plain);
        for other in ["", "a", "\u{feff}a", &plain] {
            assert_eq!(from_bytes(other.into()).unwrap(), other);
        }
        let mut cut = bytes(u16::to_le_bytes);
        cut.pop();
        assert!(from_bytes(cut).unwrap_err().to_string().contains("it is UTF-16LE text"));
        assert!(from_bytes(b"\xff\xfe\0\xd8a\0".to_vec()).is_err(), "half of a character");
    }
}
