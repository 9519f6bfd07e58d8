//! Metrics of two classes.

use super::{ScoredRow, rows, total};
use crate::loss::{Logistic, Loss};

impl ScoredRow {
    fn is_positive(&self) -> bool {
        self.label > 0.0
    }

    fn is_right(&self) -> bool {
        self.is_positive() == (self.score > 0.0)
    }
}

/// Share of the rows whose class is predicted.
pub fn accuracy(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    Some(total(rows.iter().filter(|row| row.is_right())) / total(&rows))
}

/// Mean of the accuracies among the positive and among the negative rows. Undefined unless there are both.
pub fn balanced_accuracy(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    let share = |positive: bool| {
        let class = || rows.iter().filter(|row| row.is_positive() == positive);
        let all = total(class());
        (all > 0.0).then(|| total(class().filter(|row| row.is_right())) / all)
    };
    Some(0.5 * (share(true)? + share(false)?))
}

/// Area under the ROC curve: the chance that a positive row scores higher than a negative one, where a tie is
/// half a win. Undefined unless there are both. O(n log n).
pub fn auc(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let mut rows = rows(labels, scores, weights)?;
    rows.sort_unstable_by(|a, b| a.score.total_cmp(&b.score));
    let (mut wins, mut positive, mut negative) = (0.0, 0.0, 0.0);
    for tied in rows.chunk_by(|a, b| a.score == b.score) {
        let up = total(tied.iter().filter(|row| row.is_positive()));
        let down = total(tied.iter().filter(|row| !row.is_positive()));
        wins += up * (negative + 0.5 * down);
        positive += up;
        negative += down;
    }
    (positive > 0.0 && negative > 0.0).then(|| wins / positive / negative)
}

/// Mean of `log(1 + exp(-y s))`, y = +1 or -1: the negative logarithm of the likelihood if a score s means
/// the probability `1 / (1 + exp(-s))`, as it does after a fit with the logistic loss.
pub fn log_loss(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    let term =
        |row: &ScoredRow| row.weight * Logistic.value(if row.is_positive() { 1.0 } else { -1.0 }, row.score);
    Some(rows.iter().map(term).sum::<f64>() / total(&rows))
}
