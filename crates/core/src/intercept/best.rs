//! The best intercept of a task for given predictions.
//!
//! It minimises `sum_i w_i L(y_i, z_i + b) + rho b^2 / 2`. The *pull* `sum_i kappa_i(b) - rho b`, with the duals
//! `kappa_i(b) = -w_i L'(y_i, z_i + b)`, never rises with b and is zero at the best b. Newton steps find it for smooth
//! losses, inside a bracket where they do not converge at once. With a quadratic conjugate, the pull is a straight line
//! between the b at which a dual begins or ends to move (*kinks*): each trial is the middle kink of those still inside
//! the bracket, so that all trials together cost as much as a few looks at all observations, however close the kinks
//! are. For other losses the bracket is halved.

use crate::loss::{DerivativeBlock, Loss};
use std::borrow::Cow;

/// A pull of at most this share of the duals, times the root of their number, is rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
const MAX_NEWTON_STEPS: usize = 20;
/// What duals of classes are at least taken for, in units of their weights.
const LEAST_DUALS: f64 = 1e-6;
/// Newton steps without a bracket go on while each leaves at most this share of the pull.
const CONVERGING: f64 = 0.25;
/// Halvings until any bracket has closed.
const MAX_HALVINGS: usize = 2200;
/// How often the first step is doubled in search of the other side: beyond there is none.
const MAX_DOUBLINGS: usize = 60;

/// The observations of one task.
#[derive(Clone)]
pub(crate) struct TaskPredictions<'a> {
    pub(crate) loss: &'a dyn Loss,
    pub(crate) y: Cow<'a, [f64]>,
    /// Predictions with offsets, without intercept.
    pub(crate) z: Cow<'a, [f64]>,
    pub(crate) w: Cow<'a, [f64]>,
    /// Centres and weight of a proximal term as in [`DerivativeBlock`]; none and zero for the losses themselves.
    pub(crate) centre: Cow<'a, [f64]>,
    pub(crate) mu: f64,
}

impl<'a> TaskPredictions<'a> {
    /// No observations yet.
    pub(crate) fn empty(loss: &'a dyn Loss) -> Self {
        TaskPredictions {
            loss,
            y: Cow::default(),
            z: Cow::default(),
            w: Cow::default(),
            centre: Cow::default(),
            mu: 0.0,
        }
    }

    pub(crate) fn push(&mut self, y: f64, z: f64, w: f64) {
        self.y.to_mut().push(y);
        self.z.to_mut().push(z);
        self.w.to_mut().push(w);
    }
}

/// The best intercept. Where all numbers of an interval are equally good it is their middle, or the end of an
/// interval without another end. Where losses fall for ever and rho is zero, nothing is best: then it is a number where
/// they are zero in double precision. Problems have a positive rho there (`cost.rs`).
pub(crate) fn best_intercept(losses: TaskPredictions<'_>, rho: f64) -> f64 {
    nearly_best_intercept(losses, rho, 0.0, 0.0)
}

/// The same from a first guess, until the pull is at most this share of the duals.
pub(crate) fn nearly_best_intercept(losses: TaskPredictions<'_>, rho: f64, guess: f64, share: f64) -> f64 {
    if losses.y.is_empty() || losses.z.iter().any(|z| !z.is_finite()) {
        return 0.0;
    }
    // Slopes of losses of classes are at most about one; far from a kink they may all vanish.
    let classes = share > 0.0 && losses.loss.is_classification();
    let floor = if classes { LEAST_DUALS * losses.w.iter().sum::<f64>() } else { 0.0 };
    let rounding = ROUNDING * (losses.y.len() as f64).sqrt();
    let pulls = Pulls { losses, rho, fixed: 0.0, fixed_size: 0.0 };
    let start = pulls.at(if guess.is_finite() { guess } else { 0.0 });
    let negligible = if share > 0.0 { share * floor } else { rounding * start.size };
    let search = InterceptSearch { pulls, share: share.max(rounding), negligible };
    let one_class = search.pulls.has_one_class();
    if one_class && start.pull == 0.0 {
        return start.b;
    }
    let best = search.run(start);
    if one_class { search.pulls.where_nothing_is_left(best) } else { best }
}

/// A number, the pull there and its slope, and the duals of the observations that are still looked at.
#[derive(Clone)]
struct Trial {
    b: f64,
    pull: f64,
    /// Sum of the sizes of what the pull is made of.
    size: f64,
    curvature: f64,
    kappa: Vec<f64>,
}

#[derive(Clone)]
struct Pulls<'a> {
    losses: TaskPredictions<'a>,
    rho: f64,
    /// Sum of the duals that are no longer looked at, and of their sizes.
    fixed: f64,
    fixed_size: f64,
}

impl Pulls<'_> {
    fn at(&self, b: f64) -> Trial {
        let TaskPredictions { loss, y, z, w, centre, mu } = &self.losses;
        let z: Vec<f64> = z.iter().map(|z| z + b).collect();
        let (mut kappa, mut curvature) = (vec![0.0; y.len()], vec![0.0; y.len()]);
        loss.derivatives(&mut DerivativeBlock {
            y,
            z: &z,
            w,
            centre,
            mu: *mu,
            kappa: &mut kappa,
            curvature: &mut curvature,
            with_value: false,
            value: 0.0,
        });
        let pull = self.fixed + kappa.iter().sum::<f64>() - self.rho * b;
        let size = self.fixed_size + kappa.iter().map(|k| k.abs()).sum::<f64>() + (self.rho * b).abs();
        Trial { b, pull, size, curvature: curvature.iter().sum::<f64>() + self.rho, kappa }
    }

    /// Whether all labels are of one class and nothing holds the intercept back.
    fn has_one_class(&self) -> bool {
        let TaskPredictions { loss, y, mu, .. } = &self.losses;
        loss.is_classification() && self.rho == 0.0 && *mu == 0.0 && y.iter().all(|label| *label == y[0])
    }

    /// With one class: goes on in the direction of the class until all slopes are exactly zero.
    fn where_nothing_is_left(&self, from: f64) -> f64 {
        let direction = if self.losses.y.first().is_some_and(|y| *y < 0.0) { -1.0 } else { 1.0 };
        let mut reach = 1.0;
        let mut b = from;
        for _ in 0..MAX_DOUBLINGS {
            if self.at(b).pull == 0.0 {
                break;
            }
            b = from + direction * reach;
            reach *= 2.0;
        }
        b
    }

    /// Drops observations whose duals are the same at both ends of a bracket.
    fn drop_fixed(&mut self, low: &mut Trial, high: &mut Trial) {
        let moves: Vec<bool> = low.kappa.iter().zip(&high.kappa).map(|(a, b)| a != b).collect();
        if moves.iter().all(|moves| *moves) {
            return;
        }
        for (kappa, _) in low.kappa.iter().zip(&moves).filter(|(_, moves)| !**moves) {
            self.fixed += kappa;
            self.fixed_size += kappa.abs();
        }
        let TaskPredictions { y, z, w, centre, .. } = &mut self.losses;
        let mut lists = vec![y.to_mut(), z.to_mut(), w.to_mut(), &mut low.kappa, &mut high.kappa];
        if !centre.is_empty() {
            lists.push(centre.to_mut());
        }
        for list in lists {
            let mut moves = moves.iter();
            list.retain(|_| *moves.next().unwrap_or(&true));
        }
    }

    /// The kinks between two numbers, in any order; `None` if the pull has no straight lines.
    fn kinks(&self, low: f64, high: f64) -> Option<Vec<f64>> {
        let TaskPredictions { loss, y, z, centre, mu, .. } = &self.losses;
        let mut kinks = vec![];
        for (i, (&y, z)) in y.iter().zip(z.iter()).enumerate() {
            let shape = loss.quadratic_conjugate(y)?;
            // Where the dual is zero, or at its bounds: see `QuadraticConjugate::derivatives`.
            let at = shape.y + mu * centre.get(i).copied().unwrap_or(0.0) - z;
            let stiffness = shape.quad + mu;
            let mut last = f64::NAN;
            for kink in [
                at - shape.eps + stiffness * shape.low,
                at - shape.eps,
                at + shape.eps,
                at + shape.eps + stiffness * shape.high,
            ] {
                if kink != last && kink > low && kink < high {
                    kinks.push(kink);
                }
                last = kink;
            }
        }
        Some(kinks)
    }
}

/// The middle one of some numbers.
pub(crate) fn middle(of: &mut [f64]) -> Option<f64> {
    let half = of.len() / 2;
    (!of.is_empty()).then(|| *of.select_nth_unstable_by(half, f64::total_cmp).1)
}

struct InterceptSearch<'a> {
    pulls: Pulls<'a>,
    /// A pull vanishes if it is at most this share of its terms, or this small.
    share: f64,
    negligible: f64,
}

impl InterceptSearch<'_> {
    fn vanishes(&self, trial: &Trial) -> bool {
        trial.pull.abs() <= (self.share * trial.size).max(self.negligible)
    }

    fn run(&self, start: Trial) -> f64 {
        if self.vanishes(&start) {
            return self.level(start);
        }
        let smooth = self.pulls.losses.loss.is_smooth() || self.pulls.losses.mu > 0.0;
        let mut start = start;
        while smooth && start.curvature > 0.0 {
            let next = self.pulls.at(start.b + start.pull / start.curvature);
            if self.vanishes(&next) {
                return self.level(next);
            }
            if next.pull.is_nan() || next.pull.abs() > CONVERGING * start.pull.abs() {
                break;
            }
            start = next;
        }
        let Some((mut low, mut high)) = self.bracket(start) else { return 0.0 };
        for end in [&low, &high] {
            if self.vanishes(end) {
                return self.level(end.clone());
            }
        }
        if smooth {
            let mut now = if low.pull.abs() < high.pull.abs() { low.clone() } else { high.clone() };
            for _ in 0..MAX_NEWTON_STEPS {
                let newton = now.b + now.pull / now.curvature;
                let inside = newton > low.b && newton < high.b;
                let next = if inside { newton } else { 0.5 * (low.b + high.b) };
                if next == now.b {
                    return now.b;
                }
                now = self.pulls.at(next);
                if self.vanishes(&now) {
                    return self.level(now);
                }
                let end = if now.pull > 0.0 { &mut low } else { &mut high };
                end.clone_from(&now);
            }
        }
        self.narrow(low, high)
    }

    /// Points on both sides of the best intercept, or one that is as good; `None` if numbers overflow.
    fn bracket(&self, start: Trial) -> Option<(Trial, Trial)> {
        let up = start.pull > 0.0;
        let far = self.pulls.losses.y.iter().zip(self.pulls.losses.z.iter()).map(|(y, z)| (y - z).abs());
        let step = (start.pull / start.curvature).abs();
        // Far from all kinks curvatures vanish, and Newton steps are far too long.
        let far = 4.0 * (far.fold(0.0, f64::max) + start.b.abs());
        let mut reach = (1.01 * step).min(far.max(1.0));
        let mut near = start;
        for _ in 0..MAX_DOUBLINGS {
            let next = self.pulls.at(if up { near.b + reach } else { near.b - reach });
            if next.pull.is_nan() {
                return None;
            }
            let beyond = if up { next.pull <= 0.0 } else { next.pull >= 0.0 };
            if beyond || self.vanishes(&next) {
                return Some(if up { (near, next) } else { (next, near) });
            }
            near = next;
            reach *= 2.0;
        }
        None
    }

    /// The best intercept inside a bracket whose ends pull in opposite directions.
    fn narrow(&self, mut low: Trial, mut high: Trial) -> f64 {
        let (mut pulls, mut kinks) = (self.pulls.clone(), self.pulls.kinks(low.b, high.b));
        for _ in 0..MAX_HALVINGS {
            let kink = kinks.as_mut().and_then(|kinks| middle(kinks));
            let next = kink.unwrap_or(0.5 * (low.b + high.b));
            if !(next > low.b && next < high.b) {
                break;
            }
            pulls.drop_fixed(&mut low, &mut high);
            let trial = pulls.at(next);
            if self.vanishes(&trial) {
                return self.level(self.pulls.at(next));
            }
            if kink.is_none() && kinks.is_some() {
                // A straight line between two neighbouring kinks, at which it may jump.
                return (next + trial.pull / trial.curvature).max(low.b).min(high.b);
            }
            let end = if trial.pull > 0.0 { &mut low } else { &mut high };
            *end = trial;
            if let Some(kinks) = &mut kinks {
                kinks.retain(|kink| *kink > low.b && *kink < high.b);
            }
        }
        0.5 * (low.b + high.b)
    }

    /// The middle of the interval around `inside` where nothing pulls.
    fn level(&self, inside: Trial) -> f64 {
        if inside.curvature > 0.0 {
            return inside.b;
        }
        match [-1.0, 1.0].map(|sign| self.level_end(inside.clone(), sign)) {
            [Some(low), Some(high)] => 0.5 * (low + high),
            [Some(end), None] | [None, Some(end)] => end,
            [None, None] => inside.b,
        }
    }

    /// The end of that interval on one side, if it has one.
    fn level_end(&self, inside: Trial, sign: f64) -> Option<f64> {
        let losses = &self.pulls.losses;
        let far = losses.y.iter().zip(losses.z.iter()).map(|(y, z)| (y - z - inside.b).abs());
        // Beyond this no loss has a kink.
        let outside = self.pulls.at(inside.b + sign * 4.0 * (far.fold(0.0, f64::max) + 1.0));
        if self.vanishes(&outside) {
            return None;
        }
        let mut pulls = self.pulls.clone();
        let (mut inside, mut outside) = (inside, outside);
        let mut kinks = pulls.kinks(inside.b.min(outside.b), inside.b.max(outside.b));
        for _ in 0..MAX_HALVINGS {
            let kink = kinks.as_mut().and_then(|kinks| middle(kinks));
            let next = kink.unwrap_or(0.5 * (inside.b + outside.b));
            if next == inside.b || next == outside.b {
                break;
            }
            pulls.drop_fixed(&mut inside, &mut outside);
            let trial = pulls.at(next);
            let level = self.vanishes(&trial);
            if kink.is_none() && kinks.is_some() {
                // No kink in between: level up to the next one, or not at all.
                return Some(if level { outside.b } else { inside.b });
            }
            *(if level { &mut inside } else { &mut outside }) = trial;
            if let Some(kinks) = &mut kinks {
                let (low, high) = (inside.b.min(outside.b), inside.b.max(outside.b));
                kinks.retain(|kink| *kink > low && *kink < high);
            }
        }
        Some(inside.b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::LossKind;

    fn best(loss: &LossKind, y: &[f64], z: &[f64], w: &[f64], rho: f64) -> f64 {
        let loss = loss.build().unwrap();
        let (y, z, w) = (y.into(), z.into(), w.into());
        best_intercept(TaskPredictions { y, z, w, ..TaskPredictions::empty(&*loss) }, rho)
    }

    /// No step to either side makes the objective smaller.
    #[test]
    fn nothing_near_is_better() {
        for loss in LossKind::all_examples() {
            let y: Vec<f64> = match loss.is_classification() {
                true => (0..9).map(|i| if i % 3 == 0 { 1.0 } else { -1.0 }).collect(),
                false => (0..9).map(|i| 3.0 + (f64::from(i) * 1.7).sin()).collect(),
            };
            let z: Vec<f64> = (0..9).map(|i| (f64::from(i) * 2.3).cos()).collect();
            let w: Vec<f64> = (0..9).map(|i| f64::from(i % 4)).collect();
            for rho in [0.0, 0.5] {
                let b = best(&loss, &y, &z, &w, rho);
                let built = loss.build().unwrap();
                let value = |b: f64| {
                    let losses: f64 = (0..9).map(|i| w[i] * built.value(y[i], z[i] + b)).sum();
                    losses + 0.5 * rho * b * b
                };
                for step in [1e-6, 1e-3, 0.1, 10.0] {
                    let least = value(b + step).min(value(b - step));
                    assert!(
                        value(b) <= least + 1e-14 * value(b),
                        "{loss:?}, rho {rho}: b = {b}, step {step}"
                    );
                }
            }
        }
    }

    #[test]
    fn intervals_have_middles_and_one_class_an_end() {
        // Between the second and the third of four labels all numbers are equally good.
        let absolute = LossKind::Absolute;
        assert!((best(&absolute, &[1.0, 2.0, 4.0, 9.0], &[0.0; 4], &[1.0; 4], 0.0) - 3.0).abs() < 1e-12);
        let hinge = best(&LossKind::Hinge, &[1.0, 1.0], &[0.5, -0.5], &[1.0; 2], 0.0);
        assert!((hinge - 1.5).abs() < 1e-12, "{hinge}");
        let logistic = best(&LossKind::Logistic, &[-1.0, -1.0], &[0.5, -0.5], &[1.0; 2], 0.0);
        let slopes = [0.5, -0.5].map(|z| LossKind::Logistic.build().unwrap().slope(-1.0, z + logistic).0);
        assert!(slopes == [0.0; 2] && logistic.abs() < 2e3, "{logistic}: {slopes:?}");
        let mean = best(&LossKind::Squared, &[1e6, 1e6 + 3.0], &[0.0, 1.0], &[1.0, 3.0], 0.0);
        assert!((mean - (1e6 + 1.5)).abs() < 1e-9, "{mean}");
        assert_eq!(best(&LossKind::Squared, &[], &[], &[], 0.0), 0.0);
        let ridge = best(&LossKind::Squared, &[3.0, 5.0], &[0.0; 2], &[1.0; 2], 2.0);
        assert!((ridge - 2.0).abs() < 1e-14, "{ridge}");
    }
}
