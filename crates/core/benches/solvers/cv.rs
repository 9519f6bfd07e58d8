//! Which C is worth solving for: the best of seven strengths on one held-out third.

use crate::Pair;
use crate::data::{BenchData, BenchLabels};
use kinfolk::metrics::{self, PerTask};
use kinfolk::{
    CScale, Dataset, DatasetOptions, Error, Inputs, Intercept, Observations, Problem, ProblemSpec, Result,
    Settings, fit,
};
use serde_json::{Value, json};
use std::time::Duration;

const MOST_ROWS: usize = 2000;
const MOST_CLASSES: usize = 100;

/// Scores this close to the best, relative to it, are as good.
const FLAT: f64 = 0.002;

fn options(data: &BenchData, pair: &Pair) -> DatasetOptions {
    DatasetOptions { kernel: data.kernel.clone(), threads: pair.threads, ..DatasetOptions::default() }
}

/// C and lambda of a strength on all the data.
pub(crate) fn weights(data: &BenchData, pair: &Pair, strength: f64) -> Result<Value> {
    let dataset = Dataset::new(&data.inputs, &data.observations, options(data, pair))?;
    let weights = CScale::new(&dataset, &pair.loss()?.into(), Intercept::None)?.weights(
        &pair.output,
        None,
        strength,
    )?;
    Ok(json!({"strength": strength, "c": weights.c, "lambda": weights.lambda}))
}

/// The strongest regularisation that is as good as the best.
pub(crate) fn answer(data: &BenchData, pair: &Pair, cap: f64) -> Result<Value> {
    let parts = Parts::new(data)?;
    let dataset = Dataset::new(&parts.train, &parts.observations, options(data, pair))?;
    let c_scale = CScale::new(&dataset, &pair.loss()?.into(), Intercept::None)?;
    let mut scores = vec![];
    for exponent in -3..=3 {
        let strength = 10f64.powi(exponent);
        let weights = c_scale.weights(&pair.output, None, strength)?;
        let spec = ProblemSpec {
            loss: pair.loss()?.into(),
            output: pair.output.clone(),
            c: weights.c,
            lambda: weights.lambda,
            atoms: vec![],
            intercept: Intercept::None,
        };
        let settings = Settings {
            tolerance: 1e-3,
            max_passes: usize::MAX,
            max_time: Some(Duration::from_secs_f64(cap)),
            ..Settings::default()
        };
        let fit = fit(&Problem::new(&dataset, spec)?, &settings)?;
        scores.push((strength, parts.score(&fit.model)?, fit.certificate().rel_gap()));
    }
    let best = scores.iter().filter_map(|(_, score, _)| *score).fold(f64::NEG_INFINITY, f64::max);
    let chosen = scores.iter().find(|(_, score, _)| score.is_some_and(|s| s >= best - FLAT * best.abs()));
    let strength =
        chosen.map(|(strength, ..)| *strength).ok_or(Error::Empty { what: "the list of scores" })?;
    let mut said = weights(data, pair, strength)?;
    said["metric"] = json!(data.meta.metric);
    said["scores"] = json!(scores);
    Ok(said)
}

/// Two thirds to learn from, one third to be judged by.
struct Parts<'a> {
    train: Inputs<'static>,
    observations: Observations,
    test: Inputs<'static>,
    truth: Truth<'a>,
}

enum Truth<'a> {
    Classes(Vec<u32>),
    Tasks { metric: &'a str, n_tasks: usize, task: Vec<u32>, label: Vec<f64> },
}

impl<'a> Parts<'a> {
    fn new(data: &'a BenchData) -> Result<Self> {
        let group_of_row = match &data.labels {
            BenchLabels::Classes(class) => class,
            BenchLabels::Tasks(task, _) => task,
            BenchLabels::Table => {
                return Err(Error::Incompatible("no held-out part of a table of labels".into()));
            }
        };
        let n_groups = data.meta.tasks;
        // Classes that stay, evenly spaced, with new numbers; tasks all stay.
        let kept = if matches!(data.labels, BenchLabels::Classes(_)) {
            n_groups.min(MOST_CLASSES)
        } else {
            n_groups
        };
        let mut number = vec![None; n_groups];
        (0..kept).for_each(|i| number[i * n_groups / kept] = Some(i as u32));
        let (most, mut seen) = ((MOST_ROWS / kept).max(3), vec![0; n_groups]);
        let (mut train, mut test) = (vec![], vec![]);
        for (row, &group) in group_of_row.iter().enumerate() {
            let place = &mut seen[group as usize];
            if number[group as usize].is_some() && *place < most {
                if *place % 3 == 2 { test.push(row as u32) } else { train.push(row as u32) }
            }
            *place += 1;
        }
        let group = |&row: &u32| number[group_of_row[row as usize] as usize].expect("a group that stays");
        let groups = |rows: &[u32]| -> Vec<u32> { rows.iter().map(group).collect() };
        let (observations, truth) = match &data.labels {
            BenchLabels::Tasks(_, y) => {
                let label = |rows: &[u32]| -> Vec<f64> { rows.iter().map(|&row| y[row as usize]).collect() };
                let metric = data.meta.metric.as_str();
                let (task, label_of_test) = (groups(&test), label(&test));
                (
                    Observations::multi_task(&groups(&train), label(&train))?,
                    Truth::Tasks { metric, n_tasks: kept, task, label: label_of_test },
                )
            }
            _ => (Observations::multi_class(&groups(&train), kept)?, Truth::Classes(groups(&test))),
        };
        let (train, test) = (data.inputs.select_rows(&train), data.inputs.select_rows(&test));
        Ok(Parts { train, observations, test, truth })
    }

    fn score(&self, model: &kinfolk::Model) -> Result<Option<f64>> {
        Ok(match &self.truth {
            Truth::Classes(class) => metrics::class_accuracy(class, &model.predict_all(&self.test)?, None),
            Truth::Tasks { metric, n_tasks, task, label } => {
                let metric = if *metric == "auc" { metrics::auc } else { metrics::r2 };
                let scores = model.predict(&self.test, task)?;
                PerTask::new(metric, *n_tasks, task, label, &scores, None).mean()
            }
        })
    }
}
