//! Watches coordinate ascent, and says when another solver should take over.

use crate::{Flow, Observer, Progress};
use std::fmt;

/// Passes before the first decision.
const MIN_PASSES_BEFORE_SWITCH: usize = 3;
/// Coordinate ascent may take this share of the other solver's work as a start for it.
const HEAD_START_WORK_SHARE: f64 = 0.12;
/// Coordinate ascent goes on if it should end within this share of the other solver's work.
const MAX_REMAINING_WORK_SHARE: f64 = 0.6;

/// Passes and gap before the first certificate.
pub(super) const NONE_BEFORE: (usize, f64) = (0, f64::MAX);

/// Coordinate ascent and the solver that may take over, by their work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Candidates {
    pub(super) tolerance: f64,
    /// Work of one pass of coordinate ascent, and of a complete run of the other solver.
    pub(super) pass: f64,
    pub(super) other: f64,
    /// Factor by which coordinate ascent becomes slower than its present pace.
    pub(super) slows_down: f64,
}

/// Forwards reports of coordinate ascent to an observer, and stops it when the other solver should take over.
pub(super) struct SwitchRule<'o> {
    observer: &'o mut dyn Observer,
    candidates: Candidates,
    /// Passes and relative gap of the previous certificate.
    previous: (usize, f64),
    /// Set when it is time to switch.
    pub(super) ended: Option<SwitchReason>,
}

/// Why coordinate ascent is stopped.
#[derive(Debug, Clone, Copy)]
pub(super) struct SwitchReason {
    pub(super) passes: usize,
    pub(super) gap: f64,
    pub(super) passes_left: f64,
}

impl fmt::Display for SwitchReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SwitchReason { passes, gap, passes_left } = self;
        write!(f, "coordinate ascent was at a gap of {gap:.1e} after {passes} passes and ")?;
        match passes_left.is_finite() {
            true => write!(f, "seemed to need {:.0} more", passes_left.max(1.0)),
            false => write!(f, "came no closer"),
        }
    }
}

impl<'o> SwitchRule<'o> {
    pub(super) fn new(
        observer: &'o mut dyn Observer,
        candidates: Candidates,
        previous: (usize, f64),
    ) -> Self {
        SwitchRule { observer, candidates, previous, ended: None }
    }
}

impl Candidates {
    /// Whether to switch, given this certificate and the previous one, as (passes, relative gap).
    fn judge(&self, (passes, gap): (usize, f64), (before, gap_before): (usize, f64)) -> Option<SwitchReason> {
        if passes < MIN_PASSES_BEFORE_SWITCH || gap <= self.tolerance {
            return None;
        }
        let pace = if passes > before { (gap_before / gap).ln() / (passes - before) as f64 } else { 0.0 };
        let left =
            if pace > 0.0 { self.slows_down * (gap / self.tolerance).ln() / pace } else { f64::INFINITY };
        let (made, left_work) = (passes as f64 * self.pass, left * self.pass);
        let worth_waiting = left_work <= MAX_REMAINING_WORK_SHARE * self.other && made <= self.other;
        (!worth_waiting && made >= HEAD_START_WORK_SHARE * self.other).then_some(SwitchReason {
            passes,
            gap,
            passes_left: left,
        })
    }
}

impl Observer for SwitchRule<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        let previous = self.previous;
        let flow = self.observer.progress(&Progress { previous: Some(previous), ..progress.clone() });
        let now = (progress.passes, progress.certificate.rel_gap().min(f64::MAX));
        if now.0 > previous.0 {
            self.ended = self.candidates.judge(now, previous);
            self.previous = now;
        }
        if self.ended.is_some() { Flow::Stop } else { flow }
    }

    fn poll(&mut self) -> Flow {
        if self.ended.is_some() { Flow::Stop } else { self.observer.poll() }
    }

    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }
}

/// Steps after which a solver on probation must have reached `PROBATION_REL_GAP`, and after which it must
/// have ended.
const PROBATION_STEPS: (usize, usize) = (45, 110);
/// The gap it must have reached by then.
const PROBATION_REL_GAP: f64 = 0.05;

/// Forwards reports of a solver on probation to an observer, and stops it if it is too slow.
pub(super) struct Probation<'o> {
    observer: &'o mut dyn Observer,
    since: usize,
    pub(super) failed: bool,
}

impl<'o> Probation<'o> {
    pub(super) fn new(observer: &'o mut dyn Observer, since: usize) -> Self {
        Probation { observer, since, failed: false }
    }
}

impl Observer for Probation<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        let flow = self.observer.progress(progress);
        let (steps, gap) = (progress.passes.saturating_sub(self.since), progress.certificate.rel_gap());
        let (soon, late) = PROBATION_STEPS;
        self.failed = flow == Flow::Continue && (steps >= late || (steps >= soon && gap > PROBATION_REL_GAP));
        if self.failed { Flow::Stop } else { flow }
    }

    fn poll(&mut self) -> Flow {
        if self.failed { Flow::Stop } else { self.observer.poll() }
    }

    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CANDIDATES: Candidates = Candidates { tolerance: 1e-6, pass: 1.0, other: 20.0, slows_down: 1.0 };

    #[test]
    fn quick_ascents_are_left_alone_and_slow_ones_are_not() {
        // A factor of ten with each pass: three more will do.
        assert!(CANDIDATES.judge((6, 1e-3), (5, 1e-2)).is_none());
        // A factor of two with a hundred.
        let slow = CANDIDATES.judge((6, 1e-3), (5, 1.007e-3)).unwrap();
        assert!((900.0..1100.0).contains(&slow.passes_left), "{slow:?}");
        // Not before the head start, nor at the end of the fit, nor if the other solver is expensive.
        assert!(Candidates { other: 40.0, ..CANDIDATES }.judge((4, 1e-3), (3, 1.007e-3)).is_none());
        assert!(CANDIDATES.judge((6, 1e-7), (5, 1.007e-7)).is_none());
        assert!(Candidates { other: 1e9, ..CANDIDATES }.judge((6, 1e-3), (5, 1.007e-3)).is_none());
        // If gaps grow, nothing can be predicted.
        assert_eq!(CANDIDATES.judge((9, 1e-1), (8, 1e-2)).unwrap().passes_left, f64::INFINITY);
    }
}
