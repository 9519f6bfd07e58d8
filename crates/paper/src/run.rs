//! All units of a recipe, several at a time, as far as they are not done yet.

use crate::data::{self, Folder, Loaded};
use crate::recipe::{Kind, Recipe, Set};
use crate::record::{Key, Record, Records};
use crate::unit::Unit;
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
pub struct Outcome {
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
/// If there are records already and there is no `resume`; if data cannot be read, a fit fails or nothing can be written.
pub fn run(recipe: &Recipe, options: &Options, observer: &dyn StudyObserver) -> Result<Outcome> {
    let path = options.out.join(format!("{}.jsonl", recipe.item));
    if path.is_file() && !options.resume {
        return Err(Error::file(&path, "there are records already: --resume goes on with them"));
    }
    std::fs::create_dir_all(&options.out).map_err(|error| Error::file(&options.out, error))?;
    let recipe = if options.quick { recipe.clone().quick() } else { recipe.clone() };
    match recipe.kind {
        Kind::Runtime => runtime::run(&recipe, options, &path, observer),
        _ => units(&recipe, options, &Records::open(&path)?, observer),
    }
}

fn units(
    recipe: &Recipe,
    options: &Options,
    records: &Records<Record>,
    observer: &dyn StudyObserver,
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    let of_set = |set| all_units(recipe, set);
    let total: usize = recipe.sets.iter().map(|set| of_set(set).len()).sum();
    let done = AtomicUsize::new(0);
    for set in &recipe.sets {
        let all = of_set(set);
        let open: Vec<Unit<'_>> = all.iter().filter(|unit| !records.has(&unit.key())).copied().collect();
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
        let chooses = |unit: &&Unit<'_>| set.chosen_on.is_none_or(|n| unit.split < n);
        let (first, then): (Vec<&Unit<'_>>, Vec<&Unit<'_>>) = open.iter().partition(chooses);
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
fn all_units<'a>(recipe: &'a Recipe, set: &'a Set) -> Vec<Unit<'a>> {
    (0..recipe.splits_of(set))
        .flat_map(|split| recipe.methods_on(set).map(move |method| Unit { recipe, set, method, split }))
        .collect()
}

struct Work<'a> {
    options: &'a Options,
    records: &'a Records<Record>,
    observer: &'a dyn StudyObserver,
    total: usize,
    done: &'a AtomicUsize,
    /// Records of this set, by key.
    settled: Mutex<BTreeMap<String, Record>>,
}

impl Work<'_> {
    /// Does units on some threads; how many were done.
    fn phase(&self, units: &[&Unit<'_>], set: &Set, loaded: &Loaded) -> Result<usize> {
        let finished = AtomicUsize::new(0);
        in_parallel(units, threads_or_cores(self.options.threads), |unit| {
            let done = self.one(unit, set, loaded)?;
            finished.fetch_add(usize::from(done), Ordering::Relaxed);
            Ok::<_, Error>(done.then_some(()))
        })?;
        Ok(finished.into_inner())
    }

    /// Whether it was done; not if somebody said stop.
    fn one(&self, unit: &Unit<'_>, set: &Set, loaded: &Loaded) -> Result<bool> {
        if self.observer.stop() {
            return Ok(false);
        }
        let settled = || self.settled.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = match set.chosen_on {
            Some(n) if unit.split >= n => settled().get(&Unit { split: 0, ..*unit }.key()).cloned(),
            _ => None,
        };
        let chosen = first.as_ref().map(|record| (&record.params, record.point));
        let Some(record) = unit.run(loaded, chosen, self.observer)? else { return Ok(false) };
        self.records.append(&record)?;
        settled().insert(record.key(), record);
        self.observer.done(&unit.key(), self.done.fetch_add(1, Ordering::Relaxed) + 1, self.total);
        Ok(true)
    }
}
