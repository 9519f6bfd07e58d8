//! The report of a model as an HTML page.

use crate::error::{of_engine, of_method, value};
use crate::features::Features;
use crate::fit::is_gram;
use crate::model::PyModel;
use crate::observations::PyObservations;
use kinfolk::{CertifyOptions, Inputs, Observations};
use kinfolk_report::{DataCheck, MadeBy, Recheck, ReportInputs, render};
use kinfolk_train::select::{Refit, SelectionResults};
use kinfolk_train::{Metric, Trained};
use pyo3::prelude::*;
use std::path::Path;

/// The page of a model. `about` is the class of the estimator and how it is constructed; `data` are names, inputs and
/// labels in the tasks of the model; `selection` are the results of `cross_validate`, as JSON.
#[pyfunction]
#[pyo3(signature = (model, about, data, selection=None))]
pub(crate) fn report(
    py: Python<'_>,
    model: &PyModel,
    about: (String, String),
    data: Vec<(String, Features<'_>, PyRef<'_, PyObservations>)>,
    selection: Option<&str>,
) -> PyResult<String> {
    let trained = &model.0;
    let mut selection =
        selection.map(|json| SelectionResults::parse(json, &trained.model).map_err(of_method)).transpose()?;
    if let Some(selection) = &mut selection {
        selection.fit = Some(Refit::from(trained));
    }
    let metric = selection.as_ref().map(|selection| selection.metric);
    let mut checked = vec![];
    for (name, x, observations) in &data {
        let (inputs, observations) = (x.inputs(false)?, &observations.0);
        // Kernel values between all training inputs have as many rows as columns; those of other rows are other data.
        let is_square = inputs.n_inputs() == trained.model.about().n_inputs;
        let gram = if is_gram(&trained.spec) && is_square { Some(x.inputs(true)?) } else { None };
        let of_fit = gram.as_ref().unwrap_or(&inputs);
        checked.push(py.detach(|| check(trained, name, &inputs, of_fit, observations, metric))?);
    }
    let inputs = ReportInputs {
        model: &trained.model,
        made_by: MadeBy::Python { class: &about.0, estimator: &about.1 },
        spec: Some(&trained.spec),
        auto_c: trained.outcome.auto_c.as_ref(),
        score: trained.outcome.score_in_words(),
        data: checked,
        selection: selection.as_ref(),
        trace: trained.trace.iter().filter(|point| point.rel_gap().is_finite()).cloned().collect(),
    };
    render(&inputs).map_err(value)
}

/// Scores on inputs as they are predicted for, and the certificate of the same inputs as they are fitted to.
fn check(
    trained: &Trained,
    name: &str,
    inputs: &Inputs<'_>,
    of_fit: &Inputs<'_>,
    observations: &Observations,
    metric: Option<Metric>,
) -> PyResult<DataCheck> {
    let options =
        CertifyOptions { memory: trained.spec.memory.0, threads: trained.spec.threads, device: None };
    let recheck = Recheck::new(&trained.model, of_fit, observations, &options).map_err(of_engine)?;
    DataCheck::new(&trained.model, Path::new(name), inputs, observations, metric, recheck).map_err(of_method)
}
