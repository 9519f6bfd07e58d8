//! The triangular root of a positive definite band.

use super::Band;
use crate::Matrix;
use crate::linalg::axpy;

/// R with `R'R = B`: upper triangular, a band too.
#[derive(Debug)]
pub(crate) struct Root {
    /// R' by rows, as those of a band.
    lower: Band,
}

/// Pivots below this number times the largest entry times the size count as rounding errors.
const PIVOT_ROUNDING: f64 = 1e3 * f64::EPSILON;

impl Root {
    /// `None` if the band is not safely positive definite.
    pub(crate) fn of(band: &Band) -> Option<Self> {
        let (n, width) = (band.len(), band.width());
        let largest = (0..n).fold(0.0f64, |largest, i| largest.max(band.rows[(i, width)]));
        let floor = PIVOT_ROUNDING * n as f64 * largest;
        let mut lower = Band { rows: Matrix::zeros(n, width + 1) };
        for i in 0..n {
            let (first, entries) = band.row(i);
            for k in first..=i {
                let (before, row) = (lower.row(k), lower.row(i));
                let from = first.max(before.0);
                let sum: f64 = (from..k).map(|m| row.1[m - first] * before.1[m - before.0]).sum();
                let left = entries[k - first] - sum;
                let entry = match k < i {
                    true => left / lower.rows[(k, width)],
                    false if left > floor => left.sqrt(),
                    false => return None,
                };
                lower.rows[(i, k + width - i)] = entry;
            }
        }
        Some(Root { lower })
    }

    /// `R x`.
    pub(crate) fn times(&self, x: &Matrix) -> Matrix {
        let mut out = Matrix::zeros(x.rows(), x.cols());
        for i in 0..x.rows() {
            let (first, row) = self.lower.row(i);
            for (j, &r) in (first..).zip(row) {
                axpy(out.row_mut(j), r, x.row(i));
            }
        }
        out
    }

    /// `R^-1 x` in place.
    pub(crate) fn solve(&self, x: &mut Matrix) {
        let width = self.lower.width();
        for i in (0..x.rows()).rev() {
            let pivot = self.lower.rows[(i, width)];
            x.row_mut(i).iter_mut().for_each(|x| *x /= pivot);
            let solved = x.row(i).to_vec();
            let (first, row) = self.lower.row(i);
            for (j, &r) in (first..i).zip(row) {
                axpy(x.row_mut(j), -r, &solved);
            }
        }
    }

    /// `R R'`, as wide as `R'R`.
    pub(crate) fn square(&self) -> Band {
        let (n, width) = (self.lower.len(), self.lower.width());
        let entry = |k: usize, j: usize| self.lower.rows[(k, j + width - k)];
        Band::new(n, width, |i, j| (i..n.min(j + width + 1)).map(|k| entry(k, i) * entry(k, j)).sum())
    }
}
