//! `.csv` and `.csv.gz`: text, one row per line, names of columns in the first.
//!
//! Cells are separated by commas, or by semicolons or tabs where those cut the first line into more columns. Quotes are
//! as everybody writes them (RFC 4180), lines end in `\n`, `\r\n` or `\r`, empty ones are skipped, and the text is UTF-8,
//! with or without a byte order mark. Numbers have a decimal point and are read in double precision.
//!
//! Reading for fitting goes through the file twice if the values of one-hot columns, or the kind of the labels, have to be
//! found out; memory holds a chunk of rows, however large the file is.

mod bytes;
mod records;
mod row;

use crate::named::{Header, Layout, Precision, Rows, Survey};
use crate::{Columns, Error, Recipe, Result, Source, Table};
use bytes::Bytes;
use records::Records;
use std::path::Path;

/// Names of columns take memory before any row is seen, so there is an end to them.
const MOST_COLUMNS: usize = 1 << 22;

/// A csv file, read in chunks.
pub struct CsvSource {
    header: Header,
    layout: Layout,
    records: Records,
    n_rows: u64,
}

impl CsvSource {
    /// Opens a file: as it was first read (`recipe`) or as the caller says (`columns`). A name that ends in `.gz` is
    /// decompressed.
    pub fn open(path: &Path, columns: &Columns, recipe: Option<&Recipe>) -> Result<Self> {
        CsvSource::of(&Bytes::File(path.to_path_buf()), columns, recipe)
    }

    /// The same for bytes in memory; `path` is what messages call them.
    pub fn from_bytes(path: &Path, bytes: &[u8], columns: &Columns, recipe: Option<&Recipe>) -> Result<Self> {
        CsvSource::of(&Bytes::Memory(path.to_path_buf(), bytes.into()), columns, recipe)
    }

    fn of(bytes: &Bytes, columns: &Columns, recipe: Option<&Recipe>) -> Result<Self> {
        let (mut records, header) = first_record(bytes)?;
        let mut layout = match recipe {
            Some(recipe) => Layout::for_prediction(&header, columns, recipe)?,
            None => Layout::for_fitting(&header, columns)?,
        };
        if let Some(survey) = Survey::of(&layout) {
            if !bytes.is_repeatable() {
                let why = "is not a regular file, and has to be read twice: save it as a file first";
                return Err(Error::new(bytes.path(), why));
            }
            read_through(&mut records, &header, survey)?.settle(&mut layout, &header)?;
            records = first_record(bytes)?.0;
        }
        Ok(CsvSource { header, layout, records, n_rows: 0 })
    }
}

impl Source for CsvSource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let max_rows = Rows::at_most(max_rows, &self.layout);
        let mut rows = Rows::new();
        while rows.n < max_rows && self.records.advance()? {
            row::check_width(&self.records, &self.header)?;
            row::push(&mut rows, &self.records, &self.layout, &self.header)?;
        }
        self.n_rows += rows.n as u64;
        match (rows.n, self.n_rows) {
            (0, 0) => Err(Error::new(self.header.path(), "there are no rows below the header")),
            (0, _) => Ok(None),
            _ => rows.finish(&self.layout, Precision::Double, self.header.path()).map(Some),
        }
    }

    fn recipe(&self) -> Recipe {
        self.layout.recipe().clone()
    }
}

/// Opens the file and reads the names of its columns.
fn first_record(bytes: &Bytes) -> Result<(Records, Header)> {
    let path = bytes.path();
    let mut records = Records::open(bytes)?;
    if !records.advance()? {
        return Err(Error::new(path, "is empty; the first line must name the columns"));
    }
    if records.len() > MOST_COLUMNS {
        let why = format!("there are {} columns; at most {MOST_COLUMNS} can be read", records.len());
        return Err(Error::new(path, why).at_line(records.line()));
    }
    let name = |i| row::text(&records, i).map_err(|why| Error::new(path, why).at_line(records.line()));
    let names = (0..records.len()).map(|i| name(i).map(str::to_string)).collect::<Result<Vec<_>>>()?;
    // Integers may be names, and often are: those of the columns of an array.
    let is_number = |name: &String| name.trim().parse::<f64>().is_ok();
    let is_integer = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    if names.iter().all(is_number) && !names.iter().all(is_integer) {
        let why = "the first line holds numbers; it must name the columns";
        return Err(Error::new(path, why).at_line(records.line()));
    }
    let header = Header::new(path, names).map_err(|error| error.at_line(records.line()))?;
    Ok((records, header))
}

fn read_through(records: &mut Records, header: &Header, mut survey: Survey) -> Result<Survey> {
    let (one_hot, label) = (survey.one_hot_columns(), survey.label_column());
    while records.advance()? {
        row::check_width(records, header)?;
        for (i, &column) in one_hot.iter().enumerate() {
            row::value(records, column)
                .and_then(|value| survey.value(i, value))
                .map_err(|why| row::wrong(records, header, column, why))?;
        }
        if let Some(column) = label {
            let text = row::text(records, column).map_err(|why| row::wrong(records, header, column, why))?;
            survey.label(records.line(), text);
        }
    }
    Ok(survey)
}
