//! Newton's method for smooth losses, on any inputs that have an eigenbasis.

mod descent;
mod model;
mod start_independent;

pub(super) use descent::Descent;
pub(super) use model::{Smoothed, VPoint};

use super::finish;
use super::newton_system::{Smooth, linear};
use super::{
    CheckedSettings, Clock, Poll, Settings, Solution, Solver, Spectral, Start, Status, needs_entries, sdca,
    spectral, start,
};
use crate::backend::Interrupt;
use crate::certificate::{Graded, certify_normal};
use crate::design::Design;
use crate::problem::Losses;
use crate::{Error, LossKind, Matrix, Observer, Problem, ProblemSpec, Result};

/// Newton's method in V with a curved line search; steps by factorisation or by preconditioned iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Newton;

/// Bytes that solvers in V need: eigenbasis, rotated inputs, a dozen vectors of entries, and Krylov vectors or a factor.
pub(super) fn memory(problem: &Problem<'_>) -> u64 {
    let (backend, obs) = (problem.data().backend(), problem.observations());
    let point = (backend.dim().min(backend.n_inputs()) * obs.n_tasks()) as u64;
    let krylov = 8 * linear::MAX_STEPS as u64 * point;
    let factor = 8 * (linear::MAX_UNKNOWNS as u64).min(point).pow(2);
    backend.spectrum_bytes() + Design::bytes(backend, obs) + 8 * 12 * obs.len() as u64 + krylov.max(factor)
}

/// Passes of coordinate ascent before the first step from a cold start, where all tasks look alike and Theta is nearly singular.
const HEAD_START_PASSES: usize = 3;

/// Duals in observation order, with their certificate.
type Begun = (Vec<f64>, Graded);

/// Where a solver in V begins: duals in observation order, with their certificate; or the status with which it ends at once.
pub(super) fn begin(
    problem: &Problem<'_>,
    settings: &CheckedSettings,
    start: Option<Vec<f64>>,
    clock: &mut Clock<'_>,
) -> Result<(Begun, Option<Status>)> {
    let first = |interrupt: &mut Interrupt<'_>| {
        problem.data().prepare(interrupt)?;
        let kappa = match start.clone() {
            Some(kappa) => start::warm(problem, kappa),
            None => start::cold(problem, interrupt)?,
        };
        let graded = certify_normal(problem, &kappa, None, interrupt)?;
        Ok((kappa, graded))
    };
    let (mut kappa, mut graded) = match clock.interrupting(first) {
        Err(Error::Interrupted) => start::at_once(problem, start.clone())?,
        other => other?,
    };
    let mut status = clock.report(&graded.certificate, None);
    if start.is_none() && status.is_none() {
        let guess = match independent_start(problem, clock)? {
            None => quadratic_start(problem, settings, clock)?,
            some => some,
        };
        kappa = match (guess, quadratic_surrogate(problem)) {
            (Some(kappa), _) => kappa,
            (None, Some(spec)) => {
                let cheaper = Problem::new(problem.data(), spec)?;
                let kappa = start::cold(&cheaper, &mut Interrupt::never())?;
                let graded = certify_normal(&cheaper, &kappa, None, &mut Interrupt::never())?;
                let kappa = sdca::head_start(&cheaper, (kappa, graded), 1, settings.seed, clock)?;
                start::along(problem, start::warm(problem, kappa), &mut Interrupt::never())?
            }
            (None, None) => {
                sdca::head_start(problem, (kappa, graded), HEAD_START_PASSES, settings.seed, clock)?
            }
        };
        graded = certify_normal(problem, &kappa, None, &mut Interrupt::never())?;
        status = clock.report(&graded.certificate, None);
    }
    if status.is_none() {
        match clock.interrupting(|interrupt| problem.data().design(interrupt).map(|_| ())) {
            Err(Error::Interrupted) => status = clock.must_stop(),
            other => other?,
        }
    }
    Ok(((kappa, graded), status))
}

/// [`start_independent`], once there is a design.
fn independent_start(problem: &Problem<'_>, clock: &mut Clock<'_>) -> Result<Option<Vec<f64>>> {
    let data = problem.data();
    let design = match clock.interrupting(|interrupt| Ok(data.design(interrupt)?.1)) {
        Err(Error::Interrupted) => return Ok(None),
        other => other?,
    };
    data.pool().install(|| start_independent::start(problem, design))
}

/// Typical size of predictions beyond which parabolas at 0 tell nothing.
const MAX_TYPICAL_PREDICTION: f64 = 1.75;
/// Accuracy of the quadratic model.
const MODEL_TOLERANCE: f64 = 1e-2;

/// Duals at the solution for losses replaced by their parabolas at prediction 0, which the squared loss on shared inputs solves from
/// statistics alone. With `L(z) ~ a (z - b y)^2 / 2`, `a = L''(0)`, `b = |L'(0)| / a`, weights `W = b W'` pay `b^p` times what W' pays, where
/// `p = 2n / (2n - 1)` for `phi(s z) = s^n phi(z)`: W' solves the problem of the squared loss with weight `a b^(2 - p) C`. `None` where one
/// of these is missing.
fn quadratic_start(
    problem: &Problem<'_>,
    settings: &CheckedSettings,
    clock: &mut Clock<'_>,
) -> Result<Option<Vec<f64>>> {
    let obs = problem.observations();
    let (Some(loss), Some(degree)) = (problem.only_loss(), problem.entrywise()?.degree()) else {
        return Ok(None);
    };
    if !(loss.is_classification() && loss.is_smooth() && obs.offsets().is_none()) {
        return Ok(None);
    }
    // The same parabola for both labels, mirrored.
    let (curvature, slope) = (loss.curvature(1.0, 0.0), loss.slope(1.0, 0.0).0);
    if !(curvature > 0.0 && slope < 0.0) {
        return Ok(None);
    }
    let (n, gain) = (f64::from(degree), -slope / curvature);
    let c = problem.spec().c * curvature * gain.powf(2.0 - 2.0 * n / (2.0 * n - 1.0));
    let spec = ProblemSpec { loss: LossKind::Squared.into(), c, ..problem.spec().clone() };
    let model = Problem::new(problem.data(), spec)?;
    if Spectral.suits(&model).is_err() || Spectral.memory(&model) > problem.data().options().memory {
        return Ok(None);
    }
    let typical = match clock.interrupting(|interrupt| spectral::typical_prediction(&model, interrupt)) {
        Err(Error::Interrupted) => return Ok(None),
        other => gain * other?,
    };
    if typical > MAX_TYPICAL_PREDICTION {
        return Ok(None);
    }
    let settings =
        Settings { tolerance: MODEL_TOLERANCE.max(settings.tolerance), ..Settings::clone(settings) };
    // In the eigenbasis, which Newton's method works in anyhow.
    let solution = spectral::solve_in_eigenbasis(&model, &settings.check()?, &mut Poll(clock))?;
    // Its duals are residuals, and tell the predictions.
    let answer = |(o, residual): (usize, &f64)| {
        let y = obs.label(o);
        let z = gain * (y - residual / model.gamma(o));
        let (left, right) = loss.slope(y, z);
        -0.5 * problem.gamma(o) * (left + right)
    };
    let kappa = solution.kappa.iter().enumerate().map(answer).collect();
    Ok(Some(start::along(problem, start::warm(problem, kappa), &mut Interrupt::never())?))
}

/// The same problem with losses whose conjugates are quadratic, so that coordinate steps are cheap; `None` if a loss has
/// such a conjugate already.
fn quadratic_surrogate(problem: &Problem<'_>) -> Option<ProblemSpec> {
    let surrogate = |task: usize| match problem.loss(task) {
        loss if loss.has_quadratic_conjugate() => None,
        loss if loss.is_classification() => Some(LossKind::SquaredHinge),
        _ => Some(LossKind::Squared),
    };
    let losses: Option<Vec<_>> = (0..problem.observations().n_tasks()).map(surrogate).collect();
    losses.map(|losses| ProblemSpec { loss: Losses::PerTask(losses), ..problem.spec().clone() })
}

impl Solver for Newton {
    fn name(&self) -> &'static str {
        "newton"
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        needs_entries(problem)?;
        let t = problem.observations().n_tasks();
        match (0..t).find(|&task| !problem.loss(task).is_smooth()) {
            Some(task) => Err(format!("the {} loss is not smooth", problem.loss(task).name())),
            None => Ok(()),
        }
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        memory(problem)
    }

    fn solve(
        &self,
        problem: &Problem<'_>,
        settings: &CheckedSettings,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        if let Err(why) = self.suits(problem) {
            return Err(Error::Unsuitable { solver: self.name(), why });
        }
        start.passes(self.name(), settings.seed)?;
        let start = start.kappa(problem)?;
        let mut clock = Clock::new(self.name(), settings, observer);
        let finish = |(kappa, v, graded), status, clock: Clock<'_>| {
            let (passes, trace) = (clock.passes, clock.trace);
            Ok(Solution { kappa, v, graded, status, solver: "newton", passes, trace, reason: None })
        };
        let ((kappa, graded), ended) = begin(problem, settings, start, &mut clock)?;
        if let Some(status) = ended {
            return finish((kappa, None, graded), status, clock);
        }
        problem.data().pool().install(|| {
            let design = problem.data().design(&mut Interrupt::never())?.1;
            let model = Smoothed::new(problem, design)?;
            let first = design.backward(&design.gather(&kappa), problem.data().threads());
            let (mut point, mut descent) = (shortened(&model, VPoint::at(&model, first)), Descent::default());
            let mut best = (kappa, None, graded);
            let mut certified_at = f64::INFINITY;
            loop {
                let residual = model.residual(&point);
                let estimate = model.mismatch(&point, &residual) / point.psi.abs();
                // A certificate for every decade, and where it should be the last.
                if clock.is_over() || estimate <= settings.tolerance.max(0.1 * certified_at) {
                    certified_at = estimate;
                    if let Some(status) = certify(&model, &point, settings.tolerance, &mut best, &mut clock)?
                    {
                        return finish(best, status, clock);
                    }
                }
                clock.passes += 1;
                // Tight enough to square the gap, but no tighter than what is left to do.
                let wanted = 0.3 * (settings.tolerance / estimate).sqrt();
                let tolerance = estimate.sqrt().max(wanted).clamp(1e-4, 0.1);
                let mut stop = || clock.must_stop().is_some();
                match descent.step(&model, &point, &residual, tolerance, &mut stop) {
                    Some(next) => point = next,
                    None if clock.must_stop().is_some() => {}
                    None => {
                        let status = certify(&model, &point, settings.tolerance, &mut best, &mut clock)?;
                        return finish(best, status.unwrap_or(Status::Stalled), clock);
                    }
                }
            }
        })
    }
}

/// The point on the ray of a V where psi is least, about: duals that are good for their own sake may predict far too much. Weights are halved
/// as long as that helps.
fn shortened(model: &Smoothed<'_>, mut point: VPoint) -> VPoint {
    let Some(degree) = model.output().degree() else { return point };
    let half = 0.5f64.powf(1.0 / f64::from(2 * degree - 1));
    for _ in 0..MOST_HALVINGS {
        let mut v = point.v.clone();
        v.as_mut_slice().iter_mut().for_each(|x| *x *= half);
        let shorter = VPoint::at(model, v);
        if shorter.psi >= point.psi {
            break;
        }
        point = shorter;
    }
    point
}

const MOST_HALVINGS: usize = 12;

/// Duals, coordinates of the primal point if it is not theirs, and their certificate.
type Certified = (Vec<f64>, Option<Matrix>, Graded);

/// Certifies a point and the duals that answer it, and keeps the better; the status with which to end, if it is time.
fn certify(
    model: &Smoothed<'_>,
    point: &VPoint,
    tolerance: f64,
    best: &mut Certified,
    clock: &mut Clock<'_>,
) -> Result<Option<Status>> {
    let problem = model.problem;
    let kappa = model.design.scatter(&point.side.kappa, problem.observations().len());
    let basis = problem.data().eigenbasis(&mut Interrupt::never())?;
    let graded = finish::certify(problem, kappa, (basis, &point.v), tolerance)?;
    let status = clock.report(&graded.2.certificate, None);
    if graded.2.certificate.gap < best.2.certificate.gap {
        *best = graded;
    }
    Ok(status)
}
