//! Which strengths are tried, in which order, and which is the best.

use crate::metric::{RowLoss, mean};
use kinfolk::CScale;
use std::cmp::Ordering;

/// Tenths of a decade between strengths before the best is known roughly.
const COARSE: i32 = 10;

/// The first strengths, from where the search starts: there, a decade below and a decade above.
const FIRST_STEPS: [i32; 3] = [0, -COARSE, COARSE];

/// The search never leaves this range: from 1e-5 to 1e5.
const STEP_RANGE: [i32; 2] = [-50, 50];

/// A strength that is as close as this to one that was tried is not worth another fit.
const CLOSE: i32 = 2;

/// Nor is one that promises to save less than this share of the loss.
const WORTH_A_FIT: f64 = 0.002;

/// A strength with what its fits say about held-out rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct StrengthTrial {
    /// Tenths of a decade from the middle of the scale.
    pub(super) step: i32,
    /// The score of its folds together.
    pub(super) score: f64,
    /// Mean held-out loss; NaN is never the best.
    pub(super) loss: f64,
}

impl StrengthTrial {
    pub(super) fn new(step: i32, score: f64, rows: &[RowLoss]) -> Self {
        StrengthTrial { step, score, loss: mean(rows) }
    }

    /// The smallest loss first; of equals the smallest strength.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        self.loss.total_cmp(&other.loss).then(self.step.cmp(&other.step))
    }
}

/// The strength that is so many tenths of a decade from the middle of the scale.
pub(super) fn strength(step: i32) -> f64 {
    CScale::MIDDLE * 10f64.powf(0.1 * f64::from(step))
}

/// The next step to try, in tenths of a decade from the middle of the scale; `None` at the end.
///
/// First the `start` and a decade to both sides. Then further out, a decade at a time, while the best is at an edge.
/// Last, the lowest point of the parabola through the best and its neighbours.
pub(super) fn next(trials: &[StrengthTrial], start: i32) -> Option<i32> {
    let is_coarse = |step: i32| (step - start) % COARSE == 0;
    let tried = |step: i32| trials.iter().find(|trial| trial.step == step);
    if let Some(step) = FIRST_STEPS.into_iter().map(|step| start + step).find(|step| tried(*step).is_none()) {
        return Some(step);
    }
    let best = best(trials)?;
    if trials.iter().any(|trial| !is_coarse(trial.step)) {
        return None;
    }
    match (tried(best.step - COARSE), tried(best.step + COARSE)) {
        (Some(below), Some(above)) => lowest(below, &best, above),
        (None, _) => Some(best.step - COARSE).filter(|step| *step >= STEP_RANGE[0]),
        (_, None) => Some(best.step + COARSE).filter(|step| *step <= STEP_RANGE[1]),
    }
}

/// Where the parabola through three neighbours is lowest, unless that is close to the middle one, or hardly lower.
fn lowest(below: &StrengthTrial, best: &StrengthTrial, above: &StrengthTrial) -> Option<i32> {
    let (fall, rise) = (below.loss - best.loss, above.loss - best.loss);
    // Both are at least zero, so the shift is at most half of the distance.
    let shift = (0.5 * f64::from(COARSE) * (fall - rise) / (fall + rise)).round();
    let gain = 0.125 * (fall - rise).powi(2) / (fall + rise);
    let is_worth_a_fit = shift.abs() >= f64::from(CLOSE) && gain >= WORTH_A_FIT * best.loss;
    is_worth_a_fit.then_some(best.step + shift as i32)
}

/// The one with the smallest loss; of equals the smallest strength.
pub(super) fn best(trials: &[StrengthTrial]) -> Option<StrengthTrial> {
    let defined = trials.iter().copied().filter(|trial| trial.loss.is_finite());
    defined.min_by(StrengthTrial::order)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All steps that are tried if the loss is this function of the step, and the best of them.
    fn search(loss: impl Fn(i32) -> f64) -> (Vec<i32>, Option<i32>) {
        search_from(0, loss)
    }

    fn search_from(start: i32, loss: impl Fn(i32) -> f64) -> (Vec<i32>, Option<i32>) {
        let mut trials = vec![];
        while let Some(step) = next(&trials, start) {
            trials.push(StrengthTrial { step, score: 0.0, loss: loss(step) });
            assert!(trials.len() <= 12, "{trials:?}");
        }
        (trials.iter().map(|trial| trial.step).collect(), best(&trials).map(|best| best.step))
    }

    #[test]
    fn a_minimum_is_found_wherever_it_is() {
        let [low, high] = STEP_RANGE;
        for place in low + COARSE..=high - COARSE {
            let (steps, best) = search(|step| f64::from((step - place).pow(2)));
            assert!(best.is_some_and(|best| (best - place).abs() < CLOSE), "{place}: {steps:?}");
        }
        assert_eq!(search(f64::from).1, Some(low));
        assert_eq!(search(|step| f64::from(-step)).1, Some(high));
        assert_eq!(search(|step| f64::from(step.abs())).0, [0, -10, 10]);
        assert_eq!(search(|step| f64::from((step + 13).pow(2))).0, [0, -10, 10, -20, -13]);
        let from_seven = search_from(7, |step| f64::from((step + 13).pow(2)));
        assert_eq!(from_seven, (vec![7, -3, 17, -13, -23], Some(-13)));
    }

    #[test]
    fn undefined_and_equal_losses_end_the_search() {
        assert_eq!(search(|_| f64::NAN).1, None);
        assert_eq!(search(|_| 0.5).1, Some(STEP_RANGE[0]));
        assert_eq!(search(|step| if step < 0 { f64::NAN } else { f64::from(step) }).1, Some(0));
        assert_eq!(search(|step| if step < 0 { f64::INFINITY } else { f64::from(step) }).1, Some(0));
    }

    #[test]
    fn rows_count_by_their_weight() {
        let row = |loss, weight| RowLoss { input: 0, loss, weight };
        let trial = StrengthTrial::new(0, 0.0, &[row(1.0, 2.0), row(4.0, 1.0), row(100.0, 0.0)]);
        assert_eq!(trial.loss, 2.0);
        assert!(StrengthTrial::new(0, 0.0, &[]).loss.is_nan());
    }
}
