//! From a file to a learning problem.

use crate::args::{ColumnArgs, LossChoice};
use crate::failure::{Failure, Result};
use kinfolk::{Inputs, LossKind, Observations, Scaling, ScalingKind};
use kinfolk_io::{Labels, Schema, Table, Targets};
use std::path::Path;

/// What a model is fitted on.
#[derive(Debug)]
pub(crate) struct Training {
    /// Scaled.
    pub(crate) inputs: Inputs<'static>,
    pub(crate) scaling: Scaling,
    pub(crate) observations: Observations,
    pub(crate) recipe: Schema,
    pub(crate) loss: LossKind,
}

/// What of a file to use, and how.
pub(crate) struct Choices<'a> {
    pub(crate) columns: &'a ColumnArgs,
    pub(crate) scale: ScalingKind,
    pub(crate) loss: &'a LossChoice,
    pub(crate) split: Option<i64>,
    pub(crate) balanced: bool,
}

impl Training {
    pub(crate) fn read(path: &Path, choices: &Choices<'_>) -> Result<Training> {
        let (table, mut recipe) = kinfolk_io::read(path, &choices.columns.columns(), None)?;
        let table = part(table, choices.split).map_err(|failure| failure.about(path))?;
        // Of a Gram matrix a part has fewer columns.
        recipe.n_features = table.inputs.n_features();
        let loss = match choices.loss {
            LossChoice::Is(kind) => kind.clone(),
            LossChoice::Auto => fitting_loss(&table.targets),
        };
        recipe.label_encoding =
            table.label_encoding(loss.is_classification()).map_err(|e| Failure::from(e).about(path))?;
        let observations =
            table.observations(&recipe.label_encoding).map_err(|e| Failure::from(e).about(path))?;
        let observations = match choices.balanced {
            true => observations.class_balanced()?,
            false => observations,
        };
        let scaling = Scaling::fit(choices.scale, &table.inputs)?;
        let inputs = scaling.apply(&table.inputs)?.into_owned();
        let (n, d, kind) = (inputs.n_inputs(), inputs.n_features(), inputs.kind());
        tracing::info!(
            "{}: {n} rows, {d} features, {kind}, {} tasks",
            path.display(),
            observations.n_tasks()
        );
        Ok(Training { inputs, scaling, observations, recipe, loss })
    }
}

/// The rows of one part.
pub(crate) fn part(table: Table, split: Option<i64>) -> Result<Table> {
    match split {
        None => Ok(table),
        Some(part) => Ok(table.take_split(part)?),
    }
}

/// The rows of one part among those of a chunk, which may have none.
pub(crate) fn part_of_chunk(table: Table, split: Option<i64>) -> Result<Option<Table>> {
    let Some(part) = split else { return Ok(Some(table)) };
    let Some(parts) = &table.split else {
        return Err(Failure::input("there is no split: name its column with --split-column"));
    };
    let rows: Vec<u32> = (0..parts.len()).filter(|&i| parts[i] == part).map(|i| i as u32).collect();
    Ok(match rows.len() {
        0 => None,
        n if n == parts.len() => Some(table),
        _ => Some(table.select_rows(&rows)),
    })
}

/// Squared for numbers and for classes, hinge where there are two values.
fn fitting_loss(targets: &Targets) -> LossKind {
    let two_values = match targets {
        Targets::None | Targets::Classes(_) => false,
        Targets::Tasks { label: None, .. } => false,
        Targets::Tasks { label: Some(Labels::Words(_)), .. } => true,
        Targets::Tasks { label: Some(Labels::Numbers(y)), .. } => has_two_values(y),
        Targets::Wide { label, .. } => has_two_values(label.as_slice()),
    };
    if two_values { LossKind::Hinge } else { LossKind::Squared }
}

/// Exactly two, missing ones aside.
fn has_two_values(labels: &[f64]) -> bool {
    let mut known = labels.iter().copied().filter(|y| !y.is_nan());
    let Some(one) = known.next() else { return false };
    let mut other = None;
    for y in known.filter(|y| *y != one) {
        if *other.get_or_insert(y) != y {
            return false;
        }
    }
    other.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_values_are_recognised() {
        assert!(has_two_values(&[0.0, 1.0, f64::NAN, 0.0]));
        for other in [&[][..], &[1.0, 1.0], &[0.0, 1.0, 2.0], &[f64::NAN]] {
            assert!(!has_two_values(other), "{other:?}");
        }
    }
}
