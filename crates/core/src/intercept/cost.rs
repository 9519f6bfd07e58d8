//! What the intercept of each task costs: `rho b^2 / 2` in the objective, with rho = 0 where it is free.
//!
//! A free intercept must have a best value. It has none if the losses of its task fall for ever in one direction, as
//! the logistic loss does where all labels are of one class: any intercept is worse than a larger one, and
//! probabilities would become 0 or 1. There the intercept costs `C b^2 / 2`. In units of C, b then minimises the losses
//! of n rows plus `b^2 / 2`: without features, 3 rows of one class give the probability 0.71, 30 rows 0.92, and C does
//! not matter.

use super::Intercept;
use crate::loss::Loss;
use crate::problem::{Losses, build_losses};
use crate::{Observations, Result};

/// The rho of such a task, in units of C.
pub(crate) const COST_WITHOUT_OPTIMUM: f64 = 1.0;

/// The factors rho of all tasks, if they have intercepts.
pub(crate) fn costs<'a>(
    intercept: Intercept,
    c: f64,
    obs: &Observations,
    loss_of: impl Fn(usize) -> &'a dyn Loss,
) -> Option<Vec<f64>> {
    match intercept {
        Intercept::None => None,
        Intercept::Ridge(_) | Intercept::Shrunk(_) => {
            intercept.fixed_cost(c).map(|cost| vec![cost; obs.n_tasks()])
        }
        Intercept::Free => {
            let cost = |unbounded: bool| if unbounded { COST_WITHOUT_OPTIMUM * c } else { 0.0 };
            Some(without_optimum(obs, loss_of).into_iter().map(cost).collect())
        }
    }
}

/// Whether the losses of a task fall for ever in one direction, for all tasks.
///
/// A loss has a best prediction unless the slope of its conjugate at zero is infinite. That slope is the direction in
/// which the loss falls. Observations of weight zero do not count.
pub(crate) fn without_optimum<'a>(obs: &Observations, loss_of: impl Fn(usize) -> &'a dyn Loss) -> Vec<bool> {
    // The direction so far: zero before the first observation, NaN once there is a best value.
    let mut direction = vec![0.0; obs.n_tasks()];
    let mut open = obs.n_tasks();
    for o in (0..obs.len()).filter(|&o| obs.weight(o) > 0.0) {
        let task = obs.task(o);
        if f64::is_nan(direction[task]) {
            continue;
        }
        let (slope, _) = loss_of(task).conj_slope(obs.label(o), 0.0);
        let own = if slope.is_infinite() { slope.signum() } else { f64::NAN };
        if direction[task] == 0.0 || own.is_nan() {
            direction[task] = own;
        } else if own != direction[task] {
            direction[task] = f64::NAN;
        }
        open -= usize::from(direction[task].is_nan());
        if open == 0 {
            break;
        }
    }
    direction.iter().map(|direction| direction.abs() == 1.0).collect()
}

/// How many labels of each task are such that their loss falls for ever upwards, downwards, or neither. Observations of
/// weight zero do not count.
pub(crate) fn label_directions<'a>(
    obs: &Observations,
    loss_of: impl Fn(usize) -> &'a dyn Loss,
) -> [Vec<f64>; 3] {
    let mut counts = [0, 1, 2].map(|_| vec![0.0; obs.n_tasks()]);
    for o in (0..obs.len()).filter(|&o| obs.weight(o) > 0.0) {
        let task = obs.task(o);
        let (slope, _) = loss_of(task).conj_slope(obs.label(o), 0.0);
        let which = if slope == f64::INFINITY {
            0
        } else if slope == f64::NEG_INFINITY {
            1
        } else {
            2
        };
        counts[which][task] += 1.0;
    }
    counts
}

/// The factors rho of all tasks from the directions of all their labels.
pub(crate) fn costs_of_directions(
    intercept: Intercept,
    c: f64,
    directions: &[Vec<f64>; 3],
) -> Option<Vec<f64>> {
    let [up, down, neither] = directions;
    match intercept {
        Intercept::None => None,
        Intercept::Ridge(_) | Intercept::Shrunk(_) => {
            intercept.fixed_cost(c).map(|cost| vec![cost; up.len()])
        }
        Intercept::Free => {
            let cost = |t: usize| {
                let unbounded = neither[t] == 0.0 && (up[t] > 0.0) != (down[t] > 0.0);
                if unbounded { COST_WITHOUT_OPTIMUM * c } else { 0.0 }
            };
            Some((0..up.len()).map(cost).collect())
        }
    }
}

impl Losses {
    /// The tasks whose labels give a free intercept no best value: with logistic loss, those of one class. Their
    /// intercepts are penalised, see [`Intercept::Free`].
    ///
    /// # Errors
    /// If there is not one loss for each task, or a parameter is out of range.
    ///
    /// ```
    /// use kinfolk::{LossKind, Losses, Observations};
    /// let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, -1.0, 1.0, 1.0])?;
    /// assert_eq!(Losses::from(LossKind::Logistic).tasks_without_optimum(&observations)?, [1]);
    /// assert!(Losses::from(LossKind::Hinge).tasks_without_optimum(&observations)?.is_empty());
    /// # Ok::<(), kinfolk::Error>(())
    /// ```
    pub fn tasks_without_optimum(&self, observations: &Observations) -> Result<Vec<usize>> {
        let (losses, loss_of_task) = build_losses(self, observations.n_tasks())?;
        let unbounded = without_optimum(observations, |task| &*losses[loss_of_task[task]]);
        Ok((0..unbounded.len()).filter(|&task| unbounded[task]).collect())
    }
}
