//! The inputs in the basis where X'X, or K, is diagonal.

use super::{Backend, Columns, Expansion, Interrupt, Panel, STREAM_ROWS, coefficients, state_of};
use crate::linalg::{self, view};
use crate::{Matrix, Observations, Result};

/// X'X (or K) diagonalised: `values` l and a frame P with `P' state(Z) = (rotated X)' Z` and `coordinates = P V`, in
/// which X'X is diag(l). See `docs/math.md`, "Spectral".
#[derive(Debug)]
pub struct Spectrum {
    /// Eigenvalues of X'X that are not zero, or all of them.
    pub values: Vec<f64>,
    /// One column per value.
    pub frame: Frame,
}

/// P, or what makes it up.
#[derive(Debug)]
pub enum Frame {
    /// P itself.
    Coordinates(Matrix),
    /// A with `P = X'A`, `K = X X' = U diag(l) U'` and `A = U diag(l)^(-1/2)`: where features are many, P would take longer than all
    /// that is done with it.
    Inputs(Matrix),
}

impl Spectrum {
    /// `P V`.
    pub(crate) fn coordinates(&self, backend: &dyn Backend, v: &Matrix, threads: usize) -> Matrix {
        match &self.frame {
            Frame::Coordinates(frame) => linalg::times(view(frame), view(v), threads),
            Frame::Inputs(frame) => {
                of_inputs(backend, &linalg::times(view(frame), view(v), threads), threads)
            }
        }
    }

    /// `P' state(Z)` for the coefficients Z of some duals; by way of inputs `X X'A = A diag(l)`.
    pub(crate) fn rotated(
        &self,
        backend: &dyn Backend,
        (observations, duals): (&Observations, &[f64]),
        threads: usize,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Matrix> {
        match &self.frame {
            Frame::Coordinates(frame) => {
                let duals = Expansion::Duals(observations, duals);
                let state = state_of(backend, duals, threads, interrupt)?;
                Ok(linalg::times(view(frame).transpose(), view(&state), threads))
            }
            Frame::Inputs(frame) => {
                let z = coefficients(backend.n_inputs(), observations, duals);
                let mut out = linalg::times(view(frame).transpose(), view(&z), threads);
                for (j, l) in self.values.iter().enumerate() {
                    out.row_mut(j).iter_mut().for_each(|x| *x *= l);
                }
                Ok(out)
            }
        }
    }
}

/// `X'Z`, some rows at a time.
fn of_inputs(backend: &dyn Backend, z: &Matrix, threads: usize) -> Matrix {
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
