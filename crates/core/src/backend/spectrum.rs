//! The inputs in the basis where X'X, or K, is diagonal.

use super::basis::{of_inputs, sum_of_inputs};
use super::{Backend, MomentOf, OrthonormalBasis, SecondMoment};
use crate::linalg::{self, view};
use crate::{Matrix, Result};

/// X'X (or K) diagonalised: `values` l and a frame P in which X'X is diag(l).
#[derive(Debug)]
pub(crate) struct Spectrum {
    /// Eigenvalues of X'X that are not zero, or all of them.
    pub(crate) values: Vec<f64>,
    /// One column per value.
    pub(crate) frame: Frame,
}

/// P, or a factor of it.
#[derive(Debug)]
pub(crate) enum Frame {
    /// P itself, for features.
    Coordinates(Matrix),
    /// P itself, for coefficients of inputs: `K P = P diag(l)`, and `P'K P = I`.
    Coefficients(Matrix),
    /// A with `P = X'A`, `K = X X' = U diag(l) U'` and `A = U diag(l)^(-1/2)`: with many features, computing
    /// P would take longer than everything that uses it.
    Inputs(Matrix),
}

impl Spectrum {
    pub(crate) fn of(moment: &SecondMoment<'_>) -> Result<Self> {
        let (values, vectors) = linalg::eigen(&moment.matrix)?;
        if moment.of == MomentOf::Features {
            let values = values.iter().map(|l| l.max(0.0)).collect();
            return Ok(Spectrum { values, frame: Frame::Coordinates(vectors) });
        }
        let (values, mut scaled) = keep_positive((&values, &vectors), moment.largest_before);
        if moment.largest_before > 0.0 {
            // Eigenvectors of a centred matrix are orthogonal to the vector of ones. Those of small eigenvalues are so
            // only roughly, and kernel values, as they are, would show it.
            scaled.remove_means();
        }
        let frame = match moment.of {
            MomentOf::Inputs => Frame::Inputs(scaled),
            _ => Frame::Coefficients(scaled),
        };
        Ok(Spectrum { values, frame })
    }

    /// The mean of the inputs as they are, rotated; `None` where rotated inputs come from a frame that is centred.
    pub(crate) fn rotated_mean(&self, backend: &dyn Backend, threads: usize) -> Option<Vec<f64>> {
        let Frame::Coordinates(_) = &self.frame else { return None };
        let sum = sum_of_inputs(backend, threads);
        let rows = sum.len();
        let mean = Matrix::from_vec(sum.iter().map(|x| x / backend.n_inputs() as f64).collect(), rows, 1);
        Some(self.project_state(mean.expect("one column"), threads).into_vec())
    }
}

impl OrthonormalBasis for Spectrum {
    fn coordinates(&self, backend: &dyn Backend, v: &Matrix, threads: usize) -> Matrix {
        match &self.frame {
            Frame::Coordinates(frame) | Frame::Coefficients(frame) => {
                linalg::times(view(frame), view(v), threads)
            }
            Frame::Inputs(frame) => {
                of_inputs(backend, &linalg::times(view(frame), view(v), threads), threads)
            }
        }
    }

    fn projects_state(&self) -> bool {
        matches!(self.frame, Frame::Coordinates(_))
    }

    fn project_state(&self, state: Matrix, threads: usize) -> Matrix {
        let (Frame::Coordinates(frame) | Frame::Coefficients(frame) | Frame::Inputs(frame)) = &self.frame;
        linalg::times(view(frame).transpose(), view(&state), threads)
    }

    /// `X X'A = A diag(l)`.
    fn project_coefficients(&self, z: Matrix, threads: usize) -> Matrix {
        let mut out = self.project_state(z, threads);
        for (j, l) in self.values.iter().enumerate() {
            out.row_mut(j).iter_mut().for_each(|x| *x *= l);
        }
        out
    }
}

/// Drops eigenvalues that are rounding noise and divides the remaining vectors by the root of theirs. Entries of this
/// size that were subtracted from each other leave noise, too.
fn keep_positive((values, vectors): (&[f64], &Matrix), subtracted: f64) -> (Vec<f64>, Matrix) {
    let largest = values.iter().fold(subtracted, |a, &b| a.max(b));
    let noise = largest * values.len() as f64 * f64::EPSILON;
    linalg::scaled_columns((values, vectors), noise)
}
