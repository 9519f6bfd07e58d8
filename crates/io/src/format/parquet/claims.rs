//! How many values a page claims to have. The decoders of the parquet crate set memory aside for that many, so
//! claims that the bytes of the page cannot keep are refused before.

use parquet::basic::{Encoding, Type};

/// The most values in a miniblock of differences; writers use 32.
const MAX_PER_MINIBLOCK: u64 = 1 << 24;

/// A dictionary is plain: a text takes four bytes at least, and so does any number but a half.
pub(super) fn check_dictionary(physical: Type, bytes: &[u8], n: u32) -> Result<(), String> {
    let least = match physical {
        Type::FIXED_LEN_BYTE_ARRAY => 2,
        Type::INT64 | Type::DOUBLE => 8,
        _ => 4,
    };
    if n as usize > bytes.len() / least { Err("its dictionary is corrupt".into()) } else { Ok(()) }
}

/// Texts may have their lengths first, as differences: one list of them, or two where a text keeps a part of
/// the text before.
pub(super) fn check_data(encoding: Encoding, bytes: &[u8], n: u32) -> Result<(), String> {
    let lists = match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => 0,
    };
    let mut at = 0;
    let fits = (0..lists).try_for_each(|_| pass_differences(bytes, &mut at, u64::from(n)));
    fits.ok_or_else(|| format!("a page in encoding {encoding} is corrupt"))
}

/// Moves behind a list of numbers stored as differences (`DELTA_BINARY_PACKED`); `None` if it claims more than
/// `most` numbers or ends too early.
///
/// ```text
/// head  = varint block size, varint miniblocks per block, varint number of values, zigzag varint first value
/// block = zigzag varint least difference, one byte per miniblock: its width in bits, the miniblocks
/// ```
fn pass_differences(bytes: &[u8], at: &mut usize, most: u64) -> Option<()> {
    let (block, miniblocks) = (varint(bytes, at)?, varint(bytes, at)?);
    let n = varint(bytes, at).filter(|&n| n <= most)?;
    varint(bytes, at)?;
    let per_miniblock = block
        .checked_div(miniblocks)
        .filter(|size| size % 8 == 0 && (1..=MAX_PER_MINIBLOCK).contains(size))?;
    let mut left = n.saturating_sub(1);
    while left > 0 {
        varint(bytes, at)?;
        let widths = bytes.get(*at..at.checked_add(usize::try_from(miniblocks).ok()?)?)?;
        *at += widths.len();
        for &width in widths.iter().take(left.div_ceil(per_miniblock) as usize) {
            *at = at.checked_add(usize::from(width) * per_miniblock as usize / 8)?;
            left = left.saturating_sub(per_miniblock);
        }
    }
    (*at <= bytes.len()).then_some(())
}

/// An unsigned number in groups of seven bits.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lengths 0, 1, 2, ... as differences of one.
    fn rising(n: u8) -> Vec<u8> {
        [&[128, 1, 4, n, 0][..], if n > 1 { &[2, 0, 0, 0, 0] } else { &[] }].concat()
    }

    #[test]
    fn a_list_is_passed_to_its_end() {
        // 7, 5, 3, 1, 2, 3, 4, 5: differences -2 -2 -2 1 1 1 1, least -2, the rest in two bits.
        let list = [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        let mut at = 0;
        assert_eq!(pass_differences(&[&list[..], b"rest"].concat(), &mut at, 8), Some(()));
        assert_eq!(at, list.len());
        assert_eq!(pass_differences(&list, &mut 0, 7), None);
    }

    #[test]
    fn claims_beyond_the_page_are_refused() {
        let both = [rising(3), rising(3), b"abb".to_vec()].concat();
        assert!(check_data(Encoding::DELTA_BYTE_ARRAY, &both, 3).is_ok());
        assert!(check_data(Encoding::DELTA_BYTE_ARRAY, &both, 2).is_err());
        // The second list claims 2^40 texts.
        let lie = [&rising(3)[..], &[128, 1, 4, 128, 128, 128, 128, 128, 32, 14]].concat();
        assert!(check_data(Encoding::DELTA_BYTE_ARRAY, &lie, 3).is_err());
        for head in [&[128, 1, 0, 8, 14][..], &[7, 1, 8, 14], &[128, 1, 4], &[0x80]] {
            assert!(check_data(Encoding::DELTA_LENGTH_BYTE_ARRAY, head, 100).is_err());
        }
        assert!(check_dictionary(Type::INT32, &[1, 0, 0, 0], 1).is_ok());
        assert!(check_dictionary(Type::BYTE_ARRAY, &[1, 0, 0, 0, b'x'], 2).is_err());
    }
}
