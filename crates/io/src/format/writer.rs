//! Columns written to a file a chunk of rows at a time: predictions, however many.

use super::{CellKind, Cells, FileFormat, OutputFile, format_and_compression};
use crate::columns::ColumnNames;
use crate::{Decimal, Error, Result};
use std::io;
use std::path::{Path, PathBuf};

/// Writes rows of columns in some format.
pub(crate) trait ColumnWriter: Send {
    /// Appends rows: the cells of each column, all of the same length.
    fn append(&mut self, cells: &[Cells], rows: usize) -> io::Result<()>;

    /// Ends the file, which has so many rows.
    fn finish(self: Box<Self>, rows: u64) -> io::Result<OutputFile>;
}

/// Writes columns to a `.csv`, `.csv.gz`, `.npy` or `.parquet` file, a chunk of rows at a time.
///
/// Until [`finish`](Self::finish) whatever has that name is as it was, and a writer that is dropped leaves
/// nothing behind. Memory holds a chunk, and a row group of parquet.
///
/// ```
/// use kinfolk_io::{CellKind, Cells, TableWriter};
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("scores.csv");
/// let columns = [("task".into(), CellKind::Words), ("score".into(), CellKind::Numbers)];
/// let mut writer = TableWriter::create(&path, &columns)?;
/// writer.append(&[Cells::Words(vec!["oak".into(), "elm".into()]), Cells::Numbers(vec![0.5, -1.0])])?;
/// writer.finish()?;
/// assert_eq!(std::fs::read_to_string(&path)?, "task,score\noak,0.5\nelm,-1\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct TableWriter {
    path: PathBuf,
    columns: Vec<(String, CellKind)>,
    writer: Box<dyn ColumnWriter>,
    n_rows: u64,
}

impl TableWriter {
    /// A new file with these columns, in the format that its name asks for. An array (`.npy`) has no names
    /// and holds numbers alone, one row for each row, or a plain list if there is one column.
    ///
    /// # Errors
    /// If the format is none of these or cannot hold such columns, names are not distinct, or the file cannot
    /// be written.
    pub fn create(path: &Path, columns: &[(String, CellKind)]) -> Result<Self> {
        Self::with_decimal(path, columns, Decimal::Point)
    }

    /// The same with the decimal sign of numbers in text. With a comma, semicolons separate cells.
    ///
    /// # Errors
    /// As [`create`](Self::create), and if there is no text in the format and the sign is a comma.
    pub fn with_decimal(path: &Path, columns: &[(String, CellKind)], decimal: Decimal) -> Result<Self> {
        let (format, compression) = format_and_compression(path)?;
        let create = || {
            check_columns(format, columns)?;
            if decimal == Decimal::Point {
                return format.start_columns(OutputFile::create(path, compression)?, columns);
            }
            if !format.is_csv() {
                return Err(wrong!("only csv files have a decimal comma"));
            }
            super::csv::with_decimal(OutputFile::create(path, compression)?, columns, decimal)
        };
        let writer = create().map_err(|error| error.in_file(path))?;
        Ok(TableWriter { path: path.to_path_buf(), columns: columns.to_vec(), writer, n_rows: 0 })
    }

    /// Appends rows: the cells of each column, all of the same length.
    ///
    /// # Errors
    /// If they are not, or are not of the kinds that were announced, or the file cannot be written.
    pub fn append(&mut self, cells: &[Cells]) -> Result<()> {
        let rows = cells.first().map_or(0, Cells::len);
        let fits =
            |(cells, (_, kind)): (&Cells, &(String, CellKind))| cells.len() == rows && cells.kind() == *kind;
        if cells.len() != self.columns.len() || !cells.iter().zip(&self.columns).all(fits) {
            return Err(Error::new(&self.path, "the columns are not those that were announced"));
        }
        self.n_rows += rows as u64;
        self.writer.append(cells, rows).map_err(|error| Error::new(&self.path, error))
    }

    /// Ends the file and gives it its name; how many rows it has.
    ///
    /// # Errors
    /// If it cannot be written or renamed; then it is removed.
    pub fn finish(self) -> Result<u64> {
        let finished = self.writer.finish(self.n_rows).and_then(OutputFile::commit);
        finished.map_err(|error| Error::new(&self.path, error))?;
        Ok(self.n_rows)
    }
}

/// The rules of reading: other columns could not be read back.
pub(super) fn check_columns(format: &FileFormat, columns: &[(String, CellKind)]) -> Result<()> {
    if columns.is_empty() {
        return Err(wrong!("there are no columns to write"));
    }
    if format.has_named_columns {
        ColumnNames::new(columns.iter().map(|(name, _)| name.clone()).collect())?;
    }
    Ok(())
}
