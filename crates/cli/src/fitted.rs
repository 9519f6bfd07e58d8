//! A model with what the command knows about its fit.

use crate::args::ColumnArgs;
use crate::failure::{Failure, Result};
use crate::training::part;
use kinfolk::{Model, Observations};
use kinfolk_data::{Recipe, Table};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// A model file of the command `fit`.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) path: PathBuf,
    pub(crate) model: Model,
    /// How its data were read.
    pub(crate) recipe: Recipe,
    pub(crate) fit: FitNotes,
}

/// What of the parameters of the fit matters later.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FitNotes {
    pub(crate) tol: f64,
    pub(crate) split: Option<i64>,
    pub(crate) class_weight: Option<String>,
}

impl Fitted {
    pub(crate) fn load(path: &Path) -> Result<Fitted> {
        let model = Model::load(path)?;
        let recipe = parse(path, &model, "recipe")?;
        let fit = parse(path, &model, "fit")?;
        Ok(Fitted { path: path.to_path_buf(), model, recipe, fit })
    }

    /// The data of the fit as the fit saw them, but for scaling.
    pub(crate) fn training_data(&self, path: &Path, columns: &ColumnArgs) -> Result<(Table, Observations)> {
        let about = |failure: Failure| failure.about(path);
        let (table, _) = kinfolk_data::read(path, &columns.over(&self.recipe.columns), Some(&self.recipe))?;
        let table = part(table, self.fit.split).map_err(about)?;
        let observations = table.observations(&self.recipe.coding).map_err(|e| about(e.into()))?;
        match self.fit.class_weight.as_deref() {
            Some("balanced") => Ok((table, observations.class_balanced()?)),
            _ => Ok((table, observations)),
        }
    }
}

fn parse<T: for<'a> Deserialize<'a>>(path: &Path, model: &Model, key: &str) -> Result<T> {
    let wrong = |why: String| Failure::input(why).about(path);
    let text = model
        .attachment(key)
        .ok_or_else(|| wrong(format!("the model has no {key:?}: it was not written by the command kinfolk fit")))?;
    serde_json::from_str(text).map_err(|error| wrong(format!("{key:?} of the model is not understood: {error}")))
}
