//! Chooses solvers by cost, switches between them and says why.

mod cost;
mod switch;

use super::{
    Admm, CheckedSettings, InteriorPoint, Newton, Proximal, Sdca, Snapshot, Solution, SolveRequest, Solver,
    Spectral, Start, Status, badness, newton,
};
use crate::{Observer, Problem, Result};
use cost::Cost;
use std::time::Instant;
use switch::{Candidates, NONE_BEFORE, Probation, SwitchRule};

/// Chooses a solver. [`Admm`] for penalties of Theta as a whole, [`Spectral`] for the squared loss on shared
/// inputs. Otherwise a few passes of [`Sdca`], which are often enough; if it is slow, [`Newton`] goes on for
/// smooth losses, [`InteriorPoint`] for others while its system is small, and [`Proximal`] beyond that. Each
/// only if its memory is within the budget. A solver that stalls hands over to [`InteriorPoint`] if it is
/// small, then to [`Sdca`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Auto;

const ADMM: Admm = Admm::new(&Auto);

/// Systems with at most this many unknowns are always factorised where losses have kinks.
const SMALL_SYSTEM_UNKNOWNS: usize = 2500;
/// Losses with kinks slow coordinate ascent down by this factor near the solution.
const KINK_SLOWDOWN: f64 = 3.0;

/// Coordinate ascent needs at least this many passes.
const MIN_SDCA_PASSES: f64 = 6.0;

/// The first solver, the one that may take over from it, and why.
#[derive(Debug)]
struct SolverPlan {
    first: Box<dyn Solver>,
    second: Option<(Box<dyn Solver>, Candidates)>,
    /// Whether the second one has to give up if it is slow.
    probation: bool,
    /// Whether to end with the first one even if it stalls.
    last: bool,
    reason: String,
}

impl SolverPlan {
    /// One solver, and others only if it stalls.
    fn only(first: Box<dyn Solver>, reason: String) -> Self {
        SolverPlan { first, second: None, probation: false, last: false, reason }
    }
}

impl Auto {
    fn plan(&self, problem: &Problem<'_>, tolerance: f64) -> SolverPlan {
        if ADMM.suits(problem).is_ok() {
            let reason = "Theta is penalised as a whole: losses and penalty in turns".into();
            return SolverPlan { last: true, ..SolverPlan::only(Box::new(ADMM), reason) };
        }
        let budget = problem.data().options().memory;
        let spectral = Spectral.suits(problem);
        if spectral.is_ok() && Spectral.memory(problem) <= budget {
            let reason = format!("squared loss on shared inputs: {}", Spectral::way(problem));
            return SolverPlan::only(Box::new(Spectral), reason);
        }
        if newton::suits_device(problem) {
            let reason = "products with all inputs are fast on the device".to_owned();
            let solver: Box<dyn Solver> = match Newton.suits(problem).is_ok() && !bounded_duals(problem) {
                true => Box::new(Newton),
                false => Box::new(Proximal),
            };
            return SolverPlan::only(solver, reason);
        }
        let cost = Cost::new(problem);
        let smooth = Newton.suits(problem).is_ok();
        let small = cost.unknowns <= SMALL_SYSTEM_UNKNOWNS && InteriorPoint.suits(problem).is_ok();
        let bounded = bounded_duals(problem);
        let (second, other): (Box<dyn Solver>, f64) = match smooth {
            // Each round has a certificate, and its Newton steps are shorter.
            true if bounded => (Box::new(Proximal), 2.0 * cost.newton()),
            true => (Box::new(Newton), cost.newton()),
            false if small && cost.interior_point() < cost.proximal() => {
                (Box::new(InteriorPoint), cost.interior_point())
            }
            false => (Box::new(Proximal), cost.proximal()),
        };
        // If duals reach their bounds and regularisation is weak, proximal steps can become many.
        let probation = small && second.name() == Proximal.name();
        let first = Box::new(Sdca::default());
        let needed = second.memory(problem);
        if needed > budget {
            let reason = format!(
                "{} would need {needed} bytes, the budget is {budget}: coordinate ascent",
                second.name()
            );
            return SolverPlan::only(first, reason);
        }
        if Newton.suits(problem).is_ok() && !bounded && other <= MIN_SDCA_PASSES * cost.sdca_pass() {
            let reason =
                "smooth losses, and Newton's method costs no more than a few passes of coordinate ascent"
                    .into();
            return SolverPlan::only(second, reason);
        }
        let slows_down = if smooth { 1.0 } else { KINK_SLOWDOWN };
        let candidates = Candidates { tolerance, pass: cost.sdca_pass(), other, slows_down };
        let reason = format!("coordinate ascent to begin with, then {} if it is slow", second.name());
        SolverPlan { first, second: Some((second, candidates)), probation, last: false, reason }
    }
}

/// Whether some duals have bounds that a solution may reach: then the curvature of the loss jumps, and so do
/// plain Newton steps where regularisation is weak.
fn bounded_duals(problem: &Problem<'_>) -> bool {
    (0..problem.observations().n_tasks()).any(|task| problem.loss(task).has_linear_tail())
}

/// Both solvers' solutions as one: the better point, all certificates, the passes of both.
fn joined(earlier: Solution, mut later: Solution, seconds: f64) -> Solution {
    later.trace.iter_mut().for_each(|point| point.seconds += seconds);
    let trace = [&earlier.trace[..], &later.trace[..]].concat();
    let (status, passes) = (later.status, later.passes);
    let is_better = badness(later.certificate()) <= badness(earlier.certificate());
    let better = if is_better { later } else { earlier };
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
        let SolverPlan { first, second, .. } = self.plan(problem, 1e-3);
        first.memory(problem).max(second.map_or(0, |(second, _)| second.memory(problem)))
    }

    fn solve(&self, request: SolveRequest<'_, '_>, observer: &mut dyn Observer) -> Result<Solution> {
        let SolveRequest { problem, settings, start } = request;
        let began = Instant::now();
        let plan = self.plan(problem, settings.tolerance);
        let mut relay = Relay { problem, settings, observer, began, reason: String::new() };
        let solution = relay.run(plan, start)?;
        Ok(Solution { reason: Some(relay.reason), ..solution })
    }
}

/// One fit by several solvers, each from the best duals of those before.
struct Relay<'a> {
    problem: &'a Problem<'a>,
    settings: &'a CheckedSettings,
    observer: &'a mut dyn Observer,
    began: Instant,
    /// Why these solvers, in words.
    reason: String,
}

impl Relay<'_> {
    fn run(&mut self, mut plan: SolverPlan, start: Start<'_>) -> Result<Solution> {
        let (mut previous, mut resumed) = (NONE_BEFORE, "");
        if let Start::Resume(Snapshot { previous: before, solver, .. }) = start
            && solver == Sdca::default().name()
            && !plan.last
        {
            plan.first = Box::new(Sdca::default());
            plan.reason = "coordinate ascent, as before it was interrupted".into();
            resumed = "as before it was interrupted, ";
            match before {
                Some(before) => previous = *before,
                // Then coordinate ascent was the last solver.
                None => (plan.second, plan.last) = (None, true),
            }
        }
        let SolverPlan { first, second, probation, last, reason } = plan;
        self.observer.note(&format!("{}: {reason}", first.name()));
        self.reason = reason;
        let Some((second, candidates)) = second else {
            let solution = first.solve(
                SolveRequest { problem: self.problem, settings: self.settings, start },
                self.observer,
            )?;
            return if last { Ok(solution) } else { self.after_stall(solution) };
        };
        let mut rule = SwitchRule::new(self.observer, candidates, previous);
        let solution =
            first.solve(SolveRequest { problem: self.problem, settings: self.settings, start }, &mut rule)?;
        let Some(switch) = rule.ended else { return Ok(solution) };
        self.reason = format!("{resumed}{switch}, so {}", second.name());
        let solution = self.hand_over(solution, &*second, probation)?;
        self.after_stall(solution)
    }

    /// Runs the next solver from the duals of the last one; both results as one.
    fn hand_over(&mut self, earlier: Solution, next: &dyn Solver, probation: bool) -> Result<Solution> {
        self.observer.note(&self.reason);
        let elapsed = self.began.elapsed();
        let alpha: Vec<f64> = earlier.kappa.iter().map(|k| k * self.problem.unit()).collect();
        let (settings, start) = (self.settings.after(elapsed, earlier.passes), Start::Warm(&alpha));
        let request = SolveRequest { problem: self.problem, settings: &settings, start };
        let (later, failed) = if probation {
            let mut on_probation = Probation::new(self.observer, earlier.passes);
            let later = next.solve(request, &mut on_probation)?;
            (later, on_probation.failed)
        } else {
            (next.solve(request, self.observer)?, false)
        };
        let mut solution = joined(earlier, later, elapsed.as_secs_f64());
        if failed && solution.status == Status::Stopped {
            solution.status = Status::Stalled;
        }
        Ok(solution)
    }

    /// Hands a stalled solution over to the solvers that may still improve it.
    fn after_stall(&mut self, mut solution: Solution) -> Result<Solution> {
        let problem = self.problem;
        let small = Cost::new(problem).unknowns <= SMALL_SYSTEM_UNKNOWNS;
        let fits = InteriorPoint.memory(problem) <= problem.data().options().memory;
        let interior: Option<Box<dyn Solver>> =
            (small && fits && InteriorPoint.suits(problem).is_ok()).then(|| Box::new(InteriorPoint) as _);
        for next in interior.into_iter().chain([Box::new(Sdca::default()) as Box<dyn Solver>]) {
            let gap = solution.certificate().rel_gap();
            if gap <= self.settings.tolerance {
                solution.status = Status::Certified;
            }
            if solution.status != Status::Stalled || solution.solver == next.name() {
                break;
            }
            let (ended, next_name) = (solution.solver, next.name());
            self.reason = format!("{}; {ended} ended at a gap of {gap:.1e}, so {next_name}", self.reason);
            solution = self.hand_over(solution, &*next, false)?;
        }
        Ok(solution)
    }
}
