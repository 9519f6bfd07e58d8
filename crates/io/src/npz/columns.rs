//! Arrays beside the inputs: labels, tasks, names, weights, parts.

use super::archive::Archive;
use crate::error::quoted;
use crate::npy::decode::Column;
use crate::npy::header::shape_text;
use crate::{Error, Keys, Labels, Result, text};
use kinfolk::TaskNames;

/// An array with one item for each of `rows` rows.
pub(super) fn per_row(archive: &mut Archive, name: &str, rows: usize) -> Result<Column> {
    let header = archive.header(name)?;
    let n = rows as u64;
    if header.shape != [n] && header.shape != [n, 1] {
        let (found, wanted) = (header.shape_text(), shape_text(&[n]));
        let why = format!("it has shape {found}; expected {wanted}, one item for each row of the inputs");
        return Err(Error::of_table(why).in_column(name));
    }
    Ok(archive.column(name)?.1)
}

/// A list of names, if it is there.
pub(super) fn names(archive: &mut Archive, name: &str) -> Result<Option<TaskNames>> {
    if !archive.has(name) {
        return Ok(None);
    }
    let (header, column) = archive.column(name)?;
    if header.shape.len() != 1 {
        let why = format!("it has shape {}; expected a list of names", header.shape_text());
        return Err(Error::of_table(why).in_column(name));
    }
    match column {
        Column::Words { index, words } => {
            Ok(Some(TaskNames::Strings(index.into_iter().map(|i| words[i as usize].clone()).collect())))
        }
        column => integers(column, name).map(|names| Some(TaskNames::Integers(names))),
    }
}

/// Tasks or classes: positions in a list of names if there is one, else names themselves.
pub(super) fn keys(column: Column, name: &str, names: Option<TaskNames>) -> Result<Keys> {
    let keys = match (column, names) {
        (Column::Words { index, words }, None) => Keys::new(index, TaskNames::Strings(words)),
        (Column::Words { index, words }, Some(names)) => {
            let own = Keys { index, names: TaskNames::Strings(words) };
            let to = own.find_in(&names);
            let position = |(row, &i): (usize, &u32)| {
                let why = || format!("{} is not among the names", quoted(&own.name(row)));
                to[i as usize].ok_or_else(|| Error::of_table(why()).at_row(row))
            };
            own.index
                .iter()
                .enumerate()
                .map(position)
                .collect::<Result<_>>()
                .and_then(|index| Keys::new(index, names))
        }
        (column, None) => Ok(Keys::from_integers(&integers(column, name)?)),
        (column, Some(names)) => {
            let position = |(row, i): (usize, i64)| {
                let n = names.len();
                let why = || format!("{i} is no position in a list of {n} names");
                let fits = u32::try_from(i).ok().filter(|&i| (i as usize) < n);
                fits.ok_or_else(|| Error::of_table(why()).at_row(row))
            };
            let index = integers(column, name)?.into_iter().enumerate().map(position).collect::<Result<_>>();
            index.and_then(|index| Keys::new(index, names))
        }
    };
    keys.map_err(|error| error.in_column(name))
}

/// Numbers or words to learn.
pub(super) fn labels(column: Column) -> Result<Labels> {
    Ok(match column {
        Column::Integers(values) => Labels::Numbers(values.into_iter().map(|x| x as f64).collect()),
        Column::Numbers(values) => Labels::Numbers(values),
        Column::Words { index, words } => Labels::Words(Keys::new(index, TaskNames::Strings(words))?),
    })
}

/// Numbers only.
pub(super) fn numbers(column: Column, name: &str) -> Result<Vec<f64>> {
    match labels(column)? {
        Labels::Numbers(values) => Ok(values),
        Labels::Words(_) => Err(Error::of_table("it holds strings; expected numbers").in_column(name)),
    }
}

/// Weights: not negative, finite.
pub(super) fn weights(column: Column, name: &str) -> Result<Vec<f64>> {
    let weights = numbers(column, name)?;
    match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        None => Ok(weights),
        Some(row) => {
            let why =
                format!("weight {} is not a finite number of at least 0", text::of_number(weights[row]));
            Err(Error::of_table(why).at_row(row).in_column(name))
        }
    }
}

/// Parts, as integers or by their usual names.
pub(super) fn parts(column: Column, name: &str) -> Result<Vec<i64>> {
    let Column::Words { index, words } = column else { return integers(column, name) };
    let part = |(row, &i): (usize, &u32)| match words[i as usize].as_str() {
        "train" | "training" => Ok(0),
        "test" => Ok(1),
        "validation" | "valid" | "val" | "dev" => Ok(2),
        other => {
            let why = format!("{} is no part; expected train, test, validation or integers", quoted(other));
            Err(Error::of_table(why).at_row(row).in_column(name))
        }
    };
    index.iter().enumerate().map(part).collect()
}

/// Integers, even if stored as floats.
fn integers(column: Column, name: &str) -> Result<Vec<i64>> {
    match column {
        Column::Integers(values) => Ok(values),
        Column::Words { .. } => Err(Error::of_table("it holds strings; expected integers").in_column(name)),
        Column::Numbers(values) => {
            // Beyond 2^53 neighbouring integers are one float.
            let whole = |x: f64| x.fract() == 0.0 && x.abs() <= 9007199254740992.0;
            let integer = |(row, x): (usize, f64)| match whole(x) {
                true => Ok(x as i64),
                false => {
                    let why = format!("{} is not an integer", text::of_number(x));
                    Err(Error::of_table(why).at_row(row).in_column(name))
                }
            };
            values.into_iter().enumerate().map(integer).collect()
        }
    }
}
