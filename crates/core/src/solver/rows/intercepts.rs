//! Intercepts as unknowns of the same Newton system as V.
//!
//! For a task with the duals' sum s, the sum d of curvatures and the cost `rho b^2 / 2`, the *pull* `s - rho b` is zero
//! at the best intercept. A Newton step of (V, b) changes b by `(pull - <X'D, dW>) / (d + rho)`; put into the equation
//! of V, this is the step of `curvature.rs` with `X'D pull / (d + rho)` added to the residual. So intercepts need not
//! be the best ones on the way. Where they are far off, or no curvature says how far, they are looked for in a bracket.

use super::model::{RowsModel, Seen};
use crate::Matrix;

/// Duals of a task count at least for this share of its weight.
const LEAST_DUALS: f64 = 1e-6;
/// Looks for intercepts of one W at most.
const MAX_LOOKS: usize = 60;

/// The pulls on all intercepts at a point.
pub(super) struct InterceptPulls<'s> {
    seen: &'s Seen,
    rho: Option<&'s [f64]>,
    /// What pulls are compared with.
    sizes: Vec<f64>,
}

impl<'s> InterceptPulls<'s> {
    pub(super) fn of(model: &'s RowsModel<'_>, seen: &'s Seen) -> Self {
        let rho = model.rho.as_deref();
        let size = |(t, gamma): (usize, &f64)| {
            let held = rho.map_or(0.0, |rho| (rho[t] * seen.intercept[t]).abs());
            (seen.positive[t] - seen.negative[t] + held).max(LEAST_DUALS * gamma)
        };
        let sizes = match seen.positive.is_empty() {
            true => vec![],
            false => model.gammas.iter().enumerate().map(size).collect(),
        };
        InterceptPulls { seen, rho, sizes }
    }

    /// Zero where there is no intercept.
    fn pull(&self, t: usize) -> f64 {
        let duals = self.seen.positive[t] + self.seen.negative[t];
        self.rho.map_or(0.0, |rho| duals - rho[t] * self.seen.intercept[t])
    }

    /// Of each task, `pull / (d + rho)`; zero where that is no number.
    pub(super) fn changes(&self) -> Vec<f64> {
        let change = |t: usize| {
            let step = self.pull(t) / (self.seen.curvature[t] + self.rho.map_or(0.0, |rho| rho[t]));
            if step.is_finite() { step } else { 0.0 }
        };
        (0..self.sizes.len()).map(change).collect()
    }

    /// Intercepts after a Newton step of them alone.
    pub(super) fn steps(&self) -> Vec<f64> {
        self.seen.intercept.iter().zip(self.changes()).map(|(b, change)| b + change).collect()
    }

    /// Intercepts after a change of W and this share of a Newton step of themselves.
    pub(super) fn guess(&self, change: &Matrix, share: f64) -> Vec<f64> {
        let Some(rho) = self.rho else { return self.seen.intercept.clone() };
        let mut along = vec![0.0; self.sizes.len()];
        for j in 0..change.rows() {
            let terms = self.seen.moment.row(j).iter().zip(change.row(j));
            along.iter_mut().zip(terms).for_each(|(along, (m, change))| *along += m * change);
        }
        let guess = |(t, step): (usize, f64)| {
            let by_weights = along[t] / (self.seen.curvature[t] + rho[t]);
            let by_weights = if by_weights.is_finite() { by_weights } else { 0.0 };
            self.seen.intercept[t] + share * step - by_weights
        };
        self.changes().into_iter().enumerate().map(guess).collect()
    }

    fn is_open(&self, t: usize, share: f64) -> bool {
        self.pull(t).abs() > share * self.sizes[t]
    }

    /// Whether no pull is more than this share of the duals.
    pub(super) fn is_balanced(&self, share: f64) -> bool {
        (0..self.sizes.len()).all(|t| !self.is_open(t, share))
    }
}

/// What is known about the best intercept of a task.
struct Bracket {
    low: f64,
    high: f64,
    /// The next step where only one side is known.
    step: f64,
}

impl Bracket {
    /// The next trial after b, where the pull is this, and the Newton step leads to `newton`.
    fn next(&mut self, b: f64, pull: f64, newton: f64) -> f64 {
        *(if pull > 0.0 { &mut self.low } else { &mut self.high }) = b;
        let inside = newton > self.low && newton < self.high && newton != b;
        if self.low.is_finite() && self.high.is_finite() {
            return if inside { newton } else { 0.5 * (self.low + self.high) };
        }
        // Without another side, a flat loss may send Newton's step anywhere.
        let reach = self.step;
        self.step *= 2.0;
        match inside {
            true => newton.clamp(b - reach, b + reach),
            false if pull > 0.0 => b + reach,
            false => b - reach,
        }
    }
}

impl RowsModel<'_> {
    /// What is seen at weights W with intercepts at which pulls are at most this share of the duals; `None` if a
    /// question has no answer.
    pub(super) fn settled(&self, w: &Matrix, guess: Vec<f64>, share: f64) -> Option<Seen> {
        let mut seen = self.look(w, guess)?;
        // Predictions have about this size, in their own units.
        let reach = |b: &f64| Bracket { low: f64::NEG_INFINITY, high: f64::INFINITY, step: 1.0 + b.abs() };
        let mut brackets: Vec<Bracket> = seen.intercept.iter().map(reach).collect();
        for _ in 0..MAX_LOOKS {
            let pulls = InterceptPulls::of(self, &seen);
            if pulls.is_balanced(share) {
                break;
            }
            let newton = pulls.steps();
            let next = |(t, bracket): (usize, &mut Bracket)| match pulls.is_open(t, share) {
                true => bracket.next(seen.intercept[t], pulls.pull(t), newton[t]),
                false => seen.intercept[t],
            };
            let intercept: Vec<f64> = brackets.iter_mut().enumerate().map(next).collect();
            if intercept == seen.intercept {
                break;
            }
            seen = self.look(w, intercept)?;
        }
        Some(seen)
    }
}
