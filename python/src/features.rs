//! Arrays of numpy as inputs, without a copy.

use crate::error::{of_engine, value};
use kinfolk::Inputs;
use kinfolk::inputs::{Dense, Gram, Sparse};
use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Rows of features in C order, or a sparse matrix as `(indptr, indices, values, number of columns)`.
#[derive(FromPyObject)]
pub(crate) enum Features<'py> {
    /// Single precision.
    Single(PyReadonlyArray2<'py, f32>),
    /// Double precision.
    Double(PyReadonlyArray2<'py, f64>),
    /// Sparse, single precision.
    SparseSingle(Csr<'py, f32>),
    /// Sparse, double precision.
    SparseDouble(Csr<'py, f64>),
}

type Csr<'py, T> =
    (PyReadonlyArray1<'py, usize>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, T>, usize);

impl Features<'_> {
    /// The same memory as inputs; `gram` for kernel values between all pairs.
    pub(crate) fn inputs(&self, gram: bool) -> PyResult<Inputs<'_>> {
        let inputs: Inputs<'_> = match self {
            Features::Double(x) if gram => {
                let (rows, cols) = (x.shape()[0], x.shape()[1]);
                if rows != cols {
                    return Err(value(format!(
                        "a precomputed kernel has as many columns as rows, not {rows} rows and {cols} columns"
                    )));
                }
                Gram::new(slice(x)?, rows).map_err(of_engine)?.into()
            }
            _ if gram => return Err(value("a precomputed kernel must be a dense array of doubles")),
            Features::Single(x) => {
                Dense::f32(slice(x)?, x.shape()[0], x.shape()[1]).map_err(of_engine)?.into()
            }
            Features::Double(x) => {
                Dense::f64(slice(x)?, x.shape()[0], x.shape()[1]).map_err(of_engine)?.into()
            }
            Features::SparseSingle((start, column, x, cols)) => {
                Sparse::f32(list(start)?, list(column)?, list(x)?, *cols).map_err(of_engine)?.into()
            }
            Features::SparseDouble((start, column, x, cols)) => {
                Sparse::f64(list(start)?, list(column)?, list(x)?, *cols).map_err(of_engine)?.into()
            }
        };
        Ok(inputs)
    }
}

fn slice<'a, T: Element>(array: &'a PyReadonlyArray2<'_, T>) -> PyResult<&'a [T]> {
    match array.as_slice() {
        // Arrays in Fortran order are contiguous too.
        Ok(values) if array.is_c_contiguous() => Ok(values),
        _ => Err(value("the array of inputs must be contiguous, in C order")),
    }
}

fn list<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| value("arrays of a sparse matrix must be contiguous"))
}
