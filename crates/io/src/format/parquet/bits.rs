//! Small numbers packed into bits, least significant first, and runs of them.

use bytes::Bytes;

/// The `width` bits (at most 64) that start at bit `at`; `None` beyond the end.
pub(super) fn bits(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let (first, shift) = (at / 8, at % 8);
    let end = at.checked_add(width)?.div_ceil(8);
    let bytes = bytes.get(first..end)?;
    let mut window = [0; 16];
    window[..bytes.len()].copy_from_slice(bytes);
    let mask = u128::MAX >> (128 - width.max(1));
    let value = (u128::from_le_bytes(window) >> shift) & mask;
    Some(if width == 0 { 0 } else { value as u64 })
}

/// An unsigned number in groups of seven bits; `None` if it does not end or is too large.
pub(super) fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        let part = u64::from(byte & 0x7f);
        if part.checked_shl(shift)? >> shift != part {
            return None;
        }
        value |= part << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Parquet's hybrid of run lengths and packed bits: levels, positions in a dictionary, booleans.
///
/// ```text
/// run = varint 2 n,     value in whole bytes      the value n times
///     | varint 2 n + 1, n * width bytes           8 n values
/// ```
pub(super) struct Runs {
    bytes: Bytes,
    at: usize,
    width: usize,
    left: u64,
    run: Run,
}

enum Run {
    Same(u32),
    Packed { bit: usize },
}

impl Runs {
    /// Values of `width` bits, at most 32.
    pub(super) fn new(bytes: Bytes, width: usize) -> Option<Self> {
        (width <= 32).then_some(Runs { bytes, at: 0, width, left: 0, run: Run::Same(0) })
    }

    /// Appends the next n values; `None` if there are fewer.
    pub(super) fn read(&mut self, n: usize, out: &mut Vec<u32>) -> Option<()> {
        let mut missing = n;
        while missing > 0 {
            if self.left == 0 {
                self.next_run()?;
                continue;
            }
            let take = self.left.min(missing as u64) as usize;
            match &mut self.run {
                Run::Same(value) => out.extend(std::iter::repeat_n(*value, take)),
                Run::Packed { bit } => {
                    for _ in 0..take {
                        out.push(bits(&self.bytes, *bit, self.width)? as u32);
                        *bit += self.width;
                    }
                }
            }
            self.left -= take as u64;
            missing -= take;
        }
        Some(())
    }

    fn next_run(&mut self) -> Option<()> {
        let head = varint(&self.bytes, &mut self.at)?;
        let n = head >> 1;
        if head & 1 == 0 {
            let whole = self.width.div_ceil(8);
            let value = bits(&self.bytes, self.at.checked_mul(8)?, whole * 8)?;
            self.at += whole;
            (self.left, self.run) = (n, Run::Same(value as u32));
        } else {
            // The last run of a page may be cut where its values end.
            let size = usize::try_from(n).ok()?.checked_mul(self.width)?;
            (self.left, self.run) = (n.checked_mul(8)?, Run::Packed { bit: self.at.checked_mul(8)? });
            self.at = self.at.saturating_add(size).min(self.bytes.len());
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_taken_from_anywhere() {
        let bytes = [0b1010_1100, 0b0000_0001, 0xff];
        assert_eq!(bits(&bytes, 2, 3), Some(0b011));
        assert_eq!(bits(&bytes, 5, 6), Some(0b001_101));
        assert_eq!(bits(&bytes, 24, 0), Some(0));
        assert_eq!(bits(&bytes, 23, 2), None);
        assert_eq!(bits(&[0xff; 9], 7, 64), Some(u64::MAX));
        assert_eq!(bits(&bytes, usize::MAX, 3), None);
    }

    #[test]
    fn varints_end_and_fit() {
        let read = |bytes: &[u8]| varint(bytes, &mut 0);
        assert_eq!(read(&[0xac, 0x02]), Some(300));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Some(u64::MAX));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), None);
        assert_eq!(read(&[0x80]), None);
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn runs_and_packed_values_alternate() {
        // Five times 3, then 0..8 in three bits each.
        let bytes = [10, 3, 3, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        let mut runs = Runs::new(Bytes::copy_from_slice(&bytes), 3).unwrap();
        let mut out = vec![];
        runs.read(4, &mut out).unwrap();
        runs.read(9, &mut out).unwrap();
        assert_eq!(out, [3, 3, 3, 3, 3, 0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(runs.read(1, &mut out).is_none());
    }

    #[test]
    fn a_run_of_claims_gives_only_what_is_asked_for() {
        let mut runs = Runs::new(Bytes::from_static(&[0xfe, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]), 1).unwrap();
        let mut out = vec![];
        runs.read(3, &mut out).unwrap();
        assert_eq!(out, [1, 1, 1]);
    }
}
