//! Fitting.

use crate::background::{Callbacks, ChannelObserver, run_in_background};
use crate::error::{of_engine, of_method, value};
use crate::features::Features;
use crate::model::PyModel;
use crate::observations::PyObservations;
use crate::setup::{Plan, Setup};
use kinfolk::{
    CScale, Claim, Dataset, Fit, Fitter, Observer, Problem, ProblemSpec, Scaling, Status, Weights,
};
use kinfolk_train::{Job, Point};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A model, a summary of its fit, and the exception that ended it early.
type FitResult<'py> = (PyModel, Bound<'py, PyDict>, Option<PyErr>);

fn parsed(setup: &str) -> PyResult<Setup> {
    serde_json::from_str(setup).map_err(value)
}

/// Fits a list of values of C in turn, each starting from the dual variables of the previous one; None is the
/// value that suits the data. If Python raises an exception it ends early, with the fits so far.
#[pyfunction]
#[pyo3(signature = (x, observations, setup, c_values, start=None, listener=None, tick=None))]
pub(crate) fn fit_path<'py>(
    py: Python<'py>,
    x: Features<'_>,
    observations: &PyObservations,
    setup: &str,
    c_values: Vec<Option<f64>>,
    start: Option<PyReadonlyArray1<'_, f64>>,
    listener: Option<Py<PyAny>>,
    tick: Option<Py<PyAny>>,
) -> PyResult<Vec<FitResult<'py>>> {
    let setup = parsed(setup)?;
    let inputs = x.inputs(setup.is_gram())?;
    let plan = setup.plan().map_err(of_method)?;
    let start: Option<Vec<f64>> = start.map(|alpha| alpha.as_array().iter().copied().collect());
    let observations = &observations.0;
    let work = |observer: &mut ChannelObserver<'_>| -> kinfolk_train::Result<Vec<Fit>> {
        let scaling = Scaling::fit(setup.scale, &inputs)?;
        let scaled = scaling.apply(&inputs)?;
        let data = Dataset::new(&scaled, observations, setup.options())?;
        let mut fits: Vec<Fit> = vec![];
        for c in c_values {
            let near = fits.last().map_or(start.as_deref(), |fit| fit.model.alpha());
            let mut fit = fit_one(&setup, &plan, &data, c, near, observer)?;
            fit.model.set_scaling(scaling.clone())?;
            let stopped = fit.status() == Status::Stopped;
            fits.push(fit);
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
    let results = fits.into_iter().enumerate().map(|(i, fit)| {
        let summary = summary(py, &fit)?;
        Ok((PyModel(fit.model), summary, if i == last { raised.take() } else { None }))
    });
    results.collect()
}

fn fit_one(
    setup: &Setup,
    plan: &Plan,
    data: &Dataset<'_>,
    c: Option<f64>,
    near: Option<&[f64]>,
    observer: &mut dyn Observer,
) -> kinfolk_train::Result<Fit> {
    let (loss, settings) = (setup.losses()?, setup.settings());
    match plan {
        Plan::Method(method, params) => {
            let c_scale = CScale::new(data, &loss)?;
            let point = c.map_or(Point::Strength(CScale::MIDDLE), Point::C);
            let (c_scale, settings) = (&c_scale, &settings);
            let job = Job { data, loss: &loss, c_scale, lambda: setup.lambda(), settings };
            method.fit(&job, params, point, near, observer)
        }
        Plan::Engine(output) => {
            let weights = match c {
                Some(c) => Weights { c, lambda: setup.lambda().unwrap_or(1.0) },
                None => {
                    let c_scale = CScale::new(data, &loss)?;
                    c_scale.weights(output, setup.lambda(), CScale::MIDDLE)?
                }
            };
            let Weights { c, lambda } = weights;
            let problem = Problem::new(data, ProblemSpec { loss, output: output.clone(), c, lambda })?;
            Ok(Fitter::new(&settings).warm(near).observer(observer).fit(&problem)?)
        }
    }
}

fn summary<'py>(py: Python<'py>, fit: &Fit) -> PyResult<Bound<'py, PyDict>> {
    let summary = PyDict::new(py);
    let certificate = fit.certificate();
    summary.set_item("status", fit.status().to_string())?;
    summary.set_item("primal", certificate.primal)?;
    summary.set_item("dual", certificate.dual)?;
    summary.set_item("gap", certificate.gap)?;
    summary.set_item("rel_gap", certificate.rel_gap())?;
    summary.set_item("claim", fit.model.claim().map(Claim::to_string))?;
    summary.set_item("remark", fit.model.remark())?;
    summary.set_item("task_gaps", certificate.task_gaps.clone())?;
    summary.set_item("solver", fit.solver)?;
    summary.set_item("reason", fit.reason.clone())?;
    summary.set_item("passes", fit.passes)?;
    summary.set_item("seconds", fit.seconds)?;
    summary.set_item("c", fit.model.about().problem.c)?;
    summary.set_item("lambda", fit.model.about().problem.lambda)?;
    let trace = fit.trace.iter().map(|at| (at.passes, at.seconds, at.primal, at.dual, at.gap));
    summary.set_item("trace", trace.collect::<Vec<_>>())?;
    Ok(summary)
}

/// C and lambda for a list of strengths, or for the default grid of strengths.
#[pyfunction]
#[pyo3(signature = (x, observations, setup, strengths=None))]
pub(crate) fn strengths(
    py: Python<'_>,
    x: Features<'_>,
    observations: &PyObservations,
    setup: &str,
    strengths: Option<Vec<f64>>,
) -> PyResult<Vec<(f64, f64)>> {
    let setup = parsed(setup)?;
    let inputs = x.inputs(setup.is_gram())?;
    let plan = setup.plan().map_err(of_method)?;
    let strengths = strengths.unwrap_or_else(|| CScale::grid().to_vec());
    let observations = &observations.0;
    py.detach(|| {
        let scaled = Scaling::fit(setup.scale, &inputs).and_then(|s| s.apply(&inputs)).map_err(of_engine)?;
        let data = Dataset::new(&scaled, observations, setup.options()).map_err(of_engine)?;
        let weights = plan.weights(&setup, &data, &strengths).map_err(of_method)?;
        Ok(weights.into_iter().map(|w| (w.c, w.lambda)).collect())
    })
}
