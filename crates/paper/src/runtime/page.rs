//! Factors and curves.

use crate::experiment::{Experiment, Timed};
use crate::page::{Page, slug};
use crate::record::Timing;
use crate::stats::median;
use kinfolk_report::plot::{Curve, CurvePoint, Lines, PlotAxis};
use std::collections::BTreeSet;
use std::fmt::Write;

pub(crate) fn page(
    experiment: &Experiment,
    timings: &[Timing],
    text: &mut String,
    short: &mut String,
    page: &mut Page,
) {
    for set in &experiment.sets {
        let own: Vec<&Timing> = timings.iter().filter(|timing| timing.set == set.name).collect();
        let Some(first) = own.first() else { continue };
        let _ = writeln!(
            text,
            "\n### {}\n\n{} features, {} thread.{}{}\n",
            set.name,
            first.features,
            first.threads,
            if set.note.is_empty() { "" } else { " " },
            set.note
        );
        table(experiment, &own, text);
        overall(experiment, set.timed, &own, text, short);
        if set.timed == Timed::Tasks {
            let svg = against_tasks(experiment, &own);
            page.show(format!("runtime-{}.svg", slug(&set.name)), svg, "Seconds against tasks", text);
        }
        let svg = against_time(experiment, &own);
        page.show(format!("objective-{}.svg", slug(&set.name)), svg, "Objective against seconds", text);
    }
}

/// Where something was timed: tasks, rows, strength.
fn places(timings: &[&Timing]) -> Vec<(usize, usize, f64)> {
    let mut all: Vec<(usize, usize, f64)> = timings.iter().map(|t| (t.tasks, t.rows, t.strength)).collect();
    all.sort_by(|a, b| a.0.cmp(&b.0).then(a.2.total_cmp(&b.2)));
    all.dedup();
    all
}

/// Seconds of a method at a place, over all repeats; and whether the objective was always reached.
fn seconds(timings: &[&Timing], method: &str, place: (usize, usize, f64)) -> Option<(f64, f64, f64, bool)> {
    let own: Vec<&&Timing> =
        timings.iter().filter(|t| t.method == method && (t.tasks, t.rows, t.strength) == place).collect();
    let values: Vec<f64> = own.iter().map(|t| t.seconds).collect();
    let (low, high) = values.iter().fold((f64::INFINITY, 0.0f64), |(l, h), s| (l.min(*s), h.max(*s)));
    Some((median(&values)?, low, high, own.iter().all(|t| t.reached)))
}

/// Seconds at a place until the first method had its certificate.
fn certified(timings: &[&Timing], place: (usize, usize, f64)) -> Option<f64> {
    let own = timings.iter().filter(|t| (t.tasks, t.rows, t.strength) == place);
    median(&own.filter_map(|t| t.certified).collect::<Vec<f64>>())
}

fn table(experiment: &Experiment, timings: &[&Timing], text: &mut String) {
    text.push_str("| tasks | rows | strength |");
    for (number, method) in experiment.methods.iter().enumerate() {
        let _ = write!(text, " {} |{}", method.label, if number == 0 { " certified |" } else { "" });
    }
    let _ = write!(text, "\n|---|---|---|---|{}\n", "---|".repeat(experiment.methods.len()));
    for place in places(timings) {
        let ours = seconds(timings, &experiment.methods[0].label, place).map(|s| s.0);
        let _ = write!(text, "| {} | {} | {} |", place.0, place.1, place.2);
        for (number, method) in experiment.methods.iter().enumerate() {
            let cell = match (seconds(timings, &method.label, place), ours) {
                (None, _) => "not run".to_string(),
                (Some((middle, low, high, _)), _) if number == 0 => {
                    let certified = certified(timings, place).map_or(String::new(), |s| format!("{s:.3} s"));
                    format!("{middle:.3} s ({low:.3}-{high:.3}) | {certified}")
                }
                (Some((middle, low, high, reached)), Some(ours)) => {
                    let more = if reached { "" } else { "> " };
                    format!("{more}{:.1}x ({:.1}-{:.1})", middle / ours, low / ours, high / ours)
                }
                (Some((middle, ..)), None) => format!("{middle:.3} s"),
            };
            let _ = write!(text, " {cell} |");
        }
        text.push('\n');
    }
    text.push_str(
        "\nMedian, least and most over repeats; other methods over the median of ours, all until the objective was \
         reached; \"certified\" is ours until it returned with its certificate. \">\": stopped at the limit, or ended \
         above our objective.\n",
    );
}

/// How many times slower others are, on average over the range, and where there are most tasks.
fn overall(
    experiment: &Experiment,
    timed: Timed,
    timings: &[&Timing],
    text: &mut String,
    short: &mut String,
) {
    let Some(ours) = experiment.methods.first().map(|m| m.label.as_str()) else { return };
    let set = &timings[0].set;
    let most = timings.iter().map(|t| t.tasks).max().unwrap_or(0);
    let chosen: Vec<(usize, usize, f64)> =
        places(timings).into_iter().filter(|p| timed != Timed::Tasks || p.0 == most).collect();
    text.push('\n');
    for method in &experiment.methods[1..] {
        let (mut factors, mut with_proof) = (vec![], vec![]);
        let mut bound = false;
        for place in &chosen {
            if let (Some(own), Some(other)) =
                (seconds(timings, ours, *place), seconds(timings, &method.label, *place))
            {
                factors.push(other.0 / own.0);
                with_proof.extend(certified(timings, *place).map(|s| other.0 / s));
                bound |= !other.3;
            }
        }
        let n = factors.len();
        if n == 0 {
            continue;
        }
        let mean = factors.iter().sum::<f64>() / n as f64;
        let proved = with_proof.iter().sum::<f64>() / with_proof.len() as f64;
        let paper = experiment
            .runtime
            .iter()
            .flat_map(|runtime| &runtime.paper)
            .find(|p| &p.set == set && p.method == method.label);
        let place = match timed {
            Timed::Strengths => format!("mean of {n} strengths"),
            _ => format!("{most} tasks"),
        };
        let (low, high) = factors.iter().fold((f64::INFINITY, 0.0f64), |(l, h), f| (l.min(*f), h.max(*f)));
        let range = if n > 1 { format!(" (from {low:.1} to {high:.1})") } else { String::new() };
        let line = format!(
            "- {set}, {place}: {} takes {}{mean:.1} times{range} as long as {ours}, {proved:.1} times \
             with its certificate{}.",
            method.label,
            if bound { "at least " } else { "" },
            paper.map_or(String::new(), |p| format!(" (the paper: {})", p.factor))
        );
        let _ = writeln!(text, "{line}");
        if paper.is_some() || timed != Timed::Strengths {
            let _ = writeln!(short, "{line}");
        }
    }
}

fn against_tasks(experiment: &Experiment, timings: &[&Timing]) -> String {
    let curves = experiment.methods.iter().map(|method| {
        let point = |place: &(usize, usize, f64)| {
            let (y, low, high, _) = seconds(timings, &method.label, *place)?;
            Some(CurvePoint { x: place.0 as f64, y, range: Some((low, high)) })
        };
        Curve { name: method.label.clone(), points: places(timings).iter().filter_map(point).collect() }
    });
    let lines = Lines {
        title: "Seconds against tasks".into(),
        x: PlotAxis::linear("tasks"),
        y: PlotAxis::log("seconds"),
        curves: curves.filter(|curve| !curve.points.is_empty()).collect(),
        ..Lines::default()
    };
    lines.to_svg()
}

/// Objective over the best seen, minus one, where there are most tasks and in the middle of the strengths.
fn against_time(experiment: &Experiment, timings: &[&Timing]) -> String {
    let all = places(timings);
    let most = all.iter().map(|p| p.0).max().unwrap_or(0);
    let of_most: Vec<(usize, usize, f64)> = all.into_iter().filter(|p| p.0 == most).collect();
    let Some(place) = of_most.get(of_most.len() / 2).copied() else { return String::new() };
    let here: Vec<&&Timing> =
        timings.iter().filter(|t| t.repeat == 0 && (t.tasks, t.rows, t.strength) == place).collect();
    let least = here.iter().map(|t| t.primal).fold(f64::INFINITY, f64::min);
    let names: BTreeSet<&str> = here.iter().map(|t| t.method.as_str()).collect();
    let curves = experiment.methods.iter().filter(|m| names.contains(m.label.as_str())).map(|method| {
        let own = here.iter().filter(|t| t.method == method.label).flat_map(|t| &t.curve);
        let points = own
            .map(|&(x, primal)| CurvePoint { x, y: primal / least - 1.0, range: None })
            .filter(|p| p.y > 1e-9 && p.y.is_finite());
        Curve { name: method.label.clone(), points: points.collect() }
    });
    let lines = Lines {
        title: format!("Objective against seconds, {most} tasks, strength {}", place.2),
        x: PlotAxis::log("seconds"),
        y: PlotAxis::log("objective above the best, relative"),
        curves: curves.filter(|curve| !curve.points.is_empty()).collect(),
        ..Lines::default()
    };
    lines.to_svg()
}
