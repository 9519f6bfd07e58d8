//! `C = auto`: the strength whose fits predict held-out rows best.
//!
//! Some folds are fitted at a few strengths, each from the nearest fit before it, with a loose tolerance: only the
//! choice matters. Strengths that are far off on the first folds are not fitted on the others. Each fold scales
//! inputs and labels by its own training rows. The best strength has the smallest mean loss of held-out rows: for
//! numbers the squared error in units of their task, which is 1 - R^2, and for classes the loss of the fit. On random
//! problems with balanced classes that was a little better than AUC, and much better than the strongest
//! regularisation within a standard error of the best; for classes, the strength closest to the middle within half a
//! standard error did about as well. With the hinge loss and few positive rows it is a poor guide: then the smallest
//! loss can be that of predicting the more frequent class for all rows.
//!
//! | Module | Task |
//! |---|---|
//! | `distinct` | rows that differ, in an order of their own: what the folds are cut from |
//! | `some_tasks` | some of many tasks |
//! | `search` | which strengths are tried, and which is the best |
//! | `strengths` | their fits: on the first folds, and on all folds if they are close to the best |
//! | `scoring` | losses of held-out rows |
//! | `trials` | what is tried on the folds, and in which order |
//! | `curved` | whether an RBF kernel is worth a try |
//! | `widths` | fits with it, and with the next widths |
//! | `levels` | tasks in one unit, with intercepts drawn together |
//! | `more_rows` | how much smaller errors are with all rows |
//! | `compare` | simple predictions on the same folds |

mod compare;
mod curved;
mod distinct;
mod levels;
mod more_rows;
mod scoring;
mod search;
mod some_tasks;
mod strengths;
mod trials;
mod widths;

use crate::observer::{SharedObserver, StopObserver};
use crate::select::{Study, StudyRows, folds};
use crate::{
    Average, FitSpec, Measure, MethodSpec, Metric, PreparedData, Residuals, Result, StudyObserver, Training,
    Weight, nan,
};
use kinfolk::{CScale, Inputs, Intercept, Kernel, Observations, Observer};
use kinfolk_io::FoldKeys;
use levels::OpenLevels;
use search::StrengthTrial;
use serde::{Deserialize, Serialize};
use some_tasks::SomeTasks;
use std::fmt;
use std::time::{Duration, Instant};
use strengths::ScaleOfAll;
use trials::Searched;

pub use compare::{Baseline, BaselineScore};

/// Number of folds.
const FOLDS: usize = 3;

/// Number of folds where rows are few: each fit then has four fifths of them instead of two thirds.
const FOLDS_OF_FEW_ROWS: usize = 5;

/// Up to so many rows are few.
const FEW_ROWS: usize = 150;

/// Rows are few, too, if tasks or classes have so many on average.
const FEW_ROWS_OF_A_TASK: usize = 10;

/// Rows that are looked at: of more, a part in which tasks and classes have their shares.
const MAX_ROWS: usize = 3000;

/// The same where a curved function is tried: fits with a kernel take longer.
const MAX_ROWS_OF_CURVES: usize = 1500;

/// With fewer rows nothing is chosen.
const MIN_ROWS: usize = 6;

/// Relative duality gap of the fits: only the choice matters.
const TOLERANCE: f64 = 1e-2;

/// Scores from here on are too good to be taken for granted.
const TOO_GOOD: f64 = 0.999;

/// Of a time limit, the share that the choice may take.
const TIME_SHARE: f64 = 0.5;

/// How C was chosen, where it was left to the data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoC {
    /// The strength.
    pub strength: f64,
    /// What the scores are; `None` if it is the middle of the scale, without a look at the labels.
    pub metric: Option<Metric>,
    /// Score of held-out rows with the strength that was chosen. NaN if it is undefined.
    #[serde(deserialize_with = "nan::from_null")]
    pub score: f64,
    /// How simpler predictions did on the same rows.
    pub baselines: Vec<BaselineScore>,
    /// Number of folds.
    pub folds: usize,
    /// Which rows were held out together.
    #[serde(default, skip_serializing_if = "HeldOutRows::is_random")]
    pub held_out: HeldOutRows,
    /// Number of rows that were looked at.
    pub rows: usize,
    /// All strengths that were tried, increasing.
    pub tried: Vec<TriedStrength>,
    /// What else a reader should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The method with what was left to the data; `None` if nothing was chosen.
    #[serde(skip)]
    pub(crate) method: Option<MethodSpec>,
    /// An RBF kernel, if the kernel was left to the data and the linear one is worse.
    #[serde(skip)]
    pub(crate) kernel: Option<Kernel>,
    /// Intercepts drawn together, if they were left to the data and free ones are worse.
    #[serde(skip)]
    pub(crate) intercept: Option<Intercept>,
    /// Errors of the held-out rows with the strength that was chosen, for numbers.
    #[serde(skip)]
    pub(crate) residuals: Option<Residuals>,
    /// The exponent of probabilities that is best for these rows, for classes.
    #[serde(skip)]
    pub(crate) class_exponent: Option<f64>,
}

/// Which rows are held out together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldOutRows {
    /// Random ones of every task and class.
    #[default]
    Random,
    /// Those of whole groups.
    Groups,
    /// Later ones.
    Later,
}

impl HeldOutRows {
    fn of(keys: Option<&FoldKeys>) -> Self {
        match keys {
            None => HeldOutRows::Random,
            Some(FoldKeys::Groups(_)) => HeldOutRows::Groups,
            Some(FoldKeys::Times(_)) => HeldOutRows::Later,
        }
    }

    fn is_random(&self) -> bool {
        *self == HeldOutRows::Random
    }

    /// The rows in words.
    fn rows(self) -> &'static str {
        match self {
            HeldOutRows::Random => "held-out rows",
            HeldOutRows::Groups => "held-out groups",
            HeldOutRows::Later => "later rows",
        }
    }
}

impl fmt::Display for HeldOutRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            HeldOutRows::Random => "folds",
            HeldOutRows::Groups => "folds of whole groups",
            HeldOutRows::Later => "folds by time",
        })
    }
}

/// A strength and its score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TriedStrength {
    /// The strength.
    pub strength: f64,
    /// Score of the rows of all folds, each predicted by the fit that left it out. NaN if it is undefined, or if the
    /// strength was far off on the first folds and not tried on the others.
    #[serde(deserialize_with = "nan::from_null")]
    pub score: f64,
}

impl AutoC {
    /// The middle of the scale, and why nothing was chosen.
    fn middle(why: impl Into<String>) -> Self {
        let note = Some(format!("the middle of the scale: {}", why.into()));
        AutoC {
            strength: CScale::MIDDLE,
            metric: None,
            score: f64::NAN,
            baselines: vec![],
            folds: 0,
            held_out: HeldOutRows::Random,
            rows: 0,
            tried: vec![],
            note,
            method: None,
            kernel: None,
            intercept: None,
            residuals: None,
            class_exponent: None,
        }
    }

    /// What was found with some tasks, for all of them.
    fn for_all_tasks(mut self, some: &SomeTasks, n_tasks: usize) -> Self {
        self.residuals = self.residuals.map(|found| found.of_some_tasks(n_tasks, &some.tasks));
        if self.metric.is_none() {
            return self;
        }
        self.strength *= some.factor;
        self.tried.iter_mut().for_each(|tried| tried.strength *= some.factor);
        let notes = [Some(some.in_words()), self.note.take()];
        self.note = Some(notes.into_iter().flatten().collect::<Vec<_>>().join("; "));
        self
    }

    /// In a few words: `3 folds, 7 values`.
    pub fn in_words(&self) -> String {
        match &self.note {
            Some(note) if self.metric.is_none() => note.clone(),
            Some(note) => format!("{} {}, {} values; {note}", self.folds, self.held_out, self.tried.len()),
            None => format!("{} {}, {} values", self.folds, self.held_out, self.tried.len()),
        }
    }

    /// How good the model is, and simpler predictions: `pooled-r2 0.41 on held-out rows; tasks alone 0.35`. `None` if
    /// nothing was held out.
    pub fn score_in_words(&self) -> Option<String> {
        let number = |score: f64| if score.is_nan() { "undefined".into() } else { format!("{score:.3}") };
        let own = format!("{} {} on {}", self.metric?, number(self.score), self.held_out.rows());
        let other = |found: &BaselineScore| format!("{} {}", found.baseline, number(found.score));
        let others: Vec<String> = self.baselines.iter().map(other).collect();
        Some(if others.is_empty() { own } else { format!("{own}; {}", others.join(", ")) })
    }

    /// What is to be said about held-out rows that are predicted nearly without error, which is rare where nothing in
    /// the columns was written after the label.
    pub(crate) fn too_good(&self) -> Option<String> {
        let best_is_one =
            |metric: &Metric| matches!(metric.measure, Measure::R2 | Measure::Auc | Measure::ClassAccuracy);
        self.metric.filter(best_is_one).filter(|_| self.score >= TOO_GOOD).map(|metric| {
            format!(
                "{} are predicted nearly without error ({metric} {:.4}): a column may say what is known only after the \
                 label; evaluate --importance shows which columns the model rests on",
                self.held_out.rows(),
                self.score
            )
        })
    }

    /// Simpler predictions that are better than the model, beyond noise, in words.
    pub fn warning(&self) -> Option<String> {
        let better = self.baselines.iter().filter(|found| found.is_better);
        let better: Vec<String> = better.map(|found| found.baseline.to_string()).collect();
        let better = better.join(" and ");
        (!better.is_empty())
            .then(|| format!("on {}, the loss of {better} is smaller, beyond noise", self.held_out.rows()))
    }
}

/// Chooses the strength for a spec on its training data. Never an error of its own: where folds cannot be fitted it is
/// the middle of the scale, and says so.
pub(crate) fn choose(
    training: &Training<'_>,
    prepared: &PreparedData<'_>,
    spec: &FitSpec,
    observer: &mut dyn Observer,
) -> AutoC {
    let Some(data) = training.rows_of_choice() else {
        return AutoC::middle("no rows were kept with the statistics");
    };
    let rows = rows_that_count(data.1);
    if rows.len() < MIN_ROWS {
        return AutoC::middle(format!("fewer than {MIN_ROWS} rows"));
    }
    if data.1.task_counts().iter().all(|n| *n < 2) {
        return AutoC::middle("no task has two rows");
    }
    let limit = spec.max_seconds.and_then(|seconds| Duration::try_from_secs_f64(TIME_SHARE * seconds).ok());
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let observer = SharedObserver::new(observer, deadline);
    let (levels, given) = (OpenLevels::of(training, spec), training.scores_as_given());
    let data = given.as_ref().map_or(data, |given| (data.0, given));
    let choose = || {
        let scale = ScaleOfAll::new(prepared.c_scale()?, &training.observations);
        of_rows(training, data, (scale, levels), spec, &rows, &observer)
    };
    choose().unwrap_or_else(|error| AutoC::middle(format!("folds cannot be fitted: {error}")))
}

/// The intercepts drawn together that `C = auto` would take for the rows of a study, if it leaves levels open.
pub(crate) fn levels(study: &Study<'_>, observer: &dyn StudyObserver) -> Result<Option<Intercept>> {
    if !study.spec.leaves_levels_open() || study.whole_tasks {
        return Ok(None);
    }
    // Levels hardly depend on the kernel, and the linear one takes least time.
    let kernel = match (&study.spec.kernel, study.inputs) {
        (None, Inputs::Dense(_) | Inputs::Sparse(_)) => Some(Kernel::Linear),
        (given, _) => given.clone(),
    };
    // The method is what is compared, so it does not decide.
    let method = FitSpec::default().method;
    let spec = FitSpec { c: Weight::Auto, method, kernel, max_seconds: None, ..study.spec.clone() };
    let rows: Vec<u32> = (0..study.inputs.n_inputs() as u32).collect();
    let mut training = Training::of_rows(&spec, study.inputs, study.observations, &study.losses, &rows)?;
    training.fold_keys.clone_from(&study.fold_keys);
    if OpenLevels::of(&training, &spec).is_none() {
        return Ok(None);
    }
    let data = training.dataset(&spec)?;
    let prepared = training.prepare(&data, &spec)?;
    Ok(choose(&training, &prepared, &spec, &mut StopObserver(observer)).intercept)
}

/// What to say about kernels that were not tried, since rows are too many for them.
pub(crate) fn hint(training: &Training<'_>, spec: &FitSpec, observer: &mut dyn Observer) -> Option<String> {
    let (inputs, observations) = training.rows_of_choice()?;
    let study = Study::new(inputs, observations, training.losses.clone(), spec.clone());
    curved::hint(&study, &SharedObserver::new(observer, None)).ok().flatten()
}

fn of_rows(
    training: &Training<'_>,
    (inputs, observations): (&Inputs<'_>, &Observations),
    (scale, levels): (ScaleOfAll<'_>, Option<OpenLevels>),
    spec: &FitSpec,
    rows: &[u32],
    observer: &SharedObserver<'_>,
) -> Result<AutoC> {
    // Of balanced classes, all count the same.
    let metric = Metric::default_for(observations);
    let balanced = Metric { average: Average::Tasks, ..metric };
    let is_balanced = spec.class_weight.is_some() && metric.measure == Measure::ClassAccuracy;
    // Scaling what is scaled already is scaling it by the rows of the fold. Classes are balanced already.
    let spec =
        FitSpec { tol: spec.tol.max(TOLERANCE), max_seconds: None, class_weight: None, ..spec.clone() };
    let mut study = Study::new(inputs, observations, training.losses.clone(), spec);
    study.fold_keys.clone_from(&training.fold_keys);
    study.metric = is_balanced.then_some(balanced);
    let distinct = distinct::distinct_rows(&study, rows)?;
    let study = study.of_rows(&distinct);
    let n_rows = study.inputs.n_inputs();
    if n_rows < MIN_ROWS {
        return Ok(AutoC::middle(format!("fewer than {MIN_ROWS} different rows")));
    }
    let Some(some) = SomeTasks::new(&study)? else {
        return of_tasks(study, (scale, levels.as_ref()), observer);
    };
    let levels = levels.map(|levels| levels.of_tasks(&some.tasks));
    let losses = study.losses.select_tasks(&some.tasks);
    let study = Study { losses, ..study.of_rows(&some.rows) };
    let c_scale = scale.c_scale.of_tasks(some.tasks.len());
    let scale = ScaleOfAll::new(&c_scale, study.observations);
    let chosen = of_tasks(study.clone(), (scale, levels.as_ref()), observer)?;
    Ok(chosen.for_all_tasks(&some, training.observations.n_tasks()))
}

fn of_tasks(
    study: Study<'_>,
    (scale, levels): (ScaleOfAll<'_>, Option<&OpenLevels>),
    observer: &SharedObserver<'_>,
) -> Result<AutoC> {
    let most = study.fold_keys.as_ref().map_or(usize::MAX, FoldKeys::most_folds);
    let study = Study { folds: n_folds(study.observations).min(most), ..study };
    // What goes wrong in a look at kernels is no reason to give up the linear one.
    let curve = curved::kernel_to_try(&study, observer).unwrap_or_default();
    let most = if curve.is_some() { MAX_ROWS_OF_CURVES } else { MAX_ROWS };
    let n_rows = study.inputs.n_inputs();
    if n_rows <= most {
        return of_study(&study, scale, (curve, levels), observer);
    }
    let (some, _) = folds::split(study.observations, most as f64 / n_rows as f64, study.seed)?;
    let some = StudyRows::new(&study, &some)?;
    let mut chosen = of_study(&study.of_rows(&some), scale, (curve, levels), observer)?;
    let rows = format!("{most} of {n_rows} rows, so all rows may do better");
    let notes = [Some(rows).filter(|_| chosen.metric.is_some()), chosen.note.take()];
    chosen.note = notes.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
    Ok(chosen)
}

fn of_study(
    study: &Study<'_>,
    scale: ScaleOfAll<'_>,
    open: (Option<Kernel>, Option<&OpenLevels>),
    observer: &SharedObserver<'_>,
) -> Result<AutoC> {
    let Searched { metric, method, kernel, intercept, mut tried, best, baselines, residuals, class_exponent } =
        trials::search(study, scale, open, observer)?;
    let Some(best) = best.or_else(|| search::best(&tried)) else {
        return Ok(AutoC::middle(if observer.stopped() { "ended early" } else { "labels do not differ" }));
    };
    let usual = study.spec.method.for_data(study.observations);
    let notes = [
        kernel.as_ref().map(|kernel| format!("{kernel} predicts better than linear")),
        intercept.map(|drawn| format!("intercept {drawn} predicts better than free")),
        (method != usual).then(|| format!("{method} predicts better than {usual}")),
        observer.stopped().then(|| "the choice of C ended early".to_string()),
        study
            .holds_out_whole_tasks()?
            .then(|| "whole tasks were held out, which tasks alone cannot predict".to_string()),
    ];
    let note = notes.into_iter().flatten().reduce(|one, other| format!("{one}; {other}"));
    tried.sort_by_key(|trial| trial.step);
    let scored =
        |trial: &StrengthTrial| TriedStrength { strength: search::strength(trial.step), score: trial.score };
    Ok(AutoC {
        strength: search::strength(best.step),
        metric: Some(metric),
        score: best.score,
        baselines,
        folds: study.folds,
        held_out: HeldOutRows::of(study.fold_keys.as_ref()),
        rows: study.inputs.n_inputs(),
        tried: tried.iter().map(scored).collect(),
        note,
        method: Some(method),
        kernel,
        intercept,
        residuals,
        class_exponent,
    })
}

/// The number of folds that suits some rows.
fn n_folds(observations: &Observations) -> usize {
    let (rows, tasks) = (observations.n_inputs(), observations.n_tasks());
    // A table of numbers has all its rows for every task. Of classes, each row is a positive one of one task.
    let are_shared = observations.len() > rows && observations.labels().iter().any(|y| y.abs() != 1.0);
    let of_a_task = if are_shared { rows } else { rows.div_ceil(tasks) };
    if rows <= FEW_ROWS || of_a_task <= FEW_ROWS_OF_A_TASK { FOLDS_OF_FEW_ROWS } else { FOLDS }
}

/// Inputs with an observation of positive weight.
fn rows_that_count(observations: &Observations) -> Vec<u32> {
    let counts = |i: &u32| observations.of_input(*i as usize).any(|o| observations.weight(o) > 0.0);
    (0..observations.n_inputs() as u32).filter(counts).collect()
}
