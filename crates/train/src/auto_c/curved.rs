//! Is a curved function worth a try? Kernel ridge regression answers for some hundred rows. Whether the function is
//! taken is decided on the folds, with the loss and the method of the fit.

use super::compare::{BEYOND_NOISE, MIN_GAIN_OF_A_CURVE};
use crate::metric::{RowLoss, is_better, mean};
use crate::select::{
    ROWS_OF_A_LONG_LOOK, ROWS_OF_A_LOOK, Study, must_be_clearly_better, rbf_kernels, ridge_errors,
    tries_kernels,
};
use crate::{Result, StudyObserver, all_losses};
use kinfolk::{Inputs, Kernel, LossKind};

/// The RBF kernel that is worth a try beside the linear one, if there is one.
pub(super) fn kernel_to_try(study: &Study<'_>, observer: &dyn StudyObserver) -> Result<Option<Kernel>> {
    if !tries_kernels(study) {
        return Ok(None);
    }
    let Some(curve) = best_curve(study, observer)?.filter(BestCurve::saves_enough) else { return Ok(None) };
    if !must_be_clearly_better(study.inputs.n_inputs()) || curve.is_clearly_better() {
        return Ok(Some(curve.kernel));
    }
    // In doubt: more rows, with this kernel alone.
    let more = curve_of(study, vec![curve.kernel], ROWS_OF_A_LONG_LOOK, observer)?;
    let is_promising = |curve: &BestCurve| curve.saves_enough() && curve.is_clearly_better();
    Ok(more.filter(is_promising).map(|curve| curve.kernel))
}

/// What to say where rows are too many to try a kernel on all of them, and some say that it would pay. The loss of
/// classes is another one, so nothing is said about them.
pub(super) fn hint(study: &Study<'_>, observer: &dyn StudyObserver) -> Result<Option<String>> {
    if all_losses(&study.losses, LossKind::is_classification) {
        return Ok(None);
    }
    let is_worth_a_word = |curve: &BestCurve| curve.saves_enough() && curve.is_clearly_better();
    let words = |curve: BestCurve| {
        let rows = curve.errors.len();
        format!("curved functions may predict better, by a look at {rows} rows: kernel {}", curve.kernel)
    };
    Ok(best_curve(study, observer)?.filter(is_worth_a_word).map(words))
}

/// An RBF kernel, and errors with it and with the linear one.
struct BestCurve {
    kernel: Kernel,
    errors: Vec<RowLoss>,
    straight: Vec<RowLoss>,
}

impl BestCurve {
    fn saves_enough(&self) -> bool {
        mean(&self.errors) < (1.0 - MIN_GAIN_OF_A_CURVE) * mean(&self.straight)
    }

    fn is_clearly_better(&self) -> bool {
        is_better(&self.errors, &self.straight, BEYOND_NOISE)
    }
}

/// The best RBF kernel for some of the rows; `None` if none can be tried.
fn best_curve(study: &Study<'_>, observer: &dyn StudyObserver) -> Result<Option<BestCurve>> {
    let is_dense = matches!(study.inputs, Inputs::Dense(_));
    if !is_dense || !study.spec.method.method().info().tries_kernels {
        return Ok(None);
    }
    curve_of(study, rbf_kernels(study)?, ROWS_OF_A_LOOK, observer)
}

/// The best of these kernels for so many rows.
fn curve_of(
    study: &Study<'_>,
    curved: Vec<Kernel>,
    rows: usize,
    observer: &dyn StudyObserver,
) -> Result<Option<BestCurve>> {
    let kernels = [&[Kernel::Linear], &curved[..]].concat();
    let Some(mut all) = ridge_errors(study, &kernels, rows, observer)? else { return Ok(None) };
    let straight = all.remove(0);
    let best = curved.into_iter().zip(all).min_by(|(_, a), (_, b)| mean(a).total_cmp(&mean(b)));
    Ok(best.map(|(kernel, errors)| BestCurve { kernel, errors, straight }))
}
