//! `(I + r B) x = y` for many columns, each with its own r: one Cholesky factor per column, eight columns
//! side by side.

use super::Band;
use crate::Matrix;
use rayon::prelude::*;

/// Columns at a time, as compilers turn into vector instructions.
const LANES: usize = 8;

type Lane = [f64; LANES];

impl Band {
    /// Solves `(I + rate_j B) x_j = y_j` for every column j, in place; no rate is negative, nor is B.
    pub(crate) fn solve_shifted(&self, rates: &[f64], columns: &mut Matrix, threads: usize) {
        let starts: Vec<usize> = (0..rates.len()).step_by(LANES).collect();
        let solve = |&from: &usize| pulp::Arch::new().dispatch(Group { band: self, rates, columns, from });
        let solved: Vec<Vec<Lane>> = match threads {
            0 | 1 => starts.iter().map(solve).collect(),
            _ => starts.par_iter().map(solve).collect(),
        };
        for (from, solved) in starts.iter().zip(solved) {
            let some = (rates.len() - from).min(LANES);
            for (i, x) in solved.iter().enumerate() {
                columns.row_mut(i)[*from..from + some].copy_from_slice(&x[..some]);
            }
        }
    }
}

/// Columns `from` to `from + LANES`, as far as there are.
struct Group<'a> {
    band: &'a Band,
    rates: &'a [f64],
    columns: &'a Matrix,
    from: usize,
}

impl pulp::NullaryFnOnce for Group<'_> {
    type Output = Vec<Lane>;

    #[inline(always)]
    fn call(self) -> Vec<Lane> {
        let Group { band, rates, columns, from } = self;
        let lane = |row: &[f64]| std::array::from_fn(|c| row.get(from + c).copied().unwrap_or(0.0));
        let rate: Lane = lane(rates);
        let mut x: Vec<Lane> = (0..band.len()).map(|i| lane(columns.row(i))).collect();
        solve(band, &rate, &mut x);
        x
    }
}

/// `I + r B = L diag(d) L'`, row after row, and x along with it.
#[inline(always)]
fn solve(band: &Band, rate: &Lane, x: &mut [Lane]) {
    let (n, width) = (band.len(), band.width());
    // Row i of L: columns i - width to i - 1.
    let mut factor = vec![[0.0; LANES]; n * width];
    let mut inverse = vec![[1.0; LANES]; n];
    // Row i of L diag(d).
    let mut scaled = vec![[0.0; LANES]; width];
    for i in 0..n {
        let (first, entries) = band.row(i);
        let (before, row) = factor.split_at_mut(i * width);
        let row = &mut row[..width];
        let (mut pivot, mut sum) = (times(rate, entries[i - first]).map(|r| 1.0 + r), x[i]);
        for k in first..i {
            let mut g = times(rate, entries[k - first]);
            let other = &before[k * width..(k + 1) * width][first + width - k..];
            for (a, b) in scaled[..k - first].iter().zip(other) {
                subtract(&mut g, a, b);
            }
            let mut entry = g;
            for l in 0..LANES {
                entry[l] *= inverse[k][l];
            }
            subtract(&mut pivot, &g, &entry);
            subtract(&mut sum, &entry, &x[k]);
            (scaled[k - first], row[k + width - i]) = (g, entry);
        }
        inverse[i] = pivot.map(f64::recip);
        x[i] = sum;
    }
    for (x, inverse) in x.iter_mut().zip(&inverse) {
        for l in 0..LANES {
            x[l] *= inverse[l];
        }
    }
    for i in (0..n).rev() {
        let (first, solved) = (i.saturating_sub(width), x[i]);
        let row = &factor[i * width..(i + 1) * width][first + width - i..];
        for (x, entry) in x[first..i].iter_mut().zip(row) {
            subtract(x, entry, &solved);
        }
    }
}

#[inline(always)]
fn times(a: &Lane, b: f64) -> Lane {
    a.map(|a| a * b)
}

/// `out -= a b`.
#[inline(always)]
fn subtract(out: &mut Lane, a: &Lane, b: &Lane) {
    for l in 0..LANES {
        out[l] -= a[l] * b[l];
    }
}
