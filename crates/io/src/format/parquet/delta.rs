//! Numbers stored as differences (`DELTA_BINARY_PACKED`).
//!
//! ```text
//! head  = varint block size, varint miniblocks per block, varint number of values, zigzag varint first value
//! block = zigzag varint least difference, one byte per miniblock: its width in bits, the miniblocks
//! ```

use super::bits::{bits, varint};
use bytes::Bytes;

/// The values, one after the other. Sums wrap, as writers' do.
pub(super) struct Deltas {
    bytes: Bytes,
    /// Where the next block starts, and at last where the data that follow do.
    at: usize,
    per_miniblock: usize,
    n_miniblocks: usize,
    left: u64,
    /// The first value of all has no difference before it.
    is_first: bool,
    last: i64,
    least: i64,
    widths: Vec<u8>,
    miniblock: usize,
    bit: usize,
    left_in_miniblock: usize,
}

impl Deltas {
    pub(super) fn new(bytes: Bytes) -> Option<Self> {
        let mut at = 0;
        let block = usize::try_from(varint(&bytes, &mut at)?).ok()?;
        let n_miniblocks = usize::try_from(varint(&bytes, &mut at)?).ok()?;
        let left = varint(&bytes, &mut at)?;
        let last = zigzag(varint(&bytes, &mut at)?);
        let per_miniblock = block.checked_div(n_miniblocks)?;
        // The format asks for multiples of 32. Widths are at most 64, so that this keeps all products in
        // range.
        let plausible = per_miniblock % 8 == 0 && (1..=1 << 24).contains(&per_miniblock);
        plausible.then_some(Deltas {
            bytes,
            at,
            per_miniblock,
            n_miniblocks,
            left,
            is_first: true,
            last,
            least: 0,
            widths: vec![],
            miniblock: 0,
            bit: 0,
            left_in_miniblock: 0,
        })
    }

    /// How many values are to come, as the file claims.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// The next value; `None` if there is none.
    pub(super) fn next(&mut self) -> Option<i64> {
        self.left = self.left.checked_sub(1)?;
        if std::mem::take(&mut self.is_first) {
            return Some(self.last);
        }
        if self.left_in_miniblock == 0 {
            self.next_miniblock()?;
        }
        let width = usize::from(self.widths[self.miniblock]);
        let more = bits(&self.bytes, self.bit, width)? as i64;
        self.bit += width;
        self.left_in_miniblock -= 1;
        self.last = self.last.wrapping_add(self.least).wrapping_add(more);
        Some(self.last)
    }

    /// What comes after the values, once all have been read.
    pub(super) fn rest(&self) -> Bytes {
        self.bytes.slice(self.at.min(self.bytes.len())..)
    }

    fn next_miniblock(&mut self) -> Option<()> {
        self.miniblock += 1;
        if self.miniblock >= self.widths.len() {
            self.least = zigzag(varint(&self.bytes, &mut self.at)?);
            let end = self.at.checked_add(self.n_miniblocks)?;
            self.widths.clear();
            self.widths.extend_from_slice(self.bytes.get(self.at..end)?);
            (self.at, self.miniblock) = (end, 0);
        }
        let width = usize::from(self.widths[self.miniblock]);
        if width > 64 {
            return None;
        }
        self.bit = self.at.checked_mul(8)?;
        self.at = self.at.checked_add(width * self.per_miniblock / 8)?;
        self.left_in_miniblock = self.per_miniblock;
        Some(())
    }
}

fn zigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_format_is_read() {
        // 7, 5, 3, 1, 2, 3, 4, 5: differences -2 -2 -2 1 1 1 1, least -2, the rest in two bits.
        let head = [128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111, 0, 0, 0, 0, 0, 0];
        let mut deltas = Deltas::new(Bytes::from([&head[..], b"rest"].concat())).unwrap();
        let values: Vec<i64> = std::iter::from_fn(|| deltas.next()).collect();
        assert_eq!(values, [7, 5, 3, 1, 2, 3, 4, 5]);
        assert_eq!(&deltas.rest()[..], b"rest");
    }

    #[test]
    fn implausible_heads_are_refused() {
        assert!(Deltas::new(Bytes::from_static(&[128, 1, 0, 8, 14])).is_none());
        assert!(Deltas::new(Bytes::from_static(&[7, 1, 8, 14])).is_none());
        assert!(Deltas::new(Bytes::from_static(&[128, 1, 4])).is_none());
        // 2^40 values are claimed, and there is one.
        let mut deltas =
            Deltas::new(Bytes::from_static(&[128, 1, 4, 128, 128, 128, 128, 128, 32, 14])).unwrap();
        assert_eq!((deltas.left(), deltas.next(), deltas.next()), (1 << 40, Some(7), None));
    }
}
