//! Rows of files that answer questions: the files are read again for each.

use super::pass::StreamPass;
use crate::data_files::DataFiles;
use crate::failure::Failure;
use crate::interrupt;
use crate::report::Report;
use kinfolk::rows::{Question, Rows, RowsSetting, add_answer};
use kinfolk::{Error, TaskNames};
use kinfolk_io::{ColumnRoles, Schema};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// Rows of files.
pub(super) struct StreamedRows<'a> {
    pub(super) data: &'a DataFiles,
    pub(super) split: Option<i64>,
    pub(super) schema: &'a Schema,
    pub(super) tasks: &'a TaskNames,
    pub(super) threads: usize,
    pub(super) report: Report,
    pub(super) state: Mutex<StreamState>,
}

/// What changes with questions.
#[derive(Default)]
pub(super) struct StreamState {
    setting: Option<RowsSetting>,
    /// Questions so far, and seconds that they took.
    pub(super) questions: usize,
    pub(super) seconds: f64,
    /// Why a file could not be read.
    pub(super) failure: Option<Failure>,
}

impl StreamedRows<'_> {
    fn state(&self) -> MutexGuard<'_, StreamState> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn pass(&self, question: &Question) -> crate::failure::Result<Option<Vec<f64>>> {
        let (setting, number) = {
            let state = self.state();
            let Some(setting) = state.setting.clone() else { return Ok(None) };
            (setting, state.questions + 1)
        };
        let mut source = kinfolk_io::open_all(self.data.paths(), &ColumnRoles::default(), Some(self.schema))?;
        let name = format!("pass {number}, {}", question.name());
        let (data, split, threads, report) = (self.data, self.split, self.threads, self.report);
        let pass = StreamPass { data, split, name, threads, report };
        let mut sum = None;
        let end = pass.run(&mut *source, |table| {
            let observations = table.observations_in(&self.schema.label_encoding, self.tasks)?;
            let rows = setting.prepare(&table.inputs, &observations)?;
            add_answer(&mut sum, setting.answer(question, &rows, self.threads)?)?;
            Ok(true)
        })?;
        tracing::debug!("{}: {} rows in {:.2} s", pass.name, end.rows, end.seconds);
        Ok(sum.filter(|_| !end.stopped))
    }
}

impl Rows for StreamedRows<'_> {
    fn begin(&self, setting: &RowsSetting) -> kinfolk::Result<()> {
        self.state().setting = Some(setting.clone());
        Ok(())
    }

    fn ask(&self, question: &Question) -> kinfolk::Result<Vec<f64>> {
        if interrupt::asked() {
            return Err(Error::Interrupted);
        }
        self.state().questions += 1;
        let began = Instant::now();
        let answer = self.pass(question);
        let answer_seconds = began.elapsed().as_secs_f64();
        self.state().seconds += answer_seconds;
        match answer {
            Ok(Some(answer)) => Ok(answer),
            Ok(None) => Err(Error::Interrupted),
            Err(failure) => {
                let why = failure.to_string();
                self.state().failure = Some(failure);
                Err(Error::Incompatible(why))
            }
        }
    }

    fn reads_again(&self) -> bool {
        true
    }
}
