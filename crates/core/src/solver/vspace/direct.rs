//! `(I + S B) x = w` by factorisation, for systems of moderate size.
//!
//! With `S_r = L_r L_r'` for each task, `x = w - L E^-1 L' B[w]` where `E = I + L'BL` is symmetric and positive definite. For l_a a
//! column of L_r and l_b one of L_s,
//! `E_ab = Theta_rs (l_a l_b) + phi''_rs (l_a v_s) (v_r l_b) + [r = s] sum_q phi''_qr (l_a v_q) (v_q l_b) + [a = b]`.

use super::Derivative;
use crate::Matrix;
use crate::design::{Curvature, Design};
use crate::linalg::{self, add_gram_lower, axpy, dot, times, view, view_mut};
use rayon::prelude::*;
use std::ops::Range;

#[derive(Debug)]
pub(in crate::solver) struct Direct<'a> {
    derivative: &'a Derivative<'a>,
    /// L', one column of L after the other, task by task.
    columns: Matrix,
    of_task: Vec<Range<usize>>,
    /// The curvatures of the rows that are the columns of L of a task, or `None` if these are a triangular factor.
    rows: Vec<Option<Vec<(u32, f64)>>>,
    /// The Cholesky factor of E.
    factor: Matrix,
}

/// What [`Direct::solve_pull`] finds.
#[derive(Debug)]
pub(in crate::solver) struct Pulled {
    /// x.
    pub(in crate::solver) x: Matrix,
    /// `x + r = L y`: what the changes of the duals add up to.
    sum: Matrix,
    pub(in crate::solver) y: Vec<f64>,
    /// How many times smaller y is than what it is made from.
    pub(in crate::solver) cancelled: f64,
}

/// Unknowns of E: the rank of S, at most.
pub(in crate::solver) fn unknowns(design: &Design, free: &[usize]) -> usize {
    free.iter().map(|&free| free.min(design.rank())).sum()
}

impl<'a> Direct<'a> {
    /// `None` if numbers ran out.
    pub(in crate::solver) fn new(
        design: &Design,
        curvature: &Curvature<'_>,
        derivative: &'a Derivative<'a>,
    ) -> Option<Self> {
        let factors: Vec<(Matrix, Option<Vec<(u32, f64)>>)> = (0..design.n_tasks())
            .into_par_iter()
            .map(|task| {
                let free = curvature.of_task(task);
                let factor = task_factor(design, &free);
                (factor, (free.len() <= design.rank()).then_some(free))
            })
            .collect();
        let (mut of_task, mut all, mut rows, mut end) = (vec![], vec![], vec![], 0);
        for (factor, own) in factors {
            of_task.push(end..end + factor.rows());
            end += factor.rows();
            all.extend_from_slice(factor.as_slice());
            rows.push(own);
        }
        let columns = Matrix::from_vec(all, end, design.rank()).ok()?;
        let mut factor = system(&columns, &of_task, derivative);
        linalg::cholesky(&mut factor, derivative.threads).then_some(Direct {
            derivative,
            columns,
            of_task,
            rows,
            factor,
        })
    }

    /// x for the right-hand side `X'(D pull) - r`, where D are the curvatures of the entries. Written as `L c - r` it becomes
    /// `x = L y - r`, `y = E^-1 (c + L'B[r])`: what is large in c is never added up and taken away again.
    pub(in crate::solver) fn solve_pull(
        &self,
        design: &Design,
        w: &Matrix,
        pull: &[f64],
        r: &Matrix,
    ) -> Pulled {
        let br = transposed(&self.derivative.apply(r));
        let w = transposed(w);
        let mut y = vec![0.0; self.columns.rows()];
        for (task, range) in self.of_task.iter().enumerate() {
            let y = &mut y[range.clone()];
            match &self.rows[task] {
                Some(rows) => {
                    for (y, &(i, d)) in y.iter_mut().zip(rows) {
                        *y = d.sqrt() * pull[design.entry(i as usize, task)];
                    }
                }
                None => self.forward_substitute(range.start, w.row(task), y),
            }
            for (j, y) in y.iter_mut().enumerate() {
                *y += dot(self.columns.row(range.start + j), br.row(task));
            }
        }
        let before = dot(&y, &y).sqrt();
        linalg::cholesky_solve(&self.factor, &mut y);
        let cancelled = before / dot(&y, &y).sqrt();
        let sum = self.spread(&y);
        let mut x = sum.clone();
        axpy(x.as_mut_slice(), -1.0, r.as_slice());
        Pulled { x, sum, y, cancelled }
    }

    /// `L_r^-1 w` of a task with a triangular factor.
    fn forward_substitute(&self, start: usize, w: &[f64], out: &mut [f64]) {
        let mut rest = w.to_vec();
        for (j, y) in out.iter_mut().enumerate() {
            let column = self.columns.row(start + j);
            *y = 0.0;
            if column[j] > 0.0 {
                *y = rest[j] / column[j];
                axpy(&mut rest[j..], -*y, &column[j..]);
            }
        }
    }

    /// Makes the change of predictions agree with that of the duals, `D (pull - df)`: these must add up to `x + r = L y`, but are
    /// differences of numbers that may be a great many times larger. Rows that are columns of L have their duals in y; others
    /// are moved by `S^-1` of what they lack.
    pub(in crate::solver) fn reconcile(
        &self,
        design: &Design,
        curvatures: &[f64],
        pull: &[f64],
        pulled: &Pulled,
        df: &mut [f64],
    ) {
        let threads = self.derivative.threads;
        let duals: Vec<f64> = (0..df.len()).map(|i| curvatures[i] * (pull[i] - df[i])).collect();
        let mut lack = pulled.sum.clone();
        axpy(lack.as_mut_slice(), -1.0, design.backward(&duals, threads).as_slice());
        let lack = transposed(&lack);
        let mut shift = Matrix::zeros(lack.rows(), lack.cols());
        for (task, range) in self.of_task.iter().enumerate().filter(|(task, _)| self.rows[*task].is_none()) {
            let mut z = vec![0.0; range.len()];
            self.forward_substitute(range.start, lack.row(task), &mut z);
            let out = shift.row_mut(task);
            for j in (0..range.len()).rev() {
                let column = self.columns.row(range.start + j);
                if column[j] > 0.0 {
                    out[j] = (z[j] - dot(&column[j + 1..], &out[j + 1..])) / column[j];
                }
            }
        }
        let shift = design.forward(&transposed(&shift), threads);
        df.iter_mut().zip(&shift).for_each(|(df, shift)| *df -= shift);
        for (task, range) in self.of_task.iter().enumerate() {
            for (&(i, d), y) in self.rows[task].iter().flatten().zip(&pulled.y[range.clone()]) {
                let entry = design.entry(i as usize, task);
                df[entry] = pull[entry] - y / d.sqrt();
            }
        }
    }

    /// `L y`.
    pub(in crate::solver) fn spread(&self, y: &[f64]) -> Matrix {
        let mut x = Matrix::zeros(self.of_task.len(), self.columns.cols());
        for (task, range) in self.of_task.iter().enumerate() {
            range.clone().for_each(|a| axpy(x.row_mut(task), y[a], self.columns.row(a)));
        }
        transposed(&x)
    }

    /// y with `L y = x`, nearly, for an x in the span of L.
    pub(in crate::solver) fn represent(&self, x: &Matrix) -> Vec<f64> {
        let (x, mut y) = (transposed(x), vec![0.0; self.columns.rows()]);
        for (task, range) in self.of_task.iter().enumerate() {
            let y = &mut y[range.clone()];
            if self.rows[task].is_none() {
                self.forward_substitute(range.start, x.row(task), y);
                continue;
            }
            // Least squares: L'L y = L'x.
            let own = view(&self.columns).subrows(range.start, range.len());
            let mut gram = times(own, own.transpose(), 1);
            linalg::semidefinite_cholesky(&mut gram);
            range.clone().zip(y.iter_mut()).for_each(|(a, y)| *y = dot(self.columns.row(a), x.row(task)));
            for j in 0..y.len() {
                let (pivot, known) = (gram[(j, j)], dot(&gram.row(j)[..j], &y[..j]));
                y[j] = if pivot > 0.0 { (y[j] - known) / pivot } else { 0.0 };
            }
            for j in (0..y.len()).rev() {
                let known: f64 = (j + 1..y.len()).map(|i| gram[(i, j)] * y[i]).sum();
                y[j] = if gram[(j, j)] > 0.0 { (y[j] - known) / gram[(j, j)] } else { 0.0 };
            }
        }
        y
    }

    /// Number of columns of L.
    pub(in crate::solver) fn unknowns(&self) -> usize {
        self.columns.rows()
    }

    /// `L'w`.
    pub(in crate::solver) fn collect(&self, w: &Matrix) -> Vec<f64> {
        let (w, mut y) = (transposed(w), vec![0.0; self.columns.rows()]);
        for (task, range) in self.of_task.iter().enumerate() {
            range.clone().for_each(|a| y[a] = dot(self.columns.row(a), w.row(task)));
        }
        y
    }

    /// `E^-1 y`.
    pub(in crate::solver) fn precondition(&self, y: &[f64]) -> Vec<f64> {
        let mut x = y.to_vec();
        linalg::cholesky_solve(&self.factor, &mut x);
        x
    }

    /// x for a right-hand side w.
    pub(in crate::solver) fn solve(&self, w: &Matrix) -> Matrix {
        let bw = transposed(&self.derivative.apply(w));
        let mut y = vec![0.0; self.columns.rows()];
        for (task, range) in self.of_task.iter().enumerate() {
            range.clone().for_each(|a| y[a] = dot(self.columns.row(a), bw.row(task)));
        }
        linalg::cholesky_solve(&self.factor, &mut y);
        let mut x = transposed(w);
        for (task, range) in self.of_task.iter().enumerate() {
            range.clone().for_each(|a| axpy(x.row_mut(task), -y[a], self.columns.row(a)));
        }
        transposed(&x)
    }
}

fn transposed(m: &Matrix) -> Matrix {
    let mut out = Matrix::zeros(m.cols(), m.rows());
    view_mut(&mut out).copy_from(view(m).transpose());
    out
}

/// `L_r'`: rows times the roots of their curvatures, or where these are more than features the Cholesky factor of their
/// moment.
fn task_factor(design: &Design, free: &[(u32, f64)]) -> Matrix {
    let rank = design.rank();
    let mut rows = Matrix::zeros(free.len(), rank);
    for (j, &(i, d)) in free.iter().enumerate() {
        axpy(rows.row_mut(j), d.sqrt(), design.row(i as usize));
    }
    if free.len() <= rank {
        return rows;
    }
    let mut moment = Matrix::zeros(rank, rank);
    add_gram_lower(view_mut(&mut moment), view(&rows), 1.0);
    linalg::semidefinite_cholesky(&mut moment);
    transposed(&moment)
}

/// The lower triangle of E.
fn system(columns: &Matrix, of_task: &[Range<usize>], derivative: &Derivative<'_>) -> Matrix {
    let (n, rank) = (columns.rows(), columns.cols());
    let Derivative { v, theta, second, threads } = derivative;
    let scores = times(view(columns), view(v), *threads);
    let mut e = Matrix::zeros(n, n);
    let mut blocks: Vec<(usize, &mut [f64])> = vec![];
    let mut rest = e.as_mut_slice();
    for (task, range) in of_task.iter().enumerate() {
        let (block, tail) = rest.split_at_mut(range.len() * n);
        blocks.push((task, block));
        rest = tail;
    }
    blocks.par_iter_mut().filter(|(_, block)| !block.is_empty()).for_each(|(r, block)| {
        let (r, own) = (*r, of_task[*r].clone());
        let products = times(
            view(columns).subrows(own.start, own.len()),
            view(columns).subrows(0, own.end).transpose(),
            1,
        );
        let mut weighted = vec![0.0; v.cols()];
        for (a, out) in own.clone().zip(block.chunks_mut(n)) {
            let (own_scores, products) = (scores.row(a), products.row(a - own.start));
            for (s, range) in of_task[..r].iter().enumerate() {
                let (theta, mixed) = (theta[(r, s)], second[(r, s)] * own_scores[s]);
                for b in range.clone() {
                    out[b] = theta * products[b] + mixed * scores[(b, r)];
                }
            }
            for (q, x) in weighted.iter_mut().enumerate() {
                *x = second[(q, r)] * own_scores[q];
            }
            weighted[r] *= 2.0;
            for b in own.start..=a {
                out[b] = theta[(r, r)] * products[b] + dot(&weighted, scores.row(b));
            }
            out[a] += 1.0;
        }
    });
    debug_assert_eq!(rank, v.rows());
    e
}
