//! Losses of held-out rows: what settings are chosen by.

use super::compare;
use crate::metric::{RowLoss, bound, is_better, mean};
use crate::select::{FoldRows, HeldOut, Study, defined_metric};
use crate::{Average, Measure, Metric, Result};

/// With so many held-out rows, strengths that are far off are told from good ones.
const ROWS_OF_A_LOOK: usize = 100;

/// Some of the folds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Folds {
    /// Those that all settings are tried on.
    First,
    /// All of them, for settings that are close to the best.
    All,
}

/// The test rows of the folds.
pub(super) struct FoldScoring<'a> {
    pub(super) metric: Metric,
    /// Number of first folds.
    pub(super) n_first: usize,
    /// For each input, whether it is tested in the first folds.
    is_first: Vec<bool>,
    held_out: HeldOut<'a>,
}

/// What fits predict for the test rows of some folds, and the losses.
#[derive(Debug, Clone)]
pub(super) struct HeldOutPredictions {
    pub(super) values: Vec<f64>,
    pub(super) losses: Vec<RowLoss>,
}

impl<'a> FoldScoring<'a> {
    pub(super) fn new(study: &'a Study<'_>, folds: &[FoldRows]) -> Result<Self> {
        let n_first = n_first(folds.iter().map(|fold| fold.test.len()));
        let held_out = HeldOut::new(study.observations, &study.losses, folds)
            .with_target_scale(study.spec.target_scale());
        let (metric, _) = defined_metric(study, &held_out)?;
        let mut is_first = vec![false; study.inputs.n_inputs()];
        folds[..n_first].iter().flat_map(|fold| &fold.test).for_each(|&i| is_first[i as usize] = true);
        Ok(FoldScoring { metric, n_first, is_first, held_out })
    }

    /// The test rows of all folds.
    pub(super) fn held_out(&self) -> &HeldOut<'a> {
        &self.held_out
    }

    /// The score of all folds; NaN for predictions of some of them, which are not comparable with it.
    pub(super) fn score(&self, folds: Folds, predictions: &[f64]) -> Result<f64> {
        match folds {
            Folds::First if self.has_other_folds(predictions) => Ok(f64::NAN),
            _ => Ok(self.held_out.score(self.metric, predictions)?.value),
        }
    }

    fn has_other_folds(&self, predictions: &[f64]) -> bool {
        predictions.len() < self.held_out.len()
    }

    pub(super) fn predicted(&self, folds: Folds, values: Vec<f64>) -> Result<HeldOutPredictions> {
        Ok(HeldOutPredictions { losses: self.losses(folds, &values)?, values })
    }

    /// What strengths are chosen by. Where all classes count the same, losses are mostly those of rare ones, and small
    /// where nothing is learned; then it is whether the class is right.
    pub(super) fn losses(&self, folds: Folds, predictions: &[f64]) -> Result<Vec<RowLoss>> {
        // Units of tasks are those of all folds: a few rows of a task do not tell them.
        let mut all = predictions.to_vec();
        all.resize(self.held_out.len(), f64::NAN);
        let mut rows = match self.metric {
            Metric { measure: Measure::ClassAccuracy, average: Average::Tasks } => {
                self.held_out.class_errors(&all)?
            }
            _ => self.held_out.row_losses(&all)?,
        };
        if folds == Folds::First {
            rows.retain(|row| self.is_first[row.input as usize]);
        }
        bound(&mut rows);
        Ok(rows)
    }

    /// Whether a curved function predicts so much better than a straight one, on all folds, that it is taken. Of
    /// classes, more must be right: the loss of each one against the others is often smaller with a curve where the
    /// best class is the same.
    pub(super) fn is_worth_a_curve(
        &self,
        curved: &HeldOutPredictions,
        straight: &HeldOutPredictions,
    ) -> Result<bool> {
        let most = (1.0 - compare::MIN_GAIN_OF_A_CURVE) * mean(&straight.losses);
        if mean(&curved.losses) > most || !is_better(&curved.losses, &straight.losses, compare::WORTH_A_CURVE)
        {
            return Ok(false);
        }
        if self.metric.measure == Measure::ClassAccuracy {
            let errors = |predicted: &HeldOutPredictions| self.held_out.class_errors(&predicted.values);
            return Ok(has_fewer_errors(&errors(curved)?, &errors(straight)?));
        }
        let score = |predicted: &HeldOutPredictions| self.score(Folds::All, &predicted.values);
        let sign = if self.metric.higher_is_better() { 1.0 } else { -1.0 };
        // An R^2 of zero is that of the mean of the task.
        let is_good = self.metric.measure != Measure::R2 || score(curved)? > 0.0;
        Ok(is_good && sign * score(curved)? >= sign * score(straight)?)
    }
}

/// As few folds as have enough rows for a look.
fn n_first(rows: impl Iterator<Item = usize>) -> usize {
    let mut n_rows = 0;
    let before = |rows: usize| {
        let is_needed = n_rows < ROWS_OF_A_LOOK;
        n_rows += rows;
        is_needed
    };
    rows.map(before).take_while(|is_needed| *is_needed).count()
}

/// Whether the first has fewer wrong rows by more than chance: McNemar's test, corrected for few rows.
fn has_fewer_errors(rows: &[RowLoss], than: &[RowLoss]) -> bool {
    let only_first = rows.iter().zip(than).filter(|(a, b)| a.loss < b.loss).count() as f64;
    let only_second = rows.iter().zip(than).filter(|(a, b)| a.loss > b.loss).count() as f64;
    only_first - only_second - 1.0 > compare::WORTH_A_CURVE * (only_first + only_second).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_or_two_do_not_decide_about_classes() {
        let wrong = |rows: &[u32]| -> Vec<RowLoss> {
            let loss = |input: u32| f64::from(rows.contains(&input));
            (0..90).map(|input| RowLoss { input, loss: loss(input), weight: 1.0 }).collect()
        };
        assert!(!has_fewer_errors(&wrong(&[]), &wrong(&[1, 2])));
        assert!(!has_fewer_errors(&wrong(&[]), &wrong(&[1, 2, 3])));
        assert!(has_fewer_errors(&wrong(&[]), &wrong(&[1, 2, 3, 4, 5])));
        assert!(!has_fewer_errors(&wrong(&[7, 8, 9]), &wrong(&[1, 2, 3])));
    }

    #[test]
    fn a_look_has_enough_rows() {
        assert_eq!(n_first([9; 5].into_iter()), 5);
        assert_eq!(n_first([40; 5].into_iter()), 3);
        assert_eq!(n_first([99, 1, 70].into_iter()), 2);
        assert_eq!(n_first([1000; 3].into_iter()), 1);
    }
}
