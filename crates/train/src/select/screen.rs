//! Kernels that are hopeless on some of the rows are not tried on all of them: the time of a fit with a kernel grows
//! with the square of their number.

use super::axes::HOPELESS;
use super::{Candidate, KernelGrid, Row, Study, StudyRows, cross_validate, folds, mean_and_sd};
use crate::methods::DEFAULT;
use crate::observer::StopOnly;
use crate::{MethodSpec, Result, StudyObserver, Weight};
use kinfolk::Kernel;

/// Rows that are looked at.
const SCREEN_ROWS: usize = 400;

/// Folds of these rows.
const SCREEN_FOLDS: usize = 3;

/// Strengths that kernels are tried with: what matters is whether a kernel can be good at all.
const SCREEN_STRENGTHS: [f64; 3] = [0.1, 1.0, 10.0];

/// The first kernel, and those that are not clearly worse than the best one on some of the rows. All of them if there
/// are few rows, or folds of some of them cannot be fitted.
pub(super) fn promising(
    study: &Study<'_>,
    kernels: Vec<Kernel>,
    observer: &dyn StudyObserver,
) -> Result<Vec<Kernel>> {
    let n = study.inputs.n_inputs();
    if kernels.len() < 2 || n <= SCREEN_ROWS {
        return Ok(kernels);
    }
    let (some, _) = folds::split(study.observations, SCREEN_ROWS as f64 / n as f64, study.seed)?;
    let rows = StudyRows::new(study, &some)?;
    let study = Study { folds: SCREEN_FOLDS, repeats: 1, whole_tasks: false, ..study.of_rows(&rows) };
    let candidate = Candidate {
        settings: vec![MethodSpec::plain(DEFAULT)],
        weights: SCREEN_STRENGTHS.map(Weight::Relative).to_vec(),
        grows: false,
        kernels: KernelGrid::These(kernels.clone()),
        axes: None,
    };
    let Ok(Some(found)) = cross_validate(&study, &[candidate], &StopOnly(observer)) else {
        return Ok(kernels);
    };
    let sign = if found.metric.higher_is_better() { 1.0 } else { -1.0 };
    let best_row = |kernel: Option<&Kernel>| {
        let own = found.rows.iter().filter(|row| kernel.is_none() || row.kernel.as_ref() == kernel);
        let defined = own.filter(|row| !row.score.is_nan());
        defined.max_by(|a, b| (sign * a.score).total_cmp(&(sign * b.score)))
    };
    let Some(best) = best_row(None) else { return Ok(kernels) };
    let is_promising =
        |kernel: &Kernel| best_row(Some(kernel)).is_some_and(|row| !is_clearly_worse(row, best, sign));
    let first = kernels[0].clone();
    Ok(kernels.into_iter().filter(|kernel| *kernel == first || is_promising(kernel)).collect())
}

fn is_clearly_worse(row: &Row, best: &Row, sign: f64) -> bool {
    let loss = |(a, b): (&crate::Score, &crate::Score)| sign * (b.value - a.value);
    let losses: Vec<f64> = row.folds.iter().zip(&best.folds).map(loss).filter(|x| !x.is_nan()).collect();
    let (mean, sd) = mean_and_sd(&losses);
    losses.len() > 1 && mean > HOPELESS * sd / (losses.len() as f64).sqrt()
}
