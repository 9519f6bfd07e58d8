//! The solver that fits the problem.

mod cost;
mod switch;

use super::{
    Admm, CheckedSettings, InteriorPoint, Newton, Proximal, Sdca, Snapshot, Solution, Solver, Spectral,
    Start, Status,
};
use crate::{Observer, Problem, Result};
use cost::Cost;
use std::time::Instant;
use switch::{Candidates, NONE_BEFORE, Probation, SwitchRule};

/// Chooses. [`Spectral`] for the squared loss on shared inputs. Else a few passes of [`Sdca`], which may be all it takes; where
/// their pace says otherwise, [`Newton`] goes on from there for smooth losses, [`InteriorPoint`] for others while its system is
/// small, and [`Proximal`] beyond that. Each only if its memory is within the budget. A solver that stalls hands over to [`Sdca`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Auto;

/// Unknowns of a system that is always factorised where losses have kinks.
const SMALL_SYSTEM_UNKNOWNS: usize = 2500;
/// Losses with kinks slow coordinate ascent down as it comes near the solution.
const KINK_SLOWDOWN: f64 = 3.0;

/// Coordinate ascent takes at least that many passes.
const MIN_SDCA_PASSES: f64 = 6.0;

/// The solver to begin with, the one that may take over from it, and why.
#[derive(Debug)]
struct SolverPlan {
    first: Box<dyn Solver>,
    second: Option<(Box<dyn Solver>, Candidates)>,
    /// Whether the second one is to give up after some steps.
    probation: bool,
    reason: String,
}

impl Auto {
    fn plan(&self, problem: &Problem<'_>, tolerance: f64) -> SolverPlan {
        let budget = problem.data().options().memory;
        let spectral = Spectral.suits(problem);
        if spectral.is_ok() && Spectral.memory(problem) <= budget {
            let reason = "squared loss on shared inputs: solved in the eigenbasis of the inputs".into();
            return SolverPlan { first: Box::new(Spectral), second: None, probation: false, reason };
        }
        let cost = Cost::new(problem);
        let smooth = Newton.suits(problem).is_ok();
        let small = cost.unknowns <= SMALL_SYSTEM_UNKNOWNS && InteriorPoint.suits(problem).is_ok();
        let bounded = bounded_duals(problem);
        let (second, other): (Box<dyn Solver>, f64) = match smooth {
            // Rounds have certificates of their own, and their Newton steps go less far.
            true if bounded => (Box::new(Proximal), 2.0 * cost.newton()),
            true => (Box::new(Newton), cost.newton()),
            false if small && cost.interior_point() < cost.proximal() => {
                (Box::new(InteriorPoint), cost.interior_point())
            }
            false => (Box::new(Proximal), cost.proximal()),
        };
        // Where duals reach their bounds and regularisation is weak, proximal steps may become many.
        let probation = small && second.name() == Proximal.name();
        let first = Box::new(Sdca::default());
        let needed = second.memory(problem);
        if needed > budget {
            let reason = format!(
                "{} would need {needed} bytes, the budget is {budget}: coordinate ascent",
                second.name()
            );
            return SolverPlan { first, second: None, probation, reason };
        }
        if Newton.suits(problem).is_ok() && !bounded && other <= MIN_SDCA_PASSES * cost.sdca_pass() {
            let reason =
                "smooth losses, and Newton's method costs no more than a few passes of coordinate ascent"
                    .into();
            return SolverPlan { first: second, second: None, probation, reason };
        }
        let slows_down = if smooth { 1.0 } else { KINK_SLOWDOWN };
        let candidates = Candidates { tolerance, pass: cost.sdca_pass(), other, slows_down };
        let reason = format!("coordinate ascent to begin with, then {} if it is slow", second.name());
        SolverPlan { first, second: Some((second, candidates)), probation, reason }
    }
}

/// Whether some duals have bounds that a solution may reach: then the curvature of the loss jumps, and plain Newton steps with it
/// where regularisation is weak.
fn bounded_duals(problem: &Problem<'_>) -> bool {
    (0..problem.observations().n_tasks()).any(|task| problem.loss(task).has_linear_tail())
}

/// Gap, then primal value: gaps may be infinite while the model is still usable.
fn badness(solution: &Solution) -> (f64, f64) {
    (solution.certificate().gap, solution.certificate().primal)
}

/// Both solvers' solutions as one: the better point, all certificates on the way, the passes of both.
fn joined(earlier: Solution, mut later: Solution, seconds: f64) -> Solution {
    later.trace.iter_mut().for_each(|point| point.seconds += seconds);
    let trace = [&earlier.trace[..], &later.trace[..]].concat();
    let (status, passes) = (later.status, later.passes);
    let better = if badness(&later) <= badness(&earlier) { later } else { earlier };
    let solver = better.solver;
    Solution { trace, status, passes, solver, ..better }
}

impl Solver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn suits(&self, _problem: &Problem<'_>) -> std::result::Result<(), String> {
        Ok(())
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        if Admm.suits(problem).is_ok() {
            return Admm.memory(problem);
        }
        let SolverPlan { first, second, .. } = self.plan(problem, 1e-3);
        first.memory(problem).max(second.map_or(0, |(second, _)| second.memory(problem)))
    }

    fn solve(
        &self,
        problem: &Problem<'_>,
        settings: &CheckedSettings,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let began = Instant::now();
        if Admm.suits(problem).is_ok() {
            let reason = "Theta is penalised as a whole: losses and penalty in turns".to_string();
            observer.note(&format!("{}: {reason}", Admm.name()));
            let solution = Admm.solve(problem, settings, start, observer)?;
            return Ok(Solution { reason: Some(reason), ..solution });
        }
        let mut plan = self.plan(problem, settings.tolerance);
        let (mut previous, mut last_resort, mut resumed) = (NONE_BEFORE, false, "");
        if let Start::Resume(Snapshot { previous: before, solver, .. }) = start
            && solver == Sdca::default().name()
        {
            plan.first = Box::new(Sdca::default());
            plan.reason = "coordinate ascent, as before it was interrupted".into();
            resumed = "as before it was interrupted, ";
            match before {
                Some(before) => previous = *before,
                None => last_resort = true,
            }
        }
        let SolverPlan { first, second, probation, mut reason } = plan;
        observer.note(&format!("{}: {reason}", first.name()));
        if last_resort {
            let solution = first.solve(problem, settings, start, observer)?;
            return Ok(Solution { reason: Some(reason), ..solution });
        }
        let Some((second, candidates)) = second else {
            let solution = first.solve(problem, settings, start, observer)?;
            return finish(problem, settings, solution, reason, began, observer);
        };
        let mut rule = SwitchRule::new(observer, candidates, previous);
        let solution = first.solve(problem, settings, start, &mut rule)?;
        let Some(switch) = rule.ended else {
            return Ok(Solution { reason: Some(reason), ..solution });
        };
        reason = format!(
            "{resumed}coordinate ascent was at a gap of {:.1e} after {} passes and {}, so {}",
            switch.gap,
            switch.passes,
            if switch.passes_left.is_finite() {
                format!("seemed to need {:.0} more", switch.passes_left.max(1.0))
            } else {
                "came no closer".into()
            },
            second.name(),
        );
        observer.note(&reason);
        let elapsed = began.elapsed();
        let alpha: Vec<f64> = solution.kappa.iter().map(|k| k * problem.unit()).collect();
        let settings_left = settings.after(elapsed, solution.passes);
        let (later, failed) = if probation {
            let mut on_probation = Probation::new(observer, solution.passes);
            let later = second.solve(problem, &settings_left, Start::Warm(&alpha), &mut on_probation)?;
            (later, on_probation.failed)
        } else {
            (second.solve(problem, &settings_left, Start::Warm(&alpha), observer)?, false)
        };
        let mut solution = joined(solution, later, elapsed.as_secs_f64());
        if failed && solution.status == Status::Stopped {
            solution.status = Status::Stalled;
        }
        finish(problem, settings, solution, reason, began, observer)
    }
}

/// The end; or where the last solver stalled, the next one that may do better, from the best duals.
fn finish(
    problem: &Problem<'_>,
    settings: &CheckedSettings,
    mut solution: Solution,
    mut reason: String,
    began: Instant,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    let small = Cost::new(problem).unknowns <= SMALL_SYSTEM_UNKNOWNS;
    let fits = InteriorPoint.memory(problem) <= problem.data().options().memory;
    let interior: Option<Box<dyn Solver>> =
        (small && fits && InteriorPoint.suits(problem).is_ok()).then(|| Box::new(InteriorPoint) as _);
    for next in interior.into_iter().chain([Box::new(Sdca::default()) as Box<dyn Solver>]) {
        if solution.certificate().rel_gap() <= settings.tolerance {
            solution.status = Status::Certified;
        }
        if solution.status != Status::Stalled || solution.solver == next.name() {
            break;
        }
        let gap = solution.certificate().rel_gap();
        reason = format!("{reason}; {} ended at a gap of {gap:.1e}, so {}", solution.solver, next.name());
        observer.note(&reason);
        let elapsed = began.elapsed();
        let alpha: Vec<f64> = solution.kappa.iter().map(|k| k * problem.unit()).collect();
        let settings_left = settings.after(elapsed, solution.passes);
        let later = next.solve(problem, &settings_left, Start::Warm(&alpha), observer)?;
        solution = joined(solution, later, elapsed.as_secs_f64());
    }
    Ok(Solution { reason: Some(reason), ..solution })
}
