//! Any kernel through its Gram matrix: the state is K Z.

use super::{Backend, Columns, Interrupt, MomentOf, Panel, SecondMoment};
use crate::algebra::{Device, DeviceMatrix};
use crate::inputs::{Dense, Inputs};
use crate::kernel::{self, Kernel};
use crate::linalg::{self, add_product, view, view_mut};
use crate::{Error, Matrix, Result};
use faer::{MatRef, prelude::ReborrowMut};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::OnceLock;

/// A Gram matrix, stored whole once [prepared](Backend::prepare) if the memory budget allows, else computed
/// in panels of rows when needed.
#[derive(Debug)]
pub struct GramBackend<'a> {
    inputs: &'a Inputs<'a>,
    kernel: Kernel,
    /// Constant added to every kernel value, in the inputs' own units.
    shift: f64,
    scale: f64,
    /// Whether the budget allows to store it.
    storable: bool,
    stored: OnceLock<Matrix>,
    diagonal: Vec<f64>,
}

/// Rows of the Gram matrix computed at a time when it is not stored, at most.
const PANEL_ROWS: usize = 128;
/// Products of entries that such rows may take, about.
const PANEL_PRODUCTS: usize = 1 << 31;

/// Rows of a tile of the stored matrix, and products of entries that one takes, about.
const BAND_ROWS: usize = 256;
const TILE_PRODUCTS: usize = 1 << 29;

impl<'a> GramBackend<'a> {
    /// `kernel` is resolved; `bias` squared is added to it. The matrix will be stored if it takes at most
    /// `budget` bytes.
    pub fn new(
        inputs: &'a Inputs<'a>,
        kernel: Kernel,
        bias: f64,
        budget: u64,
        threads: usize,
    ) -> Result<Self> {
        let n = inputs.n_inputs();
        let shift = bias * bias;
        let mut diagonal = kernel::diagonal(&kernel, inputs);
        diagonal.iter_mut().for_each(|k| *k += shift);
        if let Some(row) = diagonal.iter().position(|k| !k.is_finite()) {
            return Err(Error::KernelRange { row, value: diagonal[row] });
        }
        let peak = diagonal.iter().fold(0.0f64, |a, &b| a.max(b));
        let mean =
            if peak > 0.0 { peak * (diagonal.iter().map(|k| k / peak).sum::<f64>() / n as f64) } else { 1.0 };
        let root = linalg::power_of_two(mean.sqrt());
        let scale = 1.0 / (root * root);
        diagonal.iter_mut().for_each(|k| *k *= scale);
        let whole = 8 * (n as u64) * (n as u64);
        let panels = 8 * (n as u64) * (PANEL_ROWS.min(n) as u64) * threads.max(1) as u64;
        if panels > budget {
            return Err(Error::Memory { what: "a panel of the Gram matrix", needed: panels, budget });
        }
        let (storable, stored) = (whole <= budget, OnceLock::new());
        Ok(GramBackend { inputs, kernel, shift, scale, storable, stored, diagonal })
    }

    /// Whether the whole matrix is in memory.
    pub fn is_stored(&self) -> bool {
        self.stored.get().is_some()
    }

    /// Numbers per input; for sparse inputs, those that are not zero.
    fn width(&self) -> usize {
        match self.inputs {
            Inputs::Dense(x) => x.cols().max(1),
            Inputs::Sparse(x) => x.nnz().div_ceil(x.rows()).max(1),
            Inputs::Gram(_) => 1,
        }
    }

    /// Kernel values of some inputs with others.
    fn block(&self, rows: &[u32], columns: &[u32], out: &mut Matrix) {
        kernel::block(&self.kernel, self.inputs, rows, self.inputs, columns, out, &mut Default::default());
        out.as_mut_slice().iter_mut().for_each(|k| *k = (*k + self.shift) * self.scale);
    }

    fn compute(&self, rows: &[u32], out: &mut Matrix) {
        let all: Vec<u32> = (0..self.n_inputs() as u32).collect();
        self.block(rows, &all, out);
        // Rounding of a product may differ from the diagonal computed one by one; solvers rely on the two
        // being equal.
        for (row, &i) in rows.iter().enumerate() {
            out[(row, i as usize)] = self.diagonal[i as usize];
        }
    }

    /// The lower triangle in tiles, as many at a time as there are threads, each some columns of a band of
    /// rows; then its mirror image. A matrix that was given may differ from its mirror image by rounding: the
    /// mean of both is taken.
    fn compute_all(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<Matrix> {
        let (n, given) = (self.n_inputs(), self.kernel == Kernel::Precomputed);
        let mut whole = Matrix::zeros(n, n);
        let columns = (TILE_PRODUCTS / (BAND_ROWS * self.width())).max(BAND_ROWS);
        for (group, bands) in whole.as_mut_slice().chunks_mut(threads.max(1) * BAND_ROWS * n).enumerate() {
            let start = group * threads.max(1) * BAND_ROWS;
            let end = if given { n } else { start + bands.len() / n };
            interrupt.in_rounds(end.div_ceil(columns), 1, |tiles| {
                let tiles = (tiles.start * columns) as u32..end.min(tiles.end * columns) as u32;
                bands.par_chunks_mut(BAND_ROWS * n).enumerate().for_each(|(band, out)| {
                    let first = (start + band * BAND_ROWS) as u32;
                    let rows: Vec<u32> = (first..first + (out.len() / n) as u32).collect();
                    let last = if given { tiles.end } else { tiles.end.min(first + rows.len() as u32) };
                    let columns: Vec<u32> = (tiles.start..last).collect();
                    if columns.is_empty() {
                        return;
                    }
                    let mut block = Matrix::zeros(rows.len(), columns.len());
                    self.block(&rows, &columns, &mut block);
                    for (row, out) in out.chunks_exact_mut(n).enumerate() {
                        out[columns[0] as usize..][..columns.len()].copy_from_slice(block.row(row));
                    }
                });
            })?;
            interrupt.check()?;
        }
        if given {
            linalg::symmetrise(&mut whole)
        } else {
            linalg::mirror_lower(&mut whole)
        }
        (0..n).for_each(|i| whole[(i, i)] = self.diagonal[i]);
        Ok(whole)
    }

    fn ensure_loaded(&self, panel: &mut Panel) {
        if panel.loaded {
            return;
        }
        panel.values.reset(panel.rows.len(), self.n_inputs());
        match self.stored.get() {
            Some(whole) => {
                for (row, &i) in panel.rows.iter().enumerate() {
                    panel.values.row_mut(row).copy_from_slice(whole.row(i as usize));
                }
            }
            None => self.compute(&panel.rows, &mut panel.values),
        }
        panel.loaded = true;
    }
}

fn each_row(dense: &Dense<'_>, mut visit: impl FnMut(usize, &[f64])) {
    let mut row = vec![0.0; dense.cols()];
    for i in 0..dense.rows() {
        dense.load_range(i..i + 1, &mut row);
        visit(i, &row);
    }
}

fn square(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum()
}

impl Backend for GramBackend<'_> {
    fn n_inputs(&self) -> usize {
        self.inputs.n_inputs()
    }

    fn dim(&self) -> usize {
        self.n_inputs()
    }

    fn unit(&self) -> f64 {
        1.0 / self.scale
    }

    fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    fn load(&self, rows: &[u32], panel: &mut Panel) {
        panel.rows.clear();
        panel.rows.extend_from_slice(rows);
        panel.loaded = false;
    }

    fn scores(&self, panel: &mut Panel, columns: Columns, state: &Matrix, out: &mut Matrix, _threads: usize) {
        match columns {
            Columns::All => {
                out.reset(panel.rows.len(), state.cols());
                for (row, &i) in panel.rows.iter().enumerate() {
                    out.row_mut(row).copy_from_slice(state.row(i as usize));
                }
            }
            Columns::One(t) => {
                out.reset(panel.rows.len(), 1);
                for (row, &i) in panel.rows.iter().enumerate() {
                    out[(row, 0)] = state[(i as usize, t)];
                }
            }
        }
    }

    fn add(&self, panel: &mut Panel, columns: Columns, delta: &Matrix, state: &mut Matrix, threads: usize) {
        let (first, n_columns) = columns.first_and_count(state.cols());
        let state = view_mut(state).subcols_mut(first, n_columns);
        // Neighbouring rows of a stored matrix need no copy.
        let contiguous = panel.rows.windows(2).all(|w| w[1] == w[0] + 1);
        match (self.stored.get(), panel.rows.first()) {
            (Some(whole), Some(&first)) if contiguous => {
                let n = self.n_inputs();
                let (from, to) = (first as usize * n, (first as usize + panel.rows.len()) * n);
                let rows = MatRef::from_row_major_slice(&whole.as_slice()[from..to], panel.rows.len(), n);
                add_product(state, rows.transpose(), view(delta), threads);
            }
            (None, _) if panel.rows.len() > PANEL_ROWS => {
                // More rows than the budget has room for: one panel after the other.
                let mut state = state;
                for start in (0..panel.rows.len()).step_by(PANEL_ROWS) {
                    let n = PANEL_ROWS.min(panel.rows.len() - start);
                    panel.values.reset(n, self.n_inputs());
                    self.compute(&panel.rows[start..start + n], &mut panel.values);
                    let delta = view(delta).subrows(start, n);
                    add_product(state.rb_mut(), view(&panel.values).transpose(), delta, threads);
                }
                panel.loaded = false;
            }
            _ => {
                self.ensure_loaded(panel);
                add_product(state, view(&panel.values).transpose(), view(delta), threads);
            }
        }
    }

    fn gram(&self, panel: &mut Panel, out: &mut Matrix, _threads: usize) {
        let n = panel.rows.len();
        out.reset(n, n);
        let Some(whole) = self.stored.get() else {
            // Whole rows would be n times as many values.
            self.block(&panel.rows, &panel.rows, out);
            linalg::symmetrise(out);
            (0..n).for_each(|row| out[(row, row)] = self.diagonal[panel.rows[row] as usize]);
            return;
        };
        for row in 0..n {
            for col in 0..n {
                out[(row, col)] = whole[(panel.rows[row] as usize, panel.rows[col] as usize)];
            }
        }
    }

    fn state_of_coordinates(&self, coordinates: &Matrix, threads: usize) -> Matrix {
        if let Some(whole) = self.stored.get() {
            return linalg::times(view(whole), view(coordinates), threads);
        }
        let mut state = Matrix::zeros(self.n_inputs(), coordinates.cols());
        let (mut panel, mut delta) = (Panel::default(), Matrix::default());
        for rows in (0..self.n_inputs() as u32).collect::<Vec<_>>().chunks(PANEL_ROWS) {
            self.load(rows, &mut panel);
            delta.reset(rows.len(), coordinates.cols());
            for (row, &i) in rows.iter().enumerate() {
                delta.row_mut(row).copy_from_slice(coordinates.row(i as usize));
            }
            self.add(&mut panel, Columns::All, &delta, &mut state, threads);
        }
        state
    }

    /// An RBF kernel of dense inputs, where inner products are precise enough for it.
    fn suits_devices(&self) -> bool {
        let (Kernel::Rbf { gamma }, Inputs::Dense(dense)) = (&self.kernel, self.inputs) else { return false };
        let mut largest = 0.0_f64;
        each_row(dense, |_, row| largest = largest.max(square(row)));
        kernel::is_exact_rbf(gamma.value(), largest)
    }

    fn kernel_on_device(&self, device: &dyn Device) -> Option<DeviceMatrix> {
        let (Kernel::Rbf { gamma }, Inputs::Dense(dense)) = (&self.kernel, self.inputs) else { return None };
        let (n, d) = (dense.rows(), dense.cols());
        let (mut columns, mut squares) = (vec![0.0; n * d], Vec::with_capacity(n));
        each_row(dense, |i, row| {
            squares.push(square(row));
            row.iter().enumerate().for_each(|(j, x)| columns[j * n + i] = *x);
        });
        // The product of a matrix with itself is exactly symmetric.
        let mut values = device.gram(&device.upload(&columns, d, n));
        device.gaussian(&mut values, &squares, gamma.value(), self.shift, self.scale);
        Some(values)
    }

    fn coordinate_unit(&self) -> f64 {
        1.0
    }

    fn coordinates_are_state(&self) -> bool {
        false
    }

    fn prepare(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<()> {
        if !self.storable || self.is_stored() {
            return Ok(());
        }
        // If two callers came at the same time, one would work for nothing; the data set prevents this.
        let _ = self.stored.set(self.compute_all(threads, interrupt)?);
        Ok(())
    }

    fn stream_rows(&self) -> usize {
        if self.is_stored() {
            return super::STREAM_ROWS;
        }
        let products = self.n_inputs().saturating_mul(self.width()).max(1);
        (PANEL_PRODUCTS / products).clamp(PANEL_ROWS / 4, PANEL_ROWS)
    }

    fn is_quick(&self) -> bool {
        self.is_stored()
    }

    fn spectrum_bytes(&self) -> u64 {
        let n = self.n_inputs() as u64;
        8 * 5 * n * n
    }

    fn second_moment(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<SecondMoment<'_>> {
        self.prepare(threads, interrupt)?;
        let matrix = match self.stored.get() {
            Some(whole) => Cow::Borrowed(whole),
            None => Cow::Owned(self.compute_all(threads, interrupt)?),
        };
        Ok(SecondMoment { matrix, of: MomentOf::Coefficients, largest_before: 0.0 })
    }
}
