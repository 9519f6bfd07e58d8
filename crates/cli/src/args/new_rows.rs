//! Rows that a model was not fitted to: other tasks, and columns that are not there.

use super::ColumnArgs;
use crate::failure::Result;
use crate::scores::UnknownTask;
use clap::Args;
use kinfolk_io::{ColumnRoles, NewGaps};
use kinfolk_train::{AtomSetting, Trained};
use std::path::PathBuf;

/// What to do about tasks and columns that are not those of the model.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "New rows")]
pub(crate) struct NewRowArgs {
    /// What to predict for tasks that the model does not know, or that had no labels in training, and that no atom
    /// relates to others.
    #[arg(long, value_enum, default_value = "error")]
    pub(crate) unknown_task: UnknownTask,
    /// Tasks that were not known at the fit, for an atom of the model, in a file like that of the fit. May be repeated.
    #[arg(long = "atom", value_name = "KIND=FILE")]
    atoms: Vec<AtomSetting>,
    /// Columns of the model that the file does not have: an error, or their values are missing ones and filled in as
    /// the model does, with means if none were missing in training (fill) [default: error].
    #[arg(long, value_name = "error|fill")]
    missing_columns: Option<NewGaps>,
    /// Missing values in columns that had none in training: an error, or the mean of the training rows (fill) [default:
    /// error].
    #[arg(long, value_name = "error|fill")]
    missing_cells: Option<NewGaps>,
}

impl Default for NewRowArgs {
    fn default() -> Self {
        NewRowArgs {
            unknown_task: UnknownTask::Error,
            atoms: vec![],
            missing_columns: None,
            missing_cells: None,
        }
    }
}

impl NewRowArgs {
    /// Files of atoms.
    pub(crate) fn files(&self) -> Vec<&PathBuf> {
        self.atoms.iter().filter_map(|atom| atom.file.as_ref()).collect()
    }

    /// How the columns of these rows are to be read.
    ///
    /// # Errors
    /// If an option is given that only a fit can follow.
    pub(crate) fn roles(&self, columns: &ColumnArgs) -> Result<ColumnRoles> {
        let missing_columns = self.missing_columns.unwrap_or_default();
        let missing_cells = self.missing_cells.unwrap_or_default();
        Ok(ColumnRoles { missing_columns, missing_cells, ..columns.for_model()? })
    }

    /// The atoms, with their files read.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn atoms(&self, columns: &ColumnArgs, trained: &Trained) -> Result<Vec<AtomSetting>> {
        Ok(trained.read_atoms(&self.atoms, &columns.columns())?)
    }
}

/// Name of the column of tasks in these rows.
pub(crate) fn task_column(columns: &ColumnArgs, trained: &Trained) -> Option<String> {
    columns.columns().task.or_else(|| trained.schema.columns.task.clone())
}
