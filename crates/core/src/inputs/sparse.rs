//! Sparse inputs: only the entries that are not zero.

use super::{Values, assert_room};
use crate::{Error, Result};
use std::{borrow::Cow, ops::Range};

/// A sparse matrix of inputs in compressed rows (CSR), in single or double precision, borrowed or owned.
///
/// Row i holds the entries `indptr[i]..indptr[i + 1]` of `indices` (columns) and `values`. Checked once,
/// here: `indptr` starts at 0, never falls and ends at the number of entries; columns are in range and
/// strictly increase within a row; values are finite. Stored zeros are allowed.
///
/// ```
/// use kinfolk::inputs::Sparse;
/// // 1 0 2
/// // 0 0 3
/// let (indptr, indices, values) = ([0, 2, 3], [0, 2, 2], [1.0, 2.0, 3.0]);
/// let x = Sparse::f64(&indptr[..], &indices[..], &values[..], 3)?;
/// assert_eq!(x.row(0).collect::<Vec<_>>(), [(0, 1.0), (2, 2.0)]);
/// assert_eq!((x.rows(), x.nnz()), (2, 3));
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sparse<'a> {
    indptr: Cow<'a, [usize]>,
    indices: Cow<'a, [u32]>,
    values: Values<'a>,
    cols: usize,
    max_abs: f64,
}

impl<'a> Sparse<'a> {
    /// Single precision values; slices are borrowed, vectors taken over.
    ///
    /// # Errors
    /// [`Error::Empty`] without rows or columns, [`Error::Length`] if `indices` and `values` differ in
    /// length, [`Error::Sparse`] for the first row whose indices are wrong, [`Error::NonFiniteInput`] at the
    /// first NaN or infinity.
    pub fn f32(
        indptr: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [f32]>>,
        cols: usize,
    ) -> Result<Self> {
        Sparse::new(indptr.into(), indices.into(), Values::F32(values.into()), cols)
    }

    /// Double precision values; slices are borrowed, vectors taken over. Errors as for [`f32`](Self::f32).
    pub fn f64(
        indptr: impl Into<Cow<'a, [usize]>>,
        indices: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [f64]>>,
        cols: usize,
    ) -> Result<Self> {
        Sparse::new(indptr.into(), indices.into(), Values::F64(values.into()), cols)
    }

    fn new(
        indptr: Cow<'a, [usize]>,
        indices: Cow<'a, [u32]>,
        values: Values<'a>,
        cols: usize,
    ) -> Result<Self> {
        super::check_shape(indptr.len().saturating_sub(1), cols)?;
        Sparse::of_any_length(indptr, indices, values, cols)
    }

    /// As the constructors, but without rows if need be: what a model remembers of its inputs may be nothing.
    /// `indptr` has at least one entry.
    pub(crate) fn of_any_length(
        indptr: Cow<'a, [usize]>,
        indices: Cow<'a, [u32]>,
        values: Values<'a>,
        cols: usize,
    ) -> Result<Self> {
        if values.len() != indices.len() {
            let (got, expected) = (values.len(), indices.len());
            return Err(Error::Length { what: "array of sparse values", got, expected });
        }
        check_indptr(&indptr, indices.len())?;
        for (row, span) in indptr.windows(2).enumerate() {
            check_columns(row, &indices[span[0]..span[1]], cols)?;
        }
        let max_abs = values.max_abs().map_err(|i| Error::NonFiniteInput {
            // The row that holds entry i: the last one to start at or before it.
            row: indptr.partition_point(|&start| start <= i) - 1,
            column: indices[i] as usize,
            value: values.get(i),
        })?;
        Ok(Sparse { indptr, indices, values, cols, max_abs })
    }

    /// Number of rows: inputs.
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns: features.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.indices.len()
    }

    /// Whether the values are stored in single precision.
    pub fn is_f32(&self) -> bool {
        matches!(self.values, Values::F32(_))
    }

    /// Largest absolute value.
    pub fn max_abs(&self) -> f64 {
        self.max_abs
    }

    /// The stored entries (column, value) of row i, by increasing column.
    ///
    /// # Panics
    /// If the row is out of range.
    pub fn row(&self, i: usize) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        self.span(i).map(|k| (self.indices[k] as usize, self.values.get(k)))
    }

    /// Writes the given rows into `out`, one after another, zeros included.
    ///
    /// # Panics
    /// If a row is out of range or `out` is not of length `rows.len() * cols`.
    pub fn load(&self, rows: &[u32], out: &mut [f64]) {
        assert_room(out, rows.len(), self.cols);
        out.fill(0.0);
        for (&i, out) in rows.iter().zip(out.chunks_exact_mut(self.cols)) {
            self.row(i as usize).for_each(|(j, x)| out[j] = x);
        }
    }

    /// The given rows, copied, in their own precision. Rows may repeat; no rows give an empty matrix.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn select_rows(&self, rows: &[u32]) -> Sparse<'static> {
        let spans = || rows.iter().map(|&i| self.span(i as usize));
        let ends = spans().scan(0, |end, span| {
            *end += span.len();
            Some(*end)
        });
        let indptr = std::iter::once(0).chain(ends).collect();
        let indices = spans().flat_map(|span| &self.indices[span]).copied().collect();
        let values = self.values.gather(spans());
        let max_abs = values.max_abs().unwrap_or(self.max_abs);
        Sparse { indptr: Cow::Owned(indptr), indices: Cow::Owned(indices), values, cols: self.cols, max_abs }
    }

    /// The same matrix, borrowed.
    pub fn view(&self) -> Sparse<'_> {
        Sparse {
            indptr: Cow::Borrowed(&self.indptr),
            indices: Cow::Borrowed(&self.indices),
            values: self.values.view(),
            cols: self.cols,
            max_abs: self.max_abs,
        }
    }

    /// The same matrix, free of the borrow: copied unless owned already.
    pub fn into_owned(self) -> Sparse<'static> {
        Sparse {
            indptr: Cow::Owned(self.indptr.into_owned()),
            indices: Cow::Owned(self.indices.into_owned()),
            values: self.values.into_owned(),
            cols: self.cols,
            max_abs: self.max_abs,
        }
    }

    /// Row starts, one more than there are rows.
    pub fn indptr(&self) -> &[usize] {
        &self.indptr
    }

    /// Columns of all entries.
    pub fn indices(&self) -> &[u32] {
        &self.indices
    }

    pub(crate) fn values(&self) -> &Values<'a> {
        &self.values
    }

    #[inline]
    pub(crate) fn span(&self, i: usize) -> Range<usize> {
        self.indptr[i]..self.indptr[i + 1]
    }
}

fn check_indptr(indptr: &[usize], nnz: usize) -> Result<()> {
    if indptr[0] != 0 {
        return Err(Error::Sparse { row: 0, detail: format!("indptr starts at {}, not at 0", indptr[0]) });
    }
    for (row, span) in indptr.windows(2).enumerate() {
        if span[1] < span[0] {
            return Err(Error::Sparse {
                row,
                detail: format!("indptr falls from {} to {}", span[0], span[1]),
            });
        }
        if span[1] > nnz {
            let detail = format!("indptr ends it at entry {}, there are {nnz} entries", span[1]);
            return Err(Error::Sparse { row, detail });
        }
    }
    match indptr[indptr.len() - 1] {
        end if end == nnz => Ok(()),
        end => Err(Error::Sparse {
            row: indptr.len().saturating_sub(2),
            detail: format!("indptr ends at entry {end}, there are {nnz} entries"),
        }),
    }
}

fn check_columns(row: usize, columns: &[u32], cols: usize) -> Result<()> {
    let mut last = None;
    for &column in columns {
        let detail = match last {
            _ if column as usize >= cols => {
                format!("column {column} is out of range, there are {cols} columns")
            }
            Some(last) if last == column => {
                format!("column {column} is given twice; add its values up first")
            }
            Some(last) if last > column => {
                format!("column {column} comes after column {last}; sort each row first")
            }
            _ => {
                last = Some(column);
                continue;
            }
        };
        return Err(Error::Sparse { row, detail });
    }
    Ok(())
}
