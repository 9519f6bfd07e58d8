//! Duals that add up to what the intercepts demand, moved where this costs least.
//!
//! Some duals of a task have the sum s, and its intercept b demands `rho b` (zero where it is free). With predictions z
//! and a change t of the intercept, each dual becomes the minimum of
//! `gamma L*(-kappa / gamma) + kappa (z + b + t) + h (kappa - now)^2 / 2`, and t is the number at which the sum fits.
//! Here h is how much a prediction changes per unit of its own dual, as in a coordinate step. So duals next to a kink
//! move first, and those that are where their predictions want them stay. Duals move in one direction only: a pull that
//! is there already, before the intercept changes, moves nothing.

use super::balance::{balanced, task_sums};
use crate::Problem;
use crate::loss::{Loss, PredictionShift, QuadraticConjugate};
use rayon::prelude::*;

/// Where duals are moved: predictions without offsets and intercepts, and the intercepts.
pub(crate) struct SettlePoint<'a> {
    pub(crate) z: &'a [f64],
    pub(crate) b: &'a [f64],
    /// h of an observation.
    pub(crate) stiffness: &'a (dyn Fn(usize) -> f64 + Sync),
}

/// Sums are right to this share of the sizes of the duals.
const RIGHT_SUM: f64 = 1e-14;
const MAX_ROUNDS: usize = 60;
/// The least `h gamma`, in units of the typical distance of predictions from kinks: with none, sums would jump.
const LEAST_STIFFNESS: f64 = 1e-7;

/// The duals, moved so that those of each task add up to what its intercept demands.
pub(crate) fn settled(problem: &Problem<'_>, mut kappa: Vec<f64>, at: &SettlePoint<'_>) -> Vec<f64> {
    let Some(rho) = problem.intercept_costs() else { return kappa };
    let (obs, sums) = (problem.observations(), task_sums(problem, &kappa));
    let mut of_task = vec![vec![]; obs.n_tasks()];
    let wrong = |task: usize| (sums[task].0 - rho[task] * at.b[task]).abs() > RIGHT_SUM * sums[task].1;
    (0..obs.len()).for_each(|o| {
        if wrong(obs.task(o)) && problem.gamma(o) > 0.0 {
            of_task[obs.task(o)].push(o);
        }
    });
    let moved: Vec<Vec<f64>> = problem.data().pool().install(|| {
        let settle = |(task, own): (usize, &Vec<usize>)| {
            let excess = sums[task].0 - rho[task] * at.b[task];
            TaskDuals::new(problem, own, &kappa, at, excess).settle(excess, rho[task], sums[task].1)
        };
        of_task.par_iter().enumerate().map(settle).collect()
    });
    for (own, moved) in of_task.iter().zip(&moved) {
        own.iter().zip(moved).for_each(|(&o, moved)| kappa[o] = *moved);
    }
    balanced(problem, kappa)
}

/// The duals of a task, mirrored where they must rise so that all of them must fall.
struct TaskDuals<'a> {
    duals: Vec<MovableDual<'a>>,
    sign: f64,
}

struct MovableDual<'a> {
    kappa: f64,
    gamma: f64,
    /// The prediction with the intercept, less what pulls already.
    z: f64,
    /// Beyond this change of the intercept the dual moves.
    reluctance: f64,
    mu: f64,
    way: DualMove<'a>,
}

enum DualMove<'a> {
    Quadratic(QuadraticConjugate),
    /// Any other loss: from the prediction at which the dual is right.
    Shift {
        loss: &'a dyn Loss,
        y: f64,
    },
}

impl MovableDual<'_> {
    /// The dual and how fast it falls, at a change beyond the reluctance.
    fn at(&self, shift: &PredictionShift) -> (f64, f64) {
        let (dual, curvature) = match &self.way {
            DualMove::Quadratic(shape) => {
                let answer = shape.derivatives(self.z + shift.by, self.mu, self.kappa / self.gamma);
                (answer.dual, answer.curvature)
            }
            DualMove::Shift { loss, y } => {
                let (slope, curvature) = loss.shifted(*y, -self.kappa / self.gamma, shift);
                (-slope, curvature)
            }
        };
        (self.gamma * dual, self.gamma * curvature)
    }
}

impl<'a> TaskDuals<'a> {
    fn new(
        problem: &'a Problem<'_>,
        own: &[usize],
        kappa: &[f64],
        at: &SettlePoint<'_>,
        excess: f64,
    ) -> Self {
        let sign = excess.signum();
        let dual = |&o: &usize| {
            let (loss, gamma, z) =
                (problem.loss_at(o), problem.gamma(o), at.z[o] + at.b[problem.observations().task(o)]);
            let (z, reluctance, way) = match loss.quadratic_conjugate() {
                Some(shape) => {
                    // The predictions at which this dual is right: an interval at kinks.
                    let (left, right) = loss.conj_slope(-kappa[o] / gamma);
                    let z = if sign > 0.0 { z.min(right) } else { z.max(left) };
                    let reluctance = if sign > 0.0 { right - z } else { z - left };
                    (z, reluctance, DualMove::Quadratic(shape))
                }
                None => (z, f64::NEG_INFINITY, DualMove::Shift { loss: loss.loss, y: loss.y }),
            };
            let mu = gamma * (at.stiffness)(o);
            MovableDual { kappa: kappa[o], gamma, z, reluctance, mu, way }
        };
        let mut duals: Vec<MovableDual<'_>> = own.iter().map(dual).collect();
        let far = duals.iter().filter(|dual| dual.reluctance.is_finite()).map(|dual| dual.reluctance);
        let typical = far.sum::<f64>() / duals.len().max(1) as f64;
        let floor = LEAST_STIFFNESS * if typical > 0.0 && typical.is_finite() { typical } else { 1.0 };
        duals.iter_mut().for_each(|dual| dual.mu = dual.mu.max(floor));
        TaskDuals { duals, sign }
    }

    /// A change of the intercept by `t` in the direction in which duals must move.
    fn shift(&self, t: f64) -> PredictionShift {
        PredictionShift::new(self.sign * t)
    }

    /// A dual after this change.
    fn moved(&self, dual: &MovableDual<'_>, shift: &PredictionShift) -> (f64, f64) {
        if shift.by.abs() <= dual.reluctance || !dual.z.is_finite() {
            return (dual.kappa, 0.0);
        }
        let (kappa, slope) = dual.at(shift);
        let away = (kappa - dual.kappa) * self.sign > 0.0;
        if away { (dual.kappa, 0.0) } else { (kappa, slope) }
    }

    /// The duals after the change at which their sum fits.
    fn settle(&self, excess: f64, rho: f64, size: f64) -> Vec<f64> {
        // What is left of the excess at t, and how fast it falls.
        let left = |t: f64| {
            let (mut change, mut slope, shift) = (0.0, rho, self.shift(t));
            for dual in &self.duals {
                let (kappa, own) = self.moved(dual, &shift);
                change += kappa - dual.kappa;
                slope += own;
            }
            (excess.abs() + self.sign * change - rho * t, slope)
        };
        let (mut low, mut high, mut t) = (0.0, f64::INFINITY, 0.0);
        let (mut now, mut slope) = left(t);
        for _ in 0..MAX_ROUNDS {
            if now.abs() <= RIGHT_SUM * size || now.is_nan() {
                break;
            }
            *(if now > 0.0 { &mut low } else { &mut high }) = t;
            let newton = t + now / slope;
            let next = if high.is_finite() {
                if newton > low && newton < high { newton } else { 0.5 * (low + high) }
            } else if slope > rho {
                newton
            } else {
                // No dual moves yet: to where the next one does.
                let next = self.duals.iter().map(|dual| dual.reluctance + 0.5 * dual.mu).filter(|r| *r > t);
                next.fold(f64::INFINITY, f64::min).max(2.0 * t).min(newton)
            };
            if next == t || !next.is_finite() {
                break;
            }
            t = next;
            (now, slope) = left(t);
        }
        let shift = self.shift(t);
        self.duals.iter().map(|dual| self.moved(dual, &shift).0).collect()
    }
}
