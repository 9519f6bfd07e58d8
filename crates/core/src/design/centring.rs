//! Intercepts as centring: the second derivative of losses whose intercepts are the best ones.
//!
//! For the rows of one task with curvatures d, and `rho b^2 / 2` as the cost of its intercept b, the derivative of the
//! best b along a change f of the predictions is `-share mean(f)`, where `mean` weights by d and
//! `share = sum(d) / (sum(d) + rho)`. So the second derivative is `M = D - share dd' / sum(d)`. With `q = d^(1/2) /
//! |d^(1/2)|` its root is `(I - root qq') D^(1/2)`, `root = 1 - (1 - share)^(1/2)`: rows `d_i^(1/2) (x_i - root m)`
//! around their weighted mean m have the squares of M.

use super::Design;
use crate::Matrix;
use crate::linalg::{axpy, dot};
use rayon::prelude::*;
use std::sync::OnceLock;

/// Sums of curvatures of each task, and how much of the mean they take away.
#[derive(Debug)]
pub(crate) struct Centring {
    sums: Vec<f64>,
    shares: Vec<f64>,
    /// `sum(d) m` of each task (features x tasks), computed when first needed.
    moments: OnceLock<Matrix>,
}

/// Entries handled at a time.
const CHUNK_ROWS: usize = 1024;

impl Centring {
    pub(super) fn new(design: &Design, d: &[f64], rho: &[f64]) -> Self {
        let sums = design.task_sums(d);
        let share = |(sum, rho): (&f64, &f64)| if *sum > 0.0 { sum / (sum + rho) } else { 0.0 };
        let shares = sums.iter().zip(rho).map(share).collect();
        Centring { sums, shares, moments: OnceLock::new() }
    }

    /// `share mean(f)` of a task, for the sum of `d f`.
    pub(crate) fn mean(&self, task: usize, weighted_sum: f64) -> f64 {
        if self.sums[task] > 0.0 { self.shares[task] * weighted_sum / self.sums[task] } else { 0.0 }
    }

    /// `1 - (1 - share)^(1/2)`.
    pub(crate) fn root(&self, task: usize) -> f64 {
        1.0 - (1.0 - self.shares[task]).sqrt()
    }

    /// `share mean(f)` of each task, for values of all entries.
    pub(crate) fn means(&self, design: &Design, d: &[f64], f: &[f64]) -> Vec<f64> {
        let weighted: Vec<f64> = d.iter().zip(f).map(|(d, f)| if *d > 0.0 { d * f } else { 0.0 }).collect();
        let sums = design.task_sums(&weighted);
        (0..sums.len()).map(|task| self.mean(task, sums[task])).collect()
    }

    fn moments(&self, design: &Design, d: &[f64]) -> &Matrix {
        self.moments.get_or_init(|| design.backward(d, 1))
    }

    /// `root m` of a task.
    pub(super) fn shift(&self, design: &Design, d: &[f64], task: usize) -> Vec<f64> {
        let moments = self.moments(design, d);
        let factor = if self.sums[task] > 0.0 { self.root(task) / self.sums[task] } else { 0.0 };
        (0..moments.rows()).map(|j| factor * moments[(j, task)]).collect()
    }

    /// Subtracts `share mean(f)` from the columns of a table (inputs x tasks).
    pub(super) fn centre_table(&self, d: &[f64], f: &mut [f32]) {
        let t = self.sums.len();
        let chunk = CHUNK_ROWS * t.max(1);
        let parts: Vec<Vec<f64>> = d
            .par_chunks(chunk)
            .zip(f.par_chunks(chunk))
            .map(|(d, f)| {
                let mut sums = vec![0.0; t];
                for (d, f) in d.chunks(t).zip(f.chunks(t)) {
                    for (sum, (d, f)) in sums.iter_mut().zip(d.iter().zip(f)) {
                        *sum += d * f64::from(*f);
                    }
                }
                sums
            })
            .collect();
        let mut sums = vec![0.0; t];
        parts.iter().for_each(|part| axpy(&mut sums, 1.0, part));
        let means: Vec<f32> = (0..t).map(|task| self.mean(task, sums[task]) as f32).collect();
        f.par_chunks_mut(t.max(1)).with_min_len(CHUNK_ROWS).for_each(|row| {
            row.iter_mut().zip(&means).for_each(|(f, mean)| *f -= mean);
        });
    }

    /// Subtracts the squares of the means from the mean diagonal and the traces of the blocks of x'Dx.
    pub(super) fn subtract_means(
        &self,
        design: &Design,
        d: &[f64],
        diagonal: &mut [f64],
        traces: &mut [f64],
    ) {
        let (moments, t) = (self.moments(design, d), self.sums.len());
        let factor =
            |task: usize| if self.sums[task] > 0.0 { self.shares[task] / self.sums[task] } else { 0.0 };
        let factors: Vec<f64> = (0..t).map(factor).collect();
        for (j, lam) in diagonal.iter_mut().enumerate() {
            let squares: Vec<f64> =
                moments.row(j).iter().zip(&factors).map(|(m, factor)| factor * m * m).collect();
            *lam = (*lam - squares.iter().sum::<f64>() / t as f64).max(0.0);
            traces.iter_mut().zip(&squares).for_each(|(trace, square)| *trace = (*trace - square).max(0.0));
        }
    }

    /// `(I - root qq') y` for the rows of a task with these curvatures, in place.
    pub(crate) fn apply_root(&self, task: usize, d: impl Iterator<Item = f64> + Clone, y: &mut [f64]) {
        if self.sums[task] <= 0.0 {
            return;
        }
        let roots: Vec<f64> = d.map(f64::sqrt).collect();
        let along = self.root(task) * dot(&roots, y) / self.sums[task];
        axpy(y, -along, &roots);
    }
}
