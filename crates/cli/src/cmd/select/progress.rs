//! A progress bar over fits, and Ctrl-C.

use crate::interrupt;
use indicatif::{ProgressBar, ProgressStyle};
use kinfolk_train::StudyObserver;
use std::io::IsTerminal;
use std::time::Duration;

pub(super) struct Bar(ProgressBar);

impl Bar {
    /// Silent unless stderr is a terminal and nobody asked for quiet.
    pub(super) fn new(quiet: bool) -> Self {
        let bar = match !quiet && std::io::stderr().is_terminal() {
            true => ProgressBar::new(0),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{elapsed} {wide_bar} {pos}/{len} fits, ETA {eta}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(250));
        Bar(bar)
    }

    /// Clears the line.
    pub(super) fn finish(&self) {
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
