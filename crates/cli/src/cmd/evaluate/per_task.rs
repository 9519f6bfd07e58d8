//! Scores of each task, and their means.

use super::EvaluateArgs;
use super::importance::known_rows;
use crate::args::task_column;
use crate::cmd::predict::half_widths;
use crate::data_files::DataFiles;
use crate::failure::Result;
use crate::report::Report;
use crate::scores::{Chunk, of_labelled, without_labels};
use crate::text::{self, Grid, count, plural};
use kinfolk::{LossKind, Losses};
use kinfolk_io::Targets;
use kinfolk_train::{Average, Measure, Metric, Predictions, Score, Trained, all_losses};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

const SIGNS: [Measure; 5] =
    [Measure::Auc, Measure::PrAuc, Measure::Accuracy, Measure::BalancedAccuracy, Measure::F1Macro];
const LOGISTIC: [Measure; 2] = [Measure::LogLoss, Measure::Brier];
const NUMBERS: [Measure; 5] =
    [Measure::R2, Measure::ExplainedVariance, Measure::Rmse, Measure::Nrmse, Measure::Mae];

/// Names of lines.
const MEAN: &str = "mean over tasks";
const TOGETHER: &str = "all rows together";

#[derive(Serialize)]
struct TaskScores<'a> {
    model: &'a Path,
    data: &'a DataFiles,
    /// Rows with a label.
    n_inputs: usize,
    n_labels: usize,
    n_tasks: usize,
    metrics: Map<String, Value>,
    /// How many labels intervals hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<IntervalOutput>,
    tasks: Vec<Task>,
}

#[derive(Serialize)]
struct IntervalOutput {
    level: f64,
    coverage: Option<f64>,
    mean_width: Option<f64>,
    n_without_interval: usize,
}

/// Labels of a task and intervals.
#[derive(Debug, Clone, Copy, Default)]
struct Coverage {
    rows: usize,
    inside: usize,
    width: f64,
    without: usize,
}

impl Coverage {
    fn add(&mut self, error: f64, half: f64) {
        if half.is_nan() {
            self.without += 1;
            return;
        }
        self.rows += 1;
        self.inside += usize::from(error.abs() <= half);
        self.width += 2.0 * half;
    }

    fn share(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.inside as f64 / self.rows as f64)
    }

    fn sum(all: &[Coverage]) -> Coverage {
        all.iter().fold(Coverage::default(), |a, b| Coverage {
            rows: a.rows + b.rows,
            inside: a.inside + b.inside,
            width: a.width + b.width,
            without: a.without + b.without,
        })
    }

    fn mean_width(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.width / self.rows as f64)
    }
}

#[derive(Serialize)]
struct Task {
    task: String,
    n: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_positive: Option<usize>,
    #[serde(flatten)]
    scores: Map<String, Value>,
    /// Share of the labels that intervals hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    coverage: Option<f64>,
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

pub(super) fn run(args: &EvaluateArgs, data: &DataFiles, trained: &Trained, report: Report) -> Result<()> {
    let model = &trained.model;
    let loss = &model.about().problem.loss;
    let signs = all_losses(loss, LossKind::is_classification);
    let metrics = metrics(args, loss, signs);
    let widths = args.interval.map(|level| half_widths(trained, level)).transpose()?;
    let (mut coverage, mut n_inputs): (Vec<Coverage>, usize) = (vec![], 0);
    let seen = Predictions::new(loss, model.tasks().len())?;
    let seen = seen.with_class_exponent(trained.outcome.exponent_of_classes());
    let mut seen = seen.with_target_scale(model.about().target_scale);
    let mut names: Vec<String> = model.tasks().iter().collect();
    let atoms = args.new_rows.atoms(&args.columns, trained)?;
    let new_tasks = trained.new_tasks(&atoms)?;
    let task_column = task_column(&args.columns, trained);
    args.for_each_chunk(data, trained, report, |table, first_row| {
        // A class that the model does not know has no score.
        let known = matches!(table.targets, Targets::Classes(_))
            .then(|| table.select_rows(&known_rows(table, trained)));
        let table = known.as_ref().unwrap_or(table);
        if table.n_rows() == 0 {
            return Ok(());
        }
        let chunk = Chunk { table, path: data.first(), first_row, task_column: task_column.as_deref() };
        let unknown = args.new_rows.unknown_task;
        let (observations, scores) = of_labelled(trained, &new_tasks, &chunk, unknown, &mut names)?;
        seen.reach(names.len());
        args.metric.iter().try_for_each(|metric| metric.check(&observations, loss))?;
        coverage.resize(names.len(), Coverage::default());
        let mut has_label = vec![false; table.n_rows()];
        for (o, score) in scores.into_iter().enumerate() {
            has_label[observations.input(o)] = true;
            if let Some(widths) = &widths {
                let task = observations.task(o);
                let known = (task < model.tasks().len()).then_some(task as u32);
                coverage[task].add(observations.label(o) - score, widths.of(known));
            }
            let weight = if args.weighted { observations.weight(o) } else { 1.0 };
            seen.push(&observations, o, score, weight);
        }
        n_inputs += has_label.iter().filter(|has| **has).count();
        Ok(())
    })?;
    if seen.counts().iter().all(|n| *n == 0) {
        return Err(without_labels(trained).about(data.first()));
    }
    let scores: Vec<Score> = metrics.iter().map(|metric| seen.score(*metric)).collect();
    let (counts, positive) = (seen.counts(), seen.positive_counts());
    let key = |metric: &Metric| metric.measure_name().replace('-', "_");
    let of_task = |t: usize| {
        let values: Vec<Option<f64>> = scores.iter().map(|score| score.per_task[t]).collect();
        let named = metrics.iter().zip(&values).map(|(metric, v)| (key(metric), (*v).into()));
        Task {
            task: names[t].clone(),
            n: counts[t],
            n_positive: signs.then(|| positive[t]),
            scores: named.collect(),
            coverage: coverage.get(t).and_then(Coverage::share),
            values,
        }
    };
    let tasks: Vec<Task> = (0..names.len()).map(of_task).collect();
    let means: Vec<Mean> = scores.iter().map(Mean::from).collect();
    let interval = args.interval.map(|level| {
        let all = Coverage::sum(&coverage);
        let (coverage, mean_width) = (all.share(), all.mean_width());
        IntervalOutput { level, coverage, mean_width, n_without_interval: all.without }
    });
    let mut words = in_words(&tasks, &means, &metrics, signs, interval.as_ref());
    words += &about_lines(&metrics, &args.metric);
    let named = metrics.iter().zip(&means).map(|(metric, m)| (key(metric), serde_json::json!(m)));
    let said = TaskScores {
        model: &args.model,
        data,
        n_inputs,
        n_labels: counts.iter().sum(),
        n_tasks: tasks.len(),
        metrics: named.collect(),
        interval,
        tasks,
    };
    report.answer(&said, words)
}

impl From<&Score> for Mean {
    fn from(score: &Score) -> Self {
        Mean {
            mean: score.mean,
            n_defined: score.per_task.iter().flatten().count(),
            n_undefined: score.undefined,
            pooled: score.pooled,
        }
    }
}

/// The one that is asked for, or all that suit the labels.
fn metrics(args: &EvaluateArgs, loss: &Losses, signs: bool) -> Vec<Metric> {
    if !args.metric.is_empty() {
        return args.metric.clone();
    }
    let mut measures = if signs { SIGNS.to_vec() } else { NUMBERS.to_vec() };
    if all_losses(loss, |loss| *loss == LossKind::Logistic) {
        measures.extend(LOGISTIC);
    }
    measures.into_iter().map(Metric::new).collect()
}

/// Which line is the score that is asked for, and that scores of all rows together are no scores over all rows.
fn about_lines(metrics: &[Metric], asked: &[Metric]) -> String {
    let line = |metric: &Metric| match metric.average {
        Average::Tasks => format!("{metric} is the line {MEAN}\n"),
        Average::Rows => format!("{metric} is the line {TOGETHER}\n"),
    };
    let in_units = |metric: &&Metric| {
        matches!(metric.measure, Measure::R2 | Measure::ExplainedVariance | Measure::Nrmse)
    };
    let names: Vec<String> = metrics.iter().filter(in_units).map(|metric| in_table(*metric)).collect();
    let units = match names.as_slice() {
        [] => String::new(),
        names => format!(
            "{TOGETHER} takes {} around the mean of each task and in units of its variance, unlike r2_score over all \
             rows\n",
            names.join(", ")
        ),
    };
    asked.iter().map(line).collect::<String>() + &units
}

/// The name of a score in the first line of the table.
fn in_table(metric: Metric) -> String {
    metric.measure_name().replace('-', " ")
}

fn in_words(
    tasks: &[Task],
    means: &[Mean],
    metrics: &[Metric],
    signs: bool,
    interval: Option<&IntervalOutput>,
) -> String {
    let mut heads = vec!["task".to_string(), ">rows".into()];
    heads.extend(signs.then(|| ">positive".into()));
    heads.extend(metrics.iter().map(|metric| format!(">{}", in_table(*metric))));
    heads.extend(interval.map(|_| ">in interval".into()));
    let mut grid = Grid::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    let cell = |value: Option<f64>| value.map_or("undefined".into(), text::score);
    for task in tasks.iter().filter(|task| task.n > 0) {
        let mut cells = vec![task.task.clone(), count(task.n)];
        cells.extend(task.n_positive.map(count));
        cells.extend(task.values.iter().map(|v| cell(*v)));
        cells.extend(interval.map(|_| cell(task.coverage)));
        grid.row(cells);
    }
    let rows: usize = tasks.iter().map(|task| task.n).sum();
    let mut summary = |name: &str, value: &dyn Fn(&Mean) -> Option<f64>, covered: Option<f64>| {
        let mut cells = vec![name.to_string(), count(rows)];
        cells.extend(signs.then(|| count(tasks.iter().filter_map(|task| task.n_positive).sum())));
        cells.extend(means.iter().map(|m| cell(value(m))));
        cells.extend(interval.map(|_| cell(covered)));
        grid.row(cells);
    };
    let of_tasks: Vec<f64> = tasks.iter().filter_map(|task| task.coverage).collect();
    let mean = (!of_tasks.is_empty()).then(|| of_tasks.iter().sum::<f64>() / of_tasks.len() as f64);
    summary(MEAN, &|m| m.mean, mean);
    summary(TOGETHER, &|m| m.pooled, interval.and_then(|interval| interval.coverage));
    let mut text = grid.to_string();
    if let Some(interval) = interval {
        let width = interval
            .mean_width
            .map_or(String::new(), |width| format!(", {} wide on average", text::score(width)));
        text += &format!("intervals are those of level {}{width}\n", interval.level);
        if interval.n_without_interval > 0 {
            text += &format!("{} without interval\n", plural(interval.n_without_interval, "label"));
        }
    }
    for (metric, m) in metrics.iter().zip(means).filter(|(_, m)| m.n_undefined > 0) {
        let (name, n) = (in_table(*metric), plural(m.n_undefined, "task"));
        text += &format!("{name} is undefined for {n}, left out of the mean\n");
    }
    let is_lone = |task: &&Task| task.n_positive.is_some_and(|positive| positive.min(task.n - positive) == 1);
    let lone: Vec<String> = tasks.iter().filter(is_lone).map(|task| task.task.clone()).collect();
    let note = metrics.iter().find_map(|metric| metric.note_on_lone_rows(&lone));
    text += &note.map_or(String::new(), |note| format!("{note}\n"));
    let empty = tasks.iter().filter(|task| task.n == 0).count();
    if empty > 0 {
        text += &format!("{} of the model without rows here\n", plural(empty, "task"));
    }
    text
}
