//! Dense inputs: one row of numbers per input.

use super::{Values, assert_room};
use crate::{Error, Result};
use std::{borrow::Cow, ops::Range};

/// A dense row-major matrix of inputs, in single or double precision, borrowed or owned.
///
/// Checked once, here: it has rows and columns, the length fits and every value is finite. Borrowed values
/// are never copied as a whole; single precision is widened in blocks, where it is used.
///
/// ```
/// use kinfolk::inputs::Dense;
/// let values = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let x = Dense::f32(&values, 2, 3)?;
/// let mut row = [0.0; 3];
/// x.load(&[1], &mut row);
/// assert_eq!(row, [4.0, 5.0, 6.0]);
/// assert_eq!(x.max_abs(), 6.0);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Dense<'a> {
    values: Values<'a>,
    rows: usize,
    cols: usize,
    max_abs: f64,
}

impl<'a> Dense<'a> {
    /// Borrows single precision values, rows one after another.
    ///
    /// # Errors
    /// [`Error::Empty`] without rows or columns, [`Error::Length`] if the shape does not fit,
    /// [`Error::NonFiniteInput`] at the first NaN or infinity.
    pub fn f32(values: &'a [f32], rows: usize, cols: usize) -> Result<Self> {
        Dense::new(Values::F32(Cow::Borrowed(values)), rows, cols)
    }

    /// Borrows double precision values, rows one after another. Errors as for [`f32`](Self::f32).
    pub fn f64(values: &'a [f64], rows: usize, cols: usize) -> Result<Self> {
        Dense::new(Values::F64(Cow::Borrowed(values)), rows, cols)
    }

    /// Takes over single precision values. Errors as for [`f32`](Self::f32).
    pub fn f32_owned(values: Vec<f32>, rows: usize, cols: usize) -> Result<Self> {
        Dense::new(Values::F32(Cow::Owned(values)), rows, cols)
    }

    /// Takes over double precision values. Errors as for [`f32`](Self::f32).
    pub fn f64_owned(values: Vec<f64>, rows: usize, cols: usize) -> Result<Self> {
        Dense::new(Values::F64(Cow::Owned(values)), rows, cols)
    }

    fn new(values: Values<'a>, rows: usize, cols: usize) -> Result<Self> {
        super::check_shape(rows, cols)?;
        Dense::of_any_length(values, rows, cols)
    }

    /// As the constructors, but without rows if need be: what a model remembers of its inputs may be nothing.
    pub(crate) fn of_any_length(values: Values<'a>, rows: usize, cols: usize) -> Result<Self> {
        if rows.checked_mul(cols) != Some(values.len()) {
            let expected = rows.saturating_mul(cols);
            return Err(Error::Length { what: "array of input values", got: values.len(), expected });
        }
        let max_abs = values.max_abs().map_err(|i| Error::NonFiniteInput {
            row: i / cols,
            column: i % cols,
            value: values.get(i),
        })?;
        Ok(Dense { values, rows, cols, max_abs })
    }

    /// Number of rows: inputs.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns: features.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Whether the values are stored in single precision.
    pub fn is_f32(&self) -> bool {
        matches!(self.values, Values::F32(_))
    }

    /// Largest absolute value.
    pub fn max_abs(&self) -> f64 {
        self.max_abs
    }

    /// All values, rows one after another, if they are stored in single precision.
    pub fn as_f32(&self) -> Option<&[f32]> {
        match &self.values {
            Values::F32(v) => Some(v),
            Values::F64(_) => None,
        }
    }

    /// All values, rows one after another, if they are stored in double precision.
    pub fn as_f64(&self) -> Option<&[f64]> {
        match &self.values {
            Values::F32(_) => None,
            Values::F64(v) => Some(v),
        }
    }

    /// The value in row i, column j.
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> f64 {
        debug_assert!(j < self.cols);
        self.values.get(i * self.cols + j)
    }

    /// Writes the given rows into `out`, one after another, in double precision.
    ///
    /// # Panics
    /// If a row is out of range or `out` is not of length `rows.len() * cols`.
    pub fn load(&self, rows: &[u32], out: &mut [f64]) {
        assert_room(out, rows.len(), self.cols);
        self.values.load_rows(rows, self.cols, out);
    }

    /// Writes a range of rows into `out`. Panics as [`load`](Self::load) does.
    pub fn load_range(&self, rows: Range<usize>, out: &mut [f64]) {
        assert_room(out, rows.len(), self.cols);
        self.values.load(rows.start * self.cols..rows.end * self.cols, out);
    }

    /// The given rows, copied, in their own precision. Rows may repeat; no rows give an empty matrix.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn select_rows(&self, rows: &[u32]) -> Dense<'static> {
        let values = self.values.gather(rows.iter().map(|&i| self.span(i)));
        let max_abs = values.max_abs().unwrap_or(self.max_abs);
        Dense { values, rows: rows.len(), cols: self.cols, max_abs }
    }

    /// The same matrix, borrowed.
    pub fn view(&self) -> Dense<'_> {
        Dense { values: self.values.view(), rows: self.rows, cols: self.cols, max_abs: self.max_abs }
    }

    /// The same matrix, free of the borrow: copied unless owned already.
    pub fn into_owned(self) -> Dense<'static> {
        Dense { values: self.values.into_owned(), rows: self.rows, cols: self.cols, max_abs: self.max_abs }
    }

    pub(crate) fn values(&self) -> &Values<'a> {
        &self.values
    }

    fn span(&self, i: u32) -> Range<usize> {
        i as usize * self.cols..(i as usize + 1) * self.cols
    }
}
