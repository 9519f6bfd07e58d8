//! Who is told of the progress of many fits, and may stop them.

use kinfolk::{Flow, Observer, Progress, Settings};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Follows many fits, from several threads at once.
pub trait StudyObserver: Sync {
    /// So many of all fits, or larger pieces of work, are done; `what` names the last one, if it has a name.
    fn done(&self, _what: &str, _done: usize, _of: usize) {}

    /// Asked many times a second: whether to stop.
    fn stop(&self) -> bool {
        false
    }

    /// Whether a search that was stopped ends with the best of what it has compared, not with nothing.
    fn takes_best_so_far(&self) -> bool {
        false
    }
}

/// Follows nothing and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl StudyObserver for Unobserved {}

/// Lets the observer of a study stop a single fit.
pub(crate) struct StopObserver<'a>(pub(crate) &'a dyn StudyObserver);

impl Observer for StopObserver<'_> {
    fn poll(&mut self) -> Flow {
        if self.0.stop() { Flow::Stop } else { Flow::Continue }
    }
}

/// Of the time limit of a method that makes many fits, the share that its search may take. The last fit has the rest.
const SEARCH_SHARE: f64 = 0.8;

/// Ends a search of many fits with its time, of which each fit alone may take all.
pub(crate) struct SearchObserver<'a> {
    observer: &'a mut dyn Observer,
    deadline: Option<Instant>,
}

impl<'a> SearchObserver<'a> {
    pub(crate) fn new(observer: &'a mut dyn Observer, limit: Option<Duration>) -> Self {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit.mul_f64(SEARCH_SHARE)));
        SearchObserver { observer, deadline }
    }
}

impl Observer for SearchObserver<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        self.observer.progress(progress)
    }

    fn objective(&mut self, objective: f64) -> Flow {
        self.observer.objective(objective)
    }

    fn note(&mut self, text: &str) {
        self.observer.note(text);
    }

    fn poll(&mut self) -> Flow {
        let is_late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if is_late { Flow::Stop } else { self.observer.poll() }
    }
}

/// The settings of the fit after a search that began then, which has the rest of the time.
pub(crate) fn after_search(settings: &Settings, began: Instant) -> Settings {
    let left = |limit: Duration| {
        limit.saturating_sub(began.elapsed()).max(limit.mul_f64(0.5 * (1.0 - SEARCH_SHARE)))
    };
    Settings { max_time: settings.max_time.map(left), ..settings.clone() }
}

/// Counts over several rounds of equal size.
pub(crate) struct RoundObserver<'a> {
    pub(crate) observer: &'a dyn StudyObserver,
    pub(crate) round: usize,
    pub(crate) of: usize,
}

impl StudyObserver for RoundObserver<'_> {
    fn done(&self, what: &str, done: usize, of: usize) {
        self.observer.done(what, self.round * of + done, self.of * of);
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }

    fn takes_best_so_far(&self) -> bool {
        self.observer.takes_best_so_far()
    }
}

/// Counts what comes after other work.
pub(crate) struct LaterObserver<'a> {
    pub(crate) observer: &'a dyn StudyObserver,
    pub(crate) before: usize,
}

impl StudyObserver for LaterObserver<'_> {
    fn done(&self, what: &str, done: usize, of: usize) {
        self.observer.done(what, self.before + done, self.before + of);
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }

    fn takes_best_so_far(&self) -> bool {
        self.observer.takes_best_so_far()
    }
}

/// Lets the observer of a single fit, or a deadline, stop many fits that are part of it.
pub(crate) struct SharedObserver<'a> {
    observer: Mutex<&'a mut dyn Observer>,
    deadline: Option<Instant>,
    stopped: AtomicBool,
}

impl<'a> SharedObserver<'a> {
    pub(crate) fn new(observer: &'a mut dyn Observer, deadline: Option<Instant>) -> Self {
        SharedObserver { observer: Mutex::new(observer), deadline, stopped: AtomicBool::new(false) }
    }

    /// Whether it has said stop.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

impl StudyObserver for SharedObserver<'_> {
    fn stop(&self) -> bool {
        let is_late = || self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let poll = || self.observer.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).poll();
        if self.stopped() || is_late() || poll() == Flow::Stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped()
    }
}
