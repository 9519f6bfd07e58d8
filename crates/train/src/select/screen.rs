//! Kernels that are hopeless on some of the rows are not tried on all of them: the time of a fit with a kernel grows
//! with the square of their number.

use super::axes::HOPELESS;
use super::{ROWS_OF_A_LONG_LOOK, ROWS_OF_A_LOOK, Study, must_be_clearly_better, ridge_errors};
use crate::metric::{RowLoss, is_better, mean};
use crate::{Result, StudyObserver};
use kinfolk::Kernel;

/// With so many rows or fewer, all kernels are tried.
const FEW_ROWS: usize = 400;

/// The first kernel, and those that are not clearly worse than the best one on some of the rows, by kernel ridge
/// regression. All of them if there are few rows; if there are many, the first one alone unless another is clearly
/// better, and then the best one beside it.
pub(super) fn promising(
    study: &Study<'_>,
    kernels: Vec<Kernel>,
    observer: &dyn StudyObserver,
) -> Result<Vec<Kernel>> {
    if kernels.len() < 2 || study.inputs.n_inputs() <= FEW_ROWS {
        return Ok(kernels);
    }
    let is_long = must_be_clearly_better(study.inputs.n_inputs());
    let rows = if is_long { ROWS_OF_A_LONG_LOOK } else { ROWS_OF_A_LOOK };
    let Some(errors) = ridge_errors(study, &kernels, rows, observer)? else { return Ok(kernels) };
    let Some(best) = errors.iter().min_by(|a, b| mean(a).total_cmp(&mean(b))) else { return Ok(kernels) };
    let keep = |own: &Vec<RowLoss>| match is_long {
        true => std::ptr::eq(own, best) && is_better(own, &errors[0], HOPELESS),
        false => !is_better(best, own, HOPELESS),
    };
    let keep: Vec<bool> = errors.iter().map(keep).collect();
    let kept = kernels.into_iter().zip(keep).enumerate().filter(|(i, (_, keep))| *i == 0 || *keep);
    Ok(kept.map(|(_, (kernel, _))| kernel).collect())
}
