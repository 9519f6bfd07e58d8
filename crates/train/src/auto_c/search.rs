//! Which strengths are tried, in which order, and which is the best.

use super::compare::mean;
use crate::metric::RowLoss;
use kinfolk::CScale;

/// The first strengths: from 0.01 to 100, a decade apart.
const FIRST_STEPS: [i32; 2] = [-4, 4];

/// The search never leaves this range: from 1e-5 to 1e5.
const STEP_RANGE: [i32; 2] = [-10, 10];

/// Half decades in the distance of strengths before the best is known roughly.
const COARSE: i32 = 2;

/// A strength with what its fits say about held-out rows.
#[derive(Debug, Clone, Copy)]
pub(super) struct StrengthTrial {
    /// Half decades from the middle of the scale.
    pub(super) step: i32,
    /// The score of all folds together.
    pub(super) score: f64,
    /// Mean held-out loss; NaN is never the best.
    pub(super) loss: f64,
}

impl StrengthTrial {
    pub(super) fn new(step: i32, score: f64, rows: &[RowLoss]) -> Self {
        StrengthTrial { step, score, loss: mean(rows) }
    }
}

/// The strength that is so many half decades from the middle of the scale.
pub(super) fn strength(step: i32) -> f64 {
    CScale::MIDDLE * 10f64.powf(0.5 * f64::from(step))
}

/// The next step to try, in half decades from the middle; `None` at the end.
///
/// First a decade apart from below, until two in a row are worse than the best. Then further out while the best is at
/// an edge. Last, both neighbours of the best, half a decade away.
pub(super) fn next(trials: &[StrengthTrial]) -> Option<i32> {
    let untried = |step: i32| {
        let in_range = (STEP_RANGE[0]..=STEP_RANGE[1]).contains(&step);
        (in_range && trials.iter().all(|trial| trial.step != step)).then_some(step)
    };
    let Some(last) = trials.last() else { return Some(FIRST_STEPS[0]) };
    let coarse = || trials.iter().filter(|trial| trial.step % COARSE == 0).map(|trial| trial.step);
    let (low, high) = (coarse().min()?, coarse().max()?);
    let is_ascending = last.step == high && low == FIRST_STEPS[0];
    if is_ascending && high < FIRST_STEPS[1] && !falls(trials) {
        return untried(high + COARSE);
    }
    let best = best(trials)?.step;
    let beyond = if best == low { untried(low - COARSE) } else { None };
    beyond
        .or_else(|| if best == high { untried(high + COARSE) } else { None })
        .or_else(|| untried(best - 1).filter(|_| best % COARSE == 0))
        .or_else(|| untried(best + 1).filter(|_| best % COARSE == 0))
}

/// Whether the last two are worse than the best before them.
fn falls(trials: &[StrengthTrial]) -> bool {
    let [before @ .., a, b] = trials else { return false };
    best(before).is_some_and(|best| a.loss > best.loss && b.loss > best.loss)
}

/// The one with the smallest loss; of equals the smallest strength.
pub(super) fn best(trials: &[StrengthTrial]) -> Option<StrengthTrial> {
    let defined = trials.iter().copied().filter(|trial| trial.loss.is_finite());
    defined.min_by(|a, b| a.loss.total_cmp(&b.loss).then(a.step.cmp(&b.step)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All steps that are tried if the loss is this function of the step, and the best of them.
    fn search(loss: impl Fn(i32) -> f64) -> (Vec<i32>, Option<i32>) {
        let mut trials = vec![];
        while let Some(step) = next(&trials) {
            trials.push(StrengthTrial { step, score: 0.0, loss: loss(step) });
            assert!(trials.len() <= 21, "{trials:?}");
        }
        (trials.iter().map(|trial| trial.step).collect(), best(&trials).map(|best| best.step))
    }

    #[test]
    fn a_minimum_is_found_wherever_it_is() {
        for place in STEP_RANGE[0]..=STEP_RANGE[1] {
            let (steps, best) = search(|step| f64::from((step - place).abs()));
            assert_eq!(best, Some(place), "{steps:?}");
        }
        assert_eq!(search(|step| f64::from(step.abs())).0, [-4, -2, 0, 2, 4, -1, 1]);
        assert_eq!(search(|step| f64::from((step + 2).abs())).0, [-4, -2, 0, 2, -3, -1]);
    }

    #[test]
    fn undefined_and_equal_losses_end_the_search() {
        assert_eq!(search(|_| f64::NAN).1, None);
        assert_eq!(search(|_| 0.5).1, Some(STEP_RANGE[0]));
        assert_eq!(search(|step| if step < 0 { f64::NAN } else { f64::from(step) }).1, Some(0));
    }

    #[test]
    fn rows_count_by_their_weight() {
        let row = |loss, weight| RowLoss { loss, weight };
        let trial = StrengthTrial::new(0, 0.0, &[row(1.0, 2.0), row(4.0, 1.0), row(100.0, 0.0)]);
        assert_eq!(trial.loss, 2.0);
        assert!(StrengthTrial::new(0, 0.0, &[]).loss.is_nan());
    }
}
