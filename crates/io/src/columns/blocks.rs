//! Rows of typed columns, a column at a time: numbers as they lie in the file, and not one cell after another.

use super::cells::TableCell;
use crate::{ReadThreads, Result};
use rayon::prelude::*;

/// The next rows of some columns.
pub(crate) struct ColumnBlocks {
    /// The place of the first row in the file, from 0.
    pub(crate) first_row: u64,
    pub(crate) n_rows: usize,
    /// In the order in which they were asked for.
    pub(crate) columns: Vec<ColumnBlock>,
}

/// Some rows of a column.
pub(crate) enum ColumnBlock {
    /// Numbers, NaN where one is missing, and whether one is missing or infinite.
    Singles(Vec<f32>, bool),
    Doubles(Vec<f64>, bool),
    /// Anything else.
    Cells(Box<dyn CellBlock>),
}

/// Cells of some rows of a column.
pub(crate) trait CellBlock: Send + Sync {
    /// Visits all cells, from top to bottom.
    fn visit(&self, visit: &mut VisitRow<'_>) -> Result<()>;

    /// Visits each different cell in its first row, and says of each row which of them it has. Cells that are visited
    /// twice do no harm.
    fn visit_different(&self, visit: &mut VisitRow<'_>) -> Result<Vec<u32>>;
}

/// Gets a cell and its row.
pub(crate) type VisitRow<'a> = dyn FnMut(&dyn TableCell, usize) -> Result<()> + 'a;

impl ColumnBlock {
    /// Numbers in single precision.
    pub(crate) fn of_singles(values: Vec<f32>) -> Self {
        // Of all that are not finite, the bits without the sign are the largest. Maxima of integers are computed for
        // many at a time.
        let bits = |x: &f32| (x.to_bits() & (u32::MAX >> 1)) as i32;
        let has_gaps = values.iter().map(bits).fold(0, i32::max) >= f32::INFINITY.to_bits() as i32;
        ColumnBlock::Singles(values, has_gaps)
    }

    /// Numbers in double precision.
    pub(crate) fn of_doubles(values: Vec<f64>) -> Self {
        let bits = |x: &f64| x.to_bits() & (u64::MAX >> 1);
        let has_gaps = values.iter().map(bits).fold(0, u64::max) >= f64::INFINITY.to_bits();
        ColumnBlock::Doubles(values, has_gaps)
    }

    /// Whether there may be a number that is missing or infinite.
    pub(crate) fn has_gaps(&self) -> bool {
        match self {
            ColumnBlock::Singles(_, has_gaps) | ColumnBlock::Doubles(_, has_gaps) => *has_gaps,
            ColumnBlock::Cells(_) => true,
        }
    }

    /// The number of a row, if they are numbers.
    pub(crate) fn number(&self, row: usize) -> Option<f64> {
        match self {
            ColumnBlock::Singles(values, _) => Some(f64::from(values[row])),
            ColumnBlock::Doubles(values, _) => Some(values[row]),
            ColumnBlock::Cells(_) => None,
        }
    }
}

/// Rows that are turned at a time: of each column, a line or two of the cache.
const TILE_ROWS: usize = 16;
/// Tiles that a thread takes at least.
const TILES: usize = 16;

/// Writes columns into rows of this width, each at its place. Zeros lose their sign.
pub(crate) fn write_rows<T: Copy + Send>(
    rows: &mut [T],
    width: usize,
    columns: &[(usize, &ColumnBlock)],
    (of_single, of_double): (impl Fn(f32) -> T + Sync, impl Fn(f64) -> T + Sync),
    threads: Option<&ReadThreads>,
) {
    let write = |(tile, out): (usize, &mut [T])| {
        for (part, out) in out.chunks_mut(TILE_ROWS * width).enumerate() {
            let first = (tile * TILES + part) * TILE_ROWS;
            let own = first..first + out.len() / width;
            for (place, column) in columns {
                let rows = out.chunks_exact_mut(width);
                match column {
                    ColumnBlock::Singles(values, _) => {
                        rows.zip(&values[own.clone()]).for_each(|(row, x)| row[*place] = of_single(*x + 0.0));
                    }
                    ColumnBlock::Doubles(values, _) => {
                        rows.zip(&values[own.clone()]).for_each(|(row, x)| row[*place] = of_double(*x + 0.0));
                    }
                    ColumnBlock::Cells(_) => {}
                }
            }
        }
    };
    if columns.is_empty() {
        return;
    }
    let tile = TILES * TILE_ROWS * width;
    ReadThreads::run(threads, || match threads {
        Some(_) => rows.par_chunks_mut(tile).enumerate().for_each(write),
        None => rows.chunks_mut(tile).enumerate().for_each(write),
    });
}
