//! A chunk of rows while it is being read.

use super::keys::KeyColumn;
use super::{Kind, Layout, OneHot, Target};
use crate::keys::names_of;
use crate::{Error, Keys, Labels, Result, Table, Targets};
use kinfolk::inputs::{Dense, Inputs, Sparse};
use kinfolk::{Matrix, TaskNames};
use std::path::Path;

/// How many feature values a chunk may hold, whatever number of rows is asked for: 64 MiB in double precision.
const MOST_VALUES: usize = 8 << 20;

/// Rows with what the layout takes from them. Features are one number per column: of a one-hot column, which value it is.
pub(crate) struct Rows {
    pub(crate) n: usize,
    pub(crate) features: Vec<f64>,
    pub(crate) task: KeyColumn,
    pub(crate) words: KeyColumn,
    pub(crate) numbers: Vec<f64>,
    pub(crate) weight: Vec<f64>,
    pub(crate) split: Vec<i64>,
}

/// How features are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    Single,
    Double,
}

impl Rows {
    pub(crate) fn new() -> Self {
        Rows {
            n: 0,
            features: vec![],
            task: KeyColumn::default(),
            words: KeyColumn::default(),
            numbers: vec![],
            weight: vec![],
            split: vec![],
        }
    }

    /// How many rows a chunk should have: what is asked for, at least one, and no more than memory is meant to hold.
    pub(crate) fn at_most(max_rows: usize, layout: &Layout) -> usize {
        // Wide labels are as many numbers as features are.
        let tasks = match &layout.target {
            Some(Target::Wide { columns, .. }) => columns.len(),
            _ => 0,
        };
        let width = if is_sparse(layout) { layout.features.len() } else { layout.n_features() };
        max_rows.min(MOST_VALUES / (width + tasks).max(1)).max(1)
    }

    /// The rows as a table.
    pub(crate) fn finish(self, layout: &Layout, precision: Precision, path: &Path) -> Result<Table> {
        let n = self.n;
        let inputs = inputs(self.features, n, layout, precision);
        let task = layout.task.map(|_| self.task.finish()).transpose()?;
        let words = self.words;
        let targets = match (&layout.target, task) {
            (None, None) => Targets::None,
            (None, Some(task)) => Targets::Tasks { task, label: None },
            (Some(Target::Wide { columns, tasks }), _) => {
                let label =
                    Matrix::from_vec(self.numbers, n, columns.len()).map_err(|e| Error::new(path, e))?;
                Targets::Wide { label, tasks: names_of(tasks.clone()) }
            }
            (Some(Target::One { kind: Kind::Classes, .. }), None) => Targets::Classes(words.finish()?),
            (Some(Target::One { kind, task: name, .. }), task) => {
                let only = || Keys { index: vec![0; n], names: TaskNames::Strings(vec![name.clone()]) };
                let label = match kind {
                    Kind::Numbers => Labels::Numbers(self.numbers),
                    Kind::Open | Kind::Words | Kind::Classes => Labels::Words(words.finish()?),
                };
                Targets::Tasks { task: task.unwrap_or_else(only), label: Some(label) }
            }
        };
        Ok(Table {
            inputs: inputs.map_err(|error| Error::new(path, error))?,
            features: layout.recipe().feature_names(),
            targets,
            weight: layout.weight.map(|_| self.weight),
            split: layout.split.map(|_| self.split),
        })
    }
}

/// Whether one-hot columns alone make the inputs sparse, by the rule of [`Table`]: then they are never written out.
fn is_sparse(layout: &Layout) -> bool {
    layout.features.len() * 10 <= layout.n_features()
}

/// Features as they are, or with one-hot columns written out.
fn inputs(
    values: Vec<f64>,
    n: usize,
    layout: &Layout,
    precision: Precision,
) -> kinfolk::Result<Inputs<'static>> {
    let n_features = layout.n_features();
    let single = precision == Precision::Single;
    let narrow = |values: Vec<f64>| values.into_iter().map(|value| value as f32).collect::<Vec<f32>>();
    if is_sparse(layout) {
        let (indptr, indices, values) = sparse(&values, n, layout);
        return Ok(Inputs::Sparse(match single {
            true => Sparse::f32(indptr, indices, narrow(values), n_features)?,
            false => Sparse::f64(indptr, indices, values, n_features)?,
        }));
    }
    let written_out = layout.features.iter().all(|feature| feature.one_hot.is_none());
    let values = if written_out { values } else { dense(&values, n, layout) };
    Ok(Inputs::Dense(match single {
        true => Dense::f32_owned(narrow(values), n, n_features)?,
        false => Dense::f64_owned(values, n, n_features)?,
    }))
}

/// The (feature, value) pairs of one row.
fn entries<'a>(row: &'a [f64], layout: &'a Layout) -> impl Iterator<Item = (usize, f64)> + 'a {
    let width = |one_hot: &Option<OneHot>| one_hot.as_ref().map_or(1, OneHot::len);
    let first = layout.features.iter().scan(0, move |next, feature| {
        let first = *next;
        *next += width(&feature.one_hot);
        Some(first)
    });
    row.iter().zip(&layout.features).zip(first).map(|((&value, feature), first)| match feature.one_hot {
        None => (first, value),
        Some(_) => (first + value as usize, 1.0),
    })
}

fn dense(values: &[f64], n: usize, layout: &Layout) -> Vec<f64> {
    let (width, n_features) = (layout.features.len(), layout.n_features());
    let mut out = vec![0.0; n * n_features];
    for (row, out) in values.chunks_exact(width).zip(out.chunks_exact_mut(n_features)) {
        entries(row, layout).for_each(|(feature, value)| out[feature] = value);
    }
    out
}

fn sparse(values: &[f64], n: usize, layout: &Layout) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let mut indptr = Vec::with_capacity(n + 1);
    let (mut indices, mut kept) = (vec![], vec![]);
    indptr.push(0);
    for row in values.chunks_exact(layout.features.len()) {
        for (feature, value) in entries(row, layout).filter(|&(_, value)| value != 0.0) {
            indices.push(feature as u32);
            kept.push(value);
        }
        indptr.push(kept.len());
    }
    (indptr, indices, kept)
}
