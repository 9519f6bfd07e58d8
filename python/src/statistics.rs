//! Statistics, and fits of them.

use crate::background::{Callbacks, ChannelObserver, run_in_background};
use crate::error::{of_engine, of_method, value};
use crate::features::Features;
use crate::fit::{FitResult, parse, parse_weights};
use crate::model::PyModel;
use crate::observations::PyObservations;
use kinfolk::{Start, Statistics, StatisticsOptions, TaskNames};
use kinfolk_train::{Data, FitSpec, Memory, train};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Sums over rows, for the squared loss.
#[pyclass(name = "Statistics", module = "kinfolk._native")]
pub(crate) struct PyStatistics(Statistics);

#[pymethods]
impl PyStatistics {
    #[new]
    fn new(sample_rows: usize, memory: &str, threads: usize) -> PyResult<Self> {
        let memory: Memory = memory.parse().map_err(value)?;
        Ok(PyStatistics(Statistics::new(&StatisticsOptions { sample_rows, memory: memory.0, threads })))
    }

    /// Adds rows.
    fn update(&mut self, py: Python<'_>, x: Features<'_>, observations: &PyObservations) -> PyResult<()> {
        let (inputs, own) = (x.inputs(false)?, &mut self.0);
        py.detach(|| own.update(&inputs, &observations.0)).map_err(of_engine)
    }

    /// Adds the rows of others.
    fn merge(&mut self, py: Python<'_>, other: &PyStatistics) -> PyResult<()> {
        let own = &mut self.0;
        py.detach(|| own.merge(other.0.clone())).map_err(of_engine)
    }

    fn copy(&self) -> Self {
        PyStatistics(self.0.clone())
    }

    #[getter]
    fn n_rows(&self) -> u64 {
        self.0.n_inputs()
    }

    #[getter]
    fn n_labels(&self) -> u64 {
        self.0.n_observations()
    }

    #[getter]
    fn n_features(&self) -> usize {
        self.0.n_features()
    }

    #[getter]
    fn nbytes(&self) -> u64 {
        self.0.bytes()
    }

    /// Names of the tasks.
    #[getter]
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        names(py, self.0.tasks())
    }

    /// A text of the package.
    #[getter]
    fn attachment(&self) -> Option<&str> {
        self.0.attachment()
    }

    fn attach(&mut self, text: String) {
        self.0.attach(text);
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(of_engine)?))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Statistics::from_bytes(bytes).map(PyStatistics).map_err(of_engine)
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.save(path)).map_err(of_engine)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        py.detach(|| Statistics::load(path)).map(PyStatistics).map_err(of_engine)
    }
}

/// Names of tasks as a list of integers or strings.
pub(crate) fn names<'py>(py: Python<'py>, names: &TaskNames) -> PyResult<Bound<'py, PyAny>> {
    match names {
        TaskNames::Numbered(n) => (0..*n as i64).collect::<Vec<_>>().into_pyobject(py),
        TaskNames::Integers(names) => names.clone().into_pyobject(py),
        other => other.iter().collect::<Vec<_>>().into_pyobject(py),
    }
}

/// Fits a spec, which is JSON, with this weight of the losses, to statistics. With `ask`, which answers questions about
/// the rows, any loss will do.
#[pyfunction]
#[pyo3(signature = (statistics, spec, weight, listener=None, ask=None))]
pub(crate) fn fit_statistics(
    py: Python<'_>,
    statistics: &PyStatistics,
    spec: &str,
    weight: String,
    listener: Option<Py<PyAny>>,
    ask: Option<Py<PyAny>>,
) -> PyResult<FitResult> {
    let c = parse_weights(&[weight])?.remove(0);
    let spec = FitSpec { c, ..parse(spec)? };
    let statistics = &statistics.0;
    let callbacks = Callbacks { listener: listener.as_ref(), ask: ask.as_ref() };
    let can_ask = ask.is_some();
    let work = |observer: &mut ChannelObserver<'_>| {
        let rows = can_ask.then(|| observer.rows());
        let data = match &rows {
            Some(rows) => Data::Rows(statistics, rows),
            None => Data::Statistics(statistics),
        };
        train(&spec, data, Start::Cold, observer)
    };
    let (fit, mut raised) = run_in_background(py, callbacks, work)?;
    let fit = fit.map_err(|error| raised.take().unwrap_or_else(|| of_method(error)))?;
    Ok((PyModel(fit), raised))
}

/// What a pass over some rows finds about a model from statistics, as numbers that add up.
#[pyfunction]
pub(crate) fn certify_part(
    py: Python<'_>,
    model: &PyModel,
    x: Features<'_>,
    observations: &PyObservations,
    threads: usize,
) -> PyResult<Vec<f64>> {
    let inputs = x.inputs(false)?;
    let options = kinfolk::CertifyOptions { threads, ..Default::default() };
    let pass = || {
        let mut part = model.0.model.certify_parts(&options)?;
        part.add(&inputs, &observations.0)?;
        Ok(part.to_numbers())
    };
    py.detach(pass).map_err(of_engine)
}

/// The model with the certificate of all rows, from the numbers of all parts, in their order.
#[pyfunction]
pub(crate) fn certified(
    model: &PyModel,
    parts: Vec<PyReadonlyArray1<'_, f64>>,
    tolerance: f64,
) -> PyResult<PyModel> {
    let mut pass = model.0.model.certify_parts(&Default::default()).map_err(of_engine)?;
    for part in &parts {
        pass.add_numbers(&crate::observations::numbers(part)).map_err(of_engine)?;
    }
    let certificate = pass.finish().map_err(of_engine)?;
    let mut trained = model.0.clone();
    trained.model.set_certificate(certificate, tolerance).map_err(of_engine)?;
    Ok(PyModel(trained))
}
