//! Headers of pages and of the file, looked at before the parquet crate parses them.
//!
//! They are structs of thrift's compact protocol. Where the crate skips a field that it does not know, it goes
//! through all items that a list claims to have, even if none of them takes a byte or the file has ended: 2^31 of
//! them in a list, and lists of lists. So lists may not claim more items than there are bytes, and known fields have
//! the types that the crate reads without a look.

use std::io::{Error, ErrorKind, Read, Result};

/// Fields of a struct that have a type: number, type, and the fields inside.
pub(super) struct Fields(&'static [(i16, u8, &'static Fields)]);

const I32: u8 = 5;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;
const BOOLS: [u8; 2] = [1, 2];
/// The header of the file holds structs in structs; nothing holds more.
const MAX_DEPTH: u32 = 32;

/// A struct of any fields.
pub(super) const ANY: Fields = Fields(&[]);
const DATA_PAGE: Fields = Fields(&[(1, I32, &ANY), (2, I32, &ANY), (3, I32, &ANY), (4, I32, &ANY)]);
const DICTIONARY_PAGE: Fields = Fields(&[(1, I32, &ANY), (2, I32, &ANY)]);
const DATA_PAGE_V2: Fields =
    Fields(&[(1, I32, &ANY), (2, I32, &ANY), (3, I32, &ANY), (4, I32, &ANY), (5, I32, &ANY), (6, I32, &ANY)]);
/// The header of a page, `PageHeader` of parquet.thrift.
pub(super) const PAGE: Fields = Fields(&[
    (1, I32, &ANY),
    (2, I32, &ANY),
    (3, I32, &ANY),
    (4, I32, &ANY),
    (5, STRUCT, &DATA_PAGE),
    (6, STRUCT, &ANY),
    (7, STRUCT, &DICTIONARY_PAGE),
    (8, STRUCT, &DATA_PAGE_V2),
]);

/// The bytes of a struct at the beginning of at most `most` bytes.
///
/// # Errors
/// If it ends early, claims more than there is, or has fields of another type.
pub(super) fn read_struct(from: impl Read, most: u64, fields: &Fields) -> Result<Vec<u8>> {
    let mut walk = Walk { from, left: most, bytes: vec![] };
    walk.fields(fields, MAX_DEPTH)?;
    Ok(walk.bytes)
}

fn corrupt(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why)
}

/// A way through a struct.
struct Walk<R> {
    from: R,
    left: u64,
    bytes: Vec<u8>,
}

impl<R: Read> Walk<R> {
    fn pass(&mut self, n: u64) -> Result<()> {
        let ends_early = || corrupt("its header ends early");
        self.left = self.left.checked_sub(n).ok_or_else(ends_early)?;
        // Memory grows with what is there.
        let read = (&mut self.from).take(n).read_to_end(&mut self.bytes)?;
        if (read as u64) < n { Err(ends_early()) } else { Ok(()) }
    }

    fn byte(&mut self) -> Result<u8> {
        self.pass(1)?;
        Ok(self.bytes.last().copied().unwrap_or_default())
    }

    /// An unsigned number in groups of seven bits.
    fn varint(&mut self) -> Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(corrupt("a number in its header is too long"))
    }

    /// A struct: fields, each with its type and its distance from the field before, and a zero.
    fn fields(&mut self, known: &Fields, depth: u32) -> Result<()> {
        let mut id = 0_i16;
        loop {
            let head = self.byte()?;
            if head & 15 == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => {
                    let coded = self.varint()?;
                    ((coded >> 1) as i64 ^ -((coded & 1) as i64)) as i16
                }
                step => id
                    .checked_add(i16::from(step))
                    .ok_or_else(|| corrupt("its header has too many fields"))?,
            };
            let kind = head & 15;
            match known.0.iter().find(|field| field.0 == id) {
                Some(&(_, wanted, _)) if wanted != kind => {
                    return Err(corrupt("a field of its header has another type"));
                }
                Some(&(_, _, inner)) => self.value(kind, inner, depth)?,
                None => self.value(kind, &ANY, depth)?,
            }
        }
    }

    fn value(&mut self, kind: u8, inner: &Fields, depth: u32) -> Result<()> {
        let deeper = || depth.checked_sub(1).ok_or_else(|| corrupt("its header is too deep"));
        match kind {
            1 | 2 => Ok(()),
            3 => self.pass(1),
            4..=6 => self.varint().map(|_| ()),
            7 => self.pass(8),
            BINARY => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let head = self.byte()?;
                let n = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.items(n, &[head & 15], deeper()?)
            }
            11 => {
                let n = self.varint()?;
                let kinds = if n > 0 { self.byte()? } else { 0 };
                self.items(n, &[kinds >> 4, kinds & 15], deeper()?)
            }
            STRUCT => self.fields(inner, deeper()?),
            13 => self.pass(16),
            _ => Err(corrupt("a field of its header has no known type")),
        }
    }

    /// Items of a list or a map. The crate passes booleans without their bytes; no header has a list of them.
    fn items(&mut self, n: u64, kinds: &[u8], depth: u32) -> Result<()> {
        if n > self.left || n > 0 && kinds.iter().any(|kind| BOOLS.contains(kind)) {
            return Err(corrupt("a list in its header claims more than there is"));
        }
        (0..n).try_for_each(|_| kinds.iter().try_for_each(|&kind| self.value(kind, &ANY, depth)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> std::result::Result<usize, String> {
        read_struct(bytes, bytes.len() as u64, &PAGE).map(|own| own.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_header_ends_where_it_ends() {
        // A data page of 10 values, and an unknown list of two numbers.
        let header =
            [0x15, 0, 0x15, 40, 0x15, 40, 0x2c, 0x15, 20, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0x59, 0x25, 2, 4, 0];
        assert_eq!(read(&[&header[..], b"values"].concat()), Ok(header.len()));
        for end in 0..header.len() {
            assert!(read(&header[..end]).is_err());
        }
    }

    #[test]
    fn claims_that_cannot_be_kept_are_refused() {
        let more = Err("a list in its header claims more than there is".to_string());
        // 2^31 - 1 numbers of eight bytes, and as many booleans, which the crate takes to have none.
        assert_eq!(read(&[0x99, 0xf7, 0xff, 0xff, 0xff, 0xff, 7, 0]), more);
        assert_eq!(read(&[0x99, 0x21, 1, 1, 0]), more);
        assert_eq!(read(&[0x9b, 3, 0x15, 1, 1, 1, 0]), more);
        assert_eq!(read(&[0x19, 0x15, 2, 0]), Err("a field of its header has another type".into()));
        assert_eq!(read(&[0x15]), Err("its header ends early".into()));
        assert_eq!(read(&[0x9c; 100]), Err("its header is too deep".into()));
        assert_eq!(read(&[0x9c, 0x9e]), Err("a field of its header has no known type".into()));
    }
}
