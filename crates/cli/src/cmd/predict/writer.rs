//! Where predictions go.

use super::columns::OutputColumns;
use crate::failure::{Failure, Result};
use crate::interrupt;
use kinfolk_io::{CellKind, Cells, Decimal, TableWriter, format_of};
use std::io::{BufWriter, ErrorKind, Stdout};
use std::path::Path;

/// Takes columns, chunk by chunk.
pub(super) enum PredictionWriter {
    /// As csv.
    Stdout { writer: Box<csv::Writer<BufWriter<Stdout>>>, decimal: Decimal },
    /// A file; an array has scores alone.
    File { writer: TableWriter, scores_alone: bool },
}

/// `Err` if predictions cannot be written in the format of this file.
pub(super) fn check_format(path: &Path) -> Result<()> {
    if format_of(path).map_err(Failure::usage)?.writes_columns() {
        return Ok(());
    }
    let formats = kinfolk_io::output_format_names(|format| format.writes_columns());
    Err(Failure::usage(format!("predictions can be written as {formats}")).about(path))
}

impl PredictionWriter {
    pub(super) fn stdout(columns: &OutputColumns, decimal: Decimal) -> Result<Self> {
        let delimiter = if decimal == Decimal::Comma { b';' } else { b',' };
        let to = BufWriter::new(std::io::stdout());
        let mut writer = csv::WriterBuilder::new().delimiter(delimiter).from_writer(to);
        writer.write_record(columns.names()).or_else(to_stdout)?;
        Ok(PredictionWriter::Stdout { writer: Box::new(writer), decimal })
    }

    pub(super) fn file(path: &Path, columns: &OutputColumns, decimal: Decimal) -> Result<Self> {
        let format = format_of(path).map_err(Failure::usage)?;
        let scores_alone = format.writes_columns() && !format.has_named_columns;
        if scores_alone && columns.has_words() {
            let why = "an array has room for scores alone; write labels and other columns as csv or parquet";
            return Err(Failure::usage(why).about(path));
        }
        interrupt::will_write(path);
        let mut written = columns.columns();
        written.retain(|(_, kind)| !scores_alone || *kind == CellKind::Numbers);
        let writer = TableWriter::with_decimal(path, &written, decimal).map_err(Failure::output)?;
        Ok(PredictionWriter::File { writer, scores_alone })
    }

    pub(super) fn append(&mut self, mut columns: Vec<Cells>) -> Result<()> {
        match self {
            PredictionWriter::Stdout { writer, decimal } => {
                let cell = |cells: &Cells, row: usize| match (&cells, &decimal) {
                    (Cells::Numbers(_) | Cells::Singles(_), Decimal::Comma) => {
                        text(cells, row).replace('.', ",")
                    }
                    _ => text(cells, row),
                };
                for row in 0..columns.first().map_or(0, Cells::len) {
                    writer.write_record(columns.iter().map(|cells| cell(cells, row))).or_else(to_stdout)?;
                }
                Ok(())
            }
            PredictionWriter::File { writer, scores_alone } => {
                columns.retain(|cells| !*scores_alone || cells.kind() == CellKind::Numbers);
                writer.append(&columns).map_err(Failure::output)
            }
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            PredictionWriter::Stdout { mut writer, .. } => {
                writer.flush().map_err(csv::Error::from).or_else(to_stdout)
            }
            PredictionWriter::File { writer, .. } => writer.finish().map(drop).map_err(Failure::output),
        }
    }
}

fn text(cells: &Cells, row: usize) -> String {
    match cells {
        Cells::Numbers(cells) | Cells::Singles(cells) => cells[row].to_string(),
        Cells::Integers(cells) => cells[row].to_string(),
        Cells::Words(cells) => cells[row].clone(),
    }
}

/// A reader that has seen enough (`| head`) ends the program, quietly.
fn to_stdout(error: csv::Error) -> Result<()> {
    match error.kind() {
        csv::ErrorKind::Io(error) if error.kind() == ErrorKind::BrokenPipe => std::process::exit(0),
        _ => Err(Failure::output(format!("stdout: {error}"))),
    }
}
