//! One coordinate of the dual, solved exactly.
//!
//! With lambda = 1/2 and weight gamma, moving kappa by `step` changes the (negative) dual by
//! `g(step) + gamma L*(y, -(kappa + step) / gamma)`, g as in [`RowStep`]. Convex in `step`; its slope is
//! increasing. [`cubic`] has the closed form for the regularisers with linear phi' and the losses with
//! quadratic conjugate, [`newton`] does every other pair.

mod added;
pub(crate) mod cubic;
mod newton;

pub(crate) use added::AddedSlope;

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
    if let Some(gain) = linear
        && let Some(shape) = coordinate.loss.quadratic_conjugate()
    {
        let RowStep { task, a, b, c } = *row;
        let sums =
            RowSums { a, b: b[task], c: c[task], squares: dot_simd(simd, b, b), inner: dot_simd(simd, b, c) };
        let Coordinate { gamma, kappa, stiffness, .. } = *coordinate;
        // The offset of the loss has the intercept already.
        let shape = shape.with_intercept((0.0, stiffness), gamma, kappa);
        let added = AddedSlope::new(output, gain, row, atoms);
        return cubic::solve(simd, &shape, gamma, kappa, gain, &sums, &added);
    }
    newton::solve(coordinate, output, row, atoms)
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
