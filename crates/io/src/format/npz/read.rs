//! An npz file: small arrays are read at once, the inputs only as they are asked for.

use super::archive::Archive;
use super::{columns, targets};
use crate::format::npy::{self, ArrayValues, MatrixReader};
use crate::format::{InputFile, OpenResult};
use crate::{
    ColumnRoles, Error, Feature, FoldKeys, Result, Schema, Source, Storage, Table, Targets, categories,
};

pub(super) struct NpzSource {
    array: &'static str,
    rows: MatrixReader,
    features: Option<Vec<String>>,
    targets: Targets,
    weight: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
    split: Option<Vec<i64>>,
    fold_keys: Option<FoldKeys>,
    schema: Schema,
}

impl NpzSource {
    pub(super) fn open(input: &InputFile, columns: &ColumnRoles, schema: Option<&Schema>) -> OpenResult {
        columns.refuse_features("npz")?;
        let mut archive = Archive::open(input.bytes()?)?;
        let array = inputs_array(&archive, schema)?;
        let (n_rows, cols) = npy::shape(&archive.header(array)?).map_err(|error| error.in_column(array))?;
        let wanted = targets::Wanted { now: columns, before: schema.map(|schema| &schema.columns) };
        let features = if array == "X" { feature_names(&mut archive, cols)? } else { None };
        let targets = targets::read(&mut archive, &wanted, n_rows)?;
        let weight = wanted.array(&archive, |roles| &roles.weight, "weight")?;
        let offset = wanted.array(&archive, |roles| &roles.offset, "offset")?;
        let split = wanted.array(&archive, |roles| &roles.split, "split")?;
        let weight = per_row(&mut archive, weight, n_rows, columns::weights)?;
        let offset_name = offset.clone();
        let offset = per_row(&mut archive, offset, n_rows, columns::offsets)?;
        let split = per_row(&mut archive, split, n_rows, columns::parts)?;
        let fold_keys = match &columns.folds_by {
            Some(by) if schema.is_none() => Some(columns::fold_keys(&mut archive, by, n_rows)?),
            _ => None,
        };
        let rows = archive.into_rows(array)?;
        let own = || {
            let numbers = features.as_ref().map(|names| names.iter().cloned().map(Feature::Number).collect());
            let storage = if array == "K" { Storage::Kernel } else { Storage::Dense };
            // The array has this name without being asked for: predictions for new rows must know that it was there.
            let columns = ColumnRoles { folds_by: None, offset: offset_name, ..columns.clone() };
            Schema { storage, ..Schema::new(columns, numbers, cols) }
        };
        let schema = schema.cloned().unwrap_or_else(own);
        Ok(Box::new(NpzSource { array, rows, features, targets, weight, offset, split, fold_keys, schema }))
    }
}

/// An array beside the inputs, if there is one.
fn per_row<T>(
    archive: &mut Archive,
    name: Option<String>,
    n_rows: usize,
    read: fn(ArrayValues, &str) -> Result<Vec<T>>,
) -> Result<Option<Vec<T>>> {
    let Some(name) = name else { return Ok(None) };
    read(columns::per_row(archive, &name, n_rows)?, &name).map(Some)
}

/// The array of the inputs.
fn inputs_array(archive: &Archive, schema: Option<&Schema>) -> Result<&'static str> {
    match (archive.has("X"), archive.has("K"), schema.map(|schema| schema.storage)) {
        (_, true, Some(Storage::Kernel)) | (false, true, None) => Ok("K"),
        (true, _, Some(Storage::Dense | Storage::Sparse)) | (true, false, None) => Ok("X"),
        (true, true, None) => Err(wrong!("there are both X and K; leave one of them out")),
        (_, false, Some(Storage::Kernel)) => Err(wrong!(
            "there is no array K, but {}; the model was fitted on kernel values",
            archive.listed()
        )),
        _ => Err(wrong!("there is no array X, but {}", archive.listed())),
    }
}

fn feature_names(archive: &mut Archive, cols: usize) -> Result<Option<Vec<String>>> {
    const NAME: &str = "feature_names";
    let Some(names) = columns::names(archive, NAME)? else { return Ok(None) };
    if names.len() != cols {
        return Err(wrong!("{} names for the {cols} columns of X", names.len()).in_column(NAME));
    }
    categories::check_distinct(&names).map_err(|error| error.in_column(NAME))?;
    Ok(Some(names.iter().collect()))
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
            offset: self.offset.as_ref().map(|offset| offset[range.clone()].to_vec()),
            split: self.split.as_ref().map(|split| split[range.clone()].to_vec()),
            fold_keys: self.fold_keys.as_ref().map(|keys| keys.select_rows(range)),
            kept: vec![],
            lines: vec![],
        }))
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.rows.rows())
    }

    fn schema(&self) -> Schema {
        self.schema.clone()
    }
}
