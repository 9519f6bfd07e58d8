//! Errors of held-out rows for a model whose C is given.

use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::interrupt;
use crate::report::Report;
use kinfolk_train::select::{self, Candidate, KernelGrid, Study};
use kinfolk_train::{FitSpec, StudyObserver, Trained};

/// Fits the setting of a spec on folds, and keeps the errors of the rows that each left out in the model.
pub(super) fn measure(
    data: &DataFiles,
    spec: &FitSpec,
    folds: usize,
    trained: &mut Trained,
    report: Report,
) -> Result<()> {
    let (table, schema) = kinfolk_io::read_all(data.paths(), &spec.columns_to_read(), None)?;
    let training = kinfolk_train::unscaled(spec, table, schema)
        .map_err(|error| Failure::of_data(error, data.first()))?;
    let spec = spec.with_files_read(training.observations.task_names())?;
    let only = Candidate {
        settings: vec![spec.method.for_data(&training.observations)],
        weights: vec![spec.c],
        grows: false,
        kernels: KernelGrid::Study,
        axes: None,
    };
    let mut study = Study::new(&training.inputs, &training.observations, training.losses.clone(), spec);
    study.fold_keys.clone_from(&training.fold_keys);
    study.folds = folds;
    match select::cross_validate(&study, &[only], &UntilInterrupt)? {
        Some(selection) => selection.rows[selection.winner].give_errors_to(trained),
        None => report.note("stopped before the last fold: the model has no errors for intervals"),
    }
    Ok(())
}

/// Ctrl-C ends the folds.
struct UntilInterrupt;

impl StudyObserver for UntilInterrupt {
    fn stop(&self) -> bool {
        interrupt::asked()
    }
}
