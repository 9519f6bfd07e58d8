//! Intercepts as unknowns of the same Newton system as V.
//!
//! For a task with the duals' sum s, the sum d of curvatures and the cost `rho b^2 / 2`, the *pull* `s - rho b` is zero
//! at the best intercept. A Newton step of (V, b) changes b by `(pull - <X'D, dW>) / (d + rho)`; put into the equation
//! of V, this is the step of `curvature.rs` with `X'D pull / (d + rho)` added to the residual. So intercepts need not
//! be the best ones on the way. Where they are far off, or no curvature says how far, they are looked for in a bracket.
//!
//! A softened kink is about mu wide, and its curvature says nothing about more than some mu. Where `pull / (d + rho)`
//! goes further, or the way to a smaller mu does, d is raised until it does not: the step is that of a problem with
//! such a cost of changes of b.

use super::model::{RowsModel, Seen};
use crate::Matrix;

/// Duals of a task count at least for this share of its weight.
const LEAST_DUALS: f64 = 1e-6;
/// Looks for intercepts of one W at most.
const MAX_LOOKS: usize = 60;
/// How far an intercept goes in a Newton step, in units of mu.
const STEP_REACH: f64 = 16.0;

/// The pulls on all intercepts at a point.
pub(super) struct InterceptPulls<'s> {
    seen: &'s Seen,
    rho: Option<&'s [f64]>,
    /// How far an intercept goes in a step; infinite where losses are smooth by themselves.
    reach: f64,
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
        let reach = if model.mu > 0.0 { STEP_REACH * model.mu } else { f64::INFINITY };
        InterceptPulls { seen, rho, reach, sizes }
    }

    /// Zero where there is no intercept.
    fn pull(&self, t: usize) -> f64 {
        let duals = self.seen.positive[t] + self.seen.negative[t];
        self.rho.map_or(0.0, |rho| duals - rho[t] * self.seen.intercept[t])
    }

    /// Of each task, what a pull is divided by for a step.
    fn stiffness(&self, t: usize) -> f64 {
        let by_mu = self.seen.falls.get(t).map_or(0.0, |fall| fall.abs() / STEP_REACH);
        let least = (self.pull(t).abs() / self.reach).max(by_mu);
        (self.seen.curvature[t] + self.rho.map_or(0.0, |rho| rho[t])).max(least)
    }

    /// Of each task, `1 / (d + rho)`, with d raised; zero where there is no curvature.
    pub(super) fn shares(&self) -> Vec<f64> {
        let share = |t: usize| if self.seen.curvature[t] > 0.0 { 1.0 / self.stiffness(t) } else { 0.0 };
        (0..self.sizes.len()).map(share).collect()
    }

    /// Of each task, `pull / (d + rho)`, with d raised; zero where that is no number.
    pub(super) fn changes(&self) -> Vec<f64> {
        let finite = |step: f64| if step.is_finite() { step } else { 0.0 };
        (0..self.sizes.len()).map(|t| finite(self.pull(t) / self.stiffness(t))).collect()
    }

    /// Intercepts after a Newton step of them alone, as far as a step goes.
    pub(super) fn first_steps(&self) -> Vec<f64> {
        self.seen.intercept.iter().zip(self.changes()).map(|(b, change)| b + change).collect()
    }

    /// Intercepts after a Newton step of them alone.
    fn steps(&self) -> Vec<f64> {
        let step = |t: usize| {
            let stiffness = self.seen.curvature[t] + self.rho.map_or(0.0, |rho| rho[t]);
            let step = self.pull(t) / stiffness;
            self.seen.intercept[t] + if step.is_finite() { step } else { 0.0 }
        };
        (0..self.sizes.len()).map(step).collect()
    }

    /// Intercepts after a change of W and this share of a Newton step of themselves.
    pub(super) fn guess(&self, change: &Matrix, share: f64) -> Vec<f64> {
        if self.rho.is_none() {
            return self.seen.intercept.clone();
        }
        let mut along = vec![0.0; self.sizes.len()];
        for j in 0..change.rows() {
            let terms = self.seen.moment.row(j).iter().zip(change.row(j));
            along.iter_mut().zip(terms).for_each(|(along, (m, change))| *along += m * change);
        }
        let guess = |(t, step): (usize, f64)| {
            let by_weights = along[t] / self.stiffness(t);
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
    /// The last pull.
    pull: f64,
}

impl Bracket {
    /// The next trial after b, where the pull is this, and the Newton step leads to `newton`.
    fn next(&mut self, b: f64, pull: f64, newton: f64) -> f64 {
        *(if pull > 0.0 { &mut self.low } else { &mut self.high }) = b;
        let inside = newton > self.low && newton < self.high && newton != b;
        // Newton's steps between two kinks may creep.
        let is_slow = pull.abs() > 0.5 * self.pull.abs();
        self.pull = pull;
        if self.low.is_finite() && self.high.is_finite() {
            return if inside && !is_slow { newton } else { 0.5 * (self.low + self.high) };
        }
        // Without another side, a flat loss may send Newton's step anywhere.
        let reach = self.step;
        self.step *= 4.0;
        match inside && !is_slow {
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
        // Predictions have about the size one, in their own units.
        let first = |b: &f64| (1.0 + b.abs()).min(STEP_REACH * if self.mu > 0.0 { self.mu } else { 1.0 });
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        let bracket = |b: &f64| Bracket { low, high, step: first(b), pull: f64::INFINITY };
        let mut brackets: Vec<Bracket> = seen.intercept.iter().map(bracket).collect();
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
