//! File formats: one table of all of them, one way in ([`open`]) and one way out ([`write_table`],
//! [`TableWriter`]).
//!
//! To add a format: write a folder with its [`FileFormat`], and name it in [`FORMATS`].
//! Help texts and messages that list formats are made from the table.

#[cfg_attr(not(feature = "parquet"), path = "no_arrow.rs")]
mod arrow;
mod cells;
mod compression;
mod csv;
mod encoding;
mod input;
mod jsonl;
#[cfg(feature = "parquet")]
mod no_panic;
mod npy;
mod npz;
mod output;
#[cfg_attr(not(feature = "parquet"), path = "no_parquet.rs")]
mod parquet;
mod svm;
mod table_columns;
mod unpacked;
mod writer;

pub use cells::{CellKind, Cells};
use compression::Compression;
pub(crate) use encoding::Encoding;
pub(crate) use input::InputFile;
pub use npy::npy_bytes;
pub use npz::read_array;
pub(crate) use output::OutputFile;
pub use table_columns::{columns_as, columns_of};
pub(crate) use writer::ColumnWriter;
pub use writer::TableWriter;

use crate::columns::{self, ColumnCursor, NamedCursor};
use crate::{
    ChooseColumns, ColumnRoles, Error, FileProfile, LookThrough, Result, Schema, Source, Table, TextTable,
};
use kinfolk::Inputs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of a file without a name that are looked at.
const SNIFFED_BYTES: u64 = 1 << 16;

/// All formats, in the order of help texts.
static FORMATS: [FileFormat; 7] =
    [csv::FORMAT, jsonl::FORMAT, parquet::FORMAT, arrow::FORMAT, npz::FORMAT, npy::FORMAT, svm::FORMAT];

/// Opens a file for reading in chunks of rows.
type Open = fn(&InputFile, &ColumnRoles, Option<&Schema>) -> OpenResult;
/// What [`Open`] returns.
pub(crate) type OpenResult = Result<Box<dyn Source>>;
/// Opens a file of named columns.
type OpenCursor = fn(&InputFile) -> OpenCursorResult;
/// What [`OpenCursor`] returns.
pub(crate) type OpenCursorResult = Result<Box<dyn ColumnCursor>>;

/// How a format is read.
enum Reader {
    /// Arrays, whose names or places say what they are.
    Arrays(Open),
    /// Named columns.
    Columns(OpenCursor),
}

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
    /// Whether `.gz`, `.zst` or `.bz2` may follow: then the file is compressed.
    may_be_compressed: bool,
    /// Whether files can say what is to be learned.
    pub holds_targets: bool,
    /// Whether columns are named, and [`ColumnRoles`] must say what they mean.
    pub has_named_columns: bool,
    /// Whether files can hold a Gram matrix.
    holds_gram: bool,
    reader: Reader,
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

    /// Whether it is text with separators, in which numbers have a decimal sign.
    pub fn is_csv(&self) -> bool {
        self.extensions == csv::FORMAT.extensions
    }

    /// Starts a file of columns.
    fn start_columns(&self, to: OutputFile, columns: &[(String, CellKind)]) -> CreateResult {
        let start = self.columns.ok_or_else(|| {
            let names = list_formats(".", FileFormat::writes_columns, WRITTEN);
            wrong!("rows cannot be added to such a file; expected a name that ends in {names}")
        })?;
        start(to, columns)
    }

    fn write(
        &self,
        (table, names): (&Table, &ColumnRoles),
        path: &Path,
        compression: Compression,
    ) -> Result<()> {
        if matches!(table.inputs, Inputs::Gram(_)) && !self.holds_gram {
            return Err(cannot_hold("a Gram matrix"));
        }
        (self.check)(table)?;
        let to = OutputFile::create(path, compression)?;
        let written = match self.write_table {
            Some(write) => write(table, to)?,
            None => table_columns::write(self, (table, names), to)?,
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

impl FileFormat {
    /// Whether zeros are not written.
    pub fn is_sparse(&self) -> bool {
        self.extensions == svm::FORMAT.extensions
    }
}

/// Names of the formats that satisfy a condition, for help texts: "csv, parquet or npz".
pub fn format_names(condition: impl Fn(&FileFormat) -> bool) -> String {
    list_formats("", condition, READ)
}

/// The same for files that are written.
pub fn output_format_names(condition: impl Fn(&FileFormat) -> bool) -> String {
    list_formats("", condition, WRITTEN)
}

/// Ends of names of compressed files that can be read, and of those that can be written.
const READ: &str = ".gz, .bz2 or .zst";
const WRITTEN: &str = ".gz or .bz2";

/// Opens a file for reading in chunks.
///
/// With a `schema` it is read as the training file was: chunks have the features of the schema, stored as it
/// says. What `columns` says goes before what the schema says, so leave it empty if nothing is different.
/// Without a schema, chunks come as the format has them, and [`read`](crate::read) decides how they are
/// stored.
pub fn open(path: &Path, columns: &ColumnRoles, schema: Option<&Schema>) -> Result<Box<dyn Source>> {
    open_inputs(&[input_file(path, columns, schema.is_none())?], columns, schema, LookThrough::All)
}

/// [`open`] of several files, one after the other, as if they were one.
pub fn open_all(
    paths: &[PathBuf],
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<Box<dyn Source>> {
    let inputs =
        paths.iter().map(|path| input_file(path, columns, schema.is_none())).collect::<Result<Vec<_>>>()?;
    open_inputs(&inputs, columns, schema, LookThrough::All)
}

/// [`open_all`] for a fit, where not all rows need be looked at before.
///
/// # Errors
/// As of [`open_all`].
pub fn open_looking(paths: &[PathBuf], columns: &ColumnRoles, look: LookThrough) -> Result<Box<dyn Source>> {
    let inputs = paths.iter().map(|path| input_file(path, columns, true)).collect::<Result<Vec<_>>>()?;
    open_inputs(&inputs, columns, None, look)
}

/// Opens files whose labels matter and nothing else: where the types of columns say what labels are, rows have one
/// feature that is 0, and no other column is read. `None` for other files.
///
/// # Errors
/// As of [`open_all`].
pub fn open_labels(paths: &[PathBuf], columns: &ColumnRoles) -> Result<Option<Box<dyn Source>>> {
    let Some(cursors) = open_cursors(paths, columns)? else { return Ok(None) };
    let Some(sources) = columns::open_labels(cursors, columns)? else { return Ok(None) };
    let checked = |(source, path): (Box<dyn Source>, &PathBuf)| crate::source::checked(source, path, None);
    Ok(Some(crate::source::chained(sources.into_iter().zip(paths).map(checked).collect(), true)))
}

/// [`open`] of a file in memory; `path` gives the format, and its name in messages.
pub fn open_bytes(
    path: &Path,
    bytes: &[u8],
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<Box<dyn Source>> {
    let (format, compression) = format_and_compression(path)?;
    let input = InputFile::new(path, Some(bytes.into()), compression);
    let input = input.with_lines_above(columns.skip_lines);
    open_inputs(&[(format, input)], columns, schema, LookThrough::All)
}

/// Reads some columns of a file of named columns as texts. The file should be small: it is read as a whole.
///
/// # Errors
/// If it cannot be read, or its columns have no names.
pub fn read_texts(path: &Path, choose: &ChooseColumns<'_>) -> Result<TextTable> {
    let (format, input) = input_file(path, &ColumnRoles::default(), false)?;
    let Reader::Columns(open) = format.reader else {
        let known = list_formats(".", |format| matches!(format.reader, Reader::Columns(_)), READ);
        return Err(Error::new(path, format!("it has no names; expected {known}")));
    };
    let read = open_columns(open, &input).and_then(|mut cursor| columns::texts(&mut *cursor, choose));
    read.map_err(|error| error.in_file(path))
}

/// What is in the columns of files, and what they would be used for; `None` if one has no named columns.
///
/// # Errors
/// If one cannot be read.
pub fn profile(paths: &[PathBuf], columns: &ColumnRoles) -> Result<Option<FileProfile>> {
    match open_cursors(paths, columns)? {
        Some(mut cursors) => columns::profile(&mut cursors, columns),
        None => Ok(None),
    }
}

/// Files of named columns; `None` if one has none.
fn open_cursors(paths: &[PathBuf], columns: &ColumnRoles) -> Result<Option<Vec<NamedCursor>>> {
    let mut cursors = vec![];
    for path in paths {
        let (format, input) = input_file(path, columns, true)?;
        let Reader::Columns(open) = format.reader else { return Ok(None) };
        let cursor = open_columns(open, &input).map_err(|error| error.in_file(&input.path))?;
        cursors.push((input.path.clone(), cursor));
    }
    Ok(Some(cursors))
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
    write_table_as(table, path, &ColumnRoles::default())
}

/// The same with names for the columns of tasks, targets, weights, offsets and parts, where the format has names.
///
/// # Errors
/// As of [`write_table`].
pub fn write_table_as(table: &Table, path: &Path, names: &ColumnRoles) -> Result<()> {
    let (format, compression) = format_and_compression(path)?;
    format.write((table, names), path, compression).map_err(|error| error.in_file(path))
}

/// A file with its format. Standard input and pipes are read into memory, at least where they are read twice.
fn input_file(path: &Path, columns: &ColumnRoles, twice: bool) -> Result<(&'static FileFormat, InputFile)> {
    let in_file = |error: std::io::Error| Error::new(path, error);
    let file = |path: &Path, bytes, compression| {
        InputFile::new(path, bytes, compression).with_lines_above(columns.skip_lines)
    };
    if path == Path::new("-") {
        let bytes = standard_input().map_err(|error| Error::new("stdin", error))?;
        let (format, compression) = format_of_bytes(&bytes);
        return Ok((format, file(Path::new("stdin"), Some(bytes), compression)));
    }
    let (format, compression) = format_and_compression(path)?;
    let input = file(path, None, compression);
    if !twice || input.is_repeatable() || !path.exists() || path.is_dir() {
        return Ok((format, input));
    }
    let bytes = std::fs::read(path).map_err(in_file)?;
    Ok((format, file(path, Some(bytes.into()), compression)))
}

/// All of standard input. It can be read only once, so it is kept for those who ask again.
fn standard_input() -> std::io::Result<Arc<[u8]>> {
    static BYTES: Mutex<Option<Arc<[u8]>>> = Mutex::new(None);
    let mut kept = BYTES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bytes) = &*kept {
        return Ok(Arc::clone(bytes));
    }
    let mut bytes = vec![];
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(Arc::clone(kept.insert(bytes.into())))
}

/// A file of named columns, with its lists as columns of numbers, and with the columns that are in its path.
fn open_columns(open: OpenCursor, input: &InputFile) -> OpenCursorResult {
    columns::with_partitions(columns::with_lists_as_columns(open(input)?)?, &input.path)
}

fn open_inputs(
    inputs: &[(&'static FileFormat, InputFile)],
    columns: &ColumnRoles,
    schema: Option<&Schema>,
    look: LookThrough,
) -> OpenResult {
    let (mut sources, mut cursors) = (vec![], vec![]);
    for (format, input) in inputs {
        let in_file = |error: Error| error.in_file(&input.path);
        match format.reader {
            Reader::Arrays(open) => sources.push(open(input, columns, schema).map_err(in_file)?),
            Reader::Columns(open) => {
                cursors.push((input.path.clone(), open_columns(open, input).map_err(in_file)?));
            }
        }
    }
    if !sources.is_empty() && !cursors.is_empty() {
        return Err(wrong!("some of the files have named columns and others have not; give one kind"));
    }
    sources.extend(columns::open(cursors, columns, schema, look)?);
    let checked = |(source, (_, input)): (Box<dyn Source>, &(_, InputFile))| {
        crate::source::checked(source, &input.path, schema)
    };
    let mut sources: Vec<Box<dyn Source>> = sources.into_iter().zip(inputs).map(checked).collect();
    match sources.len() {
        0 => Err(wrong!("there are no files")),
        1 => Ok(sources.remove(0)),
        _ => Ok(crate::source::chained(sources, schema.is_none())),
    }
}

/// The one place that looks at the ends of names.
fn format_and_compression(path: &Path) -> Result<(&'static FileFormat, Compression)> {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let (plain, compression) = Compression::of_name(&name);
    let extension = plain.rsplit_once('.').map_or("", |(_, extension)| extension);
    let fits = |format: &&FileFormat| {
        let compressed = compression != Compression::None;
        format.extensions.contains(&extension) && (format.may_be_compressed || !compressed)
    };
    FORMATS.iter().find(fits).map(|format| (format, compression)).ok_or_else(|| {
        let known = list_formats(".", |_| true, READ);
        Error::new(path, format!("its kind is not known by its name; expected {known}"))
    })
}

/// The format of a file without a name, by how it begins: csv unless it is something else.
fn format_of_bytes(bytes: &[u8]) -> (&'static FileFormat, Compression) {
    let compression = Compression::of_bytes(bytes);
    let mut first = vec![];
    let text = InputFile::new(Path::new(""), Some(bytes.into()), compression).text();
    // What cannot be decompressed is for the reader to refuse.
    let _ = text.map(|text| text.take(SNIFFED_BYTES).read_to_end(&mut first));
    let extension = match &*first {
        [b'P', b'A', b'R', b'1', ..] => "parquet",
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] => "arrow",
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => "npy",
        [b'P', b'K', 3, 4, ..] => "npz",
        [b'{', ..] => "jsonl",
        text if svm::looks_like(text) => "svm",
        _ => "csv",
    };
    let format = FORMATS.iter().find(|format| format.extensions.contains(&extension));
    (format.unwrap_or(&csv::FORMAT), compression)
}

/// All names of these formats, and which of them may be compressed.
fn list_formats(dot: &str, condition: impl Fn(&FileFormat) -> bool, compressed: &str) -> String {
    let formats = || FORMATS.iter().filter(|format| condition(format));
    let mut names: Vec<String> =
        formats().flat_map(|format| format.extensions).map(|name| format!("{dot}{name}")).collect();
    let texts: Vec<&str> =
        formats().filter(|format| format.may_be_compressed).map(|format| format.extensions[0]).collect();
    let all = match names.pop() {
        Some(end) if names.is_empty() => end,
        Some(end) => names.join(", ") + " or " + &end,
        None => return String::new(),
    };
    match texts.is_empty() {
        true => all,
        false => format!("{all}; texts also with {compressed}"),
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
        assert_eq!(usual("a/b.npz").unwrap(), ("npz", Compression::None));
        assert_eq!(usual("b.x.NPY").unwrap(), ("npy", Compression::None));
        assert_eq!(usual("b.csv.gz").unwrap(), ("csv", Compression::Gzip));
        assert_eq!(usual("b.libsvm.GZ").unwrap(), ("svm", Compression::Gzip));
        for name in ["b", "b.npz.gz", "b.doc", "npz", "", "b.gz"] {
            let error = usual(name).unwrap_err().to_string();
            let known = "expected .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .arrow, .feather, .ipc, .npz, .npy, \
                         .svm, .svmlight or .libsvm; texts also with .gz, .bz2 or .zst";
            assert!(error.ends_with(known), "{name}: {error}");
        }
    }

    #[test]
    fn help_texts_list_what_the_table_has() {
        assert_eq!(
            format_names(|_| true),
            "csv, tsv, txt, jsonl, ndjson, parquet, arrow, feather, ipc, npz, npy, svm, svmlight or libsvm; texts also \
             with .gz, .bz2 or .zst"
        );
        assert_eq!(
            output_format_names(|format| format.writes_columns()),
            "csv, tsv, txt, jsonl, ndjson, parquet, arrow, feather, ipc or npy; texts also with .gz or .bz2"
        );
    }
}
