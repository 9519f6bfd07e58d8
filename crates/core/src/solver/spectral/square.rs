//! X'X in a basis where equations with it are solved quickly.

use crate::algebra::{Algebra, Host};
use crate::backend::Interrupt;
use crate::linalg::band::Band;
use crate::{Matrix, Result};

/// X'X.
pub(super) trait Square<A: Algebra>: Sync {
    /// `X'X w`.
    fn times(&self, algebra: &A, w: &A::Mat) -> A::Mat;

    /// `(I + rates_j X'X)^-1 x_j` in place of every column j.
    fn solve_shifted(&self, algebra: &A, rates: &[f64], x: &mut A::Mat, aim: Aim<'_, A>);

    /// Work before equations with these rates are solved. `false` if they cannot be.
    fn prepare(&self, _algebra: &A, _rates: &[f64], _interrupt: &mut Interrupt<'_>) -> Result<bool> {
        Ok(true)
    }

    /// Whether a solution takes steps, so that a good start helps.
    fn takes_steps(&self) -> bool {
        false
    }

    /// Eigenvalues of X'X, where it is diagonal.
    fn values(&self) -> Option<&[f64]> {
        None
    }

    /// How many rounds of alternation an eigendecomposition costs that is not there yet.
    fn rounds_of_eigenvectors(&self, _tasks: usize) -> f64 {
        0.0
    }
}

/// What a solution is to be like, for those that take steps.
pub(super) struct Aim<'a, A: Algebra> {
    /// Where to start.
    pub(super) from: Option<&'a A::Mat>,
    /// Size of the residual of each column, relative to that of its right-hand side.
    pub(super) tolerance: f64,
}

/// In the eigenbasis: diag(l).
#[derive(Debug)]
pub(super) struct Diagonal<'a>(pub(super) &'a [f64]);

impl<A: Algebra> Square<A> for Diagonal<'_> {
    fn times(&self, algebra: &A, w: &A::Mat) -> A::Mat {
        let mut out = w.clone();
        algebra.scale_rows(&mut out, self.0);
        out
    }

    fn solve_shifted(&self, algebra: &A, rates: &[f64], x: &mut A::Mat, _: Aim<'_, A>) {
        algebra.divide_shifted(x, self.0, rates);
    }

    fn values(&self) -> Option<&[f64]> {
        Some(self.0)
    }
}

/// Operations of eigenvectors: about 10 d^3, against d T (12 T + 400) for products and equations of a round.
pub(super) fn rounds_of_eigenvectors(d: usize, t: usize) -> f64 {
    let (d, t) = (d as f64, t as f64);
    10.0 * d * d / (t * (12.0 * t + 400.0))
}

impl Square<Host> for Band {
    fn times(&self, _: &Host, w: &Matrix) -> Matrix {
        self.times(w)
    }

    fn solve_shifted(&self, algebra: &Host, rates: &[f64], x: &mut Matrix, _: Aim<'_, Host>) {
        Band::solve_shifted(self, rates, x, algebra.threads);
    }

    fn rounds_of_eigenvectors(&self, tasks: usize) -> f64 {
        rounds_of_eigenvectors(self.len(), tasks)
    }
}
