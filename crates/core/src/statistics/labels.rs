//! What statistics tell about labels besides their moments.

use super::{Layout, Statistics};
use crate::intercept::cost::{costs_of_directions, label_directions};
use crate::problem::build_losses;
use crate::{Inputs, Observations, ProblemSpec, Result, Scaling, TargetScaling};

impl Statistics {
    /// The factors of `b^2 / 2` in the objective of a problem of these rows, for each task, if tasks have intercepts.
    pub(crate) fn intercept_costs(&self, spec: &ProblemSpec) -> Result<Option<Vec<f64>>> {
        // Labels of two classes, if they differ; for losses of numbers any two will do.
        let labels = |t: usize| match self.label(t) {
            None => vec![],
            Some(own) if own.squares > 0.0 => vec![-1.0, 1.0],
            Some(own) => vec![(own.mean + own.mean_rest) * own.unit],
        };
        let each = || (0..self.tasks.len()).flat_map(|t| labels(t).into_iter().map(move |y| (t as u32, y)));
        let (task, label): (Vec<u32>, Vec<f64>) = each().unzip();
        let rows: Vec<u32> = (0..task.len() as u32).collect();
        let (losses, loss_of_task) = build_losses(&spec.loss, self.tasks.len())?;
        let obs = Observations::from_triples(rows.len(), self.tasks.len(), rows, task, label)?;
        let directions = label_directions(&obs, |t| &*losses[loss_of_task[t]]);
        Ok(costs_of_directions(spec.intercept, spec.c, &directions))
    }

    /// Tasks without labels of positive weight.
    pub(crate) fn empty_tasks(&self) -> Vec<u32> {
        let counts = self.task_counts();
        (0..counts.len() as u32).filter(|&t| counts[t as usize] == 0).collect()
    }

    /// The rows that were kept, as they were added, labels less offsets; `None` if none were kept.
    ///
    /// # Errors
    /// If they do not fit together: statistics from a file may say anything.
    pub fn kept_rows(&self) -> Result<Option<(Inputs<'static>, Observations)>> {
        self.scaled_sample(&Scaling::None, None)
    }

    /// The rows that were kept, scaled, with the weight of all rows: they stand for them where a fit begins. `None` if
    /// none were kept.
    ///
    /// # Errors
    /// If scaled values leave the range of double precision.
    pub fn stand_in(
        &self,
        scaling: &Scaling,
        targets: Option<&TargetScaling>,
    ) -> Result<Option<(Inputs<'static>, Observations)>> {
        let Some((inputs, observations)) = self.scaled_sample(scaling, targets)? else { return Ok(None) };
        let factor = self.label_weight() / self.sample.weight();
        let weights: Vec<f64> = (0..observations.len()).map(|o| factor * observations.weight(o)).collect();
        Ok(Some((inputs, observations.with_only_weights(Some(&weights))?)))
    }

    /// The sum of the weights of all labels.
    fn label_weight(&self) -> f64 {
        match &self.layout {
            Layout::Shared(own) => self.tasks.len() as f64 * own.as_ref().map_or(0.0, |own| own.weight),
            Layout::PerTask(tasks) => tasks.iter().flatten().map(|own| own.weight).sum(),
        }
    }
}
