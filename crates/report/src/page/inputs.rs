//! What a page is made from: plain values that a command or a program fills in.

use super::data_check::DataCheck;
use super::hints::MadeBy;
use kinfolk::Model;
use kinfolk::solver::TracePoint;
use kinfolk_train::select::SelectionResults;
use kinfolk_train::{AutoC, FitSpec};
use std::path::Path;

/// Everything that is known about a model. Sections without a source become hints on how to get one.
#[derive(Debug)]
pub struct ReportInputs<'a> {
    /// The model.
    pub model: &'a Model,
    /// Who makes the page.
    pub made_by: MadeBy<'a>,
    /// How the model was fitted; `None` for models of other programs.
    pub spec: Option<&'a FitSpec>,
    /// How C was chosen, if it was left to the data.
    pub auto_c: Option<&'a AutoC>,
    /// How good it is on held-out rows, in words.
    pub score: Option<String>,
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

/// The last part of a path.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
