//! What the labels of all rows are, before any is coded: classes need to be known from the first row on.

use super::pass::StreamPass;
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::report::Report;
use kinfolk::inputs::Dense;
use kinfolk::{LossKind, TaskNames};
use kinfolk_io::{Categorical, LabelEncoding, Labels, LookThrough, Table, Targets};
use kinfolk_train::{FitSpec, LossSpec};
use std::collections::BTreeSet;

/// How labels become numbers.
pub(super) struct FoundLabels {
    pub(super) encoding: LabelEncoding,
    /// All classes, if each is a task.
    pub(super) classes: Option<TaskNames>,
}

/// More different labels than this are no classes of one task.
const MOST_VALUES: usize = 7;

/// Labels as far as they were seen.
#[derive(Default)]
struct LabelsSoFar {
    numbers: Vec<f64>,
    words: BTreeSet<String>,
    classes: BTreeSet<String>,
    has_integers: bool,
}

/// Looks through the labels of all rows, if they may be classes; and only as long as they may.
pub(super) fn look_through(
    data: &DataFiles,
    spec: &FitSpec,
    look: LookThrough,
    report: Report,
) -> Result<FoundLabels> {
    let numbers = FoundLabels { encoding: LabelEncoding::Numbers, classes: None };
    let is_class_loss = match &spec.loss {
        LossSpec::Auto => None,
        LossSpec::Same(loss) => Some(loss.is_classification()),
        LossSpec::PerTask(all) => Some(all.iter().any(LossKind::is_classification)),
    };
    if is_class_loss == Some(false) && !spec.columns.classes {
        return Ok(numbers);
    }
    let columns = spec.columns_to_read();
    let mut source = match kinfolk_io::open_labels(data.paths(), &columns)? {
        Some(source) => source,
        None => kinfolk_io::open_looking(data.paths(), &columns, look)?,
    };
    let mut seen = LabelsSoFar::default();
    let name = "pass over the labels".to_string();
    let pass = StreamPass { data, split: spec.split, name, threads: spec.threads, report };
    let end = pass.run(&mut *source, |table| {
        seen.add(table);
        Ok(seen.may_be_classes())
    })?;
    if seen.may_be_classes() && end.rows > 0 {
        pass.note(&end);
    }
    if !seen.classes.is_empty() {
        let columns: Vec<String> = seen.classes.into_iter().collect();
        let classes = match seen.has_integers {
            true => {
                let parsed: Vec<i64> = columns.iter().filter_map(|name| name.parse().ok()).collect();
                Categorical::from_integers(&parsed).names
            }
            false => Categorical::from_words(&columns).names,
        };
        return Ok(FoundLabels { encoding: LabelEncoding::Classes, classes: Some(classes) });
    }
    // As the labels of a table that has each of them once.
    let label = match seen.words.is_empty() {
        true => Labels::Numbers(seen.numbers.clone()),
        false => Labels::Words(Categorical::from_words(&seen.words.iter().collect::<Vec<_>>())),
    };
    let n = seen.numbers.len().max(seen.words.len());
    let two_values = n == 2 || (n == 1 && is_class_loss == Some(true));
    if n == 0 || is_class_loss.is_none() && !two_values && seen.words.is_empty() {
        return Ok(numbers);
    }
    let inputs = Dense::f64_owned(vec![0.0; n], n, 1).map_err(Failure::from)?.into();
    let task = Categorical::from_integers(&vec![0; n]);
    let table = Table::new(inputs, Targets::Tasks { task, label: Some(label) });
    let encoding = table.label_encoding(true).map_err(|error| Failure::from(error).about(data.first()))?;
    let encoding = match &spec.positive {
        Some(value) => {
            encoding.with_positive(value).map_err(|error| Failure::from(error).about(data.first()))?
        }
        None => encoding,
    };
    Ok(FoundLabels { encoding, classes: None })
}

impl LabelsSoFar {
    fn add(&mut self, table: &Table) {
        match &table.targets {
            Targets::Classes(class) => {
                self.has_integers |= !matches!(class.names, TaskNames::Strings(_));
                self.classes.extend(class.names.iter());
            }
            Targets::Tasks { label: Some(Labels::Words(labels)), .. } => {
                self.words.extend(labels.index.iter().map(|&i| labels.names.name(i as usize)));
            }
            Targets::Tasks { label: Some(Labels::Numbers(labels)), .. } => self.add_numbers(labels),
            Targets::Wide { label, .. } => self.add_numbers(label.as_slice()),
            Targets::Tasks { label: None, .. } | Targets::None => {}
        }
    }

    fn add_numbers(&mut self, labels: &[f64]) {
        for &y in labels.iter().filter(|y| !y.is_nan()) {
            if self.numbers.len() > MOST_VALUES {
                return;
            }
            if !self.numbers.contains(&y) {
                self.numbers.push(y);
            }
        }
    }

    /// Whether more rows can tell more.
    fn may_be_classes(&self) -> bool {
        self.numbers.len() <= 2 && self.words.len() <= MOST_VALUES
    }
}
