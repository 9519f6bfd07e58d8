//! What is written for a row.

use crate::failure::{Failure, Result};
use crate::scores::{Chunk, Scores, UnknownTask, highest, scores};
use kinfolk::{Losses, Matrix, TaskNames};
use kinfolk_io::{CellKind, Cells, LabelEncoding, Table, Targets};
use kinfolk_train::{NewTasks, Trained};

/// Columns of the output, the same for all chunks.
#[derive(Debug, Clone)]
pub(super) struct OutputColumns {
    rows: ScoredTasks,
    /// What labels are, if they are wanted.
    labels: Option<LabelRule>,
    /// Whether tasks and labels are written as integers.
    integer_tasks: bool,
    integer_labels: bool,
}

/// Which scores a row has.
#[derive(Debug, Clone)]
enum ScoredTasks {
    /// That of its own task.
    Own,
    /// One for every task.
    All { tasks: Vec<String> },
}

/// What a label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LabelRule {
    /// The class with the highest score.
    Class,
    /// One of two values, by the sign of the score.
    Sign,
}

/// Names that were found to be integers, or not.
fn names(words: Vec<String>, integers: bool) -> Cells {
    match integers {
        true => Cells::Integers(words.iter().map(|word| word.parse().unwrap_or_default()).collect()),
        false => Cells::Words(words),
    }
}

impl OutputColumns {
    /// By the first rows of a file.
    pub(super) fn new(trained: &Trained, table: &Table, labels: bool, unknown: UnknownTask) -> Result<Self> {
        let tasks = trained.model.tasks();
        let integers = !matches!(tasks, TaskNames::Strings(_));
        let is_integer = |word: &str| word.parse::<i64>().is_ok_and(|n| n.to_string() == word);
        let (kind, integer_labels) = match &trained.schema.label_encoding {
            LabelEncoding::Classes => (LabelRule::Class, integers),
            LabelEncoding::Binary { negative, positive } => {
                (LabelRule::Sign, is_integer(negative) && is_integer(positive))
            }
            _ if labels => return Err(no_labels(trained)),
            _ => (LabelRule::Sign, false),
        };
        let rows = match table.targets {
            Targets::Tasks { .. } => ScoredTasks::Own,
            _ => ScoredTasks::All { tasks: (0..tasks.len()).map(|t| tasks.name(t)).collect() },
        };
        // A task that the model does not know may have any name.
        let integer_tasks = integers && unknown == UnknownTask::Error && trained.spec.atoms.is_empty();
        Ok(OutputColumns { rows, labels: labels.then_some(kind), integer_tasks, integer_labels })
    }

    pub(super) fn has_labels(&self) -> bool {
        self.labels.is_some()
    }

    /// Names of the columns, and what they hold; scores are numbers.
    pub(super) fn columns(&self) -> Vec<(String, CellKind)> {
        let kind = |integers: bool| if integers { CellKind::Integers } else { CellKind::Words };
        let label = |name: String| (name, kind(self.integer_labels));
        let mut columns = match &self.rows {
            ScoredTasks::Own => {
                vec![("task".into(), kind(self.integer_tasks)), ("score".into(), CellKind::Numbers)]
            }
            ScoredTasks::All { tasks } => {
                tasks.iter().map(|task| (task.clone(), CellKind::Numbers)).collect()
            }
        };
        match (&self.rows, self.labels) {
            (_, None) => {}
            (ScoredTasks::All { tasks }, Some(LabelRule::Sign)) => {
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
        trained: &Trained,
        new_tasks: &NewTasks<'_>,
        chunk: &Chunk<'_>,
        unknown: UnknownTask,
    ) -> Result<Vec<Cells>> {
        match (&self.rows, scores(&trained.model, new_tasks, chunk, unknown)?, &chunk.table.targets) {
            (ScoredTasks::Own, Scores::Own(own), Targets::Tasks { task, .. }) => {
                let tasks = names((0..task.len()).map(|row| task.name(row)).collect(), self.integer_tasks);
                let labels = self.labels.map(|_| self.signs(trained, own.iter().copied()));
                Ok([tasks, Cells::Numbers(own)].into_iter().chain(labels).collect())
            }
            (ScoredTasks::All { .. }, Scores::All(all), _) => Ok(self.all(trained, &all)),
            _ => Err(Failure::input("some rows have a task and others do not").about(chunk.path)),
        }
    }

    fn all(&self, trained: &Trained, all: &Matrix) -> Vec<Cells> {
        let rows = || (0..all.rows()).map(|i| all.row(i));
        let tasks = 0..all.cols();
        let mut columns: Vec<Cells> =
            tasks.clone().map(|t| Cells::Numbers(rows().map(|row| row[t]).collect())).collect();
        match self.labels {
            None => {}
            Some(LabelRule::Class) => {
                let name = |row: &[f64]| trained.model.tasks().name(highest(row));
                columns.push(names(rows().map(name).collect(), self.integer_labels));
            }
            Some(LabelRule::Sign) => {
                columns.extend(tasks.map(|t| self.signs(trained, rows().map(|row| row[t]))));
            }
        }
        columns
    }

    /// Labels of scores as they are in the data; zero counts as negative, as in the metrics.
    fn signs(&self, trained: &Trained, scores: impl Iterator<Item = f64>) -> Cells {
        let LabelEncoding::Binary { negative, positive } = &trained.schema.label_encoding else {
            return Cells::Words(scores.map(|score| score.to_string()).collect());
        };
        let label = |score: f64| if score > 0.0 { positive.clone() } else { negative.clone() };
        names(scores.map(label).collect(), self.integer_labels)
    }
}

fn no_labels(trained: &Trained) -> Failure {
    let loss = match &trained.model.about().problem.loss {
        Losses::Same(loss) => loss.to_string(),
        Losses::PerTask(_) => "more than one".into(),
    };
    Failure::usage(format!(
        "--labels is for classes and two-valued labels; this model predicts numbers ({loss} loss)"
    ))
}
