//! How much smaller errors are with all rows than with the training rows of a fold: fits to fewer of these tell.

use super::scoring::Folds;
use super::strengths::{ScaleOfAll, StrengthFit, Strengths};
use super::trials;
use crate::metric::{gain, mean};
use crate::residuals::FEW_LABELS;
use crate::select::{FoldRows, Study, TrainingFold};
use crate::{MethodSpec, Result};

/// The smallest part of the training rows of a fold that is fitted.
const LEAST_PART: f64 = 0.5;

/// How much larger errors are with fewer rows.
pub(super) struct ErrorGrowth {
    /// The part of the training rows of a fold that was fitted. The step from all rows to a fold is made once more:
    /// where rows are few, errors with much fewer say little about those with more.
    part: f64,
    /// The share by which the mean squared error is larger.
    share: f64,
}

/// What fits to a part of each fold say, if its training rows are on average this share of the rows of the study. One
/// standard error is left out: intervals that are too narrow are worse than wide ones. `None` if there is nothing to
/// be said.
pub(super) fn growth(
    study: &Study<'_>,
    rows: &[FoldRows],
    scale: ScaleOfAll<'_>,
    share_of_fold: f64,
    (fits, method, best): (&Strengths<'_>, &MethodSpec, &StrengthFit),
) -> Result<Option<ErrorGrowth>> {
    let part = share_of_fold.max(LEAST_PART);
    let of_part = |rows: &FoldRows| rows.with_share(study.observations, part, study.seed);
    let parts = rows.iter().map(of_part).collect::<Result<Vec<_>>>()?;
    let open = parts.iter().map(|rows| TrainingFold::new(study, rows)).collect::<Result<Vec<_>>>()?;
    if open.iter().any(has_few_labels) {
        return Ok(None);
    }
    let data = trials::datasets(&open, &fits.spec)?;
    let setting = (fits.spec.clone(), fits.threads);
    let mut of_part = Strengths::new((&open, &data), scale, setting, fits.scoring, fits.observer)?;
    let Some(of_part) = of_part.on_all_folds(method, best.trial.step)? else { return Ok(None) };
    let losses = |fit: &StrengthFit| fits.scoring.losses(Folds::All, &fit.predicted.values);
    let (of_part, of_fold) = (losses(&of_part)?, losses(best)?);
    let (growth, standard_error) = gain(&of_fold, &of_part);
    let share = (growth - standard_error) / mean(&of_fold);
    Ok(share.is_finite().then(|| ErrorGrowth { part, share: share.max(0.0) }))
}

/// Tasks with few labels have uncertain units, and fits to parts of them others.
fn has_few_labels(fold: &TrainingFold) -> bool {
    let observations = &fold.training.observations;
    observations.len() < FEW_LABELS * observations.n_tasks()
}

impl ErrorGrowth {
    /// What errors of the folds are to be multiplied by for a model of all rows, of which a fold has this share.
    ///
    /// The mean squared error is `a + b / rows`: what no model explains, and what more rows do. If a part `p` of the
    /// fold makes it larger by `g`, all rows make it smaller by `g (1 - share) p / (1 - p)`. As `a` is not negative, it
    /// is at least `share` of what it was: errors that fall faster, as where rows are hardly more than features, do not
    /// go on so.
    pub(super) fn error_factor(&self, share: f64) -> f64 {
        let share = share.clamp(0.0, 1.0);
        (1.0 - self.share * (1.0 - share) * self.part / (1.0 - self.part)).max(share).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_shrink_as_they_did_from_a_part_of_the_rows() {
        let factor =
            |part: f64, growth: f64, share: f64| ErrorGrowth { part, share: growth }.error_factor(share);
        for (share, growth) in [(2.0 / 3.0, 0.0), (1.0, 0.5), (2.0, 0.5)] {
            assert_eq!(factor(0.5, growth, share), 1.0);
        }
        // Errors of 1 + 60 / rows with 20, 40 and 60 rows are 4, 2.5 and 2; with 45, 50 of 75 rows 7/3, 2.2 and 1.8.
        assert!((factor(0.5, 4.0 / 2.5 - 1.0, 2.0 / 3.0) - (2.0_f64 / 2.5).sqrt()).abs() < 1e-12);
        assert!((factor(0.9, 7.0 / 3.0 / 2.2 - 1.0, 2.0 / 3.0) - (1.8_f64 / 2.2).sqrt()).abs() < 1e-12);
        // Errors that fall faster than 1 / rows.
        for growth in [3.0, 1e300, f64::INFINITY] {
            assert!((factor(0.8, growth, 0.8) - 0.8_f64.sqrt()).abs() < 1e-12);
        }
    }
}
