//! Tasks and labels.

use crate::error::of_engine;
use kinfolk::TaskNames;
use numpy::{PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Which input has which label for which task.
#[pyclass(frozen, name = "Observations", module = "kinfolk._native")]
pub(crate) struct PyObservations(pub(crate) kinfolk::Observations);

/// Names of tasks: integers or strings.
#[derive(FromPyObject)]
pub(crate) enum Names {
    /// The caller's integers.
    Integers(Vec<i64>),
    /// The caller's strings.
    Strings(Vec<String>),
}

impl From<Names> for TaskNames {
    fn from(names: Names) -> Self {
        match names {
            Names::Integers(names) => TaskNames::Integers(names),
            Names::Strings(names) => TaskNames::Strings(names),
        }
    }
}

fn named(observations: kinfolk::Result<kinfolk::Observations>, names: Names) -> PyResult<PyObservations> {
    let named = observations.and_then(|all| all.with_task_names(names.into()));
    named.map(PyObservations).map_err(of_engine)
}

pub(crate) fn numbers<T: numpy::Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    array.as_array().iter().copied().collect()
}

#[pymethods]
impl PyObservations {
    /// Input `input[i]` has label `label[i]` for task `task[i]`.
    #[staticmethod]
    fn triples(
        n_inputs: usize,
        names: Names,
        input: PyReadonlyArray1<'_, u32>,
        task: PyReadonlyArray1<'_, u32>,
        label: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let names: TaskNames = names.into();
        let (input, task, label) = (numbers(&input), numbers(&task), numbers(&label));
        let all = kinfolk::Observations::from_triples(n_inputs, names.len(), input, task, label);
        all.and_then(|all| all.with_task_names(names)).map(PyObservations).map_err(of_engine)
    }

    /// One task for each class: +1 for its own inputs, -1 for the others.
    #[staticmethod]
    fn classes(names: Names, class_: PyReadonlyArray1<'_, u32>) -> PyResult<Self> {
        let names: TaskNames = names.into();
        let all = kinfolk::Observations::multi_class(&numbers(&class_), names.len());
        all.and_then(|all| all.with_task_names(names)).map(PyObservations).map_err(of_engine)
    }

    /// A table (inputs x tasks) of labels, NaN where one is missing.
    #[staticmethod]
    fn table(names: Names, label: PyReadonlyArray2<'_, f64>) -> PyResult<Self> {
        let (rows, cols) = (label.shape()[0], label.shape()[1]);
        let label: Vec<f64> = label.as_array().iter().copied().collect();
        named(kinfolk::Observations::multi_output(&label, rows, cols), names)
    }

    /// The same with these weights, one for each observation.
    fn weighted(&self, weight: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        self.0.clone().with_weights(&numbers(&weight)).map(PyObservations).map_err(of_engine)
    }

    /// The same with these offsets, one for each observation: its loss becomes L(y, z + offset).
    fn with_offsets(&self, offset: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        self.0.clone().with_offsets(numbers(&offset)).map(PyObservations).map_err(of_engine)
    }

    /// Those of some inputs, which are numbered in the order of `rows`.
    fn select(&self, rows: PyReadonlyArray1<'_, u32>) -> PyResult<Self> {
        self.0.select_inputs(&numbers(&rows)).map(PyObservations).map_err(of_engine)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}
