//! Inputs that also lie on a device: products with all of them are computed there, everything else in memory.
//!
//! A kernel matrix K is there with a root of it, `K + e I = R R'` with an e of the size of rounding. Solvers take the
//! rows of R for features; the certificate of their duals is about K itself.

use super::{Backend, Columns, Interrupt, Panel, SecondMoment};
use crate::algebra::{DeviceHandle, DeviceMatrix, Op};
use crate::{Error, Matrix, Result};
use std::sync::{Arc, OnceLock};

/// Features or a kernel matrix, in memory and on a device.
#[derive(Debug)]
pub(crate) struct ResidentBackend<'a> {
    memory: Arc<dyn Backend + 'a>,
    pub(crate) device: DeviceHandle,
    /// X, inputs x features, in the units of the backend; R of a kernel matrix.
    pub(crate) inputs: DeviceMatrix,
    kernel: Option<KernelOnDevice>,
    plain: OnceLock<DeviceSquare>,
    centred: OnceLock<DeviceSquare>,
}

/// K, and the e of its root.
#[derive(Debug)]
struct KernelOnDevice {
    matrix: DeviceMatrix,
    shift: f64,
}

/// The first e, in units of the mean of the diagonal times EPSILON times the number of inputs.
const FIRST_SHIFT: f64 = 1.0;
/// The next one, in units of the one before, where a matrix has no root.
const NEXT_SHIFT: f64 = 10.0;
/// How many are tried.
const MAX_SHIFTS: usize = 5;

impl KernelOnDevice {
    /// K with its root; `None` if there is none on this device.
    fn new(memory: &dyn Backend, device: &DeviceHandle) -> Result<Option<(Self, DeviceMatrix)>> {
        let Some(matrix) = memory.kernel_on_device(&*device.0) else { return Ok(None) };
        device.check()?;
        let mut shift = FIRST_SHIFT * f64::EPSILON * memory.diagonal().iter().sum::<f64>();
        for _ in 0..MAX_SHIFTS {
            let root = device.0.root(&matrix, shift);
            device.check()?;
            if let Some(root) = root {
                return Ok(Some((KernelOnDevice { matrix, shift }, root)));
            }
            shift *= NEXT_SHIFT;
        }
        Ok(None)
    }
}

/// X'X, of the inputs as they are or less their mean.
#[derive(Debug)]
pub(crate) struct DeviceSquare {
    pub(crate) matrix: DeviceMatrix,
    pub(crate) mean_of_diagonal: f64,
    /// Eigenvalues, and eigenvectors in columns.
    spectrum: OnceLock<(Vec<f64>, DeviceMatrix)>,
    /// The inputs (less their mean) in the basis of the eigenvectors.
    rotated: OnceLock<DeviceMatrix>,
}

impl DeviceSquare {
    /// Eigenvalues, none below zero, and eigenvectors, computed on first use and kept.
    pub(crate) fn spectrum(&self, device: &DeviceHandle) -> Result<(&[f64], &DeviceMatrix)> {
        if self.spectrum.get().is_none() {
            let (values, vectors) = device.0.eigen(&self.matrix);
            device.check()?;
            let _ = self.spectrum.set((values.iter().map(|l| l.max(0.0)).collect(), vectors));
        }
        let (values, vectors) = self.spectrum.get().expect("set just above");
        Ok((values, vectors))
    }
}

impl<'a> ResidentBackend<'a> {
    /// Copies the inputs to the device. `None` if they have no dense features, and no kernel that is computed there.
    ///
    /// # Errors
    /// If they do not fit, together with the work on them for so many tasks.
    pub(crate) fn new(
        memory: Arc<dyn Backend + 'a>,
        device: DeviceHandle,
        n_tasks: usize,
    ) -> Result<Option<Self>> {
        if !memory.suits_devices() {
            return Ok(None);
        }
        let (needed, budget) = (bytes(memory.n_inputs(), memory.dim(), n_tasks), device.0.memory());
        if needed > budget {
            return Err(Error::Memory { what: "the work on the device", needed, budget });
        }
        let (inputs, kernel) = match memory.upload(&*device.0) {
            Some(inputs) => (inputs, None),
            None => match KernelOnDevice::new(&*memory, &device)? {
                Some((kernel, root)) => (root, Some(kernel)),
                None => return Ok(None),
            },
        };
        device.check()?;
        let (plain, centred) = (OnceLock::new(), OnceLock::new());
        Ok(Some(ResidentBackend { memory, device, inputs, kernel, plain, centred }))
    }

    /// Coordinates of the backend, in memory, of a V in the basis of the features. Those of a kernel are the Z with
    /// `R'Z = V`, which is `(K + e I)^-1 R V`.
    pub(crate) fn coordinates(&self, v: &DeviceMatrix) -> Result<Matrix> {
        let Some(KernelOnDevice { matrix, shift }) = &self.kernel else { return self.in_memory(v) };
        let device = &*self.device.0;
        let mut z = device.product(&self.inputs, Op::Plain, v, Op::Plain);
        match device.shifted_cholesky(matrix, *shift) {
            Some(factor) => device.solve(&factor, &mut z),
            None => device.scale(&mut z, 0.0),
        }
        self.in_memory(&z)
    }

    /// Whether there are at least as many inputs as features.
    pub(crate) fn is_tall(&self) -> bool {
        self.inputs.cols <= self.inputs.rows
    }

    /// Sums over the rows of a matrix.
    pub(crate) fn column_sums(&self, m: &DeviceMatrix) -> Vec<f64> {
        let device = &*self.device.0;
        let ones = device.upload(&vec![1.0; m.rows], m.rows, 1);
        device.download(&device.product(m, Op::Transposed, &ones, Op::Plain))
    }

    /// X'X, of the inputs less their mean if `centred`, computed on first use and kept.
    pub(crate) fn square(&self, centred: bool) -> Result<&DeviceSquare> {
        let kept = if centred { &self.centred } else { &self.plain };
        if kept.get().is_none() {
            let device = &*self.device.0;
            let mut matrix = device.gram(&self.inputs);
            if centred {
                let sum = self.column_sums(&self.inputs);
                device.add_outer(&mut matrix, -1.0 / self.inputs.rows as f64, &sum, &sum);
            }
            self.device.check()?;
            let trace: f64 = self.memory.diagonal().iter().sum();
            let mean_of_diagonal = trace / self.inputs.cols.max(1) as f64;
            let (spectrum, rotated) = (OnceLock::new(), OnceLock::new());
            let _ = kept.set(DeviceSquare { matrix, mean_of_diagonal, spectrum, rotated });
        }
        Ok(kept.get().expect("set just above"))
    }

    /// The inputs, less their mean if `centred`, in the eigenbasis of X'X, computed on first use and kept.
    pub(crate) fn rotated(&self, centred: bool) -> Result<&DeviceMatrix> {
        let square = self.square(centred)?;
        if square.rotated.get().is_none() {
            let (device, (_, frame)) = (&*self.device.0, square.spectrum(&self.device)?);
            let mut rotated = device.product(&self.inputs, Op::Plain, frame, Op::Plain);
            if centred {
                let n = rotated.rows.max(1) as f64;
                let means: Vec<f64> = self.column_sums(&rotated).iter().map(|sum| -sum / n).collect();
                device.add_to_columns(&mut rotated, &means);
            }
            self.device.check()?;
            let _ = square.rotated.set(rotated);
        }
        Ok(square.rotated.get().expect("set just above"))
    }
}

/// Matrices of the size features x tasks that solvers have on the device at a time.
const ARRAYS_OF_WEIGHTS: u64 = 140;
/// Matrices of the size inputs x tasks.
const ARRAYS_OF_PREDICTIONS: u64 = 16;

/// Bytes on the device: the inputs (or a kernel matrix), as they are and rotated, and one copy of them; X'X with its
/// eigenvectors and scratch space; labels, predictions, duals and curvatures of some points; and what solvers compute.
pub fn bytes(n_inputs: usize, dim: usize, n_tasks: usize) -> u64 {
    let [n, d, t] = [n_inputs, dim, n_tasks].map(|n| n as u64);
    8 * (3 * n * d + 6 * d * d + ARRAYS_OF_PREDICTIONS * n * t + ARRAYS_OF_WEIGHTS * d * t)
}

impl Backend for ResidentBackend<'_> {
    fn n_inputs(&self) -> usize {
        self.memory.n_inputs()
    }

    fn dim(&self) -> usize {
        self.memory.dim()
    }

    fn unit(&self) -> f64 {
        self.memory.unit()
    }

    fn diagonal(&self) -> &[f64] {
        self.memory.diagonal()
    }

    fn load(&self, rows: &[u32], panel: &mut Panel) {
        self.memory.load(rows, panel);
    }

    fn scores(&self, panel: &mut Panel, columns: Columns, state: &Matrix, out: &mut Matrix, threads: usize) {
        self.memory.scores(panel, columns, state, out, threads);
    }

    /// Who works with rows in memory needs a kernel matrix there, too. This cannot be interrupted.
    fn add(&self, panel: &mut Panel, columns: Columns, delta: &Matrix, state: &mut Matrix, threads: usize) {
        if self.kernel.is_some() {
            let _ = self.memory.prepare(rayon::current_num_threads(), &mut Interrupt::never());
        }
        self.memory.add(panel, columns, delta, state, threads);
    }

    fn gram(&self, panel: &mut Panel, out: &mut Matrix, threads: usize) {
        self.memory.gram(panel, out, threads);
    }

    fn state_of_coordinates(&self, coordinates: &Matrix, threads: usize) -> Matrix {
        let on_device = self.kernel.as_ref().and_then(|kernel| self.kernel_times(kernel, coordinates).ok());
        on_device.unwrap_or_else(|| self.memory.state_of_coordinates(coordinates, threads))
    }

    fn prepare(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<()> {
        if self.kernel.is_some() { Ok(()) } else { self.memory.prepare(threads, interrupt) }
    }

    fn stream_rows(&self) -> usize {
        if self.kernel.is_some() { super::STREAM_ROWS } else { self.memory.stream_rows() }
    }

    fn is_quick(&self) -> bool {
        self.kernel.is_some() || self.memory.is_quick()
    }

    fn spectrum_bytes(&self) -> u64 {
        self.memory.spectrum_bytes()
    }

    fn second_moment(&self, threads: usize, interrupt: &mut Interrupt<'_>) -> Result<SecondMoment<'_>> {
        self.memory.second_moment(threads, interrupt)
    }

    fn coordinate_unit(&self) -> f64 {
        self.memory.coordinate_unit()
    }

    fn coordinates_are_state(&self) -> bool {
        self.memory.coordinates_are_state()
    }

    /// `X V`. Of a kernel, scores are the state.
    fn scores_of_all(&self, state: &Matrix) -> Result<Option<Matrix>> {
        if self.kernel.is_some() {
            return Ok(None);
        }
        self.in_memory(&self.scores_on_device(state)).map(Some)
    }

    /// `X'Z`, or `K Z`.
    fn state_of_all(&self, coefficients: &[f64], n_tasks: usize) -> Result<Option<Matrix>> {
        let device = &*self.device.0;
        let coefficients = device.upload(coefficients, self.n_inputs(), n_tasks);
        let factor = self.kernel.as_ref().map_or(&self.inputs, |kernel| &kernel.matrix);
        let state = device.product(factor, Op::Transposed, &coefficients, Op::Plain);
        self.in_memory(&state).map(Some)
    }

    fn gram_of_state(&self, state: &Matrix) -> Result<Option<Matrix>> {
        if self.kernel.is_some() {
            return Ok(None);
        }
        let state = self.upload(state);
        self.in_memory(&self.device.0.product(&state, Op::Transposed, &state, Op::Plain)).map(Some)
    }

    fn state_times(&self, state: &Matrix, small: &Matrix) -> Result<Option<Matrix>> {
        let (state, small) = (self.upload(state), self.upload(small));
        self.in_memory(&self.device.0.product(&state, Op::Plain, &small, Op::Plain)).map(Some)
    }
}

impl ResidentBackend<'_> {
    /// A matrix on the device.
    pub(crate) fn upload(&self, m: &Matrix) -> DeviceMatrix {
        self.device.0.upload(m.as_slice(), m.rows(), m.cols())
    }

    fn kernel_times(&self, kernel: &KernelOnDevice, z: &Matrix) -> Result<Matrix> {
        self.in_memory(&self.device.0.product(&kernel.matrix, Op::Plain, &self.upload(z), Op::Plain))
    }

    /// `X V`, left there.
    pub(crate) fn scores_on_device(&self, state: &Matrix) -> DeviceMatrix {
        self.device.0.product(&self.inputs, Op::Plain, &self.upload(state), Op::Plain)
    }

    fn in_memory(&self, m: &DeviceMatrix) -> Result<Matrix> {
        let values = self.device.0.download(m);
        self.device.check()?;
        Matrix::from_vec(values, m.rows, m.cols)
    }
}
