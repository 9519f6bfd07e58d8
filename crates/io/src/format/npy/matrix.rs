//! Rows of a matrix, a chunk at a time.

use super::header::ArrayHeader;
use super::values::{FloatArray, numbers};
use crate::Result;
use crate::dense_or_sparse;
use kinfolk::Inputs;
use kinfolk::inputs::Dense;
use std::io::Read;

/// Columns are numbered by 32 bits.
const MAX_COLUMNS: u64 = 1 << 31;

/// A two-dimensional array being read. Rows that lie one after another are read as they are asked for;
/// columns that do (Fortran order) are read as a whole at the first call.
pub(crate) struct MatrixReader {
    from: Box<dyn Read + Send>,
    header: ArrayHeader,
    rows: usize,
    cols: usize,
    next: usize,
    by_columns: Option<FloatArray>,
}

impl MatrixReader {
    /// `from` stands at the first byte of data.
    pub(crate) fn new(from: Box<dyn Read + Send>, header: ArrayHeader) -> Result<Self> {
        let (rows, cols) = shape(&header)?;
        Ok(MatrixReader { from, header, rows, cols, next: 0, by_columns: None })
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn cols(&self) -> usize {
        self.cols
    }

    /// Number of rows read so far.
    pub(crate) fn position(&self) -> usize {
        self.next
    }

    /// The next rows, at most this many.
    pub(crate) fn next(
        &mut self,
        max_rows: usize,
        features: Option<&[String]>,
    ) -> Result<Option<Inputs<'static>>> {
        let (start, end) = (self.next, self.rows.min(self.next.saturating_add(max_rows.max(1))));
        if start == end {
            return Ok(None);
        }
        let (n, cols) = (end - start, self.cols);
        let values = match self.header.fortran {
            true => self.gather(start, end),
            false => numbers(&mut self.from, self.header.dtype, n as u64 * cols as u64),
        };
        let inputs = match values? {
            FloatArray::F32(values) => Dense::f32_owned(values, n, cols),
            FloatArray::F64(values) => Dense::f64_owned(values, n, cols),
        };
        self.next = end;
        dense_or_sparse::checked(inputs, start, features).map(Some)
    }

    /// `Err` if there are bytes beyond the array.
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.header.expect_end(&mut self.from)
    }

    fn gather(&mut self, start: usize, end: usize) -> Result<FloatArray> {
        if self.by_columns.is_none() {
            let items = self.rows as u64 * self.cols as u64;
            self.by_columns = Some(numbers(&mut self.from, self.header.dtype, items)?);
        }
        let empty = FloatArray::F64(vec![]);
        Ok(match self.by_columns.as_ref().unwrap_or(&empty) {
            FloatArray::F32(values) => FloatArray::F32(transposed(values, self.rows, start, end)),
            FloatArray::F64(values) => FloatArray::F64(transposed(values, self.rows, start, end)),
        })
    }
}

/// Rows and columns of an array that must be a matrix of numbers with at least one of each.
pub(crate) fn shape(header: &ArrayHeader) -> Result<(usize, usize)> {
    let text = header.shape_text();
    if header.dtype.is_text() {
        return Err(wrong!("it holds strings; expected numbers"));
    }
    let &[rows, cols] = &header.shape[..] else {
        return Err(wrong!("it has shape {text}; expected two dimensions, rows and columns"));
    };
    if rows == 0 || cols == 0 {
        return Err(wrong!("it is empty: its shape is {text}"));
    }
    if header.items().is_none() || cols > MAX_COLUMNS || rows >= u64::from(u32::MAX) {
        return Err(wrong!("shape {text} is too large; there are at most 2^32 - 2 rows and 2^31 columns"));
    }
    Ok((rows as usize, cols as usize))
}

fn transposed<T: Copy>(by_columns: &[T], rows: usize, start: usize, end: usize) -> Vec<T> {
    let columns: Vec<&[T]> = by_columns.chunks_exact(rows).collect();
    (start..end).flat_map(|i| columns.iter().map(move |column| column[i])).collect()
}
