//! What is tried on the folds, and in which order.

use super::compare::{self, Baseline, BaselineScore};
use super::levels::{LevelTrials, OpenLevels};
use super::more_rows;
use super::scoring::{FoldScoring, Folds, HeldOutPredictions};
use super::search::StrengthTrial;
use super::strengths::{CONTENDERS, ScaleOfAll, StrengthFit, Strengths};
use super::widths::{FAR_WORSE, WidthData};
use crate::metric::{is_better, mean};
use crate::parallel::{in_parallel, threads_or_cores};
use crate::select::{FoldRows, POOLED, STL, Study, TrainingFold};
use crate::{FitSpec, Measure, MethodSpec, Metric, Residuals, Result, StepWhen, StudyObserver, Training};
use kinfolk::{CScale, Dataset, Intercept, Kernel, Observations, TargetScale};

/// What was found on the folds.
pub(super) struct Searched {
    pub(super) metric: Metric,
    /// With what was left to the data.
    pub(super) method: MethodSpec,
    /// An RBF kernel, if it was taken in place of the linear one.
    pub(super) kernel: Option<Kernel>,
    /// Intercepts drawn together, if they were taken in place of free ones.
    pub(super) intercept: Option<Intercept>,
    pub(super) tried: Vec<StrengthTrial>,
    /// The best strength on all folds; `None` if the search ended early.
    pub(super) best: Option<StrengthTrial>,
    pub(super) baselines: Vec<BaselineScore>,
    /// Errors of the best strength, for numbers.
    pub(super) residuals: Option<Residuals>,
    /// The exponent of probabilities of the best strength, for classes.
    pub(super) class_exponent: Option<f64>,
}

/// Tries strengths until the best is known, or the observer says stop; then the kernel of a curved function, if there
/// is one; then baselines.
///
/// The scale of C of a fold is that of all rows for a part of them: one of its own would be nearly the same, and would
/// take as long as several small fits.
pub(super) fn search(
    study: &Study<'_>,
    scale: ScaleOfAll<'_>,
    (curve, levels): (Option<Kernel>, Option<&OpenLevels>),
    observer: &dyn StudyObserver,
) -> Result<Searched> {
    let rows = study.cut(study.seed)?;
    let given = levels.map(|open| open.given(study)).transpose()?;
    let drawn_study = given.as_ref().map(|given| OpenLevels::study(study, given));
    let scoring = FoldScoring::new(study, &rows)?;
    let drawn_scoring = drawn_study.as_ref().map(|study| FoldScoring::new(study, &rows)).transpose()?;
    let mut found = Searched {
        metric: scoring.metric,
        method: study.spec.method.for_data(study.observations),
        kernel: None,
        intercept: None,
        tried: vec![],
        best: None,
        baselines: vec![],
        residuals: None,
        class_exponent: None,
    };
    let threads = threads_or_cores(study.spec.threads);
    // Fits run side by side, each with one thread: the choice does not depend on the number of threads.
    let spec = FitSpec { threads: 1, ..study.spec.clone() };
    let open = |rows: &FoldRows| {
        if observer.stop() { Ok(None) } else { TrainingFold::new(study, rows).map(Some) }
    };
    let Some(open) = in_parallel(&rows, threads, open)? else { return Ok(found) };
    let (data, curved_data, drawn_folds, drawn_data);
    data = datasets(&open, &spec)?;
    let mut fits = Strengths::new((&open, &data), scale, (spec, threads), &scoring, observer)?;
    let looked = fits.look(&found.method, 0)?;
    found.tried = looked.iter().map(|tried| tried.trial).collect();
    let Some(first_look) = best_of(&looked).cloned() else { return Ok(found) };
    let straight = fits.decide(&found.method, looked, CONTENDERS)?;
    found.tried = straight.tried;
    let Some(mut own) = straight.best else { return Ok(found) };
    curved_data = WidthData::new(&open, &fits.spec, curve)?;
    if let Some(curved) = curved_data.search(study, (&fits, &first_look), &found.method)?
        && let Some(best) = curved.found.best.filter(|_| !observer.stop())
        && scoring.is_worth_a_curve(&best.predicted, &own.predicted)?
    {
        (found.kernel, found.tried, own) = (Some(curved.kernel), curved.found.tried, best);
        fits = curved.fits;
    }
    // How errors grow with fewer rows hardly depends on levels and steps.
    let (free_method, free) = (found.method.clone(), own.clone());
    let (mut scoring, mut drawn_fits, mut units) = (&scoring, None, None);
    if let (Some(open), Some(drawn_study), Some(drawn_scoring)) = (levels, &drawn_study, &drawn_scoring)
        && !observer.stop()
        && let Some(drawn) =
            open.search((drawn_study, &rows), (&fits, drawn_scoring), (&free_method, &free))?
    {
        let LevelTrials { folds, found: trials, best, units: in_units } = drawn;
        (found.intercept, found.tried, own, units) = (Some(folds.intercept), trials.tried, best, in_units);
        scoring = drawn_scoring;
        drawn_folds = folds;
        drawn_data = datasets(&drawn_folds.open, &drawn_folds.spec)?;
        drawn_fits = Some(drawn_folds.fits(&drawn_data, scoring, &fits)?);
    }
    // With the same levels as where they are given.
    let of_levels = drawn_fits.as_mut().unwrap_or(&mut fits);
    let mut simple: Vec<(Baseline, HeldOutPredictions)> = vec![];
    for baseline in baselines(study, scoring) {
        let predicted = match method_of(baseline)? {
            None => Some(scoring.predicted(Folds::All, scoring.held_out().baseline())?),
            // A baseline has a best strength of its own, by the same search on the same folds.
            Some(method) => of_levels.search(&method, own.trial.step, 1)?.best.map(|best| best.predicted),
        };
        let Some(predicted) = predicted.filter(|_| !observer.stop()) else { break };
        simple.push((baseline, predicted));
    }
    for (when, method) in study.spec.method.steps()? {
        let method = method.for_data(study.observations);
        // Nothing is to be gained from a step toward what is far worse.
        let is_near = |(_, predicted): &(Baseline, HeldOutPredictions)| {
            mean(&predicted.losses) < (1.0 + FAR_WORSE) * own.trial.loss
        };
        let is_worth_a_try = match when {
            StepWhen::Near(baseline) => simple.iter().any(|other| other.0 == baseline && is_near(other)),
            StepWhen::Table => is_table(study.observations),
        };
        if found.method == method || !is_worth_a_try || observer.stop() {
            continue;
        }
        let other = of_levels.search(&method, own.trial.step, CONTENDERS)?;
        let Some(best) = other.best else { continue };
        if is_better(&best.predicted.losses, &own.predicted.losses, compare::WORTH_A_STEP) {
            (found.method, found.tried, own) = (method, other.tried, best);
        }
    }
    found.class_exponent = scoring.held_out().class_exponent(&own.predicted.values);
    let errors = scoring.held_out().errors(&own.predicted.values, units.as_deref());
    let n_tasks = study.observations.n_tasks();
    let scale_of_labels =
        if found.intercept.is_some() { TargetScale::Pooled } else { study.target_scale()? };
    if let Some(residuals) = errors.and_then(|errors| Residuals::new(n_tasks, errors, scale_of_labels)) {
        let factor = || {
            let c_scale = c_scale_of(study, &fits.spec)?;
            let of_study = ScaleOfAll::new(&c_scale, study.observations);
            let setting = (&fits, &free_method, &free);
            let growth = more_rows::growth(study, &rows, of_study, mean_share(&open, of_study), setting)?;
            Ok::<_, crate::Error>(growth.map_or(1.0, |growth| growth.error_factor(mean_share(&open, scale))))
        };
        // What goes wrong with parts of folds is no reason to give up what is known from whole ones.
        found.residuals = Some(residuals.with_errors_times(factor().unwrap_or(1.0)));
    }
    for (baseline, predicted) in simple {
        let is_better = mean(&predicted.losses) < (1.0 - compare::WORTH_A_WARNING) * own.trial.loss
            && is_better(&predicted.losses, &own.predicted.losses, compare::BEYOND_NOISE);
        let score = scoring.score(Folds::All, &predicted.values)?;
        found.baselines.push(BaselineScore { baseline, score, is_better });
    }
    found.best = Some(own.trial);
    Ok(found)
}

/// Whether rows have labels of several tasks, which are no classes that exclude each other.
fn is_table(observations: &Observations) -> bool {
    let of_classes = Metric::default_for(observations).measure == Measure::ClassAccuracy;
    observations.len() > observations.n_inputs() && !of_classes
}

/// The share of all rows that a fold is fitted to.
fn mean_share(open: &[TrainingFold], scale: ScaleOfAll<'_>) -> f64 {
    open.iter().map(|fold| scale.share_of(&fold.training.observations)).sum::<f64>() / open.len() as f64
}

/// The best on the same folds.
pub(super) fn best_of(tried: &[StrengthFit]) -> Option<&StrengthFit> {
    let defined = tried.iter().filter(|tried| tried.trial.loss.is_finite());
    defined.min_by(|a, b| a.trial.order(&b.trial))
}

/// The scale of C of all rows of a study.
pub(super) fn c_scale_of(study: &Study<'_>, spec: &FitSpec) -> Result<CScale> {
    let rows: Vec<u32> = (0..study.inputs.n_inputs() as u32).collect();
    let training = Training::of_rows(spec, study.inputs, study.observations, &study.losses, &rows)?;
    let data = training.dataset(spec)?;
    Ok(CScale::new(&data, &study.losses, spec.intercept())?)
}

pub(super) fn datasets<'a>(open: &'a [TrainingFold], spec: &FitSpec) -> Result<Vec<Dataset<'a>>> {
    open.iter().map(|fold| fold.training.dataset(spec)).collect()
}

/// What to compare with. A model for the rows of all tasks makes no sense where all tasks have the same rows.
fn baselines(study: &Study<'_>, scoring: &FoldScoring<'_>) -> Vec<Baseline> {
    let (observations, held_out) = (study.observations, scoring.held_out());
    let one_task_per_row = observations.len() <= observations.n_inputs();
    let other_than = |name: &str| observations.n_tasks() > 1 && study.spec.method.name() != name;
    let numbers = Metric::default_for(observations).measure == Measure::R2;
    let mut all = vec![match (numbers, held_out.has_known_tasks()) {
        (false, _) => Baseline::Majority,
        (true, true) => Baseline::TaskMean,
        (true, false) => Baseline::OverallMean,
    }];
    // A task alone says nothing about tasks that had no rows.
    all.extend((other_than(STL) && held_out.has_known_tasks()).then_some(Baseline::TasksAlone));
    all.extend((other_than(POOLED) && one_task_per_row).then_some(Baseline::OneForAll));
    all
}

/// The method of a baseline, if it is fitted.
fn method_of(baseline: Baseline) -> Result<Option<MethodSpec>> {
    match baseline {
        Baseline::TaskMean | Baseline::OverallMean | Baseline::Majority => Ok(None),
        Baseline::TasksAlone => MethodSpec::new(STL, &[]).map(Some),
        Baseline::OneForAll => MethodSpec::new(POOLED, &[]).map(Some),
    }
}
