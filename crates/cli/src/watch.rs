//! Watches a fit: progress on a terminal, Ctrl-C, checkpoints.

use crate::checkpoint::Saver;
use crate::eta::Eta;
use crate::interrupt;
use crate::text;
use indicatif::{ProgressBar, ProgressStyle};
use kinfolk::{Flow, Observer, Progress};
use std::io::IsTerminal;
use std::time::Duration;

pub(crate) struct Watch<'a> {
    bar: ProgressBar,
    eta: Eta,
    tolerance: f64,
    saver: Option<&'a mut Saver>,
}

impl<'a> Watch<'a> {
    /// Silent unless stderr is a terminal and nobody asked for quiet.
    pub(crate) fn new(tolerance: f64, quiet: bool, saver: Option<&'a mut Saver>) -> Self {
        let bar = match !quiet && std::io::stderr().is_terminal() {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.set_message("preparing");
        bar.enable_steady_tick(Duration::from_millis(150));
        Watch { bar, eta: Eta::new(tolerance), tolerance, saver }
    }

    /// Clears the line.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        let gap = progress.certificate.rel_gap();
        let left = self.eta.update(progress.elapsed.as_secs_f64(), gap);
        tracing::debug!("{}: pass {}, relative gap {gap:.3e}", progress.solver, progress.passes);
        self.bar.set_message(format!(
            "{}, pass {}, gap {gap:.1e} (goal {:.1e}), ETA {}",
            progress.solver,
            progress.passes,
            self.tolerance,
            left.map_or("?".into(), text::seconds)
        ));
        if let Some(saver) = &mut self.saver {
            saver.offer(progress);
        }
        self.poll()
    }

    fn poll(&mut self) -> Flow {
        if interrupt::asked() { Flow::Stop } else { Flow::Continue }
    }

    fn note(&mut self, text: &str) {
        tracing::info!("{text}");
    }
}

/// Watches a pass over files: rows, speed and the remaining time, on a terminal.
pub(crate) struct PassWatch {
    bar: ProgressBar,
    began: std::time::Instant,
}

impl PassWatch {
    /// Silent unless stderr is a terminal and nobody asked for quiet.
    pub(crate) fn new(name: String, rows: Option<usize>, quiet: bool) -> Self {
        let bar = match (!quiet && std::io::stderr().is_terminal(), rows) {
            (true, Some(rows)) => ProgressBar::new(rows as u64),
            (true, None) => ProgressBar::no_length(),
            (false, _) => ProgressBar::hidden(),
        };
        let template = match rows {
            Some(_) => "{spinner} {elapsed} {msg}: {human_pos} of {human_len} rows, {per_sec}, ETA {eta}",
            None => "{spinner} {elapsed} {msg}: {human_pos} rows, {per_sec}",
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(name);
        bar.enable_steady_tick(Duration::from_millis(150));
        PassWatch { bar, began: std::time::Instant::now() }
    }

    /// So many rows so far.
    pub(crate) fn seen(&mut self, rows: usize) {
        self.bar.set_position(rows as u64);
    }

    /// Clears the line; the seconds it took.
    pub(crate) fn finish(self) -> f64 {
        self.bar.finish_and_clear();
        self.began.elapsed().as_secs_f64()
    }
}
