//! Regularisation paths.

use crate::{Dataset, Fit, Observer, Problem, ProblemSpec, Result, Settings, Start, Weights, fit_from};

/// Fits a list of values of C, increasing or decreasing, each from the solution of the one before, each certified.
///
/// The Gram matrix and the eigenbasis of the inputs are computed once, in the data set. Stops early, with the fits so
/// far, if the observer says so.
///
/// ```
/// # use kinfolk::{Dataset, DatasetOptions, LossKind, Observations, RegularizerKind, ProblemSpec, Settings, Silent, fit_path};
/// # use kinfolk::inputs::{Dense, Inputs};
/// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// # let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, -1.0, 1.0, -1.0])?;
/// let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// let spec = ProblemSpec { loss: LossKind::Hinge.into(), output: RegularizerKind::Power { k: 2 }, c: 1.0, lambda: 1.0 };
/// let fits = fit_path(&data, &spec, &[0.1, 1.0, 10.0], &Settings::default(), &mut Silent)?;
/// assert!(fits.iter().all(|fit| fit.certificate().rel_gap() <= 1e-3));
/// # Ok::<(), kinfolk::Error>(())
/// ```
pub fn fit_path(
    data: &Dataset<'_>,
    spec: &ProblemSpec,
    c_values: &[f64],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Vec<Fit>> {
    let lambda = spec.lambda;
    let weights: Vec<Weights> = c_values.iter().map(|&c| Weights { c, lambda }).collect();
    fit_along(data, spec, &weights, settings, observer)
}

/// [`fit_path`] where lambda changes with C; `c` and `lambda` of `spec` are not used.
pub fn fit_along(
    data: &Dataset<'_>,
    spec: &ProblemSpec,
    weights: &[Weights],
    settings: &Settings,
    observer: &mut dyn Observer,
) -> Result<Vec<Fit>> {
    let mut fits: Vec<Fit> = vec![];
    for &Weights { c, lambda } in weights {
        let problem = Problem::new(data, ProblemSpec { c, lambda, ..spec.clone() })?;
        let fit = fit_near(&problem, settings, fits.last().and_then(|fit| fit.model.alpha()), observer)?;
        let stopped = fit.status() == crate::Status::Stopped;
        fits.push(fit);
        if stopped {
            break;
        }
    }
    Ok(fits)
}

/// [`fit_from`] the duals of a neighbouring problem (another C, lambda, loss or regulariser), brought into the domain of this one.
pub fn fit_near(
    problem: &Problem<'_>,
    settings: &Settings,
    alpha: Option<&[f64]>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let same_length = |alpha: &&[f64]| alpha.len() == problem.observations().len();
    let start = alpha.filter(same_length).map(|alpha| feasible(problem, alpha));
    fit_from(problem, settings, start.as_deref().map_or(Start::Cold, Start::Warm), observer)
}

/// Duals of another C, brought into the domain of this one.
fn feasible(problem: &Problem<'_>, alpha: &[f64]) -> Vec<f64> {
    let unit = problem.unit();
    let clip = |(o, a): (usize, &f64)| {
        let (low, high) = problem.box_of(o);
        a.clamp(low * unit, high * unit)
    };
    alpha.iter().enumerate().map(clip).collect()
}
