//! Texts of a page: with their lengths before them, with all lengths first, or as changes to the text before.

use super::delta::Deltas;
use bytes::Bytes;

/// More texts than a page has; they could be claimed with a few bytes if they were empty.
const MOST: u64 = 1 << 26;
/// The longest text made from the one before it: a few bytes could make many long ones.
const LONGEST: usize = 1 << 20;

/// Where texts are being read.
pub(super) enum Strings {
    /// Length in four bytes, text.
    Plain { bytes: Bytes, at: usize },
    /// Lengths of all texts, then the texts.
    Lengths { next: usize, lengths: Vec<u32>, bytes: Bytes, at: usize },
    /// How much is kept of the text before, for all texts, then what comes after that, as in `Lengths`.
    Prefixes { prefixes: Vec<u32>, next: usize, last: Bytes, rest: Box<Strings> },
}

impl Strings {
    pub(super) fn plain(bytes: Bytes) -> Self {
        Strings::Plain { bytes, at: 0 }
    }

    /// `DELTA_LENGTH_BYTE_ARRAY`, at most n of them.
    pub(super) fn with_lengths(bytes: Bytes, n: usize) -> Option<Self> {
        let (lengths, bytes) = lengths(bytes, n)?;
        Some(Strings::Lengths { lengths, next: 0, bytes, at: 0 })
    }

    /// `DELTA_BYTE_ARRAY`, at most n of them.
    pub(super) fn with_prefixes(bytes: Bytes, n: usize) -> Option<Self> {
        let (prefixes, rest) = lengths(bytes, n)?;
        let rest = Box::new(Strings::with_lengths(rest, n)?);
        Some(Strings::Prefixes { prefixes, next: 0, last: Bytes::new(), rest })
    }

    /// Appends the next n texts; `None` if there are fewer.
    pub(super) fn read(&mut self, n: usize, out: &mut Vec<Bytes>) -> Option<()> {
        (0..n).try_for_each(|_| self.next().map(|text| out.push(text)))
    }

    fn next(&mut self) -> Option<Bytes> {
        match self {
            Strings::Plain { bytes, at } => {
                let length = bytes.get(*at..at.checked_add(4)?)?;
                let length = u32::from_le_bytes(length.try_into().ok()?);
                *at += 4;
                take(bytes, at, length)
            }
            Strings::Lengths { lengths, next, bytes, at } => {
                let length = *lengths.get(*next)?;
                *next += 1;
                take(bytes, at, length)
            }
            Strings::Prefixes { prefixes, next, last, rest } => {
                let kept = last.get(..*prefixes.get(*next)? as usize)?;
                *next += 1;
                let rest = rest.next()?;
                if kept.len() + rest.len() > LONGEST {
                    return None;
                }
                *last = if kept.is_empty() { rest } else { Bytes::from([kept, &rest[..]].concat()) };
                Some(last.clone())
            }
        }
    }
}

fn take(bytes: &Bytes, at: &mut usize, length: u32) -> Option<Bytes> {
    let end = at.checked_add(length as usize).filter(|&end| end <= bytes.len())?;
    let text = bytes.slice(*at..end);
    *at = end;
    Some(text)
}

/// Lengths stored as differences, and the bytes that follow.
fn lengths(bytes: Bytes, n: usize) -> Option<(Vec<u32>, Bytes)> {
    let mut deltas = Deltas::new(bytes)?;
    if deltas.left() > MOST.min(n as u64) {
        return None;
    }
    let mut lengths = vec![];
    while deltas.left() > 0 {
        lengths.push(u32::try_from(deltas.next()?).ok()?);
    }
    Some((lengths, deltas.rest()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut strings: Strings) -> Vec<Bytes> {
        std::iter::from_fn(|| strings.next()).collect()
    }

    /// Lengths 0, 1, 2, ... as differences of one.
    fn rising(n: u8) -> Vec<u8> {
        [&[128, 1, 4, n, 0][..], if n > 1 { &[2, 0, 0, 0, 0] } else { &[] }].concat()
    }

    #[test]
    fn texts_are_found_by_their_lengths() {
        let plain = Bytes::from_static(&[1, 0, 0, 0, b'a', 0, 0, 0, 0, 2, 0, 0, 0, b'b', b'c', 9, 0]);
        assert_eq!(all(Strings::plain(plain)), [&b"a"[..], b"", b"bc"]);
        let bytes = Bytes::from([&rising(4)[..], b"abbccc"].concat());
        assert_eq!(all(Strings::with_lengths(bytes, 4).unwrap()), [&b""[..], b"a", b"bb", b"ccc"]);
    }

    #[test]
    fn texts_are_made_from_the_text_before() {
        // Keep 0, 1, 2 and add "", "a", "bb"; the second cannot keep a letter of nothing.
        let bytes = Bytes::from([&rising(3)[..], &rising(3), b"abb"].concat());
        assert_eq!(all(Strings::with_prefixes(bytes, 3).unwrap()), [&b""[..]]);
        // Keep 0, 0, 0.
        let bytes = Bytes::from([&[128, 1, 4, 3, 0, 0, 0, 0, 0, 0][..], &rising(3), b"abb"].concat());
        assert_eq!(all(Strings::with_prefixes(bytes, 3).unwrap()), [&b""[..], b"a", b"bb"]);
    }

    #[test]
    fn more_texts_than_values_are_refused() {
        assert!(Strings::with_lengths(Bytes::from(rising(4)), 3).is_none());
    }
}
