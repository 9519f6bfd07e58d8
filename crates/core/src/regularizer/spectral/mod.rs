//! Regularisers of Theta as a whole, through its eigenvalues, one file each.
//!
//! Such a regulariser is a convex G(Theta). Solvers and the certificate need the two functions it gives rise
//! to,
//!
//! ```text
//! Omega(W) = min over Theta of tr(W Theta^+ W') / 2 + G(Theta), the regularisation of weights W
//! H(R)     = sup over Theta of <Theta, R> / 2 - G(Theta),       that of duals with the task Gram matrix R
//! ```
//!
//! Both depend on nothing but squared lengths of columns once tasks are rotated to the eigenvectors of W'W,
//! or of R: `Omega` is the conjugate of `V -> H(V'V)`. Any other rotation gives more than Omega, so that
//! rounding errors in eigenvectors keep the certificate on the safe side. Theta may be singular at the
//! solution, and mostly is.

mod box_trace;
mod clusters;
mod relationship;
mod trace;

pub use clusters::Clusters;
pub use relationship::Relationship;
pub use trace::Trace;

use crate::linalg::{self, view};
use crate::{Error, Matrix, Result};
use std::fmt::Debug;
use std::sync::Arc;

/// Omega and H as functions of the squared lengths of the columns of rotated weights, or duals, one per
/// direction.
pub trait SpectralFunction: Debug + Send + Sync {
    /// Name in messages and files.
    fn name(&self) -> &'static str;

    /// `Err` if it does not exist for this number of tasks.
    fn check_tasks(&self, _n_tasks: usize) -> Result<()> {
        Ok(())
    }

    /// Whether the mean of all tasks is kept as a direction: the first one.
    fn is_centred(&self) -> bool {
        false
    }

    /// Omega.
    fn value(&self, squares: &[f64]) -> f64;

    /// H.
    fn dual_value(&self, squares: &[f64]) -> f64;

    /// The largest factor up to one by which to multiply duals so that H is finite.
    fn feasible_share(&self, _squares: &[f64]) -> f64 {
        1.0
    }

    /// Eigenvalues of the Theta at which Omega is attained.
    fn theta(&self, squares: &[f64]) -> Vec<f64>;

    /// The lengths z that minimise `|z - lengths|^2 / 2 + tau Omega(z)`.
    fn shrink(&self, lengths: &[f64], tau: f64) -> Vec<f64>;

    /// About what a diagonal entry of Theta is where the diagonal of rho has this value: only to choose units
    /// and values of C.
    fn typical_theta(&self, rho: f64, n_tasks: usize) -> f64;
}

/// A regulariser of Theta as a whole, in some units: `H(R) -> (gain / rate) H(rate R)`, as for all
/// regularisers. Tasks of different groups have nothing in common.
#[derive(Debug, Clone)]
pub struct SpectralRegularizer {
    function: Arc<dyn SpectralFunction>,
    /// Tasks of each group.
    groups: Arc<Vec<Vec<usize>>>,
    gain: f64,
    rate: f64,
}

/// Directions of the tasks in which the regulariser is a function of squared lengths.
#[derive(Debug)]
pub(crate) struct Rotation {
    /// One direction per column, group by group.
    directions: Matrix,
}

impl SpectralRegularizer {
    /// A function for each group of tasks.
    pub(super) fn new(function: impl SpectralFunction + 'static, groups: Vec<Vec<usize>>) -> Self {
        SpectralRegularizer { function: Arc::new(function), groups: Arc::new(groups), gain: 1.0, rate: 1.0 }
    }

    /// The directions for weights with this `W'W`, or duals with this task Gram matrix.
    pub(crate) fn rotation(&self, gram: &Matrix) -> Result<Rotation> {
        let mut directions = Matrix::zeros(gram.rows(), gram.rows());
        let mut column = 0;
        for tasks in self.groups.iter() {
            let mut own = Matrix::zeros(tasks.len(), tasks.len());
            for (i, &r) in tasks.iter().enumerate() {
                tasks.iter().enumerate().for_each(|(j, &s)| own[(i, j)] = gram[(r, s)]);
            }
            let own = if self.function.is_centred() { centred(own)? } else { linalg::eigen(&own)?.1 };
            for (i, &r) in tasks.iter().enumerate() {
                directions.row_mut(r)[column..column + tasks.len()].copy_from_slice(own.row(i));
            }
            column += tasks.len();
        }
        Ok(Rotation { directions })
    }

    /// Values of each group's directions.
    fn parts<'v>(&self, mut values: &'v [f64]) -> Vec<&'v [f64]> {
        let mut parts = vec![];
        for tasks in self.groups.iter() {
            let (own, rest) = values.split_at(tasks.len());
            parts.push(own);
            values = rest;
        }
        parts
    }

    /// Omega of weights with these squared lengths.
    pub(crate) fn value(&self, squares: &[f64]) -> f64 {
        let squares = scaled(squares, self.rate / (self.gain * self.gain));
        let sum: f64 = self.parts(&squares).iter().map(|part| self.function.value(part)).sum();
        self.gain / self.rate * sum
    }

    /// H of duals with these squared lengths.
    pub(crate) fn dual_value(&self, squares: &[f64]) -> f64 {
        let squares = scaled(squares, self.rate);
        let sum: f64 = self.parts(&squares).iter().map(|part| self.function.dual_value(part)).sum();
        self.gain / self.rate * sum
    }

    pub(crate) fn feasible_share(&self, squares: &[f64]) -> f64 {
        let squares = scaled(squares, self.rate);
        self.parts(&squares).iter().map(|part| self.function.feasible_share(part)).fold(1.0, f64::min)
    }

    /// Theta of weights with these squared lengths.
    pub(crate) fn theta_of(&self, rotation: &Rotation, squares: &[f64]) -> Matrix {
        let squares = scaled(squares, self.rate / (self.gain * self.gain));
        let theta: Vec<f64> =
            self.parts(&squares).iter().flat_map(|part| self.function.theta(part)).collect();
        rotation.back(&scaled(&theta, self.gain))
    }

    /// The matrix that turns V with these squared lengths into the minimiser of `|Z - V|^2 / 2 + tau
    /// Omega(Z)`.
    pub(crate) fn shrinkage(&self, rotation: &Rotation, squares: &[f64], tau: f64) -> Matrix {
        let unit = self.gain / self.rate.sqrt();
        let lengths: Vec<f64> = squares.iter().map(|s| s.sqrt() / unit).collect();
        let shrink = |part: &&[f64]| self.function.shrink(part, tau / self.gain);
        let shrunk: Vec<f64> = self.parts(&lengths).iter().flat_map(shrink).collect();
        let factor = |(z, v): (&f64, &f64)| if *v > 0.0 { z / v } else { 0.0 };
        rotation.back(&shrunk.iter().zip(&lengths).map(factor).collect::<Vec<_>>())
    }
}

/// Eigenvectors of `Pi G Pi`, with the mean, far below all others, first.
fn centred(mut gram: Matrix) -> Result<Matrix> {
    let t = gram.rows();
    let (n, trace) = (t as f64, (0..t).map(|r| gram[(r, r)]).sum::<f64>());
    let below = if trace > 0.0 { trace } else { 1.0 };
    let means: Vec<f64> = (0..t).map(|r| gram.row(r).iter().sum::<f64>() / n).collect();
    let mean = means.iter().sum::<f64>() / n;
    for r in 0..t {
        for s in 0..t {
            gram[(r, s)] += mean - means[r] - means[s] - below / n;
        }
    }
    let mut directions = linalg::eigen(&gram)?.1;
    (0..t).for_each(|r| directions[(r, 0)] = n.sqrt().recip());
    Ok(directions)
}

fn scaled(values: &[f64], factor: f64) -> Vec<f64> {
    values.iter().map(|x| x * factor).collect()
}

impl Rotation {
    /// Squared lengths of the columns of rotated weights, given by coordinates and their state.
    pub(crate) fn squares(&self, coordinates: &Matrix, state: &Matrix, threads: usize) -> Vec<f64> {
        let turned = |m: &Matrix| linalg::times(view(m), view(&self.directions), threads);
        let (a, b) = (turned(coordinates), turned(state));
        let mut sums = vec![0.0; a.cols()];
        for i in 0..a.rows() {
            sums.iter_mut().zip(a.row(i).iter().zip(b.row(i))).for_each(|(sum, (x, y))| *sum += x * y);
        }
        sums.iter().map(|sum| sum.max(0.0)).collect()
    }

    /// The same from the Gram matrix of the columns: less exact where lengths are small beside others.
    pub(crate) fn squares_of(&self, gram: &Matrix) -> Vec<f64> {
        let turned = linalg::times(view(gram), view(&self.directions), 1);
        let t = gram.rows();
        let square = |j: usize| (0..t).map(|i| self.directions[(i, j)] * turned[(i, j)]).sum::<f64>();
        (0..t).map(|j| square(j).max(0.0)).collect()
    }

    /// `Q diag(values) Q'`.
    fn back(&self, values: &[f64]) -> Matrix {
        let mut scaled = self.directions.clone();
        for r in 0..scaled.rows() {
            scaled.row_mut(r).iter_mut().zip(values).for_each(|(x, value)| *x *= value);
        }
        let mut out = linalg::times(view(&scaled), view(&self.directions).transpose(), 1);
        linalg::symmetrise(&mut out);
        out
    }
}

impl SpectralRegularizer {
    pub(super) fn name(&self) -> &'static str {
        self.function.name()
    }

    /// `H(R) -> (gain / rate) H(rate R)`.
    pub(super) fn scaled(&self, gain: f64, rate: f64) -> Self {
        SpectralRegularizer { gain: self.gain * gain, rate: self.rate * rate, ..self.clone() }
    }

    /// About what Theta_rr is where rho_rr = rho: only to choose units and values of C.
    pub(super) fn typical_theta(&self, r: usize, rho: f64) -> f64 {
        let n_tasks = self.groups.iter().find(|tasks| tasks.contains(&r)).map_or(1, Vec::len);
        self.gain * self.function.typical_theta(self.rate * rho, n_tasks)
    }

    pub(super) fn check_tasks(&self, n_tasks: usize) -> Result<()> {
        let got = self.groups.iter().map(Vec::len).sum();
        if got != n_tasks {
            return Err(Error::Length { what: "the list of groups", got, expected: n_tasks });
        }
        self.groups.iter().try_for_each(|tasks| self.function.check_tasks(tasks.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<SpectralRegularizer> {
        vec![
            SpectralRegularizer::new(Trace::new(0.7).unwrap(), vec![vec![0, 1, 2, 3]]),
            SpectralRegularizer::new(Relationship::new(0.0, 0.4).unwrap(), vec![vec![0, 1, 2, 3]]),
            SpectralRegularizer::new(Relationship::new(0.3, 0.4).unwrap(), vec![vec![0, 1, 2, 3]]),
            SpectralRegularizer::new(Clusters::new(2, 0.2, 0.5, 2.0).unwrap(), vec![vec![0, 1, 2, 3]]),
            SpectralRegularizer::new(Clusters::new(1, 0.5, 0.5, 1.0).unwrap(), vec![vec![0, 1, 2, 3]]),
            SpectralRegularizer::new(Clusters::new(4, 0.1, 0.1, 1.0).unwrap(), vec![vec![0, 1, 2, 3]]),
            SpectralRegularizer::new(
                Relationship::new(0.1, 0.4).unwrap(),
                vec![vec![0, 2], vec![3], vec![1]],
            ),
        ]
    }

    /// Columns of a matrix (features x tasks) that depends on a number.
    fn weights(seed: u32) -> Matrix {
        let entry = |i: u32| (f64::from(seed) * 0.7 + f64::from(i * i) * 1.3 + f64::from(i)).sin();
        Matrix::from_vec((0..20).map(entry).collect(), 5, 4).unwrap()
    }

    fn gram(w: &Matrix) -> Matrix {
        linalg::times(view(w).transpose(), view(w), 1)
    }

    fn omega(penalty: &SpectralRegularizer, w: &Matrix) -> f64 {
        let rotation = penalty.rotation(&gram(w)).unwrap();
        penalty.value(&rotation.squares(w, w, 1))
    }

    fn h(penalty: &SpectralRegularizer, v: &Matrix) -> f64 {
        let gram = gram(v);
        penalty.dual_value(&penalty.rotation(&gram).unwrap().squares_of(&gram))
    }

    #[test]
    fn weights_and_duals_pay_at_least_their_product() {
        for penalty in examples() {
            for seed in 0..20 {
                let (w, mut v) = (weights(seed), weights(seed + 100));
                let rotation = penalty.rotation(&gram(&v)).unwrap();
                let share = penalty.feasible_share(&rotation.squares_of(&gram(&v)));
                v.as_mut_slice().iter_mut().for_each(|x| *x *= share);
                let gap = omega(&penalty, &w) + h(&penalty, &v) - linalg::inner(&w, &v);
                assert!(gap >= -1e-12, "{penalty:?}: {gap}");
            }
        }
    }

    #[test]
    fn shrinking_ends_where_weights_and_duals_pay_no_more_than_their_product() {
        // Z minimises |Z - V|^2 / 2 + tau Omega(Z) if and only if (V - Z) / tau is a subgradient of Omega at
        // Z.
        for penalty in examples() {
            for (seed, tau) in [(1, 0.1), (2, 1.0), (3, 3.0)] {
                let v = weights(seed);
                let rotation = penalty.rotation(&gram(&v)).unwrap();
                let factor = penalty.shrinkage(&rotation, &rotation.squares(&v, &v, 1), tau);
                let z = linalg::times(view(&v), view(&factor), 1);
                let mut slope = v.clone();
                linalg::axpy(slope.as_mut_slice(), -1.0, z.as_slice());
                slope.as_mut_slice().iter_mut().for_each(|x| *x *= (1.0 - 1e-13) / tau);
                let gap = omega(&penalty, &z) + h(&penalty, &slope) - linalg::inner(&z, &slope);
                assert!(gap.abs() < 1e-11, "{penalty:?} tau {tau}: {gap}");
            }
        }
    }

    #[test]
    fn theta_attains_the_price() {
        for penalty in examples() {
            let w = weights(7);
            let rotation = penalty.rotation(&gram(&w)).unwrap();
            let squares = rotation.squares(&w, &w, 1);
            let theta = penalty.theta_of(&rotation, &squares);
            // At the best Theta, tr(Theta^+ W'W) / 2 + G(Theta) = Omega(W): the penalty's part is what is
            // left, and no other weights' Theta leaves less together with its own tr(Theta^+ W'W) / 2.
            let cost = |theta: &Matrix| {
                let (values, vectors) = linalg::eigen(theta).unwrap();
                let along = Rotation { directions: vectors }.squares(&w, &w, 1);
                along.iter().zip(values).map(|(s, l)| if *s > 1e-14 { 0.5 * s / l } else { 0.0 }).sum::<f64>()
            };
            let own = omega(&penalty, &w) - cost(&theta);
            for seed in 0..10 {
                let other = weights(seed + 50);
                let turned = penalty.rotation(&gram(&other)).unwrap();
                let theirs = penalty.theta_of(&turned, &turned.squares(&other, &other, 1));
                let paid = omega(&penalty, &other) - {
                    let (values, vectors) = linalg::eigen(&theirs).unwrap();
                    let along = Rotation { directions: vectors }.squares(&other, &other, 1);
                    along
                        .iter()
                        .zip(values)
                        .map(|(s, l)| if *s > 1e-14 { 0.5 * s / l } else { 0.0 })
                        .sum::<f64>()
                };
                assert!(cost(&theirs) + paid >= cost(&theta) + own - 1e-10, "{penalty:?}");
            }
        }
    }

    #[test]
    fn units_change_nothing() {
        for penalty in examples() {
            let w = weights(3);
            let (gain, rate) = (8.0, 32.0);
            let other = SpectralRegularizer { gain, rate, ..penalty.clone() };
            // W -> (gain / sqrt(rate)) W, V -> V / sqrt(rate), and all prices times gain / rate.
            let mut scaled = w.clone();
            scaled.as_mut_slice().iter_mut().for_each(|x| *x *= gain / rate.sqrt());
            let expected = gain / rate * omega(&penalty, &w);
            assert!((omega(&other, &scaled) - expected).abs() < 1e-12 * expected);
            let rotation = penalty.rotation(&gram(&w)).unwrap();
            let plain = penalty.shrinkage(&rotation, &rotation.squares(&w, &w, 1), 0.5);
            let again = other.shrinkage(&rotation, &rotation.squares(&scaled, &scaled, 1), 0.5 * gain);
            let off = plain.as_slice().iter().zip(again.as_slice()).map(|(a, b)| (a - b).abs());
            assert!(off.fold(0.0, f64::max) < 1e-12);
        }
    }
}
