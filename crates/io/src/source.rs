//! The one door to all formats.

use crate::bytes::{self, Bytes};
use crate::{
    Columns, CsvSource, Error, ParquetSource, Recipe, Result, Storage, Table, assemble, npy, npz, storage,
    svm,
};
use std::collections::VecDeque;
use std::io::Cursor;
use std::path::Path;

/// A kind of file, known by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `.npz`: arrays `X` or `K`, and `y` and `task`, or `label`, or `Y`.
    Npz,
    /// `.npy`: inputs alone.
    Npy,
    /// `.csv` or `.csv.gz`.
    Csv,
    /// `.parquet`.
    Parquet,
    /// `.svm`, `.svmlight`, `.libsvm`, also with `.gz`: sparse, the task as `qid:`.
    Svm,
}

impl Format {
    /// The format of a file by the end of its name.
    ///
    /// # Errors
    /// If it is none of ours; then it says which there are.
    pub fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        let (name, packed) = match name.strip_suffix(".gz") {
            Some(name) => (name, true),
            None => (name.as_str(), false),
        };
        match (name.rsplit_once('.').map_or("", |(_, end)| end), packed) {
            ("npz", false) => Ok(Format::Npz),
            ("npy", false) => Ok(Format::Npy),
            ("csv", _) => Ok(Format::Csv),
            ("parquet", false) => Ok(Format::Parquet),
            ("svm" | "svmlight" | "libsvm", _) => Ok(Format::Svm),
            _ => Err(Error::new(
                path,
                "its kind is not known by its name; expected .npz, .npy, .csv, .csv.gz, .parquet, .svm or .svm.gz",
            )),
        }
    }
}

/// Rows of a file, a chunk at a time.
pub trait Source: Send {
    /// The next rows, at most this many; `None` at the end. Chunks are whole tables whose features agree.
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>>;

    /// How many rows there are in all, if the format tells beforehand.
    fn n_rows(&self) -> Option<usize> {
        None
    }

    /// The recipe that reads another file the same way.
    fn recipe(&self) -> Recipe;
}

/// Opens a file for reading in chunks.
///
/// With a `recipe` it is read as the training file was: chunks have the features of the recipe, stored as it says, and what
/// `columns` says goes before what the recipe says, so leave it empty if nothing is different. Without, chunks come as the
/// format has them, and [`read`] settles how they are stored.
pub fn open(path: &Path, columns: &Columns, recipe: Option<&Recipe>) -> Result<Box<dyn Source>> {
    let opened = Format::of(path).and_then(|format| match format {
        Format::Csv => Ok(Box::new(CsvSource::open(path, columns, recipe)?) as Box<dyn Source>),
        Format::Parquet => Ok(Box::new(ParquetSource::open(path, columns, recipe)?)),
        _ => {
            let packed = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("gz"));
            open_bytes(bytes::open(path)?, format, packed, columns, recipe)
        }
    });
    let source = as_before(opened.map_err(|error| error.in_file(path))?, recipe);
    Ok(Box::new(InFile { source, path: path.to_path_buf() }))
}

/// Reads a whole file. Without a `recipe` it is read for fitting: then the inputs are stored as their numbers say (see
/// [`Table`]), kernel values become a Gram matrix, and the recipe for other files comes with it.
pub fn read(path: &Path, columns: &Columns, recipe: Option<&Recipe>) -> Result<(Table, Recipe)> {
    let source = open(path, columns, recipe)?;
    assemble::read_all(source, recipe).map_err(|error| error.in_file(path))
}

/// [`read`] of a file in memory.
pub fn read_bytes(
    bytes: Vec<u8>,
    format: Format,
    columns: &Columns,
    recipe: Option<&Recipe>,
) -> Result<(Table, Recipe)> {
    let source: Box<dyn Source> = match format {
        Format::Csv => Box::new(CsvSource::from_bytes(Path::new(""), &bytes, columns, recipe)?),
        Format::Parquet => Box::new(ParquetSource::from_bytes(Path::new(""), &bytes, columns, recipe)?),
        _ => open_bytes(Box::new(Cursor::new(bytes)), format, false, columns, recipe)?,
    };
    assemble::read_all(as_before(source, recipe), recipe)
}

/// Formats of arrays and lists, which need nothing but their bytes.
fn open_bytes(
    from: Box<dyn Bytes>,
    format: Format,
    packed: bool,
    columns: &Columns,
    recipe: Option<&Recipe>,
) -> Result<Box<dyn Source>> {
    match format {
        Format::Npz => npz::open(from, columns, recipe),
        Format::Npy => npy::open(from, columns, recipe),
        Format::Svm if packed => svm::open(bytes::gunzip(from)?, columns, recipe),
        Format::Svm => svm::open(Box::new(from), columns, recipe),
        Format::Csv | Format::Parquet => {
            Err(Error::of_table("tables with named columns are opened elsewhere"))
        }
    }
}

fn as_before(source: Box<dyn Source>, recipe: Option<&Recipe>) -> Box<dyn Source> {
    match recipe {
        Some(recipe) => Box::new(AsBefore { source, recipe: recipe.clone() }),
        None => source,
    }
}

/// Says which file an error is about.
struct InFile {
    source: Box<dyn Source>,
    path: std::path::PathBuf,
}

impl Source for InFile {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        self.source.next_chunk(max_rows).map_err(|error| error.in_file(&self.path))
    }

    fn n_rows(&self) -> Option<usize> {
        self.source.n_rows()
    }

    fn recipe(&self) -> Recipe {
        self.source.recipe()
    }
}

/// Rows with the features of the training file, stored as they were.
struct AsBefore {
    source: Box<dyn Source>,
    recipe: Recipe,
}

impl Source for AsBefore {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let Some(mut chunk) = self.source.next_chunk(max_rows)? else { return Ok(None) };
        let (n, wanted) = (chunk.inputs.n_features(), self.recipe.n_features);
        if n != wanted {
            let what =
                if self.recipe.storage == Storage::Kernel { "kernel values per row" } else { "features" };
            return Err(Error::of_table(format!("there are {n} {what}; the model was fitted on {wanted}")));
        }
        if let (Some(names), Some(wanted)) = (&chunk.features, self.recipe.feature_names())
            && let Some(j) = (0..n).find(|&j| names[j] != wanted[j])
        {
            let why =
                format!("feature {j} is called {:?}; the model was fitted on {:?}", names[j], wanted[j]);
            return Err(Error::of_table(why));
        }
        let parts = VecDeque::from([chunk.inputs]);
        (chunk.inputs, _) = storage::join(parts, wanted, Some(self.recipe.storage), false)?;
        Ok(Some(chunk))
    }

    fn n_rows(&self) -> Option<usize> {
        self.source.n_rows()
    }

    fn recipe(&self) -> Recipe {
        self.recipe.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_the_end_of_the_name() {
        let format = |name: &str| Format::of(Path::new(name));
        assert_eq!(format("a/b.npz").unwrap(), Format::Npz);
        assert_eq!(format("b.x.NPY").unwrap(), Format::Npy);
        assert_eq!(format("b.csv.gz").unwrap(), Format::Csv);
        assert_eq!(format("b.libsvm.gz").unwrap(), Format::Svm);
        for name in ["b", "b.npz.gz", "b.txt", "npz", "", "b.gz"] {
            assert!(format(name).unwrap_err().to_string().contains("expected .npz"), "{name}");
        }
    }
}
