//! A csv file, read from top to bottom.

use super::records::CsvRecords;
use super::titles;
use crate::columns::cells::{self, Reading, TableCell};
use crate::columns::{ColumnCursor, ColumnNames, ColumnType, RowPlace, VisitCell};
use crate::format::{Encoding, InputFile, OpenCursorResult};
use crate::{Decimal, Hint, Result};
use std::borrow::Cow;
use std::collections::HashSet;

/// Names of columns take memory before any row is seen, so there is an end to them.
const MAX_COLUMNS: usize = 1 << 22;

/// Rows that are looked at for one cell more than the header has.
const MOST_ROWS: usize = 100;

/// Where the header is, and how it is meant.
#[derive(Clone, Copy)]
struct HeaderPlace {
    /// Lines above it.
    above: u64,
    /// Whether lines begin with the name of a row, for which the header has no name, as those of R's `write.table` do.
    has_row_names: bool,
}

/// A csv file.
pub(super) struct CsvCursor {
    input: InputFile,
    encoding: Encoding,
    names: ColumnNames,
    records: CsvRecords,
    header: HeaderPlace,
    is_at_first_row: bool,
    empty_rows: u64,
}

impl CsvCursor {
    pub(super) fn open(input: &InputFile) -> OpenCursorResult {
        // A pipe can be read only once.
        let encoding = match input.is_repeatable() {
            true => Encoding::of(input.text()?).unwrap_or(Encoding::Utf8),
            false => Encoding::Utf8,
        };
        let above = match input.skip_lines {
            Some(lines) => lines,
            None if input.is_repeatable() => titles::lines_above_header(&|behind, delimiter| {
                CsvRecords::new(encoding.decoded(input.text()?), behind, delimiter)
            }),
            None => 0,
        };
        let mut header = HeaderPlace { above, has_row_names: false };
        if input.is_repeatable() {
            let (mut records, names) = first_record(input, encoding, header)?;
            header.has_row_names = have_row_names(&mut records, names.len());
        }
        let (records, names) = first_record(input, encoding, header)?;
        if names.len() == 1 && input.is_repeatable() {
            let (mut records, _) = first_record(input, encoding, header)?;
            if records.advance()? {
                check_width(&records, &names, true)?;
            }
        }
        let (input, empty_rows, is_at_first_row) = (input.clone(), 0, true);
        Ok(Box::new(CsvCursor { input, encoding, names, records, header, is_at_first_row, empty_rows }))
    }
}

impl ColumnCursor for CsvCursor {
    fn names(&self) -> &ColumnNames {
        &self.names
    }

    fn column_type(&self, _: usize) -> ColumnType {
        ColumnType::Unknown
    }

    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize> {
        for row in 0..most {
            loop {
                if !self.records.advance()? {
                    return Ok(row);
                }
                // Spreadsheets write such rows below a table.
                if !self.records.is_empty() {
                    break;
                }
                self.empty_rows += 1;
            }
            check_width(&self.records, &self.names, self.is_at_first_row)?;
            self.is_at_first_row = false;
            let place = RowPlace::Line(self.records.line());
            for (i, &column) in columns.iter().enumerate() {
                visit(&TextCell(self.records.cell(column)), i, row, place)?;
            }
        }
        Ok(most)
    }

    fn rewind(&mut self) -> Result<()> {
        self.records = first_record(&self.input, self.encoding, self.header)?.0;
        (self.empty_rows, self.is_at_first_row) = (0, true);
        Ok(())
    }

    fn may_have_decimal_commas(&self) -> bool {
        matches!(self.records.delimiter(), b';' | b'\t' | b' ')
    }

    fn empty_rows(&self) -> u64 {
        self.empty_rows
    }

    fn remark(&self) -> Option<String> {
        let above = (self.header.above > 0).then(|| {
            let header = self.header.above + 1;
            format!("the header is line {header} of the text: what is above it is left out")
        });
        let row_names = self.header.has_row_names.then(|| {
            "lines have one cell more than the header: the first is the name of a row, and left out"
                .to_string()
        });
        let all: Vec<String> = self.encoding.remark().into_iter().chain(above).chain(row_names).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// Whether the rows that follow have one cell more than the header and begin with names or whole numbers, each another.
/// A last cell that is empty in all of them is a delimiter at the end of the line, and numbers with a decimal comma
/// would be cut in two.
fn have_row_names(records: &mut CsvRecords, names: usize) -> bool {
    let (mut seen, mut has_end) = (HashSet::new(), false);
    while seen.len() < MOST_ROWS {
        match records.advance() {
            Ok(true) if records.is_empty() => continue,
            Ok(true) => {}
            Ok(false) => break,
            Err(_) => return false,
        }
        let is_blank = |i: usize| records.cell(i).iter().all(u8::is_ascii_whitespace);
        if records.len() != names + 1 || records.has_line_ends() || is_blank(0) {
            return false;
        }
        let name = records.cell(0);
        let is_name =
            name.iter().all(u8::is_ascii_digit) || cells::number_in(name, Decimal::Point) == Reading::Word;
        if !is_name || !seen.insert(name.to_vec()) {
            return false;
        }
        has_end |= !is_blank(names);
    }
    has_end
}

/// Opens the file and reads the names of its columns.
fn first_record(
    input: &InputFile,
    encoding: Encoding,
    header: HeaderPlace,
) -> Result<(CsvRecords, ColumnNames)> {
    let mut records = CsvRecords::new(encoding.decoded(input.text()?), header.above, None)?;
    if !records.advance()? {
        return Err(wrong!("it is empty; the first line must name the columns"));
    }
    let names = column_names(&records, header.has_row_names);
    let names = names.map_err(|error| error.at_line(records.line()))?;
    Ok((records, names))
}

fn column_names(records: &CsvRecords, has_row_names: bool) -> Result<ColumnNames> {
    let n = records.len();
    if n > MAX_COLUMNS {
        return Err(wrong!("there are {n} columns; at most {MAX_COLUMNS} can be read"));
    }
    let name = |i| TextCell(records.cell(i)).text().map(Cow::into_owned);
    let names = (0..n).map(name).collect::<Result<Vec<_>>>()?;
    if names.iter().any(|name| name.contains('\0')) {
        return Err(wrong!("it has zero bytes, as UTF-16 without a byte order mark has; write it as UTF-8"));
    }
    // Integers may be names, and often are: those of the columns of an array.
    let is_number = |name: &String| name.trim().parse::<f64>().is_ok();
    let is_integer = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    if names.iter().all(is_number) && !names.iter().all(is_integer) {
        return Err(wrong!("the first line holds numbers; it must name the columns"));
    }
    ColumnNames::of_file(has_row_names.then(String::new).into_iter().chain(names).collect())
}

/// Every record has as many cells as the header. What is above a header may be taken for it until the first row.
fn check_width(record: &CsvRecords, names: &ColumnNames, is_first_row: bool) -> Result<()> {
    let (n, expected) = (record.len(), names.len());
    if n == expected {
        return Ok(());
    }
    let why = match () {
        _ if record.has_line_ends() => " (is a quote on this line not closed?)",
        _ if n == expected + 1 && record.line() == 2 => {
            "; if lines begin with the name of a row, as those of R's write.table do, give it a name in the first line"
        }
        _ => "",
    };
    let error = wrong!("there are {n} cells, and the header has {expected}{why}").at_line(record.line());
    // A name of the table, or a date, as programs write it above what they export.
    Err(if is_first_row && n > expected { error.hint(Hint::SkipLines) } else { error })
}

/// The bytes of a cell, without its quotes.
struct TextCell<'a>(&'a [u8]);

impl TableCell for TextCell<'_> {
    fn number(&self, decimal: Decimal) -> Reading {
        cells::number_in(self.0, decimal)
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        cells::text_in(self.0)
    }
}
