//! Predictions of a model for the rows of a table.

use crate::failure::{Failure, Result};
use clap::ValueEnum;
use kinfolk::{Inputs, Matrix, Model, TaskNames};
use kinfolk_io::{Categorical, Table, Targets};
use std::path::Path;

/// What to predict for a task that the model does not know, or that had no labels in training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UnknownTask {
    /// Nothing: it is an error.
    Error,
    /// The mean of the predictions for all tasks that had labels.
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

/// Scores of a file's rows: for their own tasks where the file says which, else for all.
pub(crate) fn scores(model: &Model, chunk: &Chunk<'_>, instead: UnknownTask) -> Result<Scores> {
    let Chunk { table, path, first_row, task_column } = *chunk;
    let about = |error: kinfolk::Error| Failure::from(error).about(path);
    let Targets::Tasks { task, .. } = &table.targets else {
        return Ok(Scores::All(of_all_tasks(model, &table.inputs, instead).map_err(|why| why.about(path))?));
    };
    let place = task.find_in(model.tasks());
    let row_of = |row: usize| place[task.index[row] as usize].filter(|&t| !model.is_empty_task(t as usize));
    if let (UnknownTask::Error, Some(row)) = (instead, (0..task.len()).find(|&row| row_of(row).is_none())) {
        let why = match place[task.index[row] as usize] {
            None => unknown(&task.name(row), model.tasks(), first_row + row, task_column).to_string(),
            Some(_) => {
                format!("row {}: task {:?} had no labels in training", first_row + row, task.name(row))
            }
        };
        return Err(Failure::input(format!("{why}; --unknown-task predicts for it anyway")).about(path));
    }
    let known: Vec<u32> = (0..task.len()).map(|row| row_of(row).unwrap_or(0)).collect();
    let mut scores = model.predict(&table.inputs, &known).map_err(about)?;
    let strangers: Vec<u32> =
        (0..task.len()).filter(|&row| row_of(row).is_none()).map(|row| row as u32).collect();
    if !strangers.is_empty() {
        let instead = match instead {
            UnknownTask::Mean => model.predict_mean(&table.inputs.select_rows(&strangers)).map_err(about)?,
            _ => vec![0.0; strangers.len()],
        };
        strangers.iter().zip(instead).for_each(|(&row, score)| scores[row as usize] = score);
    }
    Ok(Scores::Own(scores))
}

/// Scores of all rows for all tasks.
fn of_all_tasks(model: &Model, inputs: &Inputs<'_>, instead: UnknownTask) -> Result<Matrix> {
    let mut all = model.predict_all(inputs)?;
    let empty: Vec<usize> = (0..all.cols()).filter(|&t| model.is_empty_task(t)).collect();
    let Some(&first) = empty.first() else { return Ok(all) };
    let scores = match instead {
        UnknownTask::Error => {
            let name = model.tasks().name(first);
            let why = format!("task {name:?} had no labels in training");
            return Err(Failure::input(format!("{why}; --unknown-task predicts for it anyway")));
        }
        UnknownTask::Mean => model.predict_mean(inputs)?,
        UnknownTask::Zero => vec![0.0; all.rows()],
    };
    for (i, score) in scores.iter().enumerate() {
        empty.iter().for_each(|&t| all[(i, t)] = *score);
    }
    Ok(all)
}

/// A task or class that the model does not know.
pub(crate) fn unknown(name: &str, known: &TaskNames, row: usize, column: Option<&str>) -> Failure {
    let why = known.find(name).err().map_or_else(|| format!("task {name:?}"), |error| error.to_string());
    let column = column.map_or(String::new(), |column| format!(", column {column:?}"));
    Failure::input(format!("row {row}{column}: {why}"))
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
