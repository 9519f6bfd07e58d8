//! A metric of each task, and the mean over tasks.

use super::Metric;

/// A metric of each task.
///
/// ```
/// use kinfolk::metrics::{self, PerTask};
/// // The third task has one class only, the fourth no rows.
/// let (tasks, labels) = ([0, 0, 1, 1, 2], [1.0, -1.0, 1.0, -1.0, 1.0]);
/// let scores = [0.5, -0.5, -0.1, 0.1, 0.3];
/// let auc = PerTask::new(metrics::auc, 4, &tasks, &labels, &scores, None);
/// assert_eq!(auc.values, [Some(1.0), Some(0.0), None, None]);
/// assert_eq!(auc.counts, [2, 2, 1, 0]);
/// assert_eq!((auc.mean(), auc.n_defined(), auc.n_undefined()), (Some(0.5), 2, 1));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PerTask {
    /// The metric of each task, `None` where it is undefined.
    pub values: Vec<Option<f64>>,
    /// Number of rows of each task.
    pub counts: Vec<usize>,
}

impl PerTask {
    /// Row i belongs to task `tasks[i]`, a number below `n_tasks`.
    ///
    /// # Panics
    /// If a task is out of range, or tasks, labels, scores and weights are not of the same length.
    pub fn new(
        metric: Metric,
        n_tasks: usize,
        tasks: &[u32],
        labels: &[f64],
        scores: &[f64],
        weights: Option<&[f64]>,
    ) -> Self {
        let mut of_task = split(tasks, labels, scores, weights);
        assert!(of_task.len() <= n_tasks, "task {} is out of range, there are {n_tasks}", of_task.len() - 1);
        of_task.resize_with(n_tasks, Default::default);
        PerTask {
            values: of_task.iter().map(|t| metric(&t.labels, &t.scores, t.weights.as_deref())).collect(),
            counts: of_task.iter().map(|t| t.labels.len()).collect(),
        }
    }

    /// Mean over the tasks where the metric is defined, each counting the same; undefined if it is so
    /// everywhere.
    pub fn mean(&self) -> Option<f64> {
        let sum: f64 = self.values.iter().flatten().sum();
        (self.n_defined() > 0).then(|| sum / self.n_defined() as f64)
    }

    /// How many tasks are in the mean.
    pub fn n_defined(&self) -> usize {
        self.values.iter().flatten().count()
    }

    /// How many tasks with rows were left out of it.
    pub fn n_undefined(&self) -> usize {
        self.values.iter().zip(&self.counts).filter(|(value, count)| value.is_none() && **count > 0).count()
    }
}

/// The rows of a task.
#[derive(Debug, Clone, Default)]
pub(super) struct TaskRows {
    pub(super) labels: Vec<f64>,
    pub(super) scores: Vec<f64>,
    pub(super) weights: Option<Vec<f64>>,
}

impl TaskRows {
    pub(super) fn total_weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.labels.len() as f64, |weights| weights.iter().sum())
    }
}

/// Rows by task, up to the last one that has any.
pub(super) fn split(tasks: &[u32], labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Vec<TaskRows> {
    assert_eq!(tasks.len(), labels.len(), "a task for each label");
    assert_eq!(labels.len(), scores.len(), "a score for each label");
    if let Some(weights) = weights {
        assert_eq!(labels.len(), weights.len(), "a weight for each label");
    }
    let n_tasks = tasks.iter().max().map_or(0, |&t| t as usize + 1);
    let none = TaskRows { weights: weights.map(|_| vec![]), ..TaskRows::default() };
    let mut of_task = vec![none; n_tasks];
    for (i, &t) in tasks.iter().enumerate() {
        let task = &mut of_task[t as usize];
        task.labels.push(labels[i]);
        task.scores.push(scores[i]);
        if let (Some(to), Some(from)) = (&mut task.weights, weights) {
            to.push(from[i]);
        }
    }
    of_task
}
