//! Vectors that start on a cache line: a wide load from them never touches two.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vectors.
const CACHE_LINE_BYTES: usize = 64;

/// Numbers in a multiple of eight places, the first on a cache line; places beyond the numbers asked for stay
/// zero.
#[derive(Debug, Default)]
pub(crate) struct Aligned {
    data: Vec<f64>,
    offset: usize,
    len: usize,
}

impl Aligned {
    /// All zeros.
    pub(crate) fn zeros(len: usize) -> Self {
        let len = len.next_multiple_of(CACHE_LINE_BYTES / size_of::<f64>());
        let data = vec![0.0; len + CACHE_LINE_BYTES / size_of::<f64>()];
        let offset = data.as_ptr().align_offset(CACHE_LINE_BYTES).min(CACHE_LINE_BYTES / size_of::<f64>());
        Aligned { data, offset, len }
    }

    /// Makes room for this many numbers, all zero.
    pub(crate) fn reset(&mut self, len: usize) {
        if self.len != len.next_multiple_of(CACHE_LINE_BYTES / size_of::<f64>()) {
            *self = Aligned::zeros(len);
        } else {
            self.fill(0.0);
        }
    }
}

impl Deref for Aligned {
    type Target = [f64];
    #[inline(always)]
    fn deref(&self) -> &[f64] {
        &self.data[self.offset..self.offset + self.len]
    }
}

impl DerefMut for Aligned {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.data[self.offset..self.offset + self.len]
    }
}

/// A matrix whose rows all start on a cache line, padded with zeros.
#[derive(Debug, Default)]
pub(crate) struct AlignedRows {
    data: Aligned,
    width: usize,
}

impl AlignedRows {
    /// All zeros; the width is rounded up.
    pub(crate) fn zeros(rows: usize, cols: usize) -> Self {
        let width = cols.next_multiple_of(CACHE_LINE_BYTES / size_of::<f64>());
        AlignedRows { data: Aligned::zeros(rows * width), width }
    }

    /// Places in a row.
    #[inline(always)]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Row r.
    #[inline(always)]
    pub(crate) fn row(&self, r: usize) -> &[f64] {
        &self.data[r * self.width..(r + 1) * self.width]
    }

    /// Row r, to write.
    #[inline(always)]
    pub(crate) fn row_mut(&mut self, r: usize) -> &mut [f64] {
        let width = self.width;
        &mut self.data[r * width..(r + 1) * width]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_start_on_cache_lines() {
        let mut rows = AlignedRows::zeros(3, 13);
        assert_eq!(rows.width(), 16);
        for r in 0..3 {
            assert_eq!(rows.row(r).as_ptr() as usize % CACHE_LINE_BYTES, 0);
        }
        rows.row_mut(1)[15] = 1.0;
        assert_eq!(rows.row(2)[0], 0.0);
    }
}
