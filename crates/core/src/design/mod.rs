//! The inputs as second-order solvers need them: in the basis where X'X is diagonal, and laid out by tasks.
//!
//! *Entries* are observations in the order of the layout. Where most inputs have a label for most tasks, they
//! form a table (inputs x tasks) with holes of weight zero, and products with the inputs are matrix products;
//! else each task has its own copy of its rows.

mod centring;
mod curvature;
mod layout;

pub(crate) use centring::Centring;
pub(crate) use curvature::Curvature;

use crate::backend::{Backend, Columns, Frame, Interrupt, Panel, STREAM_ROWS, Spectrum};
use crate::linalg::{axpy, dot, shared_product, times, transposed, view, view_mut};
use crate::{Matrix, Observations, Result};
use faer::{Accum, MatRef};
use layout::{NO_OBSERVATION, RowLayout};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::OnceLock;

/// Rotated inputs, and where they belong. Depends on which input has which task, and on nothing else.
#[derive(Debug)]
pub(crate) struct Design {
    /// One row per input (shared) or per observation (own), `x Q`.
    x: Matrix,
    /// The same in single precision, for products that need no more.
    rough: OnceLock<Vec<f32>>,
    /// Squared lengths of the rows.
    squares: Vec<f64>,
    /// The diagonal of X'X, of sum one.
    spread: Vec<f64>,
    layout: RowLayout,
}

impl Design {
    /// Bytes of a design of these data, besides the eigenbasis.
    pub(crate) fn bytes(backend: &dyn Backend, obs: &Observations) -> u64 {
        let rank = backend.dim().min(backend.n_inputs()) as u64;
        let (rows, entries) = RowLayout::size(obs);
        12 * rows as u64 * rank + 16 * entries as u64
    }

    /// Rows of inputs and entries of a design of these observations.
    pub(crate) fn size(obs: &Observations) -> (usize, usize) {
        RowLayout::size(obs)
    }

    /// Of the inputs less `mean`, which is rotated already.
    pub(crate) fn new(
        backend: &dyn Backend,
        obs: &Observations,
        (spectrum, mean): (&Spectrum, Option<&[f64]>),
        threads: usize,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Self> {
        let (layout, rows) = RowLayout::new(obs);
        let mut x = match &spectrum.frame {
            Frame::Coordinates(frame) => rotated(backend, frame, &rows, threads, interrupt)?,
            // X X'A = A diag(l), and K A = A diag(l).
            Frame::Inputs(frame) | Frame::Coefficients(frame) => {
                let mut x = Matrix::zeros(rows.len(), frame.cols());
                for (i, &row) in rows.iter().enumerate() {
                    let own = frame.row(row as usize).iter().zip(&spectrum.values);
                    x.row_mut(i).iter_mut().zip(own).for_each(|(x, (a, l))| *x = a * l);
                }
                x
            }
        };
        if let Some(mean) = mean {
            (0..x.rows()).for_each(|i| axpy(x.row_mut(i), -1.0, mean));
        }
        clear_noise(&mut x);
        let squares = (0..x.rows()).map(|i| dot(x.row(i), x.row(i))).collect();
        let total = spectrum.values.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let spread = spectrum.values.iter().map(|l| l / total).collect();
        Ok(Design { x, rough: OnceLock::new(), squares, spread, layout })
    }

    /// Number of entries.
    pub(crate) fn len(&self) -> usize {
        self.layout.observations().len()
    }

    pub(crate) fn rank(&self) -> usize {
        self.x.cols()
    }

    pub(crate) fn n_tasks(&self) -> usize {
        self.layout.n_tasks()
    }

    /// The observation of an entry that is no hole.
    pub(crate) fn observation(&self, entry: usize) -> usize {
        self.layout.observations()[entry] as usize
    }

    /// Values of observations as values of entries, zero in holes.
    pub(crate) fn gather(&self, of_observations: &[f64]) -> Vec<f64> {
        self.layout.gather(of_observations)
    }

    /// Values of entries as values of observations.
    pub(crate) fn scatter(&self, of_entries: &[f64], n_observations: usize) -> Vec<f64> {
        self.layout.scatter(of_entries, n_observations)
    }

    /// One value per entry from a function of its observation, zero in holes.
    pub(crate) fn per_entry(&self, of: impl Fn(usize) -> f64) -> Vec<f64> {
        let value = |&o: &u32| if o == NO_OBSERVATION { 0.0 } else { of(o as usize) };
        self.layout.observations().iter().map(value).collect()
    }

    /// Runs of entries of one task (own rows), or `None` if entries are a table with a column for each task.
    pub(crate) fn task_rows(&self) -> Option<&[Range<usize>]> {
        self.layout.task_rows()
    }

    /// Sums over the entries of each task.
    pub(crate) fn task_sums(&self, values: &[f64]) -> Vec<f64> {
        match self.task_rows() {
            Some(ranges) => ranges.iter().map(|range| values[range.clone()].iter().sum()).collect(),
            None => {
                let mut sums = vec![0.0; self.n_tasks()];
                values.chunks(self.n_tasks().max(1)).for_each(|row| axpy(&mut sums, 1.0, row));
                sums
            }
        }
    }

    /// Adds a number for each task to the values of its entries.
    pub(crate) fn add_to_tasks(&self, of_tasks: &[f64], values: &mut [f64]) {
        match self.task_rows() {
            Some(ranges) => ranges
                .iter()
                .zip(of_tasks)
                .for_each(|(range, b)| values[range.clone()].iter_mut().for_each(|x| *x += b)),
            None => values.chunks_mut(self.n_tasks().max(1)).for_each(|row| axpy(row, 1.0, of_tasks)),
        }
    }

    /// Row of the inputs, and task, of an entry.
    pub(crate) fn place(&self, entry: usize) -> (usize, usize) {
        self.layout.place(entry)
    }

    /// The entry of a row of the inputs and a task: the opposite of [`place`](Self::place).
    pub(crate) fn entry(&self, row: usize, task: usize) -> usize {
        if self.task_rows().is_some() { row } else { row * self.n_tasks() + task }
    }

    /// `|x|^2` of a row.
    pub(crate) fn square(&self, i: usize) -> f64 {
        self.squares[i]
    }

    /// How the squared lengths of all rows are distributed over the features.
    pub(crate) fn spread(&self) -> &[f64] {
        &self.spread
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        self.x.row(i)
    }

    /// Predictions `x W` of all entries.
    pub(crate) fn forward(&self, w: &Matrix, threads: usize) -> Vec<f64> {
        let Some(task_rows) = self.task_rows() else {
            return times(view(&self.x), view(w), threads).into_vec();
        };
        let (columns, mut out) = (transposed(w), vec![0.0; self.len()]);
        let mut parts = split(&mut out, task_rows);
        each(&mut parts, self.work(), threads, |task, (rows, out)| {
            let own = columns.row(task);
            rows.clone().zip(out.iter_mut()).for_each(|(i, f)| *f = dot(self.x.row(i), own));
        });
        out
    }

    /// `x'A` for values A of all entries: features x tasks.
    pub(crate) fn backward(&self, a: &[f64], threads: usize) -> Matrix {
        let (rank, t) = (self.rank(), self.n_tasks());
        let Some(task_rows) = self.task_rows() else {
            let mut out = Matrix::zeros(rank, t);
            let table = MatRef::from_row_major_slice(a, self.x.rows(), t);
            shared_product(
                view_mut(&mut out),
                Accum::Replace,
                1.0,
                view(&self.x).transpose(),
                table,
                threads,
            );
            return out;
        };
        let mut columns = Matrix::zeros(t, rank);
        let mut parts: Vec<(Range<usize>, &mut [f64])> =
            task_rows.iter().cloned().zip(columns.as_mut_slice().chunks_mut(rank.max(1))).collect();
        each(&mut parts, self.work(), threads, |_, (rows, out)| {
            rows.clone().filter(|&i| a[i] != 0.0).for_each(|i| axpy(out, a[i], self.x.row(i)));
        });
        transposed(&columns)
    }

    /// The inputs in single precision.
    fn rough(&self) -> MatRef<'_, f32> {
        let x = self.rough.get_or_init(|| self.x.as_slice().iter().map(|&x| x as f32).collect());
        MatRef::from_row_major_slice(x, self.x.rows(), self.x.cols())
    }

    /// Multiplications of a pass.
    fn work(&self) -> usize {
        self.len() * self.rank()
    }
}

/// Sets coordinates to zero that are only rounding errors. In directions in which the inputs do not vary,
/// coordinates are errors of the other ones, and dividing by them gives useless factors.
fn clear_noise(x: &mut Matrix) {
    let mut squares = vec![0.0; x.cols()];
    for i in 0..x.rows() {
        squares.iter_mut().zip(x.row(i)).for_each(|(sum, x)| *sum += x * x);
    }
    let noise = x.cols() as f64 * f64::EPSILON;
    let least = noise * noise * squares.iter().fold(0.0f64, |a, &b| a.max(b));
    for i in 0..x.rows() {
        let row = x.row_mut(i).iter_mut().zip(&squares);
        row.filter(|(_, sum)| **sum <= least).for_each(|(x, _)| *x = 0.0);
    }
}

/// Work below this is not worth a second thread.
const SHARED_WORK: usize = 1 << 17;

/// Calls `visit` for each part, on several threads if there is much to do.
fn each<T: Send>(parts: &mut [T], work: usize, threads: usize, visit: impl Fn(usize, &mut T) + Sync + Send) {
    if threads > 1 && work > SHARED_WORK {
        parts.par_iter_mut().enumerate().for_each(|(j, part)| visit(j, part));
    } else {
        parts.iter_mut().enumerate().for_each(|(j, part)| visit(j, part));
    }
}

/// A vector cut at the ends of neighbouring ranges that cover it.
fn split<'v>(mut values: &'v mut [f64], ranges: &[Range<usize>]) -> Vec<(Range<usize>, &'v mut [f64])> {
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        let (head, tail) = values.split_at_mut(range.len());
        parts.push((range.clone(), head));
        values = tail;
    }
    parts
}
/// Some rows of X times a frame.
fn rotated(
    backend: &dyn Backend,
    frame: &Matrix,
    rows: &[u32],
    threads: usize,
    interrupt: &mut Interrupt<'_>,
) -> Result<Matrix> {
    let (state, rank) = (backend.state_of_coordinates(frame, threads), frame.cols());
    let mut x = Matrix::zeros(rows.len(), rank);
    let mut blocks: Vec<(&[u32], &mut [f64])> =
        rows.chunks(STREAM_ROWS).zip(x.as_mut_slice().chunks_mut(STREAM_ROWS * rank.max(1))).collect();
    interrupt.in_rounds(blocks.len(), threads, |round| {
        blocks[round].par_iter_mut().for_each_init(
            || (Panel::default(), Matrix::default()),
            |(panel, scores), (rows, out)| {
                backend.load(rows, panel);
                backend.scores(panel, Columns::All, &state, scores, 1);
                out.copy_from_slice(scores.as_slice());
            },
        );
    })?;
    Ok(x)
}
