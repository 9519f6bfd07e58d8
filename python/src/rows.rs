//! Rows in other processes: Python carries questions to them, and answers back.

use crate::background::Message;
use crate::error::{of_engine, value};
use crate::features::Features;
use crate::observations::PyObservations;
use kinfolk::Error;
use kinfolk::rows::{PreparedRows, Question, Rows, RowsSetting, add_answer};
use kinfolk_train::Memory;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

/// Rows that Python reaches. They are asked from the thread of a fit; the calling thread serves the questions.
pub(crate) struct PythonRows {
    state: Mutex<PythonRowsState>,
}

struct PythonRowsState {
    messages: Sender<Message>,
    setting: Arc<[u8]>,
}

/// A question on its way.
pub(crate) struct Asked {
    setting: Arc<[u8]>,
    name: &'static str,
    question: Vec<u8>,
    /// Dropped without an answer if there is none.
    reply: Sender<Vec<f64>>,
}

impl Asked {
    /// Calls a function of Python with the name of the question, the setting and the question, and sends its answer.
    pub(crate) fn answer_by(self, py: Python<'_>, ask: &Py<PyAny>) -> PyResult<()> {
        let bytes = |all: &[u8]| PyBytes::new(py, all).unbind();
        let answer = ask.call1(py, (self.name, bytes(&self.setting), bytes(&self.question)))?;
        let answer: PyReadonlyArray1<'_, f64> = answer.extract(py)?;
        // An error means that the fit has ended.
        let _ = self.reply.send(crate::observations::numbers(&answer));
        Ok(())
    }
}

impl PythonRows {
    pub(crate) fn new(messages: Sender<Message>) -> Self {
        PythonRows { state: Mutex::new(PythonRowsState { messages, setting: Arc::default() }) }
    }

    fn state(&self) -> MutexGuard<'_, PythonRowsState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Rows for PythonRows {
    fn begin(&self, setting: &RowsSetting) -> kinfolk::Result<()> {
        self.state().setting = setting.to_bytes()?.into();
        Ok(())
    }

    fn ask(&self, question: &Question) -> kinfolk::Result<Vec<f64>> {
        let (reply, answer) = channel();
        let asked = {
            let state = self.state();
            let (setting, question, name) = (state.setting.clone(), question.to_bytes()?, question.name());
            state.messages.send(Message::Asked(Asked { setting, name, question, reply }))
        };
        // Errors mean that Python raised an exception, which the caller gets.
        asked.map_err(|_| Error::Interrupted)?;
        answer.recv().map_err(|_| Error::Interrupted)
    }

    fn reads_again(&self) -> bool {
        true
    }
}

/// Bytes of a limit of memory, such as "4GB".
#[pyfunction]
pub(crate) fn memory_bytes(memory: &str) -> PyResult<u64> {
    let memory: Memory = memory.parse().map_err(value)?;
    Ok(memory.0)
}

/// Rows that answer questions of one setting.
#[pyclass(name = "RowsPart", module = "kinfolk._native")]
pub(crate) struct PyRowsPart {
    setting: RowsSetting,
    batches: Vec<PreparedRows>,
}

#[pymethods]
impl PyRowsPart {
    #[new]
    fn new(setting: &[u8]) -> PyResult<Self> {
        let setting = RowsSetting::from_bytes(setting).map_err(of_engine)?;
        Ok(PyRowsPart { setting, batches: vec![] })
    }

    /// Adds rows.
    fn add(&mut self, py: Python<'_>, x: Features<'_>, observations: &PyObservations) -> PyResult<()> {
        let (inputs, setting) = (x.inputs(false)?, &self.setting);
        let rows = py.detach(|| setting.prepare(&inputs, &observations.0)).map_err(of_engine)?;
        self.batches.push(rows);
        Ok(())
    }

    /// Bytes that the rows take.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.batches.iter().map(PreparedRows::bytes).sum()
    }

    /// How many rows there are.
    #[getter]
    fn n_rows(&self) -> usize {
        self.batches.iter().map(PreparedRows::n_rows).sum()
    }

    /// The sum of the answers of all batches; `None` if there is none.
    fn answer<'py>(
        &self,
        py: Python<'py>,
        question: &[u8],
        threads: usize,
    ) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let ask = || {
            let question = Question::from_bytes(question)?;
            let mut sum = None;
            for rows in &self.batches {
                add_answer(&mut sum, self.setting.answer(&question, rows, threads)?)?;
            }
            Ok(sum)
        };
        let sum = py.detach(ask).map_err(of_engine)?;
        Ok(sum.map(|sum| PyArray1::from_vec(py, sum)))
    }
}
