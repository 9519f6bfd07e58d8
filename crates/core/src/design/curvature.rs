//! The second derivative of the losses in W: `S[U] = x'(D o x U)`, block diagonal over tasks.
//!
//! Where tasks have intercepts, these are functions of W, and D becomes `M = D - share dd' / sum(d)` for each
//! task, with d the curvatures of its rows: predictions are centred by their weighted mean. See [`Centring`].

use super::centring::Centring;
use super::{Design, each};
use crate::Matrix;
use crate::linalg::{axpy, dot, power_of_two, shared_product, transposed};
use faer::{Accum, MatMut, MatRef};
use rayon::prelude::*;
use std::ops::Range;

/// Curvatures of all entries, and the entries where they are not zero.
#[derive(Debug)]
pub(crate) struct Curvature<'a> {
    design: &'a Design,
    /// D.
    values: Vec<f64>,
    /// Rows with a curvature, and the curvature, task by task; `None` if nearly all have one.
    free: Option<Free>,
    centring: Option<Centring>,
    threads: usize,
}

#[derive(Debug)]
struct Free {
    rows: Vec<(u32, f64)>,
    of_task: Vec<Range<usize>>,
}

/// A product with all rows at once is this many times as fast as one with single rows.
const PRODUCT_ADVANTAGE: usize = 4;

/// Entries handled at a time.
const CHUNK_ENTRIES: usize = 1 << 14;

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, x| x.abs().max(most))
}

impl<'a> Curvature<'a> {
    /// With `rho b^2 / 2` as the cost of the intercept b of each task, if tasks have them.
    pub(crate) fn new(design: &'a Design, values: Vec<f64>, rho: Option<&[f64]>, threads: usize) -> Self {
        let count = values.iter().filter(|d| **d != 0.0).count();
        let table = design.task_rows().is_none();
        let sparse = !table || count * PRODUCT_ADVANTAGE < values.len();
        let free = sparse.then(|| Free::new(design, &values, count));
        let centring = rho.map(|rho| Centring::new(design, &values, rho));
        Curvature { design, values, free, centring, threads }
    }

    /// How rows are centred, if tasks have intercepts.
    pub(crate) fn centring(&self) -> Option<&Centring> {
        self.centring.as_ref()
    }

    /// What is to be subtracted from the rows of a task before their squares, weighted by the curvatures, add up to its
    /// block of S.
    pub(crate) fn shift(&self, task: usize) -> Option<Vec<f64>> {
        self.centring.as_ref().map(|centring| centring.shift(self.design, &self.values, task))
    }

    /// Rows of the task that have a curvature, with it.
    pub(crate) fn of_task(&self, task: usize) -> Vec<(u32, f64)> {
        match &self.free {
            Some(free) => free.rows[free.of_task[task].clone()].to_vec(),
            None => {
                let column = self.values.iter().skip(task).step_by(self.design.n_tasks());
                column.enumerate().filter(|(_, d)| **d != 0.0).map(|(i, &d)| (i as u32, d)).collect()
            }
        }
    }

    /// Number of rows with a curvature, of each task.
    pub(crate) fn counts(&self) -> Vec<usize> {
        match &self.free {
            Some(free) => free.of_task.iter().map(Range::len).collect(),
            None => {
                let mut counts = vec![0; self.design.n_tasks()];
                for row in self.values.chunks(counts.len()) {
                    counts.iter_mut().zip(row).for_each(|(count, d)| *count += usize::from(*d != 0.0));
                }
                counts
            }
        }
    }

    /// Multiplications that [`apply`](Self::apply) takes, in units of those of a matrix product.
    pub(crate) fn work(&self) -> f64 {
        let (factor, entries) = match &self.free {
            Some(free) => (PRODUCT_ADVANTAGE, free.rows.len()),
            None => (1, self.values.len()),
        };
        2.0 * (factor * entries * self.design.rank()) as f64
    }

    /// S[U].
    pub(crate) fn apply(&self, u: &Matrix) -> Matrix {
        let threads = self.threads;
        let Some(free) = &self.free else {
            return self.rough_product(u, threads);
        };
        let (rank, columns) = (self.design.rank(), transposed(u));
        let mut out = Matrix::zeros(columns.rows(), rank);
        let mut parts: Vec<&mut [f64]> = out.as_mut_slice().chunks_mut(rank.max(1)).collect();
        each(&mut parts, free.rows.len() * rank, threads, |task, out| {
            let (own, rows) = (columns.row(task), &free.rows[free.of_task[task].clone()]);
            let Some(centring) = &self.centring else {
                for &(i, d) in rows {
                    let row = self.design.row(i as usize);
                    axpy(out, d * dot(row, own), row);
                }
                return;
            };
            let f: Vec<f64> = rows.iter().map(|&(i, _)| dot(self.design.row(i as usize), own)).collect();
            let mean = centring.mean(task, rows.iter().zip(&f).map(|(&(_, d), f)| d * f).sum());
            for (&(i, d), f) in rows.iter().zip(&f) {
                axpy(out, d * (f - mean), self.design.row(i as usize));
            }
        });
        transposed(&out)
    }

    /// S[U] by matrix products in single precision: a Newton direction needs no more, and they take half the
    /// time.
    fn rough_product(&self, u: &Matrix, threads: usize) -> Matrix {
        let (x, t) = (self.design.rough(), u.cols());
        // Both factors near one, so that nothing under- or overflows.
        let (size_u, size_d) = (power_of_two(largest(u.as_slice())), power_of_two(largest(&self.values)));
        let rough: Vec<f32> = u.as_slice().iter().map(|u| (u / size_u) as f32).collect();
        let mut f = vec![0f32; x.nrows() * t];
        let mut out = vec![0f32; x.ncols() * t];
        let (m, rank) = (x.nrows(), x.ncols());
        let small = MatRef::from_row_major_slice(&rough, rank, t);
        shared_product(
            MatMut::from_row_major_slice_mut(&mut f, m, t),
            Accum::Replace,
            1.0,
            x,
            small,
            threads,
        );
        if let Some(centring) = &self.centring {
            centring.centre_table(&self.values, &mut f);
        }
        f.par_chunks_mut(CHUNK_ENTRIES).zip(self.values.par_chunks(CHUNK_ENTRIES)).for_each(|(f, d)| {
            f.iter_mut().zip(d).for_each(|(f, d)| *f *= (d / size_d) as f32);
        });
        let table = MatRef::from_row_major_slice(&f, m, t);
        let target = MatMut::from_row_major_slice_mut(&mut out, rank, t);
        shared_product(target, Accum::Replace, 1.0, x.transpose(), table, threads);
        let mut exact = Matrix::zeros(rank, t);
        let back = size_u * size_d;
        exact.as_mut_slice().iter_mut().zip(&out).for_each(|(out, x)| *out = f64::from(*x) * back);
        exact
    }

    /// Diagonal of the mean of the tasks' blocks, and the trace of each block.
    pub(crate) fn shape(&self) -> (Vec<f64>, Vec<f64>) {
        let (design, t) = (self.design, self.design.n_tasks());
        let (mut lam, mut traces) = (vec![0.0; design.rank()], vec![0.0; t]);
        let mut add = |row: &[f64], weight: f64| {
            lam.iter_mut().zip(row).for_each(|(lam, x)| *lam += weight / t as f64 * x * x);
        };
        match &self.free {
            Some(free) => {
                for (task, range) in free.of_task.iter().enumerate() {
                    for &(i, d) in &free.rows[range.clone()] {
                        let row = design.row(i as usize);
                        add(row, d);
                        traces[task] += d * design.square(i as usize);
                    }
                }
            }
            None => {
                for (i, curvatures) in self.values.chunks(t).enumerate() {
                    let row = design.row(i);
                    add(row, curvatures.iter().sum());
                    axpy(&mut traces, design.square(i), curvatures);
                }
            }
        }
        if let Some(centring) = &self.centring {
            centring.subtract_means(design, &self.values, &mut lam, &mut traces);
        }
        (lam, traces)
    }
}

impl Free {
    fn new(design: &Design, values: &[f64], count: usize) -> Self {
        let (t, mut rows, mut of_task) = (design.n_tasks(), Vec::with_capacity(count), vec![]);
        for task in 0..t {
            let start = rows.len();
            match design.task_rows() {
                Some(ranges) => {
                    let own = ranges[task].clone();
                    rows.extend(own.filter(|&i| values[i] != 0.0).map(|i| (i as u32, values[i])));
                }
                None => {
                    let column = values.iter().skip(task).step_by(t).enumerate();
                    rows.extend(column.filter(|(_, d)| **d != 0.0).map(|(i, &d)| (i as u32, d)));
                }
            }
            of_task.push(start..rows.len());
        }
        Free { rows, of_task }
    }
}
