//! Inputs, kernel and observations brought together: what does not depend on C, lambda, losses or
//! regulariser.

use crate::algebra::{DeviceHandle, DeviceMatrix, Op};
use crate::backend::{
    self, Backend, Banded, Columns, Expansion, FeatureBackend, FeatureBasis, GramBackend, Interrupt,
    OrthonormalBasis, Panel, ResidentBackend, STREAM_ROWS, SecondMoment, Spectrum,
};
use crate::design::Design;
use crate::inputs::Inputs;
use crate::kernel::Kernel;
use crate::linalg;
use crate::pool::Pool;
use crate::{Error, Matrix, Observations, Result};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock};

/// How inputs are compared, and what the work may cost.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetOptions {
    /// The kernel k; gammas given by convention are resolved on the inputs.
    pub kernel: Kernel,
    /// A constant feature B: B^2 is added to the kernel, and the tasks share it through Theta like any
    /// feature. 0 = none.
    pub bias: f64,
    /// Memory budget in bytes for Gram matrices and eigenbases.
    pub memory: u64,
    /// Number of threads; 0 = one per core.
    pub threads: usize,
    /// A device for large products, if there is one.
    pub device: Option<DeviceHandle>,
}

impl Default for DatasetOptions {
    fn default() -> Self {
        DatasetOptions { kernel: Kernel::Linear, bias: 0.0, memory: 4 << 30, threads: 0, device: None }
    }
}

/// A data set ready for fitting any number of problems: the Gram matrix and the eigenbasis of the inputs are
/// computed at most once, by the first fit that needs them, whatever the losses, regularisers and values of
/// C.
#[derive(Debug)]
pub struct Dataset<'a> {
    observations: &'a Observations,
    inputs: &'a Inputs<'a>,
    kernel: Kernel,
    options: DatasetOptions,
    backend: Arc<dyn Backend + 'a>,
    resident: Option<Arc<ResidentBackend<'a>>>,
    pool: Pool,
    plain: Derived,
    centred: Derived,
    /// Labels (less offsets) on the device that holds the inputs.
    device_labels: OnceLock<DeviceMatrix>,
    prepare_lock: Mutex<()>,
    derive_lock: Mutex<()>,
}

/// What solvers compute from the inputs, of the inputs as they are or less their mean: bases and rotated inputs, and in
/// these bases the moments of the labels (less their means).
#[derive(Debug, Default)]
struct Derived {
    spectrum: Arc<OnceLock<Spectrum>>,
    moments: OnceLock<Moments>,
    banded: Arc<OnceLock<Option<Banded>>>,
    banded_moments: OnceLock<Moments>,
    second_moment: Arc<OnceLock<Matrix>>,
    plain_moments: OnceLock<Moments>,
    design: Arc<OnceLock<Design>>,
    device_moments: OnceLock<DeviceMoments>,
}

impl Derived {
    /// For other labels: shares what depends on the inputs alone.
    fn of_same_inputs(&self) -> Derived {
        Derived {
            spectrum: self.spectrum.clone(),
            banded: self.banded.clone(),
            second_moment: self.second_moment.clone(),
            design: self.design.clone(),
            ..Derived::default()
        }
    }
}

/// What the squared loss on shared inputs needs of the labels (less offsets), in a basis of the inputs.
#[derive(Debug)]
pub(crate) struct Moments {
    /// X'Y (rotated features x tasks).
    pub(crate) moment: Matrix,
    /// |Y|^2.
    pub(crate) label_square: f64,
}

/// The same on a device, in the basis of the features.
#[derive(Debug)]
pub(crate) struct DeviceMoments {
    /// X'Y (features x tasks).
    pub(crate) moment: DeviceMatrix,
    /// |Y|^2.
    pub(crate) label_square: f64,
}

/// Arrays of the size of all weights that a fit has at a time: its state, the certificate's, and two points.
const ARRAYS_OF_WEIGHTS: u64 = 4;
/// Bytes that a fit may always use for weights, however small its budget for kernel matrices.
const FREE_BYTES: u64 = 1 << 30;

/// `Err` if the weights of a model with so many features and tasks do not fit the budget. Sparse files of a few bytes
/// can claim any number of features.
pub fn check_weights(n_features: usize, n_tasks: usize, kernel: &Kernel, budget: u64) -> Result<()> {
    let arrays = match kernel {
        Kernel::Linear | Kernel::Cosine => ARRAYS_OF_WEIGHTS.saturating_mul(n_tasks as u64),
        // Mean and spread of the features.
        _ => 2,
    };
    let needed = arrays.saturating_mul(8).saturating_mul(n_features as u64);
    if needed > budget.max(FREE_BYTES) {
        return Err(Error::Memory { what: "a model with so many features and tasks", needed, budget });
    }
    Ok(())
}

impl<'a> Dataset<'a> {
    /// Checks that the parts fit together.
    pub fn new(
        inputs: &'a Inputs<'a>,
        observations: &'a Observations,
        options: DatasetOptions,
    ) -> Result<Self> {
        if inputs.n_inputs() != observations.n_inputs() {
            let (got, expected) = (inputs.n_inputs(), observations.n_inputs());
            return Err(Error::Length { what: "the list of inputs", got, expected });
        }
        if !(options.bias.is_finite() && options.bias >= 0.0) {
            let expected = "must be finite and not negative";
            return Err(Error::Parameter { name: "bias", value: options.bias, expected });
        }
        let kernel = options.kernel.resolve(inputs)?;
        check_weights(inputs.n_features(), observations.n_tasks(), &kernel, options.memory)?;
        let pool = Pool::new(options.threads)?;
        let backend: Arc<dyn Backend + 'a> = match kernel {
            Kernel::Linear | Kernel::Cosine => {
                Arc::new(FeatureBackend::new(inputs, matches!(kernel, Kernel::Cosine), options.bias)?)
            }
            _ => {
                let (kernel, threads) = (kernel.clone(), pool.threads());
                let build = || GramBackend::new(inputs, kernel, options.bias, options.memory, threads);
                Arc::new(pool.install(build)?)
            }
        };
        let resident = match &options.device {
            Some(device) => ResidentBackend::new(backend.clone(), device.clone(), observations.n_tasks())?,
            None => None,
        };
        let resident = resident.map(Arc::new);
        let backend = resident.clone().map_or(backend, |resident| resident as Arc<dyn Backend + 'a>);
        Ok(Dataset {
            observations,
            inputs,
            kernel,
            options,
            backend,
            resident,
            pool,
            plain: Derived::default(),
            centred: Derived::default(),
            device_labels: OnceLock::new(),
            prepare_lock: Mutex::new(()),
            derive_lock: Mutex::new(()),
        })
    }

    /// The same inputs for the same tasks with other labels or offsets: what is known of the inputs is
    /// shared.
    pub(crate) fn with_observations<'b>(&'b self, observations: &'b Observations) -> Dataset<'b> {
        Dataset {
            observations,
            inputs: self.inputs,
            kernel: self.kernel.clone(),
            options: self.options.clone(),
            backend: self.backend.clone(),
            resident: self.resident.clone(),
            pool: self.pool,
            plain: self.plain.of_same_inputs(),
            centred: self.centred.of_same_inputs(),
            device_labels: OnceLock::new(),
            prepare_lock: Mutex::new(()),
            derive_lock: Mutex::new(()),
        }
    }

    /// The task Gram matrix `<alpha^r, K_rs alpha^s>` of duals in observation order.
    pub fn task_gram(&self, alpha: &[f64]) -> Result<Matrix> {
        let (got, expected) = (alpha.len(), self.observations.len());
        if got != expected {
            return Err(Error::Length { what: "the list of duals", got, expected });
        }
        let never = &mut Interrupt::never();
        self.prepare(never)?;
        let duals = Expansion::Duals(self.observations, alpha);
        let mut gram = self.pool.install(|| {
            let state = backend::state_of(self.backend(), duals, self.threads(), never)?;
            backend::task_gram(self.backend(), duals, &state, self.threads())
        })?;
        let unit = self.backend.unit();
        gram.as_mut_slice().iter_mut().for_each(|x| *x *= unit);
        Ok(gram)
    }

    /// The observations.
    pub fn observations(&self) -> &'a Observations {
        self.observations
    }

    /// The inputs.
    pub fn inputs(&self) -> &'a Inputs<'a> {
        self.inputs
    }

    /// The kernel with its parameters as numbers.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The options given.
    pub fn options(&self) -> &DatasetOptions {
        &self.options
    }

    /// Access to the inputs for solvers.
    pub fn backend(&self) -> &(dyn Backend + 'a) {
        &*self.backend
    }

    /// The inputs on a device, if they are there.
    pub(crate) fn resident(&self) -> Option<&ResidentBackend<'a>> {
        self.resident.as_deref()
    }

    /// Number of threads in use.
    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The Gram matrix, computed on first use and kept, if there is to be one.
    pub(crate) fn prepare(&self, interrupt: &mut Interrupt<'_>) -> Result<()> {
        // Locked outside of the pool: a thread of the pool that waits for others takes up other work, and
        // would wait for a lock that it holds itself.
        let _one_at_a_time = self.prepare_lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.pool.install(|| self.backend.prepare(self.threads(), interrupt))
    }

    fn derived(&self, centred: bool) -> &Derived {
        if centred { &self.centred } else { &self.plain }
    }

    /// The Gram matrix of a kernel, kept where the budget allows; `None` for kernels that have features.
    pub(crate) fn kernel_matrix(&self, interrupt: &mut Interrupt<'_>) -> Result<Option<Cow<'_, Matrix>>> {
        if self.backend.coordinates_are_state() {
            return Ok(None);
        }
        self.prepare(interrupt)?;
        let moment = self.pool.install(|| self.backend.second_moment(self.threads(), interrupt))?;
        Ok(Some(moment.matrix))
    }

    /// Labels (less offsets) in the order of the observations, where every input has one for every task; less the mean
    /// of their task if `centred`.
    pub(crate) fn label_table(&self, centred: bool) -> Cow<'_, [f64]> {
        let labels = self.observations.targets();
        if !centred {
            return labels;
        }
        let (mut labels, t) = (labels.into_owned(), self.observations.n_tasks());
        let means = column_means(&labels, t);
        self.pool.install(|| labels.par_chunks_mut(t).for_each(|row| linalg::axpy(row, -1.0, &means)));
        Cow::Owned(labels)
    }

    /// Something made of the second moment of the inputs, less their mean if `centred`, on first use.
    fn of_second_moment<'s, T: Send>(
        &'s self,
        (kept, centred): (&'s OnceLock<T>, bool),
        interrupt: &mut Interrupt<'_>,
        make: impl FnOnce(SecondMoment<'_>, &mut Interrupt<'_>) -> Result<T> + Send,
    ) -> Result<&'s T> {
        if kept.get().is_none() {
            let (needed, budget) = (self.backend.spectrum_bytes(), self.options.memory);
            if needed > budget {
                return Err(Error::Memory { what: "the eigenbasis of the inputs", needed, budget });
            }
            self.prepare(interrupt)?;
            let compute = || {
                let mut moment = self.backend.second_moment(self.threads(), interrupt)?;
                interrupt.check()?;
                if centred {
                    moment = moment.centred(self.backend(), self.threads());
                }
                make(moment, interrupt)
            };
            let _ = kept.set(self.pool.install(compute)?);
        }
        Ok(kept.get().expect("set just above"))
    }

    /// [`eigenbasis`](Self::eigenbasis) for those who hold the lock. The decomposition itself cannot be
    /// interrupted.
    fn spectrum(&self, centred: bool, interrupt: &mut Interrupt<'_>) -> Result<&Spectrum> {
        let kept = &*self.derived(centred).spectrum;
        self.of_second_moment((kept, centred), interrupt, |moment, _| Spectrum::of(&moment))
    }

    /// The eigenbasis of the inputs, less their mean if `centred`, computed on first use and kept.
    pub(crate) fn eigenbasis(&self, centred: bool, interrupt: &mut Interrupt<'_>) -> Result<&Spectrum> {
        let _one_at_a_time = self.derive_lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.spectrum(centred, interrupt)
    }

    /// Eigenbasis and moments, computed on first use and kept: they depend neither on C nor on the
    /// regulariser.
    pub(crate) fn statistics(
        &self,
        centred: bool,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<(&Spectrum, &Moments)> {
        let _one_at_a_time = self.derive_lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let spectrum = self.spectrum(centred, interrupt)?;
        let kept = (&self.derived(centred).moments, centred);
        Ok((spectrum, self.moments_in(spectrum, kept, interrupt)?))
    }

    /// The same in a basis where X'X is a band, if there is one: sooner at hand, and enough for those who
    /// only have to solve equations with it.
    pub(crate) fn banded_statistics(
        &self,
        centred: bool,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Option<(&Banded, &Moments)>> {
        let _one_at_a_time = self.derive_lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Derived { banded, banded_moments, .. } = self.derived(centred);
        match self.of_second_moment((&**banded, centred), interrupt, Banded::of)? {
            Some(banded) => {
                let moments = self.moments_in(banded, (banded_moments, centred), interrupt)?;
                Ok(Some((banded, moments)))
            }
            None => Ok(None),
        }
    }

    /// X'X as it is, both triangles, and X'Y, for features that are no more than inputs.
    pub(crate) fn plain_statistics(
        &self,
        centred: bool,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<(&Matrix, &Moments)> {
        let _one_at_a_time = self.derive_lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Derived { second_moment, plain_moments, .. } = self.derived(centred);
        let matrix = self.of_second_moment((&**second_moment, centred), interrupt, |moment, _| {
            let mut matrix = moment.matrix.into_owned();
            linalg::mirror_lower(&mut matrix);
            Ok(matrix)
        })?;
        Ok((matrix, self.moments_in(&FeatureBasis, (plain_moments, centred), interrupt)?))
    }

    /// Labels (less offsets), inputs x tasks, on the device that holds the inputs, where every input has a label for
    /// every task.
    pub(crate) fn device_labels(&self, resident: &ResidentBackend<'_>) -> Result<&DeviceMatrix> {
        if self.device_labels.get().is_none() {
            let (n, t) = (self.observations.n_inputs(), self.observations.n_tasks());
            let labels = resident.device.0.upload(&self.observations.targets(), n, t);
            resident.device.check()?;
            let _ = self.device_labels.set(labels);
        }
        Ok(self.device_labels.get().expect("set just above"))
    }

    /// Moments of these labels.
    pub(crate) fn device_moments(
        &self,
        resident: &ResidentBackend<'_>,
        centred: bool,
    ) -> Result<&DeviceMoments> {
        let kept = &self.derived(centred).device_moments;
        if kept.get().is_none() {
            let (device, all) = (&*resident.device.0, self.device_labels(resident)?);
            // Less their means, labels need no inputs less their means.
            let less_means = centred.then(|| {
                let (mut labels, n) = (all.clone(), all.rows.max(1) as f64);
                let means = resident.column_sums(all).iter().map(|sum| -sum / n).collect::<Vec<f64>>();
                device.add_to_columns(&mut labels, &means);
                labels
            });
            let labels = less_means.as_ref().unwrap_or(all);
            let moment = device.product(&resident.inputs, Op::Transposed, labels, Op::Plain);
            let label_square = device.column_products(labels, labels).iter().sum();
            resident.device.check()?;
            let _ = kept.set(DeviceMoments { moment, label_square });
        }
        Ok(kept.get().expect("set just above"))
    }

    fn moments_in<'s>(
        &'s self,
        basis: &dyn OrthonormalBasis,
        (kept, centred): (&'s OnceLock<Moments>, bool),
        interrupt: &mut Interrupt<'_>,
    ) -> Result<&'s Moments> {
        if kept.get().is_none() {
            let compute = || self.compute_moments(basis, centred, interrupt);
            let _ = kept.set(self.pool.install(compute)?);
        }
        Ok(kept.get().expect("set just above"))
    }

    /// Eigenvalues of X'X (or of K) that are not zero, and X'Y in the eigenbasis, values x tasks: all that
    /// the data say to the squared loss where every input has a label for every task.
    ///
    /// # Errors
    /// If an eigendecomposition fails.
    ///
    /// # Panics
    /// If some input has no label for some task.
    pub fn sufficient_statistics(&self) -> Result<(Vec<f64>, Matrix)> {
        assert!(self.observations.is_complete(), "every input needs a label for every task");
        let (spectrum, moments) = self.statistics(false, &mut Interrupt::never())?;
        let (unit, mut moment) = (self.backend.unit(), moments.moment.clone());
        moment.as_mut_slice().iter_mut().for_each(|x| *x *= unit.sqrt());
        Ok((spectrum.values.iter().map(|l| l * unit).collect(), moment))
    }

    /// Whether the rotated inputs are there already.
    pub(crate) fn has_design(&self, centred: bool) -> bool {
        self.derived(centred).design.get().is_some()
    }

    /// Eigenbasis and rotated inputs, less their mean if `centred`, computed on first use and kept.
    pub(crate) fn design(
        &self,
        centred: bool,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<(&Spectrum, &Design)> {
        let _one_at_a_time = self.derive_lock.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let spectrum = self.spectrum(centred, interrupt)?;
        let kept = &self.derived(centred).design;
        if kept.get().is_none() {
            let compute = || {
                let mean = centred.then(|| spectrum.rotated_mean(self.backend(), self.threads())).flatten();
                let rotation = (spectrum, mean.as_deref());
                Design::new(self.backend(), self.observations, rotation, self.threads(), interrupt)
            };
            let _ = kept.set(self.pool.install(compute)?);
        }
        Ok((spectrum, kept.get().expect("set just above")))
    }

    /// The state of the labels, X'Y. Where each input has at most one label that is not the common one c, as
    /// with one-vs-all, it takes one addition per input instead of one per label: the sum of the inputs of
    /// each task's rare labels, and c times the sum of all. `None` where there are other labels, or hardly any tasks.
    fn sparse_label_state(&self, labels: &[f64], interrupt: &mut Interrupt<'_>) -> Result<Option<Matrix>> {
        let (backend, t) = (self.backend(), self.observations.n_tasks());
        let common = labels[labels.len() - 1];
        if t < 3 {
            // One label in two or three that is not the common one is not rare.
            return Ok(None);
        }
        let mut rows_of_task = vec![vec![]; t + 1];
        for (i, row) in labels.chunks(t).enumerate() {
            let mut rare = (0..t).filter(|&task| row[task] != common);
            let task = rare.next().unwrap_or(t);
            if rare.next().is_some() {
                return Ok(None);
            }
            rows_of_task[task].push(i as u32);
        }
        let mut state = Matrix::zeros(backend.dim(), t);
        let mut all = vec![0.0; backend.dim()];
        let (mut panel, mut delta, mut sums) = (Panel::default(), Matrix::default(), Matrix::default());
        for (task, rows) in rows_of_task.iter().enumerate() {
            interrupt.check()?;
            sums.reset(backend.dim(), 2);
            for rows in rows.chunks(STREAM_ROWS) {
                backend.load(rows, &mut panel);
                delta.reset(rows.len(), 2);
                for (j, &i) in rows.iter().enumerate() {
                    let label = if task < t { labels[i as usize * t + task] } else { common };
                    delta.row_mut(j).copy_from_slice(&[label - common, common]);
                }
                backend.add(&mut panel, Columns::All, &delta, &mut sums, 1);
            }
            for j in 0..sums.rows() {
                all[j] += sums[(j, 1)];
                if task < t {
                    state[(j, task)] = sums[(j, 0)];
                }
            }
        }
        for (j, sum) in all.iter().enumerate() {
            state.row_mut(j).iter_mut().for_each(|x| *x += sum);
        }
        Ok(Some(state))
    }

    fn compute_moments(
        &self,
        basis: &dyn OrthonormalBasis,
        centred: bool,
        interrupt: &mut Interrupt<'_>,
    ) -> Result<Moments> {
        let (backend, threads) = (self.backend(), self.threads());
        let (labels, less_means) = (self.observations.targets(), self.label_table(centred));
        let label_square = linalg::dot(&less_means, &less_means);
        if basis.projects_state()
            && let Some(mut state) = self.sparse_label_state(&labels, interrupt)?
        {
            if centred {
                let (sum, means) = (
                    backend::sum_of_inputs(backend, threads),
                    column_means(&labels, self.observations.n_tasks()),
                );
                for (j, sum) in sum.iter().enumerate() {
                    linalg::axpy(state.row_mut(j), -sum, &means);
                }
            }
            return Ok(Moments { moment: basis.project_state(state, threads), label_square });
        }
        let moment = basis.rotated(backend, (self.observations, &less_means), threads, interrupt)?;
        Ok(Moments { moment, label_square })
    }
}

/// Means of the columns of a table (inputs x tasks).
fn column_means(table: &[f64], n_tasks: usize) -> Vec<f64> {
    let mut sums = vec![0.0; n_tasks];
    table.chunks(n_tasks).for_each(|row| linalg::axpy(&mut sums, 1.0, row));
    let n = (table.len() / n_tasks).max(1) as f64;
    sums.iter().map(|sum| sum / n).collect()
}
