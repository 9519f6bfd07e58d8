//! RBF kernels of several widths on the folds: one with all strengths that the search wants, and the next widths only
//! if they are better at its best strength. A look at some hundred rows, with a simple model of what tasks have in
//! common, proposes the first one, and may be wrong.

use super::search::StrengthTrial;
use super::trials::{self, MethodTrials, ScaleOfAll, Trials};
use crate::select::{HeldOut, NEXT_GAMMA, Study, TrainingFold, rounded};
use crate::{FitSpec, MethodSpec, Metric, Result};
use kinfolk::kernel::Gamma;
use kinfolk::{Dataset, Kernel};

/// A loss that is larger by this share is far worse: the next widths do not make up for it.
const FAR_WORSE: f64 = 0.05;

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
    pub(super) trials: Trials<'a>,
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

    /// The best of the kernels; `None` if there are none. Where the first one is far worse than the linear kernel,
    /// which has this loss, others are not tried.
    pub(super) fn search(
        &'a self,
        study: &Study<'_>,
        (linear, linear_loss): (&Trials<'a>, f64),
        method: &MethodSpec,
        scoring: (&HeldOut<'_>, Metric),
    ) -> Result<Option<WidthTrials<'a>>> {
        let Some(first) = &self.first else { return Ok(None) };
        let mut trials = first.open(study, linear)?;
        let found = trials.search(method, 0, scoring)?;
        let mut best = WidthTrials { kernel: first.kernel.clone(), trials, found };
        let hopeless = |(trial, _): &(StrengthTrial, Vec<f64>)| trial.loss > (1.0 + FAR_WORSE) * linear_loss;
        if best.found.best.as_ref().is_some_and(hopeless) {
            return Ok(Some(best));
        }
        for direction in &self.next {
            let before = best.kernel.clone();
            for next in direction {
                let Some((now, _)) = best.found.best else { return Ok(Some(best)) };
                let mut trials = next.open(study, linear)?;
                let Some(predictions) = trials.predictions(method, now.step)? else { return Ok(Some(best)) };
                let rows = trials::choice_losses(scoring, &predictions)?;
                if StrengthTrial::new(now.step, f64::NAN, &rows).loss >= now.loss {
                    break;
                }
                // From the middle, as where this kernel is given: it then has the same C.
                let found = trials.search(method, 0, scoring)?;
                best = WidthTrials { kernel: next.kernel.clone(), trials, found };
            }
            // What is better on one side is worse on the other.
            if best.kernel != before {
                break;
            }
        }
        Ok(Some(best))
    }
}

impl<'a> KernelData<'a> {
    /// The folds, ready to be fitted with this kernel.
    fn open(&'a self, study: &Study<'_>, linear: &Trials<'a>) -> Result<Trials<'a>> {
        let spec = FitSpec { kernel: Some(self.kernel.clone()), ..linear.spec.clone() };
        let c_scale = trials::c_scale_of(study, &spec)?;
        let scale = ScaleOfAll::new(&c_scale, study.observations);
        Trials::new(linear.open, &self.data, scale, (spec, linear.threads), linear.observer)
    }
}
