//! One timed fit: the data set is built afresh, so that all setup is inside the clock.

use crate::Pair;
use crate::data::BenchData;
use kinfolk::{
    Dataset, DatasetOptions, Fit, Fitter, Flow, Intercept, Observer, Problem, ProblemSpec, Progress, Result,
    Settings,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[derive(Deserialize)]
pub(crate) struct Cell {
    #[serde(flatten)]
    pair: Pair,
    c: f64,
    lambda: f64,
    /// `none` if absent.
    #[serde(default = "no_intercept")]
    intercept: Intercept,
    solver: String,
    cap_seconds: f64,
    tolerance: f64,
    /// Runs at most; fewer if they take long. The one of median time is reported.
    #[serde(default = "once")]
    repeats: usize,
    /// Ends where a gap of 1e-3 would take longer than this at the pace of the last half of the time.
    #[serde(default = "forever")]
    hopeless_seconds: f64,
}

fn forever() -> f64 {
    f64::INFINITY
}

/// No pace is judged before.
const EARLY: f64 = 5.0;

fn no_intercept() -> Intercept {
    Intercept::None
}

fn once() -> usize {
    1
}

/// Repeated runs end when they took this long together.
const LONG: f64 = 1.0;

/// Certificates with the time since the start of everything, whichever solver made them.
struct TimedObserver {
    start: Instant,
    points: Vec<Point>,
    notes: Vec<String>,
    hopeless_seconds: f64,
    hopeless: bool,
}

#[derive(Clone, Copy)]
struct Point {
    seconds: f64,
    passes: usize,
    rel_gap: f64,
}

impl Observer for TimedObserver {
    fn progress(&mut self, progress: &Progress<'_>) -> Flow {
        let (passes, rel_gap) = (progress.passes, progress.certificate.rel_gap());
        self.points.push(Point { seconds: self.start.elapsed().as_secs_f64(), passes, rel_gap });
        self.hopeless |= self.expected_seconds() > self.hopeless_seconds;
        if self.hopeless { Flow::Stop } else { Flow::Continue }
    }

    fn note(&mut self, text: &str) {
        self.notes.push(text.into());
    }
}

impl TimedObserver {
    /// When the gap would be 1e-3, if its logarithm went on falling as in the last half of the time.
    fn expected_seconds(&self) -> f64 {
        let Some(now) = self.points.last().filter(|now| now.seconds > EARLY && now.rel_gap > 1e-3) else {
            return 0.0;
        };
        let half = self.points.iter().rev().find(|point| point.seconds <= 0.5 * now.seconds).unwrap_or(now);
        let pace = (half.rel_gap / now.rel_gap).ln() / (now.seconds - half.seconds);
        if pace > 0.0 { now.seconds + (now.rel_gap / 1e-3).ln() / pace } else { f64::INFINITY }
    }

    fn first(&self, gap: f64) -> Option<Point> {
        self.points.iter().copied().find(|point| point.rel_gap <= gap)
    }
}

struct TimedRun {
    watch: TimedObserver,
    fit: Fit,
    setup: f64,
    seconds: f64,
    /// Bytes resident before, and at most.
    resident: u64,
    peak: u64,
}

fn run(data: &BenchData, cell: &Cell, settings: &Settings) -> Result<TimedRun> {
    forget_peak();
    let resident = memory("VmRSS");
    let start = Instant::now();
    let hopeless_seconds = cell.hopeless_seconds;
    let mut watch = TimedObserver { start, points: vec![], notes: vec![], hopeless_seconds, hopeless: false };
    let options = DatasetOptions {
        kernel: data.kernel.clone(),
        threads: cell.pair.threads,
        ..DatasetOptions::default()
    };
    let dataset = Dataset::new(&data.inputs, &data.observations, options)?;
    let spec = ProblemSpec {
        loss: cell.pair.loss()?.into(),
        output: cell.pair.output.clone(),
        c: cell.c,
        lambda: cell.lambda,
        atoms: vec![],
        intercept: cell.intercept,
    };
    let problem = Problem::new(&dataset, spec)?;
    let setup = start.elapsed().as_secs_f64();
    let fit = Fitter::new(settings).observer(&mut watch).fit(&problem)?;
    let seconds = start.elapsed().as_secs_f64();
    // What the solver did not report on the way, its result says.
    let (passes, rel_gap) = (fit.passes, fit.certificate().rel_gap());
    watch.points.push(Point { seconds, passes, rel_gap });
    Ok(TimedRun { watch, fit, setup, seconds, resident, peak: memory("VmHWM") })
}

pub(crate) fn answer(data: &BenchData, cell: &Cell) -> Result<Value> {
    let settings = Settings {
        tolerance: cell.tolerance,
        max_passes: usize::MAX,
        max_time: Some(Duration::from_secs_f64(cell.cap_seconds)),
        solver: cell.solver.parse()?,
        ..Settings::default()
    };
    let mut runs = vec![run(data, cell, &settings)?];
    while runs.len() < cell.repeats && runs.iter().map(|run| run.seconds).sum::<f64>() < LONG {
        runs.push(run(data, cell, &settings)?);
    }
    let all: Vec<f64> = runs.iter().map(|run| rounded(run.seconds)).collect();
    runs.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let TimedRun { watch, fit, setup, seconds, resident, peak } = runs.swap_remove(runs.len() / 2);
    let theta = fit.model.theta();
    let theta_mean = (0..theta.rows()).map(|t| theta[(t, t)]).sum::<f64>() / theta.rows() as f64;
    let at = |gap: f64| watch.first(gap).map(|p| rounded(p.seconds));
    let passes_at = |gap: f64| watch.first(gap).map(|p| p.passes);
    // The way down: exponent, seconds and passes of each tenfold smaller gap.
    let mut decades = vec![];
    let mut next = 0;
    for point in &watch.points {
        let exponent = point.rel_gap.log10().ceil();
        if exponent < f64::from(next) && exponent > -20.0 {
            next = exponent as i32;
            decades.push(json!([next, rounded(point.seconds), point.passes]));
        }
    }
    Ok(json!({
        "seconds_3": at(1e-3), "passes_3": passes_at(1e-3),
        "seconds_6": at(1e-6), "passes_6": passes_at(1e-6),
        "rel_gap": fit.certificate().rel_gap(), "status": fit.status().to_string(),
        "ran": fit.solver, "reason": fit.reason, "notes": watch.notes, "passes": fit.passes,
        "setup": rounded(setup), "seconds": rounded(seconds), "all_seconds": all,
        "hopeless": watch.hopeless, "resident": resident, "peak": peak, "theta": theta_mean,
        "decades": decades,
    }))
}

/// To the microsecond.
fn rounded(seconds: f64) -> f64 {
    (seconds * 1e6).round() / 1e6
}

/// Lets the system forget the peak so far, where it can.
fn forget_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Bytes, by the system's own account.
fn memory(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) * 1024
}
