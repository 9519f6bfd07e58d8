//! `(I + S B) x = w` preconditioned task by task: good wherever Theta is well conditioned, as with classes, however different the
//! curvatures of the tasks are.
//!
//! Of `I + S B` each task keeps its own block, with B reduced to Theta_rr: `N_r = I + Theta_rr S_r`. The rows of largest
//! curvature enter exactly, the others as if they were spread over the features like all rows are. With
//! `A = I + Theta_rr diag(others)` and J the exact rows times `(D / A)^(1/2)`,
//! `N_r^-1 = A^(-1/2) (I - J' (1/Theta_rr + J J')^-1 J) A^(-1/2)`, of the size of the number of exact rows.

use super::Derivative;
use super::gmres::Operator;
use super::kronecker::FLOOR;
use crate::Matrix;
use crate::design::{Curvature, Design};
use crate::linalg::{self, axpy, dot, view};
use rayon::prelude::*;

/// Exact rows of a task at most; their factor has to be made anew for every step.
const EXACT_ROWS: usize = 1024;

/// How many rows of a task with `free` rows enter exactly: all, if they are fewer than features; else as many as cost no more
/// than a few products with all rows of the design.
pub(super) fn exact_rows(design: &Design, free: usize) -> usize {
    if free <= design.rank().min(EXACT_ROWS) {
        return free;
    }
    let (rank, entries) = (design.rank() as f64, (design.len() / design.n_tasks()) as f64);
    let budget = 16.0 * entries * rank;
    // f^2 (rank + f) = budget, by a few rounds of f = (budget / (rank + f))^(1/2).
    let affordable = (0..4).fold(0.0, |f, _| (budget / (rank + f)).sqrt()) as usize;
    free.min(EXACT_ROWS).min(design.rank()).min(affordable.max(32))
}

pub(super) struct Blocks<'a> {
    curvature: &'a Curvature<'a>,
    derivative: &'a Derivative<'a>,
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
}

impl<'a> Blocks<'a> {
    pub(super) fn new(
        design: &Design,
        curvature: &'a Curvature<'a>,
        derivative: &'a Derivative<'a>,
    ) -> Option<Self> {
        let t = design.n_tasks();
        let diagonal: Vec<f64> = (0..t).map(|r| derivative.theta[(r, r)]).collect();
        let floor = FLOOR * diagonal.iter().fold(0.0f64, |a, &b| a.max(b));
        let weights: Vec<f64> = diagonal.iter().map(|x| x.max(floor)).collect();
        let build = |task: usize| Block::new(design, curvature.of_task(task), weights[task]);
        let blocks: Option<Vec<Block>> = (0..t).into_par_iter().map(build).collect();
        let blocks = blocks.filter(|_| floor > 0.0)?;
        Some(Blocks { curvature, derivative, blocks, weights })
    }
}

impl Block {
    fn new(design: &Design, mut free: Vec<(u32, f64)>, weight: f64) -> Option<Self> {
        let rank = design.rank();
        let most = exact_rows(design, free.len());
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
            let scaled = design.row(i as usize).iter().zip(&root).map(|(x, root)| d.sqrt() * x * root);
            rows.row_mut(j).iter_mut().zip(scaled).for_each(|(out, x)| *out = x);
        }
        let mut factor = Matrix::zeros(free.len(), free.len());
        linalg::add_gram_lower(linalg::view_mut(&mut factor), view(&rows).transpose(), 1.0);
        (0..free.len()).for_each(|j| factor[(j, j)] += 1.0 / weight);
        (free.is_empty() || linalg::cholesky(&mut factor, 1)).then_some(Block { root, rows, factor })
    }

    /// `N_r^-1` of a vector, in place.
    fn solve(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.root).for_each(|(x, root)| *x *= root);
        if self.rows.rows() > 0 {
            let mut y: Vec<f64> = (0..self.rows.rows()).map(|j| dot(self.rows.row(j), x)).collect();
            linalg::cholesky_solve(&self.factor, &mut y);
            y.iter().enumerate().for_each(|(j, y)| axpy(x, -y, self.rows.row(j)));
        }
        x.iter_mut().zip(&self.root).for_each(|(x, root)| *x *= root);
    }
}

impl Operator for Blocks<'_> {
    fn precondition(&self, v: &Matrix) -> Matrix {
        let mut columns = linalg::transposed(v);
        let rank = v.rows().max(1);
        columns
            .as_mut_slice()
            .par_chunks_mut(rank)
            .zip(&self.blocks)
            .for_each(|(column, block)| block.solve(column));
        linalg::transposed(&columns)
    }

    fn weigh(&self, v: &Matrix) -> Matrix {
        let mut out = v.clone();
        for j in 0..out.rows() {
            out.row_mut(j).iter_mut().zip(&self.weights).for_each(|(x, weight)| *x *= weight);
        }
        out
    }

    fn apply(&self, z: &Matrix) -> Matrix {
        self.derivative.newton(self.curvature, z)
    }
}
