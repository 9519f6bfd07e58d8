//! Factorisations: eigenvectors, QR, Cholesky.

use super::{dot, mirror_lower, view, view_mut};
use crate::{Error, Matrix, Result};
use faer::{MatMut, MatRef, Par};

/// Eigenvalues (increasing) of the row-major n x n symmetric matrix, of which one triangle is read; `None` if
/// they cannot be found. Without threads: faer's convenience method would use the global pool.
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

/// The values above `least`, and the vectors that belong to them, each divided by the root of its value.
pub(crate) fn scaled_columns((values, vectors): (&[f64], &Matrix), least: f64) -> (Vec<f64>, Matrix) {
    let kept: Vec<usize> = (0..values.len()).filter(|&j| values[j] > least).collect();
    let mut scaled = Matrix::zeros(vectors.rows(), kept.len());
    for i in 0..vectors.rows() {
        for (col, &j) in kept.iter().enumerate() {
            scaled[(i, col)] = vectors[(i, j)] / values[j].sqrt();
        }
    }
    (kept.iter().map(|&j| values[j]).collect(), scaled)
}

/// A matrix A with `A' m A = I`; directions where m is less than `noise` times its largest eigenvalue are left out.
pub(crate) fn whitening(m: &Matrix, noise: f64) -> Result<Matrix> {
    let (values, vectors) = eigen(m)?;
    let largest = values.iter().fold(0.0f64, |a, &b| a.max(b));
    Ok(scaled_columns((&values, &vectors), noise * largest).1)
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

/// The Cholesky factor of the positive definite matrix given by its lower triangle, in its place; false if it
/// has none.
pub(crate) fn cholesky(m: &mut Matrix, threads: usize) -> bool {
    use faer::dyn_stack::{MemBuffer, MemStack};
    use faer::linalg::cholesky::llt::factor;
    let n = m.rows();
    // A wrong entry in a factor would only cost time, unlike one in a certificate. So faer's threads may be
    // used here.
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

/// The lower factor L with `L L' = m` for a matrix that may be singular, given by its lower triangle, in its
/// place: columns whose pivots are rounding errors become zero. The upper triangle is set to zero.
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
