//! Losses: convex functions z -> L(y, z) of a prediction z, one file each.
//!
//! A loss is known through itself and through its conjugate `L*(y, u) = sup over z of u z - L(y, z)`. The dual variable
//! of an observation with weight c is `alpha = -c u`. A new loss implements [`QuadraticLoss`] if its conjugate is linear
//! or quadratic (nine of the ten here), else [`Loss`]. `docs/add-a-loss.md` walks through `huber.rs`.

mod absolute;
mod epsilon;
mod hinge;
mod huber;
mod kind;
mod logistic;
mod quadratic;
mod quantile;
mod smoothed_hinge;
mod squared;
mod squared_epsilon;
mod squared_hinge;

pub use absolute::Absolute;
pub use epsilon::Epsilon;
pub use hinge::Hinge;
pub use huber::Huber;
pub use kind::LossKind;
pub use logistic::Logistic;
pub use quadratic::{QuadraticConjugate, QuadraticLoss};
pub use quantile::Quantile;
pub use smoothed_hinge::SmoothedHinge;
pub use squared::Squared;
pub use squared_epsilon::SquaredEpsilon;
pub use squared_hinge::SquaredHinge;

use crate::Error;
use std::fmt::Debug;

/// A convex loss z -> L(y, z) and its conjugate u -> L*(y, u).
///
/// Slopes are intervals `(left, right)`: equal where the function is smooth, different at a kink, infinite at the end
/// of a domain. Everything is a plain function of two numbers; no loss knows of solvers, tasks or weights.
pub trait Loss: Debug + Send + Sync {
    /// Name in messages and files.
    fn name(&self) -> &'static str;

    /// `Err(what is expected)` if `y` is not a label of this loss.
    fn check_label(&self, y: f64) -> Result<(), &'static str>;

    /// L(y, z).
    fn value(&self, y: f64, z: f64) -> f64;

    /// Left and right derivative of L(y, .) at z.
    fn slope(&self, y: f64, z: f64) -> (f64, f64);

    /// Second derivative of L(y, .) at z; 0 on linear pieces, the larger one-sided value where it jumps.
    fn curvature(&self, y: f64, z: f64) -> f64;

    /// L*(y, u); infinite outside the domain.
    fn conj(&self, y: f64, u: f64) -> f64;

    /// The closed interval where L*(y, .) is finite.
    fn conj_domain(&self, y: f64) -> (f64, f64);

    /// Left and right derivative of L*(y, .) at a point u of the domain, ignoring the domain's ends
    /// (the derivative of the formula; logistic: infinite at the ends).
    fn conj_slope(&self, y: f64, u: f64) -> (f64, f64);

    /// Second derivative of L*(y, .) at u; 0 on linear pieces.
    fn conj_curvature(&self, y: f64, u: f64) -> f64;

    /// The conjugate as a linear or quadratic function with at most one kink, if it is one: opens the way to
    /// closed-form coordinate steps.
    fn quadratic_conjugate(&self, _y: f64) -> Option<QuadraticConjugate> {
        None
    }

    /// `L(y, z) + L*(y, u) - z u`, which is never negative (Fenchel-Young), for u in the domain: what one observation
    /// of weight one adds to the duality gap. Overridden where a form without cancellation exists.
    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        self.value(y, z) + self.conj(y, u) - z * u
    }

    /// The Fenchel-Young terms of many observations and the sums of their losses and conjugates, for the certificate, where
    /// `u = -kappa / w`. Called through a vtable once per block; the loop inside is compiled for each loss.
    fn block_terms(&self, block: &mut TermBlock<'_>) {
        for j in 0..block.y.len() {
            let (y, z, w) = (block.y[j], block.z[j], block.w[j]);
            if w == 0.0 {
                block.terms[j] = 0.0; // even if its loss is infinite
                continue;
            }
            if !z.is_finite() {
                (block.value, block.terms[j]) = (f64::INFINITY, f64::INFINITY);
                continue;
            }
            // Feasible duals are feasible: rounding of the quotient must not carry u out of the domain.
            let (low, high) = self.conj_domain(y);
            let u = (-block.kappa[j] / w).clamp(low, high);
            let (value, conj) = (self.value(y, z), self.conj(y, u));
            let term = self.fenchel_young(y, z, u);
            block.value += w * value;
            block.conj += w * conj;
            let noise = 64.0 * f64::EPSILON * (value.abs() + conj.abs() + (z * u).abs());
            if (term < -noise || term.is_nan()) && block.negative.is_none() {
                block.negative = Some((j, w * term));
            }
            block.terms[j] = w * term.max(0.0);
        }
    }
}

/// Observations with one loss, and what [`Loss::block_terms`] finds for them.
#[derive(Debug)]
pub struct TermBlock<'a> {
    /// Labels.
    pub y: &'a [f64],
    /// Predictions.
    pub z: &'a [f64],
    /// Weights c_i; 0 means that the observation does not count.
    pub w: &'a [f64],
    /// Dual variables, inside their domain.
    pub kappa: &'a [f64],
    /// The Fenchel-Young terms, times w.
    pub terms: &'a mut [f64],
    /// Sum of w L(y, z).
    pub value: f64,
    /// Sum of w L*(y, u).
    pub conj: f64,
    /// First term that was negative beyond rounding: position and value. A bug in the loss.
    pub negative: Option<(usize, f64)>,
}

/// The parameter of a loss, if it is finite and `in_range`.
fn checked(name: &'static str, value: f64, in_range: bool, expected: &'static str) -> crate::Result<f64> {
    if value.is_finite() && in_range { Ok(value) } else { Err(Error::Parameter { name, value, expected }) }
}
