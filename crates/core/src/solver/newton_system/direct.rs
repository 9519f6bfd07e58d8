//! `(I + S B) x = w` by factorisation, for systems of moderate size.
//!
//! With `S_r = L_r L_r'` for each task, `x = w - L E^-1 L' B[w]` where `E = I + L'BL` is symmetric and
//! positive definite. For l_a a column of L_r and l_b one of L_s, `E_ab = Theta_rs (l_a l_b) + phi''_rs (l_a
//! v_s) (v_r l_b) + [r = s] sum_q phi''_qr (l_a v_q) (v_q l_b) + [a = b]`; each atom adds
//! `2 w phi'' (l_a V S_r) (l_b V S_s)`.

mod span;

use super::Derivative;
use crate::Matrix;
use crate::design::{Centring, Curvature, Design};
use crate::linalg::{self, add_gram_lower, axpy, dot, times, transposed, view, view_mut};
use rayon::prelude::*;
use std::ops::Range;

/// Rows with a curvature.
type Free = Vec<(u32, f64)>;

#[derive(Debug)]
pub(in crate::solver) struct Direct<'a> {
    derivative: &'a Derivative<'a>,
    centring: Option<&'a Centring>,
    /// L', one column of L after the other, task by task.
    columns: Matrix,
    of_task: Vec<Range<usize>>,
    /// For each task the rows that are its columns of L, with their curvatures, or `None` if these are a
    /// triangular factor.
    rows: Vec<Option<Free>>,
    /// The Cholesky factor of E.
    factor: Matrix,
}

/// Unknowns of E: the rank of S, at most.
pub(in crate::solver) fn unknowns(design: &Design, free: &[usize]) -> usize {
    free.iter().map(|&free| free.min(design.rank())).sum()
}

impl<'a> Direct<'a> {
    /// `None` if numbers overflow.
    pub(in crate::solver) fn new(
        design: &Design,
        curvature: &'a Curvature<'_>,
        derivative: &'a Derivative<'a>,
    ) -> Option<Self> {
        let factors: Vec<(Matrix, Option<Free>)> = (0..design.n_tasks())
            .into_par_iter()
            .map(|task| {
                let free = curvature.of_task(task);
                let factor = task_factor(design, &free, curvature.shift(task).as_deref());
                (factor, (free.len() <= design.rank()).then_some(free))
            })
            .collect();
        Direct::of_factors(factors, curvature.centring(), derivative)
    }

    /// From S_r themselves, for [`solve`](Self::solve) alone; `None` also if there are more unknowns than `limit`.
    pub(in crate::solver) fn of_squares(
        squares: &[Matrix],
        derivative: &'a Derivative<'a>,
        limit: usize,
    ) -> Option<Self> {
        let factors: Vec<Matrix> = squares.par_iter().map(square_factor).collect();
        let unknowns: usize = factors.iter().map(Matrix::rows).sum();
        let factors = factors.into_iter().map(|factor| (factor, None)).collect();
        (unknowns <= limit).then(|| Direct::of_factors(factors, None, derivative))?
    }

    fn of_factors(
        factors: Vec<(Matrix, Option<Free>)>,
        centring: Option<&'a Centring>,
        derivative: &'a Derivative<'a>,
    ) -> Option<Self> {
        let (mut of_task, mut all, mut rows, mut end) = (vec![], vec![], vec![], 0);
        for (factor, own) in factors {
            of_task.push(end..end + factor.rows());
            end += factor.rows();
            all.extend_from_slice(factor.as_slice());
            rows.push(own);
        }
        let columns = Matrix::from_vec(all, end, derivative.v.rows()).ok()?;
        let mut factor = system(&columns, &of_task, derivative);
        linalg::cholesky(&mut factor, derivative.threads()).then_some(Direct {
            derivative,
            centring,
            columns,
            of_task,
            rows,
            factor,
        })
    }

    /// x for a right-hand side w.
    pub(in crate::solver) fn solve(&self, w: &Matrix) -> Matrix {
        let mut y = self.collect(&self.derivative.apply(w));
        linalg::cholesky_solve(&self.factor, &mut y);
        w.minus(&self.spread(&y))
    }
}

/// `L_r'`: rows, less the shift of intercepts, times the roots of their curvatures, or where these are more than
/// features the Cholesky factor of their moment.
fn task_factor(design: &Design, free: &[(u32, f64)], shift: Option<&[f64]>) -> Matrix {
    let rank = design.rank();
    let mut rows = Matrix::zeros(free.len(), rank);
    for (j, &(i, d)) in free.iter().enumerate() {
        axpy(rows.row_mut(j), d.sqrt(), design.row(i as usize));
        if let Some(shift) = shift {
            axpy(rows.row_mut(j), -d.sqrt(), shift);
        }
    }
    if free.len() <= rank {
        return rows;
    }
    let mut moment = Matrix::zeros(rank, rank);
    add_gram_lower(view_mut(&mut moment), view(&rows), 1.0, 1);
    linalg::semidefinite_cholesky(&mut moment);
    transposed(&moment)
}

/// `L'` of a semidefinite matrix, without rows that are zero.
fn square_factor(square: &Matrix) -> Matrix {
    let mut factor = square.clone();
    linalg::semidefinite_cholesky(&mut factor);
    let columns = transposed(&factor);
    let kept: Vec<usize> =
        (0..columns.rows()).filter(|&j| columns.row(j).iter().any(|x| *x != 0.0)).collect();
    let mut out = Matrix::zeros(kept.len(), columns.cols());
    kept.iter().enumerate().for_each(|(to, &j)| out.row_mut(to).copy_from_slice(columns.row(j)));
    out
}

/// The lower triangle of E.
fn system(columns: &Matrix, of_task: &[Range<usize>], derivative: &Derivative<'_>) -> Matrix {
    let (n, rank) = (columns.rows(), columns.cols());
    let Derivative { v, theta, second, atoms, .. } = derivative;
    let scores = times(view(columns), view(v), derivative.threads());
    let of_atoms: Vec<(f64, Vec<f64>)> = atoms
        .iter()
        .map(|(atom, second)| {
            let column = |(task, a): (usize, usize)| atom.row_times(task, scores.row(a));
            let tasks = of_task.iter().enumerate();
            let all = tasks.flat_map(|(task, range)| range.clone().map(move |a| (task, a)));
            (2.0 * second, all.map(column).collect())
        })
        .collect();
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
            for (second, scores) in &of_atoms {
                axpy(&mut out[..=a], second * scores[a], &scores[..=a]);
            }
            out[a] += 1.0;
        }
    });
    debug_assert_eq!(rank, v.rows());
    e
}
