//! PageValues of a page, decoded as far as they are asked for.

use super::bits::{Runs, bits};
use super::strings::Strings;
use super::{delta::Deltas, schema::Physical};
use bytes::Bytes;
use parquet::basic::Encoding;

/// PageValues that are there (nulls are not): numbers as the bits they are stored in, or texts.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PageValues {
    Raw(Vec<u64>),
    Text(Vec<Bytes>),
}

impl PageValues {
    pub(super) fn none(physical: Physical) -> Self {
        match physical {
            Physical::Text => PageValues::Text(vec![]),
            _ => PageValues::Raw(vec![]),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            PageValues::Raw(values) => values.len(),
            PageValues::Text(values) => values.len(),
        }
    }

    /// Appends those of a dictionary at the given positions; `None` if one is out of range.
    fn look_up(&mut self, dictionary: &PageValues, positions: &[u32]) -> Option<()> {
        match (self, dictionary) {
            (PageValues::Raw(out), PageValues::Raw(from)) => {
                positions.iter().try_for_each(|&i| from.get(i as usize).map(|&value| out.push(value)))
            }
            (PageValues::Text(out), PageValues::Text(from)) => {
                positions.iter().try_for_each(|&i| from.get(i as usize).map(|value| out.push(value.clone())))
            }
            _ => None,
        }
    }
}

/// Where a page is being read.
pub(super) enum Decoder {
    /// One after the other, `width` bytes each.
    Plain { bytes: Bytes, at: usize, width: usize },
    /// One bit each.
    Bits { bytes: Bytes, at: usize },
    /// The first bytes of all values, then the second ones, and so on.
    Split { bytes: Bytes, at: usize, width: usize },
    /// Booleans in runs.
    Runs(Runs),
    /// Positions in the dictionary.
    Dictionary(Runs),
    /// Differences.
    Deltas(Deltas),
    /// Texts.
    Strings(Strings),
}

impl Decoder {
    /// For a page of at most n values; `Err` says what is wrong with it.
    pub(super) fn new(kind: Physical, encoding: Encoding, bytes: Bytes, n: usize) -> Result<Self, String> {
        let corrupt = || format!("a page in encoding {encoding} is corrupt");
        let width = kind.width();
        match (encoding, kind) {
            (Encoding::PLAIN, Physical::Bool) => Ok(Decoder::Bits { bytes, at: 0 }),
            (Encoding::RLE, Physical::Bool) => {
                // The length of the runs in bytes comes first, and says nothing that is not known.
                let runs = (bytes.len() >= 4).then(|| Runs::new(bytes.slice(4..), 1)).flatten();
                runs.map(Decoder::Runs).ok_or_else(corrupt)
            }
            (Encoding::PLAIN, Physical::Text) => Ok(Decoder::Strings(Strings::plain(bytes))),
            (Encoding::PLAIN, _) => Ok(Decoder::Plain { bytes, at: 0, width }),
            (Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY, _) => {
                let width = bytes.first().copied().map(usize::from);
                let runs = width.and_then(|width| Runs::new(bytes.slice(1..), width));
                runs.map(Decoder::Dictionary).ok_or_else(corrupt)
            }
            (Encoding::DELTA_BINARY_PACKED, Physical::Int32 | Physical::Int64) => {
                Deltas::new(bytes).map(Decoder::Deltas).ok_or_else(corrupt)
            }
            (Encoding::DELTA_LENGTH_BYTE_ARRAY, Physical::Text) => {
                Strings::with_lengths(bytes, n).map(Decoder::Strings).ok_or_else(corrupt)
            }
            (Encoding::DELTA_BYTE_ARRAY, Physical::Text) => {
                Strings::with_prefixes(bytes, n).map(Decoder::Strings).ok_or_else(corrupt)
            }
            (Encoding::BYTE_STREAM_SPLIT, Physical::Text | Physical::Bool) => Err(corrupt()),
            (Encoding::BYTE_STREAM_SPLIT, _) => Ok(Decoder::Split { bytes, at: 0, width }),
            _ => Err(format!("a page is in encoding {encoding}, which is not supported for this type")),
        }
    }

    /// Appends the next n values; `None` if there are fewer, or if they are not what they should be.
    pub(super) fn read(&mut self, n: usize, known: Option<&PageValues>, out: &mut PageValues) -> Option<()> {
        match (self, out) {
            (Decoder::Strings(strings), PageValues::Text(out)) => strings.read(n, out),
            (Decoder::Dictionary(runs), out) => {
                let mut positions = Vec::with_capacity(n);
                runs.read(n, &mut positions)?;
                out.look_up(known?, &positions)
            }
            (_, PageValues::Text(_)) | (Decoder::Strings(_), _) => None,
            (Decoder::Plain { bytes, at, width }, PageValues::Raw(out)) => {
                let end = n.checked_mul(*width)?.checked_add(*at)?;
                out.extend(bytes.get(*at..end)?.chunks_exact(*width).map(little_endian));
                *at = end;
                Some(())
            }
            (Decoder::Bits { bytes, at }, PageValues::Raw(out)) => {
                for _ in 0..n {
                    out.push(bits(bytes, *at, 1)?);
                    *at += 1;
                }
                Some(())
            }
            (Decoder::Split { bytes, at, width }, PageValues::Raw(out)) => {
                let total = bytes.len() / *width;
                let end = at.checked_add(n).filter(|&end| end <= total)?;
                let value = |i: usize| {
                    (0..*width).rev().fold(0, |value, j| value << 8 | u64::from(bytes[j * total + i]))
                };
                out.extend((*at..end).map(value));
                *at = end;
                Some(())
            }
            (Decoder::Runs(runs), PageValues::Raw(out)) => {
                let mut values = Vec::with_capacity(n);
                runs.read(n, &mut values)?;
                out.extend(values.into_iter().map(u64::from));
                Some(())
            }
            (Decoder::Deltas(deltas), PageValues::Raw(out)) => {
                for _ in 0..n {
                    out.push(deltas.next()? as u64);
                }
                Some(())
            }
        }
    }
}

/// A dictionary of n values, always plain.
pub(super) fn dictionary(physical: Physical, bytes: Bytes, n: usize) -> Option<PageValues> {
    // No value takes less than a byte, so that a claim beyond is a lie. Booleans have no dictionaries.
    if n > bytes.len() || physical == Physical::Bool {
        return None;
    }
    let mut values = PageValues::none(physical);
    let mut decoder = Decoder::new(physical, Encoding::PLAIN, bytes, n).ok()?;
    decoder.read(n, None, &mut values).map(|()| values)
}

/// Up to eight bytes.
fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(physical: Physical, encoding: Encoding, bytes: &[u8], n: usize) -> Option<PageValues> {
        let mut decoder = Decoder::new(physical, encoding, Bytes::copy_from_slice(bytes), n).ok()?;
        let mut out = PageValues::none(physical);
        // One at a time or all at once, it is the same.
        (0..n).try_for_each(|_| decoder.read(1, None, &mut out))?;
        let mut whole = PageValues::none(physical);
        let mut decoder = Decoder::new(physical, encoding, Bytes::copy_from_slice(bytes), n).ok()?;
        decoder.read(n, None, &mut whole)?;
        assert_eq!(out, whole);
        Some(out)
    }

    #[test]
    fn plain_values_are_little_endian() {
        let values = read(Physical::Int32, Encoding::PLAIN, &[1, 0, 0, 0, 0, 1, 0, 0], 2);
        assert_eq!(values, Some(PageValues::Raw(vec![1, 256])));
        assert_eq!(read(Physical::Int64, Encoding::PLAIN, &[1; 15], 2), None);
        assert_eq!(read(Physical::Bool, Encoding::PLAIN, &[0b101], 3), Some(PageValues::Raw(vec![1, 0, 1])));
    }

    #[test]
    fn split_values_are_put_together() {
        let values = read(Physical::Float, Encoding::BYTE_STREAM_SPLIT, &[1, 5, 2, 6, 3, 7, 4, 8], 2);
        assert_eq!(values, Some(PageValues::Raw(vec![0x0403_0201, 0x0807_0605])));
    }

    #[test]
    fn dictionaries_are_no_larger_than_their_bytes() {
        assert_eq!(
            dictionary(Physical::Int32, Bytes::from_static(&[1, 0, 0, 0]), 1),
            Some(PageValues::Raw(vec![1]))
        );
        assert_eq!(dictionary(Physical::Text, Bytes::from_static(&[1, 0, 0, 0, b'x']), usize::MAX), None);
    }

    #[test]
    fn positions_beyond_the_dictionary_are_refused() {
        let known = PageValues::Raw(vec![7, 8]);
        let mut out = PageValues::Raw(vec![]);
        let positions = |value| Bytes::copy_from_slice(&[2, 6, value]);
        let mut decoder = Decoder::new(Physical::Int64, Encoding::RLE_DICTIONARY, positions(1), 3).unwrap();
        assert_eq!(decoder.read(3, Some(&known), &mut out), Some(()));
        assert_eq!(out, PageValues::Raw(vec![8, 8, 8]));
        let mut decoder = Decoder::new(Physical::Int64, Encoding::RLE_DICTIONARY, positions(2), 3).unwrap();
        assert_eq!(decoder.read(3, Some(&known), &mut out), None);
        let mut decoder = Decoder::new(Physical::Int64, Encoding::RLE_DICTIONARY, positions(1), 3).unwrap();
        assert_eq!(decoder.read(1, None, &mut out), None);
    }
}
