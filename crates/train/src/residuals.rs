//! Errors of held-out predictions, kept for intervals.

mod few_rows;
mod new_task_folds;
mod new_tasks;

pub(crate) use new_task_folds::{NewTaskFolds, Setting};
pub use new_tasks::NewTaskErrors;

use kinfolk::TargetScale;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Errors that a model file keeps; of more, as many that are evenly spaced in their order.
const MAX_KEPT_ERRORS: usize = 501;

/// The typical error of a task is drawn to that of tasks like it as if so many more of its rows had had that one, and
/// theirs to that of all tasks.
const SHRINKAGE_ROWS: f64 = FEW_LABELS as f64;

/// A task with fewer labels says less about itself than all tasks together say about it.
pub(crate) const FEW_LABELS: usize = 10;

/// The error of the prediction for one row that was held out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeldOutError {
    /// The task of the row.
    pub task: usize,
    /// How far off the prediction is, in units of scaled labels.
    pub error: f64,
}

/// Errors of held-out predictions of numbers, in units of the typical error of their task.
///
/// Tasks differ in how well they can be predicted; with errors in these units, all tasks together say how large an
/// error may be. Where the unit of a task is the spread of its own labels, errors are also divided by a factor that is
/// larger the fewer labels there are, and widths are multiplied by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Residuals {
    /// How many there were.
    pub rows: usize,
    /// Absolute values, increasing; all of them, or some.
    #[serde(deserialize_with = "not_negative")]
    errors: Vec<f64>,
    /// The typical error of each task, in units of scaled labels.
    #[serde(deserialize_with = "not_negative")]
    sizes: Vec<f64>,
    /// The typical error of all tasks, in the same units.
    size_of_all: f64,
    /// What widths of tasks with few rows are multiplied by; empty if the units of tasks are not their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "not_negative")]
    factors: Vec<f64>,
}

/// Tasks with few rows are predicted worse than others: what is typical is that of tasks with about as many.
fn group(rows: f64) -> usize {
    usize::from(rows < FEW_LABELS as f64)
}

/// For tasks with so many labels, how much wider intervals are where a task is in units of these; none if no task is.
fn factors(scale: TargetScale, labels: &[usize]) -> Vec<f64> {
    let has_own = |n: usize| scale.is_own_unit(n);
    match labels.iter().any(|&n| has_own(n)) {
        true => labels.iter().map(|&n| if has_own(n) { few_rows::factor(n) } else { 1.0 }).collect(),
        false => vec![],
    }
}

/// Sizes from a file, which may say anything.
fn not_negative<'de, D: Deserializer<'de>>(numbers: D) -> Result<Vec<f64>, D::Error> {
    let sizes = Vec::<f64>::deserialize(numbers)?;
    match sizes.iter().find(|size| size.is_nan() || **size < 0.0) {
        Some(size) => Err(D::Error::custom(format!("the size of an error is {size}"))),
        None => Ok(sizes),
    }
}

impl Residuals {
    /// Of these errors; `None` if there are none. `scale` says which tasks are in units of their own labels.
    pub fn new(n_tasks: usize, mut errors: Vec<HeldOutError>, scale: TargetScale) -> Option<Self> {
        errors.retain(|row| row.error.is_finite());
        let rows = errors.len();
        // Squares of errors of any size stay finite in this unit.
        let unit = errors.iter().map(|row| row.error.abs()).fold(0.0, f64::max);
        let square = |row: &HeldOutError| if unit > 0.0 { (row.error / unit).powi(2) } else { 0.0 };
        let total: f64 = errors.iter().map(square).sum();
        let of_all = total / rows as f64;
        let mut sums = vec![(0.0, 0.0); n_tasks];
        for row in &errors {
            sums[row.task].0 += square(row);
            sums[row.task].1 += 1.0;
        }
        let mut of_group = [(0.0, 0.0); 2];
        for own in &sums {
            let group = &mut of_group[group(own.1)];
            *group = (group.0 + own.0, group.1 + own.1);
        }
        let mean = |(sum, count): (f64, f64), usual: f64| {
            ((sum + SHRINKAGE_ROWS * usual) / (count + SHRINKAGE_ROWS)).max(0.0)
        };
        let size = |own: (f64, f64), of_group: (f64, f64), of_all: f64| {
            unit * mean(own, mean(of_group, of_all)).sqrt()
        };
        let sizes: Vec<f64> = sums.iter().map(|own| size(*own, of_group[group(own.1)], of_all)).collect();
        let labels: Vec<usize> = sums.iter().map(|(_, count)| *count as usize).collect();
        let factors = factors(scale, &labels);
        // A new error is no part of the typical one, so neither is this one. A single task needs no units.
        let is_single = sums.iter().filter(|(_, count)| *count > 0.0).count() < 2;
        let unit_of = |row: &HeldOutError| {
            let ((sum, count), own) = (sums[row.task], square(row));
            match is_single {
                true => sizes[row.task],
                false => {
                    let others = of_group[group(count)];
                    let without = |(sum, count): (f64, f64)| ((sum - own).max(0.0), count - 1.0);
                    size(without((sum, count)), without(others), ((total - own) / (rows - 1) as f64).max(0.0))
                }
            }
        };
        let in_units = |row: &HeldOutError| match unit_of(row) {
            size if size > 0.0 => row.error.abs() / (size * factors.get(row.task).unwrap_or(&1.0)),
            _ if row.error == 0.0 => 0.0,
            _ => row.error.abs() / sizes[row.task],
        };
        let mut errors: Vec<f64> = errors.iter().map(in_units).collect();
        errors.sort_unstable_by(f64::total_cmp);
        if rows > MAX_KEPT_ERRORS {
            let place = |i: usize| (i * (rows - 1)).div_ceil(MAX_KEPT_ERRORS - 1);
            errors = (0..MAX_KEPT_ERRORS).map(|i| errors[place(i)]).collect();
        }
        (rows > 0).then(|| Residuals { rows, errors, sizes, size_of_all: unit * of_all.sqrt(), factors })
    }

    /// The same if its tasks are only some of more: the others have the typical error of all.
    pub(crate) fn of_some_tasks(mut self, n_tasks: usize, some: &[usize]) -> Self {
        let mut sizes = vec![self.size_of_all; n_tasks];
        some.iter().zip(&self.sizes).for_each(|(&task, &size)| sizes[task] = size);
        self.sizes = sizes;
        if !self.factors.is_empty() {
            let mut factors = vec![1.0; n_tasks];
            some.iter().zip(&self.factors).for_each(|(&task, &factor)| factors[task] = factor);
            self.factors = factors;
        }
        self
    }

    /// The same for a fit whose tasks have so many labels, of which some were looked at.
    pub(crate) fn with_labels(self, labels: &[usize], scale: TargetScale) -> Self {
        let factors = if self.factors.is_empty() { vec![] } else { factors(scale, labels) };
        Residuals { factors, ..self }
    }

    /// The same if errors are larger or smaller by this factor.
    pub(crate) fn with_errors_times(mut self, factor: f64) -> Self {
        self.sizes.iter_mut().for_each(|size| *size *= factor);
        self.size_of_all *= factor;
        self
    }

    /// Halves of the widths of intervals that hold new labels with this probability, if new rows are like the held-out
    /// ones (conformal prediction): of n errors, the one of rank `ceil((n + 1) level)`, times the typical error of
    /// the task. `spread` is the unit of the labels of each task, if they were scaled. `None` if n is too small for
    /// this level.
    ///
    /// They say nothing about tasks without training rows: [`NewTaskErrors`] do, where whole tasks were held out.
    pub fn half_widths(&self, level: f64, spread: Option<&[f64]>) -> Option<Vec<f64>> {
        let reach = self.reach(level)?;
        let unit = |task: usize| spread.map_or(1.0, |spread| spread[task]);
        let width =
            |(task, size): (usize, &f64)| reach * size * self.factors.get(task).unwrap_or(&1.0) * unit(task);
        Some(self.sizes.iter().enumerate().map(width).collect())
    }

    /// The error, in units of the typical one, that a new one exceeds with probability `1 - level`.
    fn reach(&self, level: f64) -> Option<f64> {
        let rank = ((self.rows + 1) as f64 * level).ceil() as usize;
        if rank > self.rows {
            return None;
        }
        let last = self.errors.len() - 1;
        // The place of the rank among those kept, rounded up.
        let place = (rank.max(1) - 1) as f64 * last as f64 / (self.rows - 1).max(1) as f64;
        self.errors.get((place.ceil() as usize).min(last)).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_one_task(errors: impl Iterator<Item = f64>) -> Residuals {
        Residuals::new(1, errors.map(|error| HeldOutError { task: 0, error }).collect(), TargetScale::None)
            .unwrap()
    }

    #[test]
    fn sizes_below_zero_are_no_residuals() {
        let errors = (0..20).map(|i| HeldOutError { task: 0, error: f64::from(i) }).collect();
        let text = serde_json::to_string(&Residuals::new(1, errors, TargetScale::Task).unwrap()).unwrap();
        assert!(serde_json::from_str::<Residuals>(&text).is_ok());
        let other = text.replacen("\"sizes\":[", "\"sizes\":[-", 1);
        assert!(
            serde_json::from_str::<Residuals>(&other)
                .unwrap_err()
                .to_string()
                .contains("the size of an error")
        );
    }

    #[test]
    fn the_half_width_is_the_error_of_the_rank() {
        let few = of_one_task((1..=9).rev().map(f64::from));
        let width = |level| few.half_widths(level, None).map(|widths| (1e9 * widths[0]).round() / 1e9);
        assert_eq!((width(0.9), width(0.5), width(0.95)), (Some(9.0), Some(5.0), None));
        let many = of_one_task((1..=100_000).map(f64::from));
        let half = many.half_widths(0.9, Some(&[2.0])).unwrap()[0] / 2.0;
        assert!((90_000.0..90_400.0).contains(&half), "{half}");
        assert_eq!(
            Residuals::new(1, vec![HeldOutError { task: 0, error: f64::NAN }], TargetScale::None),
            None
        );
    }

    #[test]
    fn tasks_have_their_own_widths_where_rows_are_many() {
        let error = |i: usize| {
            let task = i % 2;
            HeldOutError { task, error: (i as f64 * 0.7).sin() * [1.0, 3.0][task] }
        };
        let found = Residuals::new(3, (0..2000).map(error).collect(), TargetScale::None).unwrap();
        let widths = found.half_widths(0.9, None).unwrap();
        assert!((2.9..3.0).contains(&(widths[1] / widths[0])), "{widths:?}");
        // A task that was not looked at has the typical error.
        assert!(widths[2] > widths[0] && widths[2] < widths[1], "{widths:?}");
        let of_five = found.clone().of_some_tasks(5, &[4, 0, 2]);
        let of_five = of_five.half_widths(0.9, None).unwrap();
        assert_eq!((of_five[4], of_five[0], of_five[2]), (widths[0], widths[1], widths[2]));
    }

    /// Of tasks in their own units, those with few rows have wider intervals, and units do not matter.
    #[test]
    fn tasks_with_few_rows_have_wider_intervals() {
        let error = |i: usize| HeldOutError { task: usize::from(i < 3), error: (i as f64 * 0.7).sin() };
        let found = Residuals::new(2, (0..2000).map(error).collect(), TargetScale::Task).unwrap();
        let widths = found.half_widths(0.9, None).unwrap();
        assert!((1.9..2.6).contains(&(widths[1] / widths[0])), "{widths:?}");
        // Three rows of two thousand do not change the others.
        let plain = Residuals::new(2, (0..2000).map(error).collect(), TargetScale::None).unwrap();
        let plain = plain.half_widths(0.9, None).unwrap();
        assert!((widths[0] / plain[0] - 1.0).abs() < 0.01, "{widths:?} {plain:?}");
        let known = found.clone().with_labels(&[1997, 30], TargetScale::Task).half_widths(0.9, None).unwrap();
        assert!(known[1] < widths[1] && known[1] > plain[1], "{known:?}");
        let scaled = found.half_widths(0.9, Some(&[1.0, 1e6])).unwrap();
        assert!((scaled[1] / widths[1] / 1e6 - 1.0).abs() < 1e-12 && scaled[0] == widths[0]);
    }

    #[test]
    fn errors_of_any_size_have_finite_widths() {
        for unit in [0.0, 1e-300, 1e300] {
            let found = of_one_task((1..=20).map(|i| f64::from(i) * unit));
            let width = found.half_widths(0.9, None).unwrap()[0];
            assert!((width - 19.0 * unit).abs() <= 1e-9 * 19.0 * unit, "{unit}: {width}");
        }
    }
}
