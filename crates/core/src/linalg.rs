//! The linear algebra behind everything: thin wrappers of faer over our own [`Matrix`].

use crate::aligned::AlignedRows;
use crate::{Error, Matrix, Result};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul, linalg::matmul::triangular};
use pulp::{Simd, WithSimd};

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

    /// Rows as columns.
    pub fn transposed(&self) -> Matrix {
        transposed(self)
    }

    /// Eigenvalues (increasing) and eigenvectors (columns) of a symmetric matrix, of which the lower triangle is read.
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

/// `out = scale a b` or `out += scale a b`, the rows of `out` shared out over threads.
///
/// Not faer's own parallel product, of which wrong entries were reported (faer-rs issue 273): a certificate must stand on
/// the sequential one.
pub(crate) fn shared_product<N: faer::traits::ComplexField + Copy + Send + Sync>(
    out: MatMut<'_, N>,
    accum: Accum,
    scale: N,
    a: MatRef<'_, N>,
    b: MatRef<'_, N>,
    threads: usize,
) {
    let flops = 2 * out.nrows() * out.ncols() * a.ncols();
    if threads <= 1 || flops < SHARED_FLOPS || out.nrows() < 2 {
        return matmul(out, accum, a, b, scale, Par::Seq);
    }
    let (left, right) = (threads / 2, threads - threads / 2);
    let cut = out.nrows() * left / threads;
    let (out_left, out_right) = out.split_at_row_mut(cut);
    let (a_left, a_right) = a.split_at_row(cut);
    rayon::join(
        || shared_product(out_left, accum, scale, a_left, b, left),
        || shared_product(out_right, accum, scale, a_right, b, right),
    );
}

/// The new matrix `a b`.
pub(crate) fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>, threads: usize) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    product(view_mut(&mut out), a, b, threads);
    out
}

/// Lower triangle of `out += scale a' a`: half the work of a full product.
pub(crate) fn add_gram_lower(out: MatMut<'_, f64>, a: MatRef<'_, f64>, scale: f64) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    triangular::matmul(
        out,
        TriangularLower,
        Accum::Add,
        a.transpose(),
        Rectangular,
        a,
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

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror_lower(m: &mut Matrix) {
    for_each_pair(m.rows(), |i, j| m[(j, i)] = m[(i, j)]);
}

/// Calls `visit(i, j)` for all `j < i < n`, in tiles of which both mirror images fit the cache.
fn for_each_pair(n: usize, mut visit: impl FnMut(usize, usize)) {
    const TILE: usize = 64;
    for rows in (0..n).step_by(TILE) {
        for columns in (0..=rows).step_by(TILE) {
            for i in rows..n.min(rows + TILE) {
                (columns..i.min(columns + TILE)).for_each(|j| visit(i, j));
            }
        }
    }
}

/// Eigenvalues (increasing) of the row-major n x n symmetric matrix, of which one triangle is read; `None` if they cannot be
/// found. Without threads: faer's convenience method would use the global pool.
pub(crate) fn eigenvalues(matrix: &[f64], n: usize) -> Option<Vec<f64>> {
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::evd;
    let mut values = vec![0.0; n];
    let params = Default::default();
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::No, Par::Seq, params);
    evd::self_adjoint_evd(
        MatRef::from_row_major_slice(matrix, n, n),
        faer::diag::DiagMut::from_slice_mut(&mut values),
        None,
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        params,
    )
    .ok()?;
    Some(values)
}

/// Eigenvalues (increasing) and eigenvectors (columns) of a symmetric matrix given by its lower triangle.
pub(crate) fn eigen(m: &Matrix) -> Result<(Vec<f64>, Matrix)> {
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::evd;
    let n = m.rows();
    let mut values = vec![0.0; n];
    // faer is faster with columns side by side; our rows are theirs, transposed.
    let mut columns = Matrix::zeros(n, n);
    let params = Default::default();
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, Par::Seq, params);
    evd::self_adjoint_evd(
        view(m),
        faer::diag::DiagMut::from_slice_mut(&mut values),
        Some(view_mut(&mut columns).transpose_mut()),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        params,
    )
    .map_err(|e| Error::Incompatible(format!("eigendecomposition did not converge: {e:?}")))?;
    let mut vectors = Matrix::zeros(n, n);
    view_mut(&mut vectors).copy_from(view(&columns).transpose());
    Ok((values, vectors))
}

/// Orthonormal columns that span those of a tall matrix.
pub(crate) fn orthonormal(m: &Matrix) -> Matrix {
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::{householder, qr::no_pivoting::factor};
    let (rows, cols) = (m.rows(), m.cols());
    let block = factor::recommended_block_size::<f64>(rows, cols);
    let (mut basis, mut factors) =
        (faer::Mat::<f64>::zeros(rows, cols), faer::Mat::<f64>::zeros(block, cols));
    basis.copy_from(view(m));
    let scratch = factor::qr_in_place_scratch::<f64>(rows, cols, block, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    factor::qr_in_place(basis.as_mut(), factors.as_mut(), Par::Seq, stack, Default::default());
    let mut q = faer::Mat::<f64>::identity(rows, cols);
    let scratch =
        householder::apply_block_householder_sequence_on_the_left_in_place_scratch::<f64>(rows, block, cols);
    let mut memory = MemBuffer::new(scratch);
    householder::apply_block_householder_sequence_on_the_left_in_place_with_conj(
        basis.as_ref(),
        factors.as_ref(),
        faer::Conj::No,
        q.as_mut(),
        Par::Seq,
        MemStack::new(&mut memory),
    );
    let mut out = Matrix::zeros(rows, cols);
    view_mut(&mut out).copy_from(&q);
    out
}

/// The Cholesky factor of the positive definite matrix given by its lower triangle, in its place; false if it has none.
pub(crate) fn cholesky(m: &mut Matrix, threads: usize) -> bool {
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::cholesky::llt::factor;
    let n = m.rows();
    // A wrong entry in a factor, unlike one in a certificate, would only cost time: faer's own threads are good enough.
    let par = if threads > 1 && n >= 256 { Par::rayon(threads) } else { Par::Seq };
    // faer is faster with columns side by side: the lower triangle by rows is the upper one by columns.
    mirror_lower(m);
    let scratch = factor::cholesky_in_place_scratch::<f64>(n, par, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let (columns, stack) = (view_mut(m).transpose_mut(), MemStack::new(&mut memory));
    factor::cholesky_in_place(columns, Default::default(), par, stack, Default::default()).is_ok()
}

/// Solves with a factor of [`cholesky`], in place.
pub(crate) fn cholesky_solve(factor: &Matrix, x: &mut [f64]) {
    use faer::linalg::triangular_solve as solve;
    use faer::prelude::ReborrowMut;
    let (lower, n) = (view(factor).transpose(), x.len());
    let mut x = MatMut::from_column_major_slice_mut(x, n, 1);
    solve::solve_lower_triangular_in_place(lower, x.rb_mut(), Par::Seq);
    solve::solve_upper_triangular_in_place(lower.transpose(), x, Par::Seq);
}

/// The lower factor L with `L L' = m` for a matrix that may be singular, given by its lower triangle, in its place: columns
/// whose pivots are rounding errors become zero. The upper triangle is set to zero.
pub(crate) fn semidefinite_cholesky(m: &mut Matrix) {
    let n = m.rows();
    for i in 0..n {
        let diagonal = m[(i, i)];
        for j in 0..=i {
            let sum = dot(&m.row(i)[..j], &m.row(j)[..j]);
            m[(i, j)] = if i == j {
                let pivot = diagonal - sum;
                if pivot > 4.0 * f64::EPSILON * n as f64 * diagonal { pivot.sqrt() } else { 0.0 }
            } else if m[(j, j)] > 0.0 {
                (m[(i, j)] - sum) / m[(j, j)]
            } else {
                0.0
            };
        }
        m.row_mut(i)[i + 1..].fill(0.0);
    }
}

/// Sum of products of all entries.
pub(crate) fn inner(a: &Matrix, b: &Matrix) -> f64 {
    dot(a.as_slice(), b.as_slice())
}

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            dot_simd(simd, self.0, self.1)
        }
    }
    pulp::Arch::new().dispatch(Dot(a, b))
}

/// `y += scale x`.
pub(crate) fn axpy(y: &mut [f64], scale: f64, x: &[f64]) {
    struct Axpy<'a>(&'a mut [f64], f64, &'a [f64]);
    impl WithSimd for Axpy<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            axpy_simd(simd, self.0, self.1, self.2);
        }
    }
    pulp::Arch::new().dispatch(Axpy(y, scale, x));
}

/// [`dot`] inside code that is already compiled for the widest instructions of this machine. Four vectors of running sums:
/// fast, and more accurate than one number.
#[inline(always)]
pub(crate) fn dot_simd<S: Simd>(simd: S, a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, a_rest) = S::as_simd_f64s(&a[..n]);
    let (b, b_rest) = S::as_simd_f64s(&b[..n]);
    let (a4, a1) = a.as_chunks::<4>();
    let (b4, b1) = b.as_chunks::<4>();
    let zero = simd.splat_f64s(0.0);
    let (mut s0, mut s1, mut s2, mut s3) = (zero, zero, zero, zero);
    for (x, y) in a4.iter().zip(b4) {
        s0 = simd.mul_add_e_f64s(x[0], y[0], s0);
        s1 = simd.mul_add_e_f64s(x[1], y[1], s1);
        s2 = simd.mul_add_e_f64s(x[2], y[2], s2);
        s3 = simd.mul_add_e_f64s(x[3], y[3], s3);
    }
    for (x, y) in a1.iter().zip(b1) {
        s0 = simd.mul_add_e_f64s(*x, *y, s0);
    }
    let sum = simd.add_f64s(simd.add_f64s(s0, s1), simd.add_f64s(s2, s3));
    let mut rest = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        rest += x * y;
    }
    simd.reduce_sum_f64s(sum) + rest
}

/// [`axpy`] inside code that is already compiled for the widest instructions of this machine.
#[inline(always)]
pub(crate) fn axpy_simd<S: Simd>(simd: S, y: &mut [f64], scale: f64, x: &[f64]) {
    let n = y.len().min(x.len());
    let (y, y_rest) = S::as_mut_simd_f64s(&mut y[..n]);
    let (x, x_rest) = S::as_simd_f64s(&x[..n]);
    let s = simd.splat_f64s(scale);
    for (y, x) in y.iter_mut().zip(x) {
        *y = simd.mul_add_e_f64s(s, *x, *y);
    }
    for (y, x) in y_rest.iter_mut().zip(x_rest) {
        *y += scale * x;
    }
}

/// `a b + c`, rounded once where the machine can do so at no cost.
#[inline(always)]
pub(crate) fn fma<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// `y += sum over j of coefficients_j rows_j`. Four vectors of y at a time stay in registers through the whole sum.
#[inline(always)]
pub(crate) fn add_rows_simd<S: Simd>(simd: S, y: &mut [f64], coefficients: &[f64], rows: &AlignedRows) {
    let mut from = 0;
    while from < rows.width() {
        from += match rows.width() - from {
            left if left >= 4 * lanes::<S>() => add_rows_chunk::<S, 4>(simd, y, coefficients, rows, from),
            left if left >= 2 * lanes::<S>() => add_rows_chunk::<S, 2>(simd, y, coefficients, rows, from),
            _ => add_rows_chunk::<S, 1>(simd, y, coefficients, rows, from),
        };
    }
}

/// Numbers in a vector.
#[inline(always)]
fn lanes<S: Simd>() -> usize {
    size_of::<S::f64s>() / size_of::<f64>()
}

/// N vectors out of a row, as an array.
#[inline(always)]
fn vectors<S: Simd, const N: usize>(row: &[f64], from: usize) -> [S::f64s; N] {
    let (vectors, _) = S::as_simd_f64s(&row[from..from + N * lanes::<S>()]);
    std::array::from_fn(|l| vectors[l])
}

/// [`add_rows_simd`] for N vectors of columns; how many columns these are.
#[inline(always)]
fn add_rows_chunk<S: Simd, const N: usize>(
    simd: S,
    y: &mut [f64],
    coefficients: &[f64],
    rows: &AlignedRows,
    from: usize,
) -> usize {
    let mut sums = vectors::<S, N>(y, from);
    for (j, &coefficient) in coefficients.iter().enumerate() {
        let (x, s) = (vectors::<S, N>(rows.row(j), from), simd.splat_f64s(coefficient));
        for l in 0..N {
            sums[l] = simd.mul_add_e_f64s(s, x[l], sums[l]);
        }
    }
    let width = N * lanes::<S>();
    S::as_mut_simd_f64s(&mut y[from..from + width]).0.copy_from_slice(&sums);
    width
}

/// One sweep over a matrix: `G += d b' + p d'`, then `y += G' x`, for vectors of the width of G; x has one number per row
/// in use.
#[inline(always)]
pub(crate) fn sweep_simd<S: Simd>(simd: S, g: &mut AlignedRows, dbp: [&[f64]; 3], x: &[f64], y: &mut [f64]) {
    let mut from = 0;
    while from < g.width() {
        from += match g.width() - from {
            left if left >= 4 * lanes::<S>() => sweep_chunk::<S, 4>(simd, g, dbp, x, y, from),
            left if left >= 2 * lanes::<S>() => sweep_chunk::<S, 2>(simd, g, dbp, x, y, from),
            _ => sweep_chunk::<S, 1>(simd, g, dbp, x, y, from),
        };
    }
}

/// [`sweep_simd`] for N vectors of columns, those of b, d and y in registers down all rows; how many columns these are.
#[inline(always)]
fn sweep_chunk<S: Simd, const N: usize>(
    simd: S,
    g: &mut AlignedRows,
    [d, b, p]: [&[f64]; 3],
    x: &[f64],
    y: &mut [f64],
    from: usize,
) -> usize {
    let width = N * lanes::<S>();
    let (b_n, d_n, mut y_n) = (vectors::<S, N>(b, from), vectors::<S, N>(d, from), vectors::<S, N>(y, from));
    for r in 0..x.len() {
        let (dr, pr, xr) = (simd.splat_f64s(d[r]), simd.splat_f64s(p[r]), simd.splat_f64s(x[r]));
        let mut row = vectors::<S, N>(g.row(r), from);
        for l in 0..N {
            row[l] = simd.mul_add_e_f64s(dr, b_n[l], simd.mul_add_e_f64s(pr, d_n[l], row[l]));
            y_n[l] = simd.mul_add_e_f64s(xr, row[l], y_n[l]);
        }
        S::as_mut_simd_f64s(&mut g.row_mut(r)[from..from + width]).0.copy_from_slice(&row);
    }
    S::as_mut_simd_f64s(&mut y[from..from + width]).0.copy_from_slice(&y_n);
    width
}

/// `y += scale x + other z`, for vectors of the same length.
#[inline(always)]
pub(crate) fn axpy2_simd<S: Simd>(simd: S, y: &mut [f64], scale: f64, x: &[f64], other: f64, z: &[f64]) {
    let n = y.len();
    let (y, y_rest) = S::as_mut_simd_f64s(y);
    let (x, x_rest) = S::as_simd_f64s(&x[..n]);
    let (z, z_rest) = S::as_simd_f64s(&z[..n]);
    let (s, o) = (simd.splat_f64s(scale), simd.splat_f64s(other));
    for ((y, x), z) in y.iter_mut().zip(x).zip(z) {
        *y = simd.mul_add_e_f64s(s, *x, simd.mul_add_e_f64s(o, *z, *y));
    }
    for ((y, x), z) in y_rest.iter_mut().zip(x_rest).zip(z_rest) {
        *y += scale * x + other * z;
    }
}

/// The power of two next to |x| (1 for zero): scaling by it is exact.
pub(crate) fn power_of_two(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { 1.0 } else { x.abs().log2().round().clamp(-1000.0, 1000.0).exp2() }
}
