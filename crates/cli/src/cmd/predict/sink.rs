//! Where predictions go.

use super::columns::{Column, Layout};
use crate::failure::{Failure, Result};
use crate::interrupt;
use kinfolk_io::{CellKind, Cells, Format, TableWriter};
use std::io::{BufWriter, ErrorKind, Stdout};
use std::path::Path;

/// Takes columns, chunk by chunk.
pub(super) enum Sink {
    /// As csv.
    Stdout(csv::Writer<BufWriter<Stdout>>),
    /// In a format with names.
    Table(TableWriter),
    /// Scores alone.
    Array(TableWriter),
}

impl Sink {
    pub(super) fn stdout(layout: &Layout) -> Result<Sink> {
        let mut writer = csv::Writer::from_writer(BufWriter::new(std::io::stdout()));
        writer.write_record(layout.names()).or_else(to_stdout)?;
        Ok(Sink::Stdout(writer))
    }

    pub(super) fn file(path: &Path, layout: &Layout) -> Result<Sink> {
        let array = Format::of(path).map_err(Failure::usage)? == Format::Npy;
        if array && layout.has_labels() {
            let why = "an array has room for scores alone; write labels as csv or parquet";
            return Err(Failure::usage(why).about(path));
        }
        interrupt::will_write(path);
        let columns: Vec<(String, CellKind)> = layout.columns();
        let scores = columns.iter().filter(|(_, kind)| !array || *kind == CellKind::Numbers).cloned();
        let writer = TableWriter::create(path, &scores.collect::<Vec<_>>()).map_err(Failure::output)?;
        Ok(if array { Sink::Array(writer) } else { Sink::Table(writer) })
    }

    pub(super) fn append(&mut self, columns: &[Column]) -> Result<()> {
        let cells = || columns.iter().map(Column::cells);
        match self {
            Sink::Stdout(writer) => {
                let rows = columns.first().map_or(0, |column| column.cells().len());
                for row in 0..rows {
                    writer.write_record(columns.iter().map(|column| column.text(row))).or_else(to_stdout)?;
                }
                Ok(())
            }
            Sink::Table(writer) => writer.append(&cells().collect::<Vec<_>>()).map_err(Failure::output),
            Sink::Array(writer) => {
                let scores = cells().filter(|cells| matches!(cells, Cells::Numbers(_)));
                writer.append(&scores.collect::<Vec<_>>()).map_err(Failure::output)
            }
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            Sink::Stdout(mut writer) => writer.flush().map_err(csv::Error::from).or_else(to_stdout),
            Sink::Table(writer) | Sink::Array(writer) => writer.finish().map(drop).map_err(Failure::output),
        }
    }
}

/// A reader that has seen enough (`| head`) ends the program, quietly.
fn to_stdout(error: csv::Error) -> Result<()> {
    match error.kind() {
        csv::ErrorKind::Io(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        _ => Err(Failure::output(format!("stdout: {error}"))),
    }
}
