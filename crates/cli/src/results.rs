//! What a selection found, as one JSON object: on stdout with `--json`, in a file for `kinfolk report`.

use crate::trace;
use kinfolk::solver::TracePoint;
use kinfolk::{CertificateSummary, Fit, TaskNames};
use kinfolk_train::select::{Comparison, Row, Scored, Selection};
use kinfolk_train::{Metric, Params, Score};
use serde::Serialize;
use std::path::Path;

/// A selection and what came of it.
pub(crate) struct Told<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) tasks: &'a TaskNames,
    pub(crate) folds: usize,
    pub(crate) repeats: usize,
    pub(crate) scored: Scored,
    /// A row fitted to all the data.
    pub(crate) fit: Option<(&'a Row, &'a Fit)>,
    pub(crate) model: Option<&'a Path>,
}

/// A comparison, and the same in words.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Verdict {
    #[serde(flatten)]
    comparison: Comparison,
    pub(crate) words: String,
}

#[derive(Serialize)]
pub(crate) struct Said<'a> {
    metric: Metric,
    folds: usize,
    repeats: usize,
    scored: Scored,
    tasks: Vec<String>,
    winner: &'a Row,
    best: Vec<Best<'a>>,
    rows: &'a [Row],
    comparisons: &'a [Verdict],
    fit: Option<Refit<'a>>,
    model: Option<&'a Path>,
}

/// The best setting of a method, with its scores fold by fold and task by task.
#[derive(Serialize)]
struct Best<'a> {
    #[serde(flatten)]
    row: &'a Row,
    scores: &'a [Score],
}

/// The winner, fitted to all rows.
#[derive(Serialize)]
struct Refit<'a> {
    method: &'static str,
    params: &'a Params,
    #[serde(flatten)]
    certificate: CertificateSummary,
    c: f64,
    lambda: f64,
    solver: &'static str,
    passes: usize,
    trace: Vec<TracePoint>,
}

pub(crate) fn said<'a>(told: &'a Told<'_>) -> Said<'a> {
    let rows = &told.selection.rows;
    let best = |&row: &usize| Best { row: &rows[row], scores: &rows[row].folds };
    Said {
        metric: told.selection.metric,
        folds: told.folds,
        repeats: told.repeats,
        scored: told.scored,
        tasks: told.tasks.iter().collect(),
        winner: &rows[told.selection.winner],
        best: told.selection.best.iter().map(best).collect(),
        rows,
        comparisons: &told.verdicts,
        fit: told.fit.map(|(row, fit)| Refit {
            method: row.method,
            params: &row.params,
            certificate: fit.model.summary(),
            c: fit.model.about().problem.c,
            lambda: fit.model.about().problem.lambda,
            solver: fit.solver,
            passes: fit.passes,
            trace: trace::finite(&fit.trace),
        }),
        model: told.model,
    }
}

/// The best of every method against independent tasks and against one model for all, as far as these are there.
pub(crate) fn verdicts(selection: &Selection, tasks: &TaskNames) -> Vec<Verdict> {
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
