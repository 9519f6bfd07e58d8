//! What a selection says.

use crate::report::{Number, as_number};
use crate::text::{Grid, number, seconds};
use kinfolk::{Fit, Status, TaskNames};
use kinfolk_methods::select::{Candidate, Comparison, Row, Scored, Selection};
use kinfolk_methods::{Metric, Point};
use serde::Serialize;
use std::path::Path;

/// A selection and what is told of it.
pub(super) struct Told<'a> {
    pub(super) selection: &'a Selection,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) folds: usize,
    pub(super) scored: Scored,
    pub(super) fit: Option<&'a Fit>,
    pub(super) model: Option<&'a Path>,
}

/// A comparison, and the same in words.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Verdict {
    #[serde(flatten)]
    comparison: Comparison,
    words: String,
}

#[derive(Serialize)]
pub(super) struct Said<'a> {
    metric: Metric,
    folds: usize,
    scored: Scored,
    winner: &'a Row,
    best: Vec<&'a Row>,
    rows: &'a [Row],
    comparisons: &'a [Verdict],
    fit: Option<Refit>,
    model: Option<&'a Path>,
}

/// The winner, fitted to all rows.
#[derive(Serialize)]
struct Refit {
    status: Status,
    c: f64,
    lambda: f64,
    #[serde(serialize_with = "as_number")]
    primal: f64,
    #[serde(serialize_with = "as_number")]
    dual: f64,
    /// None where the method's problem has no certificate.
    gap: Option<Number>,
    rel_gap: Option<Number>,
    solver: &'static str,
    passes: usize,
}

pub(super) fn said<'a>(told: &'a Told<'_>) -> Said<'a> {
    let rows = &told.selection.rows;
    let proved = rows[told.selection.winner].rel_gap.is_some();
    Said {
        metric: told.selection.metric,
        folds: told.folds,
        scored: told.scored,
        winner: &rows[told.selection.winner],
        best: told.selection.best.iter().map(|&row| &rows[row]).collect(),
        rows,
        comparisons: &told.verdicts,
        fit: told.fit.map(|fit| Refit {
            status: fit.status,
            c: fit.model.about().problem.c,
            lambda: fit.model.about().problem.lambda,
            primal: fit.certificate.primal,
            dual: fit.certificate.dual,
            gap: proved.then_some(Number(fit.certificate.gap)),
            rel_gap: proved.then_some(Number(fit.certificate.rel_gap())),
            solver: fit.solver,
            passes: fit.passes,
        }),
        model: told.model,
    }
}

/// The best of every method against independent tasks and against one model for all, as far as these are there.
pub(super) fn verdicts(selection: &Selection, tasks: &TaskNames) -> Vec<Verdict> {
    let method = |candidate: usize| selection.rows[selection.best[candidate]].method;
    let (mut joint, mut bases) = (vec![], vec![]);
    for candidate in 0..selection.best.len() {
        if matches!(method(candidate), "stl" | "pooled") {
            bases.push(candidate)
        } else {
            joint.push(candidate)
        }
    }
    let pairs = joint.iter().flat_map(|&candidate| bases.iter().map(move |&base| (candidate, base)));
    pairs
        .map(|(candidate, base)| {
            let comparison = selection.compare(candidate, base);
            Verdict { words: comparison.in_words(tasks), comparison }
        })
        .collect()
}

/// A remark if the winner is the first or the last of its points.
pub(super) fn at_the_edge(winner: &Row, candidate: &Candidate) -> Option<String> {
    let place = candidate.points.iter().position(|point| *point == winner.point)?;
    let end = match place {
        _ if candidate.points.len() < 2 => return None,
        0 => "first",
        _ if place + 1 == candidate.points.len() => "last",
        _ => return None,
    };
    Some(format!("the best point is the {end} of the grid: a wider --grid may find a better one"))
}

pub(super) fn text(told: &Told<'_>, all: bool) -> String {
    let selection = told.selection;
    let metric = format!(">{}", selection.metric);
    let heads = ["", "method", "parameters", ">strength", ">C", &metric, ">+-", ">gap", ">time"];
    let mut grid = Grid::new(&heads);
    for (i, row) in selection.rows.iter().enumerate() {
        let best = selection.best.contains(&i);
        let mark = match best {
            _ if i == selection.winner => "**",
            true => "*",
            false => "",
        };
        if best || all {
            grid.row(cells(mark, row));
        }
    }
    let score = match told.scored {
        Scored::ByFold => "mean and standard deviation over folds",
        Scored::Together => "score of the rows of all folds together, standard deviation over folds",
    };
    let mut out = format!("{grid}\n** the winner, * the best of its method; {score}\n");
    let open: usize = selection.rows.iter().map(|row| row.uncertified).sum();
    if open > 0 {
        out += &format!(
            "{open} fits ended at a limit before their tolerance; gap is the worst of each setting\n"
        );
    }
    told.verdicts.iter().for_each(|verdict| out += &format!("{}\n", verdict.words));
    if let (Some(fit), Some(model)) = (told.fit, told.model) {
        let proof = match selection.rows[selection.winner].rel_gap {
            Some(_) => format!("{}, relative gap {:.1e}", fit.status, fit.certificate.rel_gap()),
            None => "no certificate, its problem is not convex".into(),
        };
        out += &format!("the winner on all rows: {proof}, {}\n", model.display());
    }
    out
}

fn cells(mark: &str, row: &Row) -> [String; 9] {
    let strength = match row.point {
        Point::Strength(g) => number(g, 3),
        Point::C(_) => "-".into(),
    };
    let gap = row.rel_gap.map_or("none".into(), |gap| format!("{gap:.0e}"));
    [
        mark.to_string(),
        row.method.to_string(),
        row.params.to_string(),
        strength,
        number(row.c, 3),
        format!("{:.4}", row.score),
        format!("{:.4}", row.sd),
        gap,
        seconds(row.seconds),
    ]
}
