//! Dual coordinate ascent: Algorithm 1 of the paper, one observation at a time or in blocks of inputs.
//!
//! A step on observation (x, r) needs the scores b of x for all tasks and row r of the task Gram matrix. Taking inputs in
//! blocks turns the scores into one matrix product per block; what earlier steps of the same block changed is corrected
//! with the block's own kernel values, so that blocked and one-at-a-time ascent are the same algorithm in another order.

mod ascent;
mod order;

use super::{CheckedSettings, Clock, Solution, Solver, Start, Status, needs_entries, start};
use crate::backend::Interrupt;
use crate::certificate::Graded;
use crate::certificate::certify_normal;
use crate::observer::Duals;
use crate::{Error, Observer, Problem, Result};
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
    /// Random blocks of this many inputs, at random within a block, their tasks in a random order that changes from block to
    /// block.
    Blocked(usize),
}

/// Stochastic dual coordinate ascent with exact steps. Suits every problem; slow where regularisation is weak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdca {
    /// Order of visits.
    pub order: VisitOrder,
    /// Passes between certificates; `None` = often at first, then ever less, and at least one in twenty passes.
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
    /// The pass after the next certificate, if there was one after this pass. No other memory: a fit can be resumed anywhere.
    fn next_check(&self, passes: usize) -> usize {
        passes.saturating_add(self.check_every.unwrap_or((passes / 4).clamp(1, REBUILD_EVERY)))
    }
}

impl Solver for Sdca {
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

    fn solve(
        &self,
        problem: &Problem<'_>,
        settings: &CheckedSettings,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        let made = start.passes(self.name(), settings.seed)?;
        let start = start.kappa(problem)?;
        let mut clock = Clock::new(self.name(), settings, observer);
        clock.passes += made;
        let (unit, solver) = (problem.unit(), self.name());
        let finish = |(kappa, graded), status, clock: Clock<'_>| {
            let (passes, trace) = (clock.passes, clock.trace);
            Ok(Solution { kappa, v: None, graded, status, solver, passes, trace, reason: None })
        };
        let began = Instant::now();
        let (kappa, graded) = match clock.interrupting(|interrupt| begin(problem, start.clone(), interrupt)) {
            Err(Error::Interrupted) => start::at_once(problem, start)?,
            other => other?,
        };
        if let Some(status) = clock.report(&graded.certificate, Some(Duals { kappa: &kappa, unit })) {
            return finish((kappa, graded), status, clock);
        }
        let quick = problem.data().backend().is_quick();
        let patience = if quick { start::STOP_GRACE } else { Duration::ZERO };
        let mut last_certified = LastCertified::default();
        last_certified.keep(began.elapsed(), &kappa, &graded, clock.passes);
        let mut ascent = Ascent::new(problem, kappa, graded)?;
        let mut visits = Visits::new(problem, self.order, settings.seed);
        let mut next_check = self.next_check(clock.passes);
        loop {
            let Pass { moved, whole } =
                problem.data().pool().install(|| ascent.pass(&mut visits, &mut clock));
            let ending = clock.must_stop().is_some() || !moved || clock.passes >= settings.max_passes;
            if !ending && clock.passes < next_check {
                ascent.refresh(clock.passes.is_multiple_of(REBUILD_EVERY));
                continue;
            }
            let began = Instant::now();
            let certify = |interrupt: &mut Interrupt<'_>| {
                interrupt.check()?;
                certify_normal(problem, &ascent.kappa, None, interrupt)
            };
            let graded = match clock.interrupting_late(patience, certify) {
                Err(Error::Interrupted) => match last_certified.point.take() {
                    Some((passes, point)) => {
                        clock.passes = passes;
                        return finish(point, Status::Stopped, clock);
                    }
                    None => certify_normal(problem, &ascent.kappa, None, &mut Interrupt::never())?,
                },
                other => other?,
            };
            // A certificate out of turn, at the end, is no part of the way that a longer fit would take. After a stall
            // there is no way.
            let in_turn = whole && moved && clock.passes == next_check;
            let duals = in_turn.then_some(Duals { kappa: &ascent.kappa, unit });
            let status = clock.report(&graded.certificate, duals);
            if let Some(status) = status.or((!moved).then_some(Status::Stalled)) {
                return finish((ascent.kappa, graded), status, clock);
            }
            last_certified.keep(began.elapsed(), &ascent.kappa, &graded, clock.passes);
            ascent.forget_history(graded);
            next_check = self.next_check(clock.passes);
        }
    }
}

/// A few passes from duals that were just graded, for solvers that do badly far from a solution.
pub(super) fn head_start(
    problem: &Problem<'_>,
    (kappa, graded): (Vec<f64>, Graded),
    passes: usize,
    seed: u64,
    clock: &mut Clock<'_>,
) -> Result<Vec<f64>> {
    let mut ascent = Ascent::new(problem, kappa, graded)?;
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

/// The first duals and their certificate.
fn begin(
    problem: &Problem<'_>,
    start: Option<Vec<f64>>,
    interrupt: &mut Interrupt<'_>,
) -> Result<(Vec<f64>, Graded)> {
    problem.data().prepare(interrupt)?;
    let kappa = match start {
        Some(kappa) => start::warm(problem, kappa),
        None => start::cold(problem, interrupt)?,
    };
    let graded = certify_normal(problem, &kappa, None, interrupt)?;
    Ok((kappa, graded))
}

/// Certificates that take longer than this are not waited for when a fit is stopped.
const SLOW_CERTIFICATE: Duration = Duration::from_millis(100);

/// The last point that was certified and the passes it took, kept where another certificate would take long: a fit that is
/// stopped then ends with this one.
#[derive(Default)]
struct LastCertified {
    point: Option<(usize, (Vec<f64>, Graded))>,
}

impl LastCertified {
    fn keep(&mut self, took: Duration, kappa: &[f64], graded: &Graded, passes: usize) {
        self.point = (took > SLOW_CERTIFICATE).then(|| (passes, (kappa.to_vec(), graded.clone())));
    }
}
