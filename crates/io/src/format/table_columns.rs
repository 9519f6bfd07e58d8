//! A whole table as named columns.

use super::writer::check_columns;
use super::{CellKind, Cells, Create, FileFormat, OpenCursor, OutputFile, Reader, cannot_hold};
use crate::dense_or_sparse::{for_each, is_single};
use crate::{Categorical, ColumnRoles, Labels, Result, Table, Targets};
use std::collections::HashSet;
use std::ops::Range;

/// Numbers of a chunk, about.
const CHUNK_NUMBERS: usize = 1 << 18;

/// What to say about the columns of a file that [`write_table`](crate::write_table) wrote, in csv or parquet,
/// to read the same table back: `task`, `y` or `label` or one column per task, `weight`, `offset` and
/// `split`, each with an underscore for every feature of that name.
pub fn columns_of(table: &Table) -> ColumnRoles {
    columns_as(table, &ColumnRoles::default())
}

/// The same for [`write_table_as`](crate::write_table_as): columns have the names that are given, where no feature has
/// them.
pub fn columns_as(table: &Table, given: &ColumnRoles) -> ColumnRoles {
    names_of(table, given).1
}

/// A format of named columns.
pub(super) const fn format(
    extensions: &'static [&'static str],
    open: OpenCursor,
    create: Create,
) -> FileFormat {
    FileFormat {
        extensions,
        may_be_compressed: false,
        holds_targets: true,
        has_named_columns: true,
        holds_gram: false,
        reader: Reader::Columns(open),
        check,
        write_table: None,
        columns: Some(create),
    }
}

/// Writes a table with the column writer of a format.
pub(super) fn write(
    format: &FileFormat,
    (table, given): (&Table, &ColumnRoles),
    to: OutputFile,
) -> Result<OutputFile> {
    let columns = list(table, given);
    check_columns(format, &columns)?;
    let mut writer = format.start_columns(to, &columns)?;
    let step = (CHUNK_NUMBERS / columns.len().max(1)).max(1);
    for first in (0..table.n_rows()).step_by(step) {
        let rows = first..(first + step).min(table.n_rows());
        writer.append(&cells(table, rows.clone()), rows.len())?;
    }
    Ok(writer.finish(table.n_rows() as u64)?)
}

/// `Err` if named columns could not be read back.
fn check(table: &Table) -> Result<()> {
    let unnamed = |column: &Categorical| column.names.iter().any(|name| name.is_empty());
    let unnamed = match &table.targets {
        Targets::Tasks { task, label: Some(Labels::Words(label)) } => unnamed(task) || unnamed(label),
        Targets::Tasks { task: column, .. } | Targets::Classes(column) => unnamed(column),
        Targets::None | Targets::Wide { .. } => false,
    };
    if unnamed {
        return Err(cannot_hold("a task or a class without a name"));
    }
    match &table.targets {
        Targets::Wide { tasks, .. } if tasks.len() < 2 => Err(cannot_hold("a wide table of one task")),
        _ => Ok(()),
    }
}

/// Names of the features, and of the other columns; all are different.
fn names_of(table: &Table, given: &ColumnRoles) -> (Vec<String>, ColumnRoles) {
    let numbered = || (0..table.inputs.n_features()).map(|j| format!("x{j}")).collect();
    let features: Vec<String> = table.features.clone().unwrap_or_else(numbered);
    let mut taken: HashSet<String> = features.iter().cloned().collect();
    let mut free = |given: Option<&String>, usual: &str| {
        let mut name = given.map_or(usual, String::as_str).to_string();
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    let mut roles = ColumnRoles::default();
    match &table.targets {
        Targets::None => {}
        Targets::Tasks { label, .. } => {
            roles.task = Some(free(given.task.as_ref(), "task"));
            roles.target = label.iter().map(|_| free(given.target.first(), "y")).collect();
            roles.classes = matches!(label, Some(Labels::Words(_)));
        }
        Targets::Classes(_) => {
            roles.target = vec![free(given.target.first(), "label")];
            roles.classes = true;
        }
        Targets::Wide { tasks, .. } => {
            roles.target = (0..tasks.len()).map(|t| free(None, &tasks.name(t))).collect();
        }
    }
    roles.weight = table.weight.as_ref().map(|_| free(given.weight.as_ref(), "weight"));
    roles.offset = table.offset.as_ref().map(|_| free(given.offset.as_ref(), "offset"));
    roles.split = table.split.as_ref().map(|_| free(given.split.as_ref(), "split"));
    (features, roles)
}

/// Names and kinds in the order of [`cells`].
fn list(table: &Table, given: &ColumnRoles) -> Vec<(String, CellKind)> {
    let (features, roles) = names_of(table, given);
    let names = features.into_iter().chain(roles.task).chain(roles.target);
    let names = names.chain(roles.weight).chain(roles.offset).chain(roles.split);
    // The columns of no rows have their kinds.
    names.zip(cells(table, 0..0).iter().map(Cells::kind)).collect()
}

/// Some rows, by columns.
fn cells(table: &Table, rows: Range<usize>) -> Vec<Cells> {
    let mut features = vec![vec![0.0; rows.len()]; table.inputs.n_features()];
    for row in rows.clone() {
        for_each(&table.inputs, row, |j, value| features[j][row - rows.start] = value);
    }
    let feature = if is_single(&table.inputs) { Cells::Singles } else { Cells::Numbers };
    let mut cells: Vec<Cells> = features.into_iter().map(feature).collect();
    let numbers = |values: &Vec<f64>| Cells::Numbers(values[rows.clone()].to_vec());
    match &table.targets {
        Targets::None => {}
        Targets::Tasks { task, label } => {
            cells.push(Cells::of_names(task, rows.clone()));
            cells.extend(label.as_ref().map(|label| match label {
                Labels::Numbers(values) => numbers(values),
                Labels::Words(words) => Cells::of_names(words, rows.clone()),
            }));
        }
        Targets::Classes(class) => cells.push(Cells::of_names(class, rows.clone())),
        Targets::Wide { label, .. } => cells.extend(
            (0..label.cols()).map(|t| Cells::Numbers(rows.clone().map(|row| label[(row, t)]).collect())),
        ),
    }
    cells.extend(table.weight.as_ref().map(numbers));
    cells.extend(table.offset.as_ref().map(numbers));
    cells.extend(table.split.as_ref().map(|split| Cells::Integers(split[rows.clone()].to_vec())));
    cells
}
