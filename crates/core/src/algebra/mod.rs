//! Matrices where they lie, in memory or on a device, and what solvers do with them.
//!
//! A solver that is written over the trait `Algebra` runs on both. Large matrices (features x tasks, or larger) are of
//! its type `Mat` and stay where they are. Matrices of the size tasks x tasks are [`Matrix`], always in memory:
//! regularisers, Theta and the certificate are computed there.

mod device;
mod host;
mod losses;

pub(crate) use device::OnDevice;
pub use device::{Device, DeviceArray, DeviceHandle, DeviceMatrix, Op};
pub(crate) use host::Host;
pub use losses::{AnswerSums, Answers, LossForm, LossTable, TermSums};

use crate::interrupt::Interrupt;
use crate::{Matrix, Result};

/// Linear algebra on matrices of one place. Rows and columns are those of [`Matrix`].
pub(crate) trait Algebra: Sync {
    /// A large matrix.
    type Mat: Clone + Send + Sync + std::fmt::Debug;
    /// The Cholesky factor of a large square matrix.
    type Factor: Send + Sync;

    /// Copies a matrix to this place.
    fn put(&self, m: &Matrix) -> Self::Mat;

    /// Copies a matrix into memory.
    fn get(&self, m: &Self::Mat) -> Matrix;

    /// Rows and columns.
    fn shape(&self, m: &Self::Mat) -> (usize, usize);

    /// `a b`.
    fn times(&self, a: &Self::Mat, b: &Self::Mat) -> Self::Mat;

    /// `a b'`.
    fn times_transposed(&self, a: &Self::Mat, b: &Self::Mat) -> Self::Mat;

    /// `a b` for a small b in memory.
    fn times_small(&self, a: &Self::Mat, b: &Matrix) -> Self::Mat;

    /// `a b'` for a small b in memory.
    fn times_small_transposed(&self, a: &Self::Mat, b: &Matrix) -> Self::Mat;

    /// `y += a b` for a small b in memory.
    fn add_times_small(&self, y: &mut Self::Mat, a: &Self::Mat, b: &Matrix);

    /// `a'b`, small: in memory.
    fn cross(&self, a: &Self::Mat, b: &Self::Mat) -> Matrix;

    /// `second o (u'v + v'u)`, left where u and v are, if that is faster than in memory.
    fn mixed(&self, _u: &Self::Mat, _v: &Self::Mat, _second: &Self::Mat) -> Option<Self::Mat> {
        None
    }

    /// `y += factor x`.
    fn add_scaled(&self, y: &mut Self::Mat, factor: f64, x: &Self::Mat);

    /// `x *= factor`.
    fn scale(&self, x: &mut Self::Mat, factor: f64);

    /// Multiplies column j by `factors[j]`.
    fn scale_columns(&self, x: &mut Self::Mat, factors: &[f64]);

    /// Multiplies row i by `factors[i]`.
    fn scale_rows(&self, x: &mut Self::Mat, factors: &[f64]);

    /// Multiplies every entry by that of another matrix.
    fn multiply(&self, x: &mut Self::Mat, by: &Self::Mat);

    /// Divides entry (i, j) by `1 + rows[i] columns[j]`.
    fn divide_shifted(&self, x: &mut Self::Mat, rows: &[f64], columns: &[f64]);

    /// Sum of `a_ij b_ij` over the rows, for each column.
    fn column_products(&self, a: &Self::Mat, b: &Self::Mat) -> Vec<f64>;

    /// Sum of `a_ij b_ij` over the columns, for each row.
    fn row_products(&self, a: &Self::Mat, b: &Self::Mat) -> Vec<f64>;

    /// Inner products of `v` with some others.
    fn inner_products(&self, others: &[Self::Mat], v: &Self::Mat) -> Vec<f64>;

    /// `v += scale * sum of factors[i] others[i]`.
    fn add_multiples(&self, v: &mut Self::Mat, scale: f64, factors: &[f64], others: &[Self::Mat]);

    /// Eigenvalues (increasing) and eigenvectors (columns) of a small symmetric matrix.
    fn eigen(&self, m: &Matrix) -> Result<(Vec<f64>, Matrix)>;

    /// The Cholesky factor of `m + shift I` for a symmetric m; `None` if there is none.
    fn shifted_cholesky(
        &self,
        m: &Self::Mat,
        shift: f64,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<Self::Factor>>;

    /// `m^-1 x` in place, with the factor of m.
    fn solve(&self, factor: &Self::Factor, x: &mut Self::Mat);

    /// Threads for work in memory.
    fn threads(&self) -> usize;

    /// Sum of products of all entries.
    fn inner(&self, a: &Self::Mat, b: &Self::Mat) -> f64 {
        self.row_products(a, b).iter().sum()
    }

    /// `v'v`, exactly symmetric.
    fn gram(&self, v: &Self::Mat) -> Matrix {
        let mut gram = self.cross(v, v);
        crate::linalg::symmetrise(&mut gram);
        gram
    }

    /// `a - b`.
    fn minus(&self, a: &Self::Mat, b: &Self::Mat) -> Self::Mat {
        let mut out = a.clone();
        self.add_scaled(&mut out, -1.0, b);
        out
    }
}
