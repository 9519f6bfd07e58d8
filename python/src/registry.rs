//! Lists of what the engine can do, for the checks and the documentation of the Python package.

use crate::error::of_engine;
use kinfolk::{CScale, Kernel, LossKind, ScalingKind, SolverKind, TargetScale};
use kinfolk_train::{Allowed, Metric, registry};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The methods: name, description, and parameters with defaults and grids, as text.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    registry().iter().map(|method| describe_method(py, *method)).collect()
}

fn describe_method<'py>(
    py: Python<'py>,
    method: &'static dyn kinfolk_train::Method,
) -> PyResult<Bound<'py, PyDict>> {
    let description = PyDict::new(py);
    description.set_item("name", method.name())?;
    description.set_item("title", method.info().title)?;
    description.set_item("learns", method.info().learns)?;
    description.set_item("reference", method.info().reference)?;
    description.set_item("problem", method.info().problem)?;
    description.set_item("certifies_optimum", method.certifies_optimum())?;
    let params = PyDict::new(py);
    for param in method.params() {
        let about = PyDict::new(py);
        about.set_item("meaning", param.meaning)?;
        about.set_item("values", param.allowed.to_string())?;
        about.set_item("default", param.default)?;
        about.set_item("grid", param.grid.to_vec())?;
        params.set_item(param.name, about)?;
    }
    description.set_item("params", params)?;
    Ok(description)
}

/// The losses, kernels, regularisers of Theta, solvers, scalings and metrics, as they are written in a spec.
#[pyfunction]
pub(crate) fn describe(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let losses: PyResult<Vec<_>> = LossKind::all_examples()
        .iter()
        .map(|loss| {
            let about = PyDict::new(py);
            about.set_item("text", loss.to_string())?;
            about.set_item("classification", loss.is_classification())?;
            Ok(about)
        })
        .collect();
    let description = PyDict::new(py);
    description.set_item("losses", losses?)?;
    description.set_item("kernels", Kernel::ALL.map(|kernel| kernel.to_string()).to_vec())?;
    description.set_item("outputs", outputs())?;
    description.set_item("solvers", SolverKind::ALL.map(|solver| solver.to_string()).to_vec())?;
    description.set_item("scalings", ScalingKind::ALL.map(|scaling| scaling.to_string()).to_vec())?;
    description.set_item("target_scales", TargetScale::ALL.map(|scale| scale.to_string()).to_vec())?;
    description.set_item("strengths", CScale::grid().to_vec())?;
    description.set_item("metrics", Metric::names().to_vec())?;
    Ok(description)
}

/// Values of the parameter `output` of the method fmtl.
fn outputs() -> Vec<&'static str> {
    let params = registry().iter().flat_map(|method| method.params());
    let words = params.filter(|param| param.name == "output").map(|param| param.allowed);
    words
        .flat_map(|allowed| if let Allowed::Word(words) = allowed { words.to_vec() } else { vec![] })
        .collect()
}

/// Whether a loss is for labels of two values.
#[pyfunction]
pub(crate) fn is_classification(loss: &str) -> PyResult<bool> {
    loss.parse().map(|kind: LossKind| kind.is_classification()).map_err(of_engine)
}
