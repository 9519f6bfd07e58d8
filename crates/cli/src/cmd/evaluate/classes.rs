//! Is the right class the one with the highest score?

use super::EvaluateArgs;
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::report::Report;
use crate::scores::{highest, without_labels};
use crate::text::{Grid, count, plural, score};
use kinfolk_io::Targets;
use kinfolk_train::Trained;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Classes that are named; the rest is counted.
const MAX_NAMED: usize = 8;

#[derive(Serialize)]
struct ClassScores<'a> {
    model: &'a Path,
    data: &'a DataFiles,
    /// Rows that are scored.
    n_inputs: usize,
    n_classes: usize,
    accuracy: f64,
    balanced_accuracy: f64,
    top: Map<String, Value>,
    classes: Vec<Class>,
    /// Rows of classes that the model does not know; they are not scored.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unknown_classes: BTreeMap<String, usize>,
}

#[derive(Serialize)]
struct Class {
    class: String,
    n: usize,
    /// Share of its rows that are recognised.
    accuracy: Option<f64>,
}

/// Sums of weights.
#[derive(Debug, Default)]
struct Sums {
    rows: Vec<usize>,
    weight: Vec<f64>,
    right: Vec<f64>,
    /// Weight of the rows whose class is at place 0, 1, ... by its score.
    at_place: Vec<f64>,
}

pub(super) fn run(args: &EvaluateArgs, data: &DataFiles, trained: &Trained, report: Report) -> Result<()> {
    let tasks = trained.model.tasks();
    let t = tasks.len();
    let mut sums =
        Sums { rows: vec![0; t], weight: vec![0.0; t], right: vec![0.0; t], at_place: vec![0.0; t] };
    let mut unknown: BTreeMap<String, usize> = BTreeMap::new();
    args.for_each_chunk(data, trained, report, |table, _| {
        let Targets::Classes(class) = &table.targets else {
            return Err(without_labels(trained).about(data.first()));
        };
        let places = crate::scores::places(class, &trained.model);
        let all =
            trained.model.predict_all(&table.inputs).map_err(|e| Failure::from(e).about(data.first()))?;
        for (row, place) in places.into_iter().enumerate() {
            // A row without a class tells nothing.
            if class.name(row).is_empty() {
                continue;
            }
            let Some(own) = place.map(|p| p as usize) else {
                *unknown.entry(class.name(row)).or_default() += 1;
                continue;
            };
            let weight = if args.weighted { table.weight.as_ref().map_or(1.0, |w| w[row]) } else { 1.0 };
            let scores = all.row(row);
            // Of equal scores the first class is taken to be the higher one, as in predictions.
            let before = (0..t).filter(|&c| scores[c] > scores[own] || (scores[c] == scores[own] && c < own));
            sums.at_place[before.count()] += weight;
            sums.rows[own] += 1;
            sums.weight[own] += weight;
            sums.right[own] += if highest(scores) == own { weight } else { 0.0 };
        }
        Ok(())
    })?;
    let is_empty = sums.rows.iter().all(|n| *n == 0);
    if is_empty && !unknown.is_empty() {
        let names: Vec<String> = tasks.iter().take(MAX_NAMED).map(|name| format!("{name:?}")).collect();
        let why = format!("no row has a class that the model knows: {}", in_list(&unknown));
        let cure =
            format!("the model has {} (--ignore-case in fit takes spellings for one)", names.join(", "));
        return Err(Failure::input(format!("{why}; {cure}")).about(data.first()));
    }
    if !unknown.is_empty() {
        let rows = plural(unknown.values().sum(), "row");
        report.note(format!(
            "{rows} of a class that was not there in training, never predicted and left out of the scores: {}",
            in_list(&unknown)
        ));
    }
    if is_empty {
        return Err(without_labels(trained).about(data.first()));
    }
    let share = |c: usize| (sums.weight[c] > 0.0).then(|| sums.right[c] / sums.weight[c]);
    let total: f64 = sums.weight.iter().sum();
    let within = |k: u32| sums.at_place.iter().take(k as usize).sum::<f64>() / total;
    let shares: Vec<f64> = (0..t).filter_map(share).collect();
    let said = ClassScores {
        model: &args.model,
        data,
        n_inputs: sums.rows.iter().sum(),
        n_classes: t,
        accuracy: within(1),
        balanced_accuracy: shares.iter().sum::<f64>() / shares.len() as f64,
        top: args.top.iter().map(|&k| (k.to_string(), within(k).into())).collect(),
        classes: (0..t)
            .map(|c| Class { class: tasks.name(c), n: sums.rows[c], accuracy: share(c) })
            .collect(),
        unknown_classes: unknown,
    };
    let text = in_words(&said, &args.top);
    report.answer(&said, text)
}

/// Classes with their rows, the first few.
fn in_list(classes: &BTreeMap<String, usize>) -> String {
    let named = classes.iter().take(MAX_NAMED).map(|(name, n)| format!("{name:?} ({})", plural(*n, "row")));
    let mut list: Vec<String> = named.collect();
    let more = classes.len() - list.len();
    list.extend((more > 0).then(|| format!("{more} more")));
    list.join(", ")
}

fn in_words(said: &ClassScores<'_>, top: &[u32]) -> String {
    let mut grid = Grid::new(&["class", ">rows", ">accuracy"]);
    for class in &said.classes {
        let accuracy = class.accuracy.map_or("undefined".into(), score);
        grid.row([class.class.clone(), count(class.n), accuracy]);
    }
    let scored = said.classes.iter().map(|class| class.n).sum();
    let mut summary = |name: String, value: f64| grid.row([name, count(scored), score(value)]);
    summary("all".into(), said.accuracy);
    summary("mean over classes".into(), said.balanced_accuracy);
    for k in top.iter().filter(|k| **k > 1) {
        let within = said.top.get(&k.to_string()).and_then(Value::as_f64).unwrap_or(f64::NAN);
        summary(format!("within the top {k}"), within);
    }
    grid.to_string()
}
