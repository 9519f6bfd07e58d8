//! A chunk of rows while it is being read.

use super::blocks::{ColumnBlock, ColumnBlocks, write_rows};
use super::cells::{self, CellRules, Reading, TableCell, TypedCell};
use super::encoder::{Code, FeatureColumn};
use super::fold_column::FoldCells;
use super::{ColumnLayout, ColumnUse, LabelKind, RowPlace, TargetColumns, messages};
use crate::categories::CategoricalBuilder;
use crate::text::nfc;
use crate::{Categorical, Error, Hint, KeptColumn, Labels, Missing, ReadThreads, Result, Table, Targets};
use kinfolk::inputs::{Dense, Inputs, Sparse};
use kinfolk::{Matrix, TaskNames};
use std::collections::BTreeMap;

/// How many feature values a chunk may hold, whatever number of rows is asked for: 64 MiB in double
/// precision.
const MAX_VALUES: usize = 8 << 20;

/// Rows with what the layout takes from them. Features are one number per column: of a one-hot column, which
/// value it is.
#[derive(Default)]
pub(crate) struct RowBuffer {
    n: usize,
    places: Vec<RowPlace>,
    /// Rows that lack a value which is not filled in, with its feature column.
    incomplete: Vec<(usize, usize)>,
    pub(super) remarks: RowRemarks,
    features: FeatureValues,
    task: CategoricalBuilder,
    words: CategoricalBuilder,
    numbers: Vec<f64>,
    weight: Vec<f64>,
    offset: Vec<f64>,
    split: Vec<i64>,
    folds: FoldCells,
    keep: Vec<Vec<String>>,
}

/// One number per row and feature column.
enum FeatureValues {
    /// All columns are plain numbers in single precision.
    Single(Vec<f32>),
    Double(Vec<f64>),
}

impl Default for FeatureValues {
    fn default() -> Self {
        FeatureValues::Double(vec![])
    }
}

impl FeatureValues {
    fn resize(&mut self, n: usize) {
        match self {
            FeatureValues::Single(values) => values.resize(n, 0.0),
            FeatureValues::Double(values) => values.resize(n, 0.0),
        }
    }

    fn set(&mut self, i: usize, value: f64) {
        match self {
            FeatureValues::Single(values) => values[i] = value as f32,
            FeatureValues::Double(values) => values[i] = value,
        }
    }

    /// Writes columns into the last rows.
    fn write(
        &mut self,
        n: usize,
        width: usize,
        columns: &[(usize, &ColumnBlock)],
        threads: Option<&ReadThreads>,
    ) {
        match self {
            FeatureValues::Single(values) => {
                let first = values.len() - n * width;
                write_rows(&mut values[first..], width, columns, (|x| x, |x| x as f32), threads);
            }
            FeatureValues::Double(values) => {
                let first = values.len() - n * width;
                write_rows(&mut values[first..], width, columns, (f64::from, |x| x), threads);
            }
        }
    }
}

/// Feature columns with an example of a word and the rows that have such words.
type WordsOfColumns = BTreeMap<usize, (String, u64)>;

fn note_word(words: &mut WordsOfColumns, column: usize, cell: &dyn TableCell) {
    let word = || (cell.text().map_or(String::new(), |text| text.into_owned()), 0);
    words.entry(column).or_insert_with(word).1 += 1;
}

/// Gets rows, which of the columns a cell is in, its row among the last ones, and the cell.
type PutCell<'a> = dyn FnMut(&mut RowBuffer, usize, usize, &dyn TableCell) -> Result<()> + 'a;

/// What was done to rows that nobody asked for.
#[derive(Default)]
pub(crate) struct RowRemarks {
    /// Values that were not there in training: feature column, an example, rows.
    pub(super) unseen: WordsOfColumns,
    /// Values that were there in another letter case.
    pub(super) respelled: WordsOfColumns,
    /// Values that count as one of the rest.
    pub(super) rest: WordsOfColumns,
    /// Missing values: feature column, rows.
    pub(super) missing: BTreeMap<usize, u64>,
    /// Rows left out for a missing value.
    pub(super) dropped: u64,
    /// A task whose name was shortened.
    pub(super) renamed_task: Option<String>,
    /// Times with a zone where there was none in training, or the other way round: feature column, rows.
    pub(super) other_zone: BTreeMap<usize, u64>,
    /// Numbers without the unit of their column: which of the columns that are read, rows.
    pub(super) without_unit: BTreeMap<usize, u64>,
    /// Numbers with a sign of money that those of the fit did not have: which of the columns that are read and the
    /// sign, rows.
    pub(super) other_money: BTreeMap<(usize, &'static str), u64>,
}

impl RowRemarks {
    pub(super) fn note_money(&mut self, column: usize, sign: &'static str) {
        *self.other_money.entry((column, sign)).or_default() += 1;
    }

    pub(super) fn add(&mut self, more: RowRemarks) {
        for (own, more) in [
            (&mut self.unseen, more.unseen),
            (&mut self.respelled, more.respelled),
            (&mut self.rest, more.rest),
        ] {
            more.into_iter().for_each(|(k, (word, rows))| own.entry(k).or_insert((word, 0)).1 += rows);
        }
        for (own, more) in [
            (&mut self.missing, more.missing),
            (&mut self.other_zone, more.other_zone),
            (&mut self.without_unit, more.without_unit),
        ] {
            more.into_iter().for_each(|(k, rows)| *own.entry(k).or_default() += rows);
        }
        for (k, rows) in more.other_money {
            *self.other_money.entry(k).or_default() += rows;
        }
        self.dropped += more.dropped;
        self.renamed_task = self.renamed_task.take().or(more.renamed_task);
    }
}

/// How features are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Precision {
    Single,
    Double,
}

impl RowBuffer {
    /// Without rows yet, but with room for so many.
    pub(crate) fn new(layout: &ColumnLayout, precision: Precision, room: usize) -> Self {
        let are_plain = layout.features.iter().all(FeatureColumn::is_plain_number);
        let room = room * layout.features.len();
        let features = match precision {
            Precision::Single if are_plain => FeatureValues::Single(Vec::with_capacity(room)),
            _ => FeatureValues::Double(Vec::with_capacity(room)),
        };
        RowBuffer { features, ..RowBuffer::default() }
    }

    /// Makes room for so many more rows, of which the first is at this place of the file.
    pub(super) fn add_rows(&mut self, n: usize, first: u64, layout: &ColumnLayout) {
        self.n += n;
        self.places.extend((first..first + n as u64).map(RowPlace::Row));
        self.features.resize(self.n * layout.features.len());
        self.numbers.resize(self.n * numbers_per_row(layout), f64::NAN);
    }

    /// Puts blocks of columns into rows that there is room for, which are the last ones. `put` gets the other cells:
    /// which of the columns they are in, their rows among these, and the cells.
    pub(super) fn put_blocks(
        &mut self,
        blocks: &ColumnBlocks,
        (uses, column_names): (&[ColumnUse], &[String]),
        (layout, rules): (&ColumnLayout, &CellRules),
        threads: Option<&ReadThreads>,
        put: &mut PutCell<'_>,
    ) -> Result<()> {
        let (n, width) = (blocks.n_rows, layout.features.len());
        let first = self.n - n;
        let mut plain = vec![];
        for (i, (block, column_use)) in blocks.columns.iter().zip(uses).enumerate() {
            match (block, column_use) {
                (ColumnBlock::Cells(cells), ColumnUse::Task) => {
                    let mut names = vec![];
                    let which = cells.visit_different(&mut |cell, row| {
                        let place = RowPlace::Row(blocks.first_row + row as u64);
                        let wrong = |error| place.mark(error).in_column(&*column_names[i]);
                        names.push(self.task_name(cell, rules).map_err(wrong)?);
                        Ok(())
                    })?;
                    self.task.extend(&names, &which);
                }
                (ColumnBlock::Cells(cells), _) => {
                    cells.visit(&mut |cell, row| put(self, i, row, cell))?;
                }
                (_, ColumnUse::Feature(k)) if layout.features[*k].takes_numbers() => {
                    plain.push((*k, block));
                    if !block.has_gaps() {
                        continue;
                    }
                    let may_lack = !layout.features[*k].is_plain_number();
                    for row in 0..n {
                        let value = block.number(row).unwrap_or(f64::NAN);
                        if value.is_nan() && may_lack && !layout.fitting {
                            *self.remarks.missing.entry(*k).or_default() += 1;
                        }
                        if value.is_infinite() || value.is_nan() && !may_lack {
                            put(self, i, row, &TypedCell::Number(value, value.to_string()))?;
                        }
                    }
                }
                (_, ColumnUse::Number(t)) if layout.pair(*t).is_none() => {
                    let per_row = numbers_per_row(layout);
                    for row in 0..n {
                        let value = block.number(row).unwrap_or(f64::NAN);
                        match value.is_infinite() {
                            true => put(self, i, row, &TypedCell::Number(value, value.to_string()))?,
                            false => self.numbers[(first + row) * per_row + t] = value,
                        }
                    }
                }
                _ => {
                    for row in 0..n {
                        let value = block.number(row).unwrap_or(f64::NAN);
                        put(self, i, row, &TypedCell::Number(value, value.to_string()))?;
                    }
                }
            }
        }
        self.features.write(n, width, &plain, threads);
        // A missing value of a plain number is 0.
        let rows = self.incomplete.iter().rev().take_while(|(row, _)| *row >= first);
        for (row, k) in rows.filter(|(_, k)| layout.features[*k].is_plain_number()) {
            self.features.set(row * width + k, 0.0);
        }
        Ok(())
    }

    /// The name of the task in a cell.
    fn task_name(&mut self, cell: &dyn TableCell, rules: &CellRules) -> Result<String> {
        let name = nfc(rules.name(cell, "task")?);
        let short = rules.folded(cells::canonical(name.as_ref().into()));
        if short != name && !rules.ignores_case() && self.remarks.renamed_task.is_none() {
            self.remarks.renamed_task = Some(name.to_string());
        }
        Ok(short.into_owned())
    }

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

    /// Makes room for rows up to this one: features 0, labels missing.
    pub(crate) fn reach(&mut self, row: usize, place: RowPlace, layout: &ColumnLayout) {
        if row < self.n {
            return;
        }
        self.n = row + 1;
        self.places.resize(self.n, place);
        self.features.resize(self.n * layout.features.len());
        self.numbers.resize(self.n * numbers_per_row(layout), f64::NAN);
    }

    /// Puts a cell into a row that there is room for. Columns are filled from top to bottom.
    pub(crate) fn put(
        &mut self,
        row: usize,
        column_use: ColumnUse,
        cell: &dyn TableCell,
        layout: &ColumnLayout,
        rules: &CellRules,
    ) -> Result<()> {
        match column_use {
            ColumnUse::Feature(k) => {
                let feature = &layout.features[k];
                if !layout.fitting && feature.has_other_zone(cell) {
                    *self.remarks.other_zone.entry(k).or_default() += 1;
                }
                let value = match feature.code(cell, rules, layout.fitting)? {
                    Code::Value(value) => {
                        if !layout.fitting && feature.is_missing(value) {
                            *self.remarks.missing.entry(k).or_default() += 1;
                        }
                        value
                    }
                    Code::Rest(value) if layout.fitting => value,
                    Code::Rest(value) => {
                        note_word(&mut self.remarks.rest, k, cell);
                        value
                    }
                    Code::Missing => {
                        self.incomplete.push((row, k));
                        feature.nothing()
                    }
                    Code::Respelled(value) => {
                        note_word(&mut self.remarks.respelled, k, cell);
                        value
                    }
                    Code::Unseen => {
                        note_word(&mut self.remarks.unseen, k, cell);
                        feature.nothing()
                    }
                };
                self.features.set(row * layout.features.len() + k, value);
            }
            ColumnUse::Task => {
                let name = self.task_name(cell, rules)?;
                self.task.push(&name);
            }
            ColumnUse::Number(t) => {
                let label = match (layout.pair(t), rules.number(cell)) {
                    (Some(pair), _) => pair.sign(cell, rules)?,
                    (None, Reading::Number(value)) => value,
                    (None, Reading::Missing) => f64::NAN,
                    (None, other) => return Err(messages::label(&cell.text()?, other)),
                };
                self.numbers[row * numbers_per_row(layout) + t] = label;
            }
            ColumnUse::Word => self.words.push(&rules.label(cell, layout.schema().none_is_label)?),
            ColumnUse::Weight => self.weight.push(match rules.number(cell) {
                Reading::Number(value) if value >= 0.0 => value,
                _ => return Err(messages::weight(&cell.text()?)),
            }),
            ColumnUse::Offset => self.offset.push(match rules.number(cell) {
                Reading::Number(value) => value,
                other => return Err(messages::offset(&cell.text()?, other)),
            }),
            ColumnUse::Split => self.split.push(cells::split(&cell.text()?)?),
            ColumnUse::Folds => {
                if let Some(column) = &layout.folds {
                    let is_left_out = self.is_of_other_part(row, layout);
                    self.folds.put(cell, column, rules, is_left_out)?;
                }
            }
            ColumnUse::Keep(k) => {
                self.keep.resize(layout.keep.len().max(self.keep.len()), vec![]);
                self.keep[k].push(cell.text()?.into_owned());
            }
        }
        Ok(())
    }

    /// Whether a row is not of the part that is read: such rows are left out later.
    fn is_of_other_part(&self, row: usize, layout: &ColumnLayout) -> bool {
        layout.part.is_some_and(|part| self.split.get(row) != Some(&part))
    }

    /// Rows to leave out, because a value is missing; if they may not be left out, an error for each column.
    fn rows_to_drop(&self, layout: &ColumnLayout) -> Result<Vec<usize>> {
        let missing = layout.schema().columns.missing;
        let may_drop = missing == Missing::Drop && !layout.keeps_rows;
        // The first row of each column.
        let mut wrong = BTreeMap::new();
        for &(row, k) in self.incomplete.iter().filter(|(row, _)| !self.is_of_other_part(*row, layout)) {
            wrong.entry(k).and_modify(|first: &mut usize| *first = row.min(*first)).or_insert(row);
        }
        let mut wrong: Vec<(usize, usize)> = wrong.into_iter().map(|(k, row)| (row, k)).collect();
        wrong.sort_unstable();
        let error = |(row, k): (usize, usize)| {
            let error = messages::missing(missing, layout.fitting);
            let error = if layout.only_start_known { error.hint(Hint::LookThrough) } else { error };
            self.places[row].mark(error).in_column(layout.features[k].feature.column())
        };
        if let Some(error) = Error::several(wrong.into_iter().filter(|_| !may_drop).map(error)) {
            return Err(error);
        }
        let mut rows: Vec<usize> = self.incomplete.iter().map(|(row, _)| *row).collect();
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }

    /// The rows as a table, without those that lack a value; `None` if no row is left.
    pub(crate) fn finish(
        self,
        layout: &ColumnLayout,
        precision: Precision,
    ) -> Result<Option<(Table, RowRemarks)>> {
        let drop = self.rows_to_drop(layout)?;
        let n = self.n;
        let (table, mut remarks) = self.whole(layout, precision)?;
        if drop.is_empty() {
            return Ok(Some((table, remarks)));
        }
        remarks.dropped += drop.len() as u64;
        let kept: Vec<u32> =
            (0..n).filter(|row| drop.binary_search(row).is_err()).map(|row| row as u32).collect();
        Ok((!kept.is_empty()).then(|| (table.select_rows(&kept), remarks)))
    }

    fn whole(self, layout: &ColumnLayout, precision: Precision) -> Result<(Table, RowRemarks)> {
        let n = self.n;
        let inputs = inputs(self.features, n, layout, precision)?;
        let task = layout.task.map(|_| self.task.finish()).transpose()?;
        let words = self.words;
        let targets = match (&layout.target, task) {
            (None, None) => Targets::None,
            (None, Some(task)) => Targets::Tasks { task, label: None },
            (Some(TargetColumns::Wide { columns, tasks, .. }), _) => {
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
        let lines = self.places.iter().map_while(|place| match place {
            RowPlace::Line(line) => Some(*line),
            RowPlace::Row(_) => None,
        });
        let kept = layout.keep.iter().zip(self.keep);
        let folds = self.folds;
        let table = Table {
            inputs,
            features: layout.schema().feature_names(),
            targets,
            weight: layout.weight.map(|_| self.weight),
            offset: layout.offset.map(|_| self.offset),
            split: layout.split.map(|_| self.split),
            fold_keys: layout.folds.as_ref().map(|column| folds.finish(column)).transpose()?,
            kept: kept.map(|((_, name), values)| KeptColumn { name: name.clone(), values }).collect(),
            lines: lines.collect(),
        };
        Ok((table, self.remarks))
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
    !layout.features.is_empty() && layout.features.len() * 10 <= layout.n_features()
}

/// Features as they are, or with one-hot columns written out.
fn inputs(
    values: FeatureValues,
    n: usize,
    layout: &ColumnLayout,
    precision: Precision,
) -> Result<Inputs<'static>> {
    let n_features = layout.n_features();
    if layout.features.is_empty() {
        return Ok(Inputs::Dense(Dense::f32_owned(vec![0.0; n], n, 1)?));
    }
    let values = match values {
        FeatureValues::Single(values) => {
            return Ok(Inputs::Dense(Dense::f32_owned(values, n, n_features)?));
        }
        FeatureValues::Double(values) => values,
    };
    let single = precision == Precision::Single;
    let narrow = |values: Vec<f64>| values.into_iter().map(|value| value as f32).collect::<Vec<f32>>();
    if is_sparse(layout) {
        let (indptr, indices, values) = sparse(&values, n, layout);
        return Ok(Inputs::Sparse(match single {
            true => Sparse::f32(indptr, indices, narrow(values), n_features)?,
            false => Sparse::f64(indptr, indices, values, n_features)?,
        }));
    }
    let written_out = layout.features.iter().all(FeatureColumn::is_plain_number);
    let values = if written_out { values } else { dense(&values, n, layout) };
    Ok(Inputs::Dense(match single {
        true => Dense::f32_owned(narrow(values), n, n_features)?,
        false => Dense::f64_owned(values, n, n_features)?,
    }))
}

/// Calls `put` with the features of one row, from the first to the last.
fn spread(row: &[f64], layout: &ColumnLayout, mut put: impl FnMut(usize, f64)) {
    let mut first = 0;
    for (&code, feature) in row.iter().zip(&layout.features) {
        feature.spread(code, |place, value| put(first + place, value));
        first += feature.width;
    }
}

fn dense(values: &[f64], n: usize, layout: &ColumnLayout) -> Vec<f64> {
    let (width, n_features) = (layout.features.len(), layout.n_features());
    let mut out = vec![0.0; n * n_features];
    for (row, out) in values.chunks_exact(width).zip(out.chunks_exact_mut(n_features)) {
        spread(row, layout, |feature, value| out[feature] = value);
    }
    out
}

fn sparse(values: &[f64], n: usize, layout: &ColumnLayout) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
    let mut indptr = Vec::with_capacity(n + 1);
    let (mut indices, mut kept) = (vec![], vec![]);
    indptr.push(0);
    for row in values.chunks_exact(layout.features.len()) {
        spread(row, layout, |feature, value| {
            if value != 0.0 {
                indices.push(feature as u32);
                kept.push(value);
            }
        });
        indptr.push(kept.len());
    }
    (indptr, indices, kept)
}
