//! `(I + S B) x = w` preconditioned as if all tasks had the same curvatures up to a factor: good where Theta
//! is far from diagonal and tasks are alike.
//!
//! With `S_r ~ w_r diag(lam)` (inputs are rotated so that X'X is diagonal) and `H = diag(w)^(1/2)`, `H Theta
//! H = U diag(om) U'`, the inverse of `I + lam o (. Theta diag(w))` is `R -> ((R H^-1 U) / (1 + lam_j om_t))
//! U' H`. Theta itself is never inverted.

use super::gmres::Operator;
use super::{Derivative, MatIn};
use crate::Matrix;
use crate::algebra::Algebra;
use crate::linalg::map_rows;

/// Of the largest eigenvalue of Theta: what stands for zero in the norm.
pub(super) const FLOOR: f64 = 1e-8;

/// The second derivative of the losses in W, block diagonal over tasks.
pub(in crate::solver) trait TaskCurvature {
    /// Where V lies.
    type Algebra: Algebra;

    /// S[U].
    fn apply(&self, u: &MatIn<Self::Algebra>) -> MatIn<Self::Algebra>;

    /// Diagonal of the mean of the tasks' blocks, and the trace of each block.
    fn shape(&self) -> (Vec<f64>, Vec<f64>);
}

pub(in crate::solver) struct Kronecker<'a, C: TaskCurvature> {
    curvature: &'a C,
    derivative: &'a Derivative<'a, C::Algebra>,
    /// H^-1 U and H U.
    into: MatIn<C::Algebra>,
    out: MatIn<C::Algebra>,
    /// `1 / (1 + lam om)`.
    inverse: MatIn<C::Algebra>,
    floor: f64,
}

impl<'a, C: TaskCurvature> Kronecker<'a, C> {
    pub(in crate::solver) fn new(
        curvature: &'a C,
        derivative: &'a Derivative<'a, C::Algebra>,
    ) -> Option<Self> {
        let (lam, traces) = curvature.shape();
        let t = traces.len();
        let mean = traces.iter().sum::<f64>() / t as f64;
        let share = |trace: &f64| if mean > 0.0 { (trace / mean).max(1e-8) } else { 1.0 };
        let roots: Vec<f64> = traces.iter().map(|trace| share(trace).sqrt()).collect();
        let mut scaled = derivative.theta.clone();
        for (r, root) in roots.iter().enumerate() {
            scaled.row_mut(r).iter_mut().zip(&roots).for_each(|(x, other)| *x *= root * other);
        }
        let (om, basis) = derivative.algebra.eigen(&scaled).ok()?;
        let floor = FLOOR * om.iter().fold(0.0f64, |a, &b| a.max(b));
        let (mut into, mut out) = (basis.clone(), basis);
        for (r, root) in roots.iter().enumerate() {
            into.row_mut(r).iter_mut().for_each(|x| *x /= root);
            out.row_mut(r).iter_mut().for_each(|x| *x *= root);
        }
        let inverse_row =
            |j: usize| om.iter().map(|om| 1.0 / (1.0 + lam[j] * om.max(0.0))).collect::<Vec<f64>>();
        let inverse = Matrix::from_vec(map_rows(lam.len(), inverse_row).concat(), lam.len(), t).ok()?;
        let [into, out, inverse] = [&into, &out, &inverse].map(|m| derivative.algebra.put(m));
        (floor > 0.0).then_some(Kronecker { curvature, derivative, into, out, inverse, floor })
    }
}

impl<C: TaskCurvature> Operator for Kronecker<'_, C> {
    type Algebra = C::Algebra;

    fn algebra(&self) -> &C::Algebra {
        &self.derivative.algebra
    }

    fn precondition(&self, v: &MatIn<C::Algebra>) -> MatIn<C::Algebra> {
        let algebra = self.algebra();
        let mut z = algebra.times(v, &self.into);
        algebra.multiply(&mut z, &self.inverse);
        algebra.times_transposed(&z, &self.out)
    }

    fn weigh(&self, v: &MatIn<C::Algebra>) -> MatIn<C::Algebra> {
        let algebra = self.algebra();
        let mut out = algebra.times(v, &self.derivative.theta_there);
        algebra.add_scaled(&mut out, self.floor, v);
        out
    }

    fn apply(&self, z: &MatIn<C::Algebra>) -> MatIn<C::Algebra> {
        self.derivative.newton(self.curvature, z)
    }
}
