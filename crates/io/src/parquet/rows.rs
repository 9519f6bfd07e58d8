//! Columns of a parquet file become rows of a table.

use super::column::{Batch, Cell};
use crate::named::cells::{self, Reading};
use crate::named::{Kind, Layout, Rows, Target, Why};
use std::borrow::Cow;

/// What a column is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Usage {
    /// The k-th feature column.
    Feature(usize),
    Task,
    /// Labels that are numbers; of a wide table, of the t-th task.
    Number(usize),
    Word,
    Weight,
    Split,
}

/// All columns that are read, and what for.
pub(super) fn uses(layout: &Layout) -> Vec<(usize, Usage)> {
    let features = layout.features.iter().enumerate().map(|(k, feature)| (feature.column, Usage::Feature(k)));
    let mut uses: Vec<_> = features.collect();
    uses.extend(layout.task.map(|column| (column, Usage::Task)));
    match &layout.target {
        None => {}
        Some(Target::One { column, kind: Kind::Numbers, .. }) => uses.push((*column, Usage::Number(0))),
        Some(Target::One { column, .. }) => uses.push((*column, Usage::Word)),
        Some(Target::Wide { columns, .. }) => {
            let columns = columns.iter().enumerate();
            uses.extend(columns.filter_map(|(t, column)| column.map(|column| (column, Usage::Number(t)))));
        }
    }
    uses.extend(layout.weight.map(|column| (column, Usage::Weight)));
    uses.extend(layout.split.map(|column| (column, Usage::Split)));
    uses
}

/// Makes room for n more rows: features 0, labels missing.
pub(super) fn make_room(rows: &mut Rows, n: usize, layout: &Layout) {
    rows.n += n;
    rows.features.resize(rows.n * layout.features.len(), 0.0);
    if let Some(tasks) = numbers(layout) {
        rows.numbers.resize(rows.n * tasks, f64::NAN);
    }
}

/// Writes n cells of a column into the last n rows. An error says in which of them.
pub(super) fn fill(
    rows: &mut Rows,
    n: usize,
    batch: &Batch,
    usage: Usage,
    layout: &Layout,
    column: &str,
) -> Result<(), (usize, String)> {
    let first = rows.n - n;
    let why = Why::of(layout);
    for (row, cell) in batch.cells().enumerate() {
        let at = |why: String| (row, why);
        match usage {
            Usage::Feature(k) => {
                let value = match &layout.features[k].one_hot {
                    None => match reading(cell) {
                        Reading::Number(value) => Ok(value),
                        reading => Err(why.feature(column, &shown(cell), reading)),
                    },
                    Some(known) => name(cell, "value in a one-hot column").and_then(|value| {
                        known.code(&value).map(f64::from).ok_or_else(|| Why::unknown(&value, known.values()))
                    }),
                };
                rows.features[(first + row) * layout.features.len() + k] = value.map_err(at)?;
            }
            Usage::Task => rows.task.push(&name(cell, "task").map_err(at)?),
            Usage::Number(t) => {
                let required = layout.fitting && matches!(layout.target, Some(Target::One { .. }));
                let value = match reading(cell) {
                    Reading::Number(value) => Ok(value),
                    Reading::Missing if !required => Ok(f64::NAN),
                    reading => Err(why.label(&shown(cell), reading)),
                };
                let tasks = numbers(layout).unwrap_or(1);
                rows.numbers[(first + row) * tasks + t] = value.map_err(at)?;
            }
            Usage::Word if layout.fitting => rows.words.push(&name(cell, "label").map_err(at)?),
            Usage::Word => rows.words.push(&text(cell).map_err(at)?),
            Usage::Weight => rows.weight.push(match reading(cell) {
                Reading::Number(value) if value >= 0.0 => value,
                _ => return Err(at(Why::weight(&shown(cell)))),
            }),
            Usage::Split => rows.split.push(text(cell).and_then(|text| cells::split(&text)).map_err(at)?),
        }
    }
    Ok(())
}

/// A name: any text that is not empty, and numbers as they are written.
pub(super) fn name<'a>(cell: Option<Cell<'a>>, what: &str) -> Result<Cow<'a, str>, String> {
    match text(cell)? {
        name if name.is_empty() => Err(Why::no_name(what)),
        name => Ok(name),
    }
}

/// Numbers per row, if labels are numbers.
fn numbers(layout: &Layout) -> Option<usize> {
    match &layout.target {
        Some(Target::One { kind: Kind::Numbers, .. }) => Some(1),
        Some(Target::Wide { columns, .. }) => Some(columns.len()),
        _ => None,
    }
}

/// The text of a cell, nothing for null.
fn text(cell: Option<Cell<'_>>) -> Result<Cow<'_, str>, String> {
    match cell {
        None => Ok(Cow::Borrowed("")),
        Some(Cell::Raw(kind, raw)) => Ok(Cow::Owned(kind.text(raw))),
        Some(Cell::Text(bytes)) => {
            std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| Why::not_utf8(bytes))
        }
    }
}

/// The number of a cell; a text is read as in csv.
fn reading(cell: Option<Cell<'_>>) -> Reading {
    match cell {
        None => Reading::Missing,
        Some(Cell::Text(bytes)) => std::str::from_utf8(bytes).map_or(Reading::Word, cells::number),
        Some(Cell::Raw(kind, raw)) => match kind.number(raw) {
            value if value.is_nan() => Reading::Missing,
            value if value.is_finite() => Reading::Number(value),
            _ => Reading::NotFinite,
        },
    }
}

/// A cell for a message.
fn shown(cell: Option<Cell<'_>>) -> String {
    text(cell).map_or_else(|why| why, Cow::into_owned)
}
