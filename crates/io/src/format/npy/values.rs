//! Bytes to numbers and words, as many as there are.

use super::header::{ArrayHeader, Dtype, ItemKind, fill};
use half::f16;
use std::collections::HashMap;
use std::io::Read;

/// Bytes read at a time: memory is never set aside for what a header claims.
const BLOCK_BYTES: usize = 1 << 20;

/// Numbers in the precision that loses nothing.
#[derive(Debug)]
pub(super) enum FloatArray {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl FloatArray {
    pub(in crate::format) fn into_f64(self) -> Vec<f64> {
        match self {
            FloatArray::F32(values) => values.into_iter().map(f64::from).collect(),
            FloatArray::F64(values) => values,
        }
    }
}

/// One array of labels, names, weights.
#[derive(Debug)]
pub(in crate::format) enum ArrayValues {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    /// Every word once, in order of appearance, and which one each row has.
    Words {
        index: Vec<u32>,
        words: Vec<String>,
    },
}

/// The next `items` numbers.
pub(in crate::format) fn numbers(
    from: &mut impl Read,
    dtype: Dtype,
    items: u64,
) -> Result<FloatArray, String> {
    Ok(match dtype.is_single() {
        true => {
            let mut values = vec![];
            blocks(from, dtype, items, |bytes| decode_f32(bytes, dtype, &mut values))?;
            FloatArray::F32(values)
        }
        false => {
            let mut values = vec![];
            blocks(from, dtype, items, |bytes| decode_f64(bytes, dtype, &mut values))?;
            FloatArray::F64(values)
        }
    })
}

/// A whole array, flat.
pub(in crate::format) fn array_values(
    from: &mut impl Read,
    header: &ArrayHeader,
) -> Result<ArrayValues, String> {
    let dtype = header.dtype;
    let items = header.items().ok_or_else(|| format!("shape {} is too large", header.shape_text()))?;
    Ok(match dtype.kind {
        ItemKind::Float => ArrayValues::Numbers(numbers(from, dtype, items)?.into_f64()),
        ItemKind::Bool | ItemKind::Signed | ItemKind::Unsigned => {
            let mut values = vec![];
            let mut large = None;
            blocks(from, dtype, items, |bytes| {
                for item in bytes.chunks_exact(dtype.size) {
                    let value = integer(item, dtype);
                    large = large.or(Some(value).filter(|&value| i64::try_from(value).is_err()));
                    values.push(value as i64);
                }
            })?;
            match large {
                Some(value) => return Err(format!("{value} is beyond the range of integers")),
                None => ArrayValues::Integers(values),
            }
        }
        ItemKind::Bytes | ItemKind::Unicode => words(from, dtype, items)?,
    })
}

fn words(from: &mut impl Read, dtype: Dtype, items: u64) -> Result<ArrayValues, String> {
    let mut known: HashMap<Vec<u8>, u32> = HashMap::new();
    let (mut index, mut words, mut wrong) = (vec![], vec![], None);
    blocks(from, dtype, items, |bytes| {
        for item in bytes.chunks_exact(dtype.size) {
            let next = known.len() as u32;
            let position = known.get(item).copied().unwrap_or_else(|| {
                known.insert(item.to_vec(), next);
                words.push(word(item, dtype).unwrap_or_else(|| {
                    wrong = wrong.or(Some(index.len()));
                    String::new()
                }));
                next
            });
            index.push(position);
        }
    })?;
    match wrong {
        Some(item) => Err(format!("item {item} is not text")),
        None => Ok(ArrayValues::Words { index, words }),
    }
}

fn word(item: &[u8], dtype: Dtype) -> Option<String> {
    let text = match dtype.kind {
        ItemKind::Bytes => String::from_utf8(item.to_vec()).ok()?,
        _ => {
            item.as_chunks().0.iter().map(|&c| char::from_u32(code(c, dtype))).collect::<Option<String>>()?
        }
    };
    // Shorter words are filled up with zeros.
    Some(text.trim_end_matches('\0').to_string())
}

fn code(bytes: [u8; 4], dtype: Dtype) -> u32 {
    if dtype.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// Calls `take` with whole items, a block at a time.
fn blocks(from: &mut impl Read, dtype: Dtype, items: u64, mut take: impl FnMut(&[u8])) -> Result<(), String> {
    let per_block = (BLOCK_BYTES / dtype.size).max(1) as u64;
    let mut bytes = vec![0; per_block.min(items) as usize * dtype.size];
    let mut left = items;
    while left > 0 {
        let n = per_block.min(left);
        let block = &mut bytes[..n as usize * dtype.size];
        fill(from, block)?;
        take(block);
        left -= n;
    }
    Ok(())
}

/// Items of N bytes through one conversion for each byte order.
macro_rules! decode {
    ($bytes:expr, $dtype:expr, $out:expr, $type:ty, $convert:expr) => {{
        let items = $bytes.as_chunks().0.iter();
        match $dtype.big_endian {
            true => $out.extend(items.map(|&item| $convert(<$type>::from_be_bytes(item)))),
            false => $out.extend(items.map(|&item| $convert(<$type>::from_le_bytes(item)))),
        }
    }};
}

fn decode_f32(bytes: &[u8], dtype: Dtype, out: &mut Vec<f32>) {
    match (dtype.kind, dtype.size) {
        (ItemKind::Float, 4) => decode!(bytes, dtype, out, f32, |x| x),
        (ItemKind::Float, _) => decode!(bytes, dtype, out, f16, f16::to_f32),
        (ItemKind::Signed, 1) => decode!(bytes, dtype, out, i8, f32::from),
        (ItemKind::Signed, _) => decode!(bytes, dtype, out, i16, f32::from),
        (ItemKind::Unsigned, 2) => decode!(bytes, dtype, out, u16, f32::from),
        (ItemKind::Bool, _) => out.extend(bytes.iter().map(|&b| f32::from(u8::from(b != 0)))),
        _ => decode!(bytes, dtype, out, u8, f32::from),
    }
}

fn decode_f64(bytes: &[u8], dtype: Dtype, out: &mut Vec<f64>) {
    match (dtype.kind, dtype.size) {
        (ItemKind::Float, _) => decode!(bytes, dtype, out, f64, |x| x),
        (ItemKind::Signed, 4) => decode!(bytes, dtype, out, i32, f64::from),
        (ItemKind::Signed, _) => decode!(bytes, dtype, out, i64, |x| x as f64),
        (_, 4) => decode!(bytes, dtype, out, u32, f64::from),
        _ => decode!(bytes, dtype, out, u64, |x| x as f64),
    }
}

fn integer(item: &[u8], dtype: Dtype) -> i128 {
    let digit = |value: i128, &byte: &u8| value << 8 | i128::from(byte);
    let value = match dtype.big_endian {
        true => item.iter().fold(0, digit),
        false => item.iter().rev().fold(0, digit),
    };
    let bits = 8 * item.len() as u32;
    match dtype.kind {
        ItemKind::Signed if value >= 1 << (bits - 1) => value - (1 << bits),
        ItemKind::Bool => i128::from(value != 0),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dtype(kind: ItemKind, size: usize, big_endian: bool) -> Dtype {
        Dtype { kind, size, big_endian }
    }

    fn f64s(bytes: &[u8], kind: ItemKind, size: usize, big_endian: bool) -> Vec<f64> {
        let items = (bytes.len() / size) as u64;
        numbers(&mut &bytes[..], dtype(kind, size, big_endian), items).unwrap().into_f64()
    }

    #[test]
    fn every_type_of_number_in_both_byte_orders() {
        assert_eq!(f64s(&[0, 2], ItemKind::Bool, 1, false), [0.0, 1.0]);
        assert_eq!(f64s(&[255, 1], ItemKind::Signed, 1, false), [-1.0, 1.0]);
        assert_eq!(f64s(&[255, 1], ItemKind::Unsigned, 1, false), [255.0, 1.0]);
        assert_eq!(f64s(&[0xff, 0xfe], ItemKind::Signed, 2, true), [-2.0]);
        assert_eq!(f64s(&[0xfe, 0xff], ItemKind::Unsigned, 2, false), [65534.0]);
        assert_eq!(f64s(&(-70000i32).to_le_bytes(), ItemKind::Signed, 4, false), [-70000.0]);
        assert_eq!(f64s(&70000u32.to_be_bytes(), ItemKind::Unsigned, 4, true), [70000.0]);
        assert_eq!(f64s(&(-5i64).to_be_bytes(), ItemKind::Signed, 8, true), [-5.0]);
        assert_eq!(f64s(&u64::MAX.to_le_bytes(), ItemKind::Unsigned, 8, false), [u64::MAX as f64]);
        assert_eq!(f64s(&f16::from_f32(0.5).to_le_bytes(), ItemKind::Float, 2, false), [0.5]);
        assert_eq!(f64s(&0.1f32.to_be_bytes(), ItemKind::Float, 4, true), [f64::from(0.1f32)]);
        assert_eq!(f64s(&0.1f64.to_be_bytes(), ItemKind::Float, 8, true), [0.1]);
    }

    #[test]
    fn integers_of_any_width() {
        for value in [0i64, 1, -1, 127, -128] {
            assert_eq!(integer(&value.to_be_bytes(), dtype(ItemKind::Signed, 8, true)), i128::from(value));
            assert_eq!(integer(&[value as u8], dtype(ItemKind::Signed, 1, false)), i128::from(value));
        }
        assert_eq!(integer(&[0xff, 0xff], dtype(ItemKind::Unsigned, 2, false)), 65535);
    }

    #[test]
    fn words_are_kept_once() {
        let header = ArrayHeader { dtype: dtype(ItemKind::Bytes, 2, false), fortran: false, shape: vec![4] };
        let ArrayValues::Words { index, words } = array_values(&mut &b"abc\0ab\0\0"[..], &header).unwrap()
        else {
            panic!()
        };
        assert_eq!((index, words), (vec![0, 1, 0, 2], vec!["ab".to_string(), "c".into(), "".into()]));
        let wrong = array_values(&mut &b"ab\xff\xfe"[..], &ArrayHeader { shape: vec![2], ..header });
        assert_eq!(wrong.unwrap_err(), "item 1 is not text");
    }

    #[test]
    fn a_claim_beyond_the_data_ends_with_the_data() {
        let header =
            ArrayHeader { dtype: dtype(ItemKind::Float, 8, false), fortran: false, shape: vec![1 << 40] };
        assert!(array_values(&mut &[0u8; 80][..], &header).unwrap_err().contains("truncated"));
    }
}
