//! Lines above the header, as exports of reports have them: a title, a date, blank lines.
//!
//! A genuine header must never be taken for a title. So nothing is left out of a file that can be read as it is, and of
//! others only lines with fewer cells than the table, if what follows them looks like a header: words above numbers.

use super::records::CsvRecords;
use crate::columns::cells::{Reading, is_missing_word, number_in};
use crate::{Decimal, Result};

/// Most lines above a header that are looked at.
const MOST_LINES: u64 = 20;
/// Rows that are looked at.
const MOST_ROWS: usize = 100;

/// Opens the file behind so many lines, with a delimiter if it is known.
pub(super) type OpenBehind<'a> = dyn Fn(u64, Option<u8>) -> Result<CsvRecords> + 'a;

/// How many lines are above the header.
pub(super) fn lines_above_header(open: &OpenBehind<'_>) -> u64 {
    // What is wrong is for the reader to say.
    let Some(whole) = Look::at(open, 0) else { return 0 };
    if whole.is_rectangle && whole.blanks_in_header < 2 {
        return 0;
    }
    let is_header = |lines: &u64| {
        Look::at(open, *lines).is_some_and(|look| {
            look.line == lines + 1 && look.is_table() && are_titles(open, *lines, &look).unwrap_or(false)
        })
    };
    (1..=MOST_LINES).find(is_header).unwrap_or(0)
}

/// What the first rows of a table look like.
struct Look {
    /// The line of its header.
    line: u64,
    delimiter: u8,
    width: usize,
    blanks_in_header: usize,
    /// Whether all names are words: none is blank, a number or a missing value.
    has_names: bool,
    /// Whether all rows have as many cells as the header.
    is_rectangle: bool,
    /// Whether some column has nothing but numbers below its name.
    has_numbers: bool,
}

impl Look {
    /// `None` if it cannot be read, or has no rows.
    fn at(open: &OpenBehind<'_>, lines: u64) -> Option<Self> {
        let mut records = open(lines, None).ok()?;
        records.advance().ok().filter(|there_is_one| *there_is_one)?;
        let (line, delimiter, width) = (records.line(), records.delimiter(), records.len());
        let is_name = |cell: &[u8]| {
            let is_missing = std::str::from_utf8(cell).is_ok_and(is_missing_word);
            !is_blank(cell) && !is_missing && number(cell) == Reading::Word
        };
        let blanks_in_header = (0..width).filter(|&i| is_blank(records.cell(i))).count();
        let has_names = (0..width).all(|i| is_name(records.cell(i)));
        let (mut are_numbers, mut rows, mut is_rectangle) = (vec![true; width], 0, true);
        let mut seen = vec![false; width];
        while rows < MOST_ROWS && is_rectangle && records.advance().ok()? {
            if records.is_empty() {
                continue;
            }
            rows += 1;
            is_rectangle = records.len() == width;
            for i in 0..width.min(records.len()) {
                match number(records.cell(i)) {
                    Reading::Missing => {}
                    Reading::Number(_) => seen[i] = true,
                    Reading::NotFinite | Reading::Word => are_numbers[i] = false,
                }
            }
        }
        let has_numbers = are_numbers.iter().zip(seen).any(|(all, some)| *all && some);
        let look = Look { line, delimiter, width, blanks_in_header, has_names, is_rectangle, has_numbers };
        (rows > 0).then_some(look)
    }

    fn is_table(&self) -> bool {
        self.width > 1 && self.is_rectangle && self.has_names && self.has_numbers
    }
}

/// Whether the lines above a table have fewer cells than the table; blank ones at the end of a line do not count. The
/// first has one cell, or two less than the table: a header that lacks one is that of rows with names.
fn are_titles(open: &OpenBehind<'_>, lines: u64, table: &Look) -> Result<bool> {
    let mut records = open(0, Some(table.delimiter))?;
    let mut is_first = true;
    let mut above = TableAbove::default();
    while records.advance()? {
        if records.line() > lines {
            // A quote that is not closed would have taken the header.
            return Ok(records.line() == table.line && !above.is_table());
        }
        above.add(&records);
        let filled = (0..records.len()).filter(|&i| !is_blank(records.cell(i))).count();
        let at_start = (0..filled).all(|i| !is_blank(records.cell(i)));
        let is_padded = records.len() >= table.width;
        let is_title = match is_first {
            true => filled == 1 && !(is_padded && table.width == 2) || filled + 2 <= table.width,
            false => filled < table.width,
        };
        if filled > 0 && !(at_start && is_title) {
            return Ok(false);
        }
        is_first &= filled == 0;
    }
    Ok(false)
}

/// Lines above a table that may be a table of their own.
#[derive(Default)]
struct TableAbove {
    width: usize,
    rows: usize,
    /// Columns that have had numbers alone below their first cell.
    are_numbers: Vec<bool>,
    differ: bool,
}

impl TableAbove {
    /// Title lines with as many cells and a column of numbers are rarely more than these, a header among them.
    const MOST_ROWS_OF_TITLES: usize = 3;

    fn add(&mut self, record: &CsvRecords) {
        let width = (0..record.len()).rev().find(|&i| !is_blank(record.cell(i))).map_or(0, |last| last + 1);
        if width == 0 {
            return;
        }
        if self.rows == 0 {
            (self.width, self.are_numbers) = (width, vec![true; width]);
        } else {
            self.differ |= width != self.width;
            let cells = self.are_numbers.iter_mut().enumerate().take(width);
            cells.for_each(|(i, all)| *all &= matches!(number(record.cell(i)), Reading::Number(_)));
        }
        self.rows += 1;
    }

    fn is_table(&self) -> bool {
        self.width > 1
            && self.rows > Self::MOST_ROWS_OF_TITLES
            && !self.differ
            && self.are_numbers.contains(&true)
    }
}

fn number(cell: &[u8]) -> Reading {
    match number_in(cell, Decimal::Point) {
        Reading::Word => number_in(cell, Decimal::Comma),
        other => other,
    }
}

fn is_blank(cell: &[u8]) -> bool {
    cell.iter().all(u8::is_ascii_whitespace)
}
