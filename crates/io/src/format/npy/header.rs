//! What an npy file says about itself before its data.

use crate::error::quoted;
use crate::{Error, Result};
use std::io::Read;

/// numpy itself refuses headers beyond 10,000 bytes.
const MAX_HEADER_BYTES: u32 = 1 << 16;
/// Bytes of one string; a word of a table is shorter.
const MAX_WORD_BYTES: usize = 1 << 16;

/// Shape and type of an array.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ArrayHeader {
    pub(crate) dtype: Dtype,
    /// Columns one after another instead of rows.
    pub(crate) fortran: bool,
    pub(crate) shape: Vec<u64>,
}

/// Type of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dtype {
    pub(crate) kind: ItemKind,
    /// Bytes of one item, never zero.
    pub(crate) size: usize,
    pub(crate) big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ItemKind {
    Bool,
    Signed,
    Unsigned,
    Float,
    /// `S`: bytes.
    Bytes,
    /// `U`: four bytes per character.
    Unicode,
}

impl Dtype {
    pub(crate) fn is_text(self) -> bool {
        matches!(self.kind, ItemKind::Bytes | ItemKind::Unicode)
    }

    /// Whether every value is exact in single precision.
    pub(crate) fn is_single(self) -> bool {
        match self.kind {
            ItemKind::Float => self.size <= 4,
            _ => self.size <= 2,
        }
    }

    fn parse(text: &str) -> Result<Self> {
        use ItemKind::{Bool, Bytes, Float, Signed, Unicode, Unsigned};
        let unsupported = |why: &str| wrong!("arrays of type {} are not read: {why}", quoted(text));
        let unknown = || unsupported("expected bool, integers, floats of 2, 4 or 8 bytes, or strings (U, S)");
        let mut chars = text.chars();
        let (order, kind) = (chars.next().unwrap_or('?'), chars.next().unwrap_or('?'));
        // The sizes of numbers that are read, or the largest size of a string and the bytes of a character.
        let (kind, sizes, max_chars, char_bytes) = match kind {
            'b' => (Bool, &[1][..], 0, 1),
            'i' => (Signed, &[1, 2, 4, 8][..], 0, 1),
            'u' => (Unsigned, &[1, 2, 4, 8][..], 0, 1),
            'f' => (Float, &[2, 4, 8][..], 0, 1),
            'S' | 'a' => (Bytes, &[][..], MAX_WORD_BYTES, 1),
            'U' => (Unicode, &[][..], MAX_WORD_BYTES / 4, 4),
            'O' => {
                return Err(unsupported("objects are pickled and could run code; save numbers or strings"));
            }
            _ => return Err(unknown()),
        };
        let size: usize = chars.as_str().parse().map_err(|_| unknown())?;
        if !sizes.contains(&size) && !(1..=max_chars).contains(&size) {
            return Err(match max_chars {
                0 => unknown(),
                _ => unsupported("strings have between 1 and 65,536 bytes"),
            });
        }
        match order {
            '<' | '|' | '=' | '>' => Ok(Dtype { kind, size: size * char_bytes, big_endian: order == '>' }),
            _ => Err(unknown()),
        }
    }
}

impl ArrayHeader {
    /// Reads magic, version and header, up to the first byte of data.
    pub(crate) fn read(from: &mut impl Read) -> Result<Self> {
        let mut start = [0; 8];
        fill(from, &mut start)?;
        if &start[..6] != b"\x93NUMPY" {
            return Err(wrong!("it does not begin as an npy array does"));
        }
        // The length of the header: two bytes in version 1, four since.
        let mut length = [0; 4];
        match start[6] {
            1 => fill(from, &mut length[..2])?,
            2 | 3 => fill(from, &mut length)?,
            version => return Err(wrong!("npy version {version} is not known")),
        }
        let length = u32::from_le_bytes(length);
        if length > MAX_HEADER_BYTES {
            return Err(wrong!("its header has {length} bytes; more than {MAX_HEADER_BYTES} are not read"));
        }
        let mut text = vec![0; length as usize];
        fill(from, &mut text)?;
        parse(std::str::from_utf8(&text).map_err(|_| wrong!("its header is not text"))?)
    }

    /// `Err` if there are bytes beyond the array. Reading to the end also shows a wrong checksum.
    pub(crate) fn expect_end(&self, from: &mut impl Read) -> Result<()> {
        match from.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(wrong!("there is more data than shape {} takes", self.shape_text())),
        }
    }

    /// Number of items; `None` beyond 2^63.
    pub(crate) fn items(&self) -> Option<u64> {
        let items = self.shape.iter().try_fold(1u64, |product, &n| product.checked_mul(n))?;
        items.checked_mul(self.dtype.size as u64).filter(|&bytes| bytes < 1 << 63)?;
        Some(items)
    }

    /// The shape as Python writes it.
    pub(crate) fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }
}

pub(crate) fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    if sizes.len() == 1 { format!("({},)", sizes[0]) } else { format!("({})", sizes.join(", ")) }
}

pub(crate) fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<()> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => wrong!("it ends too early: the file is truncated"),
        _ => Error::from(error),
    })
}

/// The header is a Python dictionary of three entries, whose values are a string, a truth value and a tuple
/// of integers.
fn parse(text: &str) -> Result<ArrayHeader> {
    let entries = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let entries = entries.ok_or_else(|| unexpected(text, "{...}"))?;
    let descr = entry(entries, "descr")?;
    if descr.starts_with('[') {
        return Err(wrong!("structured arrays are not read; save one array per column"));
    }
    let quoted_name = |quote: char| descr.strip_prefix(quote)?.strip_suffix(quote);
    let name = quoted_name('\'').or_else(|| quoted_name('"'));
    let fortran = match entry(entries, "fortran_order")? {
        "True" => true,
        "False" => false,
        other => return Err(unexpected(other, "True or False")),
    };
    let dtype = Dtype::parse(name.ok_or_else(|| unexpected(descr, "a string"))?)?;
    Ok(ArrayHeader { dtype, fortran, shape: sizes(entry(entries, "shape")?)? })
}

/// The value of an entry: what is between its colon and the next comma that is not in parentheses.
fn entry<'a>(entries: &'a str, key: &str) -> Result<&'a str> {
    let value = ['\'', '"'].iter().find_map(|quote| entries.split_once(&format!("{quote}{key}{quote}")));
    let value = value.and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    let value = value.ok_or_else(|| wrong!("its header has no entry {key}"))?;
    let mut open = 0;
    let end = value.find(|c| {
        open += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        c == ',' && open <= 0
    });
    Ok(value[..end.unwrap_or(value.len())].trim())
}

fn sizes(tuple: &str) -> Result<Vec<u64>> {
    let inside = tuple.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let inside = inside.ok_or_else(|| unexpected(tuple, "a tuple of sizes"))?;
    let items = inside.split(',').map(str::trim).filter(|item| !item.is_empty());
    // Python 2 wrote long integers like 3L.
    let size = |item: &str| item.strip_suffix('L').unwrap_or(item).parse();
    items.map(|item| size(item).map_err(|_| unexpected(item, "a size"))).collect()
}

fn unexpected(found: &str, wanted: &str) -> Error {
    wrong!("its header has {} where {wanted} is expected", quoted(found.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_as_numpy_writes_them() {
        let header = parse("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }     \n").unwrap();
        let dtype = Dtype { kind: ItemKind::Float, size: 8, big_endian: false };
        assert_eq!(header, ArrayHeader { dtype, fortran: false, shape: vec![3, 4] });
        let header = parse("{\"shape\":(7L,), 'fortran_order':True, 'descr':'>U5'}").unwrap();
        assert_eq!((header.dtype.size, header.dtype.big_endian, header.shape), (20, true, vec![7]));
        assert_eq!(parse("{'descr': '|b1', 'fortran_order': False, 'shape': ()}").unwrap().items(), Some(1));
    }

    #[test]
    fn other_types_are_refused_with_a_reason() {
        let with = |descr: &str| {
            parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}"))
                .unwrap_err()
                .to_string()
        };
        assert!(with("'|O'").contains("pickled"), "{}", with("'|O'"));
        assert!(with("[('a', '<f8')]").contains("structured"));
        assert!(with("'<c16'").contains("arrays of type \"<c16\" are not read"));
        assert!(with("'<f16'").contains("floats of 2, 4 or 8 bytes"));
        assert!(with("'<U0'").contains("between 1 and"));
        assert!(with("'<U99999999999999999999'").contains("are not read"));
        assert!(with("''").contains("are not read"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            "{",
            "{'descr'",
            "{'descr': '<f8'}",
            "{'shape': (1, -2)}",
            "{'shape': (99999999999999999999,)}",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        for (bytes, why) in [
            (&b"\x93NUMPY\x01\x00\xff\xff{}"[..], "truncated"),
            (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}", "4294967295 bytes"),
            (b"PK\x03\x04            ", "does not begin"),
        ] {
            let error = ArrayHeader::read(&mut &bytes[..]).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn shapes_that_overflow_have_no_items() {
        let header =
            parse("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}").unwrap();
        assert_eq!(header.items(), None);
        assert_eq!(header.shape_text(), "(4294967296, 4294967296)");
    }
}
