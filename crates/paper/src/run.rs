//! All units of a recipe, several at a time, as far as they are not done yet.

use crate::data::{self, Folder, Loaded};
use crate::recipe::{Kind, Recipe, Set};
use crate::record::{Key, Record, Records};
use crate::unit::Unit;
use crate::{Error, Result, runtime};
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

/// Listens to a run, from several threads at once.
pub trait Watch: Sync {
    /// So many of all units are done, the last of this key.
    fn unit(&self, _key: &str, _done: usize, _of: usize) {}
    /// Asked many times a second: whether to stop.
    fn stop(&self) -> bool {
        false
    }
}

/// Runs what is not done yet.
///
/// # Errors
/// If there are records already and nobody said `resume`; if data cannot be read, a fit fails or nothing can be written.
pub fn run(recipe: &Recipe, options: &Options, watch: &dyn Watch) -> Result<Outcome> {
    let path = options.out.join(format!("{}.jsonl", recipe.item));
    if path.is_file() && !options.resume {
        return Err(Error::file(&path, "there are records already: --resume goes on with them"));
    }
    std::fs::create_dir_all(&options.out).map_err(|error| Error::file(&options.out, error))?;
    let recipe = if options.quick { recipe.clone().quick() } else { recipe.clone() };
    match recipe.kind {
        Kind::Runtime => runtime::run(&recipe, options, &path, watch),
        _ => units(&recipe, options, &Records::open(&path)?, watch),
    }
}

fn units(
    recipe: &Recipe,
    options: &Options,
    records: &Records<Record>,
    watch: &dyn Watch,
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
        let work = Work { options, records, watch, total, done: &done, settled: Mutex::new(known) };
        // Splits that choose come before those that take their choice.
        let chooses = |unit: &&Unit<'_>| set.chosen_on.is_none_or(|n| unit.split < n);
        let (first, then): (Vec<&Unit<'_>>, Vec<&Unit<'_>>) = open.iter().partition(chooses);
        for phase in [first, then] {
            outcome.done += work.phase(&phase, set, &loaded)?;
        }
        if watch.stop() {
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
    watch: &'a dyn Watch,
    total: usize,
    done: &'a AtomicUsize,
    /// Records of this set, by key.
    settled: Mutex<BTreeMap<String, Record>>,
}

impl Work<'_> {
    /// Does units on some threads; how many were done.
    fn phase(&self, units: &[&Unit<'_>], set: &Set, loaded: &Loaded) -> Result<usize> {
        let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let threads = match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
            n => n,
        };
        std::thread::scope(|scope| {
            for _ in 0..threads.min(units.len()) {
                scope.spawn(|| {
                    while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                        match self.one(unit, set, loaded) {
                            Ok(true) => finished.fetch_add(1, Ordering::Relaxed),
                            Ok(false) => break,
                            Err(error) => {
                                next.store(units.len(), Ordering::Relaxed);
                                *failure.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) =
                                    Some(error);
                                break;
                            }
                        };
                    }
                });
            }
        });
        match failure.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
            Some(error) => Err(error),
            None => Ok(finished.into_inner()),
        }
    }

    /// Whether it was done; not if somebody said stop.
    fn one(&self, unit: &Unit<'_>, set: &Set, loaded: &Loaded) -> Result<bool> {
        if self.watch.stop() {
            return Ok(false);
        }
        let settled = || self.settled.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let first = match set.chosen_on {
            Some(n) if unit.split >= n => settled().get(&Unit { split: 0, ..*unit }.key()).cloned(),
            _ => None,
        };
        let chosen = first.as_ref().map(|record| (&record.params, record.point));
        let Some(record) = unit.run(loaded, chosen, self.watch)? else { return Ok(false) };
        self.records.append(&record)?;
        settled().insert(record.key(), record);
        self.watch.unit(&unit.key(), self.done.fetch_add(1, Ordering::Relaxed) + 1, self.total);
        Ok(true)
    }
}
