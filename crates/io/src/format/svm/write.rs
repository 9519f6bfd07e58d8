//! A table as lines of text.

use super::preamble::{Preamble, TargetKind};
use crate::format::OutputFile;
use crate::{Labels, Result, Table, Targets, dense_or_sparse, text};
use std::io::Write;

pub(super) fn write(table: &Table, mut to: OutputFile) -> Result<OutputFile> {
    let preamble = Preamble {
        n_features: table.inputs.n_features(),
        feature_names: table.features.clone(),
        targets: kind(&table.targets),
        weight: table.weight.is_some(),
        split: table.split.is_some(),
    };
    writeln!(to, "{}", preamble.line()?)?;
    let mut line = String::new();
    for row in 0..table.n_rows() {
        line.clear();
        line.push_str(&first_field(&table.targets, row));
        if let Targets::Tasks { task, .. } = &table.targets {
            line.push_str(&format!(" qid:{}", task.index[row]));
        }
        dense_or_sparse::for_each(&table.inputs, row, |j, x| {
            if x != 0.0 {
                line.push_str(&format!(" {}:{}", j + 1, text::of_number(x)));
            }
        });
        let weight = table.weight.as_ref().map(|weight| text::of_number(weight[row]));
        let split = table.split.as_ref().map(|split| split[row].to_string());
        if weight.is_some() || split.is_some() {
            line.push_str(" #");
        }
        weight.into_iter().chain(split).for_each(|field| line.push_str(&format!(" {field}")));
        writeln!(to, "{line}")?;
    }
    Ok(to)
}

fn kind(targets: &Targets) -> TargetKind {
    match targets {
        Targets::None => TargetKind::None,
        Targets::Tasks { task, label: None } => TargetKind::TasksOnly(task.names.clone()),
        Targets::Tasks { task, label: Some(Labels::Numbers(_)) } => TargetKind::Numbers(task.names.clone()),
        Targets::Tasks { task, label: Some(Labels::Words(labels)) } => {
            TargetKind::Words { tasks: task.names.clone(), labels: labels.names.clone() }
        }
        Targets::Classes(class) => TargetKind::Classes(class.names.clone()),
        Targets::Wide { tasks, .. } => TargetKind::Wide(tasks.clone()),
    }
}

fn first_field(targets: &Targets, row: usize) -> String {
    match targets {
        Targets::None | Targets::Tasks { label: None, .. } => "0".into(),
        Targets::Tasks { label: Some(Labels::Numbers(labels)), .. } => number_or_missing(labels[row]),
        Targets::Tasks { label: Some(Labels::Words(keys)), .. } | Targets::Classes(keys) => {
            keys.index[row].to_string()
        }
        Targets::Wide { label, .. } => {
            label.row(row).iter().map(|&y| number_or_missing(y)).collect::<Vec<_>>().join(",")
        }
    }
}

fn number_or_missing(y: f64) -> String {
    if y.is_nan() { "nan".into() } else { text::of_number(y) }
}
