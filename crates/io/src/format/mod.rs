//! File formats: one table of all of them, one way in ([`open`]) and one way out ([`write_table`],
//! [`TableWriter`]).
//!
//! To add a format: write a folder with its [`FileFormat`], and name it in [`FORMATS`].
//! Help texts and messages that list formats are made from the table.

mod cells;
mod csv;
mod input;
mod npy;
mod npz;
mod output;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod svm;
mod table_columns;
mod writer;

pub use cells::{CellKind, Cells};
pub(crate) use input::InputFile;
pub use npy::npy_bytes;
pub use npz::read_array;
pub(crate) use output::OutputFile;
pub use table_columns::columns_of;
pub(crate) use writer::ColumnWriter;
pub use writer::TableWriter;

use crate::{ChooseColumns, ColumnRoles, Error, Result, Schema, Source, Table, TextTable};
use kinfolk::Inputs;
use std::path::Path;
use std::sync::Arc;

/// All formats, in the order of help texts.
static FORMATS: [FileFormat; 5] = [csv::FORMAT, parquet::FORMAT, npz::FORMAT, npy::FORMAT, svm::FORMAT];

/// Opens a file for reading in chunks of rows.
type Open = fn(&InputFile, &ColumnRoles, Option<&Schema>) -> OpenResult;
/// What [`Open`] returns.
pub(crate) type OpenResult = Result<Box<dyn Source>>;
/// Reads some columns as texts.
type ReadTexts = fn(&InputFile, &ChooseColumns<'_>) -> Result<TextTable>;
/// Writes a whole table.
type WriteTable = fn(&Table, OutputFile) -> Result<OutputFile>;
/// Starts a file of columns whose rows come in chunks.
type Create = fn(OutputFile, &[(String, CellKind)]) -> CreateResult;
/// What [`Create`] returns.
pub(crate) type CreateResult = Result<Box<dyn ColumnWriter>>;

/// A file format: how its files are named, read and written.
pub struct FileFormat {
    /// How its files end, without the dot; the first one is the usual one.
    extensions: &'static [&'static str],
    /// Whether `.gz` may follow: then the file is compressed with gzip.
    may_be_gzipped: bool,
    /// Whether files can say what is to be learned.
    pub holds_targets: bool,
    /// Whether columns are named, and [`ColumnRoles`] must say what they mean.
    pub has_named_columns: bool,
    /// Whether files can hold a Gram matrix.
    holds_gram: bool,
    open: Open,
    /// For formats of named columns.
    read_texts: Option<ReadTexts>,
    /// `Err` if a table could not be read back from such a file.
    check: fn(&Table) -> Result<()>,
    /// Writes a whole table that `check` accepts; `None`: as named columns.
    write_table: Option<WriteTable>,
    columns: Option<Create>,
}

impl FileFormat {
    /// Whether [`TableWriter`] writes it.
    pub fn writes_columns(&self) -> bool {
        self.columns.is_some()
    }

    /// Starts a file of columns.
    fn start_columns(&self, to: OutputFile, columns: &[(String, CellKind)]) -> CreateResult {
        let start = self.columns.ok_or_else(|| {
            let names = list_formats(".", FileFormat::writes_columns);
            wrong!("rows cannot be added to such a file; expected a name that ends in {names}")
        })?;
        start(to, columns)
    }

    fn write(&self, table: &Table, path: &Path, gzipped: bool) -> Result<()> {
        if matches!(table.inputs, Inputs::Gram(_)) && !self.holds_gram {
            return Err(cannot_hold("a Gram matrix"));
        }
        (self.check)(table)?;
        let to = OutputFile::create(path, gzipped)?;
        let written = match self.write_table {
            Some(write) => write(table, to)?,
            None => table_columns::write(self, table, to)?,
        };
        Ok(written.commit()?)
    }
}

/// The format of a file by the end of its name.
///
/// # Errors
/// If it is none of ours; then it says which there are.
pub fn format_of(path: &Path) -> Result<&'static FileFormat> {
    format_and_compression(path).map(|(format, _)| format)
}

/// Names of the formats that satisfy a condition, for help texts: "csv, csv.gz, parquet or npz".
pub fn format_names(condition: impl Fn(&FileFormat) -> bool) -> String {
    list_formats("", condition)
}

/// Opens a file for reading in chunks.
///
/// With a `schema` it is read as the training file was: chunks have the features of the schema, stored as it
/// says. What `columns` says goes before what the schema says, so leave it empty if nothing is different.
/// Without a schema, chunks come as the format has them, and [`read`](crate::read) decides how they are
/// stored.
pub fn open(path: &Path, columns: &ColumnRoles, schema: Option<&Schema>) -> Result<Box<dyn Source>> {
    open_input(path, None, columns, schema)
}

/// [`open`] of a file in memory; `path` gives the format, and its name in messages.
pub fn open_bytes(
    path: &Path,
    bytes: &[u8],
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<Box<dyn Source>> {
    open_input(path, Some(bytes.into()), columns, schema)
}

/// Reads some columns of a file of named columns as texts. The file should be small: it is read as a whole.
///
/// # Errors
/// If it cannot be read, or its columns have no names.
pub fn read_texts(path: &Path, choose: &ChooseColumns<'_>) -> Result<TextTable> {
    let (format, gzipped) = format_and_compression(path)?;
    let Some(read) = format.read_texts else {
        let known = list_formats(".", |format| format.read_texts.is_some());
        return Err(Error::new(path, format!("it has no names; expected {known}")));
    };
    read(&InputFile::new(path, None, gzipped), choose).map_err(|error| error.in_file(path))
}

/// Writes a table in the format that the name of the file asks for.
///
/// Numbers come back exactly, in single precision too. If anything fails, what was there before is still
/// there.
///
/// # Errors
/// If the file cannot be written, or the format cannot hold what is in the table: `.npy` holds inputs alone
/// (it drops the names of the features), `.svm` no offsets, and a Gram matrix needs `.npz`. Reading `.csv`
/// and `.parquet` back takes the [`columns_of`] the table; features without names are called `x0`, `x1`, ...,
/// and names of tasks and classes without rows are lost.
pub fn write_table(table: &Table, path: &Path) -> Result<()> {
    let (format, gzipped) = format_and_compression(path)?;
    format.write(table, path, gzipped).map_err(|error| error.in_file(path))
}

fn open_input(
    path: &Path,
    bytes: Option<Arc<[u8]>>,
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> OpenResult {
    let (format, gzipped) = format_and_compression(path)?;
    let source = (format.open)(&InputFile::new(path, bytes, gzipped), columns, schema);
    Ok(crate::source::checked(source.map_err(|error| error.in_file(path))?, path, schema))
}

/// The one place that looks at the ends of names.
fn format_and_compression(path: &Path) -> Result<(&'static FileFormat, bool)> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (plain, gzipped) = match name.strip_suffix(".gz") {
        Some(plain) => (plain, true),
        None => (name.as_str(), false),
    };
    let extension = plain.rsplit_once('.').map_or("", |(_, extension)| extension);
    let fits =
        |format: &&FileFormat| format.extensions.contains(&extension) && (format.may_be_gzipped || !gzipped);
    FORMATS.iter().find(fits).map(|format| (format, gzipped)).ok_or_else(|| {
        let known = list_formats(".", |_| true);
        Error::new(path, format!("its kind is not known by its name; expected {known}"))
    })
}

fn list_formats(dot: &str, condition: impl Fn(&FileFormat) -> bool) -> String {
    let mut names = vec![];
    for format in FORMATS.iter().filter(|format| condition(format)) {
        let name = format.extensions[0];
        names.push(format!("{dot}{name}"));
        names.extend(format.may_be_gzipped.then(|| format!("{dot}{name}.gz")));
    }
    match names.pop() {
        Some(end) if names.is_empty() => end,
        Some(end) => names.join(", ") + " or " + &end,
        None => String::new(),
    }
}

/// For `check` of a [`FileFormat`].
pub(crate) fn cannot_hold(what: &str) -> Error {
    wrong!("this format cannot hold {what}; write .npz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_the_end_of_the_name() {
        let usual = |name: &str| format_and_compression(Path::new(name)).map(|(f, gz)| (f.extensions[0], gz));
        assert_eq!(usual("a/b.npz").unwrap(), ("npz", false));
        assert_eq!(usual("b.x.NPY").unwrap(), ("npy", false));
        assert_eq!(usual("b.csv.gz").unwrap(), ("csv", true));
        assert_eq!(usual("b.libsvm.GZ").unwrap(), ("svm", true));
        for name in ["b", "b.npz.gz", "b.txt", "npz", "", "b.gz"] {
            let error = usual(name).unwrap_err().to_string();
            let known = "expected .csv, .csv.gz, .parquet, .npz, .npy, .svm or .svm.gz";
            assert!(error.ends_with(known), "{name}: {error}");
        }
    }

    #[test]
    fn help_texts_list_what_the_table_has() {
        assert_eq!(format_names(|_| true), "csv, csv.gz, parquet, npz, npy, svm or svm.gz");
        assert_eq!(format_names(|format| format.writes_columns()), "csv, csv.gz, parquet or npy");
    }
}
