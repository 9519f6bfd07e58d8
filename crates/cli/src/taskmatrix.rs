//! Task matrices that people give: a prior, or a fixed Theta.

use crate::failure::{Failure, Result};
use kinfolk::{Inputs, Matrix, Model, TaskNames};
use kinfolk_io::ColumnRoles;
use std::path::Path;

/// A matrix for these tasks, as rows. A model, or a csv file as `kinfolk theta` writes it, knows the names of its tasks, and
/// may have more of them in any order; an npy file, or a csv file of nothing but numbers, has those of the data in theirs.
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
    arranged(names, &matrix, tasks).map_err(|failure| failure.about(path))
}

fn arranged(names: Option<Vec<String>>, matrix: &Matrix, tasks: &TaskNames) -> Result<Vec<Vec<f64>>> {
    let t = tasks.len();
    let order: Vec<usize> = match names {
        None if (matrix.rows(), matrix.cols()) == (t, t) => (0..t).collect(),
        None => {
            let (rows, cols) = (matrix.rows(), matrix.cols());
            return Err(Failure::input(format!("a matrix of {rows} x {cols}, but the data have {t} tasks")));
        }
        Some(names) => {
            let place = |task: usize| {
                let name = tasks.name(task);
                names
                    .iter()
                    .position(|n| *n == name)
                    .ok_or_else(|| Failure::input(format!("it has no task {name:?}, which the data have")))
            };
            (0..t).map(place).collect::<Result<_>>()?
        }
    };
    Ok(order.iter().map(|&r| order.iter().map(|&s| matrix[(r, s)]).collect()).collect())
}

fn from_npy(path: &Path) -> Result<Matrix> {
    let (table, _) = kinfolk_io::read(path, &ColumnRoles { dense: true, ..ColumnRoles::default() }, None)?;
    let Inputs::Dense(x) = &table.inputs else {
        return Err(Failure::input("it is not a dense matrix").about(path));
    };
    let values = (0..x.rows()).flat_map(|i| (0..x.cols()).map(move |j| x.get(i, j))).collect();
    Ok(Matrix::from_vec(values, x.rows(), x.cols())?)
}

/// With a first line and column of names if the first cell is `task`.
fn from_csv(path: &Path) -> Result<(Option<Vec<String>>, Matrix)> {
    let wrong = |why: String| Failure::input(why).about(path);
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .from_path(path)
        .map_err(|error| wrong(error.to_string()))?;
    let (mut names, mut own, mut values, mut columns) = (None, vec![], vec![], 0);
    for (row, record) in reader.records().enumerate() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
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
                wrong(format!("line {}, column {}: {cell:?} is not a number", row + 1, column + 1))
            })?;
            values.push(value);
        }
    }
    if names.as_ref().is_some_and(|names| *names != own) {
        return Err(wrong("the names in the first line and in the first column differ".into()));
    }
    let rows = values.len().checked_div(columns).unwrap_or(0);
    if rows != columns {
        return Err(wrong(format!("a matrix of {rows} x {columns}, expected as many columns as rows")));
    }
    Ok((names, Matrix::from_vec(values, rows, columns)?))
}
