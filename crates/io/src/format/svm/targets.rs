//! What the first field and the task of a row mean.

use super::line::{self, SvmLine};
use super::preamble::TargetKind;
use crate::error::quoted;
use crate::{Categorical, Error, Labels, Result, Targets};
use kinfolk::{Matrix, TaskNames};

/// First fields and tasks of the rows so far.
#[derive(Default)]
pub(super) struct SvmTargets {
    tasks: Vec<i64>,
    numbers: Vec<f64>,
    words: Vec<String>,
    positions: Vec<u32>,
}

impl SvmTargets {
    pub(super) fn push(&mut self, row: &SvmLine<'_>, kind: Option<&TargetKind>, classes: bool) -> Result<()> {
        self.push_label(row.label, kind, classes).map_err(|error| error.in_column("label"))?;
        match kind {
            None if !classes => self.tasks.push(row.qid.unwrap_or(0)),
            Some(
                TargetKind::TasksOnly(tasks) | TargetKind::Numbers(tasks) | TargetKind::Words { tasks, .. },
            ) => {
                let qid = row.qid.map(|qid| qid.to_string()).unwrap_or_default();
                let task = position(&qid, tasks).map_err(|error| error.in_column("qid"))?;
                self.tasks.push(i64::from(task));
            }
            _ => {}
        }
        Ok(())
    }

    fn push_label(&mut self, label: &str, kind: Option<&TargetKind>, classes: bool) -> Result<()> {
        match kind {
            None if classes => self.words.push(class_name(label)),
            None if label.is_empty() => self.numbers.push(f64::NAN),
            None => self.numbers.push(line::finite(label)?),
            Some(TargetKind::None | TargetKind::TasksOnly(_)) => {}
            Some(TargetKind::Numbers(_)) => self.numbers.push(number_or_missing(label)?),
            Some(TargetKind::Words { labels: names, .. } | TargetKind::Classes(names)) => {
                self.positions.push(position(label, names)?);
            }
            Some(TargetKind::Several(names)) => {
                let own: Vec<String> = labels_of(label).map(class_name).collect();
                self.numbers.extend(names.iter().map(|name| f64::from(u8::from(own.contains(&name)))));
            }
            Some(TargetKind::Wide(names)) => {
                let before = self.numbers.len();
                label.split(',').try_for_each(|y| number_or_missing(y).map(|y| self.numbers.push(y)))?;
                let (found, n) = (self.numbers.len() - before, names.len());
                if found != n {
                    return Err(wrong!("{found} labels for {n} tasks"));
                }
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, kind: Option<&TargetKind>, classes: bool) -> Result<Targets> {
        let task = |names: &TaskNames| {
            Categorical::new(self.tasks.iter().map(|&t| t as u32).collect(), names.clone())
        };
        Ok(match kind {
            None if classes => Targets::Classes(Categorical::from_words(&self.words)),
            None => {
                let label = Some(Labels::Numbers(self.numbers));
                Targets::Tasks { task: Categorical::from_integers(&self.tasks), label }
            }
            Some(TargetKind::None) => Targets::None,
            Some(TargetKind::TasksOnly(names)) => Targets::Tasks { task: task(names)?, label: None },
            Some(TargetKind::Numbers(names)) => {
                Targets::Tasks { task: task(names)?, label: Some(Labels::Numbers(self.numbers)) }
            }
            Some(TargetKind::Words { tasks, labels }) => {
                let label = Some(Labels::Words(Categorical::new(self.positions, labels.clone())?));
                Targets::Tasks { task: task(tasks)?, label }
            }
            Some(TargetKind::Classes(names)) => {
                Targets::Classes(Categorical::new(self.positions, names.clone())?)
            }
            Some(TargetKind::Wide(names) | TargetKind::Several(names)) => {
                let rows = self.numbers.len() / names.len();
                let label = Matrix::from_vec(self.numbers, rows, names.len()).map_err(Error::of_table)?;
                Targets::Wide { label, tasks: names.clone() }
            }
        })
    }
}

/// The labels of a row that may have several.
pub(super) fn labels_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').filter(|label| !label.is_empty())
}

fn number_or_missing(text: &str) -> Result<f64> {
    if text == "nan" { Ok(f64::NAN) } else { line::finite(text) }
}

/// `+1` and `1.0` are class 1; what is not an integer is a word.
pub(super) fn class_name(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(x) if x.fract() == 0.0 && x.abs() < 9e15 => (x as i64).to_string(),
        _ => text.to_string(),
    }
}

fn position(text: &str, names: &TaskNames) -> Result<u32> {
    let n = names.len();
    let found = text.parse().ok().filter(|&i: &u32| (i as usize) < n);
    found.ok_or_else(|| wrong!("{} is no position in a list of {n} names", quoted(text)))
}
