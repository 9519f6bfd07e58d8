//! A table as an archive of arrays, compressed.

use crate::format::{OutputFile, npy};
use crate::{Categorical, Labels, Table, Targets};
use kinfolk::{Inputs, TaskNames};
use std::io::{BufWriter, Result, Seek, SeekFrom, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

type Archive = ZipWriter<UntilError>;
type Buffer<'a> = BufWriter<&'a mut Archive>;

pub(super) fn write(table: &Table, to: OutputFile) -> crate::Result<OutputFile> {
    let mut archive = ZipWriter::new(UntilError { to, failed: false, place: 0 });
    let to = &mut archive;
    let name = if matches!(table.inputs, Inputs::Gram(_)) { "K" } else { "X" };
    array(to, name, |to| npy::matrix(&table.inputs, to))?;
    if let Some(names) = &table.features {
        array(to, "feature_names", |to| npy::words(names.iter().map(String::as_str), to))?;
    }
    match &table.targets {
        Targets::None => {}
        Targets::Tasks { task, label } => {
            categorical(to, "task", "task_names", task)?;
            match label {
                None => {}
                Some(Labels::Numbers(labels)) => {
                    array(to, "y", |to| npy::numbers(labels, &[labels.len()], to))?
                }
                Some(Labels::Words(labels)) => {
                    let names = labels.names.iter().collect::<Vec<_>>();
                    let words = labels.index.iter().map(|&i| names[i as usize].as_str());
                    array(to, "y", |to| npy::words(words, to))?;
                }
            }
        }
        Targets::Classes(class) => categorical(to, "label", "class_names", class)?,
        Targets::Wide { label, tasks } => {
            array(to, "Y", |to| npy::numbers(label.as_slice(), &[label.rows(), label.cols()], to))?;
            names(to, "task_names", tasks)?;
        }
    }
    for (name, values) in [("weight", &table.weight), ("offset", &table.offset)] {
        if let Some(values) = values {
            array(to, name, |to| npy::numbers(values, &[values.len()], to))?;
        }
    }
    if let Some(split) = &table.split {
        array(to, "split", |to| npy::integers(split.iter().copied(), to))?;
    }
    Ok(archive.finish().map_err(std::io::Error::from)?.to)
}

/// A file that takes everything after its first error. `ZipWriter` ends its archive when it is dropped, and would print
/// that this failed, too.
struct UntilError {
    to: OutputFile,
    failed: bool,
    place: u64,
}

impl Write for UntilError {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let written = if self.failed { Ok(bytes.len()) } else { self.to.write(bytes) };
        self.failed |= written.is_err();
        self.place += *written.as_ref().unwrap_or(&0) as u64;
        written
    }

    fn flush(&mut self) -> Result<()> {
        let flushed = if self.failed { Ok(()) } else { self.to.flush() };
        self.failed |= flushed.is_err();
        flushed
    }
}

impl Seek for UntilError {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        let found = match to {
            _ if !self.failed => self.to.seek(to),
            SeekFrom::Start(place) => Ok(place),
            SeekFrom::Current(step) | SeekFrom::End(step) => Ok(self.place.saturating_add_signed(step)),
        };
        self.failed |= found.is_err();
        self.place = *found.as_ref().unwrap_or(&self.place);
        found
    }
}

/// Positions, and the list they are in.
fn categorical(to: &mut Archive, name: &str, list: &str, column: &Categorical) -> Result<()> {
    array(to, name, |to| npy::integers(column.index.iter().map(|&i| i64::from(i)), to))?;
    names(to, list, &column.names)
}

fn names(to: &mut Archive, name: &str, names: &TaskNames) -> Result<()> {
    match names {
        TaskNames::Integers(names) => array(to, name, |to| npy::integers(names.iter().copied(), to)),
        names => {
            let names: Vec<String> = names.iter().collect();
            array(to, name, |to| npy::words(names.iter().map(String::as_str), to))
        }
    }
}

/// Always with room for sizes beyond 4 GiB; the same bytes for the same table, whatever the time.
fn array(to: &mut Archive, name: &str, write: impl FnOnce(&mut Buffer<'_>) -> Result<()>) -> Result<()> {
    let options =
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated).large_file(true);
    to.start_file(format!("{name}.npy"), options)?;
    let mut buffer = BufWriter::with_capacity(1 << 16, to);
    write(&mut buffer)?;
    buffer.flush()
}
