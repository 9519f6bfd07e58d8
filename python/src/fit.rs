//! Fitting.

use crate::background::{Callbacks, ChannelObserver, run_in_background};
use crate::error::of_method;
use crate::features::Features;
use crate::model::PyModel;
use crate::observations::PyObservations;
use kinfolk::{CScale, Claim, Kernel, Start, Status};
use kinfolk_train::{Data, FitSpec, PreparedData, Result, Trained, Training, Weight};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A model, a summary of its fit, and the exception that ended it early.
type FitResult<'py> = (PyModel, Bound<'py, PyDict>, Option<PyErr>);

/// A spec from its JSON text.
pub(crate) fn parsed(spec: &str) -> PyResult<FitSpec> {
    FitSpec::from_json(spec).map_err(of_method)
}

/// Whether inputs are kernel values among themselves.
pub(crate) fn is_gram(spec: &FitSpec) -> bool {
    spec.kernel == Some(Kernel::Precomputed)
}

/// Fits a list of values of C in turn, each from the duals of the one before; None stands for the weight of the spec. Ends
/// early with the fits so far if Python raises something.
#[pyfunction]
#[pyo3(signature = (x, observations, spec, c_values, start=None, listener=None, tick=None))]
pub(crate) fn fit_path<'py>(
    py: Python<'py>,
    x: Features<'_>,
    observations: &PyObservations,
    spec: &str,
    c_values: Vec<Option<f64>>,
    start: Option<PyReadonlyArray1<'_, f64>>,
    listener: Option<Py<PyAny>>,
    tick: Option<Py<PyAny>>,
) -> PyResult<Vec<FitResult<'py>>> {
    let spec = parsed(spec)?;
    let inputs = x.inputs(is_gram(&spec))?;
    let start: Option<Vec<f64>> = start.map(|alpha| alpha.as_array().iter().copied().collect());
    let observations = &observations.0;
    let work = |observer: &mut ChannelObserver<'_>| -> Result<Vec<Trained>> {
        let training = Training::new(&spec, Data::Arrays(&inputs, observations))?;
        let data = training.dataset(&spec)?;
        let prepared = PreparedData::new(&data, &training.losses);
        let mut fits: Vec<Trained> = vec![];
        for c in c_values {
            let near = fits.last().map_or(start.as_deref(), |fit| fit.model.alpha());
            let spec = FitSpec { c: c.map_or(spec.c, Weight::C), ..spec.clone() };
            let start = near.map_or(Start::Cold, Start::Warm);
            let trained = training.fit_to(&prepared, &spec, start, observer)?;
            let stopped = trained.model.status() == Some(Status::Stopped);
            fits.push(trained);
            if stopped {
                break;
            }
        }
        Ok(fits)
    };
    let (fits, mut raised) = run_in_background(py, &Callbacks { listener, tick }, work)?;
    let fits = match fits {
        Ok(fits) => fits,
        // Stopped before there was a model.
        Err(error) => return Err(raised.unwrap_or_else(|| of_method(error))),
    };
    let last = fits.len().saturating_sub(1);
    let described = fits.into_iter().enumerate().map(|(i, trained)| {
        let summary = summary(py, &trained)?;
        let model = PyModel(trained.into_model().map_err(of_method)?);
        Ok((model, summary, if i == last { raised.take() } else { None }))
    });
    described.collect()
}

fn summary<'py>(py: Python<'py>, trained: &Trained) -> PyResult<Bound<'py, PyDict>> {
    let summary = PyDict::new(py);
    let (certificate, outcome) = (trained.model.certificate(), &trained.outcome);
    summary.set_item("status", trained.model.status().map(|status| status.to_string()))?;
    summary.set_item("primal", certificate.primal)?;
    summary.set_item("dual", certificate.dual)?;
    summary.set_item("gap", certificate.gap)?;
    summary.set_item("rel_gap", certificate.rel_gap())?;
    summary.set_item("claim", trained.model.claim().map(Claim::to_string))?;
    summary.set_item("remark", trained.model.remark())?;
    summary.set_item("task_gaps", certificate.task_gaps.clone())?;
    summary.set_item("solver", &outcome.solver)?;
    summary.set_item("reason", &outcome.reason)?;
    summary.set_item("passes", outcome.passes)?;
    summary.set_item("seconds", trained.seconds)?;
    summary.set_item("c", trained.model.about().problem.c)?;
    summary.set_item("lambda", trained.model.about().problem.lambda)?;
    let trace = trained.trace.iter().map(|at| (at.passes, at.seconds, at.primal, at.dual, at.gap));
    summary.set_item("trace", trace.collect::<Vec<_>>())?;
    Ok(summary)
}

/// C and lambda for strengths on the scale without units; without any, for the default grid.
#[pyfunction]
#[pyo3(signature = (x, observations, spec, strengths=None))]
pub(crate) fn strengths(
    py: Python<'_>,
    x: Features<'_>,
    observations: &PyObservations,
    spec: &str,
    strengths: Option<Vec<f64>>,
) -> PyResult<Vec<(f64, f64)>> {
    let spec = parsed(spec)?;
    let inputs = x.inputs(is_gram(&spec))?;
    let strengths = strengths.unwrap_or_else(|| CScale::grid().to_vec());
    let observations = &observations.0;
    let weights = || -> Result<Vec<(f64, f64)>> {
        let training = Training::new(&spec, Data::Arrays(&inputs, observations))?;
        let data = training.dataset(&spec)?;
        let prepared = PreparedData::new(&data, &training.losses);
        let settings = spec.settings();
        let job = prepared.job(spec.lambda, &settings);
        let (method, params) = (spec.method.method(), spec.method.params());
        let of = |&strength: &f64| method.weights(&job, params, Weight::Relative(strength));
        strengths.iter().map(|strength| of(strength).map(|w| (w.c, w.lambda))).collect()
    };
    py.detach(weights).map_err(of_method)
}
