//! What is written for a row.

use super::WantedColumns;
use crate::failure::{Failure, Result};
use crate::scores::UnknownTask;
use crate::scores::{Chunk, Scores, highest, scores};
use kinfolk::{LossKind, Losses, Matrix, TaskNames};
use kinfolk_io::{CellKind, Cells, LabelEncoding, Table, Targets};
use kinfolk_train::{HalfWidths, NewTasks, NoIntervals, Trained, all_losses, class_probabilities};

/// Columns of the output, the same for all chunks.
#[derive(Debug, Clone)]
pub(super) struct OutputColumns {
    /// Columns of the data that are carried along.
    kept: Vec<String>,
    rows: ScoredTasks,
    /// Whether scores are probabilities.
    proba: bool,
    /// Half of the width of an interval for each task, if intervals are wanted; NaN for tasks without training rows.
    interval: Option<HalfWidths>,
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
    pub(super) fn new(
        trained: &Trained,
        table: &Table,
        wanted: &WantedColumns,
        unknown: UnknownTask,
    ) -> Result<Self> {
        let labels =
            wanted.labels || trained.schema.label_encoding == LabelEncoding::Classes && !wanted.scores_alone;
        let interval = wanted.interval.map(|level| half_widths(trained, level)).transpose()?;
        if wanted.proba {
            check_probabilities(trained)?;
        }
        let tasks = trained.model.tasks();
        let integers = !matches!(tasks, TaskNames::Strings(_));
        let is_integer = |word: &str| word.parse::<i64>().is_ok_and(|n| n.to_string() == word);
        let (kind, integer_labels) = match &trained.schema.label_encoding {
            LabelEncoding::Classes => (LabelRule::Class, integers),
            LabelEncoding::Binary { negative, positive } => {
                let words = !trained.schema.target_values.is_empty();
                (LabelRule::Sign, !words && is_integer(negative) && is_integer(positive))
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
        Ok(OutputColumns {
            kept: table.kept.iter().map(|column| column.name.clone()).collect(),
            rows,
            proba: wanted.proba,
            interval,
            labels: labels.then_some(kind),
            integer_tasks,
            integer_labels,
        })
    }

    /// How many of these rows have a prediction without the interval that is wanted.
    pub(super) fn rows_without_interval(&self, trained: &Trained, table: &Table) -> usize {
        let (Some(widths), Targets::Tasks { task, .. }) = (&self.interval, &table.targets) else { return 0 };
        let places = task.find_in(trained.model.tasks());
        let lacks = |&&t: &&u32| widths.of(places[t as usize]).is_nan();
        task.index.iter().filter(lacks).count()
    }

    /// Whether each row has a score for every task of the model.
    pub(super) fn are_all_tasks(&self) -> bool {
        matches!(self.rows, ScoredTasks::All { .. })
    }

    pub(super) fn has_words(&self) -> bool {
        self.labels.is_some() || !self.kept.is_empty()
    }

    /// Sentences about columns that have another name than usual, since a column that is carried along has it.
    pub(super) fn renamed(&self) -> Vec<String> {
        let (own, names) = (self.own_columns(), self.columns());
        let changed =
            own.iter().zip(&names[self.kept.len()..]).filter(|((usual, _), (name, _))| usual != name);
        let said = |((usual, _), (name, _)): (&(String, CellKind), &(String, CellKind))| {
            format!("the predicted {usual} is in column {name:?}: {usual:?} is a column of the data (--keep)")
        };
        changed.map(said).collect()
    }

    /// Names of the columns, and what they hold.
    pub(super) fn columns(&self) -> Vec<(String, CellKind)> {
        let mut columns = self.own_columns();
        // Columns of the data come first, and keep their names.
        for (name, _) in &mut columns {
            while self.kept.contains(name) {
                name.push('_');
            }
        }
        self.kept.iter().map(|name| (name.clone(), CellKind::Words)).chain(columns).collect()
    }

    /// The columns that are predicted, by their usual names; scores are numbers.
    fn own_columns(&self) -> Vec<(String, CellKind)> {
        let kind = |integers: bool| if integers { CellKind::Integers } else { CellKind::Words };
        let label = |name: String| (name, kind(self.integer_labels));
        let number = |name: String| (name, CellKind::Numbers);
        let score = if self.proba { "probability" } else { "score" };
        let mut columns: Vec<(String, CellKind)> = match &self.rows {
            ScoredTasks::Own => vec![("task".into(), kind(self.integer_tasks)), number(score.into())],
            ScoredTasks::All { tasks } => tasks.iter().cloned().map(number).collect(),
        };
        match &self.rows {
            _ if self.interval.is_none() => {}
            ScoredTasks::Own => columns.extend(["low", "high"].map(|name| number(name.into()))),
            ScoredTasks::All { tasks } => columns.extend(
                tasks.iter().flat_map(|task| ["low", "high"].map(|name| number(format!("{name} {task}")))),
            ),
        }
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
        let kept = chunk.table.kept.iter().map(|column| Cells::Words(column.values.clone()));
        let scored =
            match (&self.rows, scores(&trained.model, new_tasks, chunk, unknown)?, &chunk.table.targets) {
                (ScoredTasks::Own, Scores::Own(own), Targets::Tasks { task, .. }) => {
                    let tasks =
                        names((0..task.len()).map(|row| task.name(row)).collect(), self.integer_tasks);
                    let labels = self.labels.map(|_| self.signs(trained, own.iter().copied(), None));
                    let places = task.find_in(trained.model.tasks());
                    let half = |row: usize, widths: &HalfWidths| widths.of(places[task.index[row] as usize]);
                    let bounds = self.interval.iter().flat_map(|widths| {
                        [-1.0, 1.0].map(|sign| {
                            let bound = |(row, score): (usize, &f64)| score + sign * half(row, widths);
                            Cells::Numbers(own.iter().enumerate().map(bound).collect())
                        })
                    });
                    let bounds: Vec<Cells> = bounds.collect();
                    let own = if self.proba { own.into_iter().map(probability).collect() } else { own };
                    [tasks, Cells::Numbers(own)].into_iter().chain(bounds).chain(labels).collect()
                }
                (ScoredTasks::All { .. }, Scores::All(all), _) => self.all(trained, &all),
                _ => return Err(Failure::input("some rows have a task and others do not").about(chunk.path)),
            };
        Ok(kept.chain(scored).collect())
    }

    fn all(&self, trained: &Trained, all: &Matrix) -> Vec<Cells> {
        let rows = || (0..all.rows()).map(|i| all.row(i));
        let tasks = 0..all.cols();
        let classes = trained.schema.label_encoding == LabelEncoding::Classes;
        let written = |row: &[f64]| match self.proba {
            false => row.to_vec(),
            true if classes => class_probabilities(row, trained.outcome.exponent_of_classes()),
            true => row.iter().map(|score| probability(*score)).collect(),
        };
        let written: Vec<Vec<f64>> = rows().map(written).collect();
        let mut columns: Vec<Cells> =
            tasks.clone().map(|t| Cells::Numbers(written.iter().map(|row| row[t]).collect())).collect();
        if let Some(widths) = &self.interval {
            columns.extend(tasks.clone().flat_map(|t| {
                [-1.0, 1.0]
                    .map(|sign| Cells::Numbers(rows().map(|row| row[t] + sign * widths.known[t]).collect()))
            }));
        }
        match self.labels {
            None => {}
            Some(LabelRule::Class) => {
                let name = |row: &[f64]| trained.model.tasks().name(highest(row));
                columns.push(names(rows().map(name).collect(), self.integer_labels));
            }
            Some(LabelRule::Sign) => {
                columns.extend(tasks.map(|t| self.signs(trained, rows().map(|row| row[t]), Some(t))));
            }
        }
        columns
    }

    /// Labels of scores as they are in the data; zero counts as negative, as in the metrics.
    fn signs(&self, trained: &Trained, scores: impl Iterator<Item = f64>, task: Option<usize>) -> Cells {
        let own = task.and_then(|t| trained.schema.values_of_task(&trained.model.tasks().name(t)));
        let (negative, positive) = match (own, &trained.schema.label_encoding) {
            (Some(values), _) => (&values.negative, &values.positive),
            (None, LabelEncoding::Binary { negative, positive }) => (negative, positive),
            _ => return Cells::Words(scores.map(|score| score.to_string()).collect()),
        };
        let label = |score: f64| if score > 0.0 { positive.clone() } else { negative.clone() };
        names(scores.map(label).collect(), self.integer_labels)
    }
}

/// The probability of a score of the logistic loss.
fn probability(score: f64) -> f64 {
    1.0 / (1.0 + (-score).exp())
}

fn check_probabilities(trained: &Trained) -> Result<()> {
    match all_losses(&trained.model.about().problem.loss, |loss| *loss == LossKind::Logistic) {
        true => Ok(()),
        false => {
            let cure = match trained.schema.label_encoding {
                LabelEncoding::Numbers if trained.schema.target_values.is_empty() => {
                    "it predicts numbers, and --interval LEVEL says how far off they may be"
                }
                _ => "fit it with --loss logistic",
            };
            let loss = loss_name(trained);
            Err(Failure::usage(format!("--proba needs the logistic loss, and this model has {loss}; {cure}")))
        }
    }
}

/// Half of the width of an interval for each task.
pub(crate) fn half_widths(trained: &Trained, level: f64) -> Result<HalfWidths> {
    trained.half_widths(level, None).map_err(|why| {
        Failure::usage(match why {
            NoIntervals::FewRows(rows) => {
                format!("--interval {level}: {rows} held-out rows are too few for this level")
            }
            NoIntervals::FewTasks(tasks) => {
                format!("--interval {level}: {tasks} held-out tasks are too few for this level")
            }
            NoIntervals::NoErrors if trained.schema.label_encoding == LabelEncoding::Numbers => {
                "--interval: this model has no errors of held-out rows; fit it without --c, so that C is auto, with \
                 --interval-folds 5, or with select, which takes a given C as --grid c=X; for tasks without rows, \
                 where tasks have rows of their own, with --interval-new-tasks"
                    .into()
            }
            NoIntervals::NoErrors => "--interval: this model predicts classes; see --proba".into(),
        })
    })
}

fn loss_name(trained: &Trained) -> String {
    match &trained.model.about().problem.loss {
        Losses::Same(loss) => loss.to_string(),
        Losses::PerTask(_) => "more than one".into(),
    }
}

fn no_labels(trained: &Trained) -> Failure {
    let loss = loss_name(trained);
    Failure::usage(format!(
        "--labels is for classes and two-valued labels; this model predicts numbers ({loss} loss)"
    ))
}
