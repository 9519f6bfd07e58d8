//! What the squared loss needs to know about rows: moments that add up.
//!
//! Rows may lie anywhere: in batches, files, on other machines. Each part of them gives a [`Statistics`], parts are
//! merged, and a fit needs nothing else. Where every row has a label for every task there is one X'X for all tasks;
//! otherwise each task has its own.
//!
//! | Module | Task |
//! |---|---|
//! | `batch` | rows as they come: checked, counted and cut into pieces of work |
//! | `alignment` | tasks of several parts brought together by their names |
//! | `labels` | what is known about labels besides their moments |
//! | `moments` | centred moments of some rows, and their merging |
//! | `ranges` | the smallest and the largest value of each feature |
//! | `sample` | some rows, kept for the choice of C |
//! | `scalings` | scalings of features and labels, from moments |
//! | `surrogate` | a small data set with the same moments, which solvers take |
//! | `file` | saves and loads |

mod alignment;
mod batch;
mod file;
mod labels;
mod moments;
mod ranges;
mod sample;
mod scalings;
mod surrogate;

pub use surrogate::Surrogate;

use crate::inputs::Inputs;
use crate::pool::Pool;
use crate::{Error, Observations, Result, TaskNames};
use alignment::{inverse, joined, places};
use batch::{
    BatchPart, check_batch, counts_of, parts_of_table, parts_of_tasks, rows_have_one_weight, rows_that_count,
};
use moments::RowMoments;
use ranges::FeatureRanges;
use rayon::prelude::*;
use sample::RowSample;

/// Rows of one piece of work. Pieces are the same for any number of threads, and so are the bits of the sums.
const PART_ROWS: usize = 8192;

/// What statistics may cost.
#[derive(Debug, Clone, PartialEq)]
pub struct StatisticsOptions {
    /// Rows that are kept as they are, for the scale of C and for its choice; 0 = none, and C must be given.
    pub sample_rows: usize,
    /// Memory budget in bytes for the moments of all tasks.
    pub memory: u64,
    /// Number of threads; 0 = one per core.
    pub threads: usize,
}

impl Default for StatisticsOptions {
    /// As many rows as the choice of C looks at, and the budget of a [`Dataset`](crate::Dataset).
    fn default() -> Self {
        let memory = crate::DatasetOptions::default().memory;
        StatisticsOptions { sample_rows: 3000, memory, threads: 0 }
    }
}

/// Moments of features and labels, task by task where tasks have rows of their own or labels are missing.
///
/// Any cutting of the rows into parts and any order of merging gives the same statistics up to rounding, and the same
/// parts in the same order give the same bits. Labels are taken less their offsets.
///
/// ```
/// use kinfolk::inputs::{Dense, Inputs};
/// use kinfolk::{Observations, Statistics};
/// let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// let (first, second) = (Inputs::from(Dense::f64(&x[..4], 2, 2)?), Inputs::from(Dense::f64(&x[4..], 2, 2)?));
/// let mut statistics = Statistics::new(&Default::default());
/// statistics.update(&first, &Observations::multi_task(&[0, 1], vec![1.0, 0.2])?)?;
/// let mut others = Statistics::new(&Default::default()); // on another machine
/// others.update(&second, &Observations::multi_task(&[0, 1], vec![1.1, 0.1])?)?;
/// statistics.merge(others)?;
/// assert_eq!((statistics.n_inputs(), statistics.n_features(), statistics.tasks().len()), (4, 2, 2));
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Statistics {
    memory: u64,
    threads: usize,
    /// 0 before the first rows.
    n_features: usize,
    tasks: TaskNames,
    layout: Layout,
    counts: Counts,
    /// Of no features before the first rows.
    ranges: FeatureRanges,
    sample: RowSample,
    attachment: Option<String>,
}

/// Sums and flags over all observations.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Counts {
    inputs: u64,
    observations: u64,
    /// Whether every input has one label for every task, in this order.
    complete: bool,
    /// Whether all inputs were sparse.
    sparse: bool,
    /// Whether all labels are -1 or +1.
    only_signs: bool,
    /// Whether any row has an offset.
    #[serde(default)]
    offsets: bool,
    /// The smallest positive weight of an observation.
    #[serde(with = "crate::serde_f64::number")]
    lightest: f64,
}

impl Default for Counts {
    fn default() -> Self {
        Counts {
            inputs: 0,
            observations: 0,
            complete: true,
            sparse: true,
            only_signs: true,
            offsets: false,
            lightest: f64::INFINITY,
        }
    }
}

impl Counts {
    fn add(&mut self, other: &Counts) {
        self.inputs += other.inputs;
        self.observations += other.observations;
        self.complete &= other.complete;
        self.sparse &= other.sparse;
        self.only_signs &= other.only_signs;
        self.offsets |= other.offsets;
        self.lightest = self.lightest.min(other.lightest);
    }
}

/// The moments.
#[derive(Debug, Clone, PartialEq)]
enum Layout {
    /// Every row has labels of all tasks, of equal weight; `None` before the first row.
    Shared(Option<Box<RowMoments>>),
    /// Rows of each task; `None` for a task without rows.
    PerTask(Vec<Option<RowMoments>>),
}

impl Statistics {
    /// Of no rows yet.
    pub fn new(options: &StatisticsOptions) -> Self {
        Statistics {
            memory: options.memory,
            threads: options.threads,
            n_features: 0,
            tasks: TaskNames::Numbered(0),
            layout: Layout::Shared(None),
            counts: Counts::default(),
            ranges: FeatureRanges::default(),
            sample: RowSample::new(options.sample_rows),
            attachment: None,
        }
    }

    /// A text that a caller keeps with the statistics, such as names of columns. Merging keeps the first one.
    pub fn attachment(&self) -> Option<&str> {
        self.attachment.as_deref()
    }

    /// Keeps a text with the statistics.
    pub fn attach(&mut self, text: impl Into<String>) {
        self.attachment = Some(text.into());
    }

    /// Adds rows. On an error nothing is added.
    ///
    /// # Errors
    /// [`Error::Incompatible`] for kernel values, another number of features, or other kinds of task names;
    /// [`Error::Label`] for a label that is not finite; [`Error::Memory`] if the moments are too large.
    pub fn update(&mut self, inputs: &Inputs<'_>, observations: &Observations) -> Result<()> {
        let targets = check_batch(inputs, observations)?;
        let mut batch = self.empty_like(inputs.n_features(), observations.task_names().clone());
        batch.counts = counts_of(inputs, observations);
        let shared = observations.is_complete() && rows_have_one_weight(observations);
        if !shared {
            batch.layout = Layout::PerTask(vec![None; observations.n_tasks()]);
        }
        // Sparse rows may have many more features than numbers.
        self.check_memory(inputs.n_features(), if shared { None } else { Some(observations.n_tasks()) })?;
        let pool = Pool::new(self.threads)?;
        batch.sample = pool.install(|| self.sample_of((inputs, observations), &targets));
        // Before the work: later nothing can fail.
        let map = self.align(&mut batch)?;
        let parts = if shared {
            parts_of_table(observations, &targets)
        } else {
            parts_of_tasks(observations, &targets)
        };
        pool.install(|| self.add_parts(inputs, &map, &parts, pool.threads()));
        self.ranges.absorb(&pool.install(|| FeatureRanges::of_rows(inputs, &rows_that_count(observations))));
        self.counts.add(&batch.counts);
        self.sample.absorb(batch.sample);
        Ok(())
    }

    /// Adds the rows of other statistics. On an error nothing is added.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn merge(&mut self, mut other: Statistics) -> Result<()> {
        if other.counts.inputs == 0 {
            return Ok(());
        }
        self.align(&mut other)?;
        match (&mut self.layout, other.layout) {
            (Layout::Shared(own), Layout::Shared(other)) => match (own, other) {
                (Some(own), Some(other)) => own.absorb(*other),
                (own, other) => *own = own.take().or(other),
            },
            (Layout::PerTask(own), Layout::PerTask(other)) => {
                for (own, other) in own.iter_mut().zip(other) {
                    absorb(own, other);
                }
            }
            _ => unreachable!("align gives both the same layout"),
        }
        self.ranges.absorb(&other.ranges);
        self.counts.add(&other.counts);
        self.sample.absorb(other.sample);
        self.attachment = self.attachment.take().or(other.attachment);
        Ok(())
    }

    /// Number of rows.
    pub fn n_inputs(&self) -> u64 {
        self.counts.inputs
    }

    /// Number of labels.
    pub fn n_observations(&self) -> u64 {
        self.counts.observations
    }

    /// Number of features; 0 before the first rows.
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Names of the tasks. Tasks that come with later rows are sorted in.
    pub fn tasks(&self) -> &TaskNames {
        &self.tasks
    }

    /// Whether every row has one label for every task.
    pub fn is_complete(&self) -> bool {
        self.counts.complete
    }

    /// Whether all rows were sparse.
    pub fn is_sparse(&self) -> bool {
        self.counts.sparse
    }

    /// Whether all labels are -1 or +1.
    pub fn only_signs(&self) -> bool {
        self.counts.only_signs
    }

    /// Whether any row has an offset. Only labels less offsets are kept.
    pub fn has_offsets(&self) -> bool {
        self.counts.offsets
    }

    /// Number of labels of positive weight of each task.
    pub fn task_counts(&self) -> Vec<u64> {
        match &self.layout {
            Layout::Shared(own) => vec![own.as_ref().map_or(0, |own| own.rows); self.tasks.len()],
            Layout::PerTask(tasks) => {
                tasks.iter().map(|own| own.as_ref().map_or(0, |own| own.rows)).collect()
            }
        }
    }

    /// Bytes that the moments take.
    pub fn bytes(&self) -> u64 {
        let of_one = |own: &RowMoments| 8 * (own.xx.as_slice().len() + own.xy.as_slice().len()) as u64;
        match &self.layout {
            Layout::Shared(own) => own.as_deref().map_or(0, of_one),
            Layout::PerTask(tasks) => tasks.iter().flatten().map(of_one).sum(),
        }
    }

    fn empty_like(&self, n_features: usize, tasks: TaskNames) -> Statistics {
        Statistics {
            n_features,
            tasks,
            layout: Layout::Shared(None),
            counts: Counts::default(),
            ranges: FeatureRanges::default(),
            sample: RowSample::new(self.sample.most_rows),
            attachment: None,
            memory: self.memory,
            threads: self.threads,
        }
    }

    /// `Err` if moments of so many features need more than the budget: those of all tasks together, or of each of so
    /// many.
    fn check_memory(&self, n_features: usize, n_tasks: Option<usize>) -> Result<()> {
        let (d, t) = (n_features as u64, n_tasks.unwrap_or(1) as u64);
        let needed = d.saturating_mul(d).saturating_mul(8).saturating_mul(t);
        if needed <= self.memory {
            return Ok(());
        }
        let what = match n_tasks {
            Some(_) => {
                "the moments of all tasks (tasks have their own rows, labels are missing, or their weights differ)"
            }
            None => "the moments of the rows, features x features",
        };
        Err(Error::Memory { what, needed, budget: self.memory })
    }

    fn sample_of(&self, data: (&Inputs<'_>, &Observations), targets: &[f64]) -> RowSample {
        let n = data.0.n_inputs();
        let hashes = sample::hashes_of_names(data.1.task_names());
        let starts: Vec<usize> = (0..n).step_by(PART_ROWS).collect();
        let of_part = |&start: &usize| {
            let rows = start..n.min(start + PART_ROWS);
            self.sample.of_inputs(data, targets, &hashes, rows)
        };
        let parts: Vec<RowSample> = starts.par_iter().map(of_part).collect();
        let mut all = RowSample::new(self.sample.most_rows);
        parts.into_iter().for_each(|part| all.absorb(part));
        all
    }

    /// Adds the rows of pieces of work, each task's in their order.
    fn add_parts(&mut self, inputs: &Inputs<'_>, map: &[usize], parts: &[BatchPart], threads: usize) {
        // Labels of all tasks: pieces side by side, some at a time.
        let all: Vec<&BatchPart> = parts.iter().filter(|part| part.task.is_none()).collect();
        for parts in all.chunks(threads) {
            let of_part = |part: &&BatchPart| RowMoments::of_rows(inputs, &part.labelled());
            for moments in parts.par_iter().map(of_part).collect::<Vec<_>>() {
                self.absorb_all_labels(map, moments);
            }
        }
        let Layout::PerTask(own) = &mut self.layout else { return };
        let mut of_task: Vec<Vec<&BatchPart>> = vec![vec![]; own.len()];
        for part in parts {
            if let Some(task) = part.task {
                of_task[map[task]].push(part);
            }
        }
        // Tasks side by side, and pieces of large ones.
        own.par_iter_mut().zip(of_task).for_each(|(own, parts)| {
            if let (Some(own), [part]) = (&mut *own, &parts[..]) {
                return own.add_rows(inputs, &part.labelled());
            }
            for parts in parts.chunks(threads) {
                let of_part = |part: &&BatchPart| RowMoments::of_rows(inputs, &part.labelled());
                let moments: Vec<RowMoments> = parts.par_iter().map(of_part).collect();
                moments.into_iter().for_each(|moments| absorb(own, Some(moments)));
            }
        });
    }

    fn absorb_all_labels(&mut self, map: &[usize], moments: RowMoments) {
        match &mut self.layout {
            Layout::Shared(own) => {
                let moments = moments.select_labels(&inverse(map));
                match own {
                    Some(own) => own.absorb(moments),
                    None => *own = Some(Box::new(moments)),
                }
            }
            Layout::PerTask(own) => {
                for (task, &to) in map.iter().enumerate() {
                    absorb(&mut own[to], Some(moments.select_labels(&[task])));
                }
            }
        }
    }

    /// Gives both the same tasks and the same layout. Returns which task each task of the other was mapped to.
    fn align(&mut self, other: &mut Statistics) -> Result<Vec<usize>> {
        if self.n_features != 0 && self.n_features != other.n_features {
            return Err(Error::Incompatible(format!(
                "the rows so far have {} features, these have {}",
                self.n_features, other.n_features
            )));
        }
        let (own_is_new, both_complete) =
            (self.counts.inputs == 0, self.counts.complete && other.counts.complete);
        let tasks = match own_is_new {
            true => other.tasks.clone(),
            false => joined(&self.tasks, &other.tasks, both_complete)?,
        };
        let (own_map, map) = (places(&self.tasks, &tasks), places(&other.tasks, &tasks));
        let as_they_are =
            |map: &[usize]| map.len() == tasks.len() && map.iter().enumerate().all(|(t, to)| t == *to);
        let is_shared = |one: &Statistics| matches!(one.layout, Layout::Shared(_));
        let has_all = |map: &[usize]| map.len() == tasks.len();
        let shared =
            (own_is_new || is_shared(self) && has_all(&own_map)) && is_shared(other) && has_all(&map);
        self.check_memory(other.n_features, if shared { None } else { Some(tasks.len()) })?;
        for (one, map) in [(&mut *self, &own_map), (&mut *other, &map)] {
            if is_shared(one) != shared || !as_they_are(map) {
                one.counts.complete &= has_all(map) || one.counts.inputs == 0;
                one.sample.with_tasks(map);
                one.layout = one.layout.relaid(map, tasks.len(), shared);
            }
            one.tasks = tasks.clone();
        }
        self.n_features = other.n_features;
        Ok(map)
    }
}

impl Layout {
    /// The same moments of tasks in other places, and shared or not.
    fn relaid(&self, map: &[usize], n_tasks: usize, shared: bool) -> Layout {
        match self {
            Layout::Shared(own) if shared => {
                Layout::Shared(own.as_ref().map(|own| Box::new(own.select_labels(&inverse(map)))))
            }
            Layout::Shared(own) => {
                let mut tasks = vec![None; n_tasks];
                if let Some(own) = own {
                    map.iter().enumerate().for_each(|(t, &to)| tasks[to] = Some(own.select_labels(&[t])));
                }
                Layout::PerTask(tasks)
            }
            Layout::PerTask(own) if shared => {
                debug_assert!(own.iter().all(Option::is_none), "only empty statistics become shared");
                Layout::Shared(None)
            }
            Layout::PerTask(own) => {
                let mut tasks = vec![None; n_tasks];
                own.iter().zip(map).for_each(|(own, &to)| tasks[to].clone_from(own));
                Layout::PerTask(tasks)
            }
        }
    }
}

fn absorb(own: &mut Option<RowMoments>, other: Option<RowMoments>) {
    match (own, other) {
        (Some(own), Some(other)) => own.absorb(other),
        (own, other) => *own = own.take().or(other),
    }
}
