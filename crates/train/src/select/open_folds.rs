//! Folds that are ready for fits: a copy of their rows, and what kernels need, computed once.

use super::training_fold::TrainingFold;
use super::{FoldRows, Study};
use crate::{FitSpec, PreparedData, Result};
use kinfolk::{Dataset, Inputs, Kernel};
use std::sync::OnceLock;

/// Data sets of some folds, one for each fold and kernel, made when they are first needed.
pub(super) struct OpenFolds<'d, 'a> {
    folds: &'a [TrainingFold],
    /// `None` is the kernel of the study.
    kernels: &'d [Option<Kernel>],
    data: &'d [OnceLock<Dataset<'a>>],
    prepared: Vec<OnceLock<PreparedData<'d>>>,
    spec: FitSpec,
    study: &'d Study<'d>,
}

impl<'d, 'a: 'd> OpenFolds<'d, 'a> {
    /// A fold.
    pub(super) fn fold(&self, fold: usize) -> &'a TrainingFold {
        &self.folds[fold]
    }

    /// Number of folds.
    pub(super) fn len(&self) -> usize {
        self.folds.len()
    }

    /// The data of a fold with a kernel, which must be one of those that folds were opened for.
    pub(super) fn prepared(&self, fold: usize, kernel: &Option<Kernel>) -> Result<&PreparedData<'d>> {
        let kernel = self.kernels.iter().position(|other| other == kernel);
        let at = fold * self.kernels.len() + kernel.expect("folds are open for all kernels");
        let slot: &'d OnceLock<Dataset<'a>> = &self.data[at];
        if slot.get().is_none() {
            let own = self.kernels[at % self.kernels.len()].clone();
            let spec = FitSpec { kernel: own.or(self.spec.kernel.clone()), ..self.spec.clone() };
            let data = self.folds[fold].training.dataset(&spec)?;
            // Another thread may have been faster.
            let _ = slot.set(data);
        }
        let data: &'d Dataset<'d> = slot.get().expect("it is set");
        if let Some(prepared) = self.prepared[at].get() {
            return Ok(prepared);
        }
        let prepared =
            PreparedData::new(data, &self.study.losses, self.spec.intercept()).with_atoms(&self.spec)?;
        Ok(self.prepared[at].get_or_init(|| prepared))
    }
}

/// Opens folds for some kernels, each fit with one thread, and does some work with them.
pub(super) fn with_open_folds<R>(
    study: &Study<'_>,
    folds: &[FoldRows],
    kernels: &[Option<Kernel>],
    work: impl FnOnce(&OpenFolds<'_, '_>) -> Result<R>,
) -> Result<R> {
    let open: Vec<TrainingFold> =
        folds.iter().map(|rows| TrainingFold::new(study, rows)).collect::<Result<_>>()?;
    let data: Vec<OnceLock<Dataset<'_>>> = slots(folds.len() * kernels.len());
    let spec = FitSpec { threads: 1, ..study.spec.clone() };
    work(&OpenFolds { folds: &open, kernels, data: &data, prepared: slots(data.len()), spec, study })
}

fn slots<T>(n: usize) -> Vec<OnceLock<T>> {
    std::iter::repeat_with(OnceLock::new).take(n).collect()
}

/// Whether copies of so many folds are small beside the memory that fits may use.
pub(super) fn fit_in_memory(study: &Study<'_>, n_folds: usize) -> bool {
    let bytes = match study.inputs {
        Inputs::Sparse(x) => 12 * x.nnz() as u64,
        other => 8 * (other.n_inputs() as u64) * (other.n_features() as u64),
    };
    (n_folds as u64).saturating_mul(bytes) <= study.spec.memory.0 / 4
}
