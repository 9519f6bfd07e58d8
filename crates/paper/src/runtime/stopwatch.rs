//! Watches objectives fall.

use kinfolk::{Flow, Observer, Progress};
use kinfolk_train::StudyObserver;
use std::time::Instant;

/// Points of a curve that are kept.
const KEPT_POINTS: usize = 60;

pub(super) struct Stopwatch<'a> {
    started: Instant,
    wanted: Option<f64>,
    limit: f64,
    observer: &'a dyn StudyObserver,
    /// Whether the objective was there.
    reached: bool,
    curve: Vec<(f64, f64)>,
}

impl<'a> Stopwatch<'a> {
    /// Stops at an objective, after so many seconds, or when somebody says so.
    pub(super) fn new(
        started: Instant,
        wanted: Option<f64>,
        limit: f64,
        observer: &'a dyn StudyObserver,
    ) -> Self {
        Stopwatch { started, wanted, limit, observer, reached: false, curve: vec![] }
    }

    fn see(&mut self, primal: f64) -> Flow {
        let seconds = self.started.elapsed().as_secs_f64();
        self.curve.push((seconds, primal));
        self.reached |= self.wanted.is_some_and(|wanted| primal <= wanted);
        self.poll()
    }

    /// When an objective was first there.
    pub(super) fn when(&self, target: f64) -> Option<f64> {
        self.curve.iter().find(|(_, primal)| *primal <= target).map(|(seconds, _)| *seconds)
    }

    /// The curve with a limited number of points.
    pub(super) fn thinned(&self) -> Vec<(f64, f64)> {
        let every = self.curve.len().div_ceil(KEPT_POINTS).max(1);
        let last = self.curve.len().saturating_sub(1);
        let kept = self.curve.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
        kept.map(|(_, &(s, p))| (crate::record::rounded(s), p)).collect()
    }
}

impl Observer for Stopwatch<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        self.see(progress.certificate.primal)
    }

    fn objective(&mut self, objective: f64) -> Flow {
        self.see(objective)
    }

    fn poll(&mut self) -> Flow {
        let late = self.started.elapsed().as_secs_f64() > self.limit;
        if self.reached || late || self.observer.stop() { Flow::Stop } else { Flow::Continue }
    }
}
