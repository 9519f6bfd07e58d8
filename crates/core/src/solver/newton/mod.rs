//! Newton's method for smooth losses, on any inputs that have an eigenbasis.

mod descent;
mod generic;
mod model;
mod on_device;
mod start;
mod start_independent;

pub(super) use descent::Descent;
pub(super) use generic::{DualModel, NewtonModel, mismatch, scaled_best, shortened};
pub(super) use model::Smoothed;
pub(super) use on_device::{DeviceModel, suits as suits_device};
pub(super) use start::{begin, begin_on_device};

use super::newton_system::{MatOf, PointOf, VPoint, linear};
use super::{Algorithm, Incumbent, SolverOutcome, SolverRun, Status, finish, needs_entries};
use crate::backend::Interrupt;
use crate::design::Design;
use crate::{Problem, Result};

/// Newton's method in V with a curved line search; steps by factorisation or by preconditioned iteration.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Newton;

/// Bytes that solvers in V need: eigenbasis, rotated inputs, a dozen vectors of entries, and Krylov vectors
/// or a factor.
pub(super) fn memory(problem: &Problem<'_>) -> u64 {
    let (backend, obs) = (problem.data().backend(), problem.observations());
    if suits_device(problem) {
        // What a data set needs on a device is checked when it is made.
        return 8 * 4 * obs.len() as u64;
    }
    let point = (backend.dim().min(backend.n_inputs()) * obs.n_tasks()) as u64;
    let krylov = 8 * linear::MAX_STEPS as u64 * point;
    let factor = 8 * (linear::MAX_UNKNOWNS as u64).min(point).pow(2);
    backend.spectrum_bytes() + Design::bytes(backend, obs) + 8 * 12 * obs.len() as u64 + krylov.max(factor)
}

impl Algorithm for Newton {
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

    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        let problem = run.problem;
        if let Some(mut model) = DeviceModel::of(problem)? {
            let (best, ended) = start::begin_on_device(run)?;
            if let (Some(best), Some(status)) = (&best, ended) {
                return Ok(best.clone().ended(status));
            }
            let outcome = problem.data().pool().install(|| {
                let (first, _) = model.first(run)?;
                descend(run, &model, first, best)
            })?;
            let unknowns = problem.data().backend().dim() * problem.observations().n_tasks();
            if outcome.status != Status::Stalled || unknowns > linear::MAX_UNKNOWNS {
                return Ok(outcome);
            }
            // Systems of this size are factorised in memory, which iterations on the device did not replace.
        }
        let (best, ended) = start::begin(run)?;
        if let Some(status) = ended {
            return Ok(best.ended(status));
        }
        problem.data().pool().install(|| {
            let design = problem.data().design(problem.is_centred(), &mut Interrupt::never())?;
            let model = Smoothed::new(problem, design)?;
            let (first, _) = model.first(&best.kappa);
            descend(run, &model, first, Some(best))
        })
    }
}

/// Newton steps from a first V. `best` is the best point so far.
fn descend<M: DualModel>(
    run: &mut SolverRun<'_>,
    model: &M,
    first: MatOf<M>,
    mut best: Option<Incumbent>,
) -> Result<SolverOutcome> {
    let tolerance = run.settings.tolerance;
    let (mut point, mut descent) = (shortened(model, VPoint::at(model, first)), Descent::default());
    let mut certified_at = f64::INFINITY;
    loop {
        let residual = model.residual(&point);
        let estimate = mismatch(model, &point, &residual) / point.psi.abs();
        // A certificate for every decade, and when it should be the last.
        if run.clock.is_over() || estimate <= tolerance.max(0.1 * certified_at) {
            certified_at = estimate;
            let (point, status) = certify(model, &point, best.take(), run)?;
            match status {
                Some(status) => return Ok(point.ended(status)),
                None => best = Some(point),
            }
        }
        run.clock.passes += 1;
        // Tight enough to square the gap, but no tighter than the tolerance needs.
        let wanted = 0.3 * (tolerance / estimate).sqrt();
        let accuracy = estimate.sqrt().max(wanted).clamp(1e-4, 0.1);
        let mut stop = || run.clock.must_stop().is_some();
        match descent.step(model, &point, &residual, accuracy, &mut stop) {
            Some(next) => point = next,
            None if run.clock.must_stop().is_some() => {}
            None => {
                let (point, status) = certify(model, &point, best, run)?;
                return Ok(point.ended(status.unwrap_or(Status::Stalled)));
            }
        }
    }
}

/// Certifies a point and the duals of its losses; the better of this and the best so far, and a status if the solver
/// must end now.
fn certify<M: DualModel>(
    model: &M,
    point: &PointOf<M>,
    best: Option<Incumbent>,
    run: &mut SolverRun<'_>,
) -> Result<(Incumbent, Option<Status>)> {
    let kappa = model.in_order(&model.duals(point))?;
    let v = &point.v;
    let coordinates = || model.coordinates(v);
    let certified = finish::certify(model.problem(), kappa, coordinates, run.settings.tolerance)?;
    let status = run.report(&certified);
    Ok(match best {
        Some(mut best) => {
            best.replace_if_better(certified);
            (best, status)
        }
        None => (certified, status),
    })
}
