//! Models.

use crate::error::{of_engine, of_method, value};
use crate::features::Features;
use kinfolk::{Claim, Kernel, Matrix, Scaling, TaskNames};
use kinfolk_io::{ColumnRoles, Feature, LabelEncoding, Schema, Storage};
use kinfolk_train::{ClassWeight, Trained};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// A fitted model.
#[pyclass(frozen, name = "Model", module = "kinfolk._native")]
pub(crate) struct PyModel(pub(crate) kinfolk::Model);

fn array<'py>(py: Python<'py>, m: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    m.as_slice().to_vec().into_pyarray(py).reshape([m.rows(), m.cols()])
}

impl PyModel {
    /// With what made it.
    fn trained(&self) -> PyResult<Trained> {
        Trained::from_model(self.0.clone()).map_err(of_method)
    }
}

#[pymethods]
impl PyModel {
    /// The task matrix.
    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.0.theta())
    }

    /// The task matrix as correlations.
    #[getter]
    fn correlation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, &self.0.correlation())
    }

    /// The dual variables, in the order of the observations.
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        self.0.alpha().map(|alpha| alpha.to_vec().into_pyarray(py))
    }

    /// Weights of linear models: (features, tasks), with the constant feature last.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.0.weights().map(|weights| array(py, weights)).transpose()
    }

    /// Means and factors of standard scaling.
    #[getter]
    fn scaling<'py>(&self, py: Python<'py>) -> Option<(Vector<'py>, Vector<'py>)> {
        match self.0.scaling() {
            Scaling::Standard { mean, factor } => {
                Some((mean.clone().into_pyarray(py), factor.clone().into_pyarray(py)))
            }
            _ => None,
        }
    }

    /// Names of the tasks.
    #[getter]
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match self.0.tasks() {
            TaskNames::Numbered(n) => (0..*n as i64).collect::<Vec<_>>().into_pyobject(py),
            TaskNames::Integers(names) => names.clone().into_pyobject(py),
            other => other.iter().collect::<Vec<_>>().into_pyobject(py),
        }
    }

    /// Everything but the arrays, as JSON.
    #[getter]
    fn about(&self) -> PyResult<String> {
        serde_json::to_string(self.0.about()).map_err(value)
    }

    /// JSON texts in the model file, by key.
    #[getter]
    fn attachments<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        self.0.attachments().try_for_each(|(key, text)| all.set_item(key, text))?;
        Ok(all)
    }

    /// Predictions of all tasks: (inputs, tasks).
    fn predict_all<'py>(&self, py: Python<'py>, x: Features<'_>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inputs = x.inputs(false)?;
        let scores = py.detach(|| self.0.predict_all(&inputs)).map_err(of_engine)?;
        let (rows, cols) = (scores.rows(), scores.cols());
        scores.into_vec().into_pyarray(py).reshape([rows, cols])
    }

    /// Predictions of one task for each input.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: Features<'_>,
        task: PyReadonlyArray1<'_, u32>,
    ) -> PyResult<Vector<'py>> {
        let inputs = x.inputs(false)?;
        let task: Vec<u32> = task.as_array().iter().copied().collect();
        Ok(py.detach(|| self.0.predict(&inputs, &task)).map_err(of_engine)?.into_pyarray(py))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(of_engine)?))
    }

    /// From the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        kinfolk::Model::from_bytes(bytes).map(PyModel).map_err(of_engine)
    }

    /// From a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        kinfolk::Model::load(path).map(PyModel).map_err(of_engine)
    }

    /// What made it, as the JSON of a spec; of models that the command or this package wrote.
    #[getter]
    fn spec(&self) -> PyResult<String> {
        serde_json::to_string(&self.trained()?.spec).map_err(value)
    }

    /// How its data were read, as JSON; of models that the command or this package wrote.
    #[getter]
    fn schema(&self) -> PyResult<String> {
        serde_json::to_string(&self.trained()?.schema).map_err(value)
    }

    /// What its certificate is about; of models that the command or this package wrote.
    #[getter]
    fn claim(&self) -> PyResult<Option<String>> {
        Ok(self.trained()?.model.claim().map(Claim::to_string))
    }

    /// Writes a file that the command can read. `python` is a JSON text for this package. `classes` are the two
    /// values of labels for -1 and +1, None if labels are numbers, or empty if tasks are classes.
    #[pyo3(signature = (path, *, python, balanced, features=None, task_column=None, classes=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        python: &str,
        balanced: bool,
        features: Option<Vec<String>>,
        task_column: Option<String>,
        classes: Option<Vec<String>>,
    ) -> PyResult<()> {
        let mut trained = self.trained()?;
        let columns = ColumnRoles { task: task_column, ..ColumnRoles::default() };
        let features = features.map(|names| names.into_iter().map(Feature::Number).collect());
        let coding = match classes {
            None => LabelEncoding::Numbers,
            Some(two) if two.len() == 2 => {
                let [negative, positive] = [two[0].clone(), two[1].clone()];
                LabelEncoding::Binary { negative, positive }
            }
            Some(_) => LabelEncoding::Classes,
        };
        let storage = match self.0.about().kernel {
            Kernel::Precomputed => Storage::Kernel,
            _ => Storage::Dense,
        };
        trained.spec.class_weight = balanced.then_some(ClassWeight::Balanced);
        trained.spec.columns = columns.clone();
        trained.schema = Schema {
            storage,
            label_encoding: coding,
            ..Schema::new(columns, features, self.0.about().n_features)
        };
        py.detach(|| {
            let mut model = trained.into_model().map_err(of_method)?;
            model.attach("python", python).map_err(of_engine)?;
            model.save(&path).map_err(of_engine)
        })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let class = py.get_type::<PyModel>();
        Ok((class.getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        let about = self.0.about();
        let kind = if self.0.weights().is_some() { "linear" } else { "kernel" };
        format!("<kinfolk model: {} tasks, {} features, {kind}>", about.tasks.len(), about.n_features)
    }
}
