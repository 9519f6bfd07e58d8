//! Time, limits, trace and observer of a run.

use super::{CheckedSettings, Status, TracePoint};
use crate::backend::Interrupt;
use crate::observer::Duals;
use crate::{Certificate, Error, Flow, Observer, Progress, Result};
use std::time::{Duration, Instant};

pub(crate) struct Clock<'a> {
    solver: &'static str,
    settings: &'a CheckedSettings,
    observer: &'a mut dyn Observer,
    start: Instant,
    stop: Option<Status>,
    /// Passes of the whole fit, including those before it was resumed and those of earlier solvers.
    pub(crate) passes: usize,
    pub(crate) trace: Vec<TracePoint>,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(
        solver: &'static str,
        settings: &'a CheckedSettings,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let (start, passes) = (Instant::now(), settings.passes_made());
        Clock { solver, settings, observer, start, stop: None, passes, trace: vec![] }
    }

    /// Called often: whether to end at once.
    pub(crate) fn must_stop(&mut self) -> Option<Status> {
        if self.stop.is_none() {
            if self.observer.poll() == Flow::Stop {
                self.stop = Some(Status::Stopped);
            } else if self.settings.max_time.is_some_and(|limit| self.start.elapsed() >= limit) {
                self.stop = Some(Status::TimeLimit);
            }
        }
        self.stop
    }

    /// Does `work` with an interrupt that asks this clock; `None` if it was stopped on the way.
    pub(crate) fn unless_stopped<T>(
        &mut self,
        work: impl FnOnce(&mut Interrupt<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        uninterrupted(work(&mut Interrupt::when(&mut || self.must_stop().is_some())))
    }

    /// The same for the last piece of work: it may go on for `grace` after an observer said stop.
    pub(crate) fn unless_stopped_for<T>(
        &mut self,
        grace: Duration,
        work: impl FnOnce(&mut Interrupt<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let mut since: Option<Instant> = None;
        uninterrupted(work(&mut Interrupt::when(&mut || {
            self.must_stop() == Some(Status::Stopped)
                && since.get_or_insert_with(Instant::now).elapsed() >= grace
        })))
    }

    /// Whether any limit is reached, whatever was certified.
    pub(crate) fn is_over(&mut self) -> bool {
        self.must_stop().is_some() || self.passes >= self.settings.max_passes
    }

    /// Passes on an objective that has no certificate yet.
    pub(crate) fn objective(&mut self, objective: f64) {
        if self.observer.objective(objective) == Flow::Stop {
            self.stop = Some(Status::Stopped);
        }
    }

    /// Records a certificate. Returns a status if the solver must end now. `resumable` are the duals, if the
    /// fit can be resumed from here.
    pub(crate) fn report(
        &mut self,
        certificate: &Certificate,
        resumable: Option<Duals<'_>>,
    ) -> Option<Status> {
        let elapsed = self.start.elapsed();
        let Certificate { primal, dual, gap, .. } = *certificate;
        let seconds = elapsed.as_secs_f64();
        self.trace.push(TracePoint { passes: self.passes, seconds, primal, dual, gap });
        let (solver, passes) = (self.solver, self.passes);
        let resumable = resumable.map(|duals| (self.settings.seed, duals));
        let progress = Progress { solver, passes, elapsed, certificate, resumable, previous: None };
        if self.observer.progress(&progress) == Flow::Stop {
            self.stop = Some(Status::Stopped);
        }
        if certificate.rel_gap() <= self.settings.tolerance {
            return Some(Status::Certified);
        }
        let limit = self.is_over().then_some(Status::PassLimit);
        self.stop.or(limit)
    }
}

fn uninterrupted<T>(result: Result<T>) -> Result<Option<T>> {
    match result {
        Err(Error::Interrupted) => Ok(None),
        other => other.map(Some),
    }
}

impl std::fmt::Debug for Clock<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Clock")
            .field("solver", &self.solver)
            .field("passes", &self.passes)
            .finish_non_exhaustive()
    }
}

/// Forwards stop requests to an inner solver and hides its progress reports.
pub(crate) struct Poll<'a, 'c>(pub(crate) &'a mut Clock<'c>);

impl Observer for Poll<'_, '_> {
    fn poll(&mut self) -> Flow {
        if self.0.must_stop().is_some() { Flow::Stop } else { Flow::Continue }
    }
}
