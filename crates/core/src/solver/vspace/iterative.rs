//! `(I + S B) x = w` by GMRES, preconditioned as if all tasks had the same curvatures up to a factor.
//!
//! With `S_r ~ w_r diag(lam)` (inputs are rotated so that X'X is diagonal) and `H = diag(w)^(1/2)`, `H Theta H = U diag(om) U'`,
//! the inverse of `I + lam o (. Theta diag(w))` is `R -> ((R H^-1 U) / (1 + lam_j om_t)) U' H`. Theta itself is never inverted.
//! Norms are taken in the coordinates `(R H^-1 U) (om / (1 + lam om))^(1/2)`, the energy of the Newton system.

use super::Derivative;
use super::gmres::{self, Operator};
use crate::Matrix;
use crate::design::Curvature;
use crate::linalg::{self, axpy, times, view};

struct Kronecker<'a> {
    curvature: &'a Curvature<'a>,
    derivative: &'a Derivative<'a>,
    /// H^-1 U and H U.
    into: Matrix,
    out: Matrix,
    /// The weights of the norm, and `1 / (1 + lam om)` divided by them.
    weight: Matrix,
    inverse: Matrix,
}

/// The solution and the number of products it took; `None` if numbers ran out or `stop()`.
pub(in crate::solver) fn solve(
    curvature: &Curvature<'_>,
    derivative: &Derivative<'_>,
    w: &Matrix,
    tolerance: f64,
    limit: usize,
    stop: &mut dyn FnMut() -> bool,
) -> Option<(Matrix, usize)> {
    let operator = Kronecker::new(curvature, derivative)?;
    gmres::solve(&operator, w, tolerance, limit, stop)
}

impl<'a> Kronecker<'a> {
    fn new(curvature: &'a Curvature<'a>, derivative: &'a Derivative<'a>) -> Option<Self> {
        let (lam, traces) = curvature.shape();
        let t = traces.len();
        let mean = traces.iter().sum::<f64>() / t as f64;
        let share = |trace: &f64| if mean > 0.0 { (trace / mean).max(1e-8) } else { 1.0 };
        let roots: Vec<f64> = traces.iter().map(|trace| share(trace).sqrt()).collect();
        let mut scaled = derivative.theta.clone();
        for r in 0..t {
            for s in 0..t {
                scaled[(r, s)] *= roots[r] * roots[s];
            }
        }
        let (om, basis) = linalg::eigen(&scaled).ok()?;
        let floor = 1e-8 * om.iter().fold(0.0f64, |a, &b| a.max(b));
        let (mut into, mut out) = (basis.clone(), basis);
        for r in 0..t {
            into.row_mut(r).iter_mut().for_each(|x| *x /= roots[r]);
            out.row_mut(r).iter_mut().for_each(|x| *x *= roots[r]);
        }
        let (mut weight, mut inverse) = (Matrix::zeros(lam.len(), t), Matrix::zeros(lam.len(), t));
        for (j, lam) in lam.iter().enumerate() {
            for (q, om) in om.iter().enumerate() {
                let om = om.max(0.0);
                let inv = 1.0 / (1.0 + lam * om);
                weight[(j, q)] = (om * inv + floor).sqrt();
                inverse[(j, q)] = inv / weight[(j, q)];
            }
        }
        (floor > 0.0).then_some(Kronecker { curvature, derivative, into, out, weight, inverse })
    }
}

impl Operator for Kronecker<'_> {
    fn enter(&self, r: &Matrix) -> Matrix {
        let mut x = times(view(r), view(&self.into), self.derivative.threads);
        x.as_mut_slice().iter_mut().zip(self.weight.as_slice()).for_each(|(x, w)| *x *= w);
        x
    }

    fn precondition(&self, x: &Matrix) -> Matrix {
        let mut z = x.clone();
        z.as_mut_slice().iter_mut().zip(self.inverse.as_slice()).for_each(|(z, inverse)| *z *= inverse);
        times(view(&z), view(&self.out).transpose(), self.derivative.threads)
    }

    fn apply(&self, z: &Matrix) -> Matrix {
        let mut sum = self.curvature.apply(&self.derivative.apply(z), self.derivative.threads);
        axpy(sum.as_mut_slice(), 1.0, z.as_slice());
        self.enter(&sum)
    }

    fn leave(&self, z: Matrix) -> Matrix {
        z
    }
}
