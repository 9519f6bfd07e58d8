//! Dual coordinate ascent: Algorithm 1 of the paper, one observation at a time or in blocks of inputs.
//!
//! A step on observation (x, r) needs the scores b of x for all tasks and row r of the task Gram matrix.
//! Taking inputs in blocks turns the scores into one matrix product per block; what earlier steps of the same
//! block changed is corrected with the block's own kernel values, so that blocked and one-at-a-time ascent
//! are the same algorithm in another order.

mod ascent;
mod order;

use super::{Algorithm, Clock, Incumbent, SolverOutcome, SolverRun, Status, needs_entries, start};
use crate::backend::Interrupt;
use crate::observer::Duals;
use crate::{Problem, Result};
use ascent::{Ascent, Pass};
use order::Visits;
use std::time::{Duration, Instant};

/// In which order the observations are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitOrder {
    /// A random permutation of all observations, one at a time, as printed in the paper.
    Sequential,
    /// Observations 0, 1, 2, ... every time: for comparisons with other implementations.
    Cyclic,
    /// Random blocks of this many inputs, at random within a block, their tasks in a random order that
    /// changes from block to block.
    Blocked(usize),
}

/// Stochastic dual coordinate ascent with exact steps. Suits every problem; slow where regularisation is
/// weak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdca {
    /// Order of visits.
    pub order: VisitOrder,
    /// Passes between certificates; `None` = often at first, then ever less, and at least one in twenty
    /// passes.
    pub check_every: Option<usize>,
}

impl Default for Sdca {
    fn default() -> Self {
        Sdca { order: VisitOrder::Blocked(64), check_every: None }
    }
}

/// Passes between rebuilding the state from the duals, to shed rounding errors. A certificate does so, too.
const REBUILD_EVERY: usize = 20;

impl Sdca {
    /// The pass of the next certificate after one at this pass. It depends on nothing else, so a fit can be
    /// resumed.
    fn next_check(&self, passes: usize) -> usize {
        passes.saturating_add(self.check_every.unwrap_or((passes / 4).clamp(1, REBUILD_EVERY)))
    }
}

impl Algorithm for Sdca {
    fn name(&self) -> &'static str {
        match self.order {
            VisitOrder::Blocked(_) => "sdca",
            VisitOrder::Sequential | VisitOrder::Cyclic => "sdca-sequential",
        }
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        needs_entries(problem)
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        let (n, t, dim) =
            (problem.observations().len(), problem.observations().n_tasks(), problem.data().backend().dim());
        8 * (n + 2 * dim * t + 3 * t * t) as u64
    }

    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        let (problem, settings, unit) = (run.problem, run.settings, run.problem.unit());
        let began = Instant::now();
        let first = run.first_point()?;
        let clock = &mut run.clock;
        let duals = Duals { kappa: &first.kappa, unit };
        if let Some(status) = clock.report(first.certificate(), Some(duals)) {
            return Ok(first.ended(status));
        }
        let quick = problem.data().backend().is_quick();
        let grace = if quick { start::STOP_GRACE } else { Duration::ZERO };
        let mut last_certified = LastCertified::default();
        last_certified.keep(began.elapsed(), &first, clock.passes);
        let mut ascent = Ascent::new(problem, first)?;
        let mut visits = Visits::new(problem, self.order, settings.seed);
        let mut next_check = self.next_check(clock.passes);
        loop {
            let Pass { moved, whole } = problem.data().pool().install(|| ascent.pass(&mut visits, clock));
            let ending = clock.must_stop().is_some() || !moved || clock.passes >= settings.max_passes;
            if !ending && clock.passes < next_check {
                ascent.refresh(clock.passes.is_multiple_of(REBUILD_EVERY));
                continue;
            }
            let began = Instant::now();
            let certified = clock.unless_stopped_for(grace, |interrupt| {
                interrupt.check()?;
                Incumbent::induced(problem, ascent.kappa.clone(), interrupt)
            })?;
            let point = match (certified, last_certified.point.take()) {
                (Some(point), _) => point,
                (None, Some((passes, point))) => {
                    clock.passes = passes;
                    return Ok(point.ended(Status::Stopped));
                }
                (None, None) => Incumbent::induced(problem, ascent.kappa.clone(), &mut Interrupt::never())?,
            };
            // Only scheduled checks can be resumed from: an unscheduled one would change the later schedule.
            // After a stall there is nothing to resume.
            let scheduled = whole && moved && clock.passes == next_check;
            let duals = scheduled.then_some(Duals { kappa: &point.kappa, unit });
            let status = clock.report(point.certificate(), duals);
            if let Some(status) = status.or((!moved).then_some(Status::Stalled)) {
                return Ok(point.ended(status));
            }
            last_certified.keep(began.elapsed(), &point, clock.passes);
            ascent.forget_history(point.graded);
            next_check = self.next_check(clock.passes);
        }
    }
}

/// A few passes from a certified point, for solvers that converge badly far from a solution.
pub(super) fn head_start(
    problem: &Problem<'_>,
    first: Incumbent,
    passes: usize,
    seed: u64,
    clock: &mut Clock<'_>,
) -> Result<Vec<f64>> {
    let mut ascent = Ascent::new(problem, first)?;
    let mut visits = Visits::new(problem, Sdca::default().order, seed);
    for _ in 0..passes {
        problem.data().pool().install(|| ascent.pass(&mut visits, clock));
        ascent.refresh(false);
        if clock.is_over() {
            break;
        }
    }
    Ok(ascent.kappa)
}

/// Certificates that take longer than this are not waited for when a fit is stopped.
const SLOW_CERTIFICATE: Duration = Duration::from_millis(100);

/// The last certified point and its number of passes, kept where a certificate is slow: a stopped fit ends
/// with it.
#[derive(Default)]
struct LastCertified {
    point: Option<(usize, Incumbent)>,
}

impl LastCertified {
    fn keep(&mut self, took: Duration, point: &Incumbent, passes: usize) {
        self.point = (took > SLOW_CERTIFICATE).then(|| (passes, point.clone()));
    }
}
