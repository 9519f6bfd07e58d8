//! The linear algebra behind everything: thin wrappers of faer over our own [`Matrix`], and the thread pool.

use crate::{Error, Matrix, Result};
use faer::{Accum, MatMut, MatRef, Par, linalg::matmul::matmul, linalg::matmul::triangular};
use std::sync::Arc;

/// A pool of threads owned by one data set: never the global one, which would hang in a forked process.
#[derive(Debug, Clone)]
pub(crate) struct Pool(Arc<rayon::ThreadPool>);

impl Pool {
    /// `threads` = 0 means one per core.
    pub(crate) fn new(threads: usize) -> Result<Self> {
        let threads =
            if threads == 0 { std::thread::available_parallelism().map_or(1, |n| n.get()) } else { threads };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("kinfolk-{i}"))
            .build()
            .map_err(|e| Error::Incompatible(format!("cannot start {threads} threads: {e}")))?;
        Ok(Pool(Arc::new(pool)))
    }

    pub(crate) fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    /// Runs `work` inside the pool.
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.0.install(work)
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
    shared_product(out, Accum::Replace, a, b, threads);
}

/// `out += a b`.
pub(crate) fn add_product(out: MatMut<'_, f64>, a: MatRef<'_, f64>, b: MatRef<'_, f64>, threads: usize) {
    shared_product(out, Accum::Add, a, b, threads);
}

/// Products smaller than this are not worth a second thread.
const SHARED_FLOPS: usize = 1 << 21;

/// Shares out the rows of `out`. Not faer's own parallel product, of which wrong entries were reported (faer-rs issue 273):
/// a certificate must stand on the sequential one.
fn shared_product(
    out: MatMut<'_, f64>,
    accum: Accum,
    a: MatRef<'_, f64>,
    b: MatRef<'_, f64>,
    threads: usize,
) {
    let flops = 2 * out.nrows() * out.ncols() * a.ncols();
    if threads <= 1 || flops < SHARED_FLOPS || out.nrows() < 2 {
        return matmul(out, accum, a, b, 1.0, Par::Seq);
    }
    let (left, right) = (threads / 2, threads - threads / 2);
    let cut = out.nrows() * left / threads;
    let (out_left, out_right) = out.split_at_row_mut(cut);
    let (a_left, a_right) = a.split_at_row(cut);
    rayon::join(
        || shared_product(out_left, accum, a_left, b, left),
        || shared_product(out_right, accum, a_right, b, right),
    );
}

/// The new matrix `a b`.
pub(crate) fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>, threads: usize) -> Matrix {
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    product(view_mut(&mut out), a, b, threads);
    out
}

/// Lower triangle of `out += a' a`: half the work of a full product.
pub(crate) fn add_gram_lower(out: MatMut<'_, f64>, a: MatRef<'_, f64>) {
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    triangular::matmul(
        out,
        TriangularLower,
        Accum::Add,
        a.transpose(),
        Rectangular,
        a,
        Rectangular,
        1.0,
        Par::Seq,
    );
}

/// `(a + a') / 2` in place.
pub(crate) fn symmetrise(m: &mut Matrix) {
    for i in 0..m.rows() {
        for j in 0..i {
            let mean = 0.5 * (m[(i, j)] + m[(j, i)]);
            m[(i, j)] = mean;
            m[(j, i)] = mean;
        }
    }
}

/// Eigenvalues (increasing) and eigenvectors (columns) of a symmetric matrix given by its lower triangle.
pub(crate) fn eigen(m: &Matrix) -> Result<(Vec<f64>, Matrix)> {
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::evd;
    let n = m.rows();
    let mut values = vec![0.0; n];
    let mut vectors = Matrix::zeros(n, n);
    let params = Default::default();
    let scratch = evd::self_adjoint_evd_scratch::<f64>(n, evd::ComputeEigenvectors::Yes, Par::Seq, params);
    evd::self_adjoint_evd(
        view(m),
        faer::diag::DiagMut::from_slice_mut(&mut values),
        Some(view_mut(&mut vectors)),
        Par::Seq,
        MemStack::new(&mut MemBuffer::new(scratch)),
        params,
    )
    .map_err(|e| Error::Incompatible(format!("eigendecomposition did not converge: {e:?}")))?;
    Ok((values, vectors))
}

/// Sum of products of all entries.
pub(crate) fn inner(a: &Matrix, b: &Matrix) -> f64 {
    dot(a.as_slice(), b.as_slice())
}

/// Inner product.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl pulp::WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) -> f64 {
            dot_inline(self.0, self.1)
        }
    }
    pulp::Arch::new().dispatch(Dot(a, b))
}

/// `y += scale x`.
pub(crate) fn axpy(y: &mut [f64], scale: f64, x: &[f64]) {
    struct Axpy<'a>(&'a mut [f64], f64, &'a [f64]);
    impl pulp::WithSimd for Axpy<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, _: S) {
            axpy_inline(self.0, self.1, self.2);
        }
    }
    pulp::Arch::new().dispatch(Axpy(y, scale, x));
}

/// [`dot`] for loops that are already compiled for this machine's widest instructions. Sixteen running sums: fast, and
/// more accurate than one.
#[inline(always)]
pub(crate) fn dot_inline(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a16, a1) = a[..n].as_chunks::<16>();
    let (b16, b1) = b[..n].as_chunks::<16>();
    let mut sums = [0.0f64; 16];
    for (x, y) in a16.iter().zip(b16) {
        for l in 0..16 {
            sums[l] += x[l] * y[l];
        }
    }
    let rest: f64 = a1.iter().zip(b1).map(|(x, y)| x * y).sum();
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            sums[l] += sums[l + half];
        }
    }
    sums[0] + rest
}

/// [`axpy`] for loops that are already compiled for this machine's widest instructions.
#[inline(always)]
pub(crate) fn axpy_inline(y: &mut [f64], scale: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += scale * x;
    }
}

/// `y += scale x + other z`, for loops that are already compiled for this machine's widest instructions.
#[inline(always)]
pub(crate) fn axpy2_inline(y: &mut [f64], scale: f64, x: &[f64], other: f64, z: &[f64]) {
    let n = y.len();
    let (x, z) = (&x[..n], &z[..n]);
    for i in 0..n {
        y[i] += scale * x[i] + other * z[i];
    }
}

/// The power of two next to |x| (1 for zero): scaling by it is exact.
pub(crate) fn power_of_two(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() { 1.0 } else { x.abs().log2().round().clamp(-1000.0, 1000.0).exp2() }
}
