//! Reading files as the data of a fit were read.

use super::Trained;
use crate::Result;
use kinfolk::{Observations, Scaling};
use kinfolk_io::{ColumnRoles, NewGaps, Schema, Source, Storage, Table};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

impl Trained {
    /// Opens files, to be read one after the other as the data of the fit were.
    ///
    /// # Errors
    /// If they cannot be read so.
    pub fn open(&self, paths: &[PathBuf], columns: &ColumnRoles) -> Result<Box<dyn Source>> {
        Ok(kinfolk_io::open_all(paths, columns, Some(&self.schema_with_means(columns)))?)
    }

    /// Reads a whole file as the data of the fit were read.
    ///
    /// # Errors
    /// If it cannot be read so.
    pub fn read(&self, path: &Path, columns: &ColumnRoles) -> Result<Table> {
        self.read_all(&[path.to_path_buf()], columns)
    }

    /// Reads several files, one after the other, as the data of the fit were read.
    ///
    /// # Errors
    /// If they cannot be read so.
    pub fn read_all(&self, paths: &[PathBuf], columns: &ColumnRoles) -> Result<Table> {
        Ok(kinfolk_io::read_all(paths, columns, Some(&self.schema_with_means(columns)))?.0)
    }

    /// The schema, with the means of features if columns or values may be absent. Scaling by feature has them.
    fn schema_with_means(&self, columns: &ColumnRoles) -> Cow<'_, Schema> {
        match (columns.missing_columns, columns.missing_cells) {
            (NewGaps::Error, NewGaps::Error) => Cow::Borrowed(&self.schema),
            _ => {
                let feature_means = match self.model.scaling() {
                    Scaling::Mixed { mean, .. }
                    | Scaling::Standard { mean, .. }
                    | Scaling::Spread { mean, .. } => Some(mean.clone()),
                    _ => None,
                };
                Cow::Owned(Schema { feature_means, ..self.schema.clone() })
            }
        }
    }

    /// The labels of rows from `first_row` of a file on, for the tasks of the model.
    ///
    /// # Errors
    /// If a task or a label is not known to the model.
    pub fn observations(&self, table: &Table, path: &Path, first_row: usize) -> Result<Observations> {
        let observations = table.observations_in(&self.schema.label_encoding, self.model.tasks());
        Ok(observations.map_err(|mut error| {
            error.row = error.row.map(|row| row + first_row as u64);
            error.in_file(path)
        })?)
    }

    /// The data of the fit as the fit saw them, but for scaling.
    ///
    /// # Errors
    /// If the files cannot be read so.
    pub fn training_data(&self, paths: &[PathBuf], columns: &ColumnRoles) -> Result<(Table, Observations)> {
        let path = paths.first().map_or(Path::new(""), PathBuf::as_path);
        let (table, _) = match self.schema.storage {
            // Kernel values among the training inputs: read as for fitting, not as those of new inputs.
            Storage::Kernel => {
                let columns = if *columns == ColumnRoles::default() { &self.schema.columns } else { columns };
                kinfolk_io::read_all(paths, columns, None)?
            }
            _ => kinfolk_io::read_all(paths, columns, Some(&self.schema))?,
        };
        let table = match self.spec.split {
            None => table,
            Some(part) => table.take_split(part).map_err(|error| error.in_file(path))?,
        };
        let (table, _) = table.labelled();
        let observations = self.observations(&table, path, 0)?;
        match self.spec.class_weight {
            Some(_) => Ok((table, observations.class_balanced()?)),
            None => Ok((table, observations)),
        }
    }
}
