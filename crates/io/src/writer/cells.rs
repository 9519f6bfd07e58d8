//! Pieces of columns to be written.

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Numbers in double precision; NaN is written as a missing value.
    Numbers,
    /// Numbers that fit into single precision, which formats with types store so.
    Singles,
    /// Integers.
    Integers,
    /// Words.
    Words,
}

/// The cells of some rows of a column.
#[derive(Debug, Clone, Copy)]
pub enum Cells<'a> {
    /// Numbers in double precision.
    Numbers(&'a [f64]),
    /// Numbers that fit into single precision.
    Singles(&'a [f64]),
    /// Integers.
    Integers(&'a [i64]),
    /// Words.
    Words(&'a [String]),
}

impl Cells<'_> {
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
