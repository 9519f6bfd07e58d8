//! Orthonormal coordinates for the functions in the span of the inputs, from a second moment of the inputs.

use super::{Backend, Columns, Expansion, Interrupt, Panel, STREAM_ROWS, coefficients, state_of};
use crate::{Matrix, Observations, Result};
use std::borrow::Cow;

/// The smaller of X'X and X X', or K.
#[derive(Debug)]
pub struct SecondMoment<'a> {
    /// The lower triangle.
    pub matrix: Cow<'a, Matrix>,
    /// What its rows stand for.
    pub of: MomentOf,
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
