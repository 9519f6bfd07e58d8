//! How good predictions are, on data that the model has not seen.
//!
//! | Metric | Labels | Undefined without |
//! |---|---|---|
//! | [`auc`], [`auc_within`], [`pr_auc`], [`pr_auc_within`] | two classes | both classes |
//! | [`accuracy`], [`f1_macro`] | two classes | rows |
//! | [`balanced_accuracy`] | two classes | both classes |
//! | [`log_loss`], [`brier`] | two classes | rows |
//! | [`r2`], [`explained_variance`], [`nrmse`] | real | labels that differ |
//! | [`rmse`], [`mae`] | real | rows |
//! | [`class_accuracy`], [`top_k_accuracy`] | one of many classes | rows |
//!
//! What is undefined is `None`, never a number that stands for it: a task with one class has no AUC, and a
//! mean over tasks leaves it out, see [`PerTask`]. So is a metric of labels or scores among which there is a
//! NaN.
//!
//! Weights are not negative; `None` means that all are one. A row of weight zero might as well not be there.
//! Of two classes the positive one has labels above zero, whatever they are, and a row is predicted positive
//! if its score is above zero.
//!
//! ```
//! use kinfolk::metrics;
//! let (labels, scores) = ([1.0, -1.0, 1.0, -1.0], [2.0, -0.5, 0.3, 0.3]);
//! assert_eq!(metrics::accuracy(&labels, &scores, None), Some(0.75));
//! assert_eq!(metrics::auc(&labels, &scores, None), Some(0.875)); // one tie among four pairs
//! assert_eq!(metrics::auc(&labels[..1], &scores[..1], None), None);
//! ```
//!
//! # Panics
//! All of them, if labels, scores and weights are not of the same length.

mod classes;
mod numbers;
mod per_task;
mod precision;
mod signs;

pub use classes::{class_accuracy, top_k_accuracy};
pub use numbers::{explained_variance, mae, mean, nrmse, r2, rmse};
pub use per_task::PerTask;
pub use precision::precision_weights;
pub use signs::{
    accuracy, auc, auc_within, balanced_accuracy, brier, f1_macro, log_loss, pr_auc, pr_auc_within,
};

/// Labels, scores and perhaps weights in, a number out if there is one.
pub type Metric = fn(&[f64], &[f64], Option<&[f64]>) -> Option<f64>;

/// A label with its score and its weight, which is not zero.
#[derive(Debug, Clone, Copy)]
struct ScoredRow {
    label: f64,
    score: f64,
    weight: f64,
}

/// The rows that count; `None` if there is no such row, or a NaN.
fn rows(labels: &[f64], scores: &[f64], weights: Option<&[f64]>) -> Option<Vec<ScoredRow>> {
    assert_eq!(labels.len(), scores.len(), "a score for each label");
    if let Some(weights) = weights {
        assert_eq!(labels.len(), weights.len(), "a weight for each label");
    }
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let row = |i: usize| ScoredRow { label: labels[i], score: scores[i], weight: weight(i) };
    let rows: Vec<ScoredRow> = (0..labels.len()).map(row).filter(|row| row.weight != 0.0).collect();
    let sound = rows.iter().all(|row| !(row.label + row.weight).is_nan() && !row.score.is_nan());
    (sound && !rows.is_empty()).then_some(rows)
}

/// Sum of the weights of some rows.
fn total<'a>(rows: impl IntoIterator<Item = &'a ScoredRow>) -> f64 {
    rows.into_iter().map(|row| row.weight).sum()
}
