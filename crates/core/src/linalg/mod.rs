//! Linear algebra: thin wrappers of faer for [`Matrix`], and vector loops.

pub(crate) mod aligned;
pub(crate) mod band;
mod block_cholesky;
mod decompose;
mod low_rank;
pub(crate) mod psd;
mod simd;
pub(crate) mod single;
mod sum;

pub(crate) use block_cholesky::BlockCholesky;
pub(crate) use decompose::{
    cholesky, cholesky_solve, eigen, eigenvalues, orthonormal, scaled_columns, semidefinite_cholesky,
    whitening,
};
pub(crate) use low_rank::eigen_of_rank;
pub(crate) use simd::{add_rows_simd, axpy, axpy_simd, axpy2_simd, dot, dot_simd, fma, sweep_simd};
pub(crate) use sum::sum_pairs;

use crate::{Matrix, Result};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul, linalg::matmul::triangular};
use rayon::prelude::*;

/// Small algebra for callers: without threads.
impl Matrix {
    /// The product with another matrix.
    ///
    /// # Panics
    /// If the shapes do not fit.
    pub fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.cols(), other.rows(), "shapes of a product");
        times(view(self), view(other), 1)
    }

    /// Multiplies every entry.
    pub fn scale(&mut self, factor: f64) {
        self.as_mut_slice().iter_mut().for_each(|x| *x *= factor);
    }

    /// Adds `factor` times another matrix of the same shape.
    pub fn add_scaled(&mut self, factor: f64, other: &Matrix) {
        axpy(self.as_mut_slice(), factor, other.as_slice());
    }

    /// The difference with another matrix of the same shape.
    pub fn minus(&self, other: &Matrix) -> Matrix {
        let mut out = self.clone();
        out.add_scaled(-1.0, other);
        out
    }

    /// Takes its mean from every column.
    pub(crate) fn remove_means(&mut self) {
        let (rows, mut means) = (self.rows(), vec![0.0; self.cols()]);
        (0..rows).for_each(|i| axpy(&mut means, 1.0 / rows as f64, self.row(i)));
        (0..rows).for_each(|i| axpy(self.row_mut(i), -1.0, &means));
    }

    /// Rows as columns.
    pub fn transposed(&self) -> Matrix {
        transposed(self)
    }

    /// Eigenvalues (increasing) and eigenvectors (columns) of a symmetric matrix, of which the lower triangle
    /// is read.
    ///
    /// ```
    /// let m = kinfolk::Matrix::from_vec(vec![2.0, 1.0, 1.0, 2.0], 2, 2)?;
    /// let (values, vectors) = m.eigen()?;
    /// assert!((values[0] - 1.0).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12);
    /// assert!((vectors[(0, 1)].abs() - 0.5f64.sqrt()).abs() < 1e-12);
    /// # Ok::<(), kinfolk::Error>(())
    /// ```
    pub fn eigen(&self) -> Result<(Vec<f64>, Matrix)> {
        assert_eq!(self.rows(), self.cols(), "a square matrix");
        eigen(self)
    }
}

pub(crate) fn view(m: &Matrix) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(m.as_slice(), m.rows(), m.cols())
}

pub(crate) fn view_mut(m: &mut Matrix) -> MatMut<'_, f64> {
    let (rows, cols) = (m.rows(), m.cols());
    MatMut::from_row_major_slice_mut(m.as_mut_slice(), rows, cols)
}

/// `out = a b`.
pub(crate) fn product(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, threads: usize) {
    shared_product(out, Accum::Replace, 1.0, a, b, threads);
}

/// `out += a b`.
pub(crate) fn add_product(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, threads: usize) {
    shared_product(out, Accum::Add, 1.0, a, b, threads);
}

/// Products smaller than this are not worth a second thread.
const SHARED_FLOPS: usize = 1 << 21;

/// Parts that large work is cut into at most.
const MAX_PARTS: usize = 16;

/// Rows or columns of a part at least: with fewer, the other factor is read too often.
const MIN_PART_ROWS: usize = 32;

/// Rows of each part of so many. It depends on their number alone, so results have the same bits for any number of
/// threads.
pub(crate) fn part_rows(n: usize) -> usize {
    n.div_ceil(MAX_PARTS).max(MIN_PART_ROWS)
}

/// `out = scale a b` or `out += scale a b`, the rows or the columns of `out` shared out over threads.
///
/// This does not use faer's parallel product, because wrong entries were reported for it (faer-rs issue 273).
/// A certificate must rely on the sequential product.
pub(crate) fn shared_product<N: faer::traits::ComplexField + Copy + Send + Sync>(
    out: MatMut<'_, N>,
    accum: Accum,
    scale: N,
    a: MatRef<'_, N>,
    b: MatRef<'_, N>,
    threads: usize,
) {
    let (rows, columns) = (out.nrows(), out.ncols());
    if 2 * rows * columns * a.ncols() < SHARED_FLOPS {
        return matmul(out, accum, a, b, scale, Par::Seq);
    }
    let whole = ProductPart { out, a, b };
    match rows >= columns {
        true => whole.by_rows(accum, scale, part_rows(rows), threads),
        false => whole.by_columns(accum, scale, part_rows(columns), threads),
    }
}

/// Runs two jobs, side by side if there are threads for that.
pub(crate) fn both(threads: usize, first: impl FnOnce() + Send, second: impl FnOnce() + Send) {
    if threads > 1 {
        rayon::join(first, second);
    } else {
        first();
        second();
    }
}

/// Where to cut so many rows in two, between parts of this size.
pub(crate) fn halfway(n: usize, part: usize) -> usize {
    n.div_ceil(part) / 2 * part
}

/// Some rows or columns of a product.
struct ProductPart<'a, N> {
    out: MatMut<'a, N>,
    a: MatRef<'a, N>,
    b: MatRef<'a, N>,
}

impl<N: faer::traits::ComplexField + Copy + Send + Sync> ProductPart<'_, N> {
    fn by_rows(self, accum: Accum, scale: N, part: usize, threads: usize) {
        let ProductPart { out, a, b } = self;
        if out.nrows() <= part {
            return matmul(out, accum, a, b, scale, Par::Seq);
        }
        let cut = halfway(out.nrows(), part);
        let (first, second) = out.split_at_row_mut(cut);
        let (a_first, a_second) = a.split_at_row(cut);
        both(
            threads,
            || ProductPart { out: first, a: a_first, b }.by_rows(accum, scale, part, threads),
            || ProductPart { out: second, a: a_second, b }.by_rows(accum, scale, part, threads),
        );
    }

    fn by_columns(self, accum: Accum, scale: N, part: usize, threads: usize) {
        let ProductPart { out, a, b } = self;
        if out.ncols() <= part {
            return matmul(out, accum, a, b, scale, Par::Seq);
        }
        let cut = halfway(out.ncols(), part);
        let (first, second) = out.split_at_col_mut(cut);
        let (b_first, b_second) = b.split_at_col(cut);
        both(
            threads,
            || ProductPart { out: first, a, b: b_first }.by_columns(accum, scale, part, threads),
            || ProductPart { out: second, a, b: b_second }.by_columns(accum, scale, part, threads),
        );
    }
}

/// The new matrix `a b`.
pub(crate) fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>, threads: usize) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    product(view_mut(&mut out), a, b, threads);
    out
}

/// Lower triangle of `out += scale a' a`: half the work of a full product. Rows of `out` are shared out over threads.
pub(crate) fn add_gram_lower(out: MatMut<'_, f64>, a: MatRef<'_, f64>, scale: f64, threads: usize) {
    let part = out.nrows().div_ceil(2 * MAX_PARTS).max(MIN_GRAM_PART_ROWS);
    gram_rows(out, 0, a, scale, part, threads);
}

/// Rows of a part of a Gram matrix at least.
const MIN_GRAM_PART_ROWS: usize = 128;

/// Some rows of [`add_gram_lower`], from row `first` on.
fn gram_rows(
    out: MatMut<'_, f64>,
    first: usize,
    a: MatRef<'_, f64>,
    scale: f64,
    part: usize,
    threads: usize,
) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    let rows = out.nrows();
    if rows > part {
        let cut = halfway(rows, part);
        let (above, below) = out.split_at_row_mut(cut);
        return both(
            threads,
            || gram_rows(above, first, a, scale, part, threads),
            || gram_rows(below, first + cut, a, scale, part, threads),
        );
    }
    let own = a.subcols(first, rows).transpose();
    let (before, diagonal) = out.subcols_mut(0, first + rows).split_at_col_mut(first);
    if first > 0 {
        matmul(before, Accum::Add, own, a.subcols(0, first), scale, Par::Seq);
    }
    triangular::matmul(
        diagonal,
        TriangularLower,
        Accum::Add,
        own,
        Rectangular,
        own.transpose(),
        Rectangular,
        scale,
        Par::Seq,
    );
}

/// `m'`.
pub(crate) fn transposed(m: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(m.cols(), m.rows());
    view_mut(&mut out).copy_from(view(m).transpose());
    out
}

/// `(a + a') / 2` in place.
pub(crate) fn symmetrise(m: &mut Matrix) {
    for_each_pair(m.rows(), |i, j| {
        let mean = 0.5 * (m[(i, j)] + m[(j, i)]);
        m[(i, j)] = mean;
        m[(j, i)] = mean;
    });
}

/// `v'v`, exactly symmetric.
pub(crate) fn gram(v: &Matrix, threads: usize) -> Matrix {
    let mut gram = times(view(v).transpose(), view(v), threads);
    symmetrise(&mut gram);
    gram
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror_lower(m: &mut Matrix) {
    for_each_pair(m.rows(), |i, j| m[(j, i)] = m[(i, j)]);
}

/// Calls `visit(i, j)` for all `j < i < n`, in tiles of which both mirror images fit the cache.
pub(crate) fn for_each_pair(n: usize, mut visit: impl FnMut(usize, usize)) {
    const TILE_ROWS: usize = 64;
    for rows in (0..n).step_by(TILE_ROWS) {
        for columns in (0..=rows).step_by(TILE_ROWS) {
            for i in rows..n.min(rows + TILE_ROWS) {
                (columns..i.min(columns + TILE_ROWS)).for_each(|j| visit(i, j));
            }
        }
    }
}

/// Squares with fewer rows are not worth a second thread.
const SHARED_ROWS: usize = 128;

/// `of(row)` for every row of a square, in order. The threads of the pool that the caller is in share the work;
/// a caller outside of pools does it alone.
pub(crate) fn map_rows<T: Send>(n: usize, of: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    match n >= SHARED_ROWS && rayon::current_thread_index().is_some() {
        true => (0..n).into_par_iter().map(of).collect(),
        false => (0..n).map(of).collect(),
    }
}

/// Sum of products of all entries.
pub(crate) fn inner(a: &Matrix, b: &Matrix) -> f64 {
    dot(a.as_slice(), b.as_slice())
}

/// The power of two next to |x| (1 for zero): scaling by it is exact.
pub(crate) fn power_of_two(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { 1.0 } else { x.abs().log2().round().clamp(-1000.0, 1000.0).exp2() }
}
