//! What is written for a row.

use crate::failure::{Failure, Result};
use crate::fitted::Fitted;
use crate::scores::{Chunk, Scores, UnknownTask, highest, scores};
use kinfolk::{Losses, Matrix};
use kinfolk_data::{Coding, Table, Targets};

/// Columns of the output, the same for all chunks.
#[derive(Debug, Clone)]
pub(super) enum Layout {
    /// The row's own task and its score.
    Own { labels: bool },
    /// A score for every task, and perhaps the class with the highest one, or a label for every task.
    All { tasks: Vec<String>, labels: Option<Kind> },
}

/// What a label is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The class with the highest score.
    Class,
    /// One of two values, by the sign of the score.
    Sign,
}

/// A column of a chunk.
#[derive(Debug)]
pub(super) enum Cells {
    Numbers(Vec<f64>),
    Words(Vec<String>),
}

impl Layout {
    pub(super) fn new(fitted: &Fitted, table: &Table, labels: bool) -> Result<Layout> {
        let kind = match &fitted.recipe.coding {
            Coding::Classes => Some(Kind::Class),
            Coding::Binary { .. } => Some(Kind::Sign),
            _ => None,
        };
        if labels && kind.is_none() {
            return Err(Failure::usage(format!(
                "--labels is for classes and two-valued labels; this model predicts numbers ({} loss)",
                match &fitted.model.about().problem.loss {
                    Losses::Same(loss) => loss.to_string(),
                    Losses::PerTask(_) => "more than one".into(),
                }
            )));
        }
        if matches!(table.targets, Targets::Tasks { .. }) {
            return Ok(Layout::Own { labels });
        }
        let tasks = (0..fitted.model.tasks().len()).map(|t| fitted.model.tasks().name(t)).collect();
        Ok(Layout::All { tasks, labels: kind.filter(|_| labels) })
    }

    /// Names of the columns; those of numbers are the scores.
    pub(super) fn names(&self) -> Vec<String> {
        let words = |list: &[&str]| list.iter().map(|word| word.to_string()).collect();
        match self {
            Layout::Own { labels: false } => words(&["task", "score"]),
            Layout::Own { labels: true } => words(&["task", "score", "label"]),
            Layout::All { tasks, labels: None } => tasks.clone(),
            Layout::All { tasks, labels: Some(Kind::Class) } => [tasks.clone(), words(&["label"])].concat(),
            Layout::All { tasks, labels: Some(Kind::Sign) } => {
                let labels: Vec<String> = tasks.iter().map(|task| format!("label {task}")).collect();
                [tasks.clone(), labels].concat()
            }
        }
    }

    /// Whether each column is one of scores.
    pub(super) fn are_scores(&self) -> Vec<bool> {
        match self {
            Layout::Own { labels } => [&[false, true][..], &vec![false; usize::from(*labels)]].concat(),
            Layout::All { tasks, .. } => (0..self.names().len()).map(|i| i < tasks.len()).collect(),
        }
    }

    /// The columns for the rows of a chunk.
    pub(super) fn cells(
        &self,
        fitted: &Fitted,
        chunk: &Chunk<'_>,
        unknown: Option<UnknownTask>,
    ) -> Result<Vec<Cells>> {
        match (self, scores(&fitted.model, chunk, unknown)?, &chunk.table.targets) {
            (Layout::Own { labels }, Scores::Own(own), Targets::Tasks { task, .. }) => {
                let tasks = (0..task.len()).map(|row| task.name(row)).collect();
                let signs = labels.then(|| Cells::Words(own.iter().map(|z| sign(fitted, *z)).collect()));
                Ok([Cells::Words(tasks), Cells::Numbers(own)].into_iter().chain(signs).collect())
            }
            (Layout::All { labels, .. }, Scores::All(all), _) => Ok(self.all(fitted, &all, *labels)),
            _ => Err(Failure::input("some rows say their task and others do not").about(chunk.path)),
        }
    }

    fn all(&self, fitted: &Fitted, all: &Matrix, labels: Option<Kind>) -> Vec<Cells> {
        let rows = || (0..all.rows()).map(|i| all.row(i));
        let column = |t: usize| rows().map(|row| row[t]).collect();
        let mut cells: Vec<Cells> = (0..all.cols()).map(|t| Cells::Numbers(column(t))).collect();
        match labels {
            None => {}
            Some(Kind::Class) => {
                let name = |row: &[f64]| fitted.model.tasks().name(highest(row));
                cells.push(Cells::Words(rows().map(name).collect()));
            }
            Some(Kind::Sign) => cells.extend(
                (0..all.cols()).map(|t| Cells::Words(rows().map(|row| sign(fitted, row[t])).collect())),
            ),
        }
        cells
    }
}

/// The label of a score as it is in the data; zero counts as negative, as in the metrics.
fn sign(fitted: &Fitted, score: f64) -> String {
    match &fitted.recipe.coding {
        Coding::Binary { negative, positive } => if score > 0.0 { positive } else { negative }.clone(),
        _ => score.to_string(),
    }
}
