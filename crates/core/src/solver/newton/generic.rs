//! What Newton's method needs of a problem: in memory, on a device, or with rows that are elsewhere.

use crate::algebra::Algebra;
use crate::linalg::inner;
use crate::regularizer::not_negative;
use crate::solver::newton_system::linear::Linear;
use crate::solver::newton_system::{Derivative, MatOf, PointOf, Smooth, VPoint};
use crate::{Matrix, Problem, Result};

/// The problem with smooth losses; those with kinks are replaced by their proximal approximation.
pub(in crate::solver) trait NewtonModel: Smooth {
    /// The second derivative of the losses at a point.
    type Curvature<'c>
    where
        Self: 'c;

    /// `V - X'kappa`, zero at the solution.
    fn residual(&self, point: &PointOf<Self>) -> MatOf<Self>;

    fn curvature<'c>(&'c self, point: &'c PointOf<Self>) -> Self::Curvature<'c>;

    /// Newton's step dV: solves `(I + S B) dV = -residual`.
    fn direction(
        &self,
        linear: &mut Linear,
        derivatives: (&Self::Curvature<'_>, &Derivative<'_, Self::Algebra>),
        residual: &MatOf<Self>,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<MatOf<Self>>;
}

/// The same where the duals of all rows are at hand.
pub(in crate::solver) trait DualModel: NewtonModel {
    /// Duals where the model keeps them.
    type Duals;

    fn problem(&self) -> &Problem<'_>;

    /// The duals of the losses at a point.
    fn duals(&self, point: &PointOf<Self>) -> Self::Duals;

    /// Duals in the order of the observations.
    fn in_order(&self, duals: &Self::Duals) -> Result<Vec<f64>>;

    /// V in the coordinates of the backend.
    fn coordinates(&self, v: &MatOf<Self>) -> Result<Matrix>;

    /// Centres the proximal term at these duals.
    fn centre_at(&mut self, duals: &Self::Duals);

    /// The centres, kappa / gamma.
    fn centre(&self) -> Result<Vec<f64>>;

    /// Weight of the proximal term; 0 where all losses are smooth.
    fn set_mu(&mut self, mu: f64);

    fn mu(&self) -> f64;

    /// The derivative of the losses, with their kinks, in the factor of the predictions.
    fn loss_slope<'p>(&'p self, point: &'p PointOf<Self>) -> Box<dyn Fn(f64) -> f64 + 'p>;
}

/// Distance of psi from the bound of its own duals: an estimate, not a certificate.
pub(in crate::solver) fn mismatch<M: Smooth>(model: &M, point: &PointOf<M>, residual: &MatOf<M>) -> f64 {
    let (algebra, output) = (model.algebra(), model.output());
    let induced = algebra.minus(&point.v, residual);
    let distance = not_negative(inner(&point.theta, &algebra.gram(residual)));
    0.5 * distance + 0.5 * output.fenchel_young(&point.gram, &point.theta, &algebra.gram(&induced))
}

/// The point on the ray of a V where psi is about least: the predictions of good duals can be far too large.
/// Weights are halved while psi falls, and divided by more at a time once they turn out to be very far off.
pub(in crate::solver) fn shortened<M: Smooth>(model: &M, mut point: PointOf<M>) -> PointOf<M> {
    let Some(degree) = model.output().degree() else { return point };
    let half = 0.5f64.powf(1.0 / f64::from(2 * degree - 1));
    let (mut at_a_time, mut fell) = (1, 0);
    for _ in 0..MOST_LOOKS {
        let mut v = point.v.clone();
        model.algebra().scale(&mut v, half.powi(at_a_time));
        let shorter = VPoint::at(model, v);
        if point.psi.is_finite() && (shorter.psi >= point.psi || shorter.psi.is_nan()) {
            match at_a_time {
                1 => break,
                _ => at_a_time /= 2,
            }
            continue;
        }
        point = shorter;
        fell += 1;
        at_a_time = if fell < FEW_HALVINGS { 1 } else { (2 * at_a_time).min(MOST_AT_A_TIME) };
    }
    point
}

/// Halvings before more of them are made at a time.
const FEW_HALVINGS: usize = 12;
const MOST_AT_A_TIME: i32 = 64;
const MOST_LOOKS: usize = 60;

/// How far from one the best multiple is looked for.
const MOST_SCALED: f64 = 1e-2;

/// The multiple of V with the least objective, losses with their kinks. Where losses weigh much, margins
/// missed by 1e-8 make most of the objective, and slightly larger predictions miss none. For homogeneous
/// regularisers only, where `V -> s V` means `F -> t F`, `t = s^(2n-1)`, and t^(2n/(2n-1)) times the
/// regularisation, for `phi(a z) = a^n phi(z)`.
pub(in crate::solver) fn scaled_best<M: DualModel>(model: &M, point: &PointOf<M>) -> MatOf<M> {
    let Some(degree) = model.output().degree() else { return point.v.clone() };
    let n = f64::from(degree);
    let power = 2.0 * n / (2.0 * n - 1.0);
    let price = inner(&point.theta, &point.gram) - 0.5 * model.output().value(&point.gram);
    let slope = model.loss_slope(point);
    let rises = |t: f64| slope(t) + price * power * t.powf(power - 1.0) > 0.0;
    let (mut low, mut high) = (-MOST_SCALED, MOST_SCALED);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if rises(1.0 + middle) { high = middle } else { low = middle }
    }
    let factor = (1.0 + high).powf(1.0 / (2.0 * n - 1.0));
    let mut v = point.v.clone();
    model.algebra().scale(&mut v, factor);
    v
}
