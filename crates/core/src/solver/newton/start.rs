//! Where Newton's method and proximal steps begin: a guess from a cheaper problem, certified.

use super::start_independent;
use crate::backend::Interrupt;
use crate::problem::Losses;
use crate::solver::spectral::{self, InEigenbasis};
use crate::solver::{
    Clock, Incumbent, Poll, Settings, SolveRequest, Solver, SolverRun, Start, Status, sdca, start,
};
use crate::{LossKind, Problem, ProblemSpec, Result};

/// Passes of coordinate ascent before the first step from a cold start, where all tasks look alike and Theta
/// is nearly singular.
const HEAD_START_PASSES: usize = 3;

/// The first point, or the last one if a status comes with it. Without given duals, a guess replaces the cold
/// start.
pub(in crate::solver) fn begin(run: &mut SolverRun<'_>) -> Result<(Incumbent, Option<Status>)> {
    let problem = run.problem;
    let (mut point, _) = run.first_point()?;
    let mut status = run.report(&point);
    if run.given.is_none() && status.is_none() {
        let kappa = guess(run, point)?;
        point = Incumbent::induced(problem, kappa, &mut Interrupt::never())?;
        status = run.report(&point);
    }
    if status.is_none()
        && run
            .clock
            .unless_stopped(|interrupt| problem.data().design(problem.is_centred(), interrupt).map(|_| ()))?
            .is_none()
    {
        status = run.clock.must_stop();
    }
    Ok((point, status))
}

/// The same where the problem is solved on a device: given duals are certified, and nothing else is done yet.
pub(in crate::solver) fn begin_on_device(
    run: &mut SolverRun<'_>,
) -> Result<(Option<Incumbent>, Option<Status>)> {
    let Some(kappa) = run.given.clone() else { return Ok((None, None)) };
    let point = Incumbent::induced(run.problem, kappa, &mut Interrupt::never())?;
    let status = run.report(&point);
    Ok((Some(point), status))
}

/// Duals near the solution: those of independent tasks, of a quadratic model, or after some coordinate
/// ascent.
fn guess(run: &mut SolverRun<'_>, cold: Incumbent) -> Result<Vec<f64>> {
    let (problem, seed, never) = (run.problem, run.settings.seed, &mut Interrupt::never());
    if let Some(kappa) = independent_start(problem, &mut run.clock)? {
        return Ok(kappa);
    }
    if let Some(kappa) = quadratic_start(run)? {
        return Ok(kappa);
    }
    let Some(spec) = quadratic_surrogate(problem) else {
        return sdca::head_start(problem, cold, HEAD_START_PASSES, seed, &mut run.clock);
    };
    let cheaper = Problem::new(problem.data(), spec)?;
    let kappa = start::cold(&cheaper, never)?;
    let first = Incumbent::induced(&cheaper, kappa, never)?;
    let kappa = sdca::head_start(&cheaper, first, 1, seed, &mut run.clock)?;
    start::along(problem, start::warm(problem, kappa), never)
}

/// [`start_independent`], once there is a design.
fn independent_start(problem: &Problem<'_>, clock: &mut Clock<'_>) -> Result<Option<Vec<f64>>> {
    let data = problem.data();
    let Some(design) =
        clock.unless_stopped(|interrupt| Ok(data.design(problem.is_centred(), interrupt)?.1))?
    else {
        return Ok(None);
    };
    data.pool().install(|| start_independent::start(problem, design))
}

/// Typical size of predictions beyond which parabolas at 0 are a poor model of the losses.
const MAX_TYPICAL_PREDICTION: f64 = 1.75;
/// Accuracy of the quadratic model.
pub(super) const MODEL_TOLERANCE: f64 = 1e-2;

/// Losses replaced by their parabolas at prediction 0, `L(z) ~ a (z - b y)^2 / 2` with `a = L''(0)`, `b = |L'(0)| / a`:
/// a squared loss. Weights `W = b W'` have `b^p` times the regularisation of W', where `p = 2n / (2n - 1)` for
/// `phi(s z) = s^n phi(z)`. So W' solves the problem of the squared loss with weight `a b^(2 - p) C`.
pub(super) struct QuadraticModel {
    pub(super) spec: ProblemSpec,
    /// b.
    pub(super) gain: f64,
}

impl QuadraticModel {
    /// With the parabola of the only loss if both labels have the same one, mirrored; else with `(z - y)^2 / 2`.
    pub(super) fn of(problem: &Problem<'_>) -> Result<Self> {
        Ok(match Self::of_parabola(problem)? {
            Some(model) => model,
            None => QuadraticModel {
                spec: ProblemSpec { loss: LossKind::Squared.into(), ..problem.spec().clone() },
                gain: 1.0,
            },
        })
    }

    fn of_parabola(problem: &Problem<'_>) -> Result<Option<Self>> {
        let (Some(loss), Some(degree)) = (problem.only_loss(), problem.entrywise()?.degree()) else {
            return Ok(None);
        };
        if !(loss.is_classification() && loss.is_smooth() && problem.observations().offsets().is_none()) {
            return Ok(None);
        }
        let (curvature, slope) = (loss.curvature(1.0, 0.0), loss.slope(1.0, 0.0).0);
        if !(curvature > 0.0 && slope < 0.0) {
            return Ok(None);
        }
        let (n, gain) = (f64::from(degree), -slope / curvature);
        let c = problem.spec().c * curvature * gain.powf(2.0 - 2.0 * n / (2.0 * n - 1.0));
        let spec = ProblemSpec { loss: LossKind::Squared.into(), c, ..problem.spec().clone() };
        Ok(Some(QuadraticModel { spec, gain }))
    }
}

/// Duals at the solution for losses replaced by their parabolas, on shared inputs: this needs only statistics of the
/// data. `None` where one of these is missing.
fn quadratic_start(run: &mut SolverRun<'_>) -> Result<Option<Vec<f64>>> {
    let (problem, settings) = (run.problem, run.settings);
    let obs = problem.observations();
    let (Some(loss), Some(QuadraticModel { spec, gain })) =
        (problem.only_loss(), QuadraticModel::of_parabola(problem)?)
    else {
        return Ok(None);
    };
    let model = Problem::new(problem.data(), spec)?;
    if InEigenbasis.suits(&model).is_err() || InEigenbasis.memory(&model) > problem.data().options().memory {
        return Ok(None);
    }
    let typical = run.clock.unless_stopped(|interrupt| spectral::typical_prediction(&model, interrupt))?;
    let Some(typical) = typical else { return Ok(None) };
    if gain * typical > MAX_TYPICAL_PREDICTION {
        return Ok(None);
    }
    let settings =
        Settings { tolerance: MODEL_TOLERANCE.max(settings.tolerance), ..Settings::clone(settings) };
    let request = SolveRequest { problem: &model, settings: &settings.check()?, start: Start::Cold };
    // In the eigenbasis, which Newton's method needs in any case.
    let poll = &mut Poll(&mut run.clock);
    let solution = InEigenbasis.solve(request, poll)?;
    // Its duals are residuals, from which the predictions follow.
    let answer = |(o, residual): (usize, &f64)| {
        let y = obs.label(o);
        let z = gain * (y - residual / model.gamma(o));
        let (left, right) = loss.slope(y, z);
        -0.5 * problem.gamma(o) * (left + right)
    };
    let kappa = solution.kappa.iter().enumerate().map(answer).collect();
    Ok(Some(start::along(problem, start::warm(problem, kappa), &mut Interrupt::never())?))
}

/// The same problem with losses whose conjugates are quadratic, so that coordinate steps are cheap; `None` if
/// a loss has such a conjugate already.
fn quadratic_surrogate(problem: &Problem<'_>) -> Option<ProblemSpec> {
    let surrogate = |task: usize| match problem.loss(task) {
        loss if loss.has_quadratic_conjugate() => None,
        loss if loss.is_classification() => Some(LossKind::SquaredHinge),
        _ => Some(LossKind::Squared),
    };
    let losses: Option<Vec<_>> = (0..problem.observations().n_tasks()).map(surrogate).collect();
    losses.map(|losses| ProblemSpec { loss: Losses::PerTask(losses), ..problem.spec().clone() })
}
