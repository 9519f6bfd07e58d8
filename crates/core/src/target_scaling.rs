//! Labels that are numbers, in units of their own spread. Part of the model, as the scaling of inputs is.

mod spread;

pub(crate) use spread::{ENOUGH_LABELS, shrunk};

use crate::linalg::power_of_two;
use crate::names::display_and_parse_names;
use crate::{Error, Losses, Observations, Result};
use serde::{Deserialize, Serialize};

/// How labels that are numbers are scaled, as written in settings and on the command line: `auto`, `task`, `shrunk`,
/// `common` or `none`. Files of models have what `auto` stands for.
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
    /// Labels stay as they are.
    #[default]
    None,
}

impl TargetScale {
    /// All of them.
    pub const ALL: [TargetScale; 5] =
        [TargetScale::Auto, TargetScale::Task, TargetScale::Shrunk, TargetScale::Common, TargetScale::None];

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
            TargetScale::None => "none",
        }
    }
}

display_and_parse_names!(TargetScale, "target scale");

/// A map of labels, with its numbers: task t learns `(y - centre_t) / spread_t`, and predictions are
/// `centre_t + spread_t F(x, t)`. An offset is divided by the spread.
///
/// With weights, means and spreads are weighted. Offsets count as known parts of the labels: centre and spread are
/// those of labels less offsets. A task with a loss for classes has centre 0 and spread 1.
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
}

impl TargetScaling {
    /// The scaling of this kind for these training labels; `None` if there is nothing to scale: the kind is `none`,
    /// no loss is about numbers, or all labels are -1 or +1, which are classes whatever the loss.
    ///
    /// The spread is the root of the mean of squared differences from the centre: the standard deviation, or the root
    /// mean square of labels that are not `centred`. Where it says nothing (one label, equal labels, none), it is the
    /// median of the other tasks' spreads, 1 if there is none.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if a mean or a spread is out of the range of double precision.
    pub fn fit(
        kind: TargetScale,
        observations: &Observations,
        losses: &Losses,
        centred: bool,
    ) -> Result<Option<Self>> {
        let n_tasks = observations.n_tasks();
        let is_number: Vec<bool> = (0..n_tasks).map(|t| !losses.is_classification(t)).collect();
        let only_signs = observations.labels().iter().all(|y| y.abs() == 1.0);
        if kind == TargetScale::None || only_signs || !is_number.contains(&true) {
            return Ok(None);
        }
        let mut moments = moments(observations, centred);
        moments
            .iter_mut()
            .zip(&is_number)
            .filter(|(_, number)| !**number)
            .for_each(|(own, _)| *own = TaskMoments::default());
        TargetScaling::of_moments(kind, moments, &is_number, centred).map(Some)
    }

    /// The scaling of this kind, `none` aside, for tasks whose labels are like this; `is_number` says which are to be
    /// scaled.
    pub(crate) fn of_moments(
        kind: TargetScale,
        mut moments: Vec<TaskMoments>,
        is_number: &[bool],
        centred: bool,
    ) -> Result<Self> {
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
        let spread_of = |(t, own): (usize, &TaskMoments)| match kind {
            _ if !is_number[t] => 1.0,
            TargetScale::Common => common,
            _ => own.spread.unwrap_or(usual),
        };
        let spread = moments.iter().enumerate().map(spread_of).collect();
        let centre = centred.then(|| moments.iter().map(|own| own.centre).collect());
        let scaling = TargetScaling { kind, centre, spread };
        scaling.check_numbers()?;
        Ok(scaling)
    }

    /// From its numbers, as a model file has them.
    pub(crate) fn from_parts(kind: TargetScale, centre: Option<Vec<f64>>, spread: Vec<f64>) -> Self {
        TargetScaling { kind, centre, spread }
    }

    /// Its kind: `task`, `shrunk` or `common`.
    pub fn kind(&self) -> TargetScale {
        self.kind
    }

    /// What is subtracted from the labels of each task; `None` if nothing is.
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
            let (centre, spread) = (self.centre_of(t), self.spread[t]);
            match y - centre {
                // The difference of two huge numbers, whose halves are in range.
                difference if difference.is_infinite() => (0.5 * y - 0.5 * centre) / spread * 2.0,
                difference => difference / spread,
            }
        };
        let labels: Vec<f64> = (0..observations.len()).map(scaled).collect();
        let offset = |(o, offset): (usize, &f64)| offset / self.spread[observations.task(o)];
        let offsets =
            observations.offsets().map(|all| all.iter().enumerate().map(offset).collect::<Vec<f64>>());
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

    /// A prediction of task t in the caller's units.
    #[inline]
    pub fn unscale(&self, t: usize, prediction: f64) -> f64 {
        self.centre_of(t) + self.spread[t] * prediction
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

/// Sums over the observations of one task.
#[derive(Clone, Default)]
struct TaskSums {
    /// A power of two near the largest label or offset: in these units no square over- or underflows.
    unit: f64,
    heaviest: f64,
    count: f64,
    /// One of the targets. Differences from it make equal targets have spread exactly 0.
    some: f64,
    weight: f64,
    /// Weighted sum of differences from `some`, then their mean.
    mean: f64,
    squares: f64,
}

/// What the labels of a task are like.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TaskMoments {
    /// 0 if labels are not centred.
    pub(crate) centre: f64,
    /// Where it has one.
    pub(crate) spread: Option<f64>,
    /// Number of labels; one of double weight counts twice.
    pub(crate) labels: f64,
}

/// The moments of all tasks.
fn moments(observations: &Observations, centred: bool) -> Vec<TaskMoments> {
    let mut sums = vec![TaskSums::default(); observations.n_tasks()];
    let counted: Vec<usize> = (0..observations.len()).filter(|&o| observations.weight(o) > 0.0).collect();
    for &o in &counted {
        let own = &mut sums[observations.task(o)];
        own.unit = own.unit.max(observations.label(o).abs()).max(observations.offset(o).abs());
        own.heaviest = own.heaviest.max(observations.weight(o));
        own.count += 1.0;
    }
    sums.iter_mut().for_each(|own| own.unit = power_of_two(own.unit));
    let target =
        |own: &TaskSums, o: usize| observations.label(o) / own.unit - observations.offset(o) / own.unit;
    for &o in counted.iter().rev() {
        let own = &mut sums[observations.task(o)];
        own.some = if centred { target(own, o) } else { 0.0 };
    }
    for &o in counted.iter().filter(|_| centred) {
        let own = &mut sums[observations.task(o)];
        let weight = observations.weight(o) / own.heaviest;
        own.weight += weight;
        own.mean += weight * (target(own, o) - own.some);
    }
    sums.iter_mut().filter(|own| own.weight > 0.0).for_each(|own| own.mean /= own.weight);
    sums.iter_mut().for_each(|own| own.weight = 0.0);
    for &o in &counted {
        let own = &mut sums[observations.task(o)];
        let weight = observations.weight(o) / own.heaviest;
        own.weight += weight;
        own.squares += weight * (target(own, o) - own.some - own.mean).powi(2);
    }
    let lightest = counted.iter().map(|&o| observations.weight(o)).fold(f64::INFINITY, f64::min);
    sums.iter().map(|own| own.moments(lightest)).collect()
}

impl TaskSums {
    fn moments(&self, lightest: f64) -> TaskMoments {
        let centre = (self.some + self.mean) * self.unit;
        let spread = (self.squares / self.weight).sqrt();
        // Rounding may leave that much of equal targets. False for NaN, of a task without observations.
        let spread = (spread > self.count * f64::EPSILON).then_some(spread * self.unit);
        TaskMoments { centre, spread, labels: self.weight * (self.heaviest / lightest) }
    }
}

/// Draws spreads of few labels to those of all tasks: whether there are such tasks.
fn shrink(moments: &mut [TaskMoments]) -> bool {
    let known = || moments.iter().filter_map(|own| Some((own.labels, own.spread?.ln())));
    let Some(units) = shrunk(&known().collect::<Vec<_>>()) else { return false };
    let spreads = moments.iter_mut().filter_map(|own| own.spread.as_mut());
    spreads.zip(units).for_each(|(spread, unit)| *spread = unit.exp());
    true
}

/// 1 for an empty list; of two in the middle the smaller.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    if sorted.is_empty() { 1.0 } else { sorted[(sorted.len() - 1) / 2] }
}

/// 1 for an empty list.
fn root_mean_square(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(0.0, f64::max);
    let squares: f64 = values.iter().map(|x| (x / largest).powi(2)).sum();
    if values.is_empty() { 1.0 } else { largest * (squares / values.len() as f64).sqrt() }
}
