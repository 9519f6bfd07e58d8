//! `(I + S B) x = w` preconditioned as if all tasks had the same curvatures up to a factor: good where Theta
//! is far from diagonal and tasks are alike.
//!
//! With `S_r ~ w_r diag(lam)` (inputs are rotated so that X'X is diagonal) and `H = diag(w)^(1/2)`, `H Theta
//! H = U diag(om) U'`, the inverse of `I + lam o (. Theta diag(w))` is `R -> ((R H^-1 U) / (1 + lam_j om_t))
//! U' H`. Theta itself is never inverted.

use super::Derivative;
use super::gmres::Operator;
use crate::Matrix;
use crate::algebra::Host;
use crate::design::Curvature;
use crate::linalg::{self, times, view};

/// Of the largest eigenvalue of Theta: what stands for zero in the norm.
pub(super) const FLOOR: f64 = 1e-8;

pub(super) struct Kronecker<'a> {
    curvature: &'a Curvature<'a>,
    derivative: &'a Derivative<'a>,
    /// H^-1 U and H U.
    into: Matrix,
    out: Matrix,
    /// `1 / (1 + lam om)`.
    inverse: Matrix,
    floor: f64,
}

impl<'a> Kronecker<'a> {
    pub(super) fn new(curvature: &'a Curvature<'a>, derivative: &'a Derivative<'a>) -> Option<Self> {
        let (lam, traces) = curvature.shape();
        let t = traces.len();
        let mean = traces.iter().sum::<f64>() / t as f64;
        let share = |trace: &f64| if mean > 0.0 { (trace / mean).max(1e-8) } else { 1.0 };
        let roots: Vec<f64> = traces.iter().map(|trace| share(trace).sqrt()).collect();
        let mut scaled = derivative.theta.clone();
        for (r, root) in roots.iter().enumerate() {
            scaled.row_mut(r).iter_mut().zip(&roots).for_each(|(x, other)| *x *= root * other);
        }
        let (om, basis) = linalg::eigen(&scaled).ok()?;
        let floor = FLOOR * om.iter().fold(0.0f64, |a, &b| a.max(b));
        let (mut into, mut out) = (basis.clone(), basis);
        for (r, root) in roots.iter().enumerate() {
            into.row_mut(r).iter_mut().for_each(|x| *x /= root);
            out.row_mut(r).iter_mut().for_each(|x| *x *= root);
        }
        let mut inverse = Matrix::zeros(lam.len(), t);
        for (j, lam) in lam.iter().enumerate() {
            inverse.row_mut(j).iter_mut().zip(&om).for_each(|(x, om)| *x = 1.0 / (1.0 + lam * om.max(0.0)));
        }
        (floor > 0.0).then_some(Kronecker { curvature, derivative, into, out, inverse, floor })
    }
}

impl Operator for Kronecker<'_> {
    type Algebra = Host;

    fn algebra(&self) -> &Host {
        &self.derivative.algebra
    }

    fn precondition(&self, v: &Matrix) -> Matrix {
        let mut z = times(view(v), view(&self.into), self.derivative.threads());
        z.as_mut_slice().iter_mut().zip(self.inverse.as_slice()).for_each(|(z, inverse)| *z *= inverse);
        times(view(&z), view(&self.out).transpose(), self.derivative.threads())
    }

    fn weigh(&self, v: &Matrix) -> Matrix {
        let mut out = times(view(v), view(self.derivative.theta), self.derivative.threads());
        out.add_scaled(self.floor, v);
        out
    }

    fn apply(&self, z: &Matrix) -> Matrix {
        self.derivative.newton(self.curvature, z)
    }
}
