//! Scores of each task, and their means.

use super::EvaluateArgs;
use crate::failure::Result;
use crate::report::Report;
use crate::text::{self, Grid, count, plural};
use kinfolk::{LossKind, metrics};
use kinfolk_train::Trained;
use kinfolk_train::{all_losses, predict};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// Labels, scores and weights in, a score out; `None` where it does not exist.
type Score = fn(&[f64], &[f64], Option<&[f64]>) -> Option<f64>;

const SIGNS: [(&str, Score); 3] = [
    ("auc", metrics::auc),
    ("accuracy", metrics::accuracy),
    ("balanced_accuracy", metrics::balanced_accuracy),
];
const LOGISTIC: [(&str, Score); 1] = [("log_loss", metrics::log_loss)];
const NUMBERS: [(&str, Score); 2] =
    [("explained_variance", metrics::explained_variance), ("rmse", metrics::rmse)];

/// What was seen of a task.
#[derive(Debug, Clone, Default)]
struct Seen {
    labels: Vec<f64>,
    scores: Vec<f64>,
    weights: Vec<f64>,
}

#[derive(Serialize)]
struct TaskScores<'a> {
    model: &'a Path,
    data: &'a Path,
    n_inputs: usize,
    n_labels: usize,
    n_tasks: usize,
    metrics: Map<String, Value>,
    tasks: Vec<Task>,
}

#[derive(Serialize)]
struct Task {
    task: String,
    n: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_positive: Option<usize>,
    #[serde(flatten)]
    scores: Map<String, Value>,
    #[serde(skip)]
    values: Vec<Option<f64>>,
}

/// A score over all tasks where it exists.
#[derive(Serialize)]
struct Mean {
    mean: Option<f64>,
    n_defined: usize,
    n_undefined: usize,
    pooled: Option<f64>,
}

pub(super) fn run(args: &EvaluateArgs, trained: &Trained, report: Report) -> Result<()> {
    let model = &trained.model;
    let loss = &model.about().problem.loss;
    let signs = all_losses(loss, LossKind::is_classification);
    let mut metrics: Vec<(&str, Score)> = if signs { SIGNS.to_vec() } else { NUMBERS.to_vec() };
    if all_losses(loss, |loss| *loss == LossKind::Logistic) {
        metrics.extend(LOGISTIC);
    }
    let mut seen = vec![Seen::default(); model.tasks().len()];
    let n_inputs = args.for_each_chunk(trained, |table, first_row| {
        let observations = trained.observations(table, &args.data, first_row)?;
        let scores = predict(model, &table.inputs, &observations).map_err(crate::failure::of_method)?;
        for (o, score) in scores.into_iter().enumerate() {
            let task = &mut seen[observations.task(o)];
            task.labels.push(observations.label(o));
            task.scores.push(score);
            task.weights.push(observations.weight(o));
        }
        Ok(())
    })?;
    let score =
        |seen: &Seen, f: Score| f(&seen.labels, &seen.scores, args.weighted.then_some(&seen.weights[..]));
    let of_task = |(t, seen): (usize, &Seen)| {
        let values: Vec<Option<f64>> = metrics.iter().map(|(_, f)| score(seen, *f)).collect();
        let named = metrics.iter().zip(&values).map(|((name, _), v)| (name.to_string(), (*v).into()));
        Task {
            task: model.tasks().name(t),
            n: seen.labels.len(),
            n_positive: signs.then(|| seen.labels.iter().filter(|y| **y > 0.0).count()),
            scores: named.collect(),
            values,
        }
    };
    let tasks: Vec<Task> = seen.iter().enumerate().map(of_task).collect();
    let all = together(&seen);
    // Explained variance stays around each task's own mean: around one mean for all, far-off tasks would do
    // the explaining.
    let within = || explained_variance_within(&seen, &all, args.weighted);
    let pooled = |name: &str, f: Score| if name == "explained_variance" { within() } else { score(&all, f) };
    let means: Vec<Mean> =
        metrics.iter().enumerate().map(|(m, (name, f))| mean(&tasks, m, pooled(name, *f))).collect();
    let words = in_words(&tasks, &means, &metrics, signs);
    let named = metrics.iter().zip(&means).map(|((name, _), m)| (name.to_string(), serde_json::json!(m)));
    let said = TaskScores {
        model: &args.model,
        data: &args.data,
        n_inputs,
        n_labels: all.labels.len(),
        n_tasks: tasks.len(),
        metrics: named.collect(),
        tasks,
    };
    report.answer(&said, words)
}

/// All tasks as one.
fn together(seen: &[Seen]) -> Seen {
    let all = |pick: fn(&Seen) -> &Vec<f64>| seen.iter().flat_map(pick).copied().collect();
    Seen { labels: all(|s| &s.labels), scores: all(|s| &s.scores), weights: all(|s| &s.weights) }
}

fn explained_variance_within(seen: &[Seen], all: &Seen, weighted: bool) -> Option<f64> {
    let task_of = |(t, seen): (usize, &Seen)| std::iter::repeat_n(t as u32, seen.labels.len());
    let tasks: Vec<u32> = seen.iter().enumerate().flat_map(task_of).collect();
    metrics::explained_variance_within(&tasks, &all.labels, &all.scores, weighted.then_some(&all.weights[..]))
}

/// Over the tasks that have rows.
fn mean(tasks: &[Task], metric: usize, pooled: Option<f64>) -> Mean {
    let with_rows = tasks.iter().filter(|task| task.n > 0);
    let defined: Vec<f64> = with_rows.clone().filter_map(|task| task.values[metric]).collect();
    let n = defined.len();
    let mean = (n > 0).then(|| defined.iter().sum::<f64>() / n as f64);
    Mean { mean, n_defined: n, n_undefined: with_rows.count() - n, pooled }
}

fn in_words(tasks: &[Task], means: &[Mean], metrics: &[(&str, Score)], signs: bool) -> String {
    let mut heads = vec!["task".to_string(), ">rows".into()];
    heads.extend(signs.then(|| ">positive".into()));
    heads.extend(metrics.iter().map(|(name, _)| format!(">{}", name.replace('_', " "))));
    let mut grid = Grid::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    let cell = |value: Option<f64>| value.map_or("undefined".into(), text::score);
    for task in tasks.iter().filter(|task| task.n > 0) {
        let mut cells = vec![task.task.clone(), count(task.n)];
        cells.extend(task.n_positive.map(count));
        cells.extend(task.values.iter().map(|v| cell(*v)));
        grid.row(cells);
    }
    let rows: usize = tasks.iter().map(|task| task.n).sum();
    let mut summary = |name: &str, value: &dyn Fn(&Mean) -> Option<f64>| {
        let mut cells = vec![name.to_string(), count(rows)];
        cells.extend(signs.then(|| count(tasks.iter().filter_map(|task| task.n_positive).sum())));
        cells.extend(means.iter().map(|m| cell(value(m))));
        grid.row(cells);
    };
    summary("mean over tasks", &|m| m.mean);
    summary("all rows together", &|m| m.pooled);
    let mut text = grid.to_string();
    for ((name, _), m) in metrics.iter().zip(means).filter(|(_, m)| m.n_undefined > 0) {
        let (name, n) = (name.replace('_', " "), plural(m.n_undefined, "task"));
        text += &format!("{name} is undefined for {n}, left out of the mean\n");
    }
    let empty = tasks.iter().filter(|task| task.n == 0).count();
    if empty > 0 {
        text += &format!("{} of the model without rows here\n", plural(empty, "task"));
    }
    text
}
