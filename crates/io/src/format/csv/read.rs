//! A csv file, read in chunks.

use super::records::CsvRecords;
use crate::columns::cells::{self, ONE_HOT_VALUE, Reading, TableCell};
use crate::columns::{ColumnLayout, ColumnNames, ColumnUse, FirstPass, Precision, RowBuffer};
use crate::format::{InputFile, OpenResult};
use crate::{ChooseColumns, ColumnRoles, Error, Result, Schema, Source, Table, TextTable};
use std::borrow::Cow;

/// Names of columns take memory before any row is seen, so there is an end to them.
const MAX_COLUMNS: usize = 1 << 22;

/// A csv file, read in chunks.
pub(super) struct CsvSource {
    names: ColumnNames,
    layout: ColumnLayout,
    uses: Vec<(usize, ColumnUse)>,
    records: CsvRecords,
    n_rows: u64,
}

impl CsvSource {
    /// As the training file was read (`schema`) or as the caller says (`columns`).
    pub(super) fn open(input: &InputFile, columns: &ColumnRoles, schema: Option<&Schema>) -> OpenResult {
        let (mut records, names) = first_record(input)?;
        let mut layout = match schema {
            Some(schema) => ColumnLayout::for_prediction(&names, columns, schema)?,
            None => ColumnLayout::for_fitting(&names, columns)?,
        };
        if let Some(first_pass) = FirstPass::needed_for(&layout) {
            if !input.is_repeatable() {
                let why = "it is not a regular file, and has to be read twice: save it as a file first";
                return Err(Error::of_table(why));
            }
            read_through(&mut records, &names, first_pass)?.complete(&mut layout, &names)?;
            records = first_record(input)?.0;
        }
        Ok(Box::new(CsvSource { uses: layout.uses(), names, layout, records, n_rows: 0 }))
    }
}

impl Source for CsvSource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let max_rows = RowBuffer::at_most(max_rows, &self.layout);
        let mut rows = RowBuffer::default();
        while rows.n_rows() < max_rows && self.records.advance()? {
            check_width(&self.records, &self.names)?;
            let row = rows.n_rows();
            rows.grow(1, &self.layout);
            for &(column, column_use) in &self.uses {
                let name = self.names.name(column);
                rows.put(row, column_use, &TextCell(self.records.cell(column)), &self.layout, name)
                    .map_err(|error| error.at_line(self.records.line()).in_column(name))?;
            }
        }
        self.n_rows += rows.n_rows() as u64;
        match (rows.n_rows(), self.n_rows) {
            (0, 0) => Err(wrong!("there are no rows below the header")),
            (0, _) => Ok(None),
            _ => rows.finish(&self.layout, Precision::Double).map(Some),
        }
    }

    fn schema(&self) -> Schema {
        self.layout.schema().clone()
    }
}

/// Opens the file and reads the names of its columns.
fn first_record(input: &InputFile) -> Result<(CsvRecords, ColumnNames)> {
    let mut records = CsvRecords::new(input.text()?)?;
    if !records.advance()? {
        return Err(wrong!("it is empty; the first line must name the columns"));
    }
    let names = column_names(&records).map_err(|error| error.at_line(records.line()))?;
    Ok((records, names))
}

/// Some columns as texts. A column may have no name, such as one of row names.
pub(super) fn texts(input: &InputFile, choose: &ChooseColumns<'_>) -> Result<TextTable> {
    let mut records = CsvRecords::new(input.text()?)?;
    if !records.advance()? {
        return Err(wrong!("it is empty; the first line must name the columns"));
    }
    let text = |records: &CsvRecords, i| {
        let text = TextCell(records.cell(i)).text().map(Cow::into_owned);
        text.map_err(|error| error.at_line(records.line()))
    };
    let n = records.len();
    let names = (0..n.min(MAX_COLUMNS)).map(|i| text(&records, i)).collect::<Result<Vec<_>>>()?;
    let chosen = choose(&names)?;
    let columns = chosen.iter().map(|&i| names[i].clone()).collect();
    let mut table = TextTable { columns, ..TextTable::default() };
    while records.advance()? {
        if records.len() != n {
            let why = wrong!("there are {} cells, and the header has {n}", records.len());
            return Err(why.at_line(records.line()));
        }
        table.rows.push(chosen.iter().map(|&i| text(&records, i)).collect::<Result<_>>()?);
        table.lines.push(records.line());
    }
    Ok(table)
}

fn column_names(records: &CsvRecords) -> Result<ColumnNames> {
    let n = records.len();
    if n > MAX_COLUMNS {
        return Err(wrong!("there are {n} columns; at most {MAX_COLUMNS} can be read"));
    }
    let name = |i| TextCell(records.cell(i)).text().map(Cow::into_owned);
    let names = (0..n).map(name).collect::<Result<Vec<_>>>()?;
    // Integers may be names, and often are: those of the columns of an array.
    let is_number = |name: &String| name.trim().parse::<f64>().is_ok();
    let is_integer = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    if names.iter().all(is_number) && !names.iter().all(is_integer) {
        return Err(wrong!("the first line holds numbers; it must name the columns"));
    }
    ColumnNames::new(names)
}

fn read_through(records: &mut CsvRecords, names: &ColumnNames, mut pass: FirstPass) -> Result<FirstPass> {
    let (one_hot, label) = (pass.one_hot_columns(), pass.label_column());
    while records.advance()? {
        check_width(records, names)?;
        let line = records.line();
        let at = |column: usize| move |error: Error| error.at_line(line).in_column(names.name(column));
        for (i, &column) in one_hot.iter().enumerate() {
            let cell = TextCell(records.cell(column));
            let value = cell.name(ONE_HOT_VALUE);
            value.and_then(|value| pass.value(i, &value)).map_err(at(column))?;
        }
        if let Some(column) = label {
            pass.label(line, &TextCell(records.cell(column)).text().map_err(at(column))?);
        }
    }
    Ok(pass)
}

/// Every record has as many cells as the header.
fn check_width(record: &CsvRecords, names: &ColumnNames) -> Result<()> {
    let (n, expected) = (record.len(), names.len());
    if n == expected {
        return Ok(());
    }
    let quote = if record.has_line_ends() { " (is a quote on this line not closed?)" } else { "" };
    Err(wrong!("there are {n} cells, and the header has {expected}{quote}").at_line(record.line()))
}

/// The bytes of a cell, without its quotes.
struct TextCell<'a>(&'a [u8]);

impl TableCell for TextCell<'_> {
    fn number(&self) -> Reading {
        cells::number_in(self.0)
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        cells::text_in(self.0)
    }
}
