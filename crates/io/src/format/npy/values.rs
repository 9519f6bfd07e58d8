//! Bytes to numbers and words, as many as there are.

use super::header::{ArrayHeader, Dtype, ItemKind, fill};
use crate::Result;
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
    pub(crate) fn into_f64(self) -> Vec<f64> {
        match self {
            FloatArray::F32(values) => values.into_iter().map(f64::from).collect(),
            FloatArray::F64(values) => values,
        }
    }
}

/// One array of labels, names, weights.
#[derive(Debug)]
pub(crate) enum ArrayValues {
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    /// Every word once, in order of appearance, and which one each row has.
    Words {
        index: Vec<u32>,
        words: Vec<String>,
    },
}

/// The items of a block as numbers of another type that holds them all.
macro_rules! decode {
    ($bytes:expr, $dtype:expr, $to:ty, $out:expr) => {{
        macro_rules! each {
            ($from:ty) => {
                each!($from, |x| x as $to)
            };
            ($from:ty, $convert:expr) => {{
                let items = $bytes.as_chunks().0.iter();
                match $dtype.big_endian {
                    true => $out.extend(items.map(|&item| $convert(<$from>::from_be_bytes(item)))),
                    false => $out.extend(items.map(|&item| $convert(<$from>::from_le_bytes(item)))),
                }
            }};
        }
        match ($dtype.kind, $dtype.size) {
            (ItemKind::Bool, _) => each!(u8, |x| u8::from(x != 0) as $to),
            (ItemKind::Float, 2) => each!(f16, |x: f16| x.to_f32() as $to),
            (ItemKind::Float, 4) => each!(f32),
            (ItemKind::Float, _) => each!(f64),
            (ItemKind::Signed, 1) => each!(i8),
            (ItemKind::Signed, 2) => each!(i16),
            (ItemKind::Signed, 4) => each!(i32),
            (ItemKind::Signed, _) => each!(i64),
            (_, 1) => each!(u8),
            (_, 2) => each!(u16),
            (_, 4) => each!(u32),
            _ => each!(u64),
        }
    }};
}

/// The next `items` numbers.
pub(crate) fn numbers(from: &mut impl Read, dtype: Dtype, items: u64) -> Result<FloatArray> {
    let (mut singles, mut doubles) = (vec![], vec![]);
    blocks(from, dtype, items, |bytes| match dtype.is_single() {
        true => decode!(bytes, dtype, f32, singles),
        false => decode!(bytes, dtype, f64, doubles),
    })?;
    Ok(if dtype.is_single() { FloatArray::F32(singles) } else { FloatArray::F64(doubles) })
}

fn integers(from: &mut impl Read, dtype: Dtype, items: u64) -> Result<Vec<i64>> {
    let (mut values, mut wide, mut large) = (vec![], vec![], None);
    blocks(from, dtype, items, |bytes| {
        decode!(bytes, dtype, i128, wide);
        large = large.or(wide.iter().copied().find(|&value| i64::try_from(value).is_err()));
        values.extend(wide.drain(..).map(|value| value as i64));
    })?;
    large.map_or(Ok(values), |value| Err(wrong!("{value} is beyond the range of integers")))
}

/// A whole array, flat.
pub(crate) fn array_values(from: &mut impl Read, header: &ArrayHeader) -> Result<ArrayValues> {
    let dtype = header.dtype;
    let items = header.items().ok_or_else(|| wrong!("shape {} is too large", header.shape_text()))?;
    Ok(match dtype.kind {
        ItemKind::Float => ArrayValues::Numbers(numbers(from, dtype, items)?.into_f64()),
        ItemKind::Bytes | ItemKind::Unicode => words(from, dtype, items)?,
        _ => ArrayValues::Integers(integers(from, dtype, items)?),
    })
}

fn words(from: &mut impl Read, dtype: Dtype, items: u64) -> Result<ArrayValues> {
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
    wrong.map_or(Ok(ArrayValues::Words { index, words }), |item| Err(wrong!("item {item} is not text")))
}

fn word(item: &[u8], dtype: Dtype) -> Option<String> {
    let text = match dtype.kind {
        ItemKind::Bytes => String::from_utf8(item.to_vec()).ok()?,
        _ => {
            let mut codes: Vec<u32> = vec![];
            decode!(item, Dtype { kind: ItemKind::Unsigned, size: 4, ..dtype }, u32, codes);
            codes.into_iter().map(char::from_u32).collect::<Option<String>>()?
        }
    };
    // Shorter words are filled up with zeros.
    Some(text.trim_end_matches('\0').to_string())
}

/// Calls `take` with whole items, a block at a time.
fn blocks(from: &mut impl Read, dtype: Dtype, items: u64, mut take: impl FnMut(&[u8])) -> Result<()> {
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
        let integer = |bytes: &[u8], kind, big_endian| {
            integers(&mut &bytes[..], dtype(kind, bytes.len(), big_endian), 1).map(|values| values[0])
        };
        for value in [0i64, 1, -1, 127, -128] {
            assert_eq!(integer(&value.to_be_bytes(), ItemKind::Signed, true).unwrap(), value);
            assert_eq!(integer(&[value as u8], ItemKind::Signed, false).unwrap(), value);
        }
        assert_eq!(integer(&[0xff, 0xff], ItemKind::Unsigned, false).unwrap(), 65535);
        let large = integer(&[0xff; 8], ItemKind::Unsigned, false).unwrap_err().to_string();
        assert_eq!(large, "18446744073709551615 is beyond the range of integers");
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
        assert_eq!(wrong.unwrap_err().to_string(), "item 1 is not text");
    }

    #[test]
    fn a_claim_beyond_the_data_ends_with_the_data() {
        let header =
            ArrayHeader { dtype: dtype(ItemKind::Float, 8, false), fortran: false, shape: vec![1 << 40] };
        assert!(array_values(&mut &[0u8; 80][..], &header).unwrap_err().to_string().contains("truncated"));
    }
}
