//! Fits and scores of the folds.

use super::compare::{self, Baseline, BaselineScore};
use super::curved;
use super::search::{self, StrengthTrial};
use super::widths::{WidthData, WidthTrials};
use crate::metric::{RowLoss, is_better, mean};
use crate::observer::StopObserver;
use crate::parallel::{in_parallel, threads_or_cores};
use crate::select::{FoldRows, HeldOut, POOLED, STL, Study, TrainingFold, defined_metric};
use crate::{
    Average, FitSpec, Measure, MethodSpec, Metric, PreparedData, Residuals, Result, StudyObserver, Training,
    Weight, predict,
};
use kinfolk::{CScale, Dataset, Kernel, Observations, Start};

/// What was found on the folds.
pub(super) struct Searched {
    pub(super) metric: Metric,
    /// With what was left to the data.
    pub(super) method: MethodSpec,
    /// An RBF kernel, if it was taken in place of the linear one.
    pub(super) kernel: Option<Kernel>,
    pub(super) tried: Vec<StrengthTrial>,
    pub(super) baselines: Vec<BaselineScore>,
    /// Errors of the best strength, for numbers.
    pub(super) residuals: Option<Residuals>,
}

/// Tries strengths until the best is known, or the observer says stop; then a curved function, if it is worth a try;
/// then baselines.
///
/// The scale of C of a fold is that of all rows for a part of them: one of its own would be nearly the same, and would
/// take as long as several small fits.
pub(super) fn search(
    study: &Study<'_>,
    scale: ScaleOfAll<'_>,
    observer: &dyn StudyObserver,
) -> Result<Searched> {
    let rows = study.cut(study.seed)?;
    let held_out = HeldOut::new(study.observations, &study.losses, &rows);
    let (metric, _) = defined_metric(study, &held_out)?;
    let method = study.spec.method.for_data(study.observations);
    let mut found =
        Searched { metric, method, kernel: None, tried: vec![], baselines: vec![], residuals: None };
    let threads = threads_or_cores(study.spec.threads);
    // Fits run side by side, each with one thread: the choice does not depend on the number of threads.
    let spec = FitSpec { threads: 1, ..study.spec.clone() };
    let open = |rows: &FoldRows| {
        if observer.stop() { Ok(None) } else { TrainingFold::new(study, rows).map(Some) }
    };
    let Some(open) = in_parallel(&rows, threads, open)? else { return Ok(found) };
    let (data, curved_data);
    data = datasets(&open, &spec)?;
    let mut trials = Trials::new(&open, &data, scale, (spec, threads), observer)?;
    let scoring = (&held_out, metric);
    let first = trials.search(&found.method, 0, scoring)?;
    found.tried = first.tried;
    let Some((mut best, predictions)) = first.best else { return Ok(found) };
    let mut own = HeldOutPredictions::new(predictions, scoring)?;
    // What goes wrong in a look at kernels is no reason to give up the linear one.
    let kernel = curved::kernel_to_try(study, observer).unwrap_or_default();
    curved_data = WidthData::new(&open, &trials.spec, kernel)?;
    let curved = curved_data.search(study, (&trials, best.loss), &found.method, scoring)?;
    if let Some(WidthTrials { kernel, trials: curved, found: other }) = curved
        && let Some((trial, predictions)) = other.best.filter(|_| !observer.stop())
    {
        let predicted = HeldOutPredictions::new(predictions, scoring)?;
        if is_worth_a_curve(scoring, &predicted, &own)? {
            (found.kernel, found.tried, best, own) = (Some(kernel), other.tried, trial, predicted);
            trials = curved;
        }
    }
    let mut simple: Vec<(Baseline, HeldOutPredictions)> = vec![];
    for baseline in baselines(study, &held_out) {
        let predictions = match method_of(baseline)? {
            None => Some(held_out.baseline()),
            // A baseline has a best strength of its own, by the same search on the same folds.
            Some(method) => trials.search(&method, best.step, scoring)?.best.map(|best| best.1),
        };
        let Some(predictions) = predictions.filter(|_| !observer.stop()) else { break };
        simple.push((baseline, HeldOutPredictions::new(predictions, scoring)?));
    }
    for (baseline, predicted) in &simple {
        // Nothing is to be gained from a step toward what is worse.
        let Some(method) = study.spec.method.nearer_to(*baseline) else { continue };
        if found.method == method || mean(&predicted.losses) >= best.loss {
            continue;
        }
        let other = trials.search(&method.for_data(study.observations), best.step, scoring)?;
        let Some((trial, predictions)) = other.best else { continue };
        let predicted = HeldOutPredictions::new(predictions, scoring)?;
        if is_better(&predicted.losses, &own.losses, compare::WORTH_A_STEP) {
            (found.method, found.tried, best, own) = (method, other.tried, trial, predicted);
        }
    }
    let errors = held_out.errors(&own.values, None);
    let (n_tasks, own_units) = (study.observations.n_tasks(), study.has_own_units()?);
    found.residuals = errors.and_then(|errors| Residuals::new(n_tasks, errors, own_units));
    for (baseline, predicted) in simple {
        let is_better = is_better(&predicted.losses, &own.losses, compare::BEYOND_NOISE);
        let score = held_out.score(metric, &predicted.values)?.value;
        found.baselines.push(BaselineScore { baseline, score, is_better });
    }
    Ok(found)
}

/// Predictions for the test rows of all folds, and their losses.
struct HeldOutPredictions {
    values: Vec<f64>,
    losses: Vec<RowLoss>,
}

impl HeldOutPredictions {
    fn new(values: Vec<f64>, (held_out, metric): (&HeldOut<'_>, Metric)) -> Result<Self> {
        Ok(HeldOutPredictions { losses: choice_losses((held_out, metric), &values)?, values })
    }
}

/// The scale of C for all rows, and their weight.
#[derive(Clone, Copy)]
pub(super) struct ScaleOfAll<'a> {
    pub(super) c_scale: &'a CScale,
    weight: f64,
}

impl<'a> ScaleOfAll<'a> {
    pub(super) fn new(c_scale: &'a CScale, observations: &Observations) -> Self {
        ScaleOfAll { c_scale, weight: total_weight(observations) }
    }

    /// The scale for a random part of the rows.
    fn of_part(&self, part: &Observations) -> CScale {
        self.c_scale.of_share(total_weight(part) / self.weight)
    }
}

/// What strengths are chosen by: losses of held-out rows. Where all classes count the same, losses are mostly those of
/// rare ones, and small where nothing is learned; then it is whether the class is right.
pub(super) fn choice_losses(
    (held_out, metric): (&HeldOut<'_>, Metric),
    predictions: &[f64],
) -> Result<Vec<RowLoss>> {
    match metric {
        Metric { measure: Measure::ClassAccuracy, average: Average::Tasks } => {
            held_out.class_errors(predictions)
        }
        _ => held_out.row_losses(predictions),
    }
}

/// Whether a curved function predicts so much better than a straight one that it is taken. Of classes, more must be
/// right: the loss of each one against the others is often smaller with a curve where the best class is the same.
fn is_worth_a_curve(
    (held_out, metric): (&HeldOut<'_>, Metric),
    curved: &HeldOutPredictions,
    straight: &HeldOutPredictions,
) -> Result<bool> {
    let is_better =
        |curved: &[RowLoss], straight: &[RowLoss]| is_better(curved, straight, compare::WORTH_A_STEP);
    let most = (1.0 - compare::MIN_GAIN_OF_A_CURVE) * mean(&straight.losses);
    if mean(&curved.losses) > most || !is_better(&curved.losses, &straight.losses) {
        return Ok(false);
    }
    if metric.measure == Measure::ClassAccuracy {
        let errors = |predicted: &HeldOutPredictions| held_out.class_errors(&predicted.values);
        return Ok(has_fewer_errors(&errors(curved)?, &errors(straight)?));
    }
    let score = |predicted: &HeldOutPredictions| held_out.score(metric, &predicted.values).map(|s| s.value);
    let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
    // An R^2 of zero is that of the mean of the task.
    let is_good = metric.measure != Measure::R2 || score(curved)? > 0.0;
    Ok(is_good && sign * score(curved)? >= sign * score(straight)?)
}

/// Whether the first has fewer wrong rows by more than a standard error: McNemar's test, corrected for few rows.
fn has_fewer_errors(rows: &[RowLoss], than: &[RowLoss]) -> bool {
    let only_first = rows.iter().zip(than).filter(|(a, b)| a.loss < b.loss).count() as f64;
    let only_second = rows.iter().zip(than).filter(|(a, b)| a.loss > b.loss).count() as f64;
    only_first - only_second - 1.0 > compare::WORTH_A_STEP * (only_first + only_second).sqrt()
}

/// The scale of C of all rows of a study.
pub(super) fn c_scale_of(study: &Study<'_>, spec: &FitSpec) -> Result<CScale> {
    let rows: Vec<u32> = (0..study.inputs.n_inputs() as u32).collect();
    let training = Training::of_rows(spec, study.inputs, study.observations, &study.losses, &rows)?;
    let data = training.dataset(spec)?;
    Ok(CScale::new(&data, &study.losses, spec.intercept)?)
}

pub(super) fn datasets<'a>(open: &'a [TrainingFold], spec: &FitSpec) -> Result<Vec<Dataset<'a>>> {
    open.iter().map(|fold| fold.training.dataset(spec)).collect()
}

fn total_weight(observations: &Observations) -> f64 {
    (0..observations.len()).map(|o| observations.weight(o)).sum()
}

/// What to compare with. A model for the rows of all tasks makes no sense where all tasks have the same rows.
fn baselines(study: &Study<'_>, held_out: &HeldOut<'_>) -> Vec<Baseline> {
    let observations = study.observations;
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

/// The folds, ready to be fitted.
pub(super) struct Trials<'a> {
    pub(super) spec: FitSpec,
    pub(super) open: &'a [TrainingFold],
    prepared: Vec<PreparedData<'a>>,
    pub(super) threads: usize,
    pub(super) observer: &'a dyn StudyObserver,
    /// Duals of the fits so far: step, and those of each fold.
    warm: Vec<(i32, Vec<Vec<f64>>)>,
}

/// What the fit of a fold predicts for its test rows, and its duals.
struct FoldTrial {
    predictions: Vec<f64>,
    alpha: Vec<f64>,
}

/// The strengths that were tried for a method.
pub(super) struct MethodTrials {
    pub(super) tried: Vec<StrengthTrial>,
    /// The best one, with its predictions for the test rows of all folds.
    pub(super) best: Option<(StrengthTrial, Vec<f64>)>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(
        open: &'a [TrainingFold],
        data: &'a [Dataset<'a>],
        scale: ScaleOfAll<'_>,
        (spec, threads): (FitSpec, usize),
        observer: &'a dyn StudyObserver,
    ) -> Result<Self> {
        let prepare = |(fold, data): (&'a TrainingFold, &'a Dataset<'a>)| {
            let prepared = PreparedData::new(data, &fold.training.losses, spec.intercept);
            prepared.with_c_scale(scale.of_part(data.observations())).with_atoms(&spec)
        };
        let prepared = open.iter().zip(data).map(prepare).collect::<Result<_>>()?;
        Ok(Trials { spec, open, prepared, threads, observer, warm: vec![] })
    }

    /// Tries strengths of a method, from this one, until the best is known or the observer says stop.
    pub(super) fn search(
        &mut self,
        method: &MethodSpec,
        start: i32,
        (held_out, metric): (&HeldOut<'_>, Metric),
    ) -> Result<MethodTrials> {
        // Duals of another method are no start.
        self.warm.clear();
        let mut found = MethodTrials { tried: vec![], best: None };
        while let Some(step) = search::next(&found.tried, start) {
            let Some(predictions) = self.predictions(method, step)? else { break };
            let rows = choice_losses((held_out, metric), &predictions)?;
            let score = held_out.score(metric, &predictions)?.value;
            found.tried.push(StrengthTrial::new(step, score, &rows));
            if let Some(best) = search::best(&found.tried).filter(|best| best.step == step) {
                found.best = Some((best, predictions));
            }
        }
        Ok(found)
    }

    /// Predictions for the test rows of all folds; `None` if the observer said stop.
    pub(super) fn predictions(&mut self, method: &MethodSpec, step: i32) -> Result<Option<Vec<f64>>> {
        let weight = Weight::Relative(search::strength(step));
        let spec = self.spec.with_method(method.clone(), weight);
        let nearest = self.warm.iter().min_by_key(|(tried, _)| (tried - step).abs());
        let fit = |&f: &usize| -> Result<Option<FoldTrial>> {
            let fold = &self.open[f];
            let start = nearest.map_or(Start::Cold, |(_, alpha)| Start::Warm(&alpha[f]));
            let mut observer = StopObserver(self.observer);
            let trained = fold.training.fit_to(&self.prepared[f], &spec, start, &mut observer)?;
            if self.observer.stop() {
                return Ok(None);
            }
            let predictions = predict(&trained.model, &fold.test_inputs, &fold.test)?;
            Ok(Some(FoldTrial { predictions, alpha: trained.model.alpha().unwrap_or_default().to_vec() }))
        };
        let numbers: Vec<usize> = (0..self.open.len()).collect();
        let Some(found) = in_parallel(&numbers, self.threads, fit)? else { return Ok(None) };
        let predictions = found.iter().flat_map(|fold| fold.predictions.iter().copied()).collect();
        let alpha: Vec<Vec<f64>> = found.into_iter().map(|fold| fold.alpha).collect();
        if alpha.iter().all(|alpha| !alpha.is_empty()) {
            self.warm.push((step, alpha));
        }
        Ok(Some(predictions))
    }
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
        assert!(has_fewer_errors(&wrong(&[]), &wrong(&[1, 2, 3])));
        assert!(!has_fewer_errors(&wrong(&[7, 8, 9]), &wrong(&[1, 2, 3])));
    }
}
