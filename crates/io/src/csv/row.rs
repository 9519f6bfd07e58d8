//! One line of a csv file.

use super::records::Records;
use crate::named::cells::{self, Reading};
use crate::named::{Header, Kind, Layout, Rows, Target, Why};
use crate::{Error, Result};

/// What is wrong with a cell.
type Cell<T> = std::result::Result<T, String>;

/// Appends the record to the chunk.
pub(super) fn push(rows: &mut Rows, record: &Records, layout: &Layout, header: &Header) -> Result<()> {
    let at = |column: usize| move |why: String| wrong(record, header, column, why);
    let whys = Why::of(layout);
    for feature in &layout.features {
        let column = feature.column;
        let value = match &feature.one_hot {
            None => number(record, column, whys, header),
            Some(known) => value(record, column).and_then(|value| {
                known.code(value).map(f64::from).ok_or_else(|| Why::unknown(value, known.values()))
            }),
        };
        rows.features.push(value.map_err(at(column))?);
    }
    if let Some(column) = layout.task {
        rows.task.push(name(record, column, "task").map_err(at(column))?);
    }
    match &layout.target {
        None => {}
        Some(Target::One { column, kind: Kind::Numbers, .. }) => {
            rows.numbers.push(label(record, *column, layout.fitting, whys).map_err(at(*column))?);
        }
        Some(Target::One { column, .. }) if layout.fitting => {
            rows.words.push(name(record, *column, "label").map_err(at(*column))?);
        }
        Some(Target::One { column, .. }) => rows.words.push(text(record, *column).map_err(at(*column))?),
        Some(Target::Wide { columns, .. }) => {
            for column in columns {
                let label = column.map(|column| label(record, column, false, whys).map_err(at(column)));
                rows.numbers.push(label.transpose()?.unwrap_or(f64::NAN));
            }
        }
    }
    if let Some(column) = layout.weight {
        rows.weight.push(weight(record, column).map_err(at(column))?);
    }
    if let Some(column) = layout.split {
        rows.split.push(text(record, column).and_then(cells::split).map_err(at(column))?);
    }
    rows.n += 1;
    Ok(())
}

/// Every record has as many cells as the header.
pub(super) fn check_width(record: &Records, header: &Header) -> Result<()> {
    if record.len() == header.len() {
        return Ok(());
    }
    let hint = if record.has_line_ends() { " (is a quote on this line not closed?)" } else { "" };
    let why = format!("there are {} cells, and the header has {}{hint}", record.len(), header.len());
    Err(Error::new(header.path(), why).at_line(record.line()))
}

pub(super) fn wrong(record: &Records, header: &Header, column: usize, why: String) -> Error {
    Error::new(header.path(), why).at_line(record.line()).in_column(header.name(column))
}

pub(super) fn text(record: &Records, column: usize) -> Cell<&str> {
    let bytes = record.cell(column);
    std::str::from_utf8(bytes).map_err(|_| Why::not_utf8(bytes))
}

/// A value of a one-hot column.
pub(super) fn value(record: &Records, column: usize) -> Cell<&str> {
    name(record, column, "value in a one-hot column")
}

fn name<'a>(record: &'a Records, column: usize, what: &str) -> Cell<&'a str> {
    match text(record, column)? {
        "" => Err(Why::no_name(what)),
        name => Ok(name),
    }
}

fn number(record: &Records, column: usize, why: Why, header: &Header) -> Cell<f64> {
    let text = text(record, column)?;
    match cells::number(text) {
        Reading::Number(value) => Ok(value),
        reading => Err(why.feature(header.name(column), text, reading)),
    }
}

fn label(record: &Records, column: usize, required: bool, why: Why) -> Cell<f64> {
    let text = text(record, column)?;
    match cells::number(text) {
        Reading::Number(value) => Ok(value),
        Reading::Missing if !required => Ok(f64::NAN),
        reading => Err(why.label(text, reading)),
    }
}

fn weight(record: &Records, column: usize) -> Cell<f64> {
    let text = text(record, column)?;
    match cells::number(text) {
        Reading::Number(value) if value >= 0.0 => Ok(value),
        _ => Err(Why::weight(text)),
    }
}
