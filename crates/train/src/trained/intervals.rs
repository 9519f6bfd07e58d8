//! How wide intervals of predictions are.

use super::Trained;
use crate::residuals::FEW_LABELS;
use crate::{NewTaskErrors, Residuals};
use kinfolk::TargetScaling;

/// Halves of the widths of intervals.
#[derive(Debug, Clone, PartialEq)]
pub struct HalfWidths {
    /// Of each task of the model; NaN where nothing is known.
    pub known: Vec<f64>,
    /// Of a task without training rows; NaN if nothing is known.
    pub new: f64,
}

/// A task whose labels spread by more, in units of the usual spread, has a unit of its own: chance makes the spread of
/// a few labels hardly larger.
const MOST_OF_USUAL_SPREAD: f64 = 1.5;

impl HalfWidths {
    /// Of a task of the model, or of one that it does not have.
    pub fn of(&self, task: Option<u32>) -> f64 {
        task.map_or(self.new, |t| self.known[t as usize])
    }
}

/// Why there are no intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoIntervals {
    /// The model has no errors of held-out rows.
    NoErrors,
    /// It has so many, too few for the level.
    FewRows(usize),
    /// It has errors for new tasks alone, of so many tasks, too few for the level.
    FewTasks(usize),
}

impl Trained {
    /// Halves of the widths of intervals that hold new labels with this probability, from the errors that the model
    /// keeps, or from these of known tasks.
    ///
    /// # Errors
    /// If there are no errors, or too few for this level.
    pub fn half_widths(&self, level: f64, given: Option<&Residuals>) -> Result<HalfWidths, NoIntervals> {
        let n_tasks = self.model.tasks().len();
        let errors = self.outcome.new_task_errors.as_ref();
        let new = errors.and_then(|errors| errors.half_width(level));
        let mut known = match (given.or(self.outcome.residuals.as_ref()), errors) {
            (Some(residuals), _) => {
                let spread = self.model.target_scaling().map(TargetScaling::spread);
                let known = residuals.half_widths(level, spread);
                self.capped(known.ok_or(NoIntervals::FewRows(residuals.rows))?, new)
            }
            (None, Some(NewTaskErrors { tasks, .. })) if new.is_none() => {
                return Err(NoIntervals::FewTasks(*tasks));
            }
            (None, Some(_)) => vec![f64::NAN; n_tasks],
            (None, None) => return Err(NoIntervals::NoErrors),
        };
        let new = new.unwrap_or(f64::NAN);
        let empty = (0..n_tasks).filter(|&t| self.model.is_empty_task(t));
        empty.for_each(|t| known[t] = new);
        Ok(HalfWidths { known, new })
    }

    /// A task with few labels knows at least what a task without any knows: it has at most the same width, unless its
    /// labels seem to be in a larger unit than those of the others.
    fn capped(&self, mut known: Vec<f64>, new: Option<f64>) -> Vec<f64> {
        if let (Some(labels), Some(most)) = (self.model.task_labels(), new) {
            let usual = self.usual_spread(&labels);
            let is_usual = |t: usize| match (self.model.target_scaling(), usual) {
                (Some(scaling), Some(usual)) => scaling.spread()[t] <= MOST_OF_USUAL_SPREAD * usual,
                _ => true,
            };
            let few = known
                .iter_mut()
                .zip(labels)
                .enumerate()
                .filter(|(t, (_, n))| *n < FEW_LABELS && is_usual(*t));
            few.for_each(|(_, (width, _))| *width = width.min(most));
        }
        known
    }

    /// The median of the spreads of tasks with enough labels; `None` if there are none.
    fn usual_spread(&self, labels: &[usize]) -> Option<f64> {
        let spreads = self.model.target_scaling()?.spread().iter().zip(labels);
        let mut known: Vec<f64> =
            spreads.filter(|(_, n)| **n >= FEW_LABELS).map(|(spread, _)| *spread).collect();
        known.sort_unstable_by(f64::total_cmp);
        known.get(known.len() / 2).copied()
    }
}
