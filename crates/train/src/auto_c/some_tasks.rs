//! Some of many tasks: the time of a fit grows with the square of their number, and a few hundred tell the strength.

use crate::select::{Study, StudyRows};
use crate::{MethodSpec, Result};
use kinfolk::{CScale, Observations, RegularizerKind};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Tasks that are looked at: of more with rows of their own, some at random.
const MAX_TASKS: usize = 250;

/// Some of the tasks with all their rows.
pub(super) struct SomeTasks {
    /// Their numbers.
    pub(super) tasks: Vec<usize>,
    pub(super) rows: StudyRows,
    /// What a strength for them is to be multiplied by for all tasks.
    pub(super) factor: f64,
    all: usize,
}

impl SomeTasks {
    /// `None` if all tasks are looked at: they are few, share their rows, or the method needs all of them.
    pub(super) fn new(study: &Study<'_>) -> Result<Option<Self>> {
        let (observations, all) = (study.observations, study.observations.n_tasks());
        let have_own_rows = observations.len() <= observations.n_inputs();
        let Some(output) = learned_output(&study.spec.method).filter(|_| have_own_rows && all > MAX_TASKS)
        else {
            return Ok(None);
        };
        let tasks = random_tasks(observations, study.seed);
        let rows = StudyRows::of_tasks(study, &tasks)?;
        let factor = CScale::for_more_tasks(&output, 1.0, tasks.len(), all);
        Ok(Some(SomeTasks { tasks, rows, factor, all }))
    }

    /// `250 of 2000 tasks`.
    pub(super) fn in_words(&self) -> String {
        format!("{} of {} tasks", self.tasks.len(), self.all)
    }
}

/// The regulariser of a method that learns Theta entry by entry, and so takes any number of tasks.
fn learned_output(method: &MethodSpec) -> Option<RegularizerKind> {
    let output = method.method().regularizer(MAX_TASKS, method.params()).ok().flatten()?;
    let has_matrix = matches!(output, RegularizerKind::Fixed { .. } | RegularizerKind::Frobenius { .. });
    (output.is_entrywise() && !has_matrix).then_some(output)
}

/// Tasks at random, by their names: the order of the rows in a file does not matter.
fn random_tasks(observations: &Observations, seed: u64) -> Vec<usize> {
    let mut tasks: Vec<usize> = (0..observations.n_tasks()).collect();
    tasks.sort_by_cached_key(|&task| observations.task_names().name(task));
    tasks.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    tasks.truncate(MAX_TASKS);
    tasks
}
