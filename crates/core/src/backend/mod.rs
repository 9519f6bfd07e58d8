//! Backends: they compute scores. Solvers and the certificate use the inputs only through them.
//!
//! A model has one function per task, `x -> sum_i z_i k(x, x_i)`, given by coefficients Z (inputs x tasks). A
//! backend represents these functions by a *state* with one column per task, made by `state_of`:
//!
//! | backend | kernel | coordinates | state |
//! |---|---|---|---|
//! | [`FeatureBackend`] | linear, cosine | V = X'Z (features x tasks) | V |
//! | [`GramBackend`] | any | Z (inputs x tasks) | K Z |
//!
//! Scores are then `X V`, or rows of `K Z`, and the task Gram matrix is `coordinates' state` in both cases.
//! Kernel values are divided by [`unit`](Backend::unit), a power of four near the mean of k(x, x), so that
//! their size is about one for all inputs.

mod banded;
mod basis;
mod blocks;
mod features;
mod gram;
mod resident;
mod spectrum;
mod subspace;

pub use crate::interrupt::Interrupt;
pub(crate) use banded::Banded;
pub(crate) use basis::{FeatureBasis, OrthonormalBasis, sum_of_inputs};
pub use basis::{MomentOf, SecondMoment};
pub(crate) use blocks::{RowBlock, row_blocks, scatter};
pub use features::FeatureBackend;
pub(crate) use features::inverse_norm;
pub use gram::GramBackend;
pub use resident::bytes as device_bytes;
pub(crate) use resident::{DeviceSquare, ResidentBackend};
pub(crate) use spectrum::{Frame, Spectrum};
pub(crate) use subspace::Subspace;

use crate::algebra::{Device, DeviceMatrix};
use crate::linalg::{self, view};
use crate::{Matrix, Observations, Result};
use rayon::prelude::*;
use std::ops::Range;

/// The tasks (columns of a state) that the observations of a block belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Columns {
    /// All of them.
    All,
    /// A single one: rows of one task with their own inputs.
    One(usize),
}

impl Columns {
    /// The first of them and how many, of a matrix with `n_columns`.
    fn first_and_count(self, n_columns: usize) -> (usize, usize) {
        match self {
            Columns::All => (0, n_columns),
            Columns::One(t) => (t, 1),
        }
    }
}

/// Coefficients Z of a function in one of its two forms.
#[derive(Debug, Clone, Copy)]
pub enum Expansion<'a> {
    /// One coefficient per observation.
    Duals(&'a Observations, &'a [f64]),
    /// Coordinates of the backend: V, or Z itself.
    Coordinates(&'a Matrix),
}

/// Some rows of the inputs, loaded once and used for several products. Scratch space: contents belong to the
/// backend.
#[derive(Debug, Default)]
pub struct Panel {
    /// Which inputs.
    pub rows: Vec<u32>,
    /// The backend's own copy of them, if it makes one.
    pub values: Matrix,
    /// Whether `values` is filled.
    pub loaded: bool,
    /// More scratch space.
    pub scratch: Vec<f64>,
}

/// Access to the inputs by blocks of rows. All kernel values are in units of [`unit`](Self::unit).
///
/// `threads` is how many threads a call may use; calls with more than one are made inside the owner's thread
/// pool.
pub trait Backend: Send + Sync + std::fmt::Debug {
    /// Number of inputs.
    fn n_inputs(&self) -> usize;

    /// Rows of a state and of coordinates.
    fn dim(&self) -> usize;

    /// The power of four by which kernel values are divided.
    fn unit(&self) -> f64;

    /// k(x, x) of every input.
    fn diagonal(&self) -> &[f64];

    /// Prepares `panel` for calls about these rows.
    fn load(&self, rows: &[u32], panel: &mut Panel);

    /// `out = scores of the panel's rows for these columns`, (rows x columns).
    fn scores(&self, panel: &mut Panel, columns: Columns, state: &Matrix, out: &mut Matrix, threads: usize);

    /// Adds coefficients `delta` (rows x columns) of the panel's rows to a state.
    fn add(&self, panel: &mut Panel, columns: Columns, delta: &Matrix, state: &mut Matrix, threads: usize);

    /// Kernel values among the panel's rows.
    fn gram(&self, panel: &mut Panel, out: &mut Matrix, threads: usize);

    /// The state of coordinates.
    fn state_of_coordinates(&self, coordinates: &Matrix, threads: usize) -> Matrix;

    /// Computes what is kept for all later calls, for example the Gram matrix. Solvers call this first. The
    /// other functions also work without it, but more slowly.
    fn prepare(&self, _threads: usize, _interrupt: &mut Interrupt<'_>) -> Result<()> {
        Ok(())
    }

    /// Rows to take at a time when streaming over all inputs: enough for fast products, few enough for the
    /// cache and for a quick answer to interrupts.
    fn stream_rows(&self) -> usize {
        STREAM_ROWS
    }

    /// Whether rows of inputs are stored, and need not be computed for each access.
    fn is_quick(&self) -> bool {
        true
    }

    /// Bytes that an eigenbasis made of the [second moment](Self::second_moment) needs at its peak.
    fn spectrum_bytes(&self) -> u64;

    /// The second moment of the inputs.
    ///
    /// # Errors
    /// If interrupted.
    fn second_moment(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<SecondMoment<'_>>;

    /// Whether the inputs, or their kernel matrix, can be brought to a device.
    fn suits_devices(&self) -> bool {
        false
    }

    /// All inputs on a device, if they have dense features.
    fn upload(&self, _device: &dyn Device) -> Option<DeviceMatrix> {
        None
    }

    /// The kernel matrix on a device, if it can be computed there.
    fn kernel_on_device(&self, _device: &dyn Device) -> Option<DeviceMatrix> {
        None
    }

    /// Scores of all inputs for all tasks, if that is faster than by blocks of rows.
    ///
    /// # Errors
    /// If a device failed.
    fn scores_of_all(&self, _state: &Matrix) -> Result<Option<Matrix>> {
        Ok(None)
    }

    /// The state of coefficients (inputs x tasks), if that is faster than by blocks of rows.
    ///
    /// # Errors
    /// If a device failed.
    fn state_of_all(&self, _coefficients: &[f64], _n_tasks: usize) -> Result<Option<Matrix>> {
        Ok(None)
    }

    /// `V'V` of a state that is V, if that is faster than in memory; not exactly symmetric.
    ///
    /// # Errors
    /// If a device failed.
    fn gram_of_state(&self, _state: &Matrix) -> Result<Option<Matrix>> {
        Ok(None)
    }

    /// A state times a matrix tasks x tasks, if that is faster than in memory.
    ///
    /// # Errors
    /// If a device failed.
    fn state_times(&self, _state: &Matrix, _small: &Matrix) -> Result<Option<Matrix>> {
        Ok(None)
    }

    /// Coordinates in the units of the inputs are this number times our coordinates (for equal Z).
    fn coordinate_unit(&self) -> f64;

    /// Whether the coordinates *are* the state, as for features.
    fn coordinates_are_state(&self) -> bool;
}

/// [`Backend::stream_rows`] for stored rows.
pub(crate) const STREAM_ROWS: usize = 256;

/// Numbers of a partial sum at most: larger ones take much memory, and threads can share the work on one.
const MAX_PARTIAL_SUM_NUMBERS: usize = 1 << 19;

/// How many partial sums of so many numbers there are. It does not depend on the number of threads, so that sums have
/// the same bits for all of them.
pub(crate) fn partial_sums(numbers: usize) -> usize {
    if numbers <= MAX_PARTIAL_SUM_NUMBERS { 16 } else { 1 }
}

/// The state of an expansion, computed from the beginning: it has no rounding errors of earlier updates.
pub(crate) fn state_of(
    backend: &dyn Backend,
    expansion: Expansion<'_>,
    threads: usize,
    interrupt: &mut Interrupt<'_>,
) -> Result<Matrix> {
    match expansion {
        Expansion::Coordinates(coordinates) => Ok(backend.state_of_coordinates(coordinates, threads)),
        Expansion::Duals(obs, duals) => {
            // With a label for every task, the duals are the coefficients.
            if obs.is_complete()
                && let Some(state) = backend.state_of_all(duals, obs.n_tasks())?
            {
                return Ok(state);
            }
            let blocks = row_blocks(obs, backend.stream_rows());
            // Partial states, each over a fixed run of blocks, added up in order: same bits for any number of
            // threads. With a single one, threads share each block.
            let parts = partial_sums(backend.dim() * obs.n_tasks());
            let run = blocks.len().div_ceil(parts).max(1);
            let threads_of_block = if parts == 1 { threads } else { 1 };
            let new = |blocks| PartialState {
                blocks,
                panel: Panel::default(),
                delta: Matrix::default(),
                state: None,
            };
            let mut partial: Vec<PartialState<'_>> = blocks.chunks(run).map(new).collect();
            interrupt.in_rounds(run, 1, |round| {
                partial.par_iter_mut().for_each(|part| {
                    part.add_blocks(backend, obs, duals, round.clone(), threads_of_block);
                });
            })?;
            let mut states = partial.into_iter().filter_map(|part| part.state);
            let mut state = states.next().unwrap_or_else(|| Matrix::zeros(backend.dim(), obs.n_tasks()));
            for other in states {
                state.add_scaled(1.0, &other);
            }
            Ok(state)
        }
    }
}

/// The state of a run of blocks; `None` while it is zero.
struct PartialState<'a> {
    blocks: &'a [RowBlock],
    panel: Panel,
    delta: Matrix,
    state: Option<Matrix>,
}

impl PartialState<'_> {
    fn add_blocks(
        &mut self,
        backend: &dyn Backend,
        obs: &Observations,
        duals: &[f64],
        round: Range<usize>,
        threads: usize,
    ) {
        let end = self.blocks.len();
        for block in &self.blocks[round.start.min(end)..round.end.min(end)] {
            scatter(obs, duals, block, &mut self.delta);
            // Duals that are zero need no inputs. This saves time if kernel values are computed at each
            // access.
            if self.delta.as_slice().iter().any(|d| *d != 0.0) {
                let state = self.state.get_or_insert_with(|| Matrix::zeros(backend.dim(), obs.n_tasks()));
                backend.load(&block.rows, &mut self.panel);
                backend.add(&mut self.panel, block.columns, &self.delta, state, threads);
            }
        }
    }
}

/// The task Gram matrix `coordinates' state`, exactly symmetric.
pub(crate) fn task_gram(
    backend: &dyn Backend,
    expansion: Expansion<'_>,
    state: &Matrix,
    threads: usize,
) -> Result<Matrix> {
    let mut gram = match expansion {
        _ if backend.coordinates_are_state() => match backend.gram_of_state(state)? {
            Some(gram) => gram,
            None => return Ok(linalg::gram(state, threads)),
        },
        Expansion::Coordinates(z) => linalg::times(view(z).transpose(), view(state), threads),
        Expansion::Duals(obs, duals) => {
            let mut gram = Matrix::zeros(obs.n_tasks(), obs.n_tasks());
            for (o, &dual) in duals.iter().enumerate().filter(|(_, dual)| **dual != 0.0) {
                linalg::axpy(gram.row_mut(obs.task(o)), dual, state.row(obs.input(o)));
            }
            gram
        }
    };
    linalg::symmetrise(&mut gram);
    Ok(gram)
}

/// A state times a matrix tasks x tasks.
pub(crate) fn state_times(
    backend: &dyn Backend,
    state: &Matrix,
    small: &Matrix,
    threads: usize,
) -> Result<Matrix> {
    match backend.state_times(state, small)? {
        Some(product) => Ok(product),
        None => Ok(linalg::times(view(state), view(small), threads)),
    }
}

/// Coordinates of an expansion that has this state.
pub(crate) fn coordinates(backend: &dyn Backend, expansion: Expansion<'_>, state: &Matrix) -> Matrix {
    match expansion {
        Expansion::Coordinates(z) => z.clone(),
        _ if backend.coordinates_are_state() => state.clone(),
        Expansion::Duals(obs, duals) => coefficients(backend.n_inputs(), obs, duals),
    }
}

/// Z, inputs x tasks.
fn coefficients(n_inputs: usize, obs: &Observations, duals: &[f64]) -> Matrix {
    let mut z = Matrix::zeros(n_inputs, obs.n_tasks());
    for (o, &dual) in duals.iter().enumerate() {
        z[(obs.input(o), obs.task(o))] += dual;
    }
    z
}
