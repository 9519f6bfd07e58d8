//! Rows of a file, a chunk at a time, or all of them.

use crate::{ColumnRoles, Result, Schema, Storage, Table, assemble, dense_or_sparse, format};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Rows of a file, a chunk at a time.
pub trait Source: Send {
    /// The next rows, at most this many; `None` at the end. Chunks are whole tables with the same features.
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>>;

    /// How many rows there are in all, if the format says so before they are read.
    fn n_rows(&self) -> Option<usize> {
        None
    }

    /// The schema that reads another file in the same way.
    fn schema(&self) -> Schema;
}

/// Reads a whole file. Without a `schema` it is read for fitting: then the inputs are stored as their numbers
/// say (see [`Table`]), kernel values become a Gram matrix, and the schema for other files comes with it.
pub fn read(path: &Path, columns: &ColumnRoles, schema: Option<&Schema>) -> Result<(Table, Schema)> {
    let source = format::open(path, columns, schema)?;
    assemble::read_all(source, schema).map_err(|error| error.in_file(path))
}

/// [`read`] of a file in memory; `path` gives the format, and its name in messages.
pub fn read_bytes(
    path: &Path,
    bytes: &[u8],
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<(Table, Schema)> {
    let source = format::open_bytes(path, bytes, columns, schema)?;
    assemble::read_all(source, schema).map_err(|error| error.in_file(path))
}

/// A source whose errors name the file, and whose rows have the features of the schema, stored as it says.
pub(crate) fn checked(source: Box<dyn Source>, path: &Path, schema: Option<&Schema>) -> Box<dyn Source> {
    Box::new(CheckedSource { source, path: path.to_path_buf(), known: schema.cloned() })
}

struct CheckedSource {
    source: Box<dyn Source>,
    path: PathBuf,
    /// The schema of the training file, if there is one.
    known: Option<Schema>,
}

impl Source for CheckedSource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let chunk = self.source.next_chunk(max_rows).and_then(|chunk| match (chunk, &self.known) {
            (Some(chunk), Some(schema)) => as_in_training(chunk, schema).map(Some),
            (chunk, _) => Ok(chunk),
        });
        chunk.map_err(|error| error.in_file(&self.path))
    }

    fn n_rows(&self) -> Option<usize> {
        self.source.n_rows()
    }

    fn schema(&self) -> Schema {
        self.known.clone().unwrap_or_else(|| self.source.schema())
    }
}

fn as_in_training(mut chunk: Table, schema: &Schema) -> Result<Table> {
    let (n, wanted) = (chunk.inputs.n_features(), schema.n_features);
    if n != wanted {
        let what = if schema.storage == Storage::Kernel { "kernel values per row" } else { "features" };
        return Err(wrong!("there are {n} {what}; the model was fitted on {wanted}"));
    }
    if let (Some(names), Some(wanted)) = (&chunk.features, schema.feature_names())
        && let Some(j) = (0..n).find(|&j| names[j] != wanted[j])
    {
        return Err(wrong!("feature {j} is called {:?}; the model was fitted on {:?}", names[j], wanted[j]));
    }
    let parts = VecDeque::from([chunk.inputs]);
    (chunk.inputs, _) = dense_or_sparse::join(parts, wanted, Some(schema.storage), false)?;
    Ok(chunk)
}
