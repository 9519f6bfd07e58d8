//! A symmetric matrix as `Q B Q'` with B a band, by block reflections.

use super::Band;
use crate::interrupt::Interrupt;
use crate::linalg::{self, both, halfway, part_rows, view, view_mut};
use crate::{Matrix, Result};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::{householder, matmul::matmul, qr::no_pivoting::factor, triangular_solve};
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, Conj, MatMut, Par};

/// Wide enough for fast products, narrow enough for equations that are solved in almost no time.
const WIDTH: usize = 16;

/// An orthogonal matrix `Q = Q_1 Q_2 ...`, `Q_k = I - V_k T_k^-1 V_k'`.
#[derive(Debug)]
pub(crate) struct Reflections {
    /// By columns: the V_k below the band.
    vectors: Matrix,
    /// T_k side by side.
    factors: faer::Mat<f64>,
}

/// `m = Q B Q'` of a symmetric matrix given by its lower triangle.
pub(crate) fn reduce(mut m: Matrix, interrupt: &mut Interrupt<'_>) -> Result<(Band, Reflections)> {
    let n = m.rows();
    // Columns side by side: the mirror image is the transposed one.
    linalg::mirror_lower(&mut m);
    let mut factors = faer::Mat::<f64>::zeros(WIDTH, n);
    for from in (0..n.saturating_sub(WIDTH)).step_by(WIDTH) {
        interrupt.check()?;
        let (_, _, left, rest) = view_mut(&mut m).transpose_mut().split_at_mut(from + WIDTH, from + WIDTH);
        let count = WIDTH.min(rest.nrows());
        let t = factors.as_mut().submatrix_mut(0, from, count, count);
        eliminate(left.subcols_mut(from, WIDTH), t, rest);
    }
    let band = Band::new(n, WIDTH.min(n.saturating_sub(1)), |i, j| m[(j, i)]);
    Ok((band, Reflections { vectors: m, factors }))
}

/// Reflects the columns of the panel into the band, and the rest from both sides:
/// `Q'A Q = A - V Y' - Y V'`, `Z = A V T^-1`, `Y = Z - V T^-T (V'Z) / 2`.
fn eliminate(mut panel: MatMut<'_, f64>, mut t: MatMut<'_, f64>, mut rest: MatMut<'_, f64>) {
    use BlockStructure::{Rectangular, StrictTriangularUpper, TriangularLower};
    let (rows, count) = (rest.nrows(), t.nrows());
    let scratch =
        factor::qr_in_place_scratch::<f64>(rows, panel.ncols(), count, Par::Seq, Default::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    factor::qr_in_place(panel.rb_mut(), t.rb_mut(), Par::Seq, stack, Default::default());
    let v = faer::Mat::<f64>::from_fn(rows, count, |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => panel[(i, j)],
    });
    let (v, t, lower) = (v.as_ref(), t.rb().transpose(), rest.rb());
    let mut y = faer::Mat::<f64>::zeros(rows, count);
    let halves = [(lower, TriangularLower), (lower.transpose(), StrictTriangularUpper)];
    for (half, shape) in halves {
        triangular::matmul(y.as_mut(), Rectangular, Accum::Add, half, shape, v, Rectangular, 1.0, Par::Seq);
    }
    triangular_solve::solve_lower_triangular_in_place(t, y.as_mut().transpose_mut(), Par::Seq);
    let mut common = faer::Mat::<f64>::zeros(count, count);
    matmul(common.as_mut(), Accum::Replace, v.transpose(), y.as_ref(), 0.5, Par::Seq);
    triangular_solve::solve_lower_triangular_in_place(t, common.as_mut(), Par::Seq);
    matmul(y.as_mut(), Accum::Add, v, common.as_ref(), -1.0, Par::Seq);
    for (a, b) in [(v, y.as_ref()), (y.as_ref(), v)] {
        let (out, b) = (rest.rb_mut(), b.transpose());
        triangular::matmul(out, TriangularLower, Accum::Add, a, Rectangular, b, Rectangular, -1.0, Par::Seq);
    }
}

impl Reflections {
    /// `Q x` in place.
    pub(crate) fn forth(&self, x: &mut Matrix, threads: usize) {
        let part = part_rows(x.cols());
        self.shared(view_mut(x), part, threads, Self::apply::<false>);
    }

    /// `Q' x` in place.
    pub(crate) fn back(&self, x: &mut Matrix, threads: usize) {
        let part = part_rows(x.cols());
        self.shared(view_mut(x), part, threads, Self::apply::<true>);
    }

    /// The columns shared out over threads, some at a time.
    fn shared(&self, x: MatMut<'_, f64>, part: usize, threads: usize, apply: fn(&Self, MatMut<'_, f64>)) {
        if x.ncols() <= part {
            return apply(self, x);
        }
        let cut = halfway(x.ncols(), part);
        let (first, second) = x.split_at_col_mut(cut);
        both(
            threads,
            || self.shared(first, part, threads, apply),
            || self.shared(second, part, threads, apply),
        );
    }

    fn apply<const TRANSPOSED: bool>(&self, mut x: MatMut<'_, f64>) {
        let (n, cols) = (x.nrows(), x.ncols());
        let scratch =
            householder::apply_block_householder_on_the_left_in_place_scratch::<f64>(n, WIDTH, cols);
        let mut memory = MemBuffer::new(scratch);
        let mut one = |from: usize| {
            let below = from + WIDTH;
            let count = WIDTH.min(n - below);
            let v = view(&self.vectors).transpose().submatrix(below, from, n - below, count);
            let t = self.factors.as_ref().submatrix(0, from, count, count);
            let (x, stack) = (x.rb_mut().subrows_mut(below, n - below), MemStack::new(&mut memory));
            match TRANSPOSED {
                true => householder::apply_block_householder_transpose_on_the_left_in_place_with_conj(
                    v,
                    t,
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                ),
                false => householder::apply_block_householder_on_the_left_in_place_with_conj(
                    v,
                    t,
                    Conj::No,
                    x,
                    Par::Seq,
                    stack,
                ),
            }
        };
        let starts = (0..n.saturating_sub(WIDTH)).step_by(WIDTH);
        match TRANSPOSED {
            true => starts.for_each(&mut one),
            false => starts.rev().for_each(&mut one),
        }
    }
}
