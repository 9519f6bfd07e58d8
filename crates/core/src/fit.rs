//! Fitting: problem in, certified model out.

use crate::solver::TracePoint;
use crate::{Certificate, Model, Observer, Problem, Result, Settings, Silent, Status};

/// The result of a fit.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model, with its certificate inside.
    pub model: Model,
    /// How far from optimal the model is.
    pub certificate: Certificate,
    /// Why the solver ended.
    pub status: Status,
    /// Which solver it was.
    pub solver: &'static str,
    /// Why that solver, if it was chosen automatically.
    pub reason: Option<String>,
    /// Passes over the data, or iterations.
    pub passes: usize,
    /// Every certificate on the way.
    pub trace: Vec<TracePoint>,
}

/// Solves a problem.
///
/// ```
/// use kinfolk::{Dataset, DatasetOptions, LossKind, Observations, OutputKind, Problem, ProblemSpec, Settings, Status, fit};
/// use kinfolk::inputs::{Dense, Inputs};
///
/// // Four readings of two kindred sensors, two features each.
/// let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
/// let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// let spec = ProblemSpec { loss: LossKind::Squared.into(), output: OutputKind::Power { k: 1 }, c: 10.0, lambda: 1.0 };
/// let problem = Problem::new(&data, spec)?;
/// let fit = fit(&problem, &Settings { tolerance: 1e-8, ..Settings::default() })?;
/// assert_eq!(fit.status, Status::Certified);
/// assert!(fit.certificate.rel_gap() <= 1e-8);
/// // The sensors were found to be kin.
/// assert!(fit.model.correlation()[(0, 1)] > 0.9);
/// # Ok::<(), kinfolk::Error>(())
/// ```
pub fn fit(problem: &Problem<'_>, settings: &Settings) -> Result<Fit> {
    fit_from(problem, settings, None, &mut Silent)
}

/// [`fit`] from duals `alpha` (the paper's scale, in observation order) if given, watched by an observer.
pub fn fit_from(
    problem: &Problem<'_>,
    settings: &Settings,
    alpha: Option<&[f64]>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let settings = settings.clone().check()?;
    let start: Option<Vec<f64>> = alpha.map(|alpha| alpha.iter().map(|a| a / problem.unit()).collect());
    if let Some(start) = &start
        && start.len() != problem.observations().len()
    {
        let (got, expected) = (start.len(), problem.observations().len());
        return Err(crate::Error::Length { what: "the list of duals", got, expected });
    }
    let solver = settings.solver.build();
    let solution = solver.solve(problem, &settings, start.as_deref(), observer)?;
    let certificate = solution.certificate().clone();
    let (status, passes, name) = (solution.status, solution.passes, solution.solver);
    let (reason, trace) = (solution.reason.clone(), solution.trace.clone());
    let model = Model::new(problem, solution)?;
    Ok(Fit { model, certificate, status, solver: name, reason, passes, trace })
}
