//! The eigenbasis of features: from X'X, or from X X' where that is smaller.

use super::Features;
use crate::backend::{Backend, Frame, Interrupt, Panel, Spectrum};
use crate::linalg::{self, add_gram_lower, axpy, shared_product, view_mut};
use crate::{Matrix, Result};
use faer::Accum;
use rayon::prelude::*;

/// Rows loaded at a time for X'X; of wide inputs fewer, so that none takes long.
const MOMENT_ROWS: usize = 1024;
const WIDE: usize = 2048;
/// Rows at a time for X X'.
const GRAM_ROWS: usize = 256;

/// The second moment of a run of rows.
struct Partial<'a> {
    rows: &'a [u32],
    panel: Panel,
    moment: Matrix,
}

impl Features<'_> {
    pub(super) fn diagonalise(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<Spectrum> {
        let (m, d) = (self.n_inputs(), self.dim());
        let all: Vec<u32> = (0..m as u32).collect();
        if d <= m {
            let moment = self.moment(&all, threads, interrupt)?;
            interrupt.check()?;
            let (values, frame) = linalg::eigen(&moment)?;
            let values = values.iter().map(|l| l.max(0.0)).collect();
            return Ok(Spectrum { values, frame: Frame::Coordinates(frame) });
        }
        // Fewer inputs than features.
        let gram = self.gram_of_all(&all, threads, interrupt)?;
        interrupt.check()?;
        let (values, vectors) = linalg::eigen(&gram)?;
        let (values, coefficients) = keep_positive(values, vectors);
        Ok(Spectrum { values, frame: Frame::Inputs(coefficients) })
    }

    /// Lower triangle of X'X: one partial sum per thread over a fixed run of rows, added up in order.
    fn moment(&self, all: &[u32], threads: usize, interrupt: &mut Interrupt<'_>) -> Result<Matrix> {
        let d = self.dim();
        let run = all.len().div_ceil(threads.max(1)).max(1);
        let new = |rows| Partial { rows, panel: Panel::default(), moment: Matrix::zeros(d, d) };
        let mut partial: Vec<Partial<'_>> = all.chunks(run).map(new).collect();
        let size = if d <= WIDE { MOMENT_ROWS } else { MOMENT_ROWS / 4 };
        interrupt.in_rounds(run.div_ceil(size), 1, |round| {
            partial.par_iter_mut().for_each(|Partial { rows, panel, moment }| {
                for rows in rows.chunks(size).skip(round.start).take(round.len()) {
                    self.load(rows, panel);
                    self.add_moment(panel, moment);
                }
            });
        })?;
        let mut moments = partial.into_iter().map(|part| part.moment);
        let mut moment = moments.next().unwrap_or_else(|| Matrix::zeros(d, d));
        moments.for_each(|other| axpy(moment.as_mut_slice(), 1.0, other.as_slice()));
        Ok(moment)
    }

    /// X X', some rows at a time.
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
            let rows = round.start * GRAM_ROWS..m.min(round.end * GRAM_ROWS);
            let out = view_mut(&mut gram).subrows_mut(rows.start, rows.len());
            let some = x.subrows(rows.start, rows.len());
            shared_product(out, Accum::Replace, scale * scale, some, x.transpose(), threads);
        })?;
        Ok(gram)
    }

    /// Lower triangle of `moment += X_b' X_b`.
    fn add_moment(&self, panel: &Panel, moment: &mut Matrix) {
        let Some(sparse) = self.sparse() else {
            let (rows, scale) = self.dense_rows(panel);
            return add_gram_lower(view_mut(moment), rows, scale * scale);
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

/// Drops eigenvalues that are rounding noise and divides the remaining vectors by the root of theirs.
pub(in crate::backend) fn keep_positive(values: Vec<f64>, vectors: Matrix) -> (Vec<f64>, Matrix) {
    let largest = values.iter().fold(0.0f64, |a, &b| a.max(b));
    let noise = largest * values.len() as f64 * f64::EPSILON;
    let kept: Vec<usize> = (0..values.len()).filter(|&j| values[j] > noise).collect();
    let mut scaled = Matrix::zeros(vectors.rows(), kept.len());
    for i in 0..vectors.rows() {
        for (col, &j) in kept.iter().enumerate() {
            scaled[(i, col)] = vectors[(i, j)] / values[j].sqrt();
        }
    }
    (kept.iter().map(|&j| values[j]).collect(), scaled)
}
