//! What drives the predictions of any model: how much its score falls when a column is shuffled.

use crate::parallel::{in_parallel, threads_or_cores};
use crate::select::mean_and_sd;
use crate::{Error, Metric, Result, Score, StudyObserver, predict};
use kinfolk::inputs::Dense;
use kinfolk::{Inputs, Kernel, Model, Observations};
use kinfolk_io::{Feature, Schema};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows that are predicted at a time, between two questions whether to stop; the engine takes as many at once.
const MOST_ROWS: usize = 256;

/// Products that a prediction of so many rows may take: a tenth of a second or so.
const PRODUCTS_AT_ONCE: usize = 200_000_000;

/// So many features of names that count from 0 (`emb_0`, `emb_1`, ...) are the numbers of one list.
const MIN_LIST_LENGTH: usize = 32;

/// Features that are shuffled together: all that one column of the file became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceColumn {
    /// Its name.
    pub name: String,
    features: Range<usize>,
}

/// The columns that the features of a model come from.
pub fn source_columns(schema: &Schema, n_features: usize) -> Vec<SourceColumn> {
    let Some(features) = &schema.features else {
        let one = |j: usize| SourceColumn { name: format!("feature {j}"), features: j..j + 1 };
        return (0..n_features).map(one).collect();
    };
    let (mut columns, mut first, mut i) = (vec![], 0, 0);
    while i < features.len() {
        let (name, n, width) = match list_from(&features[i..]) {
            Some((stem, n)) => (stem, n, n),
            None => (features[i].column().to_string(), 1, features[i].names().len()),
        };
        columns.push(SourceColumn { name, features: first..first + width });
        (first, i) = (first + width, i + n);
    }
    columns
}

/// The name and the length of the list that the first features are the numbers of.
fn list_from(features: &[Feature]) -> Option<(String, usize)> {
    let Feature::Number(first) = features.first()? else { return None };
    let stem = first.strip_suffix("_0")?;
    let is_next = |(k, feature): &(usize, &Feature)| {
        let name = format!("{stem}_{k}");
        **feature == Feature::Number(name)
    };
    let n = features.iter().enumerate().take_while(is_next).count();
    (n >= MIN_LIST_LENGTH).then(|| (stem.to_string(), n))
}

/// How important columns are.
#[derive(Debug, Clone, Serialize)]
pub struct Importances {
    /// What falls.
    pub metric: Metric,
    /// Its value with the columns as they are.
    pub score: f64,
    /// The most important first.
    pub columns: Vec<Importance>,
}

/// How important a column is.
#[derive(Debug, Clone, Serialize)]
pub struct Importance {
    /// Its name.
    pub column: String,
    /// By how much the score gets worse when the column is shuffled: mean over shuffles.
    pub fall: f64,
    /// Standard deviation over shuffles; 0 for one.
    pub sd: f64,
    /// The same for each task of the model, where the score is defined.
    pub per_task: Vec<Option<f64>>,
}

/// How shuffles are made.
#[derive(Debug, Clone, Copy)]
pub struct Shuffles {
    /// How often each column is shuffled.
    pub times: usize,
    /// Seed of the orders.
    pub seed: u64,
    /// Threads; 0 = one per core.
    pub threads: usize,
}

/// Permutation importance (Breiman 2001): columns are shuffled over all rows, one after the other, in orders that all
/// columns share. `None` if the observer said stop.
///
/// # Errors
/// If inputs are kernel values, or the metric or the data do not suit the model.
pub fn importances(
    model: &Model,
    (inputs, observations): (&Inputs<'_>, &Observations),
    columns: &[SourceColumn],
    metric: Metric,
    shuffles: Shuffles,
    observer: &dyn StudyObserver,
) -> Result<Option<Importances>> {
    let losses = &model.about().problem.loss;
    metric.check(observations, losses)?;
    let (n, d) = (inputs.n_inputs(), inputs.n_features());
    let values = dense_values(inputs)?;
    let scored = |values: &[f64]| -> Result<Option<Score>> {
        let Some(predictions) = predict_rows(model, values, observations, observer)? else { return Ok(None) };
        metric.score(observations, losses, &predictions).map(Some)
    };
    let Some(whole) = scored(&values)? else { return Ok(None) };
    let orders: Vec<Vec<usize>> = (0..shuffles.times)
        .map(|time| {
            let mut order: Vec<usize> = (0..n).collect();
            order.shuffle(&mut ChaCha8Rng::seed_from_u64(shuffles.seed.wrapping_add((time as u64) << 32)));
            order
        })
        .collect();
    let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
    let done = AtomicUsize::new(0);
    let fall = |column: &SourceColumn| -> Result<Option<Importance>> {
        let mut scores = vec![];
        for order in &orders {
            let mut shuffled = values.clone();
            for (i, &from) in order.iter().enumerate() {
                let (to, from) = (i * d, from * d);
                let (first, last) = (column.features.start, column.features.end);
                shuffled[to + first..to + last].copy_from_slice(&values[from + first..from + last]);
            }
            let Some(score) = scored(&shuffled)? else { return Ok(None) };
            scores.push(score);
        }
        let falls: Vec<f64> = scores.iter().map(|score| sign * (whole.value - score.value)).collect();
        let (fall, sd) = mean_and_sd(&falls);
        let of_task = |t: usize| {
            let falls: Option<Vec<f64>> =
                scores.iter().map(|score| Some(sign * (whole.per_task[t]? - score.per_task[t]?))).collect();
            falls.map(|falls| mean_and_sd(&falls).0)
        };
        let per_task = (0..whole.per_task.len()).map(of_task).collect();
        observer.done(&column.name, done.fetch_add(1, Ordering::Relaxed) + 1, columns.len());
        Ok(Some(Importance { column: column.name.clone(), fall, sd, per_task }))
    };
    let Some(mut found) = in_parallel(columns, threads_or_cores(shuffles.threads), fall)? else {
        return Ok(None);
    };
    found.sort_by(|a, b| b.fall.total_cmp(&a.fall));
    Ok(Some(Importances { metric, score: whole.value, columns: found }))
}

/// As [`predict`] does, some rows at a time; `None` if the observer said stop.
fn predict_rows(
    model: &Model,
    values: &[f64],
    observations: &Observations,
    observer: &dyn StudyObserver,
) -> Result<Option<Vec<f64>>> {
    let about = model.about();
    let d = about.n_features.max(1);
    let per_input = match about.kernel {
        Kernel::Linear | Kernel::Cosine => about.tasks.len(),
        _ => about.n_inputs,
    };
    let rows = (PRODUCTS_AT_ONCE / d.saturating_mul(per_input).max(1)).clamp(1, MOST_ROWS);
    let mut predictions = vec![0.0; observations.len()];
    for (chunk, values) in values.chunks(rows * d).enumerate() {
        if observer.stop() {
            return Ok(None);
        }
        let (first, n) = (chunk * rows, values.len() / d);
        let inputs = Inputs::from(Dense::f64(values, n, d)?);
        let places: Vec<usize> = (first..first + n).flat_map(|i| observations.of_input(i)).collect();
        if places.is_empty() {
            continue;
        }
        let input = places.iter().map(|&o| (observations.input(o) - first) as u32).collect();
        let task = places.iter().map(|&o| observations.task(o) as u32).collect();
        let labels = vec![0.0; places.len()];
        let own = Observations::from_triples(n, observations.n_tasks(), input, task, labels)?;
        places.iter().zip(predict(model, &inputs, &own)?).for_each(|(&o, score)| predictions[o] = score);
    }
    observations.add_offsets(&mut predictions);
    Ok(Some(predictions))
}

/// All values, row by row.
fn dense_values(inputs: &Inputs<'_>) -> Result<Vec<f64>> {
    let rows: Vec<u32> = (0..inputs.n_inputs() as u32).collect();
    let mut values = vec![0.0; inputs.n_inputs() * inputs.n_features()];
    match inputs {
        Inputs::Dense(dense) => dense.load(&rows, &mut values),
        Inputs::Sparse(sparse) => sparse.load(&rows, &mut values),
        _ => return Err(Error::Study("kernel values have no columns that could be shuffled".into())),
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk_io::ColumnRoles;

    #[test]
    fn features_of_one_column_are_shuffled_together() {
        let mut schema = Schema::new(ColumnRoles::default(), None, 3);
        assert_eq!(source_columns(&schema, 2)[1], SourceColumn { name: "feature 1".into(), features: 1..2 });
        let number = |name: String| Feature::Number(name);
        let (column, values) = ("colour".to_string(), vec!["blue".into(), "red".into()]);
        let mut features = vec![number("x_0".into()), number("x_1".into())];
        features.push(Feature::OneHot {
            column,
            values,
            other: false,
            missing: true,
            filled: false,
            no: None,
            fill: None,
        });
        features.extend((0..40).map(|k| number(format!("emb_{k}"))));
        features.push(number("age".into()));
        schema.features = Some(features);
        let found = source_columns(&schema, 46);
        let of = |name: &str| found.iter().find(|column| column.name == name).unwrap().features.clone();
        assert_eq!((of("x_1"), of("colour"), of("emb"), of("age")), (1..2, 2..5, 5..45, 45..46));
        assert_eq!(found.len(), 5);
    }
}
