//! Metrics of real labels.

use super::{ScoredRow, rows, total};
use crate::linalg::power_of_two;

/// Root of the mean squared error.
pub fn rmse(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    let Squares { unit, sum } = Squares::of(rows.iter().map(error));
    Some(unit * (sum / total(&rows)).sqrt())
}

/// `1 - SSE / SST`, with SST around the mean of these very labels: 1 is perfect, 0 as good as that mean, and
/// there is no worst. Undefined if all labels are equal.
///
/// This is the coefficient of determination R^2, scikit-learn's `r2_score`, and not its
/// `explained_variance_score`, which forgives an error that is the same everywhere.
pub fn explained_variance(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    explained(Squares::of(rows.iter().map(error)), Squares::of(around_mean(&rows).into_iter()))
}

/// [`explained_variance`] of all tasks together, each around its own mean: `1 - sum of SSE / sum of SST`.
/// Large tasks and tasks of large labels count more than in the mean over tasks, and a task of one row does
/// no harm.
pub fn explained_variance_within(
    tasks: &[u32],
    labels: &[f64],
    scores: &[f64],
    weights: Option<&[f64]>,
) -> Option<f64> {
    let rows_of_task = super::per_task::split(tasks, labels, scores, weights);
    let (mut errors, mut deviations) = (vec![], vec![]);
    for task in rows_of_task.iter().filter(|task| !task.labels.is_empty()) {
        if task.total_weight() == 0.0 {
            continue;
        }
        let rows = rows(&task.labels, &task.scores, task.weights.as_deref())?;
        errors.extend(rows.iter().map(error));
        deviations.extend(around_mean(&rows));
    }
    explained(Squares::of(errors.into_iter()), Squares::of(deviations.into_iter()))
}

fn explained(sse: Squares, sst: Squares) -> Option<f64> {
    let units = sse.unit / sst.unit;
    (sst.sum > 0.0 && sst.unit.is_finite()).then(|| 1.0 - sse.sum / sst.sum * units * units)
}

/// Error and weight.
fn error(row: &ScoredRow) -> (f64, f64) {
    (row.label - row.score, row.weight)
}

/// Labels less their mean, with their weights. Differences from the first label: equal labels have none at
/// all.
fn around_mean(rows: &[ScoredRow]) -> Vec<(f64, f64)> {
    let Some(first) = rows.first().map(|row| row.label) else { return vec![] };
    let mean = rows.iter().map(|row| row.weight * (row.label - first)).sum::<f64>() / total(rows);
    rows.iter().map(|row| (row.label - first - mean, row.weight)).collect()
}

/// A sum of weighted squares, `unit^2 sum`, which may itself be out of range.
struct Squares {
    /// A power of two, or infinite.
    unit: f64,
    sum: f64,
}

impl Squares {
    fn of(values: impl Iterator<Item = (f64, f64)> + Clone) -> Self {
        let peak = values.clone().fold(0.0f64, |peak, (value, _)| peak.max(value.abs()));
        if peak.is_infinite() {
            return Squares { unit: peak, sum: 1.0 };
        }
        let unit = power_of_two(peak);
        Squares { unit, sum: values.map(|(value, weight)| weight * (value / unit) * (value / unit)).sum() }
    }
}
