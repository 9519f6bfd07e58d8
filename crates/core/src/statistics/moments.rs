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

/// Rows that are multiplied at a time: at least so many, and so many numbers.
const BLOCK_ROWS: usize = 512;
const BLOCK_NUMBERS: usize = 1 << 18;

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
    /// Of some rows; there must be one.
    pub(super) fn of_rows(inputs: &Inputs<'_>, given: &LabelledRows<'_>) -> Self {
        let mut blocks = RowBlocks::new(inputs, given);
        let (d, k) = (blocks.d, blocks.k);
        let RowMeans { weight, unit, mean, mean_rest } = RowMeans::of(&mut blocks);
        let (xx, xy, yy) = (Matrix::zeros(d, d), Matrix::zeros(d, k), vec![0.0; k]);
        let mut own = RowMoments { rows: given.rows.len() as u64, weight, unit, mean, mean_rest, xx, xy, yy };
        let (mean, mean_rest) = (own.mean.clone(), own.mean_rest.clone());
        own.add_squares(&mut blocks, &mean, &mean_rest);
        own
    }

    /// Adds some rows; there must be one.
    pub(super) fn add_rows(&mut self, inputs: &Inputs<'_>, given: &LabelledRows<'_>) {
        let mut blocks = RowBlocks::new(inputs, given);
        let mut more = RowMeans::of(&mut blocks);
        let unit: Vec<f64> = self.unit.iter().zip(&more.unit).map(|(a, b)| a.max(*b)).collect();
        self.in_units(&unit);
        more.in_units(&unit);
        self.add_squares(&mut blocks, &more.mean, &more.mean_rest);
        self.join(&more, given.rows.len() as u64);
    }

    /// Adds the squares of differences from these means, in the units of these moments.
    fn add_squares(&mut self, blocks: &mut RowBlocks<'_>, mean: &[f64], mean_rest: &[f64]) {
        let d = self.n_features();
        let inverse: Vec<f64> = self.unit.iter().map(|unit| 1.0 / unit).collect();
        for block in 0..blocks.len() {
            let (x, y, weights) = blocks.load(block);
            for (rows, columns) in [(&mut *x, 0..d), (&mut *y, d..inverse.len())] {
                pulp::Arch::new().dispatch(CentreRows {
                    rows: rows.as_mut_slice(),
                    weights,
                    inverse: &inverse[columns.clone()],
                    mean: &mean[columns.clone()],
                    mean_rest: &mean_rest[columns],
                });
            }
            for i in 0..weights.len() {
                self.yy.iter_mut().zip(y.row(i)).for_each(|(sum, y)| *sum += y * y);
            }
            linalg::add_gram_lower(view_mut(&mut self.xx), view(x), 1.0, 1);
            linalg::add_product(view_mut(&mut self.xy), view(x).transpose(), view(y), 1);
        }
    }

    pub(super) fn n_features(&self) -> usize {
        self.xx.rows()
    }

    /// The moments of these rows and of others.
    pub(super) fn absorb(&mut self, mut other: RowMoments) {
        let d = self.n_features();
        let unit: Vec<f64> = self.unit.iter().zip(&other.unit).map(|(a, b)| a.max(*b)).collect();
        self.in_units(&unit);
        other.in_units(&unit);
        for i in 0..d {
            let (own, others) = (&mut self.xx.row_mut(i)[..=i], &other.xx.row(i)[..=i]);
            own.iter_mut().zip(others).for_each(|(own, other)| *own += other);
            linalg::axpy(self.xy.row_mut(i), 1.0, other.xy.row(i));
        }
        linalg::axpy(&mut self.yy, 1.0, &other.yy);
        let RowMoments { rows, weight, unit, mean, mean_rest, .. } = other;
        self.join(&RowMeans { weight, unit, mean, mean_rest }, rows);
    }

    /// Adds what comes from the distance of the means of others, whose squares were added, in the same units.
    fn join(&mut self, other: &RowMeans, rows: u64) {
        let d = self.n_features();
        let total = self.weight + other.weight;
        let (share, factor) = (other.weight / total, self.weight * (other.weight / total));
        let apart: Vec<f64> = (0..self.unit.len())
            .map(|j| (other.mean[j] - self.mean[j]) + (other.mean_rest[j] - self.mean_rest[j]))
            .collect();
        for (i, apart_i) in apart[..d].iter().enumerate() {
            linalg::axpy(&mut self.xx.row_mut(i)[..=i], factor * apart_i, &apart[..=i]);
            linalg::axpy(self.xy.row_mut(i), factor * apart_i, &apart[d..]);
        }
        for (own, apart) in self.yy.iter_mut().zip(&apart[d..]) {
            *own += factor * apart * apart;
        }
        for ((mean, rest), apart) in self.mean.iter_mut().zip(&mut self.mean_rest).zip(&apart) {
            (*mean, *rest) = two_sum(*mean, *rest + share * apart);
        }
        self.weight = total;
        self.rows += rows;
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

/// Means of some rows, in units.
struct RowMeans {
    weight: f64,
    unit: Vec<f64>,
    mean: Vec<f64>,
    mean_rest: Vec<f64>,
}

impl RowMeans {
    fn of(blocks: &mut RowBlocks<'_>) -> Self {
        let (d, k) = (blocks.d, blocks.k);
        let (mut unit, mut shift, mut first) = (vec![0.0f64; d + k], vec![0.0; d + k], vec![]);
        let mut weight = 0.0;
        for block in 0..blocks.len() {
            let (x, y, weights) = blocks.load(block);
            if first.is_empty() {
                first = [x.row(0), y.row(0)].concat();
            }
            for (rows, columns) in [(&*x, 0..d), (&*y, d..d + k)] {
                pulp::Arch::new().dispatch(LookAtRows {
                    rows: rows.as_slice(),
                    weights,
                    first: &first[columns.clone()],
                    largest: &mut unit[columns.clone()],
                    shift: &mut shift[columns],
                });
            }
            weights.iter().for_each(|w| weight += w);
        }
        unit.iter_mut().for_each(|unit| *unit = power_of_two(*unit));
        let (mut mean, mut mean_rest) = (vec![0.0; d + k], vec![0.0; d + k]);
        for j in 0..d + k {
            (mean[j], mean_rest[j]) = two_sum(first[j] / unit[j], shift[j] / weight / unit[j]);
        }
        RowMeans { weight, unit, mean, mean_rest }
    }

    /// The same in other units, powers of two.
    fn in_units(&mut self, unit: &[f64]) {
        for (j, unit) in unit.iter().enumerate() {
            self.mean[j] *= self.unit[j] / unit;
            self.mean_rest[j] *= self.unit[j] / unit;
        }
        self.unit = unit.to_vec();
    }
}

/// Finds the largest absolute values of columns, and adds up differences from some row: equal values have exactly this
/// mean.
struct LookAtRows<'a> {
    rows: &'a [f64],
    weights: &'a [f64],
    first: &'a [f64],
    largest: &'a mut [f64],
    shift: &'a mut [f64],
}

impl pulp::NullaryFnOnce for LookAtRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let LookAtRows { rows, weights, first, largest, shift } = self;
        for (row, w) in rows.chunks_exact(first.len().max(1)).zip(weights) {
            let columns = row.iter().zip(first).zip(&mut *largest).zip(&mut *shift);
            columns.for_each(|(((z, first), largest), shift)| {
                let size = z.abs();
                *largest = if size > *largest { size } else { *largest };
                *shift += w * (z - first);
            });
        }
    }
}

/// Brings rows to units, less their means, times the roots of their weights.
struct CentreRows<'a> {
    rows: &'a mut [f64],
    weights: &'a [f64],
    inverse: &'a [f64],
    mean: &'a [f64],
    mean_rest: &'a [f64],
}

impl pulp::NullaryFnOnce for CentreRows<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let CentreRows { rows, weights, inverse, mean, mean_rest } = self;
        for (row, w) in rows.chunks_exact_mut(mean.len().max(1)).zip(weights) {
            let root = w.sqrt();
            let columns = row.iter_mut().zip(inverse).zip(mean).zip(mean_rest);
            columns.for_each(|(((z, inverse), mean), rest)| *z = (*z * inverse - mean - rest) * root);
        }
    }
}

/// Rows that are loaded some at a time, in double precision.
struct RowBlocks<'a> {
    inputs: &'a Inputs<'a>,
    given: &'a LabelledRows<'a>,
    d: usize,
    k: usize,
    /// Rows of a block.
    most: usize,
    x: Matrix,
    y: Matrix,
    /// The block that is loaded.
    loaded: Option<usize>,
}

impl<'a> RowBlocks<'a> {
    fn new(inputs: &'a Inputs<'a>, given: &'a LabelledRows<'a>) -> Self {
        let (d, n) = (inputs.n_features(), given.rows.len());
        let (k, most) = (given.labels.len() / n, (BLOCK_NUMBERS / d).max(BLOCK_ROWS));
        RowBlocks { inputs, given, d, k, most, x: Matrix::default(), y: Matrix::default(), loaded: None }
    }

    fn len(&self) -> usize {
        self.given.rows.len().div_ceil(self.most)
    }

    /// Features, labels and weights of a block. A block that is loaded already is as it was left.
    fn load(&mut self, block: usize) -> (&mut Matrix, &mut Matrix, &'a [f64]) {
        let (first, k) = (block * self.most, self.k);
        let rows = first..self.given.rows.len().min(first + self.most);
        if self.loaded != Some(block) {
            self.x.reset(rows.len(), self.d);
            self.y.reset(rows.len(), k);
            self.inputs.load(&self.given.rows[rows.clone()], self.x.as_mut_slice());
            self.y.as_mut_slice().copy_from_slice(&self.given.labels[rows.start * k..rows.end * k]);
            self.loaded = Some(block);
        }
        (&mut self.x, &mut self.y, &self.given.weights[rows])
    }
}

/// `a + b` as a sum of two numbers, the first of them rounded (Knuth).
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let second = sum - a;
    (sum, (a - (sum - second)) + (b - second))
}
