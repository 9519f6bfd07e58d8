//! Scalings of features and labels, from moments: the same as from the rows, up to rounding.

use super::moments::ColumnMoments;
use super::{Layout, Statistics};
use crate::scaling::FeatureSpread;
use crate::target_scaling::{TaskLabels, TaskMoments};
use crate::{Error, Losses, Result, Scaling, ScalingKind, TargetScale, TargetScaling};

impl Statistics {
    /// The scaling of features of this kind, as [`Scaling::fit`] finds it on the rows.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for `unit`, which moments of raw rows do not know, for `standard` if all rows were
    /// sparse, and for a feature whose deviation is below the range of double precision.
    pub fn scaling(&self, kind: ScalingKind) -> Result<Scaling> {
        let kind = if kind == ScalingKind::Auto { ScalingKind::Mixed } else { kind };
        let spread = |(j, column): (usize, ColumnMoments)| FeatureSpread {
            centre: column.mean,
            deviation: column.deviation(),
            distance: self.ranges.distance(j, column.unit),
            unit: column.unit,
        };
        let features = || -> Vec<FeatureSpread> {
            (0..self.n_features).filter_map(|j| Some((j, self.feature(j)?))).map(spread).collect()
        };
        let (centred, n) = (!self.counts.sparse && kind != ScalingKind::Spread, self.counts.inputs as f64);
        match kind {
            ScalingKind::None => Ok(Scaling::None),
            ScalingKind::Standard if self.counts.sparse => Err(Error::Incompatible(
                "standard scaling would fill sparse inputs; choose spread scaling".into(),
            )),
            ScalingKind::Mixed | ScalingKind::Standard | ScalingKind::Spread => {
                Scaling::of_features(kind, centred, &features(), n)
            }
            _ => Err(Error::Incompatible(format!(
                "{kind} scaling is about whole rows, and statistics know sums only; scale the rows before"
            ))),
        }
    }

    /// The scaling of labels of this kind, as [`TargetScaling::fit`] finds it on the rows for these losses.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if a mean or a spread is out of the range of double precision.
    pub fn target_scaling(
        &self,
        kind: TargetScale,
        losses: &Losses,
        centred: bool,
    ) -> Result<Option<TargetScaling>> {
        let kinds = TaskLabels::of_tasks(losses, self.tasks.len(), self.counts.only_signs);
        if kind == TargetScale::None || kinds.iter().all(|kind| *kind == TaskLabels::Other) {
            return Ok(None);
        }
        let counts = self.task_counts();
        let task = |t: usize| {
            self.label(t).map_or_else(TaskMoments::default, |own| self.task(own, counts[t], centred))
        };
        let moments: Vec<TaskMoments> = (0..self.tasks.len()).map(task).collect();
        TargetScaling::of_moments(kind, moments, &kinds, centred)
    }

    fn task(&self, own: ColumnMoments, rows: u64, centred: bool) -> TaskMoments {
        let mean = own.mean + own.mean_rest;
        let about_zero = if centred { 0.0 } else { mean * mean };
        let spread = (own.squares / own.weight + about_zero).sqrt();
        TaskMoments {
            centre: if centred { mean * own.unit } else { 0.0 },
            spread: (spread > rows as f64 * f64::EPSILON).then_some(spread * own.unit),
            labels: own.weight / self.counts.lightest,
        }
    }

    /// A label's moments; `None` for a task without rows.
    pub(super) fn label(&self, t: usize) -> Option<ColumnMoments> {
        match &self.layout {
            Layout::Shared(own) => own.as_ref().map(|own| own.label(t)),
            Layout::PerTask(tasks) => tasks[t].as_ref().map(|own| own.label(0)),
        }
    }

    /// A feature's moments, over the labels of all tasks.
    fn feature(&self, j: usize) -> Option<ColumnMoments> {
        match &self.layout {
            Layout::Shared(own) => own.as_ref().map(|own| own.feature(j)),
            Layout::PerTask(tasks) => {
                tasks.iter().flatten().map(|own| own.feature(j)).reduce(ColumnMoments::with)
            }
        }
    }
}
