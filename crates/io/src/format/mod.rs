//! File formats: one table of all of them, one way in ([`open`]) and one way out ([`write_table`],
//! [`TableWriter`]).
//!
//! To add a format: write a folder with a type that implements [`FileFormat`], and name it in [`FORMATS`].
//! Help texts and messages that list formats are made from the table.

mod cells;
mod csv;
mod input;
mod npy;
mod npz;
mod output;
mod parquet;
mod svm;
mod table_columns;
mod writer;

pub use cells::{CellKind, Cells};
pub use input::InputFile;
pub use npy::npy_bytes;
pub use npz::read_array;
pub use output::OutputFile;
pub use table_columns::columns_of;
pub use writer::{ColumnWriter, TableWriter};

use crate::{ColumnRoles, Error, Result, Schema, Source, Table};
use kinfolk::Inputs;
use std::path::Path;
use std::sync::Arc;

/// All formats, in the order of help texts.
static FORMATS: [&dyn FileFormat; 5] = [&csv::Csv, &parquet::Parquet, &npz::Npz, &npy::Npy, &svm::Svm];

/// A file format: how its files are named, read and written.
pub trait FileFormat: Sync {
    /// How its files end, without the dot; the first one is the usual one.
    fn extensions(&self) -> &'static [&'static str];

    /// Whether `.gz` may follow: then the file is compressed with gzip.
    fn may_be_gzipped(&self) -> bool {
        false
    }

    /// Whether files can say what is to be learned.
    fn holds_targets(&self) -> bool {
        true
    }

    /// Whether columns are named, and [`ColumnRoles`] must say what they mean.
    fn has_named_columns(&self) -> bool {
        false
    }

    /// Whether [`column_writer`](Self::column_writer) writes it.
    fn writes_columns(&self) -> bool {
        self.has_named_columns()
    }

    /// Opens a file for reading in chunks of rows.
    fn open(
        &self,
        input: &InputFile,
        columns: &ColumnRoles,
        schema: Option<&Schema>,
    ) -> Result<Box<dyn Source>>;

    /// `Err` if a table could not be read back from such a file.
    fn check(&self, table: &Table) -> Result<()> {
        match table.inputs {
            Inputs::Gram(_) => Err(cannot_hold("a Gram matrix")),
            _ => Ok(()),
        }
    }

    /// Writes a whole table that [`check`](Self::check) accepts: unless a format does it in its own way, as
    /// named columns.
    fn write_table(&self, table: &Table, to: OutputFile) -> Result<OutputFile> {
        table_columns::write(self, table, to)
    }

    /// Starts a file of columns whose rows come in chunks.
    fn column_writer(&self, _: OutputFile, _: &[(String, CellKind)]) -> Result<Box<dyn ColumnWriter>> {
        Err(Error::of_table(format!(
            "rows cannot be added to such a file; expected a name that ends in {}",
            list_formats(".", " or ", |format| format.writes_columns())
        )))
    }
}

/// The format of a file by the end of its name.
///
/// # Errors
/// If it is none of ours; then it says which there are.
pub fn format_of(path: &Path) -> Result<&'static dyn FileFormat> {
    format_and_compression(path).map(|(format, _)| format)
}

/// Names of the formats that satisfy a condition, for help texts: "csv, csv.gz, parquet or npz".
pub fn format_names(condition: impl Fn(&dyn FileFormat) -> bool) -> String {
    list_formats("", " or ", condition)
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
    let write = || {
        format.check(table)?;
        let output = format.write_table(table, OutputFile::create(path, gzipped)?)?;
        Ok(output.commit()?)
    };
    write().map_err(|error: Error| error.in_file(path))
}

fn open_input(
    path: &Path,
    bytes: Option<Arc<[u8]>>,
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<Box<dyn Source>> {
    let (format, gzipped) = format_and_compression(path)?;
    let source = format.open(&InputFile::new(path, bytes, gzipped), columns, schema);
    Ok(crate::source::checked(source.map_err(|error| error.in_file(path))?, path, schema))
}

/// The one place that looks at the ends of names.
fn format_and_compression(path: &Path) -> Result<(&'static dyn FileFormat, bool)> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (plain, gzipped) = match name.strip_suffix(".gz") {
        Some(plain) => (plain, true),
        None => (name.as_str(), false),
    };
    let extension = plain.rsplit_once('.').map_or("", |(_, extension)| extension);
    let fits = |format: &&&dyn FileFormat| {
        format.extensions().contains(&extension) && (format.may_be_gzipped() || !gzipped)
    };
    FORMATS.iter().find(fits).map(|&format| (format, gzipped)).ok_or_else(|| {
        let known = list_formats(".", " or ", |_| true);
        Error::new(path, format!("its kind is not known by its name; expected {known}"))
    })
}

fn list_formats(dot: &str, last: &str, condition: impl Fn(&dyn FileFormat) -> bool) -> String {
    let mut names = vec![];
    for format in FORMATS.iter().filter(|&&format| condition(format)) {
        let name = format.extensions()[0];
        names.push(format!("{dot}{name}"));
        names.extend(format.may_be_gzipped().then(|| format!("{dot}{name}.gz")));
    }
    match names.pop() {
        Some(end) if names.is_empty() => end,
        Some(end) => names.join(", ") + last + &end,
        None => String::new(),
    }
}

/// For [`FileFormat::check`].
pub(crate) fn cannot_hold(what: &str) -> Error {
    Error::of_table(format!("this format cannot hold {what}; write .npz"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_known_by_the_end_of_the_name() {
        let usual =
            |name: &str| format_and_compression(Path::new(name)).map(|(f, gz)| (f.extensions()[0], gz));
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
