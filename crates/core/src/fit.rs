//! Fitting: problem in, certified model out.

use crate::backend::Interrupt;
use crate::certificate::{Graded, certify_normal};
use crate::linalg::{self, view};
use crate::regularizer::Regularizer;
use crate::solver::{Snapshot, Solution, SolveRequest, Start, TracePoint, start};
use crate::{
    Certificate, Dataset, Error, Matrix, Model, Observer, Problem, ProblemSpec, Result, Settings, Silent,
    Status, Weights,
};
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
/// use kinfolk::{Dataset, DatasetOptions, Observations, Problem, ProblemSpec, RegularizerKind};
/// use kinfolk::{Settings, Status, fit};
/// use kinfolk::inputs::{Dense, Inputs};
///
/// // Four readings of two kindred sensors, two features each.
/// let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
/// let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// let output = RegularizerKind::Power { k: 1 };
/// let spec = ProblemSpec { output, c: 10.0, ..ProblemSpec::default() };
/// let problem = Problem::new(&data, spec)?;
/// let fit = fit(&problem, &Settings { tolerance: 1e-8, ..Settings::default() })?;
/// assert_eq!(fit.status(), Status::Certified);
/// assert!(fit.certificate().rel_gap() <= 1e-8);
/// // The sensors were found to be related.
/// assert!(fit.model.correlation()[(0, 1)] > 0.9);
/// # Ok::<(), kinfolk::Error>(())
/// ```
pub fn fit(problem: &Problem<'_>, settings: &Settings) -> Result<Fit> {
    Fitter::new(settings).fit(problem)
}

/// [`fit`] from a start of choice, watched by an observer, or along a path of weights.
///
/// A long fit that keeps [snapshots](crate::Progress::snapshot) can be resumed after an interruption, to the
/// same bits:
///
/// ```
/// # use kinfolk::{Dataset, DatasetOptions, Observations, RegularizerKind, Problem, ProblemSpec};
/// # use kinfolk::inputs::{Dense, Inputs};
/// use kinfolk::{Fitter, Flow, Observer, Progress, Settings, Snapshot, Status, fit};
/// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
/// # let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
/// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, 0.2, 1.1, 0.1])?;
/// # let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
/// # let output = RegularizerKind::Power { k: 2 };
/// # let spec = ProblemSpec { output, c: 10.0, ..ProblemSpec::default() };
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
/// let interrupted = Fitter::new(&settings).observer(&mut observer).fit(&problem)?;
/// assert_eq!(interrupted.status(), Status::Stopped);
/// let resumed = Fitter::new(&settings).resume(&observer.1.unwrap()).fit(&problem)?;
/// let whole = fit(&problem, &settings)?;
/// assert_eq!(resumed.model.alpha(), whole.model.alpha());
/// assert_eq!((resumed.passes, resumed.status()), (whole.passes, whole.status()));
/// # Ok::<(), kinfolk::Error>(())
/// ```
pub struct Fitter<'a> {
    settings: &'a Settings,
    start: Start<'a>,
    near: Option<&'a [f64]>,
    observer: Option<&'a mut dyn Observer>,
}

impl<'a> Fitter<'a> {
    /// A cold start, and no observer.
    pub fn new(settings: &'a Settings) -> Self {
        Fitter { settings, start: Start::Cold, near: None, observer: None }
    }

    /// Reports progress to this observer, and stops when it says so.
    pub fn observer(self, observer: &'a mut dyn Observer) -> Self {
        Fitter { observer: Some(observer), ..self }
    }

    /// Starts here.
    pub fn start(self, start: Start<'a>) -> Self {
        Fitter { start, ..self }
    }

    /// Starts from the duals of a neighbouring problem (another C, lambda, loss or regulariser). They are
    /// ignored if there are not as many as this problem has observations.
    pub fn warm(self, alpha: Option<&'a [f64]>) -> Self {
        Fitter { near: alpha, ..self }
    }

    /// Goes on where another fit of the same problem was interrupted.
    pub fn resume(self, snapshot: &'a Snapshot) -> Self {
        self.start(Start::Resume(snapshot))
    }

    /// Solves a problem.
    pub fn fit(self, problem: &Problem<'_>) -> Result<Fit> {
        let start = match self.near {
            Some(alpha) if alpha.len() == problem.observations().len() => Start::Warm(alpha),
            _ => self.start,
        };
        let began = Instant::now();
        let settings = self.settings.clone().check()?;
        let (solver, mut silent) = (settings.solver.build(), Silent);
        let observer: &mut dyn Observer = match self.observer {
            Some(observer) => observer,
            None => &mut silent,
        };
        let solution = solver.solve(SolveRequest { problem, settings: &settings, start }, observer)?;
        finish(problem, solution, settings.tolerance, began)
    }

    /// Fits a list of weights, increasing or decreasing, each from the solution of the one before, each
    /// certified. `c` and `lambda` of `spec` are not used. Stops early, with the fits so far, if the observer
    /// says so.
    ///
    /// The Gram matrix and the eigenbasis of the inputs are computed once, in the data set.
    ///
    /// ```
    /// # use kinfolk::{Dataset, DatasetOptions, Fitter, LossKind, Observations, ProblemSpec, RegularizerKind};
    /// # use kinfolk::{Settings, Weights};
    /// # use kinfolk::inputs::{Dense, Inputs};
    /// # let x = [1.0, 0.0, 0.5, 1.0, 1.0, 0.1, 0.4, 1.0];
    /// # let inputs = Inputs::from(Dense::f64(&x, 4, 2)?);
    /// # let observations = Observations::multi_task(&[0, 0, 1, 1], vec![1.0, -1.0, 1.0, -1.0])?;
    /// let data = Dataset::new(&inputs, &observations, DatasetOptions::default())?;
    /// let output = RegularizerKind::Power { k: 2 };
    /// let spec = ProblemSpec { loss: LossKind::Hinge.into(), output, ..ProblemSpec::default() };
    /// let weights = [0.1, 1.0, 10.0].map(|c| Weights { c, lambda: 1.0 });
    /// let fits = Fitter::new(&Settings::default()).path(&data, &spec, &weights)?;
    /// assert!(fits.iter().all(|fit| fit.certificate().rel_gap() <= 1e-3));
    /// # Ok::<(), kinfolk::Error>(())
    /// ```
    pub fn path(self, data: &Dataset<'_>, spec: &ProblemSpec, weights: &[Weights]) -> Result<Vec<Fit>> {
        let Fitter { settings, start, near, observer } = self;
        let mut silent = Silent;
        let observer: &mut dyn Observer = match observer {
            Some(observer) => observer,
            None => &mut silent,
        };
        let mut fits: Vec<Fit> = vec![];
        for &Weights { c, lambda } in weights {
            let problem = Problem::new(data, ProblemSpec { c, lambda, ..spec.clone() })?;
            let near = fits.last().map_or(near, |fit| fit.model.alpha());
            let start = if fits.is_empty() { start } else { Start::Cold };
            let fit = Fitter { settings, start, near, observer: Some(&mut *observer) }.fit(&problem)?;
            let stopped = fit.status() == Status::Stopped;
            fits.push(fit);
            if stopped {
                break;
            }
        }
        Ok(fits)
    }
}

/// The fit that duals and a primal point of another method amount to: certified here, and nothing else.
///
/// `solver` and `passes` name the method and count its rounds. Duals in the paper's scale and observation
/// order are brought into their domain, and shrunk to where their bound is finite if necessary; `v` as in
/// [`certify`](crate::certify). The status is [`Status::Certified`] if the gap is within the tolerance, else
/// [`Status::HandedOver`].
pub fn certify_duals(
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
    let status = if certified { Status::Certified } else { Status::HandedOver };
    let solution = Solution { kappa, v, graded, status, solver, passes, trace: vec![], reason: None };
    finish(problem, solution, settings.tolerance, began)
}

/// `Err` if the largest dual has lost digits in the caller's units: a model could not keep its proof. Smaller ones that
/// lose some are still right to a last digit of the largest.
fn check_range(problem: &Problem<'_>, kappa: &[f64]) -> Result<()> {
    let largest = kappa.iter().fold(0.0, |most: f64, k| most.max(k.abs()));
    if largest > 0.0 && largest * problem.unit() < f64::MIN_POSITIVE {
        return Err(Error::Incompatible(format!(
            "dual variables have sizes of {:e}, below the range of double precision: inputs are too large for labels \
             as small as these, or C is too small; scale the inputs or the labels",
            largest * problem.unit()
        )));
    }
    Ok(())
}

fn finish(problem: &Problem<'_>, mut solution: Solution, tolerance: f64, began: Instant) -> Result<Fit> {
    check_range(problem, &solution.kappa)?;
    solution.graded.add_rounding(problem, &solution.kappa, solution.v.as_ref());
    if solution.status == Status::Certified && solution.certificate().rel_error() > tolerance {
        solution.status = Status::Imprecise;
    }
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
    let (pool, threads) = (problem.data().pool(), problem.data().threads());
    let times = |a: &Matrix, b: &Matrix| pool.install(|| linalg::times(view(a), view(b), threads));
    let mut products = match problem.regularizer() {
        Regularizer::Spectral(_) => gram.clone(),
        Regularizer::Entrywise(_) => times(&times(theta, gram), theta),
    };
    let unit = problem.data().backend().unit();
    products.as_mut_slice().iter_mut().for_each(|x| *x /= unit);
    products
}
