//! Metrics of real labels.

use super::{ScoredRow, rows, total};
use crate::linalg::power_of_two;

/// Root of the mean squared error.
pub fn rmse(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    Some(Squares::of(errors(&rows)).root_mean(total(&rows)))
}

/// Mean of the absolute errors.
pub fn mae(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    let all = total(&rows);
    // Shares of the total instead of one large sum, which may be out of range.
    Some(rows.iter().map(|row| row.weight / all * (row.label - row.score).abs()).sum())
}

/// [`rmse`] over the standard deviation of these very labels (divided by n, not by n - 1): 0 is perfect, 1 as
/// good as their mean. It is the root of `1 - r2`. Undefined if all labels are equal.
pub fn nrmse(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    Squares::of(errors(&rows)).over(Squares::of(around_mean(&rows))).map(f64::sqrt)
}

/// Coefficient of determination R^2: `1 - SSE / SST`, with SST around the mean of these very labels. 1 is
/// perfect, 0 as good as that mean, and there is no worst. Undefined if all labels are equal. scikit-learn's
/// `r2_score`.
pub fn r2(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    Squares::of(errors(&rows)).over(Squares::of(around_mean(&rows))).map(|share| 1.0 - share)
}

/// `1 - variance of the errors / variance of the labels`: [`r2`] after the mean error is removed, so that an
/// error which is the same everywhere costs nothing. Never less than [`r2`]. Undefined if all labels are
/// equal. scikit-learn's `explained_variance_score`.
pub fn explained_variance(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    let errors: Vec<ScoredRow> =
        rows.iter().map(|row| ScoredRow { label: row.label - row.score, ..*row }).collect();
    if errors.iter().any(|row| row.label.is_infinite()) {
        return r2(labels, scores, weights);
    }
    Squares::of(around_mean(&errors)).over(Squares::of(around_mean(&rows))).map(|share| 1.0 - share)
}

/// Mean of labels by their weights; `None` if there is no row of any weight, or a NaN. The mean of equal labels
/// is that label, to the last bit.
pub fn mean(labels: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, labels, weights)?;
    Some(rows.first()?.label + mean_from_first(&rows))
}

/// Errors and weights.
fn errors(rows: &[ScoredRow]) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
    rows.iter().map(|row| (row.label - row.score, row.weight))
}

/// Labels less their mean, with their weights. Differences from the first label: equal labels have none at
/// all.
fn around_mean(rows: &[ScoredRow]) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
    let first = rows.first().map_or(0.0, |row| row.label);
    let mean = mean_from_first(rows);
    rows.iter().map(move |row| (row.label - first - mean, row.weight))
}

/// Mean of the labels less the first of them.
fn mean_from_first(rows: &[ScoredRow]) -> f64 {
    let first = rows.first().map_or(0.0, |row| row.label);
    rows.iter().map(|row| row.weight * (row.label - first)).sum::<f64>() / total(rows)
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

    fn root_mean(&self, weight: f64) -> f64 {
        self.unit * (self.sum / weight).sqrt()
    }

    /// The ratio to another sum, unless that is zero or infinite.
    fn over(&self, other: Squares) -> Option<f64> {
        let units = self.unit / other.unit;
        (other.sum > 0.0 && other.unit.is_finite()).then(|| self.sum / other.sum * units * units)
    }
}
