//! The driver: everything that is the same for all solvers, done once.
//!
//! [`Solver::solve`] checks that the algorithm suits the problem, reads the start, starts the clock, lets the
//! [`Algorithm`] iterate and turns the point it ends with into a [`Solution`].

use super::{CheckedSettings, Clock, Incumbent, Solution, SolveRequest, Solver, Status, badness, start};
use crate::backend::Interrupt;
use crate::{Error, Observer, Problem, Result};

/// An iterative method. Implementing this trait makes a [`Solver`]; docs/add-a-solver.md walks through one.
pub trait Algorithm: Send + Sync + std::fmt::Debug {
    /// Name in messages and files.
    fn name(&self) -> &'static str;

    /// `Err(why)` if this algorithm cannot solve such a problem.
    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String>;

    /// Bytes of memory needed besides the data set.
    fn memory(&self, problem: &Problem<'_>) -> u64;

    /// Iterates until [`SolverRun`] says stop or nothing improves; the last point and why it ended.
    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome>;
}

/// Where an algorithm ended: the point with its certificate, and why it ended.
#[derive(Debug)]
pub struct SolverOutcome {
    pub(super) point: Incumbent,
    pub(super) status: Status,
}

impl Incumbent {
    /// This point as the end of a run.
    pub(super) fn ended(self, status: Status) -> SolverOutcome {
        SolverOutcome { point: self, status }
    }
}

/// One call of a solver: the problem, where to start, and the clock that says when to end.
#[derive(Debug)]
pub struct SolverRun<'a> {
    pub(super) problem: &'a Problem<'a>,
    pub(super) settings: &'a CheckedSettings,
    pub(super) clock: Clock<'a>,
    /// The duals to start from, inside their bounds, if the caller gave any.
    pub(super) given: Option<Vec<f64>>,
}

impl SolverRun<'_> {
    /// Given duals or a cold start, certified, and `true`. If the fit is stopped meanwhile, a point that can be
    /// certified at once, and whether it is that start: a fit that goes on from another does not end with the same
    /// bits.
    pub(super) fn first_point(&mut self) -> Result<(Incumbent, bool)> {
        let (problem, given) = (self.problem, &self.given);
        let first = self.clock.unless_stopped(|interrupt| {
            problem.data().prepare(interrupt)?;
            let kappa = match given {
                Some(kappa) => kappa.clone(),
                None => start::cold(problem, interrupt)?,
            };
            Incumbent::induced(problem, kappa, interrupt)
        })?;
        match first {
            Some(point) => Ok((point, true)),
            None => start::at_once(problem, given.clone()),
        }
    }

    /// The outcome, if duals were given and are already good enough. So fitting again from a solution takes
    /// no steps.
    pub(super) fn check_given(&mut self) -> Result<Option<SolverOutcome>> {
        let Some(kappa) = &self.given else { return Ok(None) };
        let point = Incumbent::induced(self.problem, kappa.clone(), &mut Interrupt::never())?;
        Ok(self.report(&point).map(|status| point.ended(status)))
    }

    /// Ends a run whose numbers left the range of double precision.
    pub(super) fn lost(&mut self) -> Result<SolverOutcome> {
        let (point, _) = self.first_point()?;
        let status = self.report(&point).unwrap_or(Status::Stalled);
        Ok(point.ended(status))
    }

    /// The point; if its objective is beyond double precision, the best of it, the start and the zero function.
    fn usable(&mut self, mut point: Incumbent) -> Result<Incumbent> {
        if point.certificate().primal.is_finite() {
            return Ok(point);
        }
        let (first, _) = self.first_point()?;
        for other in [first, Incumbent::zero_function(self.problem, start::zeros(self.problem))?] {
            if badness(other.certificate()) < badness(point.certificate()) {
                point = other;
            }
        }
        Ok(point)
    }

    /// Ends a run that was stopped before it had any point.
    pub(super) fn give_up(&mut self) -> Result<SolverOutcome> {
        let (point, _) = start::at_once(self.problem, self.given.take())?;
        let status = self.report(&point).unwrap_or(Status::Stopped);
        Ok(point.ended(status))
    }

    /// Records the certificate of a point. Returns a status if the solver must end now.
    pub(super) fn report(&mut self, point: &Incumbent) -> Option<Status> {
        self.clock.report(point.certificate(), None)
    }
}

impl<A: Algorithm> Solver for A {
    fn name(&self) -> &'static str {
        Algorithm::name(self)
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        Algorithm::suits(self, problem)
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        Algorithm::memory(self, problem)
    }

    fn solve(&self, request: SolveRequest<'_, '_>, observer: &mut dyn Observer) -> Result<Solution> {
        let SolveRequest { problem, settings, start } = request;
        let solver = Algorithm::name(self);
        Algorithm::suits(self, problem).map_err(|why| Error::Unsuitable { solver, why })?;
        let passes_before = start.passes(solver, settings.seed)?;
        let given = start.kappa(problem)?.map(|kappa| start::warm(problem, kappa));
        let mut clock = Clock::new(solver, settings, observer);
        clock.passes += passes_before;
        let mut run = SolverRun { problem, settings, clock, given };
        let SolverOutcome { point, status } = self.iterate(&mut run)?;
        let Incumbent { kappa, v, graded } = run.usable(point)?;
        let Clock { passes, trace, .. } = run.clock;
        Ok(Solution { kappa, v, graded, status, solver, passes, trace, reason: None })
    }
}
