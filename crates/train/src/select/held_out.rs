//! Scores of held-out predictions of all folds together.

use super::{FoldRows, Scored};
use crate::metric::{Predictions, RowLoss};
use crate::{HeldOutError, Metric, Result, Score, all_losses};
use kinfolk::{LossKind, Losses, Observations, TargetScale};

/// The test rows of all folds, ready to score what the fits of the folds predict for them.
///
/// Predictions come in the order of the folds, of their test rows, and of the observations of a row, with offsets
/// added, as [`predict`](crate::predict) gives them.
///
/// A score of all folds together is sound even if a fold has one row of a task, or none of its positive rows:
/// - R^2, explained variance and normalised RMSE measure errors against the *baseline*, the mean label of the task
///   in the training rows of the fold. Errors and deviations are added up over folds before they are divided.
/// - AUC and average precision compare rows of the same fold only.
/// - All others are sums or counts over rows, for which folds do not matter.
#[derive(Debug)]
pub struct HeldOut<'a> {
    observations: &'a Observations,
    losses: &'a Losses,
    n_folds: usize,
    tested: Vec<TestedRow>,
    scale: TargetScale,
}

#[derive(Debug, Clone, Copy)]
struct TestedRow {
    observation: u32,
    fold: u32,
    baseline: f64,
    /// Whether its task has training rows in the fold.
    is_known: bool,
}

/// The score of all folds, and of each.
#[derive(Debug)]
pub(super) struct FoldedScore {
    pub(super) all: Score,
    pub(super) folds: Vec<Score>,
}

impl<'a> HeldOut<'a> {
    /// The test rows of these folds.
    pub fn new(observations: &'a Observations, losses: &'a Losses, folds: &[FoldRows]) -> Self {
        let mut tested = vec![];
        for (f, fold) in folds.iter().enumerate() {
            let means = TaskMeans::of(observations, &fold.train);
            for o in fold.test.iter().flat_map(|&i| observations.of_input(i as usize)) {
                let task = observations.task(o);
                let baseline = means.of_task(task) + observations.offset(o);
                let is_known = means.of_task[task].is_some();
                tested.push(TestedRow { observation: o as u32, fold: f as u32, baseline, is_known });
            }
        }
        HeldOut { observations, losses, n_folds: folds.len(), tested, scale: TargetScale::None }
    }

    /// The same for labels that fits scale like this: it says whether those of several tasks can be compared.
    pub(crate) fn with_target_scale(self, scale: TargetScale) -> Self {
        HeldOut { scale, ..self }
    }

    /// Number of predictions that are scored.
    pub fn len(&self) -> usize {
        self.tested.len()
    }

    /// Whether no row is tested.
    pub fn is_empty(&self) -> bool {
        self.tested.is_empty()
    }

    /// For each prediction the mean label of its task in the training rows of its fold: what one would predict
    /// without inputs. For a task without training rows it is the mean of the other tasks' means.
    pub fn baseline(&self) -> Vec<f64> {
        self.tested.iter().map(|row| row.baseline).collect()
    }

    /// The score of predictions for all folds together.
    ///
    /// # Errors
    /// If there are losses for another number of tasks.
    ///
    /// # Panics
    /// If there is not one prediction for each test row.
    pub fn score(&self, metric: Metric, predictions: &[f64]) -> Result<Score> {
        Ok(self.predictions(predictions)?.score(metric))
    }

    /// The loss of each prediction, with its weight: squared errors in units of the task for numbers, the loss of the
    /// fit for classes.
    pub(crate) fn row_losses(&self, predictions: &[f64]) -> Result<Vec<RowLoss>> {
        let rows = self.predictions(predictions)?;
        let is_classification = all_losses(self.losses, LossKind::is_classification);
        Ok(if is_classification { rows.row_losses() } else { rows.row_errors() })
    }

    /// Squared errors of two predictions of numbers, each task's in units of its mean of both: no unit of a task
    /// matters, and no task that one of the two predicts badly counts for more than its rows.
    pub(crate) fn relative_errors(&self, one: &[f64], other: &[f64]) -> [Vec<RowLoss>; 2] {
        let errors = |predictions: &[f64]| -> Vec<f64> {
            let error = |(row, z): (&TestedRow, &f64)| z - self.observations.label(row.observation as usize);
            self.tested.iter().zip(predictions).map(error).collect()
        };
        let both = [errors(one), errors(other)];
        let task = |row: &TestedRow| self.observations.task(row.observation as usize);
        let mut largest = vec![0.0f64; self.observations.n_tasks()];
        for (i, row) in self.tested.iter().enumerate() {
            let own = &mut largest[task(row)];
            *own = both.iter().fold(*own, |most, errors| most.max(errors[i].abs()));
        }
        let square = |errors: &[f64], i: usize, row: &TestedRow| {
            let unit = largest[task(row)];
            if unit > 0.0 { (errors[i] / unit).powi(2) } else { 0.0 }
        };
        let mut sums = vec![(0.0, 0.0); largest.len()];
        for (i, row) in self.tested.iter().enumerate() {
            let weight = self.observations.weight(row.observation as usize);
            let (sum, total) = &mut sums[task(row)];
            *sum += weight * both.iter().map(|errors| square(errors, i, row)).sum::<f64>();
            *total += 2.0 * weight;
        }
        both.each_ref().map(|errors| {
            let loss = |(i, row): (usize, &TestedRow)| {
                let o = row.observation as usize;
                let (sum, total) = sums[task(row)];
                let mean = if sum > 0.0 { sum / total } else { 1.0 };
                let (input, weight) = (self.observations.input(o) as u32, self.observations.weight(o));
                RowLoss { input, loss: square(errors, i, row) / mean, weight }
            };
            self.tested.iter().enumerate().map(loss).collect()
        })
    }

    /// Of classes, 1 for each input that was given a wrong one, else 0.
    pub(crate) fn class_errors(&self, predictions: &[f64]) -> Result<Vec<RowLoss>> {
        Ok(self.predictions(predictions)?.class_errors())
    }

    /// Errors of predictions of numbers, in these units of tasks; `None` for classes. Rows of tasks without training
    /// rows do not tell how well known tasks are predicted, and are left out.
    pub(crate) fn errors(&self, predictions: &[f64], spread: Option<&[f64]>) -> Option<Vec<HeldOutError>> {
        let error = |(row, score): (&TestedRow, &f64)| {
            let o = row.observation as usize;
            let task = self.observations.task(o);
            let unit = spread.map_or(1.0, |spread| spread[task]);
            HeldOutError { task, error: (self.observations.label(o) - score) / unit }
        };
        let numbers = !all_losses(self.losses, LossKind::is_classification);
        let known = || self.tested.iter().zip(predictions).filter(|(row, _)| row.is_known);
        numbers.then(|| known().map(error).collect())
    }

    /// Predictions in other units of their tasks.
    pub(crate) fn in_other_units(&self, predictions: &[f64], unit: impl Fn(usize, f64) -> f64) -> Vec<f64> {
        let task = |row: &TestedRow| self.observations.task(row.observation as usize);
        self.tested.iter().zip(predictions).map(|(row, value)| unit(task(row), *value)).collect()
    }

    /// The exponent of probabilities of classes that is best for these predictions; `None` without such probabilities.
    pub(crate) fn class_exponent(&self, predictions: &[f64]) -> Option<f64> {
        self.predictions(predictions).ok()?.best_class_exponent()
    }

    /// Errors of predictions of numbers for tasks without training rows in their fold, in the units of the labels;
    /// `None` for classes.
    pub(super) fn errors_of_new_tasks(&self, predictions: &[f64]) -> Option<Vec<HeldOutError>> {
        let error = |(row, score): (&TestedRow, &f64)| {
            let o = row.observation as usize;
            HeldOutError { task: self.observations.task(o), error: self.observations.label(o) - score }
        };
        let numbers = !all_losses(self.losses, LossKind::is_classification);
        let new = || self.tested.iter().zip(predictions).filter(|(row, _)| !row.is_known);
        numbers.then(|| new().map(error).collect())
    }

    /// Whether some row is tested whose task has training rows in its fold.
    pub(crate) fn has_known_tasks(&self) -> bool {
        self.tested.iter().any(|row| row.is_known)
    }

    /// How many tasks have test rows, and a score, which tells where the metric is undefined whatever is predicted.
    pub(super) fn score_of_zeros(&self, metric: Metric, scored: Scored) -> Result<(usize, Score)> {
        let zeros = vec![0.0; self.len()];
        let with_rows = self.predictions(&zeros)?.counts().iter().filter(|n| **n > 0).count();
        Ok((with_rows, self.folded(metric, scored, &zeros)?.all))
    }

    /// The score of all folds, and of each. Together, folds are scored in the same units; by fold, each as if it
    /// were all there is, and all is their mean.
    pub(super) fn folded(&self, metric: Metric, scored: Scored, predictions: &[f64]) -> Result<FoldedScore> {
        let rows = self.predictions(predictions)?;
        let all = rows.score(metric);
        Ok(match scored {
            Scored::Together => FoldedScore { all, folds: rows.fold_scores(metric, self.n_folds) },
            Scored::ByFold => {
                let folds = rows.separate_scores(metric, self.n_folds);
                FoldedScore { all: Score::average(&folds, all.tasks_without_rows()), folds }
            }
        })
    }

    fn predictions(&self, predictions: &[f64]) -> Result<Predictions> {
        assert_eq!(predictions.len(), self.len(), "a prediction for each test row");
        let all = Predictions::new(self.losses, self.observations.n_tasks())?;
        let mut all = all.with_target_scale(self.scale);
        for (row, &z) in self.tested.iter().zip(predictions) {
            all.push_held_out(self.observations, row.observation as usize, z, row.fold, row.baseline);
        }
        Ok(all)
    }
}

/// Mean labels of tasks, less offsets, over some rows.
struct TaskMeans {
    of_task: Vec<Option<f64>>,
    /// Mean over the tasks that have rows.
    of_all: f64,
}

impl TaskMeans {
    fn of(observations: &Observations, rows: &[u32]) -> Self {
        /// Sums of `weight (label - first)`, so that equal labels have exactly that mean.
        #[derive(Clone, Copy, Default)]
        struct LabelSums {
            first: f64,
            weight: f64,
            sum: f64,
        }
        let mut sums = vec![LabelSums::default(); observations.n_tasks()];
        for o in rows.iter().flat_map(|&i| observations.of_input(i as usize)) {
            let (own, weight) = (&mut sums[observations.task(o)], observations.weight(o));
            let label = observations.label(o) - observations.offset(o);
            if own.weight == 0.0 {
                own.first = label;
            }
            own.weight += weight;
            own.sum += weight * (label - own.first);
        }
        let mean = |own: &LabelSums| (own.weight > 0.0).then(|| own.first + own.sum / own.weight);
        let of_task: Vec<Option<f64>> = sums.iter().map(mean).collect();
        let known: Vec<f64> = of_task.iter().flatten().copied().collect();
        let of_all = if known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
        TaskMeans { of_task, of_all }
    }

    fn of_task(&self, task: usize) -> f64 {
        self.of_task[task].unwrap_or(self.of_all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{gain, mean};

    #[test]
    fn relative_errors_have_no_unit_and_no_task_decides_alone() {
        let task: Vec<u32> = (0..40).map(|i| i % 4).collect();
        let unit = [1.0, 1e150, 1e-150, 0.0];
        let label: Vec<f64> = (0..40).map(|i| unit[i % 4] * (i as f64).sin()).collect();
        let observations = Observations::multi_task(&task, label.clone()).unwrap();
        let losses = LossKind::Squared.into();
        let folds = [FoldRows { train: (0..40).collect(), test: (0..40).collect() }];
        let held_out = HeldOut::new(&observations, &losses, &folds);
        let away =
            |by: [f64; 4]| -> Vec<f64> { (0..40).map(|i| label[i] + unit[i % 4] * by[i % 4]).collect() };
        let [one, other] = held_out.relative_errors(&away([1.0; 4]), &away([2.0; 4]));
        let (better, _) = gain(&one, &other);
        // 1 and 4 in units of 2.5, for three tasks of four; the labels of the last are met by both.
        assert!((better - 0.75 * 3.0 / 2.5).abs() < 1e-12, "{better}");
        // One of the tasks is much worse, the others are a little better.
        let [one, other] = held_out.relative_errors(&away([1.0; 4]), &away([1.2, 1.2, 1e-9, 1.0]));
        assert!((mean(&one) - mean(&other)).abs() < 0.5 && one.iter().all(|row| row.loss < 2.0 + 1e-9));
    }
}
