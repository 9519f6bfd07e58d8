//! Primal-dual interior point method, for every loss with a quadratic conjugate.
//!
//! [`duals`] splits the duals into variables with bounds, which is all the method knows of a loss. [`path`]
//! follows Mehrotra's predictor and corrector towards slacks and multipliers whose products vanish. Each step
//! ([`step`]) takes one factorisation ([`Direct`](super::newton_system::direct::Direct)) with one unknown per
//! feature or observation of each task, whichever are fewer. Three things make it work equally well for weak
//! and strong regularisation:
//!
//! - V is a separate unknown that becomes `X'kappa` during the iteration. So it starts at a moderate size in
//!   the middle of all bounds, and stays accurate where it is a small difference of large duals.
//! - The regulariser is not linearised within a step: [`corrector`] finds a point at which losses and the
//!   true regulariser agree.
//! - The sum of the duals is solved for, not added up from parts that cancel (`solve_pull` and `reconcile`).

mod bounded_dual;
mod corrector;
mod duals;
mod path;
mod step;

use super::{Algorithm, SolverOutcome, SolverRun, needs_entries, start};
use crate::design::Design;
use crate::{Problem, Result};
use path::CentralPath;
use step::InteriorProblem;

/// Interior point method with direct solves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InteriorPoint;

/// The largest factorisation allowed; its matrix has 8 n^2 bytes.
const MAX_UNKNOWNS: usize = 6000;

/// Unknowns of the direct system, at most.
fn unknowns(problem: &Problem<'_>) -> usize {
    let rank = rank(problem);
    problem.observations().task_counts().iter().map(|&n| n.min(rank)).sum()
}

/// Rank of the inputs, at most.
fn rank(problem: &Problem<'_>) -> usize {
    let backend = problem.data().backend();
    backend.dim().min(backend.n_inputs())
}

impl Algorithm for InteriorPoint {
    fn name(&self) -> &'static str {
        "interior-point"
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        needs_entries(problem)?;
        let obs = problem.observations();
        for task in 0..obs.n_tasks() {
            let loss = problem.loss(task);
            if !loss.has_quadratic_conjugate() {
                return Err(format!("the conjugate of the {} loss is not quadratic", loss.name()));
            }
        }
        let unknowns = unknowns(problem);
        if unknowns > MAX_UNKNOWNS {
            return Err(format!("it would factorise systems of {unknowns} unknowns, at most {MAX_UNKNOWNS}"));
        }
        Ok(())
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        let (data, obs) = (problem.data(), problem.observations());
        let (n, rank) = (unknowns(problem) as u64, rank(problem) as u64);
        // The system, of which there may be two, the columns of L twice over, two dozen matrices of the size
        // of V, and for each entry two variables and a dozen numbers.
        let point = rank * obs.n_tasks() as u64;
        let entry = 2 * size_of::<bounded_dual::BoundedDual>() as u64 + 8 * 12;
        let system = 8 * (2 * n * n + 2 * n * rank + 24 * point) + entry * Design::size(obs).1 as u64;
        data.backend()
            .spectrum_bytes()
            .saturating_add(Design::bytes(data.backend(), obs))
            .saturating_add(system)
    }

    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        if let Some(outcome) = run.check_given()? {
            return Ok(outcome);
        }
        let problem = run.problem;
        let ready = run.clock.unless_stopped(|interrupt| {
            let design = problem.data().design(problem.is_centred(), interrupt)?.1;
            Ok((design, start::cold(problem, interrupt)?))
        })?;
        let Some((design, cold)) = ready else { return run.give_up() };
        problem.data().pool().install(|| {
            let (output, threads) = (problem.entrywise()?, problem.data().threads());
            let rho = problem.intercept_costs();
            let model = InteriorProblem { design, output, rho, threads };
            CentralPath::new(model, run).follow(&cold)
        })
    }
}
