//! Where a fit begins: from nothing, from duals, or where another fit was interrupted.

use crate::observer::Snapshot;
use crate::{Error, Problem, Result};

/// Where a fit begins. Duals are in the paper's scale, in observation order.
#[derive(Debug, Clone, Copy, Default)]
pub enum Start<'a> {
    /// With nothing known.
    #[default]
    Cold,
    /// From these duals, brought into their domain: a fit of its own, quick if they are near the solution.
    Warm(&'a [f64]),
    /// Where another fit of the same problem was interrupted. With the same settings, number of threads and
    /// kind of processor it ends with the same bits as if it had not been. Passes are those of the whole fit,
    /// time that of this part.
    Resume(&'a Snapshot),
}

impl<'a> Start<'a> {
    /// The duals in the problem's own units, if there are any. Powers of two apart: nothing is rounded.
    pub(crate) fn kappa(self, problem: &Problem<'_>) -> Result<Option<Vec<f64>>> {
        let alpha = match self {
            Start::Cold => return Ok(None),
            Start::Warm(alpha) => alpha,
            Start::Resume(snapshot) => &snapshot.alpha,
        };
        let (got, expected) = (alpha.len(), problem.observations().len());
        if got != expected {
            return Err(Error::Length { what: "the list of duals", got, expected });
        }
        Ok(Some(alpha.iter().map(|a| a / problem.unit()).collect()))
    }

    /// Passes made before, or `Err` if it was another solver that made them, or with another seed.
    pub(crate) fn passes(self, solver: &'static str, seed: u64) -> Result<usize> {
        match self {
            Start::Resume(snapshot) if snapshot.solver != solver => Err(Error::Incompatible(format!(
                "the fit to resume was made by solver {}, not by {solver}",
                snapshot.solver
            ))),
            Start::Resume(snapshot) if snapshot.seed != seed => Err(Error::Incompatible(format!(
                "the fit to resume was made with seed {}, not with {seed}",
                snapshot.seed
            ))),
            Start::Resume(snapshot) => Ok(snapshot.passes),
            Start::Cold | Start::Warm(_) => Ok(0),
        }
    }
}
