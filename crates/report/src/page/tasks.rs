//! Section "Tasks": one row for each task with all that is known about it.

use super::certificate::MIN_TASK_SHARE;
use super::data_check::DataCheck;
use super::inputs::ReportInputs;
use super::metric_name;
use crate::text::{count, number, plural, score};
use kinfolk_train::{Average, Metric};
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct TaskSection {
    heading: String,
    columns: Vec<TaskColumn>,
    rows: Vec<Vec<TaskCell>>,
    notes: Vec<String>,
    hints: Vec<String>,
}

#[derive(Serialize)]
struct TaskColumn {
    /// What the script and the tests call it.
    key: &'static str,
    label: String,
    numeric: bool,
}

#[derive(Serialize)]
struct TaskCell {
    text: String,
    /// What the column is sorted by, if not by the text.
    sort: Option<f64>,
}

impl TaskCell {
    /// A number, or a dash.
    fn number(x: Option<f64>, text: impl Fn(f64) -> String) -> TaskCell {
        TaskCell { text: x.map_or("\u{2013}".into(), text), sort: x.filter(|x| x.is_finite()) }
    }
}

/// A table, filled column by column.
struct ColumnTable(Vec<(TaskColumn, Vec<TaskCell>)>);

impl ColumnTable {
    fn add(&mut self, key: &'static str, label: impl Into<String>, cells: impl Iterator<Item = TaskCell>) {
        let column = TaskColumn { key, label: label.into(), numeric: !matches!(key, "name" | "kin") };
        self.0.push((column, cells.collect()));
    }

    fn scores(&mut self, key: &'static str, label: impl Into<String>, per_task: &[Option<f64>]) {
        self.add(key, label, per_task.iter().map(|x| TaskCell::number(*x, short_score)));
    }

    /// The heads, and the cells row by row.
    fn rows(self, n: usize) -> (Vec<TaskColumn>, Vec<Vec<TaskCell>>) {
        let (columns, mut cells): (Vec<_>, Vec<_>) =
            self.0.into_iter().map(|(column, cells)| (column, cells.into_iter())).unzip();
        let rows = (0..n).map(|_| cells.iter_mut().filter_map(Iterator::next).collect()).collect();
        (columns, rows)
    }
}

pub(super) fn section(inputs: &ReportInputs<'_>, nearest: &[Option<(usize, f64)>]) -> TaskSection {
    let (model, n) = (inputs.model, inputs.model.tasks().len());
    let name = |t: usize| model.tasks().name(t);
    let mut table = ColumnTable(vec![]);
    table.add("name", "Task", (0..n).map(|t| TaskCell { text: name(t), sort: None }));
    let rows_per_task = inputs.training_data().or(inputs.data.first()).map(|data| &data.rows_per_task[..]);
    if let Some(rows) = rows_per_task {
        table.add("rows", "Rows", rows.iter().map(|&n| TaskCell::number(Some(n as f64), |_| count(n))));
    }
    if let Some(score) = inputs.selection.and_then(|selection| selection.cross_validated()) {
        table.scores("cross-validated", "Score, cross-validated", &score.per_task);
    }
    for data in &inputs.data {
        table.scores("score", score_label(data), &data.score.per_task);
    }
    if let Some(comparison) = inputs.selection.and_then(|selection| selection.against_independent()) {
        let cells = comparison.per_task.iter().map(|x| TaskCell::number(*x, signed_score));
        table.add("gain", "Gain over alone", cells);
    }
    let kin = nearest.iter().map(|nearest| match nearest {
        Some((s, c)) => TaskCell { text: format!("{} ({c:.2})", name(*s)), sort: Some(*c) },
        None => TaskCell { text: "none".into(), sort: None },
    });
    table.add("kin", "Nearest kin (correlation)", kin);
    let certificate = model.certificate();
    if certificate.task_gaps.iter().sum::<f64>() > MIN_TASK_SHARE * certificate.gap {
        let cells = certificate.task_gaps.iter().map(|x| TaskCell::number(Some(*x), |x| number(x, 2)));
        table.add("gap", "Part of the gap", cells);
    }
    let (columns, rows) = table.rows(n);
    let nothing_scored = inputs.data.is_empty() && inputs.selection.is_none();
    TaskSection {
        heading: heading(n, rows_per_task),
        columns,
        rows,
        notes: inputs.data.iter().map(mean_note).collect(),
        hints: if nothing_scored { vec![inputs.made_by.scores()] } else { vec![] },
    }
}

fn score_label(data: &DataCheck) -> String {
    match data.is_training() {
        true => "Score, rows of the fit".into(),
        false => format!("Score, {}", data.file_name()),
    }
}

fn mean_note(data: &DataCheck) -> String {
    let without = match data.score.undefined {
        0 => String::new(),
        n => format!(" {} without a defined score left out.", plural(n, "task")),
    };
    let caution =
        if data.is_training() { " The model was fitted to these rows: expect less on new ones." } else { "" };
    let over = match data.metric.average {
        Average::Tasks => "on average over tasks",
        Average::Rows => "over all rows",
    };
    format!(
        "{} on {}: {} {over}.{without}{caution}",
        capitalized(&metric_name(Metric::new(data.metric.measure))),
        data.file_name(),
        score(data.score.value)
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

fn short_score(x: f64) -> String {
    if x.abs() < 10.0 { format!("{x:.3}") } else { number(x, 5) }
}

fn signed_score(x: f64) -> String {
    if x.abs() < 10.0 { format!("{x:+.3}") } else { format!("{x:+.1}") }
}

fn capitalized(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
