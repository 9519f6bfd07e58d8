//! A progress bar over fits or other pieces of work, Ctrl-C and a deadline.

use crate::interrupt;
use crate::progress_lines::ProgressLines;
use indicatif::{ProgressBar, ProgressStyle};
use kinfolk_train::StudyObserver;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

pub(crate) struct Bar {
    bar: ProgressBar,
    lines: ProgressLines,
    what: String,
    deadline: Option<Instant>,
}

impl Bar {
    /// A bar if stderr is a terminal, else a line now and then; silent if somebody asked for quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        Bar::of("fits", quiet)
    }

    /// The same for other pieces of work.
    pub(crate) fn of(what: &str, quiet: bool) -> Self {
        let bar = match !quiet && std::io::stderr().is_terminal() {
            true => ProgressBar::new(0),
            false => ProgressBar::hidden(),
        };
        let template = format!("{{elapsed}} {{wide_bar}} {{pos}}/{{len}} {what}, ETA {{eta}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar { bar, lines: ProgressLines::new(quiet), what: what.into(), deadline: None }
    }

    /// Ends the work at this time, too, with the best so far.
    pub(crate) fn until(self, deadline: Option<Instant>) -> Self {
        Bar { deadline, ..self }
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl StudyObserver for Bar {
    fn done(&self, _: &str, done: usize, of: usize) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        self.lines.say(|| format!("{done} of {of} {}", self.what));
    }

    fn stop(&self) -> bool {
        interrupt::asked() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn takes_best_so_far(&self) -> bool {
        true
    }
}
