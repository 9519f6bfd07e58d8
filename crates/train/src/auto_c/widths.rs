//! RBF kernels of several widths on the folds: one with all strengths that the search wants, and the next widths only
//! if they are better at its best strength. A look at some hundred rows, with a simple model of what tasks have in
//! common, proposes the first one, and may be wrong.

use super::strengths::{CONTENDERS, MethodTrials, ScaleOfAll, StrengthFit, Strengths};
use super::trials::{self, best_of};
use crate::select::{NEXT_GAMMA, Study, TrainingFold, rounded};
use crate::{FitSpec, MethodSpec, Result};
use kinfolk::kernel::Gamma;
use kinfolk::{Dataset, Kernel};

/// A loss that is larger by this share is far worse: the next width, or the next step, does not make up for it.
pub(super) const FAR_WORSE: f64 = 0.05;

/// Most widths in each direction.
const MAX_WIDTHS: i32 = 2;

/// The folds with each of some kernels.
pub(super) struct WidthData<'a> {
    /// The first one, if there is one.
    first: Option<KernelData<'a>>,
    /// The next ones: wider and wider, and narrower and narrower.
    next: [Vec<KernelData<'a>>; 2],
}

struct KernelData<'a> {
    kernel: Kernel,
    data: Vec<Dataset<'a>>,
}

/// What was tried with a kernel.
pub(super) struct WidthTrials<'a> {
    pub(super) kernel: Kernel,
    pub(super) fits: Strengths<'a>,
    pub(super) found: MethodTrials,
}

impl<'a> WidthData<'a> {
    pub(super) fn new(open: &'a [TrainingFold], spec: &FitSpec, first: Option<Kernel>) -> Result<Self> {
        let with = |kernel: Kernel| -> Result<KernelData<'a>> {
            let spec = FitSpec { kernel: Some(kernel.clone()), ..spec.clone() };
            Ok(KernelData { data: trials::datasets(open, &spec)?, kernel })
        };
        let gamma = match &first {
            Some(Kernel::Rbf { gamma: Gamma::Value(gamma) }) => Some(*gamma),
            _ => None,
        };
        let of_steps = |sign: i32| -> Result<Vec<KernelData<'a>>> {
            let Some(gamma) = gamma else { return Ok(vec![]) };
            let steps = (1..=MAX_WIDTHS).map(|step| rounded(gamma * NEXT_GAMMA.powi(sign * step)));
            let usable = steps.filter(|gamma| gamma.is_finite() && *gamma > 0.0);
            usable.map(|gamma| with(Kernel::Rbf { gamma: Gamma::Value(gamma) })).collect()
        };
        Ok(WidthData { next: [of_steps(-1)?, of_steps(1)?], first: first.map(with).transpose()? })
    }

    /// The best of the kernels; `None` if there are none, or if the first one is far worse than the linear one on the
    /// first folds.
    pub(super) fn search(
        &'a self,
        study: &Study<'_>,
        (linear, straight): (&Strengths<'a>, &StrengthFit),
        method: &MethodSpec,
    ) -> Result<Option<WidthTrials<'a>>> {
        let Some(first) = &self.first else { return Ok(None) };
        let mut fits = first.open(study, linear)?;
        // From the middle, as where this kernel is given: it then has the same C.
        let looked = fits.look(method, 0)?;
        let far_worse = |best: &StrengthFit| best.trial.loss > (1.0 + FAR_WORSE) * straight.trial.loss;
        if best_of(&looked).is_none_or(far_worse) {
            return Ok(None);
        }
        let found = fits.decide(method, looked, CONTENDERS)?;
        let mut best = WidthTrials { kernel: first.kernel.clone(), fits, found };
        for direction in &self.next {
            for next in direction {
                let Some(now) = best.found.best.as_ref().map(|best| best.trial) else {
                    return Ok(Some(best));
                };
                let mut fits = next.open(study, linear)?;
                let Some(other) = fits.on_all_folds(method, now.step)? else { return Ok(Some(best)) };
                if !other.trial.loss.is_finite() || other.trial.loss >= now.loss {
                    break;
                }
                let found = fits.search(method, 0, CONTENDERS)?;
                best = WidthTrials { kernel: next.kernel.clone(), fits, found };
            }
            // What is better on one side is worse on the other.
            if best.kernel != first.kernel {
                break;
            }
        }
        Ok(Some(best))
    }
}

impl<'a> KernelData<'a> {
    /// The folds, ready to be fitted with this kernel.
    fn open(&'a self, study: &Study<'_>, linear: &Strengths<'a>) -> Result<Strengths<'a>> {
        let spec = FitSpec { kernel: Some(self.kernel.clone()), ..linear.spec.clone() };
        let c_scale = trials::c_scale_of(study, &spec)?;
        let scale = ScaleOfAll::new(&c_scale, study.observations);
        let spec = (spec, linear.threads);
        Strengths::new((linear.open, &self.data), scale, spec, linear.scoring, linear.observer)
    }
}
