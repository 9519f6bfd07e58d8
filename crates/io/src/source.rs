//! Rows of a file, a chunk at a time, or all of them.

use crate::error::quoted;
use crate::{ColumnRoles, ReadThreads, Result, Schema, Storage, Table, assemble, dense_or_sparse, format};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Rows of a file, a chunk at a time.
pub trait Source: Send {
    /// The next rows, at most this many; `None` at the end. Chunks are whole tables with the same features.
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>>;

    /// Lets columns be decoded in these threads. What is read stays the same.
    fn use_threads(&mut self, _threads: &ReadThreads) {}

    /// Takes no rows at all for what they are, and not for an error: of one of several files.
    fn let_be_empty(&mut self) {}

    /// How many rows there are in all, if the format says so before they are read.
    fn n_rows(&self) -> Option<usize> {
        None
    }

    /// The schema that reads another file in the same way.
    fn schema(&self) -> Schema;

    /// How many of the rows so far were left out for a missing value.
    fn dropped_rows(&self) -> u64 {
        0
    }

    /// Columns that tell rows apart, identifiers and dates, if no column is carried along.
    fn could_be_kept(&self) -> Vec<String> {
        vec![]
    }

    /// What was done to the rows so far that people should know: values that were not there in training, rows left out.
    fn remarks(&self) -> Vec<String> {
        vec![]
    }
}

/// Reads a whole file. Without a `schema` it is read for fitting: then the inputs are stored as their numbers
/// say (see [`Table`]), kernel values become a Gram matrix, and the schema for other files comes with it.
pub fn read(path: &Path, columns: &ColumnRoles, schema: Option<&Schema>) -> Result<(Table, Schema)> {
    let mut source = format::open(path, columns, schema)?;
    assemble::read_all(&mut *source, schema).map_err(|error| error.in_file(path))
}

/// [`read`] of several files, one after the other, as if they were one.
pub fn read_all(
    paths: &[PathBuf],
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<(Table, Schema)> {
    let mut source = format::open_all(paths, columns, schema)?;
    let first = paths.first().cloned().unwrap_or_default();
    assemble::read_all(&mut *source, schema).map_err(|error| error.in_file(first))
}

/// [`read`] of a file in memory; `path` gives the format, and its name in messages.
pub fn read_bytes(
    path: &Path,
    bytes: &[u8],
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<(Table, Schema)> {
    let mut source = format::open_bytes(path, bytes, columns, schema)?;
    assemble::read_all(&mut *source, schema).map_err(|error| error.in_file(path))
}

/// A source whose errors name the file, and whose rows have the features of the schema, stored as it says.
pub(crate) fn checked(source: Box<dyn Source>, path: &Path, schema: Option<&Schema>) -> Box<dyn Source> {
    let known = schema.cloned();
    Box::new(CheckedSource { source, path: path.to_path_buf(), known, by_position: false })
}

/// Sources one after the other.
pub(crate) fn chained(mut sources: Vec<Box<dyn Source>>, fitting: bool) -> Box<dyn Source> {
    if sources.len() > 1 {
        sources.iter_mut().for_each(|source| source.let_be_empty());
    }
    Box::new(ChainedSources { sources, current: 0, fitting, has_rows: false })
}

struct ChainedSources {
    sources: Vec<Box<dyn Source>>,
    current: usize,
    /// Whether they are read to fit a model.
    fitting: bool,
    has_rows: bool,
}

impl Source for ChainedSources {
    fn use_threads(&mut self, threads: &ReadThreads) {
        self.sources.iter_mut().for_each(|source| source.use_threads(threads));
    }

    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        while let Some(source) = self.sources.get_mut(self.current) {
            if let Some(chunk) = source.next_chunk(max_rows)? {
                self.has_rows = true;
                return Ok(Some(chunk));
            }
            self.current += 1;
        }
        match self.has_rows || self.dropped_rows() > 0 {
            true => Ok(None),
            false => Err(wrong!("there are no rows in any of the files")),
        }
    }

    fn n_rows(&self) -> Option<usize> {
        self.sources.iter().map(|source| source.n_rows()).sum()
    }

    fn schema(&self) -> Schema {
        // The sources of a fit share their features; those of arrays may widen.
        let schemas = self.sources.iter().map(|source| source.schema());
        let both = |mut a: Schema, mut b: Schema| {
            // What rows were left out, and what is to be said, is of all of them.
            let mut remarks = std::mem::take(&mut a.remarks);
            let more: Vec<String> = b.remarks.drain(..).filter(|said| !remarks.contains(said)).collect();
            remarks.extend(more);
            let dropped_rows = if self.fitting { a.dropped_rows + b.dropped_rows } else { a.dropped_rows };
            let widest = if b.n_features > a.n_features { b } else { a };
            Schema { remarks, dropped_rows, ..widest }
        };
        schemas.reduce(both).unwrap_or_else(|| Schema::new(ColumnRoles::default(), None, 0))
    }

    fn dropped_rows(&self) -> u64 {
        self.sources.iter().map(|source| source.dropped_rows()).sum()
    }

    fn could_be_kept(&self) -> Vec<String> {
        self.sources.first().map_or(vec![], |source| source.could_be_kept())
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = vec![];
        for remark in self.sources.iter().flat_map(|source| source.remarks()) {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        remarks
    }
}

struct CheckedSource {
    source: Box<dyn Source>,
    path: PathBuf,
    /// The schema of the training file, if there is one.
    known: Option<Schema>,
    /// Whether features without names were taken for those of the training file, in their order.
    by_position: bool,
}

impl Source for CheckedSource {
    fn use_threads(&mut self, threads: &ReadThreads) {
        self.source.use_threads(threads);
    }

    fn let_be_empty(&mut self) {
        self.source.let_be_empty();
    }

    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let chunk = self.source.next_chunk(max_rows).and_then(|chunk| match (chunk, &self.known) {
            (Some(chunk), Some(schema)) => {
                self.by_position |= chunk.features.is_none() && schema.features.is_some();
                as_in_training(chunk, schema).map(Some)
            }
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

    fn dropped_rows(&self) -> u64 {
        self.source.dropped_rows()
    }

    fn could_be_kept(&self) -> Vec<String> {
        self.source.could_be_kept()
    }

    fn remarks(&self) -> Vec<String> {
        let names = self.known.as_ref().and_then(Schema::feature_names).filter(|_| self.by_position);
        let named = |(first, last): (&String, &String)| {
            let (first, last) = (quoted(first), quoted(last));
            format!(
                "the features have no names here: they are taken in the order of the fit, {first} to {last}"
            )
        };
        let by_position = names.as_ref().and_then(|names| names.first().zip(names.last())).map(named);
        self.source.remarks().into_iter().chain(by_position).collect()
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
