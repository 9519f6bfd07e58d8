//! Progress where stderr is no terminal, such as a file or a notebook: a line now and then.

use crate::text::seconds;
use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Nothing is said before; short work needs no lines.
const FIRST: Duration = Duration::from_secs(10);
/// Lines come twice as far apart each time, but no farther than this.
const MOST: Duration = Duration::from_secs(120);

/// Lines of progress.
pub(crate) struct ProgressLines {
    began: Instant,
    /// When the next line is due, after the beginning; `None` if there are none.
    next: Mutex<Option<Duration>>,
}

impl ProgressLines {
    /// Silent if stderr is a terminal, which has a bar, or somebody asked for quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        let first = (!quiet && !std::io::stderr().is_terminal()).then_some(FIRST);
        ProgressLines { began: Instant::now(), next: Mutex::new(first) }
    }

    /// Says how far things are, if it is time to.
    pub(crate) fn say(&self, text: impl FnOnce() -> String) {
        let elapsed = self.began.elapsed();
        let Ok(mut next) = self.next.try_lock() else { return };
        if let Some(due) = *next
            && elapsed >= due
        {
            *next = Some(after(elapsed));
            // Nobody is left to hear that stderr is closed.
            let _ = writeln!(std::io::stderr(), "{}: {}", seconds(elapsed.as_secs_f64()), text());
        }
    }
}

/// When the line after one at this time is due.
fn after(elapsed: Duration) -> Duration {
    elapsed + elapsed.min(MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_rarer() {
        let second = after(FIRST);
        assert_eq!((second, after(second)), (2 * FIRST, 4 * FIRST));
        assert_eq!(after(10 * MOST), 11 * MOST);
    }
}
