//! Pieces of columns to be written.

use crate::Categorical;
use kinfolk::TaskNames;
use std::ops::Range;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Numbers in double precision; NaN is written as a missing value.
    Numbers,
    /// Numbers that fit into single precision, which formats with types store in four bytes.
    Singles,
    /// Integers.
    Integers,
    /// Words.
    Words,
}

/// The cells of some rows of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// Numbers in double precision.
    Numbers(Vec<f64>),
    /// Numbers that fit into single precision.
    Singles(Vec<f64>),
    /// Integers.
    Integers(Vec<i64>),
    /// Words.
    Words(Vec<String>),
}

impl Cells {
    /// No rows yet.
    pub fn new(kind: CellKind) -> Self {
        match kind {
            CellKind::Numbers => Cells::Numbers(vec![]),
            CellKind::Singles => Cells::Singles(vec![]),
            CellKind::Integers => Cells::Integers(vec![]),
            CellKind::Words => Cells::Words(vec![]),
        }
    }

    /// The names of some rows.
    pub(crate) fn of_names(column: &Categorical, rows: Range<usize>) -> Self {
        let index = |row: usize| column.index[row] as usize;
        match &column.names {
            TaskNames::Strings(names) => Cells::Words(rows.map(|row| names[index(row)].clone()).collect()),
            TaskNames::Integers(names) => Cells::Integers(rows.map(|row| names[index(row)]).collect()),
            _ => Cells::Integers(rows.map(|row| index(row) as i64).collect()),
        }
    }

    /// What they are.
    pub fn kind(&self) -> CellKind {
        match self {
            Cells::Numbers(_) => CellKind::Numbers,
            Cells::Singles(_) => CellKind::Singles,
            Cells::Integers(_) => CellKind::Integers,
            Cells::Words(_) => CellKind::Words,
        }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        match self {
            Cells::Numbers(cells) | Cells::Singles(cells) => cells.len(),
            Cells::Integers(cells) => cells.len(),
            Cells::Words(cells) => cells.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
