//! Section "Tasks": one row for each task with all that is known about it.

use super::certificate::MIN_TASK_SHARE;
use super::data_check::DataCheck;
use super::inputs::ReportInputs;
use super::metric_name;
use super::theta::NearestKin;
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
        // Not every column is about tasks that the model does not know.
        let next = |column: &mut std::vec::IntoIter<TaskCell>| {
            column.next().unwrap_or(TaskCell { text: "\u{2013}".into(), sort: None })
        };
        let rows = (0..n).map(|_| cells.iter_mut().map(next).collect()).collect();
        (columns, rows)
    }
}

pub(super) fn section(inputs: &ReportInputs<'_>, nearest: &NearestKin) -> TaskSection {
    let (model, n) = (inputs.model, inputs.model.tasks().len());
    let name = |t: usize| model.tasks().name(t);
    let mut table = ColumnTable(vec![]);
    let new = new_tasks(inputs);
    let names = (0..n).map(name).chain(new.iter().map(|name| format!("{name} (new)")));
    table.add("name", "Task", names.map(|text| TaskCell { text, sort: None }));
    let counted = inputs.training_data().or(inputs.data.first());
    let rows_per_task = counted.map(|data| &data.rows_per_task[..n]);
    if let Some(data) = counted {
        let rows = of_all_tasks(data, &data.rows_per_task, n, &new);
        table.add("rows", "Rows", rows.map(|n| TaskCell::number(n.map(|n| n as f64), |n| count(n as usize))));
    }
    if let Some(score) = inputs.selection.and_then(|selection| selection.cross_validated()) {
        table.scores("cross-validated", "Score, cross-validated", &score.per_task);
    }
    for data in &inputs.data {
        let scores: Vec<Option<f64>> =
            of_all_tasks(data, &data.score.per_task, n, &new).map(Option::flatten).collect();
        table.scores("score", score_label(data), &scores);
    }
    if let Some(comparison) = inputs.selection.and_then(|selection| selection.against_independent()) {
        let few = |t: usize| if comparison.few_labels.contains(&t) { " (few labels)" } else { "" };
        let cells = comparison.per_task.iter().enumerate();
        let cells = cells.map(|(t, x)| TaskCell::number(*x, |x| signed_score(x) + few(t)));
        table.add("gain", "Gain over alone", cells);
    }
    let kin = nearest.kin.iter().map(|kin| match kin {
        Some(kin) => {
            let opposite = if kin.is_opposite() { "opposite: " } else { "" };
            let text = format!("{opposite}{} ({})", name(kin.task), kin.in_words());
            TaskCell { text, sort: Some(kin.closeness()) }
        }
        None => TaskCell { text: "none".into(), sort: None },
    });
    table.add("kin", format!("Nearest kin ({})", nearest.by.in_words()), kin);
    let certificate = model.certificate();
    if certificate.task_gaps.iter().sum::<f64>() > MIN_TASK_SHARE * certificate.gap {
        let cells = certificate.task_gaps.iter().map(|x| TaskCell::number(Some(*x), |x| number(x, 2)));
        table.add("gap", "Part of the gap", cells);
    }
    let (columns, rows) = table.rows(n + new.len());
    let nothing_scored = inputs.data.is_empty() && inputs.selection.is_none();
    TaskSection {
        heading: heading(n, rows_per_task),
        columns,
        rows,
        notes: inputs.data.iter().map(mean_note).collect(),
        hints: if nothing_scored { vec![inputs.made_by.scores()] } else { vec![] },
    }
}

/// Tasks of the data that the model does not know, each once.
fn new_tasks(inputs: &ReportInputs<'_>) -> Vec<String> {
    let mut new: Vec<String> = vec![];
    for name in inputs.data.iter().flat_map(|data| &data.new_tasks) {
        if !new.contains(name) {
            new.push(name.clone());
        }
    }
    new
}

/// What is known about the n tasks of the model, and about new ones, from data that may not have all of these.
fn of_all_tasks<'a, T: Copy>(
    data: &'a DataCheck,
    values: &'a [T],
    n: usize,
    new: &'a [String],
) -> impl Iterator<Item = Option<T>> + 'a {
    let place = move |name: &String| data.new_tasks.iter().position(|own| own == name);
    let of_new = new.iter().map(move |name| values.get(n + place(name)?).copied());
    values[..n].iter().map(|value| Some(*value)).chain(of_new)
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
