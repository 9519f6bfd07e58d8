//! Predictions of a model for the rows of a table.

use crate::failure::{Failure, Result};
use clap::ValueEnum;
use kinfolk::model::BorrowedTask;
use kinfolk::{Inputs, LossKind, Matrix, Model, Observations, TaskNames};
use kinfolk_io::{Categorical, Table, Targets};
use kinfolk_train::{NewTasks, Trained, all_losses, predict};
use std::collections::{BTreeMap, BTreeSet};
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

/// Scores of a file's rows: for their own tasks where the file says which, else for all, with the offsets of the rows.
/// Tasks without training rows get what atoms say about them, or what is asked for instead.
pub(crate) fn scores(
    model: &Model,
    new_tasks: &NewTasks<'_>,
    chunk: &Chunk<'_>,
    instead: UnknownTask,
) -> Result<Scores> {
    let Chunk { table, path, first_row, task_column } = *chunk;
    let about = |error: kinfolk::Error| Failure::from(error).about(path);
    let Targets::Tasks { task, .. } = &table.targets else {
        let mut all =
            of_all_tasks(model, new_tasks, &table.inputs, instead).map_err(|why| why.about(path))?;
        for (i, offset) in table.offset.iter().flatten().enumerate() {
            all.row_mut(i).iter_mut().for_each(|score| *score += offset);
        }
        return Ok(Scores::All(all));
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
    // The first row of a file is the first to be told of.
    let mut strangers: Vec<Vec<u32>> = strangers.into_values().collect();
    strangers.sort_unstable_by_key(|rows| rows[0]);
    for rows in &strangers {
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
            return Err(Failure::input(format!("{why}; {}", new_tasks.cure())).about(path));
        };
        rows.iter().zip(found).for_each(|(&row, score)| scores[row as usize] = score);
    }
    scores.iter_mut().zip(table.offset.iter().flatten()).for_each(|(score, offset)| *score += offset);
    Ok(Scores::Own(scores))
}

/// What can be done about a task without training rows, in options.
trait Cure {
    fn cure(&self) -> String;
}

impl Cure for NewTasks<'_> {
    fn cure(&self) -> String {
        let atoms =
            self.extendable().map(|atom| format!(", and --atom {atom} says how it is related to others"));
        format!("--unknown-task mean predicts what all tasks have in common{}", atoms.unwrap_or_default())
    }
}

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
            return Err(Failure::input(format!("{}; {}", no_labels("", &name), new_tasks.cure())));
        };
        scores.iter().enumerate().for_each(|(i, score)| all[(i, t)] = *score);
    }
    Ok(all)
}

/// Labels of rows and their predictions. Tasks that the model does not know come after its own in `names`, and get what
/// is asked for instead.
pub(crate) fn of_labelled(
    trained: &Trained,
    new_tasks: &NewTasks<'_>,
    chunk: &Chunk<'_>,
    instead: UnknownTask,
    names: &mut Vec<String>,
) -> Result<(Observations, Vec<f64>)> {
    let Chunk { table, path, first_row, .. } = *chunk;
    let about = |error: kinfolk_io::Error| Failure::from(error).about(path);
    if let Targets::None | Targets::Tasks { label: None, .. } = &table.targets {
        return Err(without_labels(trained).about(path));
    }
    let strangers = strangers(table, &trained.model);
    if strangers.is_empty() {
        let observations = trained.observations(table, path, first_row)?;
        let scores = predict(&trained.model, &table.inputs, &observations)?;
        return Ok((observations, scores));
    }
    let Scores::Own(own) = scores(&trained.model, new_tasks, chunk, instead)? else {
        return Err(Failure::input("some rows have a task and others do not").about(path));
    };
    let new: Vec<String> = strangers.into_iter().filter(|name| !names.contains(name)).collect();
    names.extend(new);
    let tasks = TaskNames::Strings(names.clone());
    let observations = table.observations_in(&trained.schema.label_encoding, &tasks).map_err(about)?;
    // The offsets of the rows are in them.
    let scores = (0..observations.len()).map(|o| own[observations.input(o)]).collect();
    Ok((observations, scores))
}

/// Tasks of these rows that the model does not know.
pub(crate) fn strangers(table: &Table, model: &Model) -> Vec<String> {
    let Targets::Tasks { task, .. } = &table.targets else { return vec![] };
    let places = task.find_in(model.tasks());
    let used: BTreeSet<u32> = task.index.iter().copied().collect();
    let unknown = used.into_iter().filter(|&t| places[t as usize].is_none());
    unknown.map(|t| task.names.name(t as usize)).collect()
}

/// The place of the task of each row in the model; none for rows without a column of tasks.
pub(crate) fn places_of_tasks(table: &Table, model: &Model) -> Vec<Option<u32>> {
    let Targets::Tasks { task, .. } = &table.targets else { return vec![] };
    let places = task.find_in(model.tasks());
    task.index.iter().map(|&t| places[t as usize]).collect()
}

/// How many of these rows are of each task that neither the model nor a relation knows.
pub(crate) fn rows_of_unknown_tasks(
    table: &Table,
    model: &Model,
    new_tasks: &NewTasks<'_>,
) -> Result<BTreeMap<String, usize>> {
    let mut rows = BTreeMap::new();
    let Targets::Tasks { task, .. } = &table.targets else { return Ok(rows) };
    for name in strangers(table, model) {
        if new_tasks.find(&name)?.is_none() {
            rows.insert(name, 0);
        }
    }
    for row in 0..task.len() {
        if let (false, Some(count)) = (rows.is_empty(), rows.get_mut(&task.name(row))) {
            *count += 1;
        }
    }
    Ok(rows)
}

/// Tasks of these rows that the model does not know, each with the relations that have a part in the model and do not
/// name it, while another does.
pub(crate) fn relations_without(
    table: &Table,
    model: &Model,
    new_tasks: &NewTasks<'_>,
) -> Result<BTreeMap<String, Vec<String>>> {
    let mut found = BTreeMap::new();
    for name in strangers(table, model) {
        let silent = new_tasks.silent_about(&name)?;
        if !silent.is_empty() && new_tasks.find(&name)?.is_some() {
            found.insert(name, silent.into_iter().map(String::from).collect());
        }
    }
    Ok(found)
}

/// What is to be said about a name that no task has: the one that may be meant.
pub(crate) fn meant(name: &str, known: &TaskNames) -> Option<String> {
    kinfolk_io::meant_name(name, (0..known.len()).map(|t| known.name(t)))
        .map(|meant| format!("did you mean {meant:?}?"))
}

/// What is to be said about probabilities, if classes counted alike in the fit.
pub(crate) fn about_probabilities(trained: &Trained) -> Option<&'static str> {
    let of_scores = all_losses(&trained.model.about().problem.loss, |loss| *loss == LossKind::Logistic);
    (of_scores && trained.spec.class_weight.is_some()).then_some(
        "the model was fitted with --class-weight balanced: its probabilities are those of classes that are equally \
         frequent, not of their shares in the data",
    )
}

/// Rows without labels, where labels are needed.
pub(crate) fn without_labels(trained: &Trained) -> Failure {
    let columns = &trained.schema.columns;
    let task =
        columns.task.as_ref().map_or(String::new(), |task| format!(", and tasks in {task:?} (--task NAME)"));
    let target: Vec<String> = columns.target.iter().take(3).map(|name| format!("{name:?}")).collect();
    let where_ = match target.len() {
        0 => String::new(),
        _ => format!(
            ": the model has them in {}{task}; --target NAME says which column has them here",
            target.join(", ")
        ),
    };
    Failure::input(format!("there are no labels to compare with{where_}; kinfolk predict needs none"))
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
    let why = meant(name, known).map_or(why.clone(), |meant| format!("{why}; {meant}"));
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
