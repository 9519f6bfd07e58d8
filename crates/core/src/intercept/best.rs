//! The best intercept of a task for given predictions.
//!
//! It minimises `sum_i w_i L(y_i, z_i + b) + rho b^2 / 2`. The *pull* `sum_i kappa_i(b) - rho b`, with the duals
//! `kappa_i(b) = -w_i L'(y_i, z_i + b)`, never rises with b and is zero at the best b. Newton steps inside a bracket
//! find it for smooth losses. For others the bracket is halved; an observation whose dual is the same at both ends
//! has that dual everywhere in between and is not looked at again, so that all halvings together cost about as much
//! as a few looks at all observations.

use crate::loss::{DerivativeBlock, Loss};

/// A pull of at most this share of the duals at b = 0 is rounding.
const ROUNDING: f64 = 16.0 * f64::EPSILON;
const MAX_NEWTON_STEPS: usize = 20;
/// Halvings until any bracket has closed.
const MAX_HALVINGS: usize = 2200;
/// How often the first step is doubled in search of the other side: beyond there is none.
const MAX_DOUBLINGS: usize = 60;

/// The observations of one task.
#[derive(Clone)]
pub(crate) struct TaskPredictions<'a> {
    pub(crate) loss: &'a dyn Loss,
    pub(crate) y: Vec<f64>,
    /// Predictions with offsets, without intercept.
    pub(crate) z: Vec<f64>,
    pub(crate) w: Vec<f64>,
}

/// The best intercept. Where all numbers of an interval are equally good it is their middle, or the end of an
/// interval without another end. Where losses fall for ever (logistic loss, one class only), nothing is best: then it
/// is a number where nearly nothing of them is left.
pub(crate) fn best_intercept(losses: TaskPredictions<'_>, rho: f64) -> f64 {
    if losses.y.is_empty() || losses.z.iter().any(|z| !z.is_finite()) {
        return 0.0;
    }
    let mut search = InterceptSearch { pulls: Pulls { losses, rho, fixed: 0.0 }, negligible: 0.0 };
    let start = search.pulls.at(0.0);
    search.negligible = ROUNDING * start.kappa.iter().map(|k| k.abs()).sum::<f64>();
    search.run(start)
}

/// A number, the pull there and its slope, and the duals of the observations that are still looked at.
#[derive(Clone)]
struct Trial {
    b: f64,
    pull: f64,
    curvature: f64,
    kappa: Vec<f64>,
}

#[derive(Clone)]
struct Pulls<'a> {
    losses: TaskPredictions<'a>,
    rho: f64,
    /// Sum of the duals that are no longer looked at.
    fixed: f64,
}

impl Pulls<'_> {
    fn at(&self, b: f64) -> Trial {
        let TaskPredictions { loss, y, z, w } = &self.losses;
        let z: Vec<f64> = z.iter().map(|z| z + b).collect();
        let (mut kappa, mut curvature) = (vec![0.0; y.len()], vec![0.0; y.len()]);
        loss.derivatives(&mut DerivativeBlock {
            y,
            z: &z,
            w,
            centre: &[],
            mu: 0.0,
            kappa: &mut kappa,
            curvature: &mut curvature,
            value: 0.0,
        });
        let pull = self.fixed + kappa.iter().sum::<f64>() - self.rho * b;
        Trial { b, pull, curvature: curvature.iter().sum::<f64>() + self.rho, kappa }
    }

    /// Drops observations whose duals are the same at both ends of a bracket.
    fn drop_fixed(&mut self, low: &mut Trial, high: &mut Trial) {
        let moves: Vec<bool> = low.kappa.iter().zip(&high.kappa).map(|(a, b)| a != b).collect();
        let same = low.kappa.iter().zip(&moves).filter(|(_, moves)| !**moves);
        self.fixed += same.map(|(kappa, _)| kappa).sum::<f64>();
        let TaskPredictions { y, z, w, .. } = &mut self.losses;
        for list in [y, z, w, &mut low.kappa, &mut high.kappa] {
            let mut moves = moves.iter();
            list.retain(|_| *moves.next().unwrap_or(&true));
        }
    }
}

struct InterceptSearch<'a> {
    pulls: Pulls<'a>,
    negligible: f64,
}

impl InterceptSearch<'_> {
    fn vanishes(&self, trial: &Trial) -> bool {
        trial.pull.abs() <= self.negligible
    }

    fn run(&self, start: Trial) -> f64 {
        if self.vanishes(&start) {
            return self.level(start);
        }
        let Some((mut low, mut high)) = self.bracket(start) else { return 0.0 };
        for end in [&low, &high] {
            if self.vanishes(end) {
                return self.level(end.clone());
            }
        }
        if self.pulls.losses.loss.is_smooth() {
            let mut now = low.clone();
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
        self.halve(low, high)
    }

    /// Points on both sides of the best intercept, or one that is as good; `None` if numbers overflow.
    fn bracket(&self, start: Trial) -> Option<(Trial, Trial)> {
        let up = start.pull > 0.0;
        let far = self.pulls.losses.y.iter().zip(&self.pulls.losses.z).map(|(y, z)| (y - z).abs());
        let step = (start.pull / start.curvature).abs();
        let mut reach =
            if step.is_finite() { 1.01 * step } else { far.fold(0.0, f64::max).max(f64::MIN_POSITIVE) };
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

    /// The end of halving a bracket whose ends pull in opposite directions.
    fn halve(&self, mut low: Trial, mut high: Trial) -> f64 {
        let mut pulls = self.pulls.clone();
        for _ in 0..MAX_HALVINGS {
            let middle = 0.5 * (low.b + high.b);
            if !(middle > low.b && middle < high.b) {
                break;
            }
            pulls.drop_fixed(&mut low, &mut high);
            let trial = pulls.at(middle);
            if self.vanishes(&trial) {
                return self.level(self.pulls.at(middle));
            }
            let end = if trial.pull > 0.0 { &mut low } else { &mut high };
            *end = trial;
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
        let far = self.pulls.losses.y.iter().zip(&self.pulls.losses.z).map(|(y, z)| (y - z - inside.b).abs());
        // Beyond this no loss has a kink.
        let outside = self.pulls.at(inside.b + sign * 4.0 * (far.fold(0.0, f64::max) + 1.0));
        if self.vanishes(&outside) {
            return None;
        }
        let mut pulls = self.pulls.clone();
        let (mut inside, mut outside) = (inside, outside);
        for _ in 0..MAX_HALVINGS {
            let middle = 0.5 * (inside.b + outside.b);
            if middle == inside.b || middle == outside.b {
                break;
            }
            pulls.drop_fixed(&mut inside, &mut outside);
            let trial = pulls.at(middle);
            let end = if self.vanishes(&trial) { &mut inside } else { &mut outside };
            *end = trial;
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
        best_intercept(TaskPredictions { loss: &*loss, y: y.to_vec(), z: z.to_vec(), w: w.to_vec() }, rho)
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
        assert!(logistic < -30.0 && logistic.is_finite(), "{logistic}");
        let mean = best(&LossKind::Squared, &[1e6, 1e6 + 3.0], &[0.0, 1.0], &[1.0, 3.0], 0.0);
        assert!((mean - (1e6 + 1.5)).abs() < 1e-9, "{mean}");
        assert_eq!(best(&LossKind::Squared, &[], &[], &[], 0.0), 0.0);
        let ridge = best(&LossKind::Squared, &[3.0, 5.0], &[0.0; 2], &[1.0; 2], 2.0);
        assert!((ridge - 2.0).abs() < 1e-14, "{ridge}");
    }
}
