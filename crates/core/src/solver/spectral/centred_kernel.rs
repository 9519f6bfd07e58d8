//! K, on coefficients that add up to zero if intercepts are free; and the inverse of `K + shift I`.

use super::span::Span;
use crate::backend::Interrupt;
use crate::linalg::{self, BlockCholesky, view};
use crate::{Matrix, Result};
use rayon::prelude::*;

/// The Gram matrix of all inputs. If intercepts are free, it stands for `H K H`, where H takes means away.
pub(super) struct CentredKernel<'a> {
    pub(super) matrix: &'a Matrix,
    pub(super) centred: bool,
    pub(super) threads: usize,
}

/// The least shift, relative to the trace of K, which is exact up to rounding errors only.
const LEAST_SHIFT: f64 = 1e-14;

impl CentredKernel<'_> {
    /// `K z`.
    pub(super) fn times(&self, z: &Matrix) -> Matrix {
        let mut images = linalg::times(view(self.matrix), view(z), self.threads);
        self.centre(&mut images);
        images
    }

    /// Takes means from columns, if intercepts are free.
    pub(super) fn centre(&self, columns: &mut Matrix) {
        if self.centred {
            columns.remove_means();
        }
    }

    /// The span of some inputs, at equal distances in the list. Their images are columns of K.
    pub(super) fn span_of_inputs(&self, count: usize) -> Span {
        let n = self.matrix.rows();
        let inputs: Vec<usize> = (0..count).map(|j| j * n / count).collect();
        let (mut directions, mut images) = (Matrix::zeros(n, count), Matrix::zeros(n, count));
        inputs.iter().enumerate().for_each(|(j, &input)| directions[(input, j)] = 1.0);
        images.as_mut_slice().par_chunks_mut(count).enumerate().for_each(|(i, out)| {
            let values = self.matrix.row(i);
            let mean = if self.centred { values.iter().sum::<f64>() / n as f64 } else { 0.0 };
            out.iter_mut().zip(&inputs).for_each(|(x, &input)| *x = values[input] - mean);
        });
        self.centre(&mut directions);
        self.centre(&mut images);
        Span { directions, images }
    }

    /// `None` if `K + shift I` has no Cholesky factor.
    pub(super) fn shifted(
        &self,
        shift: f64,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<ShiftedInverse>> {
        let (n, threads) = (self.matrix.rows(), self.threads);
        let trace: f64 = (0..n).map(|i| self.matrix[(i, i)]).sum();
        let shift = shift.max(LEAST_SHIFT * trace);
        let mut shifted = self.matrix.clone();
        (0..n).for_each(|i| shifted[(i, i)] += shift);
        let Some(factor) = BlockCholesky::new(shifted, threads, interrupt)? else { return Ok(None) };
        let of_ones = self.centred.then(|| {
            let mut ones = Matrix::zeros(n, 1);
            ones.as_mut_slice().fill(1.0);
            factor.solve(&mut ones, threads);
            let sum: f64 = ones.as_slice().iter().sum();
            ones.scale(1.0 / sum);
            ones.into_vec()
        });
        Ok(Some(ShiftedInverse { factor, shift, of_ones, threads }))
    }
}

/// `(K + shift I)^-1`.
pub(super) struct ShiftedInverse {
    factor: BlockCholesky,
    pub(super) shift: f64,
    /// `(K + shift I)^-1 1` divided by its sum, if intercepts are free.
    of_ones: Option<Vec<f64>>,
    threads: usize,
}

impl ShiftedInverse {
    /// `D = (K + shift I)^-1 R` and `K D = R - shift D`. With free intercepts `D = (K + shift I)^-1 (R - 1 mu')` with
    /// the mu for which columns of D add up to zero; the means of `K D` are left out.
    pub(super) fn times(&self, rest: &Matrix) -> Span {
        let (mut directions, mut images) = (rest.clone(), rest.clone());
        self.factor.solve(&mut directions, self.threads);
        if let Some(of_ones) = &self.of_ones {
            let mut sums = vec![0.0; directions.cols()];
            (0..directions.rows()).for_each(|i| linalg::axpy(&mut sums, 1.0, directions.row(i)));
            of_ones.iter().enumerate().for_each(|(i, x)| linalg::axpy(directions.row_mut(i), -x, &sums));
            directions.remove_means();
        }
        images.add_scaled(-self.shift, &directions);
        if self.of_ones.is_some() {
            images.remove_means();
        }
        Span { directions, images }
    }
}
