//! Tasks in one unit whose intercepts are drawn together: tried on the folds where units and levels of tasks are left
//! to the data.
//!
//! By default each task has a unit of its own and a free intercept: then neither its unit nor its level matters. Of a
//! few rows both are uncertain. Where labels of tasks can be compared, as marks of schools can, one unit for all and
//! intercepts that are drawn to the common level predict better, the more so the fewer rows tasks have; where they
//! cannot, held-out rows say so.

use super::compare::WORTH_A_STEP;
use super::scoring::{FoldScoring, Folds};
use super::strengths::{CONTENDERS, MethodTrials, ScaleOfAll, StrengthFit, Strengths, total_weight};
use super::trials::{self, best_of};
use super::widths::FAR_WORSE;
use crate::metric::{RowLoss, is_better, mean};
use crate::parallel::in_parallel;
use crate::select::{FoldRows, Study, TrainingFold};
use crate::{FitSpec, MethodSpec, Result, Training, all_losses};
use kinfolk::{CScale, Dataset, Intercept, LossKind, Observations, TargetScale, TargetScaling};

/// So many rows with the common level are added to each task; the next number is tried if one is better than that
/// before it.
const ROWS_AT_COMMON_LEVEL: [f64; 4] = [3.0, 12.0, 48.0, 192.0];

/// How to get from the labels of a study, which are in units of tasks, to those that were given.
pub(super) struct OpenLevels {
    scaling: Option<TargetScaling>,
}

/// Levels that are better than free ones.
pub(super) struct LevelTrials {
    pub(super) folds: DrawnFolds,
    pub(super) found: MethodTrials,
    pub(super) best: StrengthFit,
    /// The unit of the labels; `None` of classes.
    pub(super) units: Option<Vec<f64>>,
}

/// The folds with labels as they were given, scaled as levels ask for.
pub(super) struct DrawnFolds {
    pub(super) intercept: Intercept,
    pub(super) spec: FitSpec,
    pub(super) open: Vec<TrainingFold>,
    /// The scale of C of all rows, and their weight.
    c_scale: CScale,
    weight: f64,
}

impl OpenLevels {
    /// `None` if levels are not left to the data, or make no sense for them: tasks that share rows, such as columns of
    /// a table, have units of their own, and scores of classes without probabilities have no level.
    pub(super) fn of(training: &Training<'_>, spec: &FitSpec) -> Option<Self> {
        let (observations, scaling) = (&training.observations, training.target_scaling.clone());
        let have_own_rows = observations.n_tasks() > 1 && observations.len() <= observations.n_inputs();
        let is_probable = |loss: &LossKind| *loss == LossKind::Logistic;
        let has_level = |loss: &LossKind| is_probable(loss) || !loss.is_classification();
        let have_levels = all_losses(&training.losses, is_probable)
            || scaling.is_some() && all_losses(&training.losses, has_level);
        let is_open = spec.leaves_levels_open() && training.statistics.is_none();
        // The study has classes as they were given.
        let scaling = scaling.filter(|_| !all_losses(&training.losses, is_probable));
        (is_open && have_own_rows && have_levels).then_some(OpenLevels { scaling })
    }

    pub(super) fn of_tasks(self, tasks: &[usize]) -> Self {
        OpenLevels { scaling: self.scaling.map(|scaling| scaling.select_tasks(tasks)) }
    }

    /// The labels of a study as they were given.
    pub(super) fn given(&self, study: &Study<'_>) -> Result<Observations> {
        match &self.scaling {
            Some(scaling) => Ok(scaling.undo(study.observations)?),
            None => Ok(study.observations.clone()),
        }
    }

    /// A study of labels as they were given, with intercepts drawn together.
    pub(super) fn study<'a>(study: &Study<'a>, given: &'a Observations) -> Study<'a> {
        let spec = study.spec.with_intercept(Intercept::Shrunk(ROWS_AT_COMMON_LEVEL[0]));
        Study { observations: given, spec, ..study.clone() }
    }

    /// The best of the levels if it is better than what was found with free ones.
    pub(super) fn search(
        &self,
        (study, rows): (&Study<'_>, &[FoldRows]),
        (fits, scoring): (&Strengths<'_>, &FoldScoring<'_>),
        (method, own): (&MethodSpec, &StrengthFit),
    ) -> Result<Option<LevelTrials>> {
        let free = scoring.held_out().in_other_units(&own.predicted.values, |task, value| {
            self.scaling.as_ref().map_or(value, |scaling| scaling.unscale(task, value))
        });
        let mut better: Option<(DrawnFolds, MethodTrials, StrengthFit)> = None;
        for rows_at_level in ROWS_AT_COMMON_LEVEL {
            let intercept = Intercept::Shrunk(rows_at_level);
            let before = better.as_ref().map(|(_, _, best)| best);
            let Some(folds) = DrawnFolds::new((study, rows), fits, intercept)? else { break };
            let found = {
                let data = trials::datasets(&folds.open, &folds.spec)?;
                trials_of(folds.fits(&data, scoring, fits)?, (method, &free), before)?
            };
            let Some((found, best)) = found else { break };
            better = Some((folds, found, best));
        }
        let Some((folds, found, best)) = better.filter(|_| !fits.observer.stop()) else { return Ok(None) };
        if !self.are_better(scoring, &best, &free)? {
            return Ok(None);
        }
        let pooled = TargetScaling::fit(TargetScale::Pooled, study.observations, &study.losses, true)?;
        let units = pooled.filter(|_| self.scaling.is_some()).map(|pooled| pooled.spread().to_vec());
        Ok(Some(LevelTrials { folds, found, best, units }))
    }

    /// Whether levels that are drawn together predict better than free ones. Of numbers, errors in one unit are those
    /// of the tasks whose labels differ most. So errors relative to those of each task may be better, too, and must not
    /// be worse: they are much worse where tasks have units of their own.
    fn are_better(&self, scoring: &FoldScoring<'_>, drawn: &StrengthFit, free: &[f64]) -> Result<bool> {
        let is_better = |losses: &[RowLoss], than: &[RowLoss]| is_better(losses, than, WORTH_A_STEP);
        let in_one_unit = is_better(&drawn.predicted.losses, &scoring.losses(Folds::All, free)?);
        if self.scaling.is_none() {
            return Ok(in_one_unit);
        }
        let [drawn, free] = scoring.held_out().relative_errors(&drawn.predicted.values, free);
        Ok((in_one_unit || is_better(&drawn, &free)) && !is_better(&free, &drawn))
    }
}

impl DrawnFolds {
    /// `None` if the observer said stop.
    fn new(
        (study, rows): (&Study<'_>, &[FoldRows]),
        like: &Strengths<'_>,
        intercept: Intercept,
    ) -> Result<Option<Self>> {
        let spec = like.spec.with_intercept(intercept);
        let study = Study { spec: spec.clone(), ..study.clone() };
        let open = |rows: &FoldRows| {
            if like.observer.stop() { Ok(None) } else { TrainingFold::new(&study, rows).map(Some) }
        };
        let Some(open) = in_parallel(rows, like.threads, open)? else { return Ok(None) };
        let c_scale = trials::c_scale_of(&study, &spec)?;
        let weight = total_weight(study.observations);
        Ok(Some(DrawnFolds { intercept, spec, open, c_scale, weight }))
    }

    /// These folds ready to be fitted, as others are.
    pub(super) fn fits<'a>(
        &'a self,
        data: &'a [Dataset<'a>],
        scoring: &'a FoldScoring<'a>,
        like: &Strengths<'a>,
    ) -> Result<Strengths<'a>> {
        let scale = ScaleOfAll { c_scale: &self.c_scale, weight: self.weight };
        let spec = (self.spec.clone(), like.threads);
        Strengths::new((&self.open, data), scale, spec, scoring, like.observer)
    }
}

/// The strengths that were tried with some levels, and the best; `None` if they are no better than those before, or
/// far worse than free ones.
fn trials_of(
    mut drawn: Strengths<'_>,
    (method, free): (&MethodSpec, &[f64]),
    before: Option<&StrengthFit>,
) -> Result<Option<(MethodTrials, StrengthFit)>> {
    if let Some(before) = before {
        let other = drawn.on_all_folds(method, before.trial.step)?;
        if other.is_none_or(|other| other.trial.loss.is_nan() || other.trial.loss >= before.trial.loss) {
            return Ok(None);
        }
    }
    // From the middle, as where these levels are given: they then have the same C.
    let looked = drawn.look(method, 0)?;
    let free = mean(&drawn.scoring.losses(Folds::First, free)?);
    if best_of(&looked).is_none_or(|best| best.trial.loss > (1.0 + FAR_WORSE) * free) {
        return Ok(None);
    }
    let mut found = drawn.decide(method, looked, CONTENDERS)?;
    Ok(found.best.take().map(|best| (found, best)))
}
