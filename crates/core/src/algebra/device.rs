//! Matrices on a device: what another crate has to provide, and its use as an `Algebra`.

use super::{Algebra, AnswerSums, Answers, LossTable, TermSums};
use crate::interrupt::Interrupt;
use crate::{Error, Matrix, Result};
use std::any::Any;
use std::sync::Arc;

/// An array of a device, as the device itself knows it.
pub trait DeviceArray: Any + Send + Sync + std::fmt::Debug {
    /// A copy on the same device.
    fn copy(&self) -> Box<dyn DeviceArray>;

    /// The array as its own type, for the device that made it.
    fn as_any(&self) -> &dyn Any;

    /// The same, to be changed.
    fn as_any_mut(&mut self) -> &mut dyn Any;
}

/// A dense, row-major matrix of f64 on a device.
#[derive(Debug)]
pub struct DeviceMatrix {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The numbers.
    pub array: Box<dyn DeviceArray>,
}

impl Clone for DeviceMatrix {
    fn clone(&self) -> Self {
        DeviceMatrix { rows: self.rows, cols: self.cols, array: self.array.copy() }
    }
}

/// How a factor enters a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// As it is.
    Plain,
    /// Transposed.
    Transposed,
}

/// A device that holds matrices and computes with them in double precision.
///
/// No function reports an error: after one that failed, results mean nothing, all of them may be NaN, and
/// [`error`](Self::error) says what happened. Callers ask for it before they use a result. The same calls give the same
/// bits.
pub trait Device: Send + Sync + std::fmt::Debug {
    /// Its name, for people.
    fn name(&self) -> String;

    /// Bytes that matrices may take at most.
    fn memory(&self) -> u64;

    /// The first error since the last call, if there was any.
    fn error(&self) -> Option<String>;

    /// Copies numbers to the device.
    fn upload(&self, values: &[f64], rows: usize, cols: usize) -> DeviceMatrix;

    /// Copies numbers in single precision to the device.
    fn upload_single(&self, values: &[f32], rows: usize, cols: usize) -> DeviceMatrix;

    /// Copies a matrix into memory.
    fn download(&self, m: &DeviceMatrix) -> Vec<f64>;

    /// `op(a) op(b)`.
    fn product(&self, a: &DeviceMatrix, op_a: Op, b: &DeviceMatrix, op_b: Op) -> DeviceMatrix;

    /// `a'a`, all of it.
    fn gram(&self, a: &DeviceMatrix) -> DeviceMatrix;

    /// `y += factor x`.
    fn add_scaled(&self, y: &mut DeviceMatrix, factor: f64, x: &DeviceMatrix);

    /// `x *= factor`.
    fn scale(&self, x: &mut DeviceMatrix, factor: f64);

    /// Multiplies column j by `factors[j]`.
    fn scale_columns(&self, x: &mut DeviceMatrix, factors: &[f64]);

    /// Multiplies row i by `factors[i]`.
    fn scale_rows(&self, x: &mut DeviceMatrix, factors: &[f64]);

    /// Multiplies every entry by that of another matrix.
    fn multiply(&self, x: &mut DeviceMatrix, by: &DeviceMatrix);

    /// Adds `values[j]` to every entry of column j.
    fn add_to_columns(&self, x: &mut DeviceMatrix, values: &[f64]);

    /// Adds `factor rows[i] columns[j]` to entry (i, j).
    fn add_outer(&self, x: &mut DeviceMatrix, factor: f64, rows: &[f64], columns: &[f64]);

    /// Divides entry (i, j) by `1 + rows[i] columns[j]`.
    fn divide_shifted(&self, x: &mut DeviceMatrix, rows: &[f64], columns: &[f64]);

    /// Sum of `a_ij b_ij` over the rows, for each column.
    fn column_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64>;

    /// Sum of `a_ij b_ij` over the columns, for each row.
    fn row_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64>;

    /// Eigenvalues (increasing) and eigenvectors (columns) of a symmetric matrix.
    fn eigen(&self, m: &DeviceMatrix) -> (Vec<f64>, DeviceMatrix);

    /// The Cholesky factor of `m + shift I`; `None` if there is none.
    fn shifted_cholesky(&self, m: &DeviceMatrix, shift: f64) -> Option<DeviceMatrix>;

    /// `m^-1 x` in place, with the factor of m.
    fn solve(&self, factor: &DeviceMatrix, x: &mut DeviceMatrix);

    /// A lower triangle L with `L L' = m + shift I`, zeros above it; `None` if there is none.
    fn root(&self, m: &DeviceMatrix, shift: f64) -> Option<DeviceMatrix>;

    /// Turns inner products of inputs, whose squares are these, into values of an RBF kernel: entry (i, j) becomes
    /// `scale (exp(-gamma (squares[i] + squares[j] - 2 x_ij)) + shift)`, with an exponent of zero on the diagonal and
    /// of zero at most everywhere.
    fn gaussian(&self, x: &mut DeviceMatrix, squares: &[f64], gamma: f64, shift: f64, scale: f64);

    /// Sums of losses, duals and curvatures.
    fn loss_sums(&self, table: &LossTable<'_>) -> AnswerSums;

    /// The same, with duals and curvatures themselves.
    fn loss_answers(&self, table: &LossTable<'_>) -> Answers;

    /// The terms of the certificate for these duals. There is no proximal term.
    fn loss_terms(&self, table: &LossTable<'_>, kappa: &DeviceMatrix) -> TermSums;
}

/// A device that several owners share.
#[derive(Debug, Clone)]
pub struct DeviceHandle(pub Arc<dyn Device>);

/// Whether they are the same device, opened once.
impl PartialEq for DeviceHandle {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl DeviceHandle {
    /// `Err` if an operation failed since the last call.
    pub(crate) fn check(&self) -> Result<()> {
        match self.0.error() {
            Some(reason) => Err(Error::Device { device: self.0.name(), reason }),
            None => Ok(()),
        }
    }
}

/// A device as an `Algebra`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OnDevice<'a> {
    pub(crate) device: &'a dyn Device,
    /// Threads for work in memory.
    pub(crate) threads: usize,
}

impl OnDevice<'_> {
    fn matrix(&self, m: &DeviceMatrix) -> Matrix {
        let values = self.device.download(m);
        Matrix::from_vec(values, m.rows, m.cols).expect("a device returns all numbers")
    }
}

/// Small matrices below this size are decomposed in memory, where it takes less time.
const MIN_DEVICE_EIGEN_ROWS: usize = 128;

impl Algebra for OnDevice<'_> {
    type Mat = DeviceMatrix;
    type Factor = DeviceMatrix;

    fn put(&self, m: &Matrix) -> DeviceMatrix {
        self.device.upload(m.as_slice(), m.rows(), m.cols())
    }

    fn get(&self, m: &DeviceMatrix) -> Matrix {
        self.matrix(m)
    }

    fn shape(&self, m: &DeviceMatrix) -> (usize, usize) {
        (m.rows, m.cols)
    }

    fn times(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> DeviceMatrix {
        self.device.product(a, Op::Plain, b, Op::Plain)
    }

    fn times_transposed(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> DeviceMatrix {
        self.device.product(a, Op::Plain, b, Op::Transposed)
    }

    fn times_small(&self, a: &DeviceMatrix, b: &Matrix) -> DeviceMatrix {
        self.times(a, &self.put(b))
    }

    fn times_small_transposed(&self, a: &DeviceMatrix, b: &Matrix) -> DeviceMatrix {
        self.times_transposed(a, &self.put(b))
    }

    fn add_times_small(&self, y: &mut DeviceMatrix, a: &DeviceMatrix, b: &Matrix) {
        self.device.add_scaled(y, 1.0, &self.times_small(a, b));
    }

    fn cross(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Matrix {
        self.matrix(&self.device.product(a, Op::Transposed, b, Op::Plain))
    }

    fn mixed(&self, u: &DeviceMatrix, v: &DeviceMatrix, second: &DeviceMatrix) -> Option<DeviceMatrix> {
        let mut mixed = self.device.product(u, Op::Transposed, v, Op::Plain);
        self.device.add_scaled(&mut mixed, 1.0, &self.device.product(v, Op::Transposed, u, Op::Plain));
        self.device.multiply(&mut mixed, second);
        Some(mixed)
    }

    fn add_scaled(&self, y: &mut DeviceMatrix, factor: f64, x: &DeviceMatrix) {
        self.device.add_scaled(y, factor, x);
    }

    fn scale(&self, x: &mut DeviceMatrix, factor: f64) {
        self.device.scale(x, factor);
    }

    fn scale_columns(&self, x: &mut DeviceMatrix, factors: &[f64]) {
        self.device.scale_columns(x, factors);
    }

    fn scale_rows(&self, x: &mut DeviceMatrix, factors: &[f64]) {
        self.device.scale_rows(x, factors);
    }

    fn multiply(&self, x: &mut DeviceMatrix, by: &DeviceMatrix) {
        self.device.multiply(x, by);
    }

    fn divide_shifted(&self, x: &mut DeviceMatrix, rows: &[f64], columns: &[f64]) {
        self.device.divide_shifted(x, rows, columns);
    }

    fn column_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64> {
        self.device.column_products(a, b)
    }

    fn row_products(&self, a: &DeviceMatrix, b: &DeviceMatrix) -> Vec<f64> {
        self.device.row_products(a, b)
    }

    fn inner_products(&self, others: &[DeviceMatrix], v: &DeviceMatrix) -> Vec<f64> {
        others.iter().map(|other| self.inner(other, v)).collect()
    }

    fn add_multiples(&self, v: &mut DeviceMatrix, scale: f64, factors: &[f64], others: &[DeviceMatrix]) {
        for (factor, other) in factors.iter().zip(others) {
            self.device.add_scaled(v, scale * factor, other);
        }
    }

    fn eigen(&self, m: &Matrix) -> Result<(Vec<f64>, Matrix)> {
        if m.rows() < MIN_DEVICE_EIGEN_ROWS {
            return crate::linalg::eigen(m);
        }
        let (values, vectors) = self.device.eigen(&self.put(m));
        Ok((values, self.matrix(&vectors)))
    }

    fn shifted_cholesky(
        &self,
        m: &DeviceMatrix,
        shift: f64,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<DeviceMatrix>> {
        interrupt.check()?;
        Ok(self.device.shifted_cholesky(m, shift))
    }

    fn solve(&self, factor: &DeviceMatrix, x: &mut DeviceMatrix) {
        self.device.solve(factor, x);
    }

    fn threads(&self) -> usize {
        self.threads
    }
}
