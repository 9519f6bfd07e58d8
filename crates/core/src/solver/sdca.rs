//! Dual coordinate ascent: Algorithm 1 of the paper, one observation at a time or in blocks of inputs.
//!
//! A step changes the dual of one observation, with input x and task r, to its best value. It needs the
//! scores of x for all tasks and row r of the task Gram matrix. For a block of inputs, one matrix product
//! computes all scores. Each step then changes the scores of the later inputs of the block; kernel values
//! between the inputs of the block give these changes exactly. So blocked ascent is the same algorithm as
//! ascent one observation at a time; only the order differs. See `docs/math.md`, "Coordinate ascent".

mod ascent;
mod atoms;
mod intercepts;
mod order;

use super::{Algorithm, Clock, Incumbent, SolverOutcome, SolverRun, Status, needs_entries, start};
use crate::backend::Interrupt;
use crate::observer::Duals;
use crate::{Problem, Result};
use ascent::{Ascent, Pass};
use order::Visits;
use std::time::{Duration, Instant};

/// The order in which observations are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VisitOrder {
    /// A random permutation of all observations, one at a time, as printed in the paper.
    Sequential,
    /// Observations 0, 1, 2, ... every time: for comparisons with other implementations.
    Cyclic,
    /// Random blocks of this many inputs, in random order within a block. The order of the tasks is random,
    /// too, and changes from block to block.
    Blocked(usize),
}

/// Stochastic dual coordinate ascent with exact steps. Suits every loss and every regulariser that is a sum
/// over the entries of Theta. Slow if regularisation is weak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdca {
    /// Order of visits.
    pub order: VisitOrder,
    /// Passes between certificates. `None`: a quarter of the passes made so far, at least one and at most
    /// twenty.
    pub check_every: Option<usize>,
}

impl Default for Sdca {
    fn default() -> Self {
        Sdca { order: VisitOrder::Blocked(64), check_every: None }
    }
}

/// After this many passes the state is computed again from the duals, which removes rounding errors. A
/// certificate also does this.
const REBUILD_EVERY: usize = 20;

impl Sdca {
    /// The number of passes at the next certificate, if there was one after `passes` passes. It depends on
    /// nothing else, so a resumed fit has the same schedule.
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
        let (first, is_start) = run.first_point()?;
        let clock = &mut run.clock;
        let duals = Duals { kappa: &first.kappa, unit };
        if let Some(status) = clock.report(first.certificate(), is_start.then_some(duals)) {
            return Ok(first.ended(status));
        }
        // How long a certificate may go on after a request to stop.
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
                ascent.refresh(clock.passes.is_multiple_of(REBUILD_EVERY))?;
                continue;
            }
            if ascent.kappa.iter().any(|k| !k.is_finite()) {
                return run.lost();
            }
            let began = Instant::now();
            let certified = clock.unless_stopped_for(grace, |interrupt| {
                interrupt.check()?;
                Incumbent::induced(problem, ascent.settled(interrupt)?, interrupt)
            })?;
            let point = match (certified, last_certified.point.take()) {
                (Some(point), _) => point,
                (None, Some((passes, point))) => {
                    clock.passes = passes;
                    return Ok(point.ended(Status::Stopped));
                }
                (None, None) => Incumbent::induced(problem, ascent.kappa.clone(), &mut Interrupt::never())?,
            };
            // Only scheduled checks are offered to the observer as points to resume from: an unscheduled one
            // would change the schedule after it. After a stall there is nothing to resume.
            let scheduled = whole && moved && clock.passes == next_check;
            let duals = scheduled.then_some(Duals { kappa: &point.kappa, unit });
            let status = clock.report(point.certificate(), duals);
            if let Some(status) = status.or((!moved).then_some(Status::Stalled)) {
                return Ok(point.ended(status));
            }
            last_certified.keep(began.elapsed(), &point, clock.passes);
            ascent.forget_history(point);
            next_check = self.next_check(clock.passes);
        }
    }
}

/// A few passes from a certified point, for solvers that converge slowly far from a solution; the new duals, or those
/// of that point if numbers left the range of double precision.
pub(super) fn head_start(
    problem: &Problem<'_>,
    first: Incumbent,
    passes: usize,
    seed: u64,
    clock: &mut Clock<'_>,
) -> Result<Vec<f64>> {
    let begin = first.kappa.clone();
    let mut ascent = Ascent::new(problem, first)?;
    let mut visits = Visits::new(problem, Sdca::default().order, seed);
    for _ in 0..passes {
        problem.data().pool().install(|| ascent.pass(&mut visits, clock));
        ascent.refresh(false)?;
        if clock.is_over() {
            break;
        }
    }
    if ascent.kappa.iter().any(|k| !k.is_finite()) {
        return Ok(begin);
    }
    ascent.settled(&mut Interrupt::never())
}

/// A stopped fit does not compute another certificate if the last one took longer than this.
const SLOW_CERTIFICATE: Duration = Duration::from_millis(100);

/// The last certified point and its number of passes, kept only if certificates are slow: then a stopped fit
/// returns this point.
#[derive(Default)]
struct LastCertified {
    point: Option<(usize, Incumbent)>,
}

impl LastCertified {
    fn keep(&mut self, took: Duration, point: &Incumbent, passes: usize) {
        self.point = (took > SLOW_CERTIFICATE).then(|| (passes, point.clone()));
    }
}
