//! Fitting.

use crate::background::{Callbacks, ChannelObserver, run_in_background};
use crate::error::{of_method, value};
use crate::features::Features;
use crate::model::PyModel;
use crate::observations::PyObservations;
use crate::select::{PyFoldKeys, fold_keys};
use kinfolk::{Kernel, Start, Status};
use kinfolk_train::{Data, FitSpec, Trained, Training, Weight};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

/// A model, and the exception that ended its fit early.
pub(crate) type FitResult = (PyModel, Option<PyErr>);

/// Fits a spec, which is JSON, at each weight of the losses (the texts of `c` in a spec). Each fit starts from
/// the dual variables of the previous one. If Python raises an exception it ends early, with the fits so far.
#[pyfunction]
#[pyo3(signature = (x, observations, spec, weights, start=None, listener=None, keys=None))]
pub(crate) fn fit_path(
    py: Python<'_>,
    x: Features<'_>,
    observations: &PyObservations,
    spec: &str,
    weights: Vec<String>,
    start: Option<PyReadonlyArray1<'_, f64>>,
    listener: Option<Py<PyAny>>,
    keys: Option<PyFoldKeys<'_>>,
) -> PyResult<Vec<FitResult>> {
    let keys = fold_keys(keys);
    let spec = parse(spec)?;
    let weights = parse_weights(&weights)?;
    let inputs = x.inputs(is_gram(&spec))?;
    let start: Option<Vec<f64>> = start.map(|alpha| alpha.as_array().iter().copied().collect());
    let observations = &observations.0;
    let work = |observer: &mut ChannelObserver<'_>| -> kinfolk_train::Result<Vec<Trained>> {
        let training = Training::new(&spec, Data::Arrays(&inputs, observations))?.with_fold_keys(keys)?;
        if let [c] = weights[..] {
            let start = start.as_deref().map_or(Start::Cold, Start::Warm);
            return Ok(vec![training.fit(&FitSpec { c, ..spec.clone() }, start, observer)?]);
        }
        let data = training.dataset(&spec)?;
        let prepared = training.prepare(&data, &spec)?;
        let mut fits: Vec<Trained> = vec![];
        for c in weights {
            let alpha = fits.last().map_or(start.as_deref(), |fit| fit.model.alpha());
            let spec = FitSpec { c, ..spec.clone() };
            fits.push(training.fit_to(&prepared, &spec, alpha.map_or(Start::Cold, Start::Warm), observer)?);
            if fits.last().is_some_and(|fit| fit.model.status() == Some(Status::Stopped)) {
                break;
            }
        }
        let note = training.column_note(&spec);
        fits.iter_mut().for_each(|fit| fit.outcome.notes.extend(note.clone()));
        Ok(fits)
    };
    let callbacks = Callbacks { listener: listener.as_ref(), ..Callbacks::default() };
    let (fits, mut raised) = run_in_background(py, callbacks, work)?;
    // An error here may mean that the fit was stopped before it had a model.
    let fits = fits.map_err(|error| raised.take().unwrap_or_else(|| of_method(error)))?;
    let last = fits.len().saturating_sub(1);
    let result = |(i, fit)| (PyModel(fit), if i == last { raised.take() } else { None });
    Ok(fits.into_iter().enumerate().map(result).collect())
}

/// C and lambda of a spec at each weight of the losses, as they are for these data.
#[pyfunction]
pub(crate) fn resolve_weights(
    py: Python<'_>,
    x: Features<'_>,
    observations: &PyObservations,
    spec: &str,
    weights: Vec<String>,
) -> PyResult<Vec<(f64, f64)>> {
    let spec = parse(spec)?;
    let weights = parse_weights(&weights)?;
    let inputs = x.inputs(is_gram(&spec))?;
    let observations = &observations.0;
    let resolve = || -> kinfolk_train::Result<Vec<(f64, f64)>> {
        let training = Training::new(&spec, Data::Arrays(&inputs, observations))?;
        let data = training.dataset(&spec)?;
        let prepared = training.prepare(&data, &spec)?;
        let (method, settings) = (&spec.method, spec.settings());
        let job = prepared.job(spec.lambda, &settings);
        let resolved = |weight: &Weight| method.method().weights(&job, method.params(), *weight);
        weights.iter().map(|weight| resolved(weight).map(|found| (found.c, found.lambda))).collect()
    };
    py.detach(resolve).map_err(of_method)
}

/// A spec from JSON. Messages do not say where in the JSON, which no user has written.
pub(crate) fn parse(spec: &str) -> PyResult<FitSpec> {
    FitSpec::from_json(spec).map_err(|error| {
        let text = error.to_string();
        value(text.split(" at line ").next().unwrap_or_default())
    })
}

pub(crate) fn parse_weights(weights: &[String]) -> PyResult<Vec<Weight>> {
    weights.iter().map(|text| text.parse().map_err(value)).collect()
}

pub(crate) fn is_gram(spec: &FitSpec) -> bool {
    spec.kernel == Some(Kernel::Precomputed)
}
