//! A metric of each task, their mean, and the metric of all rows together.

use super::{Average, Metric};
use crate::nan;
use serde::{Deserialize, Serialize};

/// A score of predictions in all three forms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredScore")]
pub struct Score {
    /// What the metric says: the mean or the pooled one. NaN if that is undefined.
    pub value: f64,
    /// Mean over the tasks where it is defined, each counting the same.
    pub mean: Option<f64>,
    /// Of the rows of all tasks together.
    pub pooled: Option<f64>,
    /// Of each task; `None` where it is not defined (one class only, no rows).
    pub per_task: Vec<Option<f64>>,
    /// Number of tasks that have rows but no score.
    pub undefined: usize,
}

impl Score {
    /// `has_rows` says which tasks have rows that count.
    pub(super) fn new(
        metric: Metric,
        per_task: Vec<Option<f64>>,
        pooled: Option<f64>,
        has_rows: &[bool],
    ) -> Self {
        let mean = mean(per_task.iter().flatten().copied());
        let value = match metric.average {
            Average::Tasks => mean,
            Average::Rows => pooled,
        };
        let undefined = per_task.iter().zip(has_rows).filter(|(score, rows)| score.is_none() && **rows);
        Score { value: value.unwrap_or(f64::NAN), mean, pooled, undefined: undefined.count(), per_task }
    }

    /// A number that a caller computed.
    pub(crate) fn of_caller(value: f64) -> Self {
        Score { value, mean: None, pooled: None, per_task: vec![], undefined: 0 }
    }

    /// Number of tasks that have no rows to be scored.
    pub(crate) fn tasks_without_rows(&self) -> usize {
        self.per_task.iter().filter(|score| score.is_none()).count() - self.undefined
    }

    /// The mean of several scores of the same tasks, each number over those where it is defined. A task is
    /// undefined if it is so in all of them; `without_rows` tasks have rows in none.
    pub(crate) fn average(scores: &[Score], without_rows: usize) -> Self {
        let over = |number: &dyn Fn(&Score) -> Option<f64>| mean(scores.iter().filter_map(number));
        let n_tasks = scores.iter().map(|score| score.per_task.len()).max().unwrap_or(0);
        let per_task: Vec<Option<f64>> =
            (0..n_tasks).map(|t| over(&|score| score.per_task.get(t).copied().flatten())).collect();
        let value = over(&|score| Some(score.value).filter(|value| !value.is_nan()));
        Score {
            value: value.unwrap_or(f64::NAN),
            mean: over(&|score| score.mean),
            pooled: over(&|score| score.pooled),
            undefined: per_task.iter().filter(|score| score.is_none()).count() - without_rows,
            per_task,
        }
    }
}

/// Mean of the values, if there are any.
fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, n) = values.fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// As in files. Those of version 0.1 have no value and no pooled score: their mean is the value.
#[derive(Deserialize)]
struct StoredScore {
    #[serde(default = "nan::value", deserialize_with = "nan::from_null")]
    value: f64,
    mean: Option<f64>,
    pooled: Option<f64>,
    per_task: Vec<Option<f64>>,
    undefined: Option<usize>,
}

impl From<StoredScore> for Score {
    fn from(stored: StoredScore) -> Self {
        let StoredScore { value, mean, pooled, per_task, undefined } = stored;
        let value = if undefined.is_none() { mean.unwrap_or(f64::NAN) } else { value };
        Score { value, mean, pooled, per_task, undefined: undefined.unwrap_or(0) }
    }
}
