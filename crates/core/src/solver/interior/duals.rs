//! The duals as sums of variables with bounds. The interior point method knows nothing else about a loss.
//!
//! With `a = kappa / gamma` an observation adds `gamma L*(-a)` to the objective, and on an interval `L*(-a) =
//! -y a + quad a^2 / 2 + eps |a|`. A kink at zero is split, `a = x + x'` with `x >= 0 >= x'`. Each part is a
//! *variable* with the smooth cost `cost x + quad x^2 / 2`, `cost = -y` or `-y +- eps`, between two bounds
//! that may be infinite. Its slope is `g = F + cost + quad x`, where F is the prediction. At the solution `g`
//! is the difference of the two bounds' multipliers, which are zero where x does not touch its bound. Sums
//! are weighted with gamma: an observation of weight two is the same as two observations.

use super::bounded_dual::BoundedDual;
use crate::Problem;
use crate::design::Design;
use crate::loss::QuadraticConjugate;
use rayon::prelude::*;

/// All variables, as many for each entry of the design.
#[derive(Debug)]
pub(super) struct BoundedDuals {
    all: Vec<BoundedDual>,
    per_entry: usize,
    /// Sum of the weights of all bounds.
    bounds: f64,
}

/// Sums over variables.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BarrierSums {
    /// Products of slacks and multipliers: the duality gap, once everything else fits.
    pub(super) products: f64,
    /// `gamma L*(-a)`.
    pub(super) conj: f64,
}

/// Rounds of the search for intercepts at the start.
const MAX_BALANCE_ROUNDS: usize = 60;

/// Entries at a time: sums are taken over these first, whatever the number of threads.
const CHUNK_ENTRIES: usize = 2048;

impl BoundedDuals {
    /// `None` if a loss has no quadratic conjugate.
    pub(super) fn new(problem: &Problem<'_>, design: &Design) -> Option<Self> {
        let gammas = design.per_entry(|o| problem.gamma(o));
        let shape = |entry: usize| -> Option<Option<QuadraticConjugate>> {
            if gammas[entry] == 0.0 {
                return Some(None);
            }
            problem.loss_at(design.observation(entry)).quadratic_conjugate().map(Some)
        };
        let shapes: Vec<_> = (0..design.len()).map(shape).collect::<Option<_>>()?;
        let per_entry = if shapes.iter().flatten().any(|shape| shape.eps > 0.0) { 2 } else { 1 };
        let mut all = Vec::with_capacity(shapes.len() * per_entry);
        for (shape, gamma) in shapes.iter().zip(gammas) {
            let end = all.len() + per_entry;
            match *shape {
                Some(QuadraticConjugate { y, quad, eps, low, high }) if eps > 0.0 => {
                    all.push(BoundedDual::new(gamma, eps - y, quad, 0.0, -low));
                    all.push(BoundedDual::new(gamma, -eps - y, quad, -high, 0.0));
                }
                Some(QuadraticConjugate { y, quad, low, high, .. }) => {
                    all.push(BoundedDual::new(gamma, -y, quad, -high, -low));
                }
                None => {}
            }
            all.resize(end, BoundedDual::default());
        }
        let finite = |bound: f64| f64::from(u8::from(bound.is_finite()));
        let bounds =
            all.iter().map(|variable| variable.weight * (finite(variable.low) + finite(variable.high))).sum();
        Some(BoundedDuals { all, per_entry, bounds })
    }

    /// Whether anything is bounded at all.
    pub(super) fn are_bounded(&self) -> bool {
        self.bounds > 0.0
    }

    /// Puts all variables where the predictions `f` and barriers push them. The weight of the barriers is
    /// `share` times what products of slacks and multipliers are thought to be.
    pub(super) fn place(&mut self, f: &[f64], share: f64) {
        let tau = (share * self.sum(f, |variable, f| variable.scale(f)) / self.bounds).max(1e-100);
        self.each(f, |variable, f| variable.place(f, tau));
    }

    /// [`place`](Self::place) at intercepts at which the duals of each task add up to rho times the intercept: those
    /// intercepts. `f` are predictions with the intercepts `b`.
    pub(super) fn balance(
        &mut self,
        design: &Design,
        (f, b): (&[f64], &[f64]),
        share: f64,
        rho: &[f64],
    ) -> Vec<f64> {
        let tau = (share * self.sum(f, |variable, f| variable.scale(f)) / self.bounds).max(1e-100);
        let mut shift = vec![0.0; b.len()];
        let (mut low, mut high) = (vec![f64::NEG_INFINITY; b.len()], vec![f64::INFINITY; b.len()]);
        let mut reach = vec![0.0; b.len()];
        for _ in 0..MAX_BALANCE_ROUNDS {
            let mut shifted = f.to_vec();
            design.add_to_tasks(&shift, &mut shifted);
            self.each(&shifted, |variable, f| variable.place(f, tau));
            let kappa = self.kappa();
            let sums = design.task_sums(&kappa);
            let sizes = design.task_sums(&kappa.iter().map(|k| k.abs()).collect::<Vec<f64>>());
            let gives = design.task_sums(&self.gives());
            let mut done = true;
            for task in 0..b.len() {
                let now = b[task] + shift[task];
                let rho = rho[task];
                let pull = sums[task] - rho * now;
                if pull.abs() <= 1e-14 * (sizes[task] + rho * now.abs()) {
                    continue;
                }
                *(if pull > 0.0 { &mut low[task] } else { &mut high[task] }) = shift[task];
                let newton = shift[task] + pull / (gives[task] + rho);
                let next = if newton > low[task] && newton < high[task] && newton.is_finite() {
                    newton
                } else if low[task].is_finite() && high[task].is_finite() {
                    0.5 * (low[task] + high[task])
                } else {
                    reach[task] = f64::max(2.0 * reach[task], 1.0);
                    shift[task] + f64::copysign(reach[task], pull)
                };
                done &= next == shift[task];
                shift[task] = next;
            }
            if done {
                break;
            }
        }
        b.iter().zip(&shift).map(|(b, shift)| b + shift).collect()
    }

    /// How much the duals of each entry fall per unit of its prediction.
    fn gives(&self) -> Vec<f64> {
        let give = |variable: &BoundedDual| {
            let BoundedDual { weight, quad, lower, upper, .. } = *variable;
            if weight > 0.0 {
                weight / (quad + lower.force / lower.slack + upper.force / upper.slack)
            } else {
                0.0
            }
        };
        self.all.chunks(self.per_entry).map(|variables| variables.iter().map(give).sum()).collect()
    }

    /// Sum of the losses at predictions `f`.
    pub(super) fn losses(&self, f: &[f64]) -> f64 {
        self.sum(f, |variable, f| variable.loss(f))
    }

    /// Sum of the conjugates of given duals.
    pub(super) fn conj_of(&self, kappa: &[f64]) -> f64 {
        self.sum(kappa, |variable, kappa| {
            variable.conj((kappa / variable.weight).max(variable.low).min(variable.high))
        })
    }

    /// The duals of all entries.
    pub(super) fn kappa(&self) -> Vec<f64> {
        let entry =
            |variables: &[BoundedDual]| variables.iter().map(|variable| variable.weight * variable.x).sum();
        self.all.par_chunks(self.per_entry).with_min_len(CHUNK_ENTRIES).map(entry).collect()
    }

    /// Slopes at predictions `f`; sums, and the curvature D of every entry.
    pub(super) fn linearise(&mut self, f: &[f64]) -> (BarrierSums, Vec<f64>) {
        let (mut d, per_entry) = (vec![0.0; f.len()], self.per_entry);
        let parts: Vec<BarrierSums> = self
            .all
            .par_chunks_mut(CHUNK_ENTRIES * per_entry)
            .zip(f.par_chunks(CHUNK_ENTRIES).zip(d.par_chunks_mut(CHUNK_ENTRIES)))
            .map(|(variables, (f, d))| {
                let mut sums = BarrierSums::default();
                for (variables, (f, d)) in variables.chunks_mut(per_entry).zip(f.iter().zip(d)) {
                    for variable in variables.iter_mut().filter(|variable| variable.weight > 0.0) {
                        sums.add(variable, *f);
                        *d += variable.weight * variable.give;
                    }
                }
                sums
            })
            .collect();
        let mut total = BarrierSums::default();
        for BarrierSums { products, conj } in parts {
            total.products += products;
            total.conj += conj;
        }
        (total, d)
    }

    /// Mean product of slack and multiplier, if this is their sum.
    pub(super) fn mean(&self, products: f64) -> f64 {
        if self.are_bounded() { products / self.bounds } else { 0.0 }
    }

    /// Aims at products `tau`, with a share of the second order of the last direction; what the duals would
    /// do if predictions did not change.
    pub(super) fn take_aim(&mut self, tau: f64, share: f64) -> Vec<f64> {
        self.pulls(|variable| variable.take_aim(tau, share))
    }

    /// Keeps the direction, and takes aim again so that steps of these lengths lead to products of about
    /// `tau`.
    pub(super) fn centre(&mut self, lengths: (f64, f64), tau: f64) -> Vec<f64> {
        self.pulls(|variable| variable.centre(lengths, [0.1 * tau, 10.0 * tau]))
    }

    fn pulls(&mut self, change: impl Fn(&mut BoundedDual) + Sync + Send) -> Vec<f64> {
        let entry = |variables: &mut [BoundedDual]| {
            let mut sum = 0.0;
            for variable in variables.iter_mut().filter(|variable| variable.weight > 0.0) {
                change(variable);
                sum += variable.weight * variable.give * variable.pull();
            }
            sum
        };
        self.all.par_chunks_mut(self.per_entry).with_min_len(CHUNK_ENTRIES).map(entry).collect()
    }

    /// Back to the direction kept.
    pub(super) fn revert(&mut self) {
        self.all.par_iter_mut().with_min_len(CHUNK_ENTRIES).for_each(BoundedDual::revert);
    }

    /// The direction, if predictions change by `df`; the longest steps of duals and of multipliers.
    pub(super) fn follow(&mut self, df: &[f64]) -> (f64, f64) {
        let per_entry = self.per_entry;
        // Inverse lengths: the largest counts.
        let part = |(variables, df): (&mut [BoundedDual], &[f64])| {
            let (mut primal, mut dual) = (0.0f64, 0.0f64);
            for (variables, df) in variables.chunks_mut(per_entry).zip(df) {
                for variable in variables.iter_mut().filter(|variable| variable.weight > 0.0) {
                    variable.follow(*df);
                    primal = primal
                        .max(-variable.dx / variable.lower.slack)
                        .max(variable.dx / variable.upper.slack);
                    for bound in [&variable.lower, &variable.upper] {
                        dual = dual.max(if bound.turn < 0.0 { -bound.turn / bound.force } else { 0.0 });
                    }
                }
            }
            (primal, dual)
        };
        let variables = self.all.par_chunks_mut(CHUNK_ENTRIES * per_entry);
        let parts: Vec<(f64, f64)> = variables.zip(df.par_chunks(CHUNK_ENTRIES)).map(part).collect();
        let most = parts.iter().fold((0.0f64, 0.0f64), |most, part| (most.0.max(part.0), most.1.max(part.1)));
        (1.0 / most.0, 1.0 / most.1)
    }

    /// Mean product of slack and multiplier after steps of these lengths.
    pub(super) fn mean_after(&self, lengths: (f64, f64)) -> f64 {
        let after = |variable: &BoundedDual| {
            variable.lower.product_after(variable.dx, lengths)
                + variable.upper.product_after(-variable.dx, lengths)
        };
        let part = |variables: &[BoundedDual]| -> f64 {
            variables
                .iter()
                .filter(|variable| variable.weight > 0.0)
                .map(|variable| variable.weight * after(variable))
                .sum()
        };
        let parts: Vec<f64> = self.all.par_chunks(CHUNK_ENTRIES).map(part).collect();
        self.mean(parts.iter().sum())
    }

    /// Steps along the direction.
    pub(super) fn advance(&mut self, lengths: (f64, f64)) {
        let active = |variable: &&mut BoundedDual| variable.weight > 0.0;
        self.all
            .par_iter_mut()
            .with_min_len(CHUNK_ENTRIES)
            .filter(active)
            .for_each(|variable| variable.advance(lengths));
    }

    /// Sum of weights times what `of` says of each variable and its entry's value.
    fn sum(&self, values: &[f64], of: impl Fn(&BoundedDual, f64) -> f64 + Sync + Send) -> f64 {
        let per_entry = self.per_entry;
        let part = |(variables, values): (&[BoundedDual], &[f64])| {
            let mut sum = 0.0;
            for (variables, value) in variables.chunks(per_entry).zip(values) {
                for variable in variables.iter().filter(|variable| variable.weight > 0.0) {
                    sum += variable.weight * of(variable, *value);
                }
            }
            sum
        };
        let variables = self.all.par_chunks(CHUNK_ENTRIES * per_entry);
        let parts: Vec<f64> = variables.zip(values.par_chunks(CHUNK_ENTRIES)).map(part).collect();
        parts.iter().sum()
    }

    /// Changes each variable by its entry's value.
    fn each(&mut self, values: &[f64], change: impl Fn(&mut BoundedDual, f64) + Sync + Send) {
        let variables = self.all.par_chunks_mut(self.per_entry).with_min_len(CHUNK_ENTRIES);
        variables.zip(values).for_each(|(variables, value)| {
            variables
                .iter_mut()
                .filter(|variable| variable.weight > 0.0)
                .for_each(|variable| change(variable, *value));
        });
    }
}

impl BarrierSums {
    /// Sets slope and stiffness of a variable at the prediction f, and adds it.
    fn add(&mut self, variable: &mut BoundedDual, f: f64) {
        let BoundedDual { weight, cost, quad, x, lower, upper, .. } = *variable;
        variable.slope = f + cost + quad * x;
        variable.give = 1.0 / (quad + lower.force / lower.slack + upper.force / upper.slack);
        self.products += weight * (lower.product() + upper.product());
        self.conj += weight * variable.conj(x);
    }
}
