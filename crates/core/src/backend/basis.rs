//! Orthonormal coordinates for the functions in the span of the inputs, from a second moment of the inputs.

use super::{Backend, Columns, Expansion, Interrupt, Panel, STREAM_ROWS, coefficients, state_of};
use crate::linalg::axpy;
use crate::{Matrix, Observations, Result};
use std::borrow::Cow;

/// The smaller of X'X and X X', or K.
#[derive(Debug)]
pub struct SecondMoment<'a> {
    /// The lower triangle.
    pub matrix: Cow<'a, Matrix>,
    /// What its rows stand for.
    pub of: MomentOf,
    /// The largest entry of what it was computed from by subtraction; 0 if nothing was subtracted.
    pub largest_before: f64,
}

/// What the rows of a second moment stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MomentOf {
    /// Features, which are the coordinates.
    Features,
    /// Inputs, fewer than features: `X'A` are the coordinates.
    Inputs,
    /// Inputs, whose coefficients are the coordinates.
    Coefficients,
}

impl<'a> SecondMoment<'a> {
    /// The same of the inputs less their mean.
    pub(crate) fn centred(self, backend: &dyn Backend, threads: usize) -> Self {
        let mut matrix = self.matrix.into_owned();
        let n = matrix.rows();
        // Of a positive semidefinite matrix it is on the diagonal.
        let largest_before = (0..n).map(|i| matrix[(i, i)]).fold(0.0, f64::max);
        match self.of {
            MomentOf::Features => {
                let (sum, count) = (sum_of_inputs(backend, threads), backend.n_inputs() as f64);
                for i in 0..n {
                    axpy(&mut matrix.row_mut(i)[..=i], -sum[i] / count, &sum[..=i]);
                }
            }
            // Twice: where kernel values are nearly equal, rounding errors of the first means leave a constant
            // direction whose eigenvalue is far from zero.
            MomentOf::Inputs | MomentOf::Coefficients => (0..2).for_each(|_| centre(&mut matrix)),
        }
        SecondMoment { matrix: Cow::Owned(matrix), of: self.of, largest_before }
    }
}

/// Takes means of rows and columns from a symmetric matrix, given by its lower triangle.
fn centre(matrix: &mut Matrix) {
    let n = matrix.rows();
    let mut means = vec![0.0; n];
    for i in 0..n {
        for j in 0..i {
            means[i] += matrix[(i, j)] / n as f64;
            means[j] += matrix[(i, j)] / n as f64;
        }
        means[i] += matrix[(i, i)] / n as f64;
    }
    let mean = means.iter().sum::<f64>() / n as f64;
    for i in 0..n {
        let row = matrix.row_mut(i)[..=i].iter_mut().zip(&means);
        row.for_each(|(x, other)| *x -= means[i] + other - mean);
    }
}

/// A matrix P, called the frame, with `P' state(Z) = (rotated X)' Z` and `coordinates = P V`. See
/// `docs/math.md`, "Spectral".
pub(crate) trait OrthonormalBasis: Sync {
    /// `P V`.
    fn coordinates(&self, backend: &dyn Backend, v: &Matrix, threads: usize) -> Matrix;

    /// Whether to call [`project_state`](Self::project_state); else call
    /// [`project_coefficients`](Self::project_coefficients).
    fn projects_state(&self) -> bool;

    /// `P' state(Z)` for the state.
    fn project_state(&self, state: Matrix, threads: usize) -> Matrix;

    /// `P' state(Z)` for Z.
    fn project_coefficients(&self, z: Matrix, threads: usize) -> Matrix;

    /// `P' state(Z)` for the coefficients Z of some duals.
    fn rotated(
        &self,
        backend: &dyn Backend,
        (observations, duals): (&Observations, &[f64]),
        threads: usize,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Matrix> {
        if self.projects_state() {
            let state = state_of(backend, Expansion::Duals(observations, duals), threads, interrupt)?;
            return Ok(self.project_state(state, threads));
        }
        Ok(self.project_coefficients(coefficients(backend.n_inputs(), observations, duals), threads))
    }
}

/// The features themselves, where X'X is as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FeatureBasis;

impl OrthonormalBasis for FeatureBasis {
    fn coordinates(&self, _backend: &dyn Backend, v: &Matrix, _threads: usize) -> Matrix {
        v.clone()
    }

    fn projects_state(&self) -> bool {
        true
    }

    fn project_state(&self, state: Matrix, _threads: usize) -> Matrix {
        state
    }

    fn project_coefficients(&self, _z: Matrix, _threads: usize) -> Matrix {
        unreachable!("states are projected")
    }
}

/// `X'1`, or `K 1`: the state of ones.
pub(crate) fn sum_of_inputs(backend: &dyn Backend, threads: usize) -> Vec<f64> {
    let ones = Matrix::from_vec(vec![1.0; backend.n_inputs()], backend.n_inputs(), 1);
    of_inputs(backend, &ones.expect("one column"), threads).into_vec()
}

/// `X'Z`, some rows at a time.
pub(super) fn of_inputs(backend: &dyn Backend, z: &Matrix, threads: usize) -> Matrix {
    let (mut panel, mut part) = (Panel::default(), Matrix::default());
    let mut state = Matrix::zeros(backend.dim(), z.cols());
    let all: Vec<u32> = (0..z.rows() as u32).collect();
    for (rows, values) in all.chunks(STREAM_ROWS).zip(z.as_slice().chunks(STREAM_ROWS * z.cols().max(1))) {
        backend.load(rows, &mut panel);
        part.reset(rows.len(), z.cols());
        part.as_mut_slice().copy_from_slice(values);
        backend.add(&mut panel, Columns::All, &part, &mut state, threads);
    }
    state
}
