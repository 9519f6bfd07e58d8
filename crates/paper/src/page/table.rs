//! Scores of methods on sets, beside those of the paper.

use super::words::{gain, percent};
use crate::experiment::{Experiment, PlusMinus, Set};
use crate::stats::{MeanAndSpread, median};
use crate::{Expected, Record};
use std::fmt::Write;

pub(super) fn section(experiment: &Experiment, records: &[Record], expected: &[Expected], text: &mut String) {
    for set in &experiment.sets {
        let of_set: Vec<&Record> = records.iter().filter(|record| record.set == set.name).collect();
        if let Some(first) = of_set.first() {
            heading(set, first, &of_set, text);
            rows(experiment, set, &of_set, expected, text);
        }
    }
}

fn heading(set: &Set, first: &Record, records: &[&Record], text: &mut String) {
    let splits = records.iter().map(|record| record.split).max().unwrap_or(0) + 1;
    let (train, test) = first.rows;
    let _ = writeln!(
        text,
        "\n### {}\n\n{} tasks, {train} training rows, {test} test rows, {splits} {}; {}.{}{}\n",
        set.name,
        first.tasks,
        if splits == 1 { "split" } else { "splits" },
        set.metric,
        if set.note.is_empty() { "" } else { " " },
        set.note
    );
}

fn rows(experiment: &Experiment, set: &Set, records: &[&Record], expected: &[Expected], text: &mut String) {
    let compared = expected.iter().any(|e| e.set == set.name);
    let base = experiment.methods.first().map_or("", |method| method.label.as_str());
    text.push_str("| method | ours |");
    if compared {
        text.push_str(" paper | difference / standard error |");
    }
    let _ = writeln!(text, " gain over {base} | strength | at the edge | largest gap | seconds |");
    text.push_str(if compared {
        "|---|---|---|---|---|---|---|---|---|\n"
    } else {
        "|---|---|---|---|---|---|---|\n"
    });
    for method in &experiment.methods {
        let own = scores(records, &method.label);
        let Some(summary) = MeanAndSpread::of(&own.iter().map(|s| s.1).collect::<Vec<_>>()) else { continue };
        let _ = write!(text, "| {} | {} |", method.label, percent(&summary));
        if compared {
            let figure = expected.iter().find(|e| e.set == set.name && e.method == method.label);
            text.push_str(&paper_cells(experiment, figure, &summary));
        }
        let gained = paired(&own, &scores(records, base));
        let gained =
            if method.label == base { String::new() } else { gained.map_or(String::new(), |g| gain(&g)) };
        let _ = writeln!(text, " {gained} |{}", fit_cells(records, &method.label));
    }
}

/// Split and score of each record of a method.
pub(super) fn scores(records: &[&Record], method: &str) -> Vec<(usize, f64)> {
    let own = records.iter().filter(|record| record.method == method);
    own.map(|record| (record.split, record.score)).collect()
}

/// Differences on the splits that both have.
pub(super) fn paired(one: &[(usize, f64)], other: &[(usize, f64)]) -> Option<MeanAndSpread> {
    let difference = |(split, score): &(usize, f64)| {
        other.iter().find(|(same, _)| same == split).map(|(_, base)| score - base)
    };
    MeanAndSpread::of(&one.iter().filter_map(difference).collect::<Vec<_>>())
}

/// Standard error and standard deviation behind a figure of the paper, in percent.
pub(super) fn paper_spread(experiment: &Experiment, figure: &Expected) -> (f64, f64) {
    let root = experiment.paper.map_or(1.0, |paper| (paper.splits as f64).sqrt());
    match experiment.paper.map(|paper| paper.plus_minus) {
        Some(PlusMinus::Error) => (figure.plus_minus, figure.plus_minus * root),
        _ => (figure.plus_minus / root, figure.plus_minus),
    }
}

fn paper_cells(experiment: &Experiment, figure: Option<&Expected>, summary: &MeanAndSpread) -> String {
    let Some(figure) = figure else { return " | |".into() };
    let (error, _) = paper_spread(experiment, figure);
    let difference = (100.0 * summary.mean - figure.mean) / (100.0 * summary.error()).hypot(error);
    format!(" {:.1} ± {:.1} | {difference:+.1} |", figure.mean, figure.plus_minus)
}

/// Strength chosen, how often at the edge of those tried, largest gap, and seconds of a fit.
fn fit_cells(records: &[&Record], method: &str) -> String {
    let own: Vec<&&Record> = records.iter().filter(|record| record.method == method).collect();
    let strength = |record: &&&Record| record.point.strength();
    let strength = median(&own.iter().filter_map(strength).collect::<Vec<_>>());
    let edge = own.iter().filter(|record| record.at_the_edge).count();
    let gap =
        own.iter().map(|record| record.rel_gap).try_fold(0.0f64, |most, gap| gap.map(|gap| most.max(gap)));
    let seconds = median(&own.iter().map(|record| record.seconds).collect::<Vec<_>>());
    format!(
        " {} | {} | {} | {} |",
        strength.map_or(String::new(), |s| format!("{s}")),
        if edge == 0 { String::new() } else { edge.to_string() },
        gap.map_or("none".into(), |gap| format!("{gap:.0e}")),
        seconds.map_or(String::new(), |s| format!("{s:.2}"))
    )
}
