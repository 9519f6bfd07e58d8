//! Predictions of a model for the rows of a table.

use crate::failure::{Failure, Result};
use clap::ValueEnum;
use kinfolk::model::BorrowedTask;
use kinfolk::{Inputs, Matrix, Model, TaskNames};
use kinfolk_io::{Categorical, Table, Targets};
use kinfolk_train::NewTasks;
use std::collections::BTreeMap;
use std::path::Path;

/// What to predict for a task that the model does not know, or that had no labels in training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownTask {
    /// Nothing: it is an error.
    Error,
    /// What all tasks have in common (atom common), or the mean of the predictions for all tasks that had labels.
    Mean,
    /// 0.
    Zero,
}

/// Scores of some rows.
#[derive(Debug)]
pub(crate) enum Scores {
    /// Of each row for its own task.
    Own(Vec<f64>),
    /// Of each row for every task of the model.
    All(Matrix),
}

/// Rows of a file.
pub(crate) struct Chunk<'a> {
    pub(crate) table: &'a Table,
    pub(crate) path: &'a Path,
    /// How many came before.
    pub(crate) first_row: usize,
    /// Name of the column of tasks, if it has one.
    pub(crate) task_column: Option<&'a str>,
}

/// Scores of a file's rows: for their own tasks where the file says which, else for all. Tasks without training rows
/// get what atoms say about them, or what is asked for instead.
pub(crate) fn scores(
    model: &Model,
    new_tasks: &NewTasks<'_>,
    chunk: &Chunk<'_>,
    instead: UnknownTask,
) -> Result<Scores> {
    let Chunk { table, path, first_row, task_column } = *chunk;
    let about = |error: kinfolk::Error| Failure::from(error).about(path);
    let Targets::Tasks { task, .. } = &table.targets else {
        let all = of_all_tasks(model, new_tasks, &table.inputs, instead);
        return Ok(Scores::All(all.map_err(|why| why.about(path))?));
    };
    let place = task.find_in(model.tasks());
    let row_of = |row: usize| place[task.index[row] as usize].filter(|&t| !model.is_empty_task(t as usize));
    let known: Vec<u32> = (0..task.len()).map(|row| row_of(row).unwrap_or(0)).collect();
    let mut scores = model.predict(&table.inputs, &known).map_err(about)?;
    // Rows by their task, so that each is found once.
    let mut strangers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for row in (0..task.len()).filter(|&row| row_of(row).is_none()) {
        strangers.entry(task.index[row]).or_default().push(row as u32);
    }
    for rows in strangers.values() {
        let (first, inputs) = (rows[0] as usize, table.inputs.select_rows(rows));
        let found = of_stranger(model, new_tasks, &task.name(first), &inputs, instead)?;
        let Some(found) = found else {
            let why = match place[task.index[first] as usize] {
                None => {
                    unknown(&task.name(first), model.tasks(), &place_of(table, first, first_row), task_column)
                        .to_string()
                }
                Some(_) => no_labels(&format!("{}: ", place_of(table, first, first_row)), &task.name(first)),
            };
            return Err(Failure::input(format!("{why}; {ALL_THE_SAME}")).about(path));
        };
        rows.iter().zip(found).for_each(|(&row, score)| scores[row as usize] = score);
    }
    Ok(Scores::Own(scores))
}

const ALL_THE_SAME: &str = "--unknown-task mean predicts what all tasks have in common";

fn no_labels(place: &str, task: &str) -> String {
    format!("{place}task {task:?} had no labels in training")
}

/// Scores for a task without training rows; `None` if nothing is known and nothing is asked for instead.
fn of_stranger(
    model: &Model,
    new_tasks: &NewTasks<'_>,
    name: &str,
    inputs: &Inputs<'_>,
    instead: UnknownTask,
) -> Result<Option<Vec<f64>>> {
    let borrowed: Option<BorrowedTask> = new_tasks.find(name)?;
    Ok(match (borrowed, instead) {
        (Some(task), _) => Some(model.predict_borrowed(inputs, &task)?),
        (None, UnknownTask::Error) => None,
        (None, UnknownTask::Mean) => Some(model.predict_mean(inputs)?),
        (None, UnknownTask::Zero) => Some(vec![0.0; inputs.n_inputs()]),
    })
}

/// Scores of all rows for all tasks.
fn of_all_tasks(
    model: &Model,
    new_tasks: &NewTasks<'_>,
    inputs: &Inputs<'_>,
    instead: UnknownTask,
) -> Result<Matrix> {
    let mut all = model.predict_all(inputs)?;
    for t in (0..all.cols()).filter(|&t| model.is_empty_task(t)) {
        let name = model.tasks().name(t);
        let Some(scores) = of_stranger(model, new_tasks, &name, inputs, instead)? else {
            return Err(Failure::input(format!("{}; {ALL_THE_SAME}", no_labels("", &name))));
        };
        scores.iter().enumerate().for_each(|(i, score)| all[(i, t)] = *score);
    }
    Ok(all)
}

/// Where a row is: its line in a text file, else its number from 1.
pub(crate) fn place_of(table: &Table, row: usize, rows_before: usize) -> String {
    match table.lines.get(row) {
        Some(line) => format!("line {line}"),
        None => format!("row {}", rows_before + row + 1),
    }
}

/// A task or class that the model does not know.
pub(crate) fn unknown(name: &str, known: &TaskNames, place: &str, column: Option<&str>) -> Failure {
    let why = known.find(name).err().map_or_else(|| format!("task {name:?}"), |error| error.to_string());
    let column = column.map_or(String::new(), |column| format!(", column {column:?}"));
    Failure::input(format!("{place}{column}: {why}"))
}

/// The tasks of a table's rows as tasks of the model, where it knows them.
pub(crate) fn places(task: &Categorical, model: &Model) -> Vec<Option<u32>> {
    let place = task.find_in(model.tasks());
    task.index.iter().map(|&t| place[t as usize]).collect()
}

/// The task with the highest score, of equal ones the first.
pub(crate) fn highest(scores: &[f64]) -> usize {
    let better = |best: usize, t: usize| if scores[t] > scores[best] { t } else { best };
    (0..scores.len()).reduce(better).unwrap_or(0)
}
