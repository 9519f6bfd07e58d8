//! Fitting: problem in, certified model out.

use crate::backend::Interrupt;
use crate::certificate::{Graded, certify_normal};
use crate::regularizer::Regularizer;
use crate::solver::{Solution, Start, TracePoint, start};
use crate::{Certificate, Error, Matrix, Model, Observer, Problem, Result, Settings, Silent, Status};
use std::time::Instant;

/// The result of a fit.
#[derive(Debug, Clone)]
pub struct Fit {
    /// The model. It holds the certificate and the status, too.
    pub model: Model,
    /// Which solver it was.
    pub solver: &'static str,
    /// Why that solver, if it was chosen automatically.
    pub reason: Option<String>,
    /// Passes over the data, or iterations.
    pub passes: usize,
    /// Seconds it took, from the problem to the model.
    pub seconds: f64,
    /// Every certificate on the way.
    pub trace: Vec<TracePoint>,
    /// Inner products `<f_r, f_s>` of the tasks' functions in the space of the kernel.
    pub products: Matrix,
}

impl Fit {
    /// How far from optimal the model is.
    pub fn certificate(&self) -> &Certificate {
        self.model.certificate()
    }

    /// Why the solver ended.
    pub fn status(&self) -> Status {
        match self.model.status() {
            Some(status) => status,
            None => unreachable!("only models from files may lack a status"),
        }
    }
}

/// Solves a problem.
///
/// ```
/// use kinfolk::{Dataset, DatasetOptions, LossKind, Observations, RegularizerKind, Problem, ProblemSpec, Settings, Status, fit};
/// use kinfolk::inputs::{Dense, Inputs};
///
/// // Four readings of two kindred sensors, two features each.
/// let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
/// let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// let spec = ProblemSpec { loss: LossKind::Squared.into(), output: RegularizerKind::Power { k: 1 }, c: 10.0, lambda: 1.0 };
/// let problem = Problem::new(&data, spec)?;
/// let fit = fit(&problem, &Settings { tolerance: 1e-8, ..Settings::default() })?;
/// assert_eq!(fit.status(), Status::Certified);
/// assert!(fit.certificate().rel_gap() <= 1e-8);
/// // The sensors were found to be kin.
/// assert!(fit.model.correlation()[(0, 1)] > 0.9);
/// # Ok::<(), kinfolk::Error>(())
/// ```
pub fn fit(problem: &Problem<'_>, settings: &Settings) -> Result<Fit> {
    fit_from(problem, settings, Start::Cold, &mut Silent)
}

/// [`fit`] from a start of choice, watched by an observer.
///
/// A long fit that keeps [snapshots](crate::Progress::snapshot) can be resumed after an interruption, to the same bits:
///
/// ```
/// # use kinfolk::{Dataset, DatasetOptions, LossKind, Observations, RegularizerKind, Problem, ProblemSpec};
/// # use kinfolk::inputs::{Dense, Inputs};
/// use kinfolk::{Flow, Observer, Progress, Settings, Silent, Snapshot, Start, Status, fit, fit_from};
/// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// # let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
/// # let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// # let spec = ProblemSpec { loss: LossKind::Squared.into(), output: RegularizerKind::Power { k: 2 }, c: 10.0, lambda: 1.0 };
/// # let problem = Problem::new(&data, spec)?;
/// # let settings = Settings { tolerance: 1e-12, ..Settings::default() };
///
/// /// Keeps a snapshot of the second certificate, where the power fails.
/// struct PowerFailure(usize, Option<Snapshot>);
/// impl Observer for PowerFailure {
///     fn progress(&mut self, progress: &Progress<'_>) -> Flow {
///         self.0 += 1;
///         self.1 = progress.snapshot();
///         if self.0 < 2 { Flow::Continue } else { Flow::Stop }
///     }
/// }
///
/// let mut observer = PowerFailure(0, None);
/// let interrupted = fit_from(&problem, &settings, Start::Cold, &mut observer)?;
/// assert_eq!(interrupted.status(), Status::Stopped);
/// let resumed = fit_from(&problem, &settings, Start::Resume(&observer.1.unwrap()), &mut Silent)?;
/// let whole = fit(&problem, &settings)?;
/// assert_eq!(resumed.model.alpha(), whole.model.alpha());
/// assert_eq!((resumed.passes, resumed.status()), (whole.passes, whole.status()));
/// # Ok::<(), kinfolk::Error>(())
/// ```
pub fn fit_from(
    problem: &Problem<'_>,
    settings: &Settings,
    start: Start<'_>,
    observer: &mut dyn Observer,
) -> Result<Fit> {
    let began = Instant::now();
    let settings = settings.clone().check()?;
    let solver = settings.solver.build();
    if let Err(why) = solver.suits(problem) {
        return Err(Error::Unsuitable { solver: solver.name(), why });
    }
    let solution = solver.solve(problem, &settings, start, observer)?;
    finish(problem, solution, began)
}

/// The fit that duals and a primal point found elsewhere amount to: certified, and nothing else. Duals of the paper's scale, in observation
/// order, are brought into their domain, and shrunk to where their bound is finite if need be; `v` as in [`certify`](crate::certify).
pub fn grade(
    problem: &Problem<'_>,
    alpha: &[f64],
    v: Option<&Matrix>,
    settings: &Settings,
    (solver, passes): (&'static str, usize),
) -> Result<Fit> {
    let began = Instant::now();
    let never = &mut Interrupt::never();
    problem.data().prepare(never)?;
    let kappa = Start::Warm(alpha).kappa(problem)?.unwrap_or_default();
    let kappa = start::allowed(problem, start::warm(problem, kappa))?;
    let v = v.map(|v| {
        let mut v = v.clone();
        v.as_mut_slice().iter_mut().for_each(|x| *x /= problem.coordinate_scale());
        v
    });
    let graded = certify_normal(problem, &kappa, v.as_ref(), never)?;
    let certified = graded.certificate.rel_gap() <= settings.tolerance;
    let status = if certified { Status::Certified } else { Status::PassLimit };
    finish(problem, Solution { kappa, v, graded, status, solver, passes, trace: vec![], reason: None }, began)
}

fn finish(problem: &Problem<'_>, solution: Solution, began: Instant) -> Result<Fit> {
    let (passes, name) = (solution.passes, solution.solver);
    let (reason, trace) = (solution.reason.clone(), solution.trace.clone());
    let products = products(problem, &solution);
    let model = Model::new(problem, solution)?;
    let seconds = began.elapsed().as_secs_f64();
    Ok(Fit { model, solver: name, reason, passes, seconds, trace, products })
}

/// `W'W` in the caller's units: `Theta G Theta`, or G itself where it is that of weights.
fn products(problem: &Problem<'_>, solution: &Solution) -> Matrix {
    let Graded { theta, gram, .. } = &solution.graded;
    let mut products = match problem.regularizer() {
        Regularizer::Spectral(_) => gram.clone(),
        Regularizer::Entrywise(_) => theta.times(gram).times(theta),
    };
    let unit = problem.data().backend().unit();
    products.as_mut_slice().iter_mut().for_each(|x| *x /= unit);
    products
}
