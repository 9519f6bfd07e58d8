//! Labels that are numbers, in units of their own spread. Part of the model, as the scaling of inputs is.

mod moments;
mod spread;

pub(crate) use moments::{TaskLabels, TaskMoments};
pub(crate) use spread::{ENOUGH_LABELS, shrunk};

use moments::{common_log_odds, median, moments, pool, root_mean_square, shrink};

use crate::names::display_and_parse_names;
use crate::{Error, LossKind, Losses, Observations, Result};
use serde::{Deserialize, Serialize};

/// How labels that are numbers are scaled, as written in settings and on the command line: `auto`, `task`, `shrunk`,
/// `common`, `pooled` or `none`. Files of models have what `auto` stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TargetScale {
    /// `task`, but `shrunk` if some tasks have fewer than six labels.
    Auto,
    /// Each task by its own spread: units of a task do not matter.
    Task,
    /// Each task by its own spread; that of a task with fewer than six labels is drawn to those of all tasks as far as
    /// its labels leave it uncertain.
    Shrunk,
    /// All tasks by one spread, the root of the mean of their variances: for tasks in the same units.
    Common,
    /// All labels by one mean and one spread: for tasks whose levels can be compared, with penalised intercepts.
    Pooled,
    /// Labels stay as they are.
    #[default]
    None,
}

impl TargetScale {
    /// All of them.
    pub const ALL: [TargetScale; 6] = [
        TargetScale::Auto,
        TargetScale::Task,
        TargetScale::Shrunk,
        TargetScale::Common,
        TargetScale::Pooled,
        TargetScale::None,
    ];

    /// Whether a task with so many labels is in units of these alone.
    pub fn is_own_unit(self, labels: usize) -> bool {
        match self {
            TargetScale::Task => true,
            TargetScale::Shrunk => labels as f64 >= ENOUGH_LABELS,
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            TargetScale::Auto => "auto",
            TargetScale::Task => "task",
            TargetScale::Shrunk => "shrunk",
            TargetScale::Common => "common",
            TargetScale::Pooled => "pooled",
            TargetScale::None => "none",
        }
    }
}

display_and_parse_names!(TargetScale, "target scale");

/// A map of labels, with its numbers: task t learns `(y - centre_t) / spread_t`, and predictions are
/// `centre_t + spread_t F(x, t)`. An offset is divided by the spread.
///
/// With weights, means and spreads are weighted. Offsets count as known parts of the labels: centre and spread are
/// those of labels less offsets. A task with a loss for classes has spread 1 and labels as they were. Its centre is 0,
/// or, with the logistic loss, the log-odds that all tasks have in common: a part of its offsets. It is there if
/// something draws intercepts to it, which is so for tasks of one class and with `pooled`.
///
/// ```
/// use kinfolk::{LossKind, Observations, TargetScale, TargetScaling};
/// let y = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 3.0, 100.0, 500.0])?;
/// let scaling = TargetScaling::fit(TargetScale::Task, &y, &LossKind::Squared.into(), true)?.unwrap();
/// assert_eq!((scaling.centre(), scaling.spread()), (Some(&[2.0, 300.0][..]), &[1.0, 200.0][..]));
/// assert_eq!(scaling.apply(&y)?.labels(), [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TargetScaling {
    kind: TargetScale,
    /// `None` if labels were not centred.
    centre: Option<Vec<f64>>,
    spread: Vec<f64>,
    /// Tasks of classes: their centre is an offset.
    is_class: Vec<bool>,
}

impl TargetScaling {
    /// The scaling of this kind for these training labels; `None` if there is nothing to scale: the kind is `none`,
    /// or no loss is about numbers, or all labels are -1 or +1, which are classes whatever the loss, and nothing draws
    /// to the common log-odds of classes.
    ///
    /// The spread is the root of the mean of squared differences from the centre: the standard deviation, or the root
    /// mean square of labels that are not `centred`. Where it says nothing (one label, equal labels, none), it is the
    /// median of the other tasks' spreads, 1 if there is none. With `pooled`, the centre of all tasks is the mean of
    /// their means, in which a task of n labels counts as `n / (n + 3)`, and the spread is that of all labels about it.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if a mean or a spread is out of the range of double precision.
    pub fn fit(
        kind: TargetScale,
        observations: &Observations,
        losses: &Losses,
        centred: bool,
    ) -> Result<Option<Self>> {
        let only_signs = observations.labels().iter().all(|y| y.abs() == 1.0);
        let kinds = TaskLabels::of_tasks(losses, observations.n_tasks(), only_signs);
        if kind == TargetScale::None || kinds.iter().all(|kind| *kind == TaskLabels::Other) {
            return Ok(None);
        }
        TargetScaling::of_moments(kind, moments(observations, &kinds, centred), &kinds, centred)
    }

    /// The scaling of this kind, `none` aside, for tasks whose labels are like this.
    pub(crate) fn of_moments(
        kind: TargetScale,
        mut moments: Vec<TaskMoments>,
        kinds: &[TaskLabels],
        centred: bool,
    ) -> Result<Option<Self>> {
        let level = common_log_odds(kind, &moments, kinds).filter(|_| centred);
        if level.is_none() && !kinds.contains(&TaskLabels::Number) {
            return Ok(None);
        }
        let classes = moments.iter_mut().zip(kinds).filter(|(_, kind)| **kind != TaskLabels::Number);
        classes.for_each(|(own, _)| *own = TaskMoments::default());
        if kind == TargetScale::Pooled {
            pool(&mut moments, kinds);
        }
        let shrunk = match kind {
            TargetScale::Auto | TargetScale::Shrunk => shrink(&mut moments),
            _ => false,
        };
        let kind = match kind {
            TargetScale::Auto | TargetScale::Shrunk if shrunk => TargetScale::Shrunk,
            TargetScale::Auto | TargetScale::Shrunk => TargetScale::Task,
            given => given,
        };
        let known: Vec<f64> = moments.iter().filter_map(|own| own.spread).collect();
        let (usual, common) = (median(&known), root_mean_square(&known));
        let spread_of = |(own, label): (&TaskMoments, &TaskLabels)| match kind {
            _ if *label != TaskLabels::Number => 1.0,
            TargetScale::Common => common,
            _ => own.spread.unwrap_or(usual),
        };
        let centre_of = |(own, label): (&TaskMoments, &TaskLabels)| match label {
            TaskLabels::LogOdds => level.unwrap_or(0.0),
            _ => own.centre,
        };
        let spread = moments.iter().zip(kinds).map(spread_of).collect();
        let centre = centred.then(|| moments.iter().zip(kinds).map(centre_of).collect());
        let is_class = kinds.iter().map(|kind| *kind == TaskLabels::LogOdds).collect();
        let scaling = TargetScaling { kind, centre, spread, is_class };
        scaling.check_numbers()?;
        Ok(Some(scaling))
    }

    /// From its numbers, as a model file with these losses has them.
    pub(crate) fn from_parts(
        kind: TargetScale,
        centre: Option<Vec<f64>>,
        spread: Vec<f64>,
        losses: &Losses,
    ) -> Self {
        let is_class = (0..spread.len()).map(|t| losses.of_task(t) == Some(&LossKind::Logistic)).collect();
        TargetScaling { kind, centre, spread, is_class }
    }

    /// Its kind: `task`, `shrunk`, `common` or `pooled`.
    pub fn kind(&self) -> TargetScale {
        self.kind
    }

    /// What is subtracted from the labels of each task, or added to the offsets of classes; `None` if nothing is.
    pub fn centre(&self) -> Option<&[f64]> {
        self.centre.as_deref()
    }

    /// What they are then divided by.
    pub fn spread(&self) -> &[f64] {
        &self.spread
    }

    /// Labels and offsets in units of the spreads.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for another number of tasks, or a label that leaves the range of double precision.
    pub fn apply(&self, observations: &Observations) -> Result<Observations> {
        self.check_tasks(observations.n_tasks())?;
        let scaled = |o: usize| {
            let (t, y) = (observations.task(o), observations.label(o));
            if self.is_class[t] {
                return y;
            }
            let (centre, spread) = (self.centre_of(t), self.spread[t]);
            match y - centre {
                // The difference of two huge numbers, whose halves are in range.
                difference if difference.is_infinite() => (0.5 * y - 0.5 * centre) / spread * 2.0,
                difference => difference / spread,
            }
        };
        let labels: Vec<f64> = (0..observations.len()).map(scaled).collect();
        let offset = |o: usize| {
            let t = observations.task(o);
            observations.offset(o) / self.spread[t] + if self.is_class[t] { self.centre_of(t) } else { 0.0 }
        };
        let has_offsets = observations.offsets().is_some() || self.has_start();
        let offsets: Option<Vec<f64>> = has_offsets.then(|| (0..observations.len()).map(offset).collect());
        let not_finite = |(o, y): (usize, &f64)| (!y.is_finite()).then_some(o);
        let mut wrong =
            labels.iter().enumerate().chain(offsets.iter().flatten().enumerate()).filter_map(not_finite);
        if let Some(o) = wrong.next() {
            let (t, label) = (observations.task(o), observations.label(o));
            return Err(Error::Incompatible(format!(
                "observation {o}: label {label} or its offset is out of range once scaled by the centre {} and spread \
                 {} of task {}",
                self.centre_of(t),
                self.spread[t],
                observations.task_names().name(t)
            )));
        }
        let scaled = observations.clone().with_labels(labels)?;
        match offsets {
            Some(offsets) => scaled.with_offsets(offsets),
            None => Ok(scaled),
        }
    }

    /// Labels and offsets as they were before [`apply`](Self::apply).
    ///
    /// # Errors
    /// [`Error::Incompatible`] for another number of tasks, or a label that leaves the range of double precision.
    pub fn undo(&self, observations: &Observations) -> Result<Observations> {
        self.check_tasks(observations.n_tasks())?;
        let label = |o: usize| {
            let (t, y) = (observations.task(o), observations.label(o));
            if self.is_class[t] { y } else { self.unscale(t, y) }
        };
        let given = observations.clone().with_labels((0..observations.len()).map(label).collect())?;
        let offset = |o: usize| {
            let t = observations.task(o);
            let own = observations.offset(o) - if self.is_class[t] { self.centre_of(t) } else { 0.0 };
            own * self.spread[t]
        };
        match observations.offsets() {
            Some(_) => given.with_offsets((0..observations.len()).map(offset).collect()),
            None => Ok(given),
        }
    }

    /// A prediction of task t in the caller's units.
    #[inline]
    pub fn unscale(&self, t: usize, prediction: f64) -> f64 {
        self.centre_of(t) + self.spread[t] * prediction
    }

    /// A prediction for labels as they were, in the units of [`apply`](Self::apply): the inverse of
    /// [`unscale`](Self::unscale) for numbers. Scores of classes are the same in both.
    pub fn scale(&self, t: usize, prediction: f64) -> f64 {
        if self.is_class[t] { prediction } else { (prediction - self.centre_of(t)) / self.spread[t] }
    }

    /// That of some tasks.
    #[must_use]
    pub fn select_tasks(&self, tasks: &[usize]) -> Self {
        TargetScaling {
            kind: self.kind,
            centre: self.centre.as_ref().map(|centre| tasks.iter().map(|&t| centre[t]).collect()),
            spread: tasks.iter().map(|&t| self.spread[t]).collect(),
            is_class: tasks.iter().map(|&t| self.is_class[t]).collect(),
        }
    }

    /// Whether the centres of some classes are not zero.
    fn has_start(&self) -> bool {
        (0..self.spread.len()).any(|t| self.is_class[t] && self.centre_of(t) != 0.0)
    }

    fn centre_of(&self, t: usize) -> f64 {
        self.centre.as_ref().map_or(0.0, |centre| centre[t])
    }

    /// `Err` if this is about another number of tasks.
    pub(crate) fn check_tasks(&self, n_tasks: usize) -> Result<()> {
        let centres = self.centre.as_ref().map_or(n_tasks, Vec::len);
        if self.spread.len() == n_tasks && centres == n_tasks {
            return Ok(());
        }
        let spreads = self.spread.len();
        Err(Error::Incompatible(format!(
            "the target scaling has {centres} centres and {spreads} spreads, there are {n_tasks} tasks"
        )))
    }

    /// `Err` if a centre is not finite or a spread not positive.
    pub(crate) fn check_numbers(&self) -> Result<()> {
        let wrong = |what: &str, t: usize, value: f64, range: &str| {
            Err(Error::Incompatible(format!(
                "the target {what} of task {t} is {value}, not a {range} number"
            )))
        };
        if let Some((t, c)) = self.centre.iter().flatten().enumerate().find(|(_, c)| !c.is_finite()) {
            return wrong("centre", t, *c, "finite");
        }
        match self.spread.iter().position(|s| !(s.is_finite() && *s > 0.0)) {
            Some(t) => wrong("spread", t, self.spread[t], "positive finite"),
            None => Ok(()),
        }
    }
}
