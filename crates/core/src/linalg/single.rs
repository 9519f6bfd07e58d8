//! Products in single precision, for directions and other guesses: half the time, and seven digits.

use super::{power_of_two, shared_product};
use crate::Matrix;
use faer::{Accum, MatMut, MatRef};
use rayon::prelude::*;

/// A matrix in single precision, its entries between -1 and 1 times a unit, so that no product over- or
/// underflows.
#[derive(Debug)]
pub(crate) struct SinglePrecision {
    values: Vec<f32>,
    rows: usize,
    cols: usize,
    unit: f64,
}

/// Smaller entries become zero. Then no product is a subnormal number; arithmetic with these is slow.
const SMALLEST_ENTRY: f32 = 1e-18;
/// Entries handled at a time.
const CHUNK_ENTRIES: usize = 1 << 14;

impl SinglePrecision {
    pub(crate) fn new(m: &Matrix) -> Self {
        let most = |part: &[f64]| part.iter().fold(0.0f64, |most, x| x.abs().max(most));
        let unit = power_of_two(m.as_slice().par_chunks(CHUNK_ENTRIES).map(most).reduce(|| 0.0, f64::max));
        let mut values = vec![0f32; m.as_slice().len()];
        values.par_chunks_mut(CHUNK_ENTRIES).zip(m.as_slice().par_chunks(CHUNK_ENTRIES)).for_each(
            |(out, x)| {
                for (out, x) in out.iter_mut().zip(x) {
                    let x = (x / unit) as f32;
                    *out = if x.abs() < SMALLEST_ENTRY { 0.0 } else { x };
                }
            },
        );
        SinglePrecision { values, rows: m.rows(), cols: m.cols(), unit }
    }

    fn view(&self) -> MatRef<'_, f32> {
        MatRef::from_row_major_slice(&self.values, self.rows, self.cols)
    }

    /// The product with another.
    pub(crate) fn times(&self, other: &SinglePrecision, threads: usize) -> Matrix {
        product(self.view(), other.view(), self.unit * other.unit, threads)
    }

    /// The product with the transpose of another.
    pub(crate) fn times_transposed(&self, other: &SinglePrecision, threads: usize) -> Matrix {
        product(self.view(), other.view().transpose(), self.unit * other.unit, threads)
    }

    /// The product of the transpose with another.
    pub(crate) fn cross(&self, other: &SinglePrecision, threads: usize) -> Matrix {
        product(self.view().transpose(), other.view(), self.unit * other.unit, threads)
    }
}

fn product(a: MatRef<'_, f32>, b: MatRef<'_, f32>, unit: f64, threads: usize) -> Matrix {
    let mut rough = vec![0f32; a.nrows() * b.ncols()];
    let target = MatMut::from_row_major_slice_mut(&mut rough, a.nrows(), b.ncols());
    shared_product(target, Accum::Replace, 1.0, a, b, threads);
    let mut out = Matrix::zeros(a.nrows(), b.ncols());
    out.as_mut_slice().par_chunks_mut(CHUNK_ENTRIES).zip(rough.par_chunks(CHUNK_ENTRIES)).for_each(
        |(out, x)| {
            out.iter_mut().zip(x).for_each(|(out, x)| *out = f64::from(*x) * unit);
        },
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_have_seven_digits_at_any_scale() {
        let numbers =
            |n: usize, unit: f64| (0..n).map(|i| ((i * i) as f64).sin() * unit).collect::<Vec<f64>>();
        for unit in [1e-120, 1.0, 1e120] {
            let a = Matrix::from_vec(numbers(15, unit), 5, 3).unwrap();
            let b = Matrix::from_vec(numbers(12, 1.0 / unit), 3, 4).unwrap();
            let (exact, rough) = (a.times(&b), SinglePrecision::new(&a).times(&SinglePrecision::new(&b), 1));
            let crossed = SinglePrecision::new(&a.transposed()).cross(&SinglePrecision::new(&b), 1);
            let turned = SinglePrecision::new(&a).times_transposed(&SinglePrecision::new(&b.transposed()), 1);
            for other in [rough, crossed, turned] {
                let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-6;
                assert!(exact.as_slice().iter().zip(other.as_slice()).all(near));
            }
        }
    }
}
