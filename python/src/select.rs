//! Selection: the folds and the choice of `kinfolk select`.

use crate::background::{Callbacks, ChannelObserver, run_in_background};
use crate::error::{of_method, value};
use crate::features::Features;
use crate::fit::{is_gram, parsed};
use crate::observations::PyObservations;
use kinfolk::{Flow, Observer};
use kinfolk_train::select::{Axis, Candidate, Selection, Study, candidates};
use kinfolk_train::{LossSpec, StudyObserver, Training, Weight};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;

/// Which fold each input is tested in: stratified by task and class, from a seed.
#[pyfunction]
pub(crate) fn folds(observations: &PyObservations, n_folds: usize, seed: u64) -> PyResult<Vec<u32>> {
    kinfolk_train::select::folds::folds(&observations.0, n_folds, seed).map_err(of_method)
}

/// Asks the thread that Python knows whether to stop.
struct Stop<'a, 'b>(Mutex<&'a mut ChannelObserver<'b>>);

impl StudyObserver for Stop<'_, '_> {
    fn stop(&self) -> bool {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).poll() == Flow::Stop
    }
}

/// Cross-validates methods, as text with their parameters, over strengths or values of C; the default grids if there are
/// none. Returns all settings with their scores, fold by fold, and the place of the winner, as `kinfolk select` finds it.
#[pyfunction]
#[pyo3(signature = (x, observations, spec, methods, *, grid=vec![], c_values=None, folds=5, repeats=1, metric=None, tick=None))]
pub(crate) fn cross_validate<'py>(
    py: Python<'py>,
    x: Features<'_>,
    observations: &PyObservations,
    spec: &str,
    methods: Vec<String>,
    grid: Vec<String>,
    c_values: Option<Vec<f64>>,
    folds: usize,
    repeats: usize,
    metric: Option<&str>,
    tick: Option<Py<PyAny>>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, usize)> {
    let spec = parsed(spec)?;
    let inputs = x.inputs(is_gram(&spec))?;
    let axes: Vec<Axis> = grid.iter().map(|axis| axis.parse()).collect::<Result<_, _>>().map_err(value)?;
    let mut candidates: Vec<Candidate> = candidates(&methods, &axes).map_err(of_method)?;
    if let Some(values) = c_values {
        let weights: Vec<Weight> = values.into_iter().map(Weight::C).collect();
        candidates.iter_mut().for_each(|candidate| candidate.weights.clone_from(&weights));
    }
    let metric = metric.map(str::parse).transpose().map_err(of_method)?;
    let observations = &observations.0;
    let work = |observer: &mut ChannelObserver<'_>| {
        let losses = Training::losses_of(&spec, observations);
        let spec = kinfolk_train::FitSpec { loss: LossSpec::from(&losses), ..spec };
        let mut study = Study::new(&inputs, observations, losses, spec);
        (study.folds, study.repeats) = (folds, repeats);
        study.metric = metric.unwrap_or(study.metric);
        kinfolk_train::select::cross_validate(&study, &candidates, &Stop(Mutex::new(observer)))
    };
    let (found, raised) = run_in_background(py, &Callbacks { listener: None, tick }, work)?;
    match (found.map_err(of_method)?, raised) {
        (_, Some(error)) => Err(error),
        (Some(selection), None) => {
            let rows = (0..selection.rows.len()).map(|row| describe(py, &selection, row));
            Ok((rows.collect::<PyResult<_>>()?, selection.winner))
        }
        (None, None) => Err(value("the selection was stopped")),
    }
}

fn describe<'py>(py: Python<'py>, selection: &Selection, row: usize) -> PyResult<Bound<'py, PyDict>> {
    let (dict, row) = (PyDict::new(py), &selection.rows[row]);
    dict.set_item("method", row.method.to_string())?;
    dict.set_item("weight", row.weight.to_string())?;
    dict.set_item("c", row.c)?;
    dict.set_item("score", row.score)?;
    dict.set_item("mean", row.mean)?;
    dict.set_item("sd", row.sd)?;
    dict.set_item("rel_gap", row.rel_gap)?;
    dict.set_item("uncertified", row.uncertified)?;
    dict.set_item("seconds", row.seconds)?;
    dict.set_item("folds", row.folds.iter().map(|fold| fold.mean).collect::<Vec<_>>())?;
    Ok(dict)
}
