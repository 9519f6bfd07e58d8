//! Matrices in memory.

use super::Algebra;
use crate::interrupt::Interrupt;
use crate::linalg::{self, BlockCholesky, axpy, dot, view};
use crate::{Matrix, Result};
use rayon::prelude::*;

/// Linear algebra in memory, with so many threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Host {
    pub(crate) threads: usize,
}

/// Entries of all vectors handled at a time, by one thread: they stay in its cache.
const CHUNK: usize = 8192;

impl Algebra for Host {
    type Mat = Matrix;
    type Factor = BlockCholesky;

    fn put(&self, m: &Matrix) -> Matrix {
        m.clone()
    }

    fn get(&self, m: &Matrix) -> Matrix {
        m.clone()
    }

    fn shape(&self, m: &Matrix) -> (usize, usize) {
        (m.rows(), m.cols())
    }

    fn times(&self, a: &Matrix, b: &Matrix) -> Matrix {
        linalg::times(view(a), view(b), self.threads)
    }

    fn times_small(&self, a: &Matrix, b: &Matrix) -> Matrix {
        self.times(a, b)
    }

    fn times_transposed(&self, a: &Matrix, b: &Matrix) -> Matrix {
        linalg::times(view(a), view(b).transpose(), self.threads)
    }

    fn times_small_transposed(&self, a: &Matrix, b: &Matrix) -> Matrix {
        self.times_transposed(a, b)
    }

    fn add_times_small(&self, y: &mut Matrix, a: &Matrix, b: &Matrix) {
        linalg::add_product(linalg::view_mut(y), view(a), view(b), self.threads);
    }

    fn cross(&self, a: &Matrix, b: &Matrix) -> Matrix {
        linalg::times(view(a).transpose(), view(b), self.threads)
    }

    fn add_scaled(&self, y: &mut Matrix, factor: f64, x: &Matrix) {
        y.add_scaled(factor, x);
    }

    fn scale(&self, x: &mut Matrix, factor: f64) {
        x.scale(factor);
    }

    fn scale_columns(&self, x: &mut Matrix, factors: &[f64]) {
        for i in 0..x.rows() {
            x.row_mut(i).iter_mut().zip(factors).for_each(|(x, factor)| *x *= factor);
        }
    }

    fn scale_rows(&self, x: &mut Matrix, factors: &[f64]) {
        for (i, factor) in factors.iter().enumerate() {
            x.row_mut(i).iter_mut().for_each(|x| *x *= factor);
        }
    }

    fn multiply(&self, x: &mut Matrix, by: &Matrix) {
        x.as_mut_slice().iter_mut().zip(by.as_slice()).for_each(|(x, by)| *x *= by);
    }

    fn divide_shifted(&self, x: &mut Matrix, rows: &[f64], columns: &[f64]) {
        for (i, row) in rows.iter().enumerate() {
            x.row_mut(i).iter_mut().zip(columns).for_each(|(x, column)| *x /= 1.0 + row * column);
        }
    }

    fn column_products(&self, a: &Matrix, b: &Matrix) -> Vec<f64> {
        let mut sums = vec![0.0; a.cols()];
        for i in 0..a.rows() {
            for (sum, (a, b)) in sums.iter_mut().zip(a.row(i).iter().zip(b.row(i))) {
                *sum += a * b;
            }
        }
        sums
    }

    fn row_products(&self, a: &Matrix, b: &Matrix) -> Vec<f64> {
        (0..a.rows()).map(|i| dot(a.row(i), b.row(i))).collect()
    }

    /// Fixed chunks, added up in order: same bits for any number of threads.
    fn inner_products(&self, others: &[Matrix], v: &Matrix) -> Vec<f64> {
        let of_chunk = |(c, chunk): (usize, &[f64])| -> Vec<f64> {
            let start = c * CHUNK;
            others.iter().map(|other| dot(&other.as_slice()[start..start + chunk.len()], chunk)).collect()
        };
        let parts: Vec<Vec<f64>> = v.as_slice().par_chunks(CHUNK).enumerate().map(of_chunk).collect();
        let mut sums = vec![0.0; others.len()];
        parts.iter().for_each(|part| axpy(&mut sums, 1.0, part));
        sums
    }

    fn add_multiples(&self, v: &mut Matrix, scale: f64, factors: &[f64], others: &[Matrix]) {
        v.as_mut_slice().par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| {
            let start = c * CHUNK;
            for (factor, other) in factors.iter().zip(others) {
                axpy(chunk, scale * factor, &other.as_slice()[start..start + chunk.len()]);
            }
        });
    }

    fn eigen(&self, m: &Matrix) -> Result<(Vec<f64>, Matrix)> {
        linalg::eigen(m)
    }

    fn shifted_cholesky(
        &self,
        m: &Matrix,
        shift: f64,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<BlockCholesky>> {
        let mut shifted = m.clone();
        (0..m.rows()).for_each(|i| shifted[(i, i)] += shift);
        BlockCholesky::new(shifted, self.threads, interrupt)
    }

    fn solve(&self, factor: &BlockCholesky, x: &mut Matrix) {
        factor.solve(x, self.threads);
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn inner(&self, a: &Matrix, b: &Matrix) -> f64 {
        linalg::inner(a, b)
    }
}
