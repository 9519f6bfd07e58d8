//! What an npy file says about itself before its data.

use crate::error::quoted;
use std::io::Read;

/// numpy itself refuses headers beyond 10,000 bytes.
const MAX_HEADER_BYTES: u64 = 1 << 16;
/// Bytes of one string; a word of a table is shorter.
const MAX_WORD_BYTES: usize = 1 << 16;

/// Shape and type of an array.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::format) struct ArrayHeader {
    pub(in crate::format) dtype: Dtype,
    /// Columns one after another instead of rows.
    pub(in crate::format) fortran: bool,
    pub(in crate::format) shape: Vec<u64>,
}

/// Type of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::format) struct Dtype {
    pub(in crate::format) kind: ItemKind,
    /// Bytes of one item, never zero.
    pub(in crate::format) size: usize,
    pub(in crate::format) big_endian: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::format) enum ItemKind {
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
    pub(in crate::format) fn is_text(self) -> bool {
        matches!(self.kind, ItemKind::Bytes | ItemKind::Unicode)
    }

    /// Whether every value is exact in single precision.
    pub(in crate::format) fn is_single(self) -> bool {
        match self.kind {
            ItemKind::Float => self.size <= 4,
            _ => self.size <= 2,
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let unsupported = |why: &str| format!("arrays of type {} are not read: {why}", quoted(text));
        const KNOWN: &str = "expected bool, integers, floats of 2, 4 or 8 bytes, or strings (U, S)";
        let mut chars = text.chars();
        let (order, kind) = (chars.next().unwrap_or('?'), chars.next().unwrap_or('?'));
        let size = chars.as_str().parse::<usize>().map_err(|_| unsupported(KNOWN));
        let kind = match kind {
            'b' => ItemKind::Bool,
            'i' => ItemKind::Signed,
            'u' => ItemKind::Unsigned,
            'f' => ItemKind::Float,
            'S' | 'a' => ItemKind::Bytes,
            'U' => ItemKind::Unicode,
            'O' => {
                return Err(unsupported("objects are pickled and could run code; save numbers or strings"));
            }
            _ => return Err(unsupported(KNOWN)),
        };
        let size = match (kind, size?) {
            (ItemKind::Bool, 1) => 1,
            (ItemKind::Signed | ItemKind::Unsigned, size @ (1 | 2 | 4 | 8)) => size,
            (ItemKind::Float, size @ (2 | 4 | 8)) => size,
            (ItemKind::Bytes, size) if (1..=MAX_WORD_BYTES).contains(&size) => size,
            (ItemKind::Unicode, size) if (1..=MAX_WORD_BYTES / 4).contains(&size) => 4 * size,
            (ItemKind::Bytes | ItemKind::Unicode, _) => {
                return Err(unsupported("strings have between 1 and 65,536 bytes"));
            }
            _ => return Err(unsupported(KNOWN)),
        };
        match order {
            '<' | '|' | '=' => Ok(Dtype { kind, size, big_endian: false }),
            '>' => Ok(Dtype { kind, size, big_endian: true }),
            _ => Err(unsupported(KNOWN)),
        }
    }
}

impl ArrayHeader {
    /// Reads magic, version and header, up to the first byte of data.
    pub(in crate::format) fn read(from: &mut impl Read) -> Result<Self, String> {
        let mut start = [0; 8];
        fill(from, &mut start)?;
        if &start[..6] != b"\x93NUMPY" {
            return Err("it does not begin as an npy array does".into());
        }
        let length = match start[6] {
            1 => {
                let mut bytes = [0; 2];
                fill(from, &mut bytes)?;
                u64::from(u16::from_le_bytes(bytes))
            }
            2 | 3 => {
                let mut bytes = [0; 4];
                fill(from, &mut bytes)?;
                u64::from(u32::from_le_bytes(bytes))
            }
            version => return Err(format!("npy version {version} is not known")),
        };
        if length > MAX_HEADER_BYTES {
            return Err(format!("its header has {length} bytes; more than {MAX_HEADER_BYTES} are not read"));
        }
        let mut text = vec![0; length as usize];
        fill(from, &mut text)?;
        let text = std::str::from_utf8(&text).map_err(|_| "its header is not text".to_string())?;
        Parser { rest: text }.header()
    }

    /// Number of items; `None` beyond 2^63.
    pub(in crate::format) fn items(&self) -> Option<u64> {
        let items = self.shape.iter().try_fold(1u64, |product, &n| product.checked_mul(n))?;
        items.checked_mul(self.dtype.size as u64).filter(|&bytes| bytes < 1 << 63)?;
        Some(items)
    }

    /// The shape as Python writes it.
    pub(in crate::format) fn shape_text(&self) -> String {
        shape_text(&self.shape)
    }
}

pub(in crate::format) fn shape_text(shape: &[u64]) -> String {
    let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
    if sizes.len() == 1 { format!("({},)", sizes[0]) } else { format!("({})", sizes.join(", ")) }
}

pub(in crate::format) fn fill(from: &mut impl Read, bytes: &mut [u8]) -> Result<(), String> {
    from.read_exact(bytes).map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => "it ends too early: the file is truncated".into(),
        _ => error.to_string(),
    })
}

/// The header is a Python dictionary of three entries, whose values are a string, a truth value and a tuple of integers.
struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn header(mut self) -> Result<ArrayHeader, String> {
        let (mut dtype, mut fortran, mut shape) = (None, None, None);
        self.expect('{')?;
        while !self.take('}') {
            let key = self.string()?;
            self.expect(':')?;
            match key {
                "descr" => dtype = Some(self.dtype()?),
                "fortran_order" => fortran = Some(self.truth()?),
                "shape" => shape = Some(self.shape()?),
                other => return Err(format!("its header has the unknown entry {}", quoted(other))),
            }
            if !self.take(',') {
                self.expect('}')?;
                break;
            }
        }
        match (dtype, fortran, shape) {
            (Some(dtype), Some(fortran), Some(shape)) => Ok(ArrayHeader { dtype, fortran, shape }),
            _ => Err("its header lacks one of descr, fortran_order and shape".into()),
        }
    }

    fn dtype(&mut self) -> Result<Dtype, String> {
        match self.take('[') {
            true => Err("structured arrays are not read; save one array per column".into()),
            false => Dtype::parse(self.string()?),
        }
    }

    fn truth(&mut self) -> Result<bool, String> {
        self.skip_space();
        for (word, value) in [("True", true), ("False", false)] {
            if let Some(rest) = self.rest.strip_prefix(word) {
                self.rest = rest;
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False"))
    }

    fn shape(&mut self) -> Result<Vec<u64>, String> {
        let mut sizes = vec![];
        self.expect('(')?;
        while !self.take(')') {
            self.skip_space();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let size = self.rest[..digits].parse().map_err(|_| self.unexpected("a size"))?;
            sizes.push(size);
            // Python 2 wrote long integers like 3L.
            self.rest = self.rest[digits..].strip_prefix('L').unwrap_or(&self.rest[digits..]);
            if !self.take(',') {
                self.expect(')')?;
                break;
            }
        }
        Ok(sizes)
    }

    fn string(&mut self) -> Result<&'a str, String> {
        self.skip_space();
        let quote = self.rest.chars().next().filter(|c| matches!(c, '\'' | '"'));
        let quote = quote.ok_or_else(|| self.unexpected("a string"))?;
        let (text, rest) =
            self.rest[1..].split_once(quote).ok_or_else(|| self.unexpected("a whole string"))?;
        self.rest = rest;
        Ok(text)
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        if self.take(c) { Ok(()) } else { Err(self.unexpected(&format!("{c:?}"))) }
    }

    fn take(&mut self, c: char) -> bool {
        self.skip_space();
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn unexpected(&self, wanted: &str) -> String {
        let found: String = self.rest.chars().take(20).collect();
        format!("its header has {} where {wanted} is expected", quoted(&found))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<ArrayHeader, String> {
        Parser { rest: text }.header()
    }

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
            parse(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,)}}")).unwrap_err()
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
        assert!(
            ArrayHeader::read(&mut &b"\x93NUMPY\x01\x00\xff\xff{}"[..]).unwrap_err().contains("truncated")
        );
        assert!(
            ArrayHeader::read(&mut &b"\x93NUMPY\x02\x00\xff\xff\xff\xff{}"[..])
                .unwrap_err()
                .contains("4294967295 bytes")
        );
        assert!(
            ArrayHeader::read(&mut &b"PK\x03\x04            "[..]).unwrap_err().contains("does not begin")
        );
    }

    #[test]
    fn shapes_that_overflow_have_no_items() {
        let header =
            parse("{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}").unwrap();
        assert_eq!(header.items(), None);
        assert_eq!(header.shape_text(), "(4294967296, 4294967296)");
    }
}
