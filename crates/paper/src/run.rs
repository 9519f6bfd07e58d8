//! Runs the jobs of an experiment that are not done yet, several at a time.

use crate::data::{self, Folder, Loaded};
use crate::experiment::{Experiment, ItemKind, Set};
use crate::job::FitJob;
use crate::record::{Key, Record, RecordFile};
use crate::{Error, Result, runtime};
use kinfolk_train::StudyObserver;
use kinfolk_train::parallel::{in_parallel, threads_or_cores};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where the data sets are, if anywhere.
    pub data: Option<Folder>,
    /// A quick look at small, perhaps generated, sets.
    pub quick: bool,
    /// Go on where an earlier run was.
    pub resume: bool,
    /// Fits at a time; 0 for all cores.
    pub threads: usize,
    /// Where records go: `OUT/ITEM.jsonl`.
    pub out: PathBuf,
}

/// What a run did.
#[derive(Debug, Clone, Default)]
pub struct RunSummary {
    /// Units done by this run, and by earlier ones.
    pub done: usize,
    /// The latter.
    pub before: usize,
    /// Sets that were left out, and why.
    pub skipped: Vec<String>,
    /// Whether somebody said stop.
    pub stopped: bool,
}

/// Runs what is not done yet.
///
/// # Errors
/// If there are records already and there is no `resume`; if data cannot be read, a fit fails or nothing can
/// be written.
pub fn run(experiment: &Experiment, options: &Options, observer: &dyn StudyObserver) -> Result<RunSummary> {
    let path = options.out.join(format!("{}.jsonl", experiment.item));
    if path.is_file() && !options.resume {
        return Err(Error::file(&path, "there are records already: --resume goes on with them"));
    }
    std::fs::create_dir_all(&options.out).map_err(|error| Error::file(&options.out, error))?;
    let experiment = if options.quick { experiment.clone().quick() } else { experiment.clone() };
    match experiment.kind {
        ItemKind::Runtime => runtime::run(&experiment, options, &path, observer),
        _ => jobs(&experiment, options, &RecordFile::open(&path)?, observer),
    }
}

fn jobs(
    experiment: &Experiment,
    options: &Options,
    records: &RecordFile<Record>,
    observer: &dyn StudyObserver,
) -> Result<RunSummary> {
    let mut outcome = RunSummary::default();
    let of_set = |set| all_jobs(experiment, set);
    let total: usize = experiment.sets.iter().map(|set| of_set(set).len()).sum();
    let done = AtomicUsize::new(0);
    for set in &experiment.sets {
        let all = of_set(set);
        let open: Vec<FitJob<'_>> = all.iter().filter(|job| !records.has(&job.key())).copied().collect();
        outcome.before += all.len() - open.len();
        done.fetch_add(all.len() - open.len(), Ordering::Relaxed);
        if open.is_empty() {
            continue;
        }
        let Some(loaded) = data::load(set, options.data.as_ref(), options.quick)? else {
            outcome.skipped.push(format!("{}: {}", set.name, data::listed(set, options.data.as_ref())));
            done.fetch_add(open.len(), Ordering::Relaxed);
            continue;
        };
        let known: BTreeMap<String, Record> =
            records.all.iter().filter(|r| r.set == set.name).map(|r| (r.key(), r.clone())).collect();
        let work = Work { options, records, observer, total, done: &done, settled: Mutex::new(known) };
        // Splits that choose come before those that take their choice.
        let chooses = |job: &&FitJob<'_>| set.chosen_on.is_none_or(|n| job.split < n);
        let (first, then): (Vec<&FitJob<'_>>, Vec<&FitJob<'_>>) = open.iter().partition(chooses);
        for phase in [first, then] {
            outcome.done += work.phase(&phase, set, &loaded)?;
        }
        if observer.stop() {
            outcome.stopped = true;
            break;
        }
    }
    Ok(outcome)
}

/// Split by split, so that a run that is stopped has something of every method.
fn all_jobs<'a>(experiment: &'a Experiment, set: &'a Set) -> Vec<FitJob<'a>> {
    (0..experiment.splits_of(set))
        .flat_map(|split| {
            experiment.methods_on(set).map(move |method| FitJob { experiment, set, method, split })
        })
        .collect()
}

struct Work<'a> {
    options: &'a Options,
    records: &'a RecordFile<Record>,
    observer: &'a dyn StudyObserver,
    total: usize,
    done: &'a AtomicUsize,
    /// RecordFile of this set, by key.
    settled: Mutex<BTreeMap<String, Record>>,
}

impl Work<'_> {
    /// Does jobs on some threads; how many were done.
    fn phase(&self, jobs: &[&FitJob<'_>], set: &Set, loaded: &Loaded) -> Result<usize> {
        let finished = AtomicUsize::new(0);
        in_parallel(jobs, threads_or_cores(self.options.threads), |job| {
            let done = self.one(job, set, loaded)?;
            finished.fetch_add(usize::from(done), Ordering::Relaxed);
            Ok::<_, Error>(done.then_some(()))
        })?;
        Ok(finished.into_inner())
    }

    /// Whether it was done; not if somebody said stop.
    fn one(&self, job: &FitJob<'_>, set: &Set, loaded: &Loaded) -> Result<bool> {
        if self.observer.stop() {
            return Ok(false);
        }
        let settled = || self.settled.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = match set.chosen_on {
            Some(n) if job.split >= n => settled().get(&FitJob { split: 0, ..*job }.key()).cloned(),
            _ => None,
        };
        let chosen = first.as_ref().map(|record| (&record.params, record.point));
        let Some(record) = job.run(loaded, chosen, self.observer)? else { return Ok(false) };
        self.records.append(&record)?;
        settled().insert(record.key(), record);
        self.observer.done(&job.key(), self.done.fetch_add(1, Ordering::Relaxed) + 1, self.total);
        Ok(true)
    }
}
