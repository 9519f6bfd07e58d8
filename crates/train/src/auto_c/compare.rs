//! Simple predictions on the same folds: is joint learning worth it?

use crate::metric::RowLoss;
use crate::nan;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Differences of this many standard errors are beyond noise.
pub(super) const BEYOND_NOISE: f64 = 2.0;

/// Standard errors by which another setting must be better to be taken: few rows should not lead far from a safe one.
pub(super) const WORTH_A_STEP: f64 = 1.0;

/// Share of the held-out loss that a curved function must save: straight ones have coefficients that people can read.
pub(super) const MIN_GAIN_OF_A_CURVE: f64 = 0.02;

/// What a model is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Baseline {
    /// The mean label of each task, without inputs.
    TaskMean,
    /// The most frequent class of each task, or of all rows, without inputs.
    Majority,
    /// Each task by itself, at the strength that is best for it.
    TasksAlone,
    /// One model for the rows of all tasks, at the strength that is best for it.
    OneForAll,
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Baseline::TaskMean => "each task's mean",
            Baseline::Majority => "majority",
            Baseline::TasksAlone => "tasks alone",
            Baseline::OneForAll => "one model for all",
        })
    }
}

/// How a baseline did on the same held-out rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineScore {
    /// Which one.
    pub baseline: Baseline,
    /// Its score. NaN if it is undefined.
    #[serde(deserialize_with = "nan::from_null")]
    pub score: f64,
    /// Whether its held-out loss is smaller than that of the model, beyond noise.
    pub is_better: bool,
}

/// Mean loss; NaN without rows.
pub(super) fn mean(rows: &[RowLoss]) -> f64 {
    let weight: f64 = rows.iter().map(|row| row.weight).sum();
    rows.iter().map(|row| row.weight * row.loss).sum::<f64>() / weight
}

/// Whether the mean loss of the first is smaller than that of the second by more than so many standard errors of the
/// difference. Rows of one input count as one: their errors may be alike.
pub(super) fn is_better(rows: &[RowLoss], than: &[RowLoss], errors: f64) -> bool {
    let difference = |(a, b): (&RowLoss, &RowLoss)| RowLoss { loss: b.loss - a.loss, ..*a };
    let gains: Vec<RowLoss> = rows.iter().zip(than).map(difference).collect();
    let gain = mean(&gains);
    let weight: f64 = gains.iter().map(|row| row.weight).sum();
    let n_inputs = gains.iter().map(|row| row.input as usize + 1).max().unwrap_or(0);
    let mut of_input = vec![0.0; n_inputs];
    gains.iter().for_each(|row| of_input[row.input as usize] += row.weight * (row.loss - gain));
    let standard_error = of_input.iter().map(|sum| sum * sum).sum::<f64>().sqrt() / weight;
    gain > errors * standard_error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_better(rows: &[RowLoss], than: &[RowLoss]) -> bool {
        super::is_better(rows, than, BEYOND_NOISE)
    }

    #[test]
    fn only_differences_beyond_noise_count() {
        let rows = |losses: &[f64]| -> Vec<RowLoss> {
            losses.iter().zip(0..).map(|(&loss, input)| RowLoss { input, loss, weight: 1.0 }).collect()
        };
        let model = rows(&[1.0, 2.0, 3.0, 4.0]);
        assert!(is_better(&rows(&[0.5, 1.6, 2.5, 3.4]), &model));
        assert!(!is_better(&rows(&[2.0, 2.0, 3.0, 0.0]), &model));
        assert!(!is_better(&model, &model) && !is_better(&[], &[]));
        assert!(!is_better(&rows(&[1.5, 2.5, 3.5, 4.5]), &model));
        // Two rows of one input are a single difference.
        let in_pairs = |mut rows: Vec<RowLoss>| {
            rows.iter_mut().for_each(|row| row.input /= 2);
            rows
        };
        let better = rows(&[0.4, 1.4, 2.9, 3.9]);
        assert!(
            is_better(&better, &model) && !is_better(&in_pairs(better.clone()), &in_pairs(model.clone()))
        );
    }
}
