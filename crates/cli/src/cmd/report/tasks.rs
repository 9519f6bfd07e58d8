//! One line for each task, with all that is known about it.

use super::metric_name;
use super::proof::LEAST_SHARE;
use super::{Evidence, Subject};
use crate::text::{count, number, plural, score};
use kinfolk_train::Score;
use serde::Serialize;

/// The table and what it says.
#[derive(Serialize)]
pub(super) struct Tasks {
    pub(super) heading: String,
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    pub(super) notes: Vec<String>,
    pub(super) hints: Vec<String>,
}

#[derive(Serialize)]
struct Column {
    /// For those who want to sort by it.
    key: &'static str,
    label: String,
    numeric: bool,
}

/// What is read, and what is sorted by.
#[derive(Serialize)]
struct Cell {
    text: String,
    sort: Option<f64>,
}

impl Cell {
    fn number(x: Option<f64>, text: impl Fn(f64) -> String) -> Cell {
        Cell { text: x.map_or("\u{2013}".into(), text), sort: x.filter(|x| x.is_finite()) }
    }
}

/// A column before it is cut into rows.
struct Filled {
    column: Column,
    cells: Vec<Cell>,
}

pub(super) fn tasks(subject: &Subject, nearest: &[Option<(usize, f64)>]) -> Tasks {
    let model = subject.fitted.model();
    let name = |t: usize| model.tasks().name(t);
    let n = model.tasks().len();
    let mut filled: Vec<Filled> = vec![];
    let mut add = |key, label: String, cells: Vec<Cell>| {
        filled.push(Filled { column: Column { key, label, numeric: key != "name" && key != "kin" }, cells });
    };
    add("name", "Task".into(), (0..n).map(|t| Cell { text: name(t), sort: None }).collect());
    let (mut notes, mut hints) = (vec![], vec![]);
    let rows = subject.evidence.iter().find(|e| e.is_training()).or(subject.evidence.first());
    if let Some(evidence) = rows {
        let cells = evidence.rows.iter().map(|&n| Cell::number(Some(n as f64), |_| count(n)));
        add("rows", "Rows".into(), cells.collect());
    }
    let scored = |score: &Score| score.per_task.iter().map(|x| Cell::number(*x, score_text)).collect();
    if let Some(cross_validated) = subject.results.as_ref().and_then(|results| results.cross_validated()) {
        add("cross-validated", "Score, cross-validated".into(), scored(&cross_validated));
    }
    for evidence in &subject.evidence {
        add("score", column_label(evidence), scored(&evidence.score));
        notes.push(mean_note(evidence));
    }
    if subject.evidence.is_empty() && subject.results.is_none() {
        hints.push(
            "Rows and scores of each task are here if data are given: kinfolk report MODEL DATA.".to_string(),
        );
    }
    if let Some(comparison) = subject.results.as_ref().and_then(|results| results.against_alone()) {
        let cells = comparison.per_task.iter().map(|x| Cell::number(*x, signed)).collect();
        add("gain", "Gain over alone".into(), cells);
    }
    let kin = nearest.iter().map(|kin| match kin {
        Some((s, c)) => Cell { text: format!("{} ({c:.2})", name(*s)), sort: Some(*c) },
        None => Cell { text: "none".into(), sort: None },
    });
    add("kin", "Nearest kin (correlation)".into(), kin.collect());
    let gaps = &model.certificate().task_gaps;
    if gaps.iter().sum::<f64>() > LEAST_SHARE * model.certificate().gap {
        let cells = gaps.iter().map(|x| Cell::number(Some(*x), |x| number(x, 2))).collect();
        add("gap", "Part of the gap".into(), cells);
    }
    let heading = heading(n, rows.map(|evidence| &evidence.rows[..]));
    let (columns, mut cells): (Vec<Column>, Vec<_>) =
        filled.into_iter().map(|filled| (filled.column, filled.cells.into_iter())).unzip();
    let rows = (0..n).map(|_| cells.iter_mut().filter_map(Iterator::next).collect()).collect();
    Tasks { heading, columns, rows, notes, hints }
}

fn column_label(evidence: &Evidence) -> String {
    match evidence.is_training() {
        true => "Score, rows of the fit".into(),
        false => format!("Score, {}", evidence.name()),
    }
}

fn mean_note(evidence: &Evidence) -> String {
    let undefined = evidence.score.per_task.iter().filter(|x| x.is_none()).count();
    let without = match undefined {
        0 => String::new(),
        n => format!(" {} without a defined score left out.", plural(n, "task")),
    };
    let caution =
        if evidence.is_training() { " These rows were fitted: expect less on new ones." } else { "" };
    format!(
        "{} on {}: {} on average over tasks.{without}{caution}",
        capital(metric_name(evidence.metric)),
        evidence.name(),
        score(evidence.score.mean)
    )
}

/// `20 tasks with 20 rows each`.
fn heading(n: usize, rows: Option<&[usize]>) -> String {
    let tasks = plural(n, "task");
    match rows.and_then(|rows| Some((*rows.iter().min()?, *rows.iter().max()?))) {
        Some((least, most)) if least == most => format!("{tasks} with {} each", plural(most, "row")),
        Some((least, most)) => format!("{tasks} with {} to {} each", count(least), plural(most, "row")),
        None => format!("All {tasks}"),
    }
}

fn score_text(x: f64) -> String {
    if x.abs() < 10.0 { format!("{x:.3}") } else { number(x, 5) }
}

fn signed(x: f64) -> String {
    if x.abs() < 10.0 { format!("{x:+.3}") } else { format!("{x:+.1}") }
}

/// With a capital letter in front.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
