//! Tables with named columns written a chunk of rows at a time: predictions, however many.

mod beside;
mod cells;
mod csv;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(not(feature = "parquet"))]
#[path = "parquet_disabled.rs"]
mod parquet;
mod table;

pub use cells::{CellKind, Cells};
pub use table::columns_of;
pub(crate) use table::write;

use crate::{Error, Format, Result};
use beside::FileBeside;
use std::io;
use std::path::{Path, PathBuf};

/// Writes columns to a `.csv`, `.csv.gz`, `.npy` or `.parquet` file, a chunk of rows at a time.
///
/// The file is written beside and renamed at the end: until [`finish`](Self::finish) whatever has that name is as it was, and
/// a writer that is dropped leaves nothing behind. Memory holds a chunk, and a row group of parquet.
///
/// ```
/// use kinfolk_io::{CellKind, Cells, TableWriter};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("scores.csv");
/// let mut writer = TableWriter::create(&path, &[("task".into(), CellKind::Words), ("score".into(), CellKind::Numbers)])?;
/// writer.append(&[Cells::Words(&["oak".into(), "elm".into()]), Cells::Numbers(&[0.5, -1.0])])?;
/// writer.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "task,score\noak,0.5\nelm,-1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableWriter {
    path: PathBuf,
    columns: Vec<(String, CellKind)>,
    beside: FileBeside,
    sink: Sink,
    n_rows: u64,
}

enum Sink {
    Csv(csv::CsvSink),
    Npy(npy::NpySink),
    Parquet(parquet::ParquetSink),
}

impl TableWriter {
    /// A new file with these columns, in the format that its name asks for. An array (`.npy`) has no names and holds numbers
    /// alone, one row for each row, or a plain list if there is one column.
    ///
    /// # Errors
    /// If the format is none of these or cannot hold such columns, names are not distinct, or the file cannot be written.
    pub fn create(path: &Path, columns: &[(String, CellKind)]) -> Result<Self> {
        let format = Format::of(path)?;
        check(path, format, columns)?;
        let wrong = |error: io::Error| Error::new(path, error);
        let (beside, file) = FileBeside::create(path).map_err(wrong)?;
        let packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
        let sink = match format {
            Format::Csv => csv::CsvSink::new(file, columns, packed).map(Sink::Csv),
            Format::Npy => npy::NpySink::new(file, columns).map(Sink::Npy),
            Format::Parquet => parquet::ParquetSink::new(file, columns).map(Sink::Parquet),
            _ => Err(io::Error::other("expected a name that ends in .csv, .csv.gz, .npy or .parquet")),
        };
        let sink = sink.map_err(wrong)?;
        Ok(TableWriter { path: path.to_path_buf(), columns: columns.to_vec(), beside, sink, n_rows: 0 })
    }

    /// Appends rows: one slice for each column, all of the same length.
    ///
    /// # Errors
    /// If they are not, or are not of the kinds that were announced, or the file cannot be written.
    pub fn append(&mut self, cells: &[Cells<'_>]) -> Result<()> {
        let rows = cells.first().map_or(0, Cells::len);
        let fits = |(cells, (_, kind)): (&Cells<'_>, &(String, CellKind))| {
            cells.len() == rows && cells.kind() == *kind
        };
        if cells.len() != self.columns.len() || !cells.iter().zip(&self.columns).all(fits) {
            return Err(Error::new(&self.path, "the columns are not those that were announced"));
        }
        let appended = match &mut self.sink {
            Sink::Csv(sink) => sink.append(cells, rows),
            Sink::Npy(sink) => sink.append(cells, rows),
            Sink::Parquet(sink) => sink.append(cells, rows),
        };
        self.n_rows += rows as u64;
        appended.map_err(|error| Error::new(&self.path, error))
    }

    /// Ends the file and gives it its name; how many rows it has.
    ///
    /// # Errors
    /// If it cannot be written or renamed; then nothing is left of it.
    pub fn finish(self) -> Result<u64> {
        let file = match self.sink {
            Sink::Csv(sink) => sink.finish(),
            Sink::Npy(sink) => sink.finish(self.n_rows),
            Sink::Parquet(sink) => sink.finish(),
        };
        file.and_then(|file| self.beside.rename(file)).map_err(|error| Error::new(&self.path, error))?;
        Ok(self.n_rows)
    }
}

fn check(path: &Path, format: Format, columns: &[(String, CellKind)]) -> Result<()> {
    if columns.is_empty() {
        return Err(Error::new(path, "there are no columns to write"));
    }
    if format == Format::Npy {
        return match columns.iter().find(|(_, kind)| *kind == CellKind::Words) {
            Some((name, _)) => {
                Err(Error::new(path, "an array holds numbers alone, not words").in_column(name))
            }
            None => Ok(()),
        };
    }
    // The rules of reading: such a file could not be read back.
    crate::named::Header::new(path, columns.iter().map(|(name, _)| name.clone()).collect()).map(drop)
}
