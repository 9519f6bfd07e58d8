//! A model with what the command knows about its fit.

use crate::args::ColumnArgs;
use crate::failure::{Failure, Result};
use crate::files;
use crate::fit_params::FitParams;
use crate::training::part;
use kinfolk::{Claim, Model, Observations};
use kinfolk_io::{ColumnRoles, Schema, Source, Storage, Table};
use kinfolk_train::Params;
use serde::Deserialize;
use std::path::Path;

/// A model file of the command `fit`.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) model: Model,
    /// How its data were read.
    pub(crate) recipe: Schema,
    pub(crate) fit: FitNotes,
}

/// What of the parameters of the fit matters later.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct FitNotes {
    pub(crate) tol: f64,
    pub(crate) split: Option<i64>,
    pub(crate) class_weight: Option<String>,
    /// The claim, in files of 0.1.0.
    given: Option<String>,
    /// Name, and parameters if it has any.
    pub(crate) method: Option<String>,
    pub(crate) c_rule: Option<String>,
    pub(crate) solver: Option<String>,
    pub(crate) seed: Option<u64>,
}

impl FitNotes {
    /// The claim of a file of 0.1.0, which has none among its own metadata: what the fit took as given, or else what
    /// the method claims now.
    fn claim(&self) -> Claim {
        if let Some(given) = &self.given {
            return Claim::Given(given.clone().into());
        }
        let name = self.method.as_deref().and_then(|method| method.split(':').next()).unwrap_or("fmtl");
        let Ok(method) = kinfolk_train::find(name) else { return Claim::Optimal };
        method.claim(&Params::parse(method.name(), method.params(), &[]).unwrap_or_default())
    }
}

impl Fitted {
    pub(crate) fn load(path: &Path) -> Result<Fitted> {
        Fitted::new(path, Model::load(path)?)
    }

    /// From a model that was loaded from there.
    pub(crate) fn new(path: &Path, mut model: Model) -> Result<Fitted> {
        let recipe = parse(path, &model, "recipe")?;
        let fit: FitNotes = parse(path, &model, "fit")?;
        if model.claim().is_none() {
            model.set_claim(fit.claim());
        }
        Ok(Fitted { model, recipe, fit })
    }

    /// Opens a file, to be read as the data of the fit were.
    pub(crate) fn open(&self, path: &Path, columns: &ColumnArgs) -> Result<Box<dyn Source>> {
        Ok(kinfolk_io::open(path, &columns.columns(), Some(&self.recipe))?)
    }

    /// The labels of rows from `first_row` of a file on, for the tasks of the model.
    pub(crate) fn observations(&self, table: &Table, path: &Path, first_row: usize) -> Result<Observations> {
        let observations = table.observations_in(&self.recipe.label_encoding, self.model.tasks());
        observations.map_err(|mut error| {
            error.row = error.row.map(|row| row + first_row as u64);
            error.in_file(path).into()
        })
    }

    /// The data of the fit as the fit saw them, but for scaling.
    pub(crate) fn training_data(&self, path: &Path, columns: &ColumnArgs) -> Result<(Table, Observations)> {
        let said = columns.columns();
        let (table, _) = match self.recipe.storage {
            // Kernel values among the training inputs: read as for fitting, not as those of new inputs.
            Storage::Kernel => {
                let columns = if said == ColumnRoles::default() { &self.recipe.columns } else { &said };
                kinfolk_io::read(path, columns, None)?
            }
            _ => kinfolk_io::read(path, &said, Some(&self.recipe))?,
        };
        let table = part(table, self.fit.split).map_err(|failure| failure.about(path))?;
        let observations = self.observations(&table, path, 0)?;
        match self.fit.class_weight.as_deref() {
            Some("balanced") => Ok((table, observations.class_balanced()?)),
            _ => Ok((table, observations)),
        }
    }
}

/// Writes a model with what later commands need to know.
pub(crate) fn save(path: &Path, model: &mut Model, recipe: &Schema, params: &FitParams) -> Result<()> {
    let json = |value: serde_json::Result<String>| value.map_err(Failure::output);
    model.attach("recipe", &json(serde_json::to_string(recipe))?)?;
    model.attach("fit", &json(serde_json::to_string(params))?)?;
    files::write_model(path, model)
}

fn parse<T: for<'a> Deserialize<'a>>(path: &Path, model: &Model, key: &str) -> Result<T> {
    let wrong = |why: String| Failure::input(why).about(path);
    let text = model.attachment(key).ok_or_else(|| {
        wrong(format!("the model has no {key:?}: it was not written by the command kinfolk fit"))
    })?;
    serde_json::from_str(text)
        .map_err(|error| wrong(format!("{key:?} of the model is not understood: {error}")))
}
