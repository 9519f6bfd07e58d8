//! The Cholesky factor of a large matrix, in blocks: between them the work can be interrupted, and it has the same bits
//! for any number of threads.

use super::{add_gram_lower, both, halfway, part_rows, shared_product, view, view_mut};
use crate::interrupt::Interrupt;
use crate::{Matrix, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};

/// Rows of a block.
const BLOCK_ROWS: usize = 192;

/// L with `L L' = m`.
#[derive(Debug)]
pub(crate) struct BlockCholesky {
    /// The lower triangle is L; the upper one means nothing.
    lower: Matrix,
}

impl BlockCholesky {
    /// The factor of the matrix given by its lower triangle; `None` if it is not positive definite.
    pub(crate) fn new(mut m: Matrix, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<Option<Self>> {
        let n = m.rows();
        for first in (0..n).step_by(BLOCK_ROWS) {
            interrupt.check()?;
            let rows = BLOCK_ROWS.min(n - first);
            let (block, below) = view_mut(&mut m)
                .subrows_mut(first, n - first)
                .subcols_mut(first, n - first)
                .split_at_row_mut(rows);
            let mut block = block.subcols_mut(0, rows);
            if !factorise(block.rb_mut()) {
                return Ok(None);
            }
            let (mut panel, rest) = below.split_at_col_mut(rows);
            divide(panel.rb_mut(), block.as_ref(), part_rows(n - first - rows), threads);
            add_gram_lower(rest, panel.as_ref().transpose(), -1.0, threads);
        }
        Ok(Some(BlockCholesky { lower: m }))
    }

    /// `m^-1 x`, in place.
    pub(crate) fn solve(&self, x: &mut Matrix, threads: usize) {
        let (n, lower) = (self.lower.rows(), view(&self.lower));
        for first in (0..n).step_by(BLOCK_ROWS) {
            let rows = BLOCK_ROWS.min(n - first);
            let (mut block, below) = view_mut(x).subrows_mut(first, n - first).split_at_row_mut(rows);
            solve_lower_triangular_in_place(
                lower.submatrix(first, first, rows, rows),
                block.rb_mut(),
                Par::Seq,
            );
            let panel = lower.submatrix(first + rows, first, n - first - rows, rows);
            shared_product(below, Accum::Add, -1.0, panel, block.as_ref(), threads);
        }
        for first in (0..n).step_by(BLOCK_ROWS).rev() {
            let rows = BLOCK_ROWS.min(n - first);
            let (above, block) = view_mut(x).subrows_mut(0, first + rows).split_at_row_mut(first);
            let mut block = block;
            let corner = lower.submatrix(first, first, rows, rows);
            solve_upper_triangular_in_place(corner.transpose(), block.rb_mut(), Par::Seq);
            let panel = lower.submatrix(first, 0, rows, first).transpose();
            shared_product(above, Accum::Add, -1.0, panel, block.as_ref(), threads);
        }
    }
}

/// The factor of a small block, in its place.
fn factorise(block: MatMut<'_, f64>) -> bool {
    let n = block.nrows();
    let scratch = factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    factor::cholesky_in_place(block, Default::default(), Par::Seq, stack, Default::default()).is_ok()
}

/// `panel L^-T` in place of the panel, its rows shared out over threads.
fn divide(panel: MatMut<'_, f64>, lower: MatRef<'_, f64>, part: usize, threads: usize) {
    if panel.nrows() <= part {
        return solve_lower_triangular_in_place(lower, panel.transpose_mut(), Par::Seq);
    }
    let cut = halfway(panel.nrows(), part);
    let (above, below) = panel.split_at_row_mut(cut);
    both(threads, || divide(above, lower, part, threads), || divide(below, lower, part, threads));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positive_definite(n: usize) -> Matrix {
        let root = Matrix::from_vec((0..n * n).map(|i| ((i * i) as f64).sin()).collect(), n, n).unwrap();
        let mut m = root.times(&root.transposed());
        (0..n).for_each(|i| m[(i, i)] += 1.0);
        m
    }

    #[test]
    fn solves_at_sizes_around_a_block() {
        for n in [1, 5, BLOCK_ROWS - 1, BLOCK_ROWS, BLOCK_ROWS + 1, 2 * BLOCK_ROWS + 7] {
            let m = positive_definite(n);
            let x = Matrix::from_vec((0..3 * n).map(|i| (i as f64).cos()).collect(), n, 3).unwrap();
            let factor = BlockCholesky::new(m.clone(), 2, &mut Interrupt::never()).unwrap().unwrap();
            let mut solved = m.times(&x);
            factor.solve(&mut solved, 2);
            let error = solved.minus(&x).as_slice().iter().fold(0.0f64, |most, e| most.max(e.abs()));
            assert!(error < 1e-8, "{n}: {error:.1e}");
        }
    }

    #[test]
    fn says_when_there_is_no_factor_and_when_it_was_stopped() {
        let mut m = positive_definite(2 * BLOCK_ROWS);
        assert!(BlockCholesky::new(m.clone(), 1, &mut Interrupt::when(&mut || true)).is_err());
        m[(BLOCK_ROWS + 3, BLOCK_ROWS + 3)] = -1.0;
        assert!(BlockCholesky::new(m, 1, &mut Interrupt::never()).unwrap().is_none());
    }
}
