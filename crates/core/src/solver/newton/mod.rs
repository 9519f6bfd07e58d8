//! Newton's method for smooth losses, on any inputs that have an eigenbasis.

mod descent;
mod model;
mod start;
mod start_independent;

pub(super) use descent::Descent;
pub(super) use model::{Smoothed, VPoint};
pub(super) use start::begin;

use super::newton_system::{Smooth, linear};
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
        let (mut best, ended) = start::begin(run)?;
        if let Some(status) = ended {
            return Ok(best.ended(status));
        }
        let (problem, tolerance) = (run.problem, run.settings.tolerance);
        problem.data().pool().install(|| {
            let design = problem.data().design(problem.is_centred(), &mut Interrupt::never())?.1;
            let model = Smoothed::new(problem, design)?;
            let first = design.backward(&design.gather(&best.kappa), problem.data().threads());
            let (mut point, mut descent) = (shortened(&model, VPoint::at(&model, first)), Descent::default());
            let mut certified_at = f64::INFINITY;
            loop {
                let residual = model.residual(&point);
                let estimate = model.mismatch(&point, &residual) / point.psi.abs();
                // A certificate for every decade, and when it should be the last.
                if run.clock.is_over() || estimate <= tolerance.max(0.1 * certified_at) {
                    certified_at = estimate;
                    if let Some(status) = certify(&model, &point, &mut best, run)? {
                        return Ok(best.ended(status));
                    }
                }
                run.clock.passes += 1;
                // Tight enough to square the gap, but no tighter than the tolerance needs.
                let wanted = 0.3 * (tolerance / estimate).sqrt();
                let accuracy = estimate.sqrt().max(wanted).clamp(1e-4, 0.1);
                let mut stop = || run.clock.must_stop().is_some();
                match descent.step(&model, &point, &residual, accuracy, &mut stop) {
                    Some(next) => point = next,
                    None if run.clock.must_stop().is_some() => {}
                    None => {
                        let status = certify(&model, &point, &mut best, run)?;
                        return Ok(best.ended(status.unwrap_or(Status::Stalled)));
                    }
                }
            }
        })
    }
}

/// The point on the ray of a V where psi is about least: the predictions of good duals can be far too large.
/// Weights are halved while psi falls.
fn shortened(model: &Smoothed<'_>, mut point: VPoint) -> VPoint {
    let Some(degree) = model.output().degree() else { return point };
    let half = 0.5f64.powf(1.0 / f64::from(2 * degree - 1));
    for _ in 0..MOST_HALVINGS {
        let mut v = point.v.clone();
        v.scale(half);
        let shorter = VPoint::at(model, v);
        if shorter.psi >= point.psi {
            break;
        }
        point = shorter;
    }
    point
}

const MOST_HALVINGS: usize = 12;

/// Certifies a point and the duals of its losses, and keeps the better ones. Returns a status if the solver
/// must end now.
fn certify(
    model: &Smoothed<'_>,
    point: &VPoint,
    best: &mut Incumbent,
    run: &mut SolverRun<'_>,
) -> Result<Option<Status>> {
    let problem = model.problem;
    let kappa = model.design.scatter(&point.side.kappa, problem.observations().len());
    let basis = problem.data().eigenbasis(problem.is_centred(), &mut Interrupt::never())?;
    let certified = finish::certify_in(problem, kappa, (basis, &point.v), run.settings.tolerance)?;
    let status = run.report(&certified);
    best.replace_if_better(certified);
    Ok(status)
}
