//! Band matrices: symmetric, with zeros far from the diagonal. Bringing a matrix into this form takes a few
//! fast products, at most a fifth of the time of eigenvectors. Equations with a band, or with any multiple of
//! it plus the identity, are then solved quickly.

mod factor;
mod reflections;
mod shifted;

pub(crate) use factor::Root;
pub(crate) use reflections::{Reflections, reduce};

use crate::Matrix;
use crate::linalg::axpy;

/// A symmetric matrix B with `B_ij = 0` for `|i - j| > width`.
#[derive(Debug)]
pub(crate) struct Band {
    /// Row i: columns `i - width` to i.
    rows: Matrix,
}

impl Band {
    /// Of the entries `entry(i, j)`, `i - width <= j <= i`.
    fn new(n: usize, width: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut rows = Matrix::zeros(n, width + 1);
        for i in 0..n {
            for j in i.saturating_sub(width)..=i {
                rows[(i, j + width - i)] = entry(i, j);
            }
        }
        Band { rows }
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.rows()
    }

    fn width(&self) -> usize {
        self.rows.cols() - 1
    }

    /// Columns `first..=i` of row i, and `first`.
    fn row(&self, i: usize) -> (usize, &[f64]) {
        let first = i.saturating_sub(self.width());
        (first, &self.rows.row(i)[first + self.width() - i..])
    }

    /// `B x`.
    pub(crate) fn times(&self, x: &Matrix) -> Matrix {
        let mut out = Matrix::zeros(x.rows(), x.cols());
        for i in 0..x.rows() {
            let (first, row) = self.row(i);
            for (j, &b) in (first..).zip(row) {
                axpy(out.row_mut(i), b, x.row(j));
                if j < i {
                    axpy(out.row_mut(j), b, x.row(i));
                }
            }
        }
        out
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::interrupt::Interrupt;
    use crate::linalg::{self, view};
    use proptest::prelude::*;

    /// X'X of pseudo-random inputs whose features differ in size by orders of magnitude.
    pub(crate) fn moment(n: usize, seed: u64, fall: f64) -> Matrix {
        let mut state = seed;
        let mut x = Matrix::zeros(n + 3, n);
        for i in 0..n + 3 {
            for j in 0..n {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                x[(i, j)] = ((state >> 40) as f64 / (1u64 << 24) as f64 - 0.5) * fall.powi(j as i32);
            }
        }
        linalg::times(view(&x).transpose(), view(&x), 1)
    }

    fn distance(a: &Matrix, b: &Matrix) -> f64 {
        a.as_slice().iter().zip(b.as_slice()).fold(0.0, |worst, (a, b)| worst.max((a - b).abs()))
    }

    fn some_columns(n: usize, cols: usize) -> Matrix {
        let entries = (0..n * cols).map(|k| ((k * 7919 + 13) % 101) as f64 / 50.0 - 1.0).collect();
        Matrix::from_vec(entries, n, cols).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// `Q B Q' x = A x`, and Q keeps lengths.
        #[test]
        fn a_band_is_the_same_matrix_in_another_basis(
            n in 1usize..90,
            seed in 1u64..1000,
            fall in 0.8f64..1.0,
        ) {
            let a = moment(n, seed, fall);
            let (band, turn) = reduce(a.clone(), &mut Interrupt::never()).unwrap();
            let x = some_columns(n, 3);
            let mut back = x.clone();
            turn.back(&mut back, 1);
            prop_assert!((linalg::inner(&back, &back) - linalg::inner(&x, &x)).abs() < 1e-10 * n as f64);
            let mut image = band.times(&back);
            turn.forth(&mut image, 1);
            let largest = a.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let product = linalg::times(view(&a), view(&x), 1);
            prop_assert!(distance(&image, &product) < 1e-11 * largest * n as f64);
        }

        /// `(I + r B) x = y` for every column with its own r, from nothing to far beyond 1 / |B|.
        #[test]
        fn shifted_equations_are_solved(n in 1usize..90, cols in 1usize..20, seed in 1u64..1000) {
            let (band, _) = reduce(moment(n, seed, 0.9), &mut Interrupt::never()).unwrap();
            let rate = |j: usize| if j == 0 { 0.0 } else { 10f64.powi(j as i32 % 13 - 6) };
            let rates: Vec<f64> = (0..cols).map(rate).collect();
            let y = some_columns(n, cols);
            let mut x = y.clone();
            band.solve_shifted(&rates, &mut x, 2);
            let mut image = band.times(&x);
            for i in 0..n {
                for j in 0..cols {
                    image[(i, j)] = x[(i, j)] + rates[j] * image[(i, j)];
                }
            }
            prop_assert!(distance(&image, &y) < 1e-8, "{}", distance(&image, &y));
        }

        /// `R'R = B`: R x, `R^-1 x` and `R R'`.
        #[test]
        fn roots_are_roots(n in 1usize..60, seed in 1u64..1000) {
            let (band, _) = reduce(moment(n, seed, 0.95), &mut Interrupt::never()).unwrap();
            let root = Root::of(&band).unwrap();
            let x = some_columns(n, 2);
            let image = root.times(&x);
            prop_assert!((linalg::inner(&image, &image) - linalg::inner(&x, &band.times(&x))).abs() < 1e-9);
            let mut solved = image;
            root.solve(&mut solved);
            prop_assert!(distance(&solved, &x) < 1e-6);
            // <x, R R' x> = |R'x|^2, by way of R^-1: R'x = R^-1 B ... only for the square itself.
            let square = root.square();
            let through = root.times(&band.times(&x));
            let mut whole = square.times(&root.times(&x));
            for (a, b) in whole.as_mut_slice().iter_mut().zip(through.as_slice()) {
                *a -= b;
            }
            prop_assert!(whole.as_slice().iter().all(|d| d.abs() < 1e-9));
        }
    }

    #[test]
    fn a_singular_band_has_no_root() {
        let (band, _) = reduce(Matrix::zeros(5, 5), &mut Interrupt::never()).unwrap();
        assert!(Root::of(&band).is_none());
    }
}
