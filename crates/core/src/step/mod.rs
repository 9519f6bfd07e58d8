//! One coordinate of the dual, solved exactly.
//!
//! With lambda = 1/2 and weight gamma, moving kappa by `step` changes the (negative) dual by
//! `g(step) + gamma L*(y, -(kappa + step) / gamma)`, g as in [`RowStep`]. Convex in `step`; its slope is
//! increasing. [`cubic`] has the closed form for the regularisers with linear phi' and the losses with
//! quadratic conjugate, [`newton`] does every other pair, of which those with linear phi' need one look at the tasks.

mod added;
pub(crate) mod cubic;
mod newton;

pub(crate) use added::AddedSlope;

use added::OutputPolynomial;
use newton::OutputSlope;

use crate::linalg::dot_simd;
use crate::loss::ObservedLoss;
use crate::regularizer::{AtomStep, RowStep, SumRegularizer};
use pulp::Simd;

/// The loss side of a coordinate.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Coordinate<'a> {
    pub(crate) loss: ObservedLoss<'a>,
    /// Weight of the observation, positive.
    pub(crate) gamma: f64,
    /// Its dual variable now.
    pub(crate) kappa: f64,
    /// How much the intercept, which is part of the loss's offset, changes per unit of kappa.
    pub(crate) stiffness: f64,
}

impl Coordinate<'_> {
    /// Interval in which kappa may lie.
    fn bounds(&self) -> (f64, f64) {
        let (low, high) = self.loss.conj_domain();
        (-self.gamma * high, -self.gamma * low)
    }

    /// Slope of `gamma L*(-kappa / gamma) + stiffness (kappa - now)^2 / 2` on the left and on the right of kappa.
    fn slope(&self, kappa: f64) -> (f64, f64) {
        let (left, right) = self.loss.conj_slope(-kappa / self.gamma);
        let pull = if self.stiffness == 0.0 { 0.0 } else { self.stiffness * (kappa - self.kappa) };
        (pull - right, pull - left)
    }

    fn curvature(&self, kappa: f64) -> f64 {
        self.loss.conj_curvature(-kappa / self.gamma) / self.gamma + self.stiffness
    }

    /// The best kappa for an input of zero norm, whose prediction is 0 whatever happens: a subgradient there.
    fn without_input(&self) -> f64 {
        let (left, right) = self.loss.slope(0.0);
        if left.is_nan() || right.is_nan() {
            // An intercept or offset out of range: nothing is known, and the dual stays.
            return self.kappa;
        }
        let u = 0.0f64.clamp(left.min(right), left.max(right));
        let (low, high) = self.bounds();
        (-self.gamma * u).clamp(low, high)
    }
}

/// The kappa that minimises the coordinate problem.
#[inline(always)]
pub(crate) fn solve<S: Simd>(
    simd: S,
    coordinate: &Coordinate<'_>,
    output: &SumRegularizer,
    linear: Option<f64>,
    row: &RowStep<'_>,
    atoms: &[AtomStep],
) -> f64 {
    if row.a == 0.0 && coordinate.stiffness == 0.0 {
        return coordinate.without_input();
    }
    let Some(gain) = linear else {
        return newton::solve(coordinate, &OutputSlope::Any { output, row, atoms });
    };
    let RowStep { task, a, b, c } = *row;
    let sums =
        RowSums { a, b: b[task], c: c[task], squares: dot_simd(simd, b, b), inner: dot_simd(simd, b, c) };
    let added = AddedSlope::new(output, gain, row, atoms);
    solve_by_sums(simd, coordinate, gain, (&sums, dot_simd(simd, c, c)), &added)
}

/// The same where `phi'` is linear, from sums over tasks; the second one is at least that of all `c_s^2`.
#[inline(always)]
pub(crate) fn solve_by_sums<S: Simd>(
    simd: S,
    coordinate: &Coordinate<'_>,
    gain: f64,
    (sums, c_squares): (&RowSums, f64),
    added: &AddedSlope,
) -> f64 {
    if sums.a == 0.0 && coordinate.stiffness == 0.0 {
        return coordinate.without_input();
    }
    let Some(shape) = coordinate.loss.quadratic_conjugate() else {
        let polynomial = OutputPolynomial::new(gain, sums, c_squares, added);
        return newton::solve(coordinate, &OutputSlope::Polynomial(polynomial));
    };
    let Coordinate { gamma, kappa, stiffness, .. } = *coordinate;
    // The offset of the loss has the intercept already.
    let shape = shape.with_intercept((0.0, stiffness), gamma, kappa);
    cubic::solve(simd, &shape, gamma, kappa, gain, sums, added)
}

/// All that the cubic needs of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowSums {
    /// k(x, x).
    pub(crate) a: f64,
    /// b_r and c_r.
    pub(crate) b: f64,
    pub(crate) c: f64,
    /// Sum of b_s^2, r included.
    pub(crate) squares: f64,
    /// Sum of b_s c_s.
    pub(crate) inner: f64,
}
