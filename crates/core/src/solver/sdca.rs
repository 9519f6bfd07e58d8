//! Dual coordinate ascent: Algorithm 1 of the paper, one observation at a time or in blocks of inputs.
//!
//! A step on observation (x, r) needs the scores b of x for all tasks and row r of the task Gram matrix. Taking inputs in
//! blocks turns the scores into one matrix product per block; what earlier steps of the same block changed is corrected
//! with the block's own kernel values, so that blocked and one-at-a-time ascent are the same algorithm in another order.

mod ascent;
mod visits;

use super::{CheckedSettings, Clock, Solution, Solver, Status, start::Start};
use crate::certificate::certify_normal;
use crate::{Observer, Problem, Result};
use ascent::Ascent;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use visits::Visits;

/// In which order the observations are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A random permutation of all observations, one at a time, as printed in the paper.
    Sequential,
    /// Observations 0, 1, 2, ... every time: for comparisons with other implementations.
    Cyclic,
    /// Random blocks of this many inputs, at random within a block, their tasks in a random order that changes from block to
    /// block.
    Blocked(usize),
}

/// Stochastic dual coordinate ascent with exact steps. Suits every problem; slow where regularisation is weak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdca {
    /// Order of visits.
    pub order: Order,
    /// Passes between certificates; `None` = often at first, then ever less, about a fifth of the work in all.
    pub check_every: Option<usize>,
}

impl Default for Sdca {
    fn default() -> Self {
        Sdca { order: Order::Blocked(64), check_every: None }
    }
}

/// Passes between rebuilding the state from the duals, to shed rounding errors.
const REBUILD_EVERY: usize = 20;

impl Solver for Sdca {
    fn name(&self) -> &'static str {
        match self.order {
            Order::Blocked(_) => "sdca",
            Order::Sequential | Order::Cyclic => "sdca-sequential",
        }
    }

    fn suits(&self, _problem: &Problem<'_>) -> std::result::Result<(), String> {
        Ok(())
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        let (n, t, dim) =
            (problem.observations().len(), problem.observations().n_tasks(), problem.data().backend().dim());
        8 * (n + 2 * dim * t + 3 * t * t) as u64
    }

    fn solve(
        &self,
        problem: &Problem<'_>,
        settings: &CheckedSettings,
        start: Option<&[f64]>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let mut clock = Clock::new(self.name(), settings, observer);
        let finish = |kappa, graded, status, clock: Clock<'_>| {
            let (passes, trace) = (clock.passes, clock.trace);
            Ok(Solution { kappa, v: None, graded, status, solver: self.name(), passes, trace, reason: None })
        };
        let start = match start {
            Some(kappa) => Start::warm(problem, kappa),
            None => Start::cold(problem),
        };
        let graded = certify_normal(problem, &start.kappa, None)?;
        if let Some(status) = clock.report(&graded.certificate) {
            return finish(start.kappa, graded, status, clock);
        }
        let mut ascent = Ascent::new(problem, start);
        let mut rng = ChaCha8Rng::seed_from_u64(settings.seed);
        let mut visits = Visits::new(problem, self.order);
        let mut next_check = self.check_every.unwrap_or(1);
        loop {
            let moved = ascent.pass(&mut visits, &mut rng, &mut clock);
            clock.passes += 1;
            ascent.refresh(clock.passes.is_multiple_of(REBUILD_EVERY));
            let ending = clock.must_stop().is_some() || !moved || clock.passes >= settings.max_passes;
            if ending || clock.passes >= next_check {
                next_check =
                    clock.passes.saturating_add(self.check_every.unwrap_or((clock.passes / 4).max(1)));
                let graded = certify_normal(problem, &ascent.kappa, None)?;
                let status = clock.report(&graded.certificate).or((!moved).then_some(Status::Stalled));
                if let Some(status) = status {
                    return finish(ascent.kappa, graded, status, clock);
                }
            }
        }
    }
}
