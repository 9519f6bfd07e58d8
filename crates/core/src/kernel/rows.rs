//! Pairs of rows, coordinate by coordinate: for kernels and cases in which inner products will not do.

use crate::inputs::Sparse;
use crate::linalg::sum_pairs;

/// Rows a_i and b_j of two sets.
pub(super) trait KernelRows {
    /// Calls `f(x, z)` for every coordinate in which a_i or b_j is not zero, and perhaps for others.
    fn visit(&self, i: usize, j: usize, f: impl FnMut(f64, f64));

    /// `|a_i - b_j|^2`, without cancellation.
    fn squared_distance(&self, i: usize, j: usize) -> f64 {
        let mut sum = 0.0;
        self.visit(i, j, |x, z| sum += (x - z) * (x - z));
        sum
    }

    /// `sum_k |a_ik - b_jk|`.
    fn distance(&self, i: usize, j: usize) -> f64 {
        let mut sum = 0.0;
        self.visit(i, j, |x, z| sum += (x - z).abs());
        sum
    }
}

/// Row-major tiles of d columns.
pub(super) struct DenseRows<'a> {
    pub(super) a: &'a [f64],
    pub(super) b: &'a [f64],
    pub(super) d: usize,
}

impl DenseRows<'_> {
    fn pair(&self, i: usize, j: usize) -> (&[f64], &[f64]) {
        (&self.a[i * self.d..(i + 1) * self.d], &self.b[j * self.d..(j + 1) * self.d])
    }
}

impl KernelRows for DenseRows<'_> {
    fn visit(&self, i: usize, j: usize, mut f: impl FnMut(f64, f64)) {
        let (a, b) = self.pair(i, j);
        a.iter().zip(b).for_each(|(&x, &z)| f(x, z));
    }

    fn squared_distance(&self, i: usize, j: usize) -> f64 {
        let (a, b) = self.pair(i, j);
        sum_pairs(a, b, |x, z| (x - z) * (x - z))
    }
}

/// Rows of sparse matrices, by their numbers.
pub(super) struct SparseRows<'a> {
    pub(super) a: &'a Sparse<'a>,
    pub(super) a_rows: &'a [u32],
    pub(super) b: &'a Sparse<'a>,
    pub(super) b_rows: &'a [u32],
}

impl KernelRows for SparseRows<'_> {
    fn visit(&self, i: usize, j: usize, mut f: impl FnMut(f64, f64)) {
        let mut a = self.a.row(self.a_rows[i] as usize).peekable();
        let mut b = self.b.row(self.b_rows[j] as usize).peekable();
        loop {
            match (a.peek().copied(), b.peek().copied()) {
                (Some((k, x)), Some((l, z))) if k == l => {
                    f(x, z);
                    a.next();
                    b.next();
                }
                (Some((k, x)), other) if other.is_none_or(|(l, _)| k < l) => {
                    f(x, 0.0);
                    a.next();
                }
                (_, Some((_, z))) => {
                    f(0.0, z);
                    b.next();
                }
                _ => return,
            }
        }
    }
}
