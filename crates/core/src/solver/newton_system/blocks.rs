//! `(I + S B) x = w` preconditioned task by task: good wherever Theta is well conditioned, as with classes,
//! however different the curvatures of the tasks are.
//!
//! Of `I + S B` each task keeps its own block, with B reduced to Theta_rr, `N_r = I + Theta_rr S_r`, and,
//! where Theta changes fast (k = 2 and beyond), to what the task's own V and those of the tasks closest to it
//! contribute: [`CloseTasks`]. The rows of largest curvature enter exactly, the others as if they were spread
//! over the features like all rows are. With `A = I + Theta_rr diag(others)` and J the exact rows times `(D /
//! A)^(1/2)`, `N_r^-1 = A^(-1/2) (I - J' (1/Theta_rr + J J')^-1 J) A^(-1/2)`, of the size of the number of
//! exact rows.

use super::Derivative;
use super::gmres::Operator;
use super::kronecker::{FLOOR, TaskCurvature};
use crate::Matrix;
use crate::algebra::{Algebra, Host};
use crate::design::{Curvature, Design};
use crate::linalg::{self, axpy, dot, view};
use rayon::prelude::*;

/// Exact rows of a task at most; they are factorised for every step.
const EXACT_ROWS: usize = 1024;

/// How many rows of a task with `free` rows enter exactly: all, if they are fewer than features; else as many
/// as cost no more than `effort` products with all rows of the design.
pub(super) fn exact_rows(design: &Design, free: usize, effort: f64) -> usize {
    if free <= design.rank().min(EXACT_ROWS) {
        return free;
    }
    let (rank, entries) = (design.rank() as f64, (design.len() / design.n_tasks()) as f64);
    let budget = effort * entries * rank;
    // f^2 (rank + f) = budget, by a few rounds of f = (budget / (rank + f))^(1/2).
    let affordable = (0..4).fold(0.0, |f, _| (budget / (rank + f)).sqrt()) as usize;
    free.min(EXACT_ROWS).min(design.rank()).min(affordable.max(32))
}

pub(in crate::solver) struct Blocks<'a, C> {
    curvature: &'a C,
    derivative: &'a Derivative<'a>,
    blocks: TaskBlocks,
}

/// One block for each task.
pub(in crate::solver) struct TaskBlocks {
    blocks: Vec<Block>,
    /// Theta_rr, or what stands for zero.
    weights: Vec<f64>,
}

struct Block {
    /// A^(-1/2).
    root: Vec<f64>,
    /// J, and the Cholesky factor of `1/Theta_rr + J J'`.
    rows: Matrix,
    factor: Matrix,
    close: Option<CloseTasks>,
}

/// What the part of B that changes Theta adds to a block, through the V_s of the closest tasks: with `P = V_s
/// phi''_rs^(1/2)` in columns and `Q = N_r^-1 S_r P`, the inverse becomes `N_r^-1 - Q (I + P'Q)^-1 P'
/// N_r^-1`.
struct CloseTasks {
    /// Rows of P' and Q'.
    p: Matrix,
    q: Matrix,
    /// The Cholesky factor of I + P'Q.
    factor: Matrix,
}

impl<'a> Blocks<'a, Curvature<'a>> {
    pub(super) fn new(
        design: &Design,
        curvature: &'a Curvature<'a>,
        derivative: &'a Derivative<'a>,
        effort: f64,
    ) -> Option<Self> {
        let exact = |task: usize, weight: f64| {
            Block::new(design, (curvature.of_task(task), curvature.shift(task)), weight, effort)
        };
        Some(Blocks { curvature, derivative, blocks: TaskBlocks::new(derivative, exact)? })
    }
}

impl<'a, C: TaskCurvature<Algebra = Host>> Blocks<'a, C> {
    /// From S_r themselves, by both or their lower triangles.
    pub(in crate::solver) fn of_squares(
        curvature: &'a C,
        derivative: &'a Derivative<'a>,
        squares: &[Matrix],
    ) -> Option<Self> {
        let whole = |task: usize, weight: f64| {
            let mut factor = squares[task].clone();
            linalg::semidefinite_cholesky(&mut factor);
            let rank = factor.rows();
            Block::of_rows(linalg::transposed(&factor), vec![1.0; rank], weight)
        };
        Some(Blocks { curvature, derivative, blocks: TaskBlocks::new(derivative, whole)? })
    }
}

impl TaskBlocks {
    /// For curvatures that are `rates` in every task: those of the squared loss in the basis where X'X is
    /// diagonal.
    pub(in crate::solver) fn diagonal(derivative: &Derivative<'_>, rates: &[f64]) -> Option<Self> {
        TaskBlocks::new(derivative, |_, weight| {
            let root = rates.iter().map(|rate| (1.0 + weight * rate).sqrt().recip()).collect();
            Some(Block { root, rows: Matrix::default(), factor: Matrix::default(), close: None })
        })
    }

    /// From blocks without close tasks, given by task and Theta_rr.
    fn new(derivative: &Derivative<'_>, plain: impl Fn(usize, f64) -> Option<Block> + Sync) -> Option<Self> {
        let t = derivative.theta.rows();
        let diagonal: Vec<f64> = (0..t).map(|r| derivative.theta[(r, r)]).collect();
        let floor = FLOOR * diagonal.iter().fold(0.0f64, |a, &b| a.max(b));
        let weights: Vec<f64> = diagonal.iter().map(|x| x.max(floor)).collect();
        let columns = linalg::transposed(derivative.v);
        let build = |task: usize| {
            let mut block = plain(task, weights[task])?;
            block.close = CloseTasks::new(&block, derivative, &columns, task, weights[task]);
            Some(block)
        };
        let blocks: Option<Vec<Block>> = (0..t).into_par_iter().map(build).collect();
        Some(TaskBlocks { blocks: blocks.filter(|_| floor > 0.0)?, weights })
    }

    /// Whether Theta changes along any task's own V enough for this to matter.
    pub(in crate::solver) fn any_close<A: Algebra>(derivative: &Derivative<'_, A>, gram: &Matrix) -> bool {
        let changes = |r: usize| 2.0 * derivative.second[(r, r)] * gram[(r, r)];
        (0..gram.rows()).any(|r| changes(r) > LEAST_CLOSENESS * derivative.theta[(r, r)])
    }

    /// The inverse of all blocks, of a matrix with one row per task.
    pub(in crate::solver) fn precondition(&self, rows: &Matrix) -> Matrix {
        self.each_task(rows, |x, block, _| block.solve(x))
    }

    /// B reduced to its blocks, which makes the inverse symmetric.
    pub(in crate::solver) fn weigh(&self, rows: &Matrix) -> Matrix {
        self.each_task(rows, |x, block, weight| block.weigh(x, weight))
    }

    fn each_task(&self, rows: &Matrix, work: impl Fn(&mut [f64], &Block, f64) + Sync) -> Matrix {
        let mut rows = rows.clone();
        let width = rows.cols().max(1);
        let of_tasks = rows.as_mut_slice().par_chunks_mut(width);
        of_tasks
            .zip(&self.blocks)
            .zip(&self.weights)
            .for_each(|((x, block), weight)| work(x, block, *weight));
        rows
    }
}

impl Block {
    /// From the rows with a curvature, and what to subtract from them.
    fn new(
        design: &Design,
        (mut free, shift): (Vec<(u32, f64)>, Option<Vec<f64>>),
        weight: f64,
        effort: f64,
    ) -> Option<Self> {
        let rank = design.rank();
        let most = exact_rows(design, free.len(), effort);
        let mut others = 0.0;
        if free.len() > most {
            let size = |i: u32, d: f64| d * design.square(i as usize);
            let mut sized: Vec<(f64, u32, f64)> = free.iter().map(|&(i, d)| (size(i, d), i, d)).collect();
            sized.select_nth_unstable_by(most, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            others = sized[most..].iter().map(|row| row.0).sum();
            free = sized[..most].iter().map(|&(_, i, d)| (i, d)).collect();
        }
        let spread = design.spread().iter();
        let root: Vec<f64> = spread.map(|x| (1.0 + weight * others * x).sqrt().recip()).collect();
        let mut rows = Matrix::zeros(free.len(), rank);
        for (j, &(i, d)) in free.iter().enumerate() {
            let row = rows.row_mut(j);
            row.copy_from_slice(design.row(i as usize));
            if let Some(shift) = &shift {
                axpy(row, -1.0, shift);
            }
            row.iter_mut().zip(&root).for_each(|(x, root)| *x = d.sqrt() * *x * root);
        }
        Block::of_rows(rows, root, weight)
    }

    /// From J and A^(-1/2).
    fn of_rows(rows: Matrix, root: Vec<f64>, weight: f64) -> Option<Self> {
        let n = rows.rows();
        let mut factor = Matrix::zeros(n, n);
        linalg::add_gram_lower(linalg::view_mut(&mut factor), view(&rows).transpose(), 1.0, 1);
        (0..n).for_each(|j| factor[(j, j)] += 1.0 / weight);
        (n == 0 || linalg::cholesky(&mut factor, 1)).then_some(Block { root, rows, factor, close: None })
    }

    /// The inverse of the block, of a vector, in place.
    fn solve(&self, x: &mut [f64]) {
        self.solve_plain(x);
        if let Some(CloseTasks { p, q, factor }) = &self.close {
            let mut y = times_rows(p, x);
            linalg::cholesky_solve(factor, &mut y);
            y.iter().enumerate().for_each(|(j, y)| axpy(x, -y, q.row(j)));
        }
    }

    /// The block of B: Theta_rr, and what close tasks add.
    fn weigh(&self, x: &mut [f64], weight: f64) {
        let shares = self.close.as_ref().map(|CloseTasks { p, .. }| times_rows(p, x));
        x.iter_mut().for_each(|x| *x *= weight);
        if let (Some(CloseTasks { p, .. }), Some(shares)) = (&self.close, shares) {
            shares.iter().enumerate().for_each(|(j, share)| axpy(x, *share, p.row(j)));
        }
    }

    /// `N_r^-1` of a vector, in place.
    fn solve_plain(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.root).for_each(|(x, root)| *x *= root);
        if self.rows.rows() > 0 {
            let mut y = times_rows(&self.rows, x);
            linalg::cholesky_solve(&self.factor, &mut y);
            y.iter().enumerate().for_each(|(j, y)| axpy(x, -y, self.rows.row(j)));
        }
        x.iter_mut().zip(&self.root).for_each(|(x, root)| *x *= root);
    }
}

fn times_rows(m: &Matrix, x: &[f64]) -> Vec<f64> {
    (0..m.rows()).map(|j| dot(m.row(j), x)).collect()
}

/// CloseTasks of a task at most, and how much they must add to Theta_rr to count.
const MAX_CLOSE_TASKS: usize = 32;
const LEAST_CLOSENESS: f64 = 3.0;

impl CloseTasks {
    fn new(
        block: &Block,
        derivative: &Derivative<'_>,
        columns: &Matrix,
        task: usize,
        weight: f64,
    ) -> Option<Self> {
        let second = derivative.second.row(task);
        let size = |s: usize| {
            let twice = if s == task { 2.0 } else { 1.0 };
            twice * second[s] * dot(columns.row(s), columns.row(s))
        };
        let mut close: Vec<(f64, usize)> = (0..columns.rows())
            .map(|s| (size(s), s))
            .filter(|(size, _)| *size > LEAST_CLOSENESS * weight)
            .collect();
        close.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        close.truncate(MAX_CLOSE_TASKS);
        if close.is_empty() {
            return None;
        }
        let (rank, n) = (columns.cols(), close.len());
        let (mut p, mut q) = (Matrix::zeros(n, rank), Matrix::zeros(n, rank));
        for (j, &(_, s)) in close.iter().enumerate() {
            let twice = if s == task { 2.0 } else { 1.0 };
            let root = (twice * second[s]).sqrt();
            p.row_mut(j).iter_mut().zip(columns.row(s)).for_each(|(x, v)| *x = root * v);
            q.row_mut(j).copy_from_slice(p.row(j));
            // N^-1 S = (I - N^-1) / Theta_rr.
            block.solve_plain(q.row_mut(j));
            q.row_mut(j).iter_mut().zip(p.row(j)).for_each(|(q, p)| *q = (p - *q) / weight);
        }
        let mut factor = Matrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                factor[(i, j)] = dot(p.row(i), q.row(j)) + if i == j { 1.0 } else { 0.0 };
            }
        }
        linalg::cholesky(&mut factor, 1).then_some(CloseTasks { p, q, factor })
    }
}

impl<C: TaskCurvature<Algebra = Host>> Operator for Blocks<'_, C> {
    type Algebra = Host;

    fn algebra(&self) -> &Host {
        &self.derivative.algebra
    }

    fn precondition(&self, v: &Matrix) -> Matrix {
        linalg::transposed(&self.blocks.precondition(&linalg::transposed(v)))
    }

    fn weigh(&self, v: &Matrix) -> Matrix {
        linalg::transposed(&self.blocks.weigh(&linalg::transposed(v)))
    }

    fn apply(&self, z: &Matrix) -> Matrix {
        self.derivative.newton(self.curvature, z)
    }
}
