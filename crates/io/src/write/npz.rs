//! A table as an archive of arrays, compressed.

use super::npy;
use crate::{Keys, Labels, Table, Targets};
use kinfolk::{Inputs, TaskNames};
use std::fs::File;
use std::io::{BufWriter, Result, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

type Archive<'a> = ZipWriter<BufWriter<&'a mut File>>;

pub(super) fn write(table: &Table, file: &mut File) -> Result<()> {
    let mut archive = ZipWriter::new(BufWriter::with_capacity(1 << 16, file));
    let to = &mut archive;
    let name = if matches!(table.inputs, Inputs::Gram(_)) { "K" } else { "X" };
    array(to, name, |to| npy::matrix(&table.inputs, to))?;
    if let Some(names) = &table.features {
        array(to, "feature_names", |to| npy::words(names.iter().map(String::as_str), to))?;
    }
    match &table.targets {
        Targets::None => {}
        Targets::Tasks { task, label } => {
            keys(to, "task", "task_names", task)?;
            match label {
                None => {}
                Some(Labels::Numbers(labels)) => {
                    array(to, "y", |to| npy::numbers(labels, &[labels.len()], to))?
                }
                Some(Labels::Words(labels)) => {
                    let names = texts(&labels.names);
                    let words = labels.index.iter().map(|&i| names[i as usize].as_str());
                    array(to, "y", |to| npy::words(words, to))?;
                }
            }
        }
        Targets::Classes(class) => keys(to, "label", "class_names", class)?,
        Targets::Wide { label, tasks } => {
            array(to, "Y", |to| npy::numbers(label.as_slice(), &[label.rows(), label.cols()], to))?;
            names(to, "task_names", tasks)?;
        }
    }
    if let Some(weight) = &table.weight {
        array(to, "weight", |to| npy::numbers(weight, &[weight.len()], to))?;
    }
    if let Some(split) = &table.split {
        array(to, "split", |to| npy::integers(split.iter().copied(), to))?;
    }
    archive.finish()?.flush()
}

/// Positions, and the list they are in.
fn keys(to: &mut Archive<'_>, name: &str, list: &str, keys: &Keys) -> Result<()> {
    array(to, name, |to| npy::integers(keys.index.iter().map(|&i| i64::from(i)), to))?;
    names(to, list, &keys.names)
}

fn names(to: &mut Archive<'_>, name: &str, names: &TaskNames) -> Result<()> {
    match names {
        TaskNames::Integers(names) => array(to, name, |to| npy::integers(names.iter().copied(), to)),
        names => {
            let names = texts(names);
            array(to, name, |to| npy::words(names.iter().map(String::as_str), to))
        }
    }
}

fn texts(names: &TaskNames) -> Vec<String> {
    (0..names.len()).map(|i| names.name(i)).collect()
}

/// Always with room for sizes beyond 4 GiB; the same bytes for the same table, whatever the time.
fn array<'a>(
    to: &mut Archive<'a>,
    name: &str,
    write: impl FnOnce(&mut BufWriter<&mut Archive<'a>>) -> Result<()>,
) -> Result<()> {
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    to.start_file(format!("{name}.npy"), options)?;
    let mut buffer = BufWriter::with_capacity(1 << 16, to);
    write(&mut buffer)?;
    buffer.flush()
}
