//! The solver that fits the problem.

use super::{CheckedSettings, Sdca, Solution, Solver, Spectral, Start, Status};
use crate::{Observer, Problem, Result};
use std::time::Instant;

/// Chooses: [`Spectral`] for the squared loss on shared inputs if its eigenbasis fits the memory budget, else [`Sdca`], which
/// also steps in where the former stalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Auto;

impl Auto {
    /// The choice, and why.
    pub fn choose(&self, problem: &Problem<'_>) -> (Box<dyn Solver>, String) {
        let (needed, budget) = (Spectral.memory(problem), problem.data().options().memory);
        match Spectral.suits(problem) {
            Ok(()) if needed <= budget => (
                Box::new(Spectral),
                "squared loss on shared inputs: solved in the eigenbasis of the inputs".into(),
            ),
            Ok(()) => (
                Box::new(Sdca::default()),
                format!(
                    "the eigenbasis of the inputs needs {needed} bytes, the budget is {budget}: coordinate ascent"
                ),
            ),
            Err(why) => (Box::new(Sdca::default()), format!("coordinate ascent, since {why}")),
        }
    }
}

/// Gap, then primal value: gaps may be infinite while the model is still usable.
fn badness(solution: &Solution) -> (f64, f64) {
    (solution.certificate().gap, solution.certificate().primal)
}

impl Solver for Auto {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn suits(&self, _problem: &Problem<'_>) -> std::result::Result<(), String> {
        Ok(())
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        self.choose(problem).0.memory(problem)
    }

    fn solve(
        &self,
        problem: &Problem<'_>,
        settings: &CheckedSettings,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let started = Instant::now();
        let (solver, mut reason) = match start {
            Start::Resume(snapshot) if snapshot.solver == Sdca::default().name() => (
                Box::new(Sdca::default()) as Box<dyn Solver>,
                "coordinate ascent, as before it was interrupted".into(),
            ),
            _ => self.choose(problem),
        };
        observer.note(&format!("{}: {reason}", solver.name()));
        let mut solution = solver.solve(problem, settings, start, observer)?;
        if solution.status == Status::Stalled && solver.name() == Spectral.name() {
            reason = format!(
                "{reason}; it stalled at a gap of {:.1e}, so coordinate ascent",
                solution.certificate().rel_gap()
            );
            observer.note(&reason);
            let other = Sdca::default().solve(
                problem,
                &settings.after(started.elapsed(), solution.passes),
                start,
                observer,
            )?;
            let (ended, better) = (other.status, badness(&other) < badness(&solution));
            let (trace, passes) = ([&solution.trace[..], &other.trace[..]].concat(), other.passes);
            if better {
                solution = other;
            } else if ended != Status::Certified {
                solution.status = ended;
            }
            (solution.trace, solution.passes) = (trace, passes);
        }
        solution.reason = Some(reason);
        Ok(solution)
    }
}
