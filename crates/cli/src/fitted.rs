//! A model with what the command knows about its fit.

use crate::args::ColumnArgs;
use crate::failure::{Failure, Result};
use kinfolk::{Model, Observations};
use kinfolk_io::{Schema, Source, Table};
use kinfolk_train::Trained;
use std::path::Path;

/// A model file of the command `fit`.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) model: Model,
    /// How its data were read.
    pub(crate) recipe: Schema,
    pub(crate) fit: FitNotes,
    trained: Trained,
}

/// What of the parameters of the fit matters later.
#[derive(Debug, Clone)]
pub(crate) struct FitNotes {
    pub(crate) tol: f64,
    /// Name, and parameters if it has any.
    pub(crate) method: Option<String>,
    pub(crate) c_rule: Option<String>,
    pub(crate) solver: Option<String>,
    pub(crate) seed: Option<u64>,
    pub(crate) class_weight: Option<String>,
}

impl Fitted {
    pub(crate) fn load(path: &Path) -> Result<Fitted> {
        Fitted::new(path, Model::load(path)?)
    }

    /// From a model that was loaded from there.
    pub(crate) fn new(path: &Path, model: Model) -> Result<Fitted> {
        let trained = Trained::from_model(model).map_err(|error| Failure::from(error).about(path))?;
        let spec = &trained.spec;
        let fit = FitNotes {
            tol: spec.tol,
            method: Some(spec.method.brief()),
            c_rule: Some(spec.c.to_string()),
            solver: Some(spec.solver.to_string()),
            seed: Some(spec.seed),
            class_weight: spec.class_weight.map(|weight| weight.to_string()),
        };
        Ok(Fitted { model: trained.model.clone(), recipe: trained.schema.clone(), fit, trained })
    }

    /// Opens a file, to be read as the data of the fit were.
    pub(crate) fn open(&self, path: &Path, columns: &ColumnArgs) -> Result<Box<dyn Source>> {
        Ok(self.trained.open(path, &columns.columns())?)
    }

    /// The labels of rows from `first_row` of a file on, for the tasks of the model.
    pub(crate) fn observations(&self, table: &Table, path: &Path, first_row: usize) -> Result<Observations> {
        Ok(self.trained.observations(table, path, first_row)?)
    }

    /// The data of the fit as the fit saw them, but for scaling.
    pub(crate) fn training_data(&self, path: &Path, columns: &ColumnArgs) -> Result<(Table, Observations)> {
        Ok(self.trained.training_data(path, &columns.columns())?)
    }
}
