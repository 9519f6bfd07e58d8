//! The training rows of a fold, ready for fitting, and its test rows.

use super::{FoldRows, Study};
use crate::{Result, Training};
use kinfolk::inputs::Dense;
use kinfolk::{Inputs, Observations};

/// A fold in use.
pub(crate) struct TrainingFold {
    /// Scaled and weighted by the training rows only.
    pub(crate) training: Training<'static>,
    pub(crate) test_inputs: Inputs<'static>,
    pub(crate) test: Observations,
}

impl TrainingFold {
    pub(crate) fn new(study: &Study<'_>, rows: &FoldRows) -> Result<TrainingFold> {
        Ok(TrainingFold {
            training: Training::of_rows(
                &study.spec,
                study.inputs,
                study.observations,
                &study.losses,
                &rows.train,
            )?,
            test_inputs: test_inputs(study.inputs, &rows.test, &rows.train)?,
            test: study.observations.select_inputs(&rows.test)?,
        })
    }
}

/// Inputs to be tested, in the form that models fitted to the `train` rows take.
pub(super) fn test_inputs(inputs: &Inputs<'_>, test: &[u32], train: &[u32]) -> Result<Inputs<'static>> {
    let Inputs::Gram(gram) = inputs else { return Ok(inputs.select_rows(test)) };
    let row = |&i: &u32| train.iter().map(move |&j| gram.get(i as usize, j as usize));
    Ok(Dense::f64_owned(test.iter().flat_map(row).collect(), test.len(), train.len())?.into())
}
