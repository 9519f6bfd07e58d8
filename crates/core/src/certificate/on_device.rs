//! The terms of losses where inputs and labels lie on a device: it adds up the terms of each task.

use super::{LossTerms, intercepts};
use crate::device_losses::{DeviceLosses, InterceptAim, Smoothing};
use crate::{Matrix, Problem, Result};

/// The terms for the weights W; `None` if they are not computed there, or if there are observations out of the
/// ordinary: the code for memory says what is wrong with them.
pub(super) fn loss_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    weights: &Matrix,
    intercept: Option<&[f64]>,
) -> Result<Option<LossTerms>> {
    let Some(losses) = DeviceLosses::of(problem)? else { return Ok(None) };
    let (device, resident) = (losses.device(), losses.resident);
    let (scores, plain) = (resident.scores_on_device(weights), Smoothing::default());
    let intercept = match intercept {
        Some(given) if losses.rho.is_some() => given.to_vec(),
        _ => {
            let aim = InterceptAim { guess: vec![0.0; weights.cols()], share: losses.rounding(), least: 0.0 };
            losses.best_intercepts(&scores, plain, aim)
        }
    };
    let duals = device.upload(kappa, scores.rows, scores.cols);
    let sums = device.loss_terms(&losses.table(&scores, &intercept, plain), &duals);
    resident.device.check()?;
    if sums.odd.iter().any(|count| *count != 0.0) {
        return Ok(None);
    }
    let (value, conj) = (sums.value.iter().sum(), sums.conj.iter().sum());
    let mut terms = LossTerms { value, conj, gap: sums.gap, intercept: vec![] };
    if let Some(rho) = losses.rho {
        intercepts::add_terms(problem, kappa, rho, &intercept, &mut terms)?;
    }
    Ok(Some(LossTerms { intercept, ..terms }))
}
