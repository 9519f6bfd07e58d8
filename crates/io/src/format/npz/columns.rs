//! Arrays beside the inputs: labels, tasks, names, weights, parts.

use super::archive::Archive;
use crate::columns::cells;
use crate::error::quoted;
use crate::format::npy::{ArrayValues, shape_text};
use crate::{Categorical, FoldKeys, FoldsBy, Labels, Result, text};
use kinfolk::TaskNames;

/// An array with one item for each of `rows` rows.
pub(super) fn per_row(archive: &mut Archive, name: &str, rows: usize) -> Result<ArrayValues> {
    let header = archive.header(name)?;
    let n = rows as u64;
    if header.shape != [n] && header.shape != [n, 1] {
        let (found, wanted) = (header.shape_text(), shape_text(&[n]));
        return Err(wrong!("it has shape {found}; expected {wanted}, one item for each row of the inputs")
            .in_column(name));
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
        return Err(wrong!("it has shape {}; expected a list of names", header.shape_text()).in_column(name));
    }
    match column {
        ArrayValues::Words { index, words } => {
            Ok(Some(TaskNames::Strings(index.into_iter().map(|i| words[i as usize].clone()).collect())))
        }
        column => integers(column, name).map(|names| Some(TaskNames::Integers(names))),
    }
}

/// Tasks or classes: positions in a list of names if there is one, else names themselves.
pub(super) fn categorical(column: ArrayValues, name: &str, names: Option<TaskNames>) -> Result<Categorical> {
    let read = match (column, names) {
        (ArrayValues::Words { index, words }, None) => Categorical::new(index, TaskNames::Strings(words)),
        (ArrayValues::Words { index, words }, Some(names)) => {
            let own = Categorical { index, names: TaskNames::Strings(words) };
            let unknown = |name: &str| wrong!("{} is not among the names", quoted(name));
            own.rows_in(&names, unknown).and_then(|index| Categorical::new(index, names))
        }
        (column, None) => Ok(Categorical::from_integers(&integers(column, name)?)),
        (column, Some(names)) => {
            let position = |(row, i): (usize, i64)| {
                let n = names.len();
                let fits = u32::try_from(i).ok().filter(|&i| (i as usize) < n);
                fits.ok_or_else(|| wrong!("{i} is no position in a list of {n} names").at_row(row))
            };
            let index = integers(column, name)?.into_iter().enumerate().map(position).collect::<Result<_>>();
            index.and_then(|index| Categorical::new(index, names))
        }
    };
    read.map_err(|error| error.in_column(name))
}

/// Numbers or words to learn.
pub(super) fn labels(column: ArrayValues) -> Result<Labels> {
    Ok(match column {
        ArrayValues::Integers(values) => Labels::Numbers(values.into_iter().map(|x| x as f64).collect()),
        ArrayValues::Numbers(values) => Labels::Numbers(values),
        ArrayValues::Words { index, words } => {
            Labels::Words(Categorical::new(index, TaskNames::Strings(words))?)
        }
    })
}

/// Numbers only.
pub(super) fn numbers(column: ArrayValues, name: &str) -> Result<Vec<f64>> {
    match labels(column)? {
        Labels::Numbers(values) => Ok(values),
        Labels::Words(_) => Err(wrong!("it holds strings; expected numbers").in_column(name)),
    }
}

/// Weights: not negative, finite.
pub(super) fn weights(column: ArrayValues, name: &str) -> Result<Vec<f64>> {
    let fits = |w: f64| w.is_finite() && w >= 0.0;
    checked(column, name, fits, "is not a finite number of at least 0")
}

/// Offsets: finite.
pub(super) fn offsets(column: ArrayValues, name: &str) -> Result<Vec<f64>> {
    checked(column, name, f64::is_finite, "is not a finite number, and every row needs an offset")
}

/// Groups or times of the rows.
pub(super) fn fold_keys(archive: &mut Archive, by: &FoldsBy, rows: usize) -> Result<FoldKeys> {
    let column = per_row(archive, by.column(), rows)?;
    match by {
        FoldsBy::Group(name) => categorical(column, name, None).map(FoldKeys::Groups),
        FoldsBy::Time(name) => {
            let why = "is not a finite number, and every row needs a time";
            checked(column, name, f64::is_finite, why).map(FoldKeys::Times)
        }
    }
}

fn checked(column: ArrayValues, name: &str, fits: fn(f64) -> bool, why: &str) -> Result<Vec<f64>> {
    let values = numbers(column, name)?;
    values.iter().position(|&value| !fits(value)).map_or(Ok(()), |row| {
        Err(wrong!("{} {why}", text::of_number(values[row])).at_row(row).in_column(name))
    })?;
    Ok(values)
}

/// Parts, as integers or by their usual names.
pub(super) fn parts(column: ArrayValues, name: &str) -> Result<Vec<i64>> {
    let ArrayValues::Words { index, words } = column else { return integers(column, name) };
    let part = |(row, &i): (usize, &u32)| {
        cells::split(&words[i as usize]).map_err(|error| error.at_row(row).in_column(name))
    };
    index.iter().enumerate().map(part).collect()
}

/// Integers, even if stored as floats.
fn integers(column: ArrayValues, name: &str) -> Result<Vec<i64>> {
    match column {
        ArrayValues::Integers(values) => Ok(values),
        ArrayValues::Words { .. } => Err(wrong!("it holds strings; expected integers").in_column(name)),
        ArrayValues::Numbers(values) => {
            // Beyond 2^53 neighbouring integers are one float.
            let whole = |x: f64| x.fract() == 0.0 && x.abs() <= 9007199254740992.0;
            let integer = |(row, x): (usize, f64)| {
                let error = || wrong!("{} is not an integer", text::of_number(x)).at_row(row).in_column(name);
                whole(x).then_some(x as i64).ok_or_else(error)
            };
            values.into_iter().enumerate().map(integer).collect()
        }
    }
}
