//! What a page is made from: plain values that a command or a program fills in.

use kinfolk::solver::TracePoint;
use kinfolk::{Certificate, Model};
use kinfolk_train::select::SelectionResults;
use kinfolk_train::{AutoC, FitSpec, Metric, Score};
use std::path::{Path, PathBuf};

/// Everything that is known about a model. Sections without a source become hints on how to get one.
#[derive(Debug)]
pub struct ReportInputs<'a> {
    /// The model.
    pub model: &'a Model,
    /// Its file, as it is named on the page.
    pub model_path: &'a Path,
    /// How the model was fitted; `None` for models of other programs.
    pub spec: Option<&'a FitSpec>,
    /// How C was chosen, if it was left to the data.
    pub auto_c: Option<&'a AutoC>,
    /// One entry for each data file that was given.
    pub data: Vec<DataCheck>,
    /// The results of a selection.
    pub selection: Option<&'a SelectionResults>,
    /// Certificates during the fit, from the first to the last.
    pub trace: Vec<TracePoint>,
}

impl ReportInputs<'_> {
    /// The data that the model was fitted to, if they were given.
    pub(super) fn training_data(&self) -> Option<&DataCheck> {
        self.data.iter().find(|data| data.is_training())
    }
}

/// A data file, and what the model makes of it.
#[derive(Debug)]
pub struct DataCheck {
    /// The file.
    pub path: PathBuf,
    /// Number of rows.
    pub n_rows: usize,
    /// Number of labels of each task.
    pub rows_per_task: Vec<usize>,
    /// What the predictions are scored by.
    pub metric: Metric,
    /// Score of the predictions.
    pub score: Score,
    /// The certificate, recomputed.
    pub recheck: Recheck,
}

/// The certificate, recomputed from a data file and the duals in the model.
#[derive(Debug)]
pub enum Recheck {
    /// These are the data of the fit, and the certificate is the one in the model.
    Agrees(Certificate),
    /// As many rows as the fit had, but the certificate is another one.
    Differs,
    /// Other data than those of the fit.
    OtherData,
    /// The model holds no duals.
    NoDuals,
}

impl DataCheck {
    /// Whether the model was fitted to these rows.
    pub(super) fn is_training(&self) -> bool {
        matches!(self.recheck, Recheck::Agrees(_))
    }

    /// The name of the file, without its folder.
    pub(super) fn file_name(&self) -> String {
        file_name(&self.path)
    }
}

/// The last part of a path.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
