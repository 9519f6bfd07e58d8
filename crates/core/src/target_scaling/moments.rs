//! What the labels of the tasks are like: means, spreads, and what tasks have in common.

use super::{TargetScale, shrunk};
use crate::linalg::power_of_two;
use crate::{LossKind, Losses, Observations};

/// What a task learns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TaskLabels {
    Number,
    /// Classes, by the logarithm of their odds.
    LogOdds,
    /// Classes, by another loss, or what looks like them.
    Other,
}

impl TaskLabels {
    /// Those of all tasks; labels that are all -1 or +1 are no numbers, whatever the loss.
    pub(crate) fn of_tasks(losses: &Losses, n_tasks: usize, only_signs: bool) -> Vec<TaskLabels> {
        let of = |t: usize| match losses.of_task(t) {
            Some(LossKind::Logistic) => TaskLabels::LogOdds,
            Some(loss) if loss.is_classification() || only_signs => TaskLabels::Other,
            _ => TaskLabels::Number,
        };
        (0..n_tasks).map(of).collect()
    }
}

/// Sums over the observations of one task.
#[derive(Clone, Default)]
struct TaskSums {
    /// A power of two near the largest label or offset: in these units no square over- or underflows.
    unit: f64,
    heaviest: f64,
    count: f64,
    /// One of the targets. Differences from it make equal targets have spread exactly 0.
    some: f64,
    weight: f64,
    /// Weighted sum of differences from `some`, then their mean.
    mean: f64,
    squares: f64,
}

/// What the labels of a task are like.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TaskMoments {
    /// 0 if labels are not centred.
    pub(crate) centre: f64,
    /// Where it has one.
    pub(crate) spread: Option<f64>,
    /// Number of labels; one of double weight counts twice.
    pub(crate) labels: f64,
}

/// The moments of all tasks. Of classes, they are those of the labels without offsets.
pub(super) fn moments(observations: &Observations, kinds: &[TaskLabels], centred: bool) -> Vec<TaskMoments> {
    let mut sums = vec![TaskSums::default(); observations.n_tasks()];
    let counted: Vec<usize> = (0..observations.len()).filter(|&o| observations.weight(o) > 0.0).collect();
    let offset_of = |o: usize| match kinds[observations.task(o)] {
        TaskLabels::Number => observations.offset(o),
        _ => 0.0,
    };
    for &o in &counted {
        let own = &mut sums[observations.task(o)];
        own.unit = own.unit.max(observations.label(o).abs()).max(offset_of(o).abs());
        own.heaviest = own.heaviest.max(observations.weight(o));
        own.count += 1.0;
    }
    sums.iter_mut().for_each(|own| own.unit = power_of_two(own.unit));
    let target = |own: &TaskSums, o: usize| observations.label(o) / own.unit - offset_of(o) / own.unit;
    for &o in counted.iter().rev() {
        let own = &mut sums[observations.task(o)];
        own.some = if centred { target(own, o) } else { 0.0 };
    }
    for &o in counted.iter().filter(|_| centred) {
        let own = &mut sums[observations.task(o)];
        let weight = observations.weight(o) / own.heaviest;
        own.weight += weight;
        own.mean += weight * (target(own, o) - own.some);
    }
    sums.iter_mut().filter(|own| own.weight > 0.0).for_each(|own| own.mean /= own.weight);
    sums.iter_mut().for_each(|own| own.weight = 0.0);
    for &o in &counted {
        let own = &mut sums[observations.task(o)];
        let weight = observations.weight(o) / own.heaviest;
        own.weight += weight;
        own.squares += weight * (target(own, o) - own.some - own.mean).powi(2);
    }
    let lightest = counted.iter().map(|&o| observations.weight(o)).fold(f64::INFINITY, f64::min);
    sums.iter().map(|own| own.moments(lightest)).collect()
}

impl TaskSums {
    fn moments(&self, lightest: f64) -> TaskMoments {
        let centre = (self.some + self.mean) * self.unit;
        let spread = (self.squares / self.weight).sqrt();
        // Rounding may leave that much of equal targets. False for NaN, of a task without observations.
        let spread = (spread > self.count * f64::EPSILON).then_some(spread * self.unit);
        TaskMoments { centre, spread, labels: self.weight * (self.heaviest / lightest) }
    }
}

/// Draws spreads of few labels to those of all tasks: whether there are such tasks.
pub(super) fn shrink(moments: &mut [TaskMoments]) -> bool {
    let known = || moments.iter().filter_map(|own| Some((own.labels, own.spread?.ln())));
    let Some(units) = shrunk(&known().collect::<Vec<_>>()) else { return false };
    let spreads = moments.iter_mut().filter_map(|own| own.spread.as_mut());
    spreads.zip(units).for_each(|(spread, unit)| *spread = unit.exp());
    true
}

/// Rows with which a task counts half as much as one of many rows where a mean over tasks is taken.
const HALF_COUNTED_ROWS: f64 = 3.0;

/// A mean over tasks with labels: with few of them a task counts less.
fn mean_of_tasks(tasks: &[TaskMoments], value: impl Fn(&TaskMoments) -> f64) -> f64 {
    let counted = |own: &TaskMoments| own.labels / (own.labels + HALF_COUNTED_ROWS);
    let sum: f64 = tasks.iter().map(|own| counted(own) * value(own)).sum();
    sum / tasks.iter().map(counted).sum::<f64>()
}

/// The tasks of one kind that have labels.
fn with_labels(moments: &[TaskMoments], kinds: &[TaskLabels], kind: TaskLabels) -> Vec<TaskMoments> {
    let own = moments.iter().zip(kinds).filter(|(own, of)| **of == kind && own.labels > 0.0);
    own.map(|(own, _)| *own).collect()
}

/// Gives all tasks of numbers the same moments: one centre, and the spread of all labels about it.
pub(super) fn pool(moments: &mut [TaskMoments], kinds: &[TaskLabels]) {
    let numbers = with_labels(moments, kinds, TaskLabels::Number);
    // In units of the largest number nothing overflows.
    let sizes = numbers.iter().flat_map(|own| [own.centre.abs(), own.spread.unwrap_or(0.0)]);
    let unit = power_of_two(sizes.fold(0.0, f64::max));
    let centre = if numbers.is_empty() { 0.0 } else { mean_of_tasks(&numbers, |own| own.centre / unit) };
    let square =
        |own: &TaskMoments| (own.spread.unwrap_or(0.0) / unit).powi(2) + (own.centre / unit - centre).powi(2);
    let squares: f64 = numbers.iter().map(|own| own.labels * square(own)).sum();
    let spread = (squares / numbers.iter().map(|own| own.labels).sum::<f64>()).sqrt();
    for (own, _) in moments.iter_mut().zip(kinds).filter(|(_, kind)| **kind == TaskLabels::Number) {
        own.centre = centre * unit;
        // Rounding of the mean leaves about that much of equal labels. False for NaN.
        own.spread = (spread > 16.0 * f64::EPSILON).then_some(spread * unit);
    }
}

/// The log-odds that classes have in common, from a mean of their shares, if something draws intercepts to it.
pub(super) fn common_log_odds(
    kind: TargetScale,
    moments: &[TaskMoments],
    kinds: &[TaskLabels],
) -> Option<f64> {
    let classes = with_labels(moments, kinds, TaskLabels::LogOdds);
    let is_drawn = kind == TargetScale::Pooled || classes.iter().any(|own| own.centre.abs() >= 1.0);
    // The mean of labels -1 and +1. False for NaN, and if there is one class only.
    let mean = mean_of_tasks(&classes, |own| own.centre);
    (is_drawn && mean.abs() < 1.0).then(|| ((1.0 + mean) / (1.0 - mean)).ln())
}

/// 1 for an empty list; of two in the middle the smaller.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() { 1.0 } else { sorted[(sorted.len() - 1) / 2] }
}

/// 1 for an empty list.
pub(super) fn root_mean_square(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let squares: f64 = values.iter().map(|x| (x / largest).powi(2)).sum();
    if values.is_empty() { 1.0 } else { largest * (squares / values.len() as f64).sqrt() }
}
