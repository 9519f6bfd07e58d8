//! A chunk of rows while it is being read.

use super::cells::{self, ONE_HOT_VALUE, Reading, TableCell};
use super::{ColumnLayout, ColumnUse, LabelKind, OneHot, TargetColumns, messages};
use crate::categories::CategoricalBuilder;
use crate::{Categorical, Labels, Result, Table, Targets};
use kinfolk::inputs::{Dense, Inputs, Sparse};
use kinfolk::{Matrix, TaskNames};

/// How many feature values a chunk may hold, whatever number of rows is asked for: 64 MiB in double
/// precision.
const MAX_VALUES: usize = 8 << 20;

/// Rows with what the layout takes from them. Features are one number per column: of a one-hot column, which
/// value it is.
#[derive(Default)]
pub(crate) struct RowBuffer {
    n: usize,
    features: Vec<f64>,
    task: CategoricalBuilder,
    words: CategoricalBuilder,
    numbers: Vec<f64>,
    weight: Vec<f64>,
    offset: Vec<f64>,
    split: Vec<i64>,
}

/// How features are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    Single,
    Double,
}

impl RowBuffer {
    /// How many rows a chunk should have: what is asked for, at least one, and no more than memory is meant
    /// to hold.
    pub(crate) fn at_most(max_rows: usize, layout: &ColumnLayout) -> usize {
        // Wide labels are numbers too.
        let tasks = match &layout.target {
            Some(TargetColumns::Wide { columns, .. }) => columns.len(),
            _ => 0,
        };
        let width = if is_sparse(layout) { layout.features.len() } else { layout.n_features() };
        max_rows.min(MAX_VALUES / (width + tasks).max(1)).max(1)
    }

    /// Number of rows.
    pub(crate) fn n_rows(&self) -> usize {
        self.n
    }

    /// Makes room for n more rows: features 0, labels missing.
    pub(crate) fn grow(&mut self, n: usize, layout: &ColumnLayout) {
        self.n += n;
        self.features.resize(self.n * layout.features.len(), 0.0);
        self.numbers.resize(self.n * numbers_per_row(layout), f64::NAN);
    }

    /// Puts a cell of the column `name` into a row that there is room for. Columns are filled from top to
    /// bottom.
    pub(crate) fn put(
        &mut self,
        row: usize,
        column_use: ColumnUse,
        cell: &impl TableCell,
        layout: &ColumnLayout,
        name: &str,
    ) -> Result<()> {
        match column_use {
            ColumnUse::Feature(k) => {
                let value = match &layout.features[k].one_hot {
                    None => match cell.number() {
                        Reading::Number(value) => value,
                        other => return Err(messages::feature(name, &cell.text()?, other, layout.fitting)),
                    },
                    Some(known) => {
                        let value = cell.name(ONE_HOT_VALUE)?;
                        let code = known.code(&value);
                        f64::from(code.ok_or_else(|| messages::unknown_value(&value, known.values()))?)
                    }
                };
                self.features[row * layout.features.len() + k] = value;
            }
            ColumnUse::Task => self.task.push(&cell.name("task")?),
            ColumnUse::Number(t) => {
                let required = layout.fitting && matches!(layout.target, Some(TargetColumns::One { .. }));
                self.numbers[row * numbers_per_row(layout) + t] = match cell.number() {
                    Reading::Number(value) => value,
                    Reading::Missing if !required => f64::NAN,
                    other => return Err(messages::label(&cell.text()?, other)),
                };
            }
            ColumnUse::Word if layout.fitting => self.words.push(&cell.name("label")?),
            ColumnUse::Word => self.words.push(&cell.text()?),
            ColumnUse::Weight => self.weight.push(match cell.number() {
                Reading::Number(value) if value >= 0.0 => value,
                _ => return Err(messages::weight(&cell.text()?)),
            }),
            ColumnUse::Offset => self.offset.push(match cell.number() {
                Reading::Number(value) => value,
                other => return Err(messages::offset(&cell.text()?, other)),
            }),
            ColumnUse::Split => self.split.push(cells::split(&cell.text()?)?),
        }
        Ok(())
    }

    /// The rows as a table.
    pub(crate) fn finish(self, layout: &ColumnLayout, precision: Precision) -> Result<Table> {
        let n = self.n;
        let inputs = inputs(self.features, n, layout, precision)?;
        let task = layout.task.map(|_| self.task.finish()).transpose()?;
        let words = self.words;
        let targets = match (&layout.target, task) {
            (None, None) => Targets::None,
            (None, Some(task)) => Targets::Tasks { task, label: None },
            (Some(TargetColumns::Wide { columns, tasks }), _) => {
                let label = Matrix::from_vec(self.numbers, n, columns.len())?;
                Targets::Wide { label, tasks: TaskNames::from_texts(tasks) }
            }
            (Some(TargetColumns::One { kind: LabelKind::Classes, .. }), None) => {
                Targets::Classes(words.finish()?)
            }
            (Some(TargetColumns::One { kind, task: name, .. }), task) => {
                let only =
                    || Categorical { index: vec![0; n], names: TaskNames::Strings(vec![name.clone()]) };
                let label = match kind {
                    LabelKind::Numbers => Labels::Numbers(self.numbers),
                    LabelKind::Unknown | LabelKind::Words | LabelKind::Classes => {
                        Labels::Words(words.finish()?)
                    }
                };
                Targets::Tasks { task: task.unwrap_or_else(only), label: Some(label) }
            }
        };
        Ok(Table {
            inputs,
            features: layout.schema().feature_names(),
            targets,
            weight: layout.weight.map(|_| self.weight),
            offset: layout.offset.map(|_| self.offset),
            split: layout.split.map(|_| self.split),
        })
    }
}

/// Labels of a row that are numbers.
fn numbers_per_row(layout: &ColumnLayout) -> usize {
    match &layout.target {
        Some(TargetColumns::One { kind: LabelKind::Numbers, .. }) => 1,
        Some(TargetColumns::Wide { columns, .. }) => columns.len(),
        _ => 0,
    }
}

/// Whether one-hot columns alone make the inputs sparse, by the rule of [`Table`]: then they are never
/// written out.
fn is_sparse(layout: &ColumnLayout) -> bool {
    layout.features.len() * 10 <= layout.n_features()
}

/// Features as they are, or with one-hot columns written out.
fn inputs(
    values: Vec<f64>,
    n: usize,
    layout: &ColumnLayout,
    precision: Precision,
) -> Result<Inputs<'static>> {
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
fn entries<'a>(row: &'a [f64], layout: &'a ColumnLayout) -> impl Iterator<Item = (usize, f64)> + 'a {
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

fn dense(values: &[f64], n: usize, layout: &ColumnLayout) -> Vec<f64> {
    let (width, n_features) = (layout.features.len(), layout.n_features());
    let mut out = vec![0.0; n * n_features];
    for (row, out) in values.chunks_exact(width).zip(out.chunks_exact_mut(n_features)) {
        entries(row, layout).for_each(|(feature, value)| out[feature] = value);
    }
    out
}

fn sparse(values: &[f64], n: usize, layout: &ColumnLayout) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
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
