//! What a format of named columns has to offer: everything else is the same for all of them.

use super::ColumnNames;
use super::blocks::ColumnBlocks;
use super::cells::TableCell;
use crate::dates::ClockUnit;
use crate::{Error, ReadThreads, Result};
use std::fmt;

/// A file with named columns, read from top to bottom, some rows at a time.
pub(crate) trait ColumnCursor: Send {
    /// The columns.
    fn names(&self) -> &ColumnNames;

    /// What the format says about a column.
    fn column_type(&self, column: usize) -> ColumnType;

    /// How many rows there are in all, if the file says so.
    fn n_rows(&self) -> Option<usize> {
        None
    }

    /// Whether numbers may have a decimal comma as well as a point: cells are separated by semicolons or tabs, as
    /// programs do where the comma is the decimal sign.
    fn may_have_decimal_commas(&self) -> bool {
        false
    }

    /// What the numbers of a column of durations, or of times of day, are.
    fn clock(&self, _column: usize) -> Option<ClockUnit> {
        None
    }

    /// How many of the rows so far had nothing but empty cells; they were left out.
    fn empty_rows(&self) -> u64 {
        0
    }

    /// What is to be said about how the file is read, if anything.
    fn remark(&self) -> Option<String> {
        None
    }

    /// `Err` if so many columns of a file cannot be meant.
    fn check_size(&self, _columns: usize) -> Result<()> {
        Ok(())
    }

    /// Visits the cells of these columns in the next rows, at most so many; how many rows there were: 0 at the end.
    /// Each column is visited from top to bottom.
    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize>;

    /// The next rows, at most so many, as blocks of columns: `None` if the format has none. Of each column it is said
    /// whether plain numbers are wanted as such. No rows at the end.
    fn next_blocks(
        &mut self,
        _columns: &[(usize, bool)],
        _most: usize,
        _threads: Option<&ReadThreads>,
    ) -> Result<Option<ColumnBlocks>> {
        Ok(None)
    }

    /// How many rows can be read next without looking further into the file, if that is known.
    fn rows_at_hand(&self) -> Option<usize> {
        None
    }

    /// How many cells of a column are null, if the file says so.
    fn nulls(&self, _column: usize) -> Option<u64> {
        None
    }

    /// Goes back to the first row.
    fn rewind(&mut self) -> Result<()>;
}

/// Gets a cell, which of the columns it is in, the row among those of this call, and the place of that row in the file.
pub(crate) type VisitCell<'a> = dyn FnMut(&dyn TableCell, usize, usize, RowPlace) -> Result<()> + 'a;

/// Where a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowPlace {
    /// The line of a text, from 1.
    Line(u64),
    /// The row, from 0.
    Row(u64),
}

impl RowPlace {
    /// An error about something in this row.
    pub(crate) fn mark(self, error: Error) -> Error {
        match self {
            RowPlace::Line(line) => error.at_line(line),
            RowPlace::Row(row) => error.at_row(usize::try_from(row).unwrap_or(usize::MAX)),
        }
    }
}

impl fmt::Display for RowPlace {
    /// As errors have it: rows from 1.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowPlace::Line(line) => write!(f, "line {line}"),
            RowPlace::Row(row) => write!(f, "row {}", row + 1),
        }
    }
}

/// What a format says about a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ColumnType {
    /// Nothing: its cells are to be looked at.
    Unknown,
    /// Numbers; `single` if all of them fit into single precision.
    Number { single: bool },
    /// Text.
    Text,
    /// Numbers or text that are categories: words, whatever they look like.
    Category,
    /// Dates and times.
    Date,
    /// Lists of numbers; `single` if all of them fit into single precision. [`lists`](super::lists) makes columns of
    /// numbers of it.
    List { single: bool },
    /// It cannot be used, and why.
    Unusable(String),
}
