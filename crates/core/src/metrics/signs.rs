//! Metrics of two classes.

use super::{ScoredRow, rows, total};
use crate::loss::{Logistic, Loss};

impl ScoredRow {
    fn is_positive(&self) -> bool {
        self.label > 0.0
    }

    fn is_predicted_positive(&self) -> bool {
        self.score > 0.0
    }

    fn is_right(&self) -> bool {
        self.is_positive() == self.is_predicted_positive()
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

/// Mean over the two classes of F1, the harmonic mean of precision and recall. A class that is neither among
/// the labels nor among the predictions does not count.
pub fn f1_macro(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    let wrong = total(rows.iter().filter(|row| !row.is_right()));
    let f1 = |positive: bool| {
        let hits = total(rows.iter().filter(|row| row.is_right() && row.is_positive() == positive));
        let all = 2.0 * hits + wrong;
        (all > 0.0).then(|| 2.0 * hits / all)
    };
    match (f1(true), f1(false)) {
        (Some(a), Some(b)) => Some(0.5 * (a + b)),
        (one, other) => one.or(other),
    }
}

/// Area under the ROC curve: the chance that a positive row scores higher than a negative one, where a tie is
/// half a win. Undefined unless there are both. O(n log n).
pub fn auc(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    Pairs::of(&mut rows(labels, scores, weights)?).share()
}

/// [`auc`] over the pairs of rows that are in the same group. Scores of different groups, such as predictions
/// of different models, are not compared with each other. Undefined if no group has both classes.
pub fn auc_within(groups: &[u32], labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let all = by_group(groups, labels, scores, weights)?.into_iter().map(|mut rows| Pairs::of(&mut rows));
    let all: Vec<Pairs> = all.filter(|pairs| pairs.share().is_some()).collect();
    match &all[..] {
        [] => None,
        [one] => one.share(),
        _ => {
            let count: f64 = all.iter().map(|pairs| pairs.positive * pairs.negative).sum();
            Some(all.iter().map(|pairs| pairs.wins).sum::<f64>() / count)
        }
    }
}

/// Pairs of a positive and a negative row, by their weights.
struct Pairs {
    /// In which the positive row scores higher; ties are half.
    wins: f64,
    /// Weights of the two classes.
    positive: f64,
    negative: f64,
}

impl Pairs {
    fn of(rows: &mut [ScoredRow]) -> Self {
        rows.sort_unstable_by(|a, b| a.score.total_cmp(&b.score));
        let (mut wins, mut positive, mut negative) = (0.0, 0.0, 0.0);
        for tied in rows.chunk_by(|a, b| a.score == b.score) {
            let (up, down) = weights_of_classes(tied);
            wins += up * (negative + 0.5 * down);
            positive += up;
            negative += down;
        }
        Pairs { wins, positive, negative }
    }

    /// Wins among all pairs.
    fn share(&self) -> Option<f64> {
        let both = self.positive > 0.0 && self.negative > 0.0;
        both.then(|| self.wins / self.positive / self.negative)
    }
}

/// Total weights of the positive and of the negative rows.
fn weights_of_classes(rows: &[ScoredRow]) -> (f64, f64) {
    let of = |positive: bool| total(rows.iter().filter(|row| row.is_positive() == positive));
    (of(true), of(false))
}

/// Area under the curve of precision against recall, as scikit-learn's `average_precision_score`: the mean over
/// the positive rows of the precision among the rows that score as high or higher. Undefined unless there are
/// both classes: without negative rows it is 1 for any scores.
pub fn pr_auc(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let found = Precisions::of(&mut rows(labels, scores, weights)?);
    (found.positive > 0.0).then(|| found.sum / found.positive)
}

/// [`pr_auc`] with precisions among the rows of the same group, see [`auc_within`]. Groups of one class do not
/// count.
pub fn pr_auc_within(groups: &[u32], labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let all = by_group(groups, labels, scores, weights)?.into_iter();
    let all = all.map(|mut rows| Precisions::of(&mut rows));
    let (sum, positive) = all.fold((0.0, 0.0), |(s, p), found| (s + found.sum, p + found.positive));
    (positive > 0.0).then(|| sum / positive)
}

/// The precisions at the positive rows; nothing if there is one class only.
struct Precisions {
    /// By weight.
    sum: f64,
    /// Weight of the positive rows.
    positive: f64,
}

impl Precisions {
    fn of(rows: &mut [ScoredRow]) -> Self {
        rows.sort_unstable_by(|a, b| b.score.total_cmp(&a.score));
        let (mut sum, mut positive, mut all) = (0.0, 0.0, 0.0);
        for tied in rows.chunk_by(|a, b| a.score == b.score) {
            let (up, down) = weights_of_classes(tied);
            positive += up;
            all += up + down;
            sum += up * positive / all;
        }
        if positive > 0.0 && positive < all { Precisions { sum, positive } } else { NO_PRECISIONS }
    }
}

const NO_PRECISIONS: Precisions = Precisions { sum: 0.0, positive: 0.0 };

/// The rows that count, group by group.
fn by_group(
    groups: &[u32],
    labels: &[f64],
    scores: &[f64],
    weights: Option<&[f64]>,
) -> Option<Vec<Vec<ScoredRow>>> {
    let of_group = super::per_task::split(groups, labels, scores, weights).into_iter();
    let with_weight = of_group.filter(|group| group.total_weight() != 0.0);
    let found: Option<Vec<Vec<ScoredRow>>> =
        with_weight.map(|group| rows(&group.labels, &group.scores, group.weights.as_deref())).collect();
    found.filter(|groups| !groups.is_empty())
}

/// Mean of `log(1 + exp(-y s))`, y = +1 or -1: the negative logarithm of the likelihood if a score s means
/// the probability `1 / (1 + exp(-s))`, as it does after a fit with the logistic loss.
pub fn log_loss(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    let term =
        |row: &ScoredRow| row.weight * Logistic.value(if row.is_positive() { 1.0 } else { -1.0 }, row.score);
    Some(rows.iter().map(term).sum::<f64>() / total(&rows))
}

/// Mean of `(p - y)^2`, y = 1 or 0, with the probability `p = 1 / (1 + exp(-s))` of a score s, as for
/// [`log_loss`].
pub fn brier(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<f64> {
    let rows = rows(labels, scores, weights)?;
    // The probability of the other class: |p - y| without a difference.
    let miss = |row: &ScoredRow| {
        let margin = if row.is_positive() { row.score } else { -row.score };
        (1.0 + margin.exp()).recip()
    };
    Some(rows.iter().map(|row| row.weight * miss(row) * miss(row)).sum::<f64>() / total(&rows))
}
