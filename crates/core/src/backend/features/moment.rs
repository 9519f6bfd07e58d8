//! The second moment of features: X'X, or X X' where that is smaller.

use super::FeatureBackend;
use crate::backend::{Backend, Interrupt, MomentOf, Panel, SecondMoment, partial_sums};
use crate::linalg::{add_gram_lower, axpy, shared_product, view_mut};
use crate::{Matrix, Result};
use faer::Accum;
use rayon::prelude::*;
use std::borrow::Cow;

/// Rows loaded at a time for X'X; fewer for wide inputs, so that no round takes long.
const MOMENT_ROWS: usize = 1024;
const WIDE_FEATURES: usize = 2048;
/// Rows at a time for X X'.
const GRAM_ROWS: usize = 256;

/// The second moment of a run of rows.
struct PartialMoment<'a> {
    rows: &'a [u32],
    panel: Panel,
    moment: Matrix,
}

impl FeatureBackend<'_> {
    pub(super) fn smaller_moment(
        &self,
        threads: usize,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<SecondMoment<'static>> {
        let (m, d) = (self.n_inputs(), self.dim());
        let all: Vec<u32> = (0..m as u32).collect();
        let (matrix, of) = match d <= m {
            true => (self.moment(&all, threads, interrupt)?, MomentOf::Features),
            false => (self.gram_of_all(&all, threads, interrupt)?, MomentOf::Inputs),
        };
        Ok(SecondMoment { matrix: Cow::Owned(matrix), of, largest_before: 0.0 })
    }

    /// Lower triangle of X'X: partial sums over fixed runs of rows, added up in order. With a single one, threads
    /// share its rows.
    fn moment(&self, all: &[u32], threads: usize, interrupt: &mut Interrupt<'_>) -> Result<Matrix> {
        let d = self.dim();
        let parts = partial_sums(d * d);
        let run = all.len().div_ceil(parts).max(1);
        let threads_of_sum = if parts == 1 { threads } else { 1 };
        let new = |rows| PartialMoment { rows, panel: Panel::default(), moment: Matrix::zeros(d, d) };
        let mut partial: Vec<PartialMoment<'_>> = all.chunks(run).map(new).collect();
        let size = if d <= WIDE_FEATURES { MOMENT_ROWS } else { MOMENT_ROWS / 4 };
        interrupt.in_rounds(run.div_ceil(size), 1, |round| {
            partial.par_iter_mut().for_each(|PartialMoment { rows, panel, moment }| {
                for rows in rows.chunks(size).skip(round.start).take(round.len()) {
                    self.load(rows, panel);
                    self.add_moment(panel, moment, threads_of_sum);
                }
            });
        })?;
        let mut moments = partial.into_iter().map(|part| part.moment);
        let mut moment = moments.next().unwrap_or_else(|| Matrix::zeros(d, d));
        moments.for_each(|other| axpy(moment.as_mut_slice(), 1.0, other.as_slice()));
        Ok(moment)
    }

    /// The lower triangle of X X', some rows at a time.
    fn gram_of_all(&self, all: &[u32], threads: usize, interrupt: &mut Interrupt<'_>) -> Result<Matrix> {
        let m = all.len();
        let (mut gram, mut panel) = (Matrix::zeros(m, m), Panel::default());
        self.load(all, &mut panel);
        if self.sparse().is_some() {
            interrupt.in_rounds(m, 1, |rows| self.fill_sparse_gram(&mut panel, rows, &mut gram))?;
            return Ok(gram);
        }
        let (x, scale) = self.dense_rows(&panel);
        interrupt.in_rounds(m.div_ceil(GRAM_ROWS), 1, |round| {
            for block in round {
                let (start, end) = (block * GRAM_ROWS, m.min((block + 1) * GRAM_ROWS));
                // Columns to the right are the mirror image of other rows.
                let out = view_mut(&mut gram).submatrix_mut(start, 0, end - start, end);
                let (some, before) = (x.subrows(start, end - start), x.subrows(0, end));
                shared_product(out, Accum::Replace, scale * scale, some, before.transpose(), threads);
            }
        })?;
        Ok(gram)
    }

    /// Lower triangle of `moment += X_b' X_b`.
    fn add_moment(&self, panel: &Panel, moment: &mut Matrix, threads: usize) {
        let Some(sparse) = self.sparse() else {
            let (rows, scale) = self.dense_rows(panel);
            return add_gram_lower(view_mut(moment), rows, scale * scale, threads);
        };
        for &i in &panel.rows {
            let (factor, bias) = self.row_factor(i as usize);
            let entries = || {
                let constant = (self.bias != 0.0).then_some((self.width(), bias));
                sparse.row(i as usize).map(|(j, x)| (j, factor * x)).chain(constant)
            };
            for (j, x) in entries() {
                for (j2, x2) in entries().take_while(|(j2, _)| *j2 <= j) {
                    moment[(j, j2)] += x * x2;
                }
            }
        }
    }
}
