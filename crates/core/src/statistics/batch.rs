//! Rows as they come: checked, counted and cut into pieces of work.

use super::moments::LabelledRows;
use super::{Counts, PART_ROWS};
use crate::inputs::Inputs;
use crate::{Error, Observations, Result};

/// Rows of one piece of work.
pub(super) struct BatchPart {
    /// `None` if the labels are those of all tasks.
    pub(super) task: Option<usize>,
    rows: Vec<u32>,
    weights: Vec<f64>,
    labels: Vec<f64>,
}

impl BatchPart {
    pub(super) fn labelled(&self) -> LabelledRows<'_> {
        LabelledRows { rows: &self.rows, weights: &self.weights, labels: &self.labels }
    }
}

/// The rows of a table in which every row has a label for every task.
pub(super) fn parts_of_table(observations: &Observations, targets: &[f64]) -> Vec<BatchPart> {
    let t = observations.n_tasks();
    let weight = |i: u32| observations.weight(i as usize * t);
    let rows: Vec<u32> = (0..observations.n_inputs() as u32).filter(|&i| weight(i) > 0.0).collect();
    let part = |rows: &[u32]| BatchPart {
        task: None,
        rows: rows.to_vec(),
        weights: rows.iter().map(|&i| weight(i)).collect(),
        labels: rows.iter().flat_map(|&i| &targets[i as usize * t..(i as usize + 1) * t]).copied().collect(),
    };
    rows.chunks(PART_ROWS).map(part).collect()
}

/// The rows of each task.
pub(super) fn parts_of_tasks(observations: &Observations, targets: &[f64]) -> Vec<BatchPart> {
    let mut of_task: Vec<Vec<usize>> = vec![vec![]; observations.n_tasks()];
    for o in (0..observations.len()).filter(|&o| observations.weight(o) > 0.0) {
        of_task[observations.task(o)].push(o);
    }
    let part = |task: usize, own: &[usize]| BatchPart {
        task: Some(task),
        rows: own.iter().map(|&o| observations.input(o) as u32).collect(),
        weights: own.iter().map(|&o| observations.weight(o)).collect(),
        labels: own.iter().map(|&o| targets[o]).collect(),
    };
    let parts = of_task.iter().enumerate();
    parts.flat_map(|(task, own)| own.chunks(PART_ROWS).map(move |own| part(task, own))).collect()
}

/// The labels less offsets, if everything is in order.
pub(super) fn check_batch(inputs: &Inputs<'_>, observations: &Observations) -> Result<Vec<f64>> {
    if matches!(inputs, Inputs::Gram(_)) {
        return Err(Error::Incompatible(
            "statistics are about features, these inputs are kernel values".into(),
        ));
    }
    let (got, expected) = (inputs.n_inputs(), observations.n_inputs());
    if got != expected {
        return Err(Error::Length { what: "the list of inputs", got, expected });
    }
    let targets = observations.targets().into_owned();
    if let Some(row) = targets.iter().position(|y| !y.is_finite()) {
        let task = observations.task_names().name(observations.task(row));
        let (value, expected) = (observations.label(row), "must be a finite number");
        return Err(Error::Label { row, task, value, loss: "squared", expected });
    }
    Ok(targets)
}

/// Whether the labels of each row of a complete table have the same weight.
pub(super) fn rows_have_one_weight(observations: &Observations) -> bool {
    let t = observations.n_tasks();
    observations.uniform_weight().is_some()
        || (0..observations.n_inputs())
            .all(|i| (1..t).all(|k| observations.weight(i * t + k) == observations.weight(i * t)))
}

/// Rows with a label of positive weight.
pub(super) fn rows_that_count(observations: &Observations) -> Vec<u32> {
    let counts = |i: &u32| observations.of_input(*i as usize).any(|o| observations.weight(o) > 0.0);
    (0..observations.n_inputs() as u32).filter(counts).collect()
}

/// Sums and flags of a batch.
pub(super) fn counts_of(inputs: &Inputs<'_>, observations: &Observations) -> Counts {
    let weights = (0..observations.len()).map(|o| observations.weight(o)).filter(|w| *w > 0.0);
    Counts {
        inputs: inputs.n_inputs() as u64,
        observations: observations.len() as u64,
        complete: observations.is_complete(),
        sparse: matches!(inputs, Inputs::Sparse(_)),
        only_signs: observations.labels().iter().all(|y| y.abs() == 1.0),
        offsets: observations.offsets().is_some(),
        lightest: weights.fold(f64::INFINITY, f64::min),
    }
}
