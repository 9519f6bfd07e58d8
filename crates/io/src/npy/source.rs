//! An npy file: inputs alone.

use super::{header::Header, rows::Rows};
use crate::bytes::Bytes;
use crate::{Columns, Error, Recipe, Result, Source, Storage, Table, Targets};

/// Opens an array of rows: features, or kernel values if the recipe says that the model was fitted on such.
pub(crate) fn open(
    from: Box<dyn Bytes>,
    columns: &Columns,
    recipe: Option<&Recipe>,
) -> Result<Box<dyn Source>> {
    crate::recipe::no_named_columns(columns, "npy")?;
    let mut from = from;
    let header = Header::read(&mut from).map_err(Error::of_table)?;
    let rows = Rows::new(Box::new(from), header)?;
    let storage = recipe.map_or(Storage::Dense, |recipe| recipe.storage);
    let recipe = Recipe { storage, ..Recipe::new(columns.clone(), None, rows.cols()) };
    Ok(Box::new(NpySource { rows, recipe }))
}

struct NpySource {
    rows: Rows,
    recipe: Recipe,
}

impl Source for NpySource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let Some(inputs) = self.rows.next(max_rows, None)? else {
            return self.rows.finish().map(|()| None);
        };
        Ok(Some(Table { inputs, features: None, targets: Targets::None, weight: None, split: None }))
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.rows.rows())
    }

    fn recipe(&self) -> Recipe {
        self.recipe.clone()
    }
}
