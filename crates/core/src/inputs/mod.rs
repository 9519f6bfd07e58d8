//! Inputs: what the tasks are predicted from, as the caller stores them.
//!
//! Three forms: [`Dense`] and [`Sparse`] features, one row per input, and [`Gram`], the matrix of kernel
//! values between all pairs of inputs. All three borrow the caller's arrays or own their own, and are checked
//! once, on construction; code that takes an `&Inputs` needs no checks.
//!
//! To predict with a model fitted on a [`Gram`] matrix of n inputs, give a [`Dense`] matrix of n columns: row
//! i holds the kernel values `k(x_i, z_j)` between new input i and each training input z_j, in their order.

mod dense;
mod gram;
mod sparse;
mod spectrum;
mod values;

pub use dense::Dense;
pub use gram::Gram;
pub use sparse::Sparse;
pub(crate) use values::Values;

use crate::{Error, Result};

/// Inputs in any of their forms.
///
/// ```
/// use kinfolk::inputs::{Dense, Inputs};
/// let x: Inputs = Dense::f64(&[1.0, 2.0, 3.0, 4.0], 2, 2)?.into();
/// assert_eq!((x.n_inputs(), x.n_features(), x.kind()), (2, 2, "dense"));
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Inputs<'a> {
    /// Features, all stored.
    Dense(Dense<'a>),
    /// Features, only those that are not zero stored.
    Sparse(Sparse<'a>),
    /// Kernel values between all pairs of inputs.
    Gram(Gram<'a>),
}

impl Inputs<'_> {
    /// Calls `visit(column, value)` for the entries of row i (sparse: those stored).
    pub(crate) fn for_each_in_row(&self, i: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Inputs::Dense(x) => (0..x.cols()).for_each(|j| visit(j, x.get(i, j))),
            Inputs::Sparse(x) => x.row(i).for_each(|(j, value)| visit(j, value)),
            Inputs::Gram(k) => k.row(i).iter().enumerate().for_each(|(j, &value)| visit(j, value)),
        }
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        match self {
            Inputs::Dense(x) => x.rows(),
            Inputs::Sparse(x) => x.rows(),
            Inputs::Gram(k) => k.n(),
        }
    }

    /// Number of features; for a Gram matrix the number of inputs.
    pub fn n_features(&self) -> usize {
        match self {
            Inputs::Dense(x) => x.cols(),
            Inputs::Sparse(x) => x.cols(),
            Inputs::Gram(k) => k.n(),
        }
    }

    /// Name of the form, for messages: dense, sparse or Gram.
    pub fn kind(&self) -> &'static str {
        match self {
            Inputs::Dense(_) => "dense",
            Inputs::Sparse(_) => "sparse",
            Inputs::Gram(_) => "Gram",
        }
    }

    /// The given inputs, copied, in their form and precision; of a Gram matrix the given rows and columns.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn select_rows(&self, rows: &[u32]) -> Inputs<'static> {
        match self {
            Inputs::Dense(x) => Inputs::Dense(x.select_rows(rows)),
            Inputs::Sparse(x) => Inputs::Sparse(x.select_rows(rows)),
            Inputs::Gram(k) => Inputs::Gram(k.select_rows(rows)),
        }
    }

    /// The same inputs, borrowed.
    pub fn view(&self) -> Inputs<'_> {
        match self {
            Inputs::Dense(x) => Inputs::Dense(x.view()),
            Inputs::Sparse(x) => Inputs::Sparse(x.view()),
            Inputs::Gram(k) => Inputs::Gram(k.view()),
        }
    }

    /// The same inputs, free of the borrow: copied unless owned already.
    pub fn into_owned(self) -> Inputs<'static> {
        match self {
            Inputs::Dense(x) => Inputs::Dense(x.into_owned()),
            Inputs::Sparse(x) => Inputs::Sparse(x.into_owned()),
            Inputs::Gram(k) => Inputs::Gram(k.into_owned()),
        }
    }

    /// Copies rows of features, row by row, in double precision.
    ///
    /// # Panics
    /// If a row is out of range, or for a Gram matrix, whose rows are no features.
    pub(crate) fn load(&self, rows: &[u32], out: &mut [f64]) {
        match self {
            Inputs::Dense(x) => x.load(rows, out),
            Inputs::Sparse(x) => x.load(rows, out),
            Inputs::Gram(_) => unreachable!("callers refuse kernel values"),
        }
    }

    /// Whether both are views of the same memory: then row i of one is row i of the other, exactly.
    pub(crate) fn same_memory(&self, other: &Inputs<'_>) -> bool {
        match (self, other) {
            (Inputs::Dense(a), Inputs::Dense(b)) => {
                a.values().address() == b.values().address()
                    && (a.is_f32(), a.rows(), a.cols()) == (b.is_f32(), b.rows(), b.cols())
            }
            (Inputs::Sparse(a), Inputs::Sparse(b)) => {
                a.values().address() == b.values().address()
                    && (a.is_f32(), a.nnz(), a.cols()) == (b.is_f32(), b.nnz(), b.cols())
                    && std::ptr::eq(a.indices(), b.indices())
                    && std::ptr::eq(a.indptr(), b.indptr())
            }
            _ => false,
        }
    }
}

impl<'a> From<Dense<'a>> for Inputs<'a> {
    fn from(x: Dense<'a>) -> Self {
        Inputs::Dense(x)
    }
}

impl<'a> From<Sparse<'a>> for Inputs<'a> {
    fn from(x: Sparse<'a>) -> Self {
        Inputs::Sparse(x)
    }
}

impl<'a> From<Gram<'a>> for Inputs<'a> {
    fn from(k: Gram<'a>) -> Self {
        Inputs::Gram(k)
    }
}

fn check_shape(rows: usize, cols: usize) -> Result<()> {
    match (rows, cols) {
        (0, _) => Err(Error::Empty { what: "list of input rows" }),
        (_, 0) => Err(Error::Empty { what: "list of input columns" }),
        _ => Ok(()),
    }
}

/// Panics unless `out` has room for so many rows and columns.
fn assert_room(out: &[f64], rows: usize, cols: usize) {
    assert_eq!(out.len(), rows * cols, "room for {rows} rows of {cols} columns");
}
