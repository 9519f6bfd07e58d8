//! Where predictions go.

use super::columns::{Cells, Layout};
use crate::failure::{Failure, Result};
use std::io::{BufWriter, ErrorKind, Stdout};
use std::path::Path;

/// Takes columns, chunk by chunk.
pub(super) enum Sink {
    Stdout(csv::Writer<BufWriter<Stdout>>),
}

impl Sink {
    pub(super) fn stdout(layout: &Layout) -> Result<Sink> {
        let mut writer = csv::Writer::from_writer(BufWriter::new(std::io::stdout()));
        writer.write_record(layout.names()).or_else(to_stdout)?;
        Ok(Sink::Stdout(writer))
    }

    pub(super) fn file(path: &Path, _: &Layout) -> Result<Sink> {
        Err(Failure::output(format!("{}: not yet", path.display())))
    }

    pub(super) fn append(&mut self, cells: Vec<Cells>) -> Result<()> {
        match self {
            Sink::Stdout(writer) => {
                let rows = cells.first().map_or(0, Cells::len);
                for row in 0..rows {
                    writer.write_record(cells.iter().map(|column| column.text(row))).or_else(to_stdout)?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn finish(self) -> Result<()> {
        match self {
            Sink::Stdout(mut writer) => writer.flush().map_err(csv::Error::from).or_else(to_stdout),
        }
    }
}

impl Cells {
    fn len(&self) -> usize {
        match self {
            Cells::Numbers(numbers) => numbers.len(),
            Cells::Words(words) => words.len(),
        }
    }

    fn text(&self, row: usize) -> String {
        match self {
            Cells::Numbers(numbers) => numbers[row].to_string(),
            Cells::Words(words) => words[row].clone(),
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
