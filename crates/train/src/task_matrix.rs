//! Task matrices that people give in files: a prior, or a fixed Theta.

use crate::{Error, Result};
use kinfolk::{Inputs, Matrix, Model, TaskNames};
use kinfolk_io::ColumnRoles;
use std::path::Path;

/// A matrix for these tasks, as rows. A model, or a csv file as `kinfolk theta` writes it, has the names of
/// its tasks, and may have more of them in any order; an npy file, or a csv file of numbers only, has the
/// tasks of the data in their order.
pub(crate) fn read(path: &Path, tasks: &TaskNames) -> Result<Vec<Vec<f64>>> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (names, matrix) = match &*ending {
        "csv" => from_csv(path)?,
        "npy" => (None, from_npy(path)?),
        _ => {
            let model = Model::load(path)?;
            let names = (0..model.tasks().len()).map(|t| model.tasks().name(t)).collect();
            (Some(names), model.theta().clone())
        }
    };
    arranged(names, &matrix, tasks).map_err(|why| wrong(path, why))
}

fn wrong(path: &Path, why: impl std::fmt::Display) -> Error {
    Error::TaskMatrix { file: path.to_path_buf(), why: why.to_string() }
}

fn arranged(
    names: Option<Vec<String>>,
    matrix: &Matrix,
    tasks: &TaskNames,
) -> std::result::Result<Vec<Vec<f64>>, String> {
    let t = tasks.len();
    let order: Vec<usize> = match names {
        None if (matrix.rows(), matrix.cols()) == (t, t) => (0..t).collect(),
        None => {
            let (rows, cols) = (matrix.rows(), matrix.cols());
            return Err(format!("a matrix of {rows} x {cols}, but the data have {t} tasks"));
        }
        Some(names) => {
            let place = |task: usize| {
                let name = tasks.name(task);
                let found = names.iter().position(|n| *n == name);
                found.ok_or_else(|| format!("it has no task {name:?}, which the data have"))
            };
            (0..t).map(place).collect::<std::result::Result<_, _>>()?
        }
    };
    Ok(order.iter().map(|&r| order.iter().map(|&s| matrix[(r, s)]).collect()).collect())
}

fn from_npy(path: &Path) -> Result<Matrix> {
    let (table, _) = kinfolk_io::read(path, &ColumnRoles { dense: true, ..ColumnRoles::default() }, None)?;
    let Inputs::Dense(x) = &table.inputs else { return Err(wrong(path, "it is not a dense matrix")) };
    let values = (0..x.rows()).flat_map(|i| (0..x.cols()).map(move |j| x.get(i, j))).collect();
    Ok(Matrix::from_vec(values, x.rows(), x.cols())?)
}

/// With a first line and column of names if the first cell is `task`.
fn from_csv(path: &Path) -> Result<(Option<Vec<String>>, Matrix)> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).from_path(path).map_err(|error| wrong(path, error))?;
    let (mut names, mut own, mut values, mut columns) = (None, vec![], vec![], 0);
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|error| wrong(path, error))?;
        if row == 0 && record.get(0) == Some("task") {
            names = Some(record.iter().skip(1).map(str::to_string).collect::<Vec<_>>());
            continue;
        }
        let mut cells = record.iter();
        if names.is_some() {
            own.push(cells.next().unwrap_or_default().to_string());
        }
        columns = cells.clone().count();
        for (column, cell) in cells.enumerate() {
            let value: f64 = cell.trim().parse().map_err(|_| {
                wrong(path, format!("line {}, column {}: {cell:?} is not a number", row + 1, column + 1))
            })?;
            values.push(value);
        }
    }
    if names.as_ref().is_some_and(|names| *names != own) {
        return Err(wrong(path, "the names in the first line and in the first column differ"));
    }
    let rows = values.len().checked_div(columns).unwrap_or(0);
    if rows != columns {
        return Err(wrong(path, format!("a matrix of {rows} x {columns}, expected as many columns as rows")));
    }
    Ok((names, Matrix::from_vec(values, rows, columns)?))
}
