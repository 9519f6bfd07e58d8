//! Measures errors for tasks without training rows: fits of a setting that is already chosen, on folds that hold out
//! whole tasks.

use super::NewTaskErrors;
use crate::select::{Candidate, KernelGrid, Study, cross_validate, one_task_per_row};
use crate::{FitSpec, MethodSpec, Result, StudyObserver, Training, Weight, all_losses};
use kinfolk::{Kernel, LossKind, Observations};
use kinfolk_io::FoldKeys;
use std::collections::BTreeMap;

/// Most folds, and so most fits; of fewer tasks, each is held out by itself.
const MAX_FOLDS: usize = 10;

/// What is fitted on the folds.
pub(crate) struct Setting<'a> {
    pub(crate) method: MethodSpec,
    pub(crate) weight: Weight,
    pub(crate) kernel: &'a Kernel,
}

/// Training data of numbers whose tasks can be held out.
pub(crate) struct NewTaskFolds<'a> {
    training: &'a Training<'a>,
    keys: Option<FoldKeys>,
    folds: usize,
}

impl<'a> NewTaskFolds<'a> {
    /// `None` if a spec does not ask for them: it does by itself, or where C is chosen by folds of whole tasks.
    ///
    /// # Errors
    /// If the data have no such folds and the spec asks for them by itself.
    pub(crate) fn new(training: &'a Training<'a>, spec: &FitSpec) -> Result<Option<Self>> {
        let keys = training.fold_keys.as_ref().filter(|keys| hold_whole_tasks(keys, &training.observations));
        if !spec.interval_new_tasks && (keys.is_none() || spec.c != Weight::Auto) {
            return Ok(None);
        }
        let groups = match keys {
            Some(keys) => keys.most_folds(),
            None => training.observations.task_counts().iter().filter(|n| **n > 0).count(),
        };
        let why = match () {
            () if training.statistics.is_some() => Some("there are only sums of the rows"),
            () if all_losses(&training.losses, LossKind::is_classification) => Some("labels are classes"),
            () if groups < 2 => Some("there are fewer than two tasks"),
            () if !one_task_per_row(&training.observations) => {
                Some("tasks have the same rows, and each needs rows of its own")
            }
            () => None,
        };
        match why {
            None => Ok(Some(NewTaskFolds { training, keys: keys.cloned(), folds: groups.min(MAX_FOLDS) })),
            Some(why) if spec.interval_new_tasks => Err(crate::Error::Study(format!(
                "errors for new tasks cannot be measured (interval_new_tasks): {why}"
            ))),
            Some(_) => Ok(None),
        }
    }

    /// Fits the folds; `None` if the observer said stop.
    pub(crate) fn measure(
        &self,
        spec: &FitSpec,
        setting: Setting<'_>,
        observer: &dyn StudyObserver,
    ) -> Result<Option<NewTaskErrors>> {
        // What a new task is like must not be known from its unit.
        let observations = self.training.labels_as_given()?;
        // Inputs that are scaled again by the rows of a fold are as if these had been the first.
        let spec =
            FitSpec { interval_new_tasks: false, max_seconds: None, ..spec.with_kernel(setting.kernel) };
        let mut study = Study::new(&self.training.inputs, &observations, self.training.losses.clone(), spec);
        study.whole_tasks = self.keys.is_none();
        study.fold_keys.clone_from(&self.keys);
        study.folds = self.folds;
        let only = Candidate {
            settings: vec![setting.method],
            weights: vec![setting.weight],
            grows: false,
            kernels: KernelGrid::Study,
            axes: None,
        };
        let selection = cross_validate(&study, &[only], observer)?;
        Ok(selection.and_then(|mut found| found.rows.swap_remove(found.winner).into_new_task_errors()))
    }
}

/// Whether all rows of each task are in one group.
fn hold_whole_tasks(keys: &FoldKeys, observations: &Observations) -> bool {
    let FoldKeys::Groups(groups) = keys else { return false };
    let mut group_of: BTreeMap<usize, u32> = BTreeMap::new();
    (0..observations.len()).all(|o| {
        let group = groups.index[observations.input(o)];
        *group_of.entry(observations.task(o)).or_insert(group) == group
    })
}
