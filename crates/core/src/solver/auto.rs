//! The solver that fits the problem.

use super::{CheckedSettings, Sdca, Solution, Solver, Spectral};
use crate::{Observer, Problem, Result};

/// Chooses: [`Spectral`] for the squared loss on shared inputs if its eigenbasis fits the memory budget, else [`Sdca`].
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
        start: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let (solver, reason) = self.choose(problem);
        observer.note(&format!("{}: {reason}", solver.name()));
        let mut solution = solver.solve(problem, settings, start, observer)?;
        solution.reason = Some(reason);
        Ok(solution)
    }
}
