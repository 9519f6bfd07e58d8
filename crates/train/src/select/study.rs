//! What candidates are compared on, and how.

use super::{FoldOrder, FoldRows, HeldOut, Row, cut, folds, keyed_folds};
use crate::observer::StopObserver;
use crate::{
    Average, Error, FitSpec, LossSpec, Measure, Metric, Result, Score, StudyObserver, Trained, Training,
    auto_c,
};
use kinfolk::{Inputs, Intercept, Losses, Observations, Observer, Start, TargetScale, TargetScaling};
use kinfolk_io::{FoldKeys, Schema};
use serde::{Deserialize, Serialize};

/// Data, and how candidates are compared on them. Scaling of inputs and labels and class weights are
/// computed for each training part by itself.
#[derive(Debug, Clone)]
pub struct Study<'a> {
    /// Inputs as they are in the file.
    pub inputs: &'a Inputs<'a>,
    /// Observations, without class weights.
    pub observations: &'a Observations,
    /// The losses of the tasks.
    pub losses: Losses,
    /// Everything of a fit but method and weight; `threads` is the number of fits at a time.
    pub spec: FitSpec,
    /// The score; `None` for the one that suits the labels.
    pub metric: Option<Metric>,
    /// Number of folds.
    pub folds: usize,
    /// Whether all rows of a task are in one fold: scores are then about tasks without training rows.
    pub whole_tasks: bool,
    /// Groups or times of the rows, if these decide about folds.
    pub fold_keys: Option<FoldKeys>,
    /// How rows are dealt to folds.
    pub fold_order: FoldOrder,
    /// How often the data are cut into folds: with few rows, the result of a single cut depends on luck.
    pub repeats: usize,
    /// What settings are chosen by.
    pub scored: Scored,
    /// Seed of folds and splits.
    pub seed: u64,
}

/// What settings are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scored {
    /// The mean over folds of the score of each, as if it were all there is.
    ByFold,
    /// The score of all rows, each predicted once, by the fit of the fold that left it out: it exists, and has
    /// much less noise, if a fold has few rows of a task. See [`HeldOut`](super::HeldOut).
    #[default]
    Together,
}

/// Folds if none are given.
const DEFAULT_FOLDS: usize = 5;

impl<'a> Study<'a> {
    /// Five folds, cut once, the metric that suits the labels; the seed of the spec.
    pub fn new(
        inputs: &'a Inputs<'a>,
        observations: &'a Observations,
        losses: Losses,
        spec: FitSpec,
    ) -> Self {
        Study {
            inputs,
            observations,
            losses,
            metric: None,
            folds: DEFAULT_FOLDS,
            whole_tasks: false,
            fold_keys: None,
            fold_order: FoldOrder::default(),
            repeats: 1,
            scored: Scored::default(),
            seed: spec.seed,
            spec,
        }
    }

    /// The metric, or the one that suits the labels.
    pub fn metric(&self) -> Metric {
        self.metric.unwrap_or_else(|| Metric::default_for(self.observations))
    }

    /// Whether a metric with such a score, undefined for some of so many tasks, cannot be used: if it was asked for,
    /// only if that is all of them; if it is the one that suits the labels, if it is more than half. What few tasks say
    /// need not be good for the others. Where rows of all tasks are ranked together, tasks need no score of their own.
    pub(super) fn is_undefined(&self, score: &Score, tasks: usize) -> bool {
        let Metric { measure, average } = self.metric();
        if average == Average::Rows && matches!(measure, Measure::Auc | Measure::PrAuc) {
            return score.value.is_nan();
        }
        if self.metric.is_some() { score.undefined >= tasks } else { 2 * score.undefined > tasks }
    }

    /// The metric to score such observations by: another one if it is undefined for them.
    pub(super) fn defined_metric(&self, observations: &Observations) -> Result<Metric> {
        let metric = self.metric();
        let score = metric.score(observations, &self.losses, &vec![0.0; observations.len()])?;
        let tasks = score.per_task.len() - score.tasks_without_rows();
        let instead = self.is_undefined(&score, tasks);
        Ok(if instead { metric.always_defined(&self.losses) } else { metric })
    }

    /// The same for other data, of some of the rows.
    pub(crate) fn of_rows(&self, rows: &'a StudyRows) -> Study<'a> {
        Study {
            inputs: &rows.inputs,
            observations: &rows.observations,
            losses: self.losses.clone(),
            spec: self.spec.clone(),
            fold_keys: rows.fold_keys.clone(),
            ..*self
        }
    }

    /// Where the units and levels of tasks are left to the data, decides about them as `C = auto` does, for all
    /// settings. Returns the intercepts drawn together if they were taken.
    ///
    /// # Errors
    /// If the rows cannot be fitted.
    pub fn settle_levels(&mut self, observer: &dyn StudyObserver) -> Result<Option<Intercept>> {
        let found = auto_c::levels(self, observer)?;
        if let Some(intercept) = found {
            self.spec = self.spec.with_intercept(intercept);
        }
        Ok(found)
    }

    /// The rows of all folds, whatever decides about them.
    ///
    /// # Errors
    /// If there are fewer than two folds, or more than rows, groups or times allow.
    pub fn cut(&self, seed: u64) -> Result<Vec<FoldRows>> {
        let (n, observations) = (self.folds, self.observations);
        if self.whole_tasks {
            let tasks = keyed_folds::tasks_as_groups(observations)?;
            let fold_of = keyed_folds::group_folds(observations, &tasks, "whole tasks", n, seed)?;
            return Ok(FoldRows::all(&fold_of, n));
        }
        cut(observations, self.fold_keys.as_ref(), n, self.fold_order, seed)
    }

    /// The folds of so many divisions. Folds by time are the same in each.
    pub(super) fn cuts(&self) -> Result<Vec<Vec<FoldRows>>> {
        if self.repeats == 0 {
            return Err(Error::Study("folds must be cut at least once".into()));
        }
        if self.repeats > 1 && matches!(self.fold_keys, Some(FoldKeys::Times(_))) {
            return Err(Error::Study("folds by time are always the same: they cannot be repeated".into()));
        }
        let seed = |round: usize| self.seed.wrapping_add((round as u64) << 32);
        (0..self.repeats).map(|round| self.cut(seed(round))).collect()
    }

    /// A part with this share of the rows, and the rest: whole groups, or rows and later ones, if these decide about
    /// folds.
    pub(super) fn split(&self, share: f64, seed: u64) -> Result<(Vec<u32>, Vec<u32>)> {
        match &self.fold_keys {
            Some(FoldKeys::Times(times)) => keyed_folds::split_by_time(times, share),
            Some(FoldKeys::Groups(groups)) => keyed_folds::split_by_group(&groups.index, share, seed),
            None => folds::split(self.observations, share, seed),
        }
    }

    /// How labels of all rows are scaled, if they are.
    pub(super) fn target_scaling(&self) -> Result<Option<TargetScaling>> {
        let centred = self.spec.centres_targets();
        Ok(TargetScaling::fit(self.spec.target_scale(), self.observations, &self.losses, centred)?)
    }

    /// The scaling of the labels of all rows that `auto` stands for.
    pub(crate) fn target_scale(&self) -> Result<TargetScale> {
        Ok(self.target_scaling()?.map_or(TargetScale::None, |scaling| scaling.kind()))
    }

    /// Whether folds hold out whole tasks, so that no prediction is for a task that had rows.
    ///
    /// # Errors
    /// As of [`cut`](Self::cut).
    pub fn holds_out_whole_tasks(&self) -> Result<bool> {
        Ok(!HeldOut::new(self.observations, &self.losses, &self.cut(self.seed)?).has_known_tasks())
    }

    /// The spec of one setting.
    pub fn spec_of(&self, row: &Row) -> FitSpec {
        let loss = LossSpec::from(&self.losses);
        let kernel = row.kernel.clone().or(self.spec.kernel.clone());
        FitSpec { loss, kernel, ..self.spec.with_method(row.method.clone(), row.weight) }
    }

    /// Fits a setting to all the data.
    ///
    /// # Errors
    /// If the method does not suit the data.
    pub fn refit(&self, row: &Row, schema: &Schema, observer: &mut dyn Observer) -> Result<Trained> {
        let spec = self.spec_of(row);
        let mut training = Training::of_arrays(&spec, self.inputs, self.observations)?;
        training.schema = schema.clone();
        let mut trained = training.fit(&spec, Start::Cold, observer)?;
        row.give_errors_to(&mut trained);
        Ok(trained)
    }

    /// Fits some of a candidate's settings to all the data.
    pub(super) fn refit_all(&self, rows: &[&Row], observer: &dyn StudyObserver) -> Result<Vec<kinfolk::Fit>> {
        let training = Training::of_arrays(&self.spec, self.inputs, self.observations)?;
        let fit = |row: &&Row| {
            let data = training.dataset(&self.spec_of(row))?;
            let prepared = crate::PreparedData::new(&data, &self.losses, self.spec.intercept())
                .with_atoms(&self.spec)?;
            let observer = &mut StopObserver(observer);
            let mut fit = prepared.fit(
                &row.method,
                row.weight,
                self.spec.lambda,
                &self.spec.settings(),
                Start::Cold,
                observer,
            )?;
            training.set_scalings(&mut fit.model)?;
            Ok(fit)
        };
        rows.iter().map(fit).collect()
    }
}

/// Some rows of a study, copied.
pub(crate) struct StudyRows {
    inputs: Inputs<'static>,
    observations: Observations,
    fold_keys: Option<FoldKeys>,
}

impl StudyRows {
    pub(crate) fn new(study: &Study<'_>, rows: &[u32]) -> Result<Self> {
        let inputs = study.inputs.select_rows(rows);
        let fold_keys = fold_keys(study, rows);
        Ok(StudyRows { inputs, observations: study.observations.select_inputs(rows)?, fold_keys })
    }

    /// The rows of some tasks.
    pub(crate) fn of_tasks(study: &Study<'_>, tasks: &[usize]) -> Result<Self> {
        let observations = study.observations.select_tasks(tasks)?;
        let rows: Vec<u32> = (0..observations.n_inputs() as u32)
            .filter(|&i| observations.of_input(i as usize).next().is_some())
            .collect();
        Ok(StudyRows {
            inputs: study.inputs.select_rows(&rows),
            observations: observations.select_inputs(&rows)?,
            fold_keys: fold_keys(study, &rows),
        })
    }

    /// The same rows, each observation with so many times its weight.
    pub(crate) fn repeated(self, times: &[f64]) -> Result<Self> {
        Ok(StudyRows { observations: self.observations.with_weights(times)?, ..self })
    }
}

fn fold_keys(study: &Study<'_>, rows: &[u32]) -> Option<FoldKeys> {
    study.fold_keys.as_ref().map(|keys| keys.select_rows(rows.iter().map(|&i| i as usize)))
}
