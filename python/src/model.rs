//! Models.

use crate::error::{of_engine, of_method, value};
use crate::features::Features;
use kinfolk::model::LinearCoefficients;
use kinfolk::{Claim, Kernel, Matrix, TargetScale, TargetScaling};
use kinfolk_io::{ColumnRoles, Feature, LabelEncoding, Schema, Storage};
use kinfolk_train::{AtomSetting, FarOffRows, HeldOutError, Residuals, Trained};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;

type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// The key under which a model file keeps the JSON text of the Python package.
const PYTHON_KEY: &str = "python";

/// A fitted model with its spec and schema.
#[pyclass(frozen, name = "Model", module = "kinfolk._native")]
pub(crate) struct PyModel(pub(crate) Trained);

fn array<'py>(py: Python<'py>, m: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    m.as_slice().to_vec().into_pyarray(py).reshape([m.rows(), m.cols()])
}

#[pymethods]
impl PyModel {
    /// The task matrix.
    #[getter]
    fn theta<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.0.model.theta())
    }

    /// The task matrix as correlations.
    #[getter]
    fn correlation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, &self.0.model.correlation())
    }

    /// Correlations of the fitted functions; `None` if the model does not keep what they need.
    #[getter]
    fn function_correlation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let functions = self.0.model.function_correlation().map_err(of_engine)?;
        functions.map(|functions| array(py, &functions)).transpose()
    }

    /// The dual variables, in the order of the observations.
    #[getter]
    fn alpha<'py>(&self, py: Python<'py>) -> Option<Vector<'py>> {
        self.0.model.alpha().map(|alpha| alpha.to_vec().into_pyarray(py))
    }

    /// Weights of linear models: (features, tasks), with the constant feature last.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.0.model.weights().map(|weights| array(py, weights)).transpose()
    }

    /// Coefficients (features, tasks) and intercepts of linear models, in the units of the caller.
    #[getter]
    fn linear<'py>(&self, py: Python<'py>) -> PyResult<Option<(Bound<'py, PyArray2<f64>>, Vector<'py>)>> {
        let Some(LinearCoefficients { weights, intercept }) = self.0.model.linear_coefficients() else {
            return Ok(None);
        };
        Ok(Some((array(py, &weights)?, intercept.into_pyarray(py))))
    }

    /// Centre and spread of the labels of each task, if they were scaled.
    #[getter]
    fn target_scaling<'py>(&self, py: Python<'py>) -> Option<(Vector<'py>, Vector<'py>)> {
        let scaling = self.0.model.target_scaling()?;
        let spread = scaling.spread();
        let centre = scaling.centre().map_or_else(|| vec![0.0; spread.len()], <[f64]>::to_vec);
        Some((centre.into_pyarray(py), spread.to_vec().into_pyarray(py)))
    }

    /// Names of the tasks.
    #[getter]
    fn tasks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        crate::statistics::names(py, self.0.model.tasks())
    }

    /// Known relations of tasks: name, weight, the learned coefficient, and the share of the model.
    #[getter]
    fn atoms(&self) -> Vec<(String, f64, f64, f64)> {
        let atoms = self.0.model.atoms().into_iter();
        atoms.map(|atom| (atom.name.to_string(), atom.weight, atom.coefficient, atom.share)).collect()
    }

    /// What probabilities of classes are raised to before they are divided by their sum; 1 if nothing was held out.
    #[getter]
    fn class_exponent(&self) -> f64 {
        self.0.outcome.exponent_of_classes()
    }

    /// Everything about the problem and the data but the arrays, as JSON.
    #[getter]
    fn about(&self) -> PyResult<String> {
        serde_json::to_string(self.0.model.about()).map_err(value)
    }

    /// What was fitted and how, as JSON.
    #[getter]
    fn spec(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.spec).map_err(value)
    }

    /// How the data were read, as JSON.
    #[getter]
    fn schema(&self) -> PyResult<String> {
        serde_json::to_string(&self.0.schema).map_err(value)
    }

    /// The JSON text of the Python package, if it wrote the file.
    #[getter]
    fn python(&self) -> Option<&str> {
        self.0.model.attachment(PYTHON_KEY)
    }

    /// The certificate and the course of the fit.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Trained { model, outcome, seconds, trace, .. } = &self.0;
        let (certificate, problem) = (model.certificate(), &model.about().problem);
        let summary = PyDict::new(py);
        summary.set_item("status", model.status().map(|status| status.to_string()))?;
        summary.set_item("claim", model.claim().map(Claim::to_string))?;
        summary.set_item("remark", model.remark())?;
        summary.set_item("primal", certificate.primal)?;
        summary.set_item("dual", certificate.dual)?;
        summary.set_item("gap", certificate.gap)?;
        summary.set_item("rel_gap", certificate.rel_gap())?;
        summary.set_item("rel_error", certificate.rel_error())?;
        summary.set_item("task_gaps", certificate.task_gaps.clone())?;
        summary.set_item("solver", &outcome.solver)?;
        summary.set_item("reason", outcome.reason.as_deref())?;
        summary.set_item("passes", outcome.passes)?;
        summary.set_item("notes", outcome.notes.clone())?;
        let auto_c = outcome.auto_c.as_ref().map(serde_json::to_string).transpose().map_err(value)?;
        summary.set_item("auto_c", auto_c)?;
        summary.set_item("seconds", seconds)?;
        summary.set_item("c", problem.c)?;
        summary.set_item("lambda", problem.lambda)?;
        let points = trace.iter().map(|at| (at.passes, at.seconds, at.primal, at.dual, at.gap));
        summary.set_item("trace", points.collect::<Vec<_>>())?;
        Ok(summary)
    }

    /// Half of the width of an interval for each task: from these held-out rows (their tasks and errors), or from those
    /// of the fit; and that of a task without training rows, NaN if nothing is known about such tasks. `None` if there
    /// are no held-out rows, or too few.
    #[pyo3(signature = (level, held_out=None))]
    fn interval_half_widths<'py>(
        &self,
        py: Python<'py>,
        level: f64,
        held_out: Option<(PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>)>,
    ) -> PyResult<Option<(Vector<'py>, f64)>> {
        let Trained { model, outcome, .. } = &self.0;
        let spread = model.target_scaling().map(TargetScaling::spread);
        let given = match held_out {
            None => None,
            Some((tasks, errors)) => {
                let row = |(&task, &error): (&i64, &f64)| {
                    let task = usize::try_from(task).ok().filter(|&task| task < model.tasks().len());
                    let task = task.ok_or_else(|| value("a task that the model does not have"))?;
                    Ok(HeldOutError { task, error: error / spread.map_or(1.0, |spread| spread[task]) })
                };
                let rows = tasks.as_slice()?.iter().zip(errors.as_slice()?).map(row);
                let scale = model.target_scaling().map_or(TargetScale::None, TargetScaling::kind);
                Residuals::new(model.tasks().len(), rows.collect::<PyResult<_>>()?, scale)
            }
        };
        if given.is_none() && outcome.residuals.is_none() {
            return Ok(None);
        }
        let widths = self.0.half_widths(level, given.as_ref()).ok();
        Ok(widths.map(|widths| (widths.known.into_pyarray(py), widths.new)))
    }

    /// What is to be said about rows far outside the ranges of the training rows; `None` if there are none, or the
    /// model does not know these ranges. `names` are those of the features.
    #[pyo3(signature = (x, names=None))]
    fn far_off(
        &self,
        py: Python<'_>,
        x: Features<'_>,
        names: Option<Vec<String>>,
    ) -> PyResult<Option<String>> {
        let Some(ranges) = &self.0.outcome.ranges else { return Ok(None) };
        let inputs = x.inputs(false)?;
        Ok(py.detach(|| {
            let mut rows = FarOffRows::new(ranges);
            rows.add(&inputs);
            rows.note(&self.0.schema, names.as_deref())
        }))
    }

    /// The mean of the predictions of all tasks that had training observations, for each input.
    fn predict_mean<'py>(&self, py: Python<'py>, x: Features<'_>) -> PyResult<Vector<'py>> {
        let inputs = x.inputs(false)?;
        Ok(py.detach(|| self.0.model.predict_mean(&inputs)).map_err(of_engine)?.into_pyarray(py))
    }

    /// Predictions of a task without training observations, through the atoms of the model; None if they do not
    /// relate it to other tasks. `more` are the same atoms for tasks that were not known at the fit, as JSON.
    #[pyo3(signature = (x, name, more=None))]
    fn predict_new<'py>(
        &self,
        py: Python<'py>,
        x: Features<'_>,
        name: &str,
        more: Option<&str>,
    ) -> PyResult<Option<Vector<'py>>> {
        let inputs = x.inputs(false)?;
        let more: Vec<AtomSetting> = more.map_or(Ok(vec![]), serde_json::from_str).map_err(value)?;
        let found = self.0.new_tasks(&more).and_then(|new| new.find(name)).map_err(of_method)?;
        let predict = |task| self.0.model.predict_borrowed(&inputs, &task).map_err(of_engine);
        let scores = py.detach(|| found.map(predict).transpose())?;
        Ok(scores.map(|scores| scores.into_pyarray(py)))
    }

    /// Predictions of all tasks: (inputs, tasks).
    fn predict_all<'py>(&self, py: Python<'py>, x: Features<'_>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inputs = x.inputs(false)?;
        let scores = py.detach(|| self.0.model.predict_all(&inputs)).map_err(of_engine)?;
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
        Ok(py.detach(|| self.0.model.predict(&inputs, &task)).map_err(of_engine)?.into_pyarray(py))
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.0.to_bytes().map_err(of_method)?))
    }

    /// From the bytes of a file.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        PyModel::new(kinfolk::Model::from_bytes(bytes).map_err(of_engine)?)
    }

    /// From a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        PyModel::new(kinfolk::Model::load(path).map_err(of_engine)?)
    }

    /// Writes a file that the command can read. `python` is a JSON text for this package. `classes` are the two
    /// values of labels for -1 and +1, None if labels are numbers, or empty if tasks are classes. `recipe` says how the
    /// columns of a frame became features, as JSON; `features` are the names of columns that are numbers.
    #[pyo3(signature = (path, *, python, features=None, task_column=None, classes=None, recipe=None))]
    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        python: &str,
        features: Option<Vec<String>>,
        task_column: Option<String>,
        classes: Option<Vec<String>>,
        recipe: Option<&str>,
    ) -> PyResult<()> {
        let mut trained = self.0.clone();
        let recipe = recipe.map(crate::frame::parse).transpose()?;
        let known = recipe.as_ref().map_or_else(ColumnRoles::default, |recipe| recipe.columns.clone());
        let columns = ColumnRoles { task: task_column, ..known };
        let features = features.map(|names| names.into_iter().map(Feature::Number).collect());
        let about = trained.model.about();
        let storage = match about.kernel {
            Kernel::Precomputed => Storage::Kernel,
            _ => Storage::Dense,
        };
        let label_encoding = label_encoding(classes);
        trained.schema = match recipe {
            Some(recipe) => Schema { columns: columns.clone(), label_encoding, ..recipe },
            None => {
                Schema { storage, label_encoding, ..Schema::new(columns.clone(), features, about.n_features) }
            }
        };
        trained.spec.columns = columns;
        let saved = py.detach(|| -> kinfolk_train::Result<()> {
            let mut model = trained.into_model()?;
            model.attach(PYTHON_KEY, python)?;
            Ok(model.save(&path)?)
        });
        saved.map_err(of_method)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let class = py.get_type::<PyModel>();
        Ok((class.getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        let about = self.0.model.about();
        let kind = if self.0.model.weights().is_some() { "linear" } else { "kernel" };
        format!("<kinfolk model: {} tasks, {} features, {kind}>", about.tasks.len(), about.n_features)
    }
}

impl PyModel {
    fn new(model: kinfolk::Model) -> PyResult<Self> {
        Trained::from_model(model).map(PyModel).map_err(of_method)
    }
}

fn label_encoding(classes: Option<Vec<String>>) -> LabelEncoding {
    match classes.as_deref() {
        None => LabelEncoding::Numbers,
        Some([negative, positive]) => {
            LabelEncoding::Binary { negative: negative.clone(), positive: positive.clone() }
        }
        Some(_) => LabelEncoding::Classes,
    }
}
