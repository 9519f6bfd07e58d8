//! The training rows of a fold, ready for fitting.

use super::Study;
use crate::{Job, Method, Params, Point, Result};
use kinfolk::Scaling;
use kinfolk::inputs::Dense;
use kinfolk::{CScale, Dataset, DatasetOptions, Fit, Inputs, Observations, Observer};

/// Some rows to learn from, scaled and weighted by themselves alone.
pub(super) struct Part {
    pub(super) inputs: Inputs<'static>,
    pub(super) observations: Observations,
    pub(super) scaling: Scaling,
}

impl Part {
    /// All rows of a study.
    pub(super) fn whole(study: &Study<'_>) -> Result<Self> {
        let all: Vec<u32> = (0..study.inputs.n_inputs() as u32).collect();
        Part::new(study, &all)
    }

    pub(super) fn new(study: &Study<'_>, rows: &[u32]) -> Result<Self> {
        let raw = study.inputs.select_rows(rows);
        let scaling = Scaling::fit(study.scaling, &raw)?;
        let inputs = match scaling {
            Scaling::None => raw,
            _ => scaling.apply(&raw)?.into_owned(),
        };
        let mut observations = study.observations.select_inputs(rows)?;
        if study.balanced {
            observations = observations.class_balanced()?;
        }
        Ok(Part { inputs, observations, scaling })
    }

    pub(super) fn dataset(&self, study: &Study<'_>, threads: usize) -> Result<Dataset<'_>> {
        let options = DatasetOptions { threads, ..study.options.clone() };
        Ok(Dataset::new(&self.inputs, &self.observations, options)?)
    }

    /// A fit whose model takes inputs as they are in the file.
    pub(super) fn fit(
        &self,
        study: &Study<'_>,
        data: &Dataset<'_>,
        method: &dyn Method,
        params: &Params,
        point: Point,
        near: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Fit> {
        let c_scale = CScale::new(data, &study.loss)?;
        let job = Job {
            data,
            loss: &study.loss,
            c_scale: &c_scale,
            lambda: study.lambda,
            settings: &study.settings,
        };
        let mut fit = method.fit(&job, params, point, near, observer)?;
        fit.model.set_scaling(self.scaling.clone())?;
        Ok(fit)
    }
}

/// Inputs to be tested, in the form that models fitted to the `train` rows take.
pub(super) fn test_inputs(inputs: &Inputs<'_>, test: &[u32], train: &[u32]) -> Result<Inputs<'static>> {
    let Inputs::Gram(gram) = inputs else { return Ok(inputs.select_rows(test)) };
    let row = |&i: &u32| train.iter().map(move |&j| gram.get(i as usize, j as usize));
    Ok(Dense::f64_owned(test.iter().flat_map(row).collect(), test.len(), train.len())?.into())
}
