//! Centred moments of some rows, and how those of two parts become those of both.
//!
//! For rows z = (x, y) with weights w, W their sum and m the weighted mean: `sum w (z - m)(z - m)'` of the features
//! with each other (`xx`) and with each label (`xy`), and of each label with itself (`yy`). Two parts a and b have
//! together (Chan, Golub, LeVeque 1979)
//!
//! ```text
//! m = m_a + (m_b - m_a) W_b / W,     S = S_a + S_b + (m_b - m_a)(m_b - m_a)' W_a W_b / W,
//! ```
//!
//! a sum of semidefinite terms, without the cancellation of `sum w z z' - W m m'`. Means are kept in twice the
//! precision of a double: those of two parts may agree in all their digits. Columns are in units of powers of two, so
//! that no square over- or underflows.

use crate::Matrix;
use crate::inputs::Inputs;
use crate::linalg::{self, power_of_two, view, view_mut};

/// Rows that are multiplied at a time.
const BLOCK_ROWS: usize = 512;

/// RowMoments of rows with d features and k labels each. Columns are the features, then the labels.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RowMoments {
    /// Rows of positive weight.
    pub(super) rows: u64,
    /// Sum of their weights; positive.
    pub(super) weight: f64,
    /// Unit of each column: a power of two.
    pub(super) unit: Vec<f64>,
    /// Mean of each column, in its unit, as a sum of two numbers.
    pub(super) mean: Vec<f64>,
    /// What the first of them lacks.
    pub(super) mean_rest: Vec<f64>,
    /// The lower triangle, features x features.
    pub(super) xx: Matrix,
    /// Features x labels.
    pub(super) xy: Matrix,
    /// Of each label.
    pub(super) yy: Vec<f64>,
}

/// Rows of a batch: which they are, with their positive weights and the labels of all of them, row by row.
pub(super) struct LabelledRows<'a> {
    pub(super) rows: &'a [u32],
    pub(super) weights: &'a [f64],
    pub(super) labels: &'a [f64],
}

impl RowMoments {
    /// Of some rows; there must be one. Two passes: means, then differences from them.
    pub(super) fn of_rows(inputs: &Inputs<'_>, given: &LabelledRows<'_>) -> Self {
        let (d, n) = (inputs.n_features(), given.rows.len());
        let k = given.labels.len() / n;
        let (mut unit, mut shift, mut first) = (vec![0.0f64; d + k], vec![0.0; d + k], vec![]);
        let mut weight = 0.0;
        for_each_block(inputs, given, |x, y, weights| {
            for (i, w) in weights.iter().enumerate() {
                let row = || x.row(i).iter().chain(y.row(i));
                if first.is_empty() {
                    first.extend(row().copied());
                }
                for (((z, first), unit), shift) in row().zip(&first).zip(&mut unit).zip(&mut shift) {
                    *unit = unit.max(z.abs());
                    // Differences from some row: equal values have exactly this mean.
                    *shift += w * (z - first);
                }
                weight += w;
            }
        });
        unit.iter_mut().for_each(|unit| *unit = power_of_two(*unit));
        let (mut mean, mut mean_rest) = (vec![0.0; d + k], vec![0.0; d + k]);
        for j in 0..d + k {
            (mean[j], mean_rest[j]) = two_sum(first[j] / unit[j], shift[j] / weight / unit[j]);
        }
        let (mut xx, mut xy, mut yy) = (Matrix::zeros(d, d), Matrix::zeros(d, k), vec![0.0; k]);
        for_each_block(inputs, given, |x, y, weights| {
            for (i, w) in weights.iter().enumerate() {
                let (root, columns) = (w.sqrt(), (x.row_mut(i).iter_mut()).chain(y.row_mut(i)));
                for (j, z) in columns.enumerate() {
                    *z = (*z / unit[j] - mean[j] - mean_rest[j]) * root;
                }
                yy.iter_mut().zip(y.row(i)).for_each(|(sum, y)| *sum += y * y);
            }
            linalg::add_gram_lower(view_mut(&mut xx), view(x), 1.0, 1);
            linalg::add_product(view_mut(&mut xy), view(x).transpose(), view(y), 1);
        });
        RowMoments { rows: n as u64, weight, unit, mean, mean_rest, xx, xy, yy }
    }

    pub(super) fn n_features(&self) -> usize {
        self.xx.rows()
    }

    /// The moments of these rows and of others.
    pub(super) fn absorb(&mut self, mut other: RowMoments) {
        let (d, columns) = (self.n_features(), self.unit.len());
        let unit: Vec<f64> = self.unit.iter().zip(&other.unit).map(|(a, b)| a.max(*b)).collect();
        self.in_units(&unit);
        other.in_units(&unit);
        let total = self.weight + other.weight;
        let (share, factor) = (other.weight / total, self.weight * (other.weight / total));
        let apart: Vec<f64> = (0..columns)
            .map(|j| (other.mean[j] - self.mean[j]) + (other.mean_rest[j] - self.mean_rest[j]))
            .collect();
        for (i, apart_i) in apart[..d].iter().enumerate() {
            let (own, others) = (&mut self.xx.row_mut(i)[..=i], &other.xx.row(i)[..=i]);
            own.iter_mut().zip(others).for_each(|(own, other)| *own += other);
            linalg::axpy(own, factor * apart_i, &apart[..=i]);
            linalg::axpy(self.xy.row_mut(i), 1.0, other.xy.row(i));
            linalg::axpy(self.xy.row_mut(i), factor * apart_i, &apart[d..]);
        }
        for ((own, other), apart) in self.yy.iter_mut().zip(&other.yy).zip(&apart[d..]) {
            *own += other + factor * apart * apart;
        }
        for ((mean, rest), apart) in self.mean.iter_mut().zip(&mut self.mean_rest).zip(&apart) {
            (*mean, *rest) = two_sum(*mean, *rest + share * apart);
        }
        self.weight = total;
        self.rows += other.rows;
    }

    /// The same in other units, powers of two: exact.
    fn in_units(&mut self, unit: &[f64]) {
        if self.unit == unit {
            return;
        }
        let d = self.n_features();
        let ratio: Vec<f64> = self.unit.iter().zip(unit).map(|(old, new)| old / new).collect();
        for (j, ratio) in ratio.iter().enumerate() {
            self.mean[j] *= ratio;
            self.mean_rest[j] *= ratio;
        }
        for i in 0..d {
            self.xx.row_mut(i)[..=i].iter_mut().zip(&ratio).for_each(|(s, own)| *s *= ratio[i] * own);
            self.xy.row_mut(i).iter_mut().zip(&ratio[d..]).for_each(|(s, own)| *s *= ratio[i] * own);
        }
        self.yy.iter_mut().zip(&ratio[d..]).for_each(|(s, own)| *s *= own * own);
        self.unit = unit.to_vec();
    }

    /// The same with these labels only, in this order.
    pub(super) fn select_labels(&self, labels: &[usize]) -> RowMoments {
        let d = self.n_features();
        let columns = |all: &[f64]| -> Vec<f64> {
            all[..d].iter().copied().chain(labels.iter().map(|&k| all[d + k])).collect()
        };
        let mut xy = Matrix::zeros(d, labels.len());
        for i in 0..d {
            xy.row_mut(i).iter_mut().zip(labels).for_each(|(to, &k)| *to = self.xy[(i, k)]);
        }
        RowMoments {
            rows: self.rows,
            weight: self.weight,
            unit: columns(&self.unit),
            mean: columns(&self.mean),
            mean_rest: columns(&self.mean_rest),
            xx: self.xx.clone(),
            xy,
            yy: labels.iter().map(|&k| self.yy[k]).collect(),
        }
    }

    /// Mean and spread of label k, both in its unit.
    pub(super) fn label(&self, k: usize) -> ColumnMoments {
        let j = self.n_features() + k;
        self.column(j, self.yy[k])
    }

    /// Mean and spread of feature j, both in its unit.
    pub(super) fn feature(&self, j: usize) -> ColumnMoments {
        self.column(j, self.xx[(j, j)])
    }

    fn column(&self, j: usize, squares: f64) -> ColumnMoments {
        ColumnMoments {
            weight: self.weight,
            unit: self.unit[j],
            mean: self.mean[j],
            mean_rest: self.mean_rest[j],
            squares,
        }
    }
}

/// Weight, mean and sum of squared differences from it of one column, in units.
#[derive(Debug, Clone, Copy)]
pub(super) struct ColumnMoments {
    pub(super) weight: f64,
    pub(super) unit: f64,
    pub(super) mean: f64,
    pub(super) mean_rest: f64,
    pub(super) squares: f64,
}

impl ColumnMoments {
    /// Of the rows of both.
    pub(super) fn with(self, other: ColumnMoments) -> ColumnMoments {
        let unit = self.unit.max(other.unit);
        let (a, b) = (self.in_unit(unit), other.in_unit(unit));
        let weight = a.weight + b.weight;
        let apart = (b.mean - a.mean) + (b.mean_rest - a.mean_rest);
        let (mean, mean_rest) = two_sum(a.mean, a.mean_rest + apart * (b.weight / weight));
        let squares = a.squares + b.squares + a.weight * (b.weight / weight) * apart * apart;
        ColumnMoments { weight, unit, mean, mean_rest, squares }
    }

    fn in_unit(self, unit: f64) -> ColumnMoments {
        let ratio = self.unit / unit;
        ColumnMoments {
            unit,
            mean: self.mean * ratio,
            mean_rest: self.mean_rest * ratio,
            squares: self.squares * ratio * ratio,
            ..self
        }
    }

    /// Its standard deviation, in its unit.
    pub(super) fn deviation(&self) -> f64 {
        (self.squares / self.weight).sqrt()
    }
}

/// Calls `visit(features, labels, weights)` for blocks of rows, in double precision.
fn for_each_block(
    inputs: &Inputs<'_>,
    given: &LabelledRows<'_>,
    mut visit: impl FnMut(&mut Matrix, &mut Matrix, &[f64]),
) {
    let (d, n) = (inputs.n_features(), given.rows.len());
    let k = given.labels.len() / n;
    let (mut x, mut y) = (Matrix::default(), Matrix::default());
    for start in (0..n).step_by(BLOCK_ROWS) {
        let block = start..n.min(start + BLOCK_ROWS);
        x.reset(block.len(), d);
        y.reset(block.len(), k);
        inputs.load(&given.rows[block.clone()], x.as_mut_slice());
        y.as_mut_slice().copy_from_slice(&given.labels[block.start * k..block.end * k]);
        visit(&mut x, &mut y, &given.weights[block]);
    }
}

/// `a + b` as a sum of two numbers, the first of them rounded (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let second = sum - a;
    (sum, (a - (sum - second)) + (b - second))
}
