//! Cross-validation.

use crate::background::{Callbacks, ChannelObserver, run_in_background};
use crate::error::{of_method, value};
use crate::features::Features;
use crate::fit::{is_gram, parse, parse_weights};
use crate::model::PyModel;
use crate::observations::{Names, PyObservations, numbers};
use kinfolk_io::{Categorical, FoldKeys};
use kinfolk_train::select::{
    Axis, Candidate, FoldOrder, FoldRows, Row, SelectionResults, Study, candidates, cross_validate_on, cut,
};
use kinfolk_train::{StudyObserver, Trained, Training, registry};
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;

/// Groups or times of the rows, of which one is given.
pub(crate) type PyFoldKeys<'py> = (Option<Names>, Option<PyReadonlyArray1<'py, f64>>);

/// The same for the engine.
pub(crate) fn fold_keys(keys: Option<PyFoldKeys<'_>>) -> Option<FoldKeys> {
    match keys? {
        (Some(Names::Integers(groups)), _) => Some(FoldKeys::Groups(Categorical::from_integers(&groups))),
        (Some(Names::Strings(groups)), _) => Some(FoldKeys::Groups(Categorical::from_words(&groups))),
        (None, times) => times.map(|times| FoldKeys::Times(numbers(&times))),
    }
}

/// Training rows and test rows.
type PySplit<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Rows to train on and rows to test on, for each fold, as in the command select.
#[pyfunction]
#[pyo3(signature = (observations, n_folds, seed, keys=None))]
pub(crate) fn splits<'py>(
    py: Python<'py>,
    observations: &PyObservations,
    n_folds: usize,
    seed: u64,
    keys: Option<PyFoldKeys<'_>>,
) -> PyResult<Vec<PySplit<'py>>> {
    let keys = fold_keys(keys);
    let folds =
        cut(&observations.0, keys.as_ref(), n_folds, FoldOrder::default(), seed).map_err(of_method)?;
    let arrays = |fold: FoldRows| (fold.train.into_pyarray(py), fold.test.into_pyarray(py));
    Ok(folds.into_iter().map(arrays).collect())
}

/// The intercepts drawn together that a fit of a spec, which is JSON, would take for these rows, as in the command
/// select; `None` if it leaves no levels open, or free ones predict as well.
#[pyfunction]
#[pyo3(signature = (x, observations, spec, keys=None))]
pub(crate) fn drawn_levels(
    py: Python<'_>,
    x: Features<'_>,
    observations: &PyObservations,
    spec: &str,
    keys: Option<PyFoldKeys<'_>>,
) -> PyResult<Option<String>> {
    let spec = parse(spec)?;
    let inputs = x.inputs(is_gram(&spec))?;
    let losses = Training::losses_of(&spec, &observations.0);
    let mut study = Study::new(&inputs, &observations.0, losses, spec);
    study.fold_keys = fold_keys(keys);
    let work = |observer: &mut ChannelObserver<'_>| study.settle_levels(&*observer);
    let (found, raised) = run_in_background(py, Callbacks::default(), work)?;
    match raised {
        Some(error) => Err(error),
        None => Ok(found.map_err(of_method)?.map(|intercept| intercept.to_string())),
    }
}

/// A metric of the command (empty for the one that suits the labels), or a Python function of fold and model.
#[derive(FromPyObject)]
pub(crate) enum Scoring {
    /// The name of a metric.
    Metric(String),
    /// A Python function.
    Function(Py<PyAny>),
}

type Rows<'py> = (PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>);

/// Fits a spec, which is JSON, at each weight of the losses on the training rows of each split, and scores the
/// models on the test rows. Without weights, they are the grid of the command select, which may grow. With the text of
/// a method, its settings and kernels are searched as the command does. Larger scores are better: a metric that is
/// better when smaller has a minus sign. With `compare`, the best setting is compared with independent tasks and with
/// one model for all, on the same folds; rows and best setting are those of the spec. `results` are those of the
/// command, as JSON, if the scores are of a metric.
#[pyfunction]
#[pyo3(signature = (x, observations, spec, weights, splits, scoring, search=None, compare=false))]
pub(crate) fn cross_validate<'py>(
    py: Python<'py>,
    x: Features<'_>,
    observations: &PyObservations,
    spec: &str,
    weights: Option<Vec<String>>,
    splits: Vec<Rows<'_>>,
    scoring: Scoring,
    search: Option<&str>,
    compare: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let spec = parse(spec)?;
    let inputs = x.inputs(is_gram(&spec))?;
    let settings = vec![spec.method.clone()];
    // Weights of atoms that are not given are searched too.
    let axes = Axis::with_atoms(&[], &spec.atoms);
    let searched =
        search.map(|method| candidates(&[method.to_string()], &axes).map_err(of_method)).transpose()?;
    let candidate = searched.and_then(|found| found.into_iter().next());
    let candidate = candidate.unwrap_or_else(|| Candidate::on_default_grid(settings));
    let mut all = vec![candidate];
    if compare {
        let baselines = registry().iter().map(|method| method.info()).filter(|info| info.is_baseline);
        let names: Vec<String> = baselines.map(|info| info.name.to_string()).collect();
        all.extend(candidates(&names, &[]).map_err(of_method)?);
    }
    if let Some(weights) = weights {
        let weights = parse_weights(&weights)?;
        for candidate in &mut all {
            (candidate.weights, candidate.grows) = (weights.clone(), false);
        }
    }
    let rows = |(train, test): &Rows<'_>| FoldRows { train: numbers(train), test: numbers(test) };
    let folds: Vec<FoldRows> = splits.iter().map(rows).collect();
    let losses = Training::losses_of(&spec, &observations.0);
    let mut study = Study::new(&inputs, &observations.0, losses, spec);
    study.folds = folds.len();
    if let Scoring::Metric(name) = &scoring
        && !name.is_empty()
    {
        study.metric = Some(name.parse().map_err(value)?);
    }
    let raised_by_scorer: Mutex<Option<PyErr>> = Mutex::new(None);
    let call = |fold: usize, model: &Trained| -> kinfolk_train::Result<f64> {
        let Scoring::Function(function) = &scoring else { return Ok(f64::NAN) };
        let scored =
            Python::attach(|py| function.call1(py, (fold, PyModel(model.clone())))?.extract::<f64>(py));
        scored.map_err(|error| {
            *raised_by_scorer.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(error);
            kinfolk_train::Error::Study("the scoring function raised an exception".into())
        })
    };
    let scorer: Option<&kinfolk_train::select::FoldScorer<'_>> = match &scoring {
        Scoring::Metric(_) => None,
        Scoring::Function(_) => Some(&call),
    };
    let work =
        |observer: &mut ChannelObserver<'_>| cross_validate_on(&study, &all, &folds, scorer, &*observer);
    let by_function = scorer.is_some();
    let (selection, raised) = run_in_background(py, Callbacks::default(), work)?;
    let raised_by_scorer = raised_by_scorer.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(error) = raised.or(raised_by_scorer) {
        return Err(error);
    }
    let selection = selection.map_err(of_method)?.ok_or_else(|| value("cross-validation was stopped"))?;
    let sign = if by_function || selection.metric.higher_is_better() { 1.0 } else { -1.0 };
    let rows: Vec<&Row> = selection.rows.iter().filter(|row| row.candidate() == 0).collect();
    let scores = |row: &&Row| -> Vec<f64> { row.folds.iter().map(|fold| sign * fold.value).collect() };
    let found = PyDict::new(py);
    found.set_item("metric", selection.metric.to_string())?;
    found.set_item("undefined", selection.undefined_notes())?;
    // Settings of the first candidate are the first rows.
    found.set_item("best", selection.best[0])?;
    let results = (!by_function).then(|| serde_json::to_string(&SelectionResults::new(&study, &selection)));
    found.set_item("results", results.transpose().map_err(value)?)?;
    found.set_item("methods", rows.iter().map(|row| row.method.to_string()).collect::<Vec<_>>())?;
    let kernel = |row: &&Row| row.kernel.as_ref().map(ToString::to_string);
    found.set_item("kernels", rows.iter().map(kernel).collect::<Vec<_>>())?;
    found.set_item("weights", rows.iter().map(|row| row.weight.to_string()).collect::<Vec<_>>())?;
    found.set_item("score", rows.iter().map(|row| sign * row.score).collect::<Vec<_>>())?;
    found.set_item("scores", rows.iter().map(scores).collect::<Vec<_>>())?;
    found.set_item("rel_gap", rows.iter().map(|row| row.rel_gap).collect::<Vec<_>>())?;
    found.set_item("seconds", rows.iter().map(|row| row.seconds).collect::<Vec<_>>())?;
    Ok(found)
}

impl StudyObserver for ChannelObserver<'_> {
    fn stop(&self) -> bool {
        self.stop_requested()
    }
}
