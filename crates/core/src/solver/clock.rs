//! Bookkeeping that every solver needs: time, limits, trace, and talk with the observer.

use super::{CheckedSettings, Status, TracePoint};
use crate::{Certificate, Flow, Observer, Progress};
use std::time::Instant;

pub(crate) struct Clock<'a> {
    solver: &'static str,
    settings: &'a CheckedSettings,
    observer: &'a mut dyn Observer,
    start: Instant,
    stop: Option<Status>,
    pub(crate) passes: usize,
    pub(crate) trace: Vec<TracePoint>,
}

impl<'a> Clock<'a> {
    pub(crate) fn new(
        solver: &'static str,
        settings: &'a CheckedSettings,
        observer: &'a mut dyn Observer,
    ) -> Self {
        Clock { solver, settings, observer, start: Instant::now(), stop: None, passes: 0, trace: vec![] }
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

    /// Whether any limit is reached, whatever was certified.
    pub(crate) fn is_over(&mut self) -> bool {
        self.must_stop().is_some() || self.passes >= self.settings.max_passes
    }

    /// Records a certificate; the status with which to end, if it is time.
    pub(crate) fn report(&mut self, certificate: &Certificate) -> Option<Status> {
        let elapsed = self.start.elapsed();
        let Certificate { primal, dual, gap, .. } = *certificate;
        let seconds = elapsed.as_secs_f64();
        self.trace.push(TracePoint { passes: self.passes, seconds, primal, dual, gap });
        let progress = Progress { solver: self.solver, passes: self.passes, elapsed, certificate };
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
