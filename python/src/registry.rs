//! What the methods crate knows, told to Python.

use crate::error::of_engine;
use kinfolk::LossKind;
use kinfolk_train::registry;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The methods: name, what they are, and their parameters with defaults and grids, as text.
#[pyfunction]
pub(crate) fn methods(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let describe = |method: &'static dyn kinfolk_train::Method| {
        let said = PyDict::new(py);
        said.set_item("name", method.name())?;
        said.set_item("title", method.title())?;
        said.set_item("learns", method.learns())?;
        said.set_item("reference", method.reference())?;
        said.set_item("problem", method.problem())?;
        said.set_item("convex", method.is_convex())?;
        let params = PyDict::new(py);
        for param in method.params() {
            let about = PyDict::new(py);
            about.set_item("meaning", param.meaning)?;
            about.set_item("values", param.allowed.to_string())?;
            about.set_item("default", param.default)?;
            about.set_item("grid", param.grid.to_vec())?;
            params.set_item(param.name, about)?;
        }
        said.set_item("params", params)?;
        Ok(said)
    };
    registry().iter().map(|method| describe(*method)).collect()
}

/// Whether a loss is for labels of two values.
#[pyfunction]
pub(crate) fn is_classification(loss: &str) -> PyResult<bool> {
    loss.parse().map(|kind: LossKind| kind.is_classification()).map_err(of_engine)
}
