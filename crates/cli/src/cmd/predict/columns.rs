//! What is written for a row.

use crate::failure::{Failure, Result};
use crate::fitted::Fitted;
use crate::scores::{Chunk, Scores, UnknownTask, highest, scores};
use kinfolk::{Losses, Matrix, TaskNames};
use kinfolk_io::{CellKind, Cells, Coding, Table, Targets};

/// Columns of the output, the same for all chunks.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    rows: Rows,
    /// What labels are, if they are wanted.
    labels: Option<Kind>,
    /// Whether tasks and labels are written as integers.
    integer_tasks: bool,
    integer_labels: bool,
}

/// Which scores a row has.
#[derive(Debug, Clone)]
enum Rows {
    /// That of its own task.
    Own,
    /// One for every task.
    All { tasks: Vec<String> },
}

/// What a label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The class with the highest score.
    Class,
    /// One of two values, by the sign of the score.
    Sign,
}

/// A column of a chunk.
#[derive(Debug)]
pub(super) enum Column {
    Numbers(Vec<f64>),
    Integers(Vec<i64>),
    Words(Vec<String>),
}

impl Column {
    /// Names that were found to be integers, or not.
    fn of(words: Vec<String>, integers: bool) -> Column {
        match integers {
            true => Column::Integers(words.iter().map(|word| word.parse().unwrap_or_default()).collect()),
            false => Column::Words(words),
        }
    }

    pub(super) fn cells(&self) -> Cells<'_> {
        match self {
            Column::Numbers(cells) => Cells::Numbers(cells),
            Column::Integers(cells) => Cells::Integers(cells),
            Column::Words(cells) => Cells::Words(cells),
        }
    }

    pub(super) fn text(&self, row: usize) -> String {
        match self {
            Column::Numbers(cells) => cells[row].to_string(),
            Column::Integers(cells) => cells[row].to_string(),
            Column::Words(cells) => cells[row].clone(),
        }
    }
}

impl Layout {
    /// By the first rows of a file.
    pub(super) fn new(
        fitted: &Fitted,
        table: &Table,
        labels: bool,
        unknown: Option<UnknownTask>,
    ) -> Result<Self> {
        let tasks = fitted.model.tasks();
        let integers = !matches!(tasks, TaskNames::Strings(_));
        let is_integer = |word: &str| word.parse::<i64>().is_ok_and(|n| n.to_string() == word);
        let (kind, integer_labels) = match &fitted.recipe.coding {
            Coding::Classes => (Kind::Class, integers),
            Coding::Binary { negative, positive } => {
                (Kind::Sign, is_integer(negative) && is_integer(positive))
            }
            _ if labels => return Err(no_labels(fitted)),
            _ => (Kind::Sign, false),
        };
        let rows = match table.targets {
            Targets::Tasks { .. } => Rows::Own,
            _ => Rows::All { tasks: (0..tasks.len()).map(|t| tasks.name(t)).collect() },
        };
        // A task that the model does not know may have any name.
        let integer_tasks = integers && unknown.is_none();
        Ok(Layout { rows, labels: labels.then_some(kind), integer_tasks, integer_labels })
    }

    pub(super) fn has_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// Names of the columns, and what they hold; scores are numbers.
    pub(super) fn columns(&self) -> Vec<(String, CellKind)> {
        let kind = |integers: bool| if integers { CellKind::Integers } else { CellKind::Words };
        let label = |name: String| (name, kind(self.integer_labels));
        let mut columns = match &self.rows {
            Rows::Own => vec![("task".into(), kind(self.integer_tasks)), ("score".into(), CellKind::Numbers)],
            Rows::All { tasks } => tasks.iter().map(|task| (task.clone(), CellKind::Numbers)).collect(),
        };
        match (&self.rows, self.labels) {
            (_, None) => {}
            (Rows::All { tasks }, Some(Kind::Sign)) => {
                columns.extend(tasks.iter().map(|task| label(format!("label {task}"))));
            }
            (_, Some(_)) => {
                let mut name = String::from("label");
                while columns.iter().any(|(other, _)| *other == name) {
                    name.push('_');
                }
                columns.push(label(name));
            }
        }
        columns
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.columns().into_iter().map(|(name, _)| name).collect()
    }

    /// The columns for the rows of a chunk.
    pub(super) fn fill(
        &self,
        fitted: &Fitted,
        chunk: &Chunk<'_>,
        unknown: Option<UnknownTask>,
    ) -> Result<Vec<Column>> {
        match (&self.rows, scores(&fitted.model, chunk, unknown)?, &chunk.table.targets) {
            (Rows::Own, Scores::Own(own), Targets::Tasks { task, .. }) => {
                let tasks =
                    Column::of((0..task.len()).map(|row| task.name(row)).collect(), self.integer_tasks);
                let labels = self.labels.map(|_| self.signs(fitted, own.iter().copied()));
                Ok([tasks, Column::Numbers(own)].into_iter().chain(labels).collect())
            }
            (Rows::All { .. }, Scores::All(all), _) => Ok(self.all(fitted, &all)),
            _ => Err(Failure::input("some rows say their task and others do not").about(chunk.path)),
        }
    }

    fn all(&self, fitted: &Fitted, all: &Matrix) -> Vec<Column> {
        let rows = || (0..all.rows()).map(|i| all.row(i));
        let tasks = 0..all.cols();
        let mut columns: Vec<Column> =
            tasks.clone().map(|t| Column::Numbers(rows().map(|row| row[t]).collect())).collect();
        match self.labels {
            None => {}
            Some(Kind::Class) => {
                let name = |row: &[f64]| fitted.model.tasks().name(highest(row));
                columns.push(Column::of(rows().map(name).collect(), self.integer_labels));
            }
            Some(Kind::Sign) => {
                columns.extend(tasks.map(|t| self.signs(fitted, rows().map(|row| row[t]))));
            }
        }
        columns
    }

    /// Labels of scores as they are in the data; zero counts as negative, as in the metrics.
    fn signs(&self, fitted: &Fitted, scores: impl Iterator<Item = f64>) -> Column {
        let Coding::Binary { negative, positive } = &fitted.recipe.coding else {
            return Column::Words(scores.map(|score| score.to_string()).collect());
        };
        let label = |score: f64| if score > 0.0 { positive.clone() } else { negative.clone() };
        Column::of(scores.map(label).collect(), self.integer_labels)
    }
}

fn no_labels(fitted: &Fitted) -> Failure {
    let loss = match &fitted.model.about().problem.loss {
        Losses::Same(loss) => loss.to_string(),
        Losses::PerTask(_) => "more than one".into(),
    };
    Failure::usage(format!(
        "--labels is for classes and two-valued labels; this model predicts numbers ({loss} loss)"
    ))
}
