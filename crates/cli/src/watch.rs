//! Watches a fit: progress on a terminal, Ctrl-C, checkpoints.

use crate::checkpoint::Saver;
use crate::eta::Eta;
use crate::interrupt;
use crate::progress_lines::ProgressLines;
use crate::text;
use indicatif::{ProgressBar, ProgressStyle};
use kinfolk::{Flow, Observer, Progress};
use kinfolk_train::{FitSpec, Weight};
use std::io::IsTerminal;
use std::time::Duration;

pub(crate) struct Watch<'a> {
    bar: ProgressBar,
    lines: ProgressLines,
    /// What is done before the first certificate.
    first: String,
    eta: Eta,
    tolerance: f64,
    saver: Option<&'a mut Saver>,
}

impl<'a> Watch<'a> {
    /// A bar if stderr is a terminal, else a line now and then; silent if somebody asked for quiet.
    pub(crate) fn new(spec: &FitSpec, quiet: bool, saver: Option<&'a mut Saver>) -> Self {
        let bar = match !quiet && std::io::stderr().is_terminal() {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        let first = if spec.c == Weight::Auto { "choosing C on held-out rows" } else { "preparing" };
        bar.set_message(first);
        bar.enable_steady_tick(Duration::from_millis(150));
        let (lines, tolerance) = (ProgressLines::new(quiet), spec.tol);
        Watch { bar, lines, first: first.into(), eta: Eta::new(tolerance), tolerance, saver }
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
        let message = format!(
            "{}, pass {}, gap {gap:.1e} (goal {:.1e}), ETA {}",
            progress.solver,
            progress.passes,
            self.tolerance,
            left.map_or("?".into(), text::seconds)
        );
        self.lines.say(|| message.clone());
        self.first = format!("after {message}");
        self.bar.set_message(message);
        if let Some(saver) = &mut self.saver {
            saver.offer(progress);
        }
        self.poll()
    }

    fn poll(&mut self) -> Flow {
        self.lines.say(|| self.first.clone());
        if interrupt::asked() { Flow::Stop } else { Flow::Continue }
    }

    fn note(&mut self, text: &str) {
        tracing::info!("{text}");
    }
}

/// Watches a pass over files: rows, speed and the remaining time, on a terminal.
pub(crate) struct PassWatch {
    bar: ProgressBar,
    lines: ProgressLines,
    name: String,
    rows: Option<usize>,
    began: std::time::Instant,
}

impl PassWatch {
    /// A bar if stderr is a terminal, else a line now and then; silent if somebody asked for quiet.
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
        bar.set_message(name.clone());
        bar.enable_steady_tick(Duration::from_millis(150));
        PassWatch { bar, lines: ProgressLines::new(quiet), name, rows, began: std::time::Instant::now() }
    }

    /// So many rows so far.
    pub(crate) fn seen(&mut self, rows: usize) {
        self.bar.set_position(rows as u64);
        let of = self.rows.map_or(String::new(), |all| format!(" of {all}"));
        self.lines.say(|| format!("{}: {rows}{of} rows", self.name));
    }

    /// Clears the line; the seconds it took.
    pub(crate) fn finish(self) -> f64 {
        self.bar.finish_and_clear();
        self.began.elapsed().as_secs_f64()
    }
}
