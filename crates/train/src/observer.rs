//! Who is told of the progress of many fits, and may stop them.

use kinfolk::{Flow, Observer};

/// Follows many fits, from several threads at once.
pub trait StudyObserver: Sync {
    /// So many of all fits, or larger pieces of work, are done; `what` names the last one, if it has a name.
    fn done(&self, _what: &str, _done: usize, _of: usize) {}

    /// Asked many times a second: whether to stop.
    fn stop(&self) -> bool {
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
}
