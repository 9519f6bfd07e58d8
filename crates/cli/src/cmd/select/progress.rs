//! A progress bar over fits or other pieces of work, and Ctrl-C.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use kinfolk_train::StudyObserver;
use std::io::IsTerminal;
use std::time::Duration;

pub(crate) struct Bar(ProgressBar);

impl Bar {
    /// Silent unless stderr is a terminal and nobody asked for quiet.
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
        Bar(bar)
    }

    /// Clears the line.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl StudyObserver for Bar {
    fn done(&self, _: &str, done: usize, of: usize) {
        self.0.set_length(of as u64);
        self.0.set_position(done as u64);
    }

    fn stop(&self) -> bool {
        interrupt::asked()
    }
}
