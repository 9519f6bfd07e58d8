//! numpy's archives of arrays: inputs with everything that belongs to them.

mod archive;
mod array;
mod columns;
mod targets;

use crate::bytes::Bytes;
use crate::npy::rows::{self, Rows};
use crate::{Columns, Error, Feature, Recipe, Result, Source, Storage, Table, Targets, keys};
use archive::Archive;
pub use array::read_array;
use kinfolk::TaskNames;

/// Opens an archive: small arrays are read, the inputs only as they are asked for.
pub(crate) fn open(
    from: Box<dyn Bytes>,
    columns: &Columns,
    recipe: Option<&Recipe>,
) -> Result<Box<dyn Source>> {
    crate::recipe::no_named_features(columns, "npz")?;
    let mut archive = Archive::open(from)?;
    let name = inputs_array(&archive, recipe)?;
    let (n_rows, cols) = rows::shape(&archive.header(name)?).map_err(|error| error.in_column(name))?;
    let wanted = targets::Wanted { now: columns, before: recipe.map(|recipe| &recipe.columns) };
    let features = if name == "X" { feature_names(&mut archive, cols)? } else { None };
    let targets = targets::read(&mut archive, &wanted, n_rows)?;
    let weight = wanted
        .array(&archive, |columns| columns.weight.as_deref(), "weight")?
        .map(|name| {
            columns::per_row(&mut archive, &name, n_rows).and_then(|column| columns::weights(column, &name))
        })
        .transpose()?;
    let split = wanted
        .array(&archive, |columns| columns.split.as_deref(), "split")?
        .map(|name| {
            columns::per_row(&mut archive, &name, n_rows).and_then(|column| columns::parts(column, &name))
        })
        .transpose()?;
    let rows = archive.into_rows(name)?;
    let own = || {
        let numbers = features.as_ref().map(|names| names.iter().cloned().map(Feature::Number).collect());
        let storage = if name == "K" { Storage::Kernel } else { Storage::Dense };
        Recipe { storage, ..Recipe::new(columns.clone(), numbers, cols) }
    };
    let recipe = recipe.cloned().unwrap_or_else(own);
    Ok(Box::new(NpzSource { array: name, rows, features, targets, weight, split, recipe }))
}

/// The array of the inputs.
fn inputs_array(archive: &Archive, recipe: Option<&Recipe>) -> Result<&'static str> {
    match (archive.has("X"), archive.has("K"), recipe.map(|recipe| recipe.storage)) {
        (_, true, Some(Storage::Kernel)) | (false, true, None) => Ok("K"),
        (true, _, Some(Storage::Dense | Storage::Sparse)) | (true, false, None) => Ok("X"),
        (true, true, None) => Err(Error::of_table("there are both X and K; leave one of them out")),
        (_, false, Some(Storage::Kernel)) => {
            let why = format!(
                "there is no array K, but {}; the model was fitted on kernel values",
                archive.listed()
            );
            Err(Error::of_table(why))
        }
        _ => Err(Error::of_table(format!("there is no array X, but {}", archive.listed()))),
    }
}

fn feature_names(archive: &mut Archive, cols: usize) -> Result<Option<Vec<String>>> {
    const NAME: &str = "feature_names";
    let Some(names) = columns::names(archive, NAME)? else { return Ok(None) };
    if names.len() != cols {
        let why = format!("{} names for the {cols} columns of X", names.len());
        return Err(Error::of_table(why).in_column(NAME));
    }
    keys::check_distinct(&names).map_err(|error| error.in_column(NAME))?;
    Ok(Some(match names {
        TaskNames::Strings(names) => names,
        names => (0..names.len()).map(|j| names.name(j)).collect(),
    }))
}

struct NpzSource {
    array: &'static str,
    rows: Rows,
    features: Option<Vec<String>>,
    targets: Targets,
    weight: Option<Vec<f64>>,
    split: Option<Vec<i64>>,
    recipe: Recipe,
}

impl Source for NpzSource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let start = self.rows.position();
        let in_array = |error: Error| {
            let named = error.column.is_some();
            if named { error } else { error.in_column(self.array) }
        };
        let Some(inputs) = self.rows.next(max_rows, self.features.as_deref()).map_err(in_array)? else {
            return self.rows.finish().map_err(in_array).map(|()| None);
        };
        let range = start..self.rows.position();
        Ok(Some(Table {
            inputs,
            features: self.features.clone(),
            targets: self.targets.select_rows(range.clone()),
            weight: self.weight.as_ref().map(|weight| weight[range.clone()].to_vec()),
            split: self.split.as_ref().map(|split| split[range].to_vec()),
        }))
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.rows.rows())
    }

    fn recipe(&self) -> Recipe {
        self.recipe.clone()
    }
}
