//! From files to relations. Tasks have names in every file; the order of rows and columns means nothing.

use super::data::ordered;
use super::path;
use super::{RelationData, RelationKind};
use crate::Result;
use kinfolk_io::{ColumnRoles, Error as FileError, TextTable, folded, read_texts, tidy_name};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A result whose error does not name the file yet.
type FileResult<T> = std::result::Result<T, FileError>;

/// The relation in a file of named columns, which is read as the data are: `columns`, with the spellings of tasks that
/// are `known`.
pub(super) fn read(
    kind: RelationKind,
    path: &Path,
    column: Option<&str>,
    columns: &ColumnRoles,
    known: &[String],
) -> Result<RelationData> {
    let task_column = columns.task.as_deref();
    let in_file = |error: FileError| error.in_file(path);
    let read = |index: Index| -> FileResult<RelationData> {
        if let RelationKind::Groups | RelationKind::Tree = kind {
            let table = read_texts(path, &|names| two_columns(kind, names, column, (task_column, index)))?;
            let has_parents = kind == RelationKind::Tree && table.columns[1] == "parent";
            let table = table.read_as(columns, known);
            return if has_parents { paths_of_parents(&table) } else { labels(&table) };
        }
        let table = read_texts(path, &|names| Ok(all_columns(names, (task_column, index))))?;
        let table = table.read_as(columns, known);
        match kind {
            RelationKind::Graph => edges(&table),
            RelationKind::Features => features(&table),
            RelationKind::Distance if table.columns.len() == 3 && !is_square(&table) => distances(&table),
            _ => square(&table),
        }
    };
    let names_a_task =
        |data: &RelationData| data.tasks().into_iter().any(|task| known.iter().any(|own| own == task));
    let mut data = read(Index::Tasks);
    // Names of rows as R writes them are numbers.
    if !known.is_empty() && !data.as_ref().is_ok_and(names_a_task) {
        let other = read(Index::Rows).ok().filter(names_a_task);
        data = other.map_or(data, Ok);
    }
    let data = data.map_err(in_file)?;
    data.check(kind).map_err(|why| in_file(FileError::of_table(why)))?;
    Ok(data)
}

/// What an index without a name holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Index {
    Tasks,
    Rows,
}

/// The column of tasks: called as in the data, or `task`, or an index without a name if that may be, or the first one.
fn place_of_tasks(names: &[String], (task_column, index): (Option<&str>, Index)) -> usize {
    let place = |name: &str| {
        let exact = names.iter().position(|other| *other == tidy_name(name));
        let mut alike = (0..names.len()).filter(|&i| folded(&names[i]) == folded(name));
        exact.or_else(|| alike.next().filter(|_| alike.next().is_none()))
    };
    let first = || names.iter().position(|name| is_index(name) == (index == Index::Tasks));
    task_column.and_then(place).or_else(|| place("task")).or_else(first).unwrap_or(0)
}

/// Whether a column is the index of a pandas table, which has no name in csv and this one in parquet.
fn is_index(name: &str) -> bool {
    name.is_empty() || name.starts_with("__index_level_")
}

fn two_columns(
    kind: RelationKind,
    names: &[String],
    column: Option<&str>,
    (task_column, index): (Option<&str>, Index),
) -> FileResult<Vec<usize>> {
    let task = place_of_tasks(names, (task_column, index));
    let is_other = |&i: &usize| i != task && (index == Index::Tasks || !is_index(&names[i]));
    let others: Vec<usize> = (0..names.len()).filter(is_other).collect();
    let place = |name: &str| others.iter().copied().find(|&i| names[i] == tidy_name(name));
    let listed = || names.iter().map(|name| format!("{name:?}")).take(10).collect::<Vec<_>>().join(", ");
    let usual = || match kind {
        RelationKind::Tree => place("path").or_else(|| place("parent")),
        _ => None,
    };
    match (column, &others[..]) {
        (Some(name), _) => place(name).map(|i| vec![task, i]).ok_or_else(|| {
            FileError::of_table(format!(
                "there is no column {name:?} beside the tasks; the columns are {}",
                listed()
            ))
        }),
        (None, &[only]) => Ok(vec![task, only]),
        (None, []) => Err(FileError::of_table(format!("{kind} needs a column beside that of the tasks"))),
        (None, _) => usual().map(|i| vec![task, i]).ok_or_else(|| {
            FileError::of_table(format!(
                "which column? Name it, {kind}=FILE:COLUMN; the columns are {}",
                listed()
            ))
        }),
    }
}

/// All columns, that of the tasks first; an index beside it says nothing.
fn all_columns(names: &[String], tasks: (Option<&str>, Index)) -> Vec<usize> {
    let task = place_of_tasks(names, tasks);
    let others = (0..names.len()).filter(|&i| i != task && !is_index(&names[i]));
    std::iter::once(task).chain(others).collect()
}

/// A text for each task. A task may have many rows, which must agree; a missing value says nothing.
fn labels(table: &TextTable) -> FileResult<RelationData> {
    let (mut tasks, mut labels, mut place) = (vec![], vec![], HashMap::new());
    for row in 0..table.rows.len() {
        let (task, label) = (table.name(row, 0)?.to_string(), table.rows[row][1].trim());
        if table.is_missing(label) {
            continue;
        }
        match place.get(&task) {
            None => {
                place.insert(task.clone(), tasks.len());
                tasks.push(task);
                labels.push(label.to_string());
            }
            Some(&i) if labels[i] == label => {}
            Some(&i) => {
                let why = format!("task {task:?} is in {label:?}, and in {:?} further up", labels[i]);
                return Err(table.at(row, FileError::of_table(why)));
            }
        }
    }
    Ok(RelationData::Labels { tasks, labels })
}

/// Paths from the root to each node, itself included.
fn paths_of_parents(table: &TextTable) -> FileResult<RelationData> {
    let mut parent: HashMap<&str, (&str, usize)> = HashMap::new();
    let mut tasks = vec![];
    for row in 0..table.rows.len() {
        let (task, above) = (table.name(row, 0)?, table.rows[row][1].trim());
        let above = if table.is_missing(above) { "" } else { above };
        match parent.insert(task, (above, row)) {
            None => tasks.push(task.to_string()),
            Some((other, _)) if other == above => {}
            Some((other, _)) => {
                let why = format!("task {task:?} has the parent {above:?}, and {other:?} further up");
                return Err(table.at(row, FileError::of_table(why)));
            }
        }
    }
    let path_of = |task: &String| {
        let (mut nodes, mut seen) = (vec![task.as_str()], HashSet::from([task.as_str()]));
        while let Some((above, row)) =
            parent.get(nodes[nodes.len() - 1]).filter(|(above, _)| !above.is_empty())
        {
            if !seen.insert(above) {
                let why = format!("{above:?} is its own ancestor: a tree has no circles");
                return Err(table.at(*row, FileError::of_table(why)));
            }
            nodes.push(above);
        }
        nodes.reverse();
        Ok(path::joined(&nodes))
    };
    let labels = tasks.iter().map(path_of).collect::<FileResult<_>>()?;
    Ok(RelationData::Labels { tasks, labels })
}

/// Two tasks and a weight, which is 1 if there is no third column.
fn edges(table: &TextTable) -> FileResult<RelationData> {
    let weight = match table.columns.len() {
        2 => None,
        3 => Some(2),
        n => {
            let why = format!(
                "there are {n} columns; a graph has two columns of tasks, and one of weights or none"
            );
            return Err(FileError::of_table(why));
        }
    };
    pairs(table, weight, "weight")
}

fn distances(table: &TextTable) -> FileResult<RelationData> {
    pairs(table, Some(2), "distance")
}

fn pairs(table: &TextTable, column: Option<usize>, what: &str) -> FileResult<RelationData> {
    let (mut from, mut to, mut values) = (vec![], vec![], vec![]);
    let mut seen: HashMap<(&str, &str), f64> = HashMap::new();
    for row in 0..table.rows.len() {
        let (a, b) = (table.name(row, 0)?, table.name(row, 1)?);
        let value = column.map_or(Ok(1.0), |column| table.number(row, column))?;
        let fail = |why: String| Err(table.at(row, FileError::of_table(why)));
        if value < 0.0 {
            return fail(format!("the {what} of {a:?} and {b:?} is {value}, it must not be negative"));
        }
        match seen.insert(ordered(a, b), value) {
            None => {
                from.push(a.to_string());
                to.push(b.to_string());
                values.push(value);
            }
            Some(other) if other == value => {}
            Some(other) => {
                return fail(format!("the {what} of {a:?} and {b:?} is {value}, and {other} further up"));
            }
        }
    }
    Ok(RelationData::Pairs { from, to, values })
}

/// Whether the first line and the first column name the same tasks.
fn is_square(table: &TextTable) -> bool {
    let rows: HashSet<&str> = table.rows.iter().map(|row| row[0].trim()).collect();
    let columns: HashSet<&str> = table.columns[1..].iter().map(|name| name.trim()).collect();
    rows == columns
}

fn square(table: &TextTable) -> FileResult<RelationData> {
    let tasks: Vec<String> =
        (0..table.rows.len()).map(|row| table.name(row, 0).map(str::to_string)).collect::<FileResult<_>>()?;
    let place: HashMap<&str, usize> =
        table.columns.iter().enumerate().skip(1).map(|(i, name)| (name.trim(), i)).collect();
    let order = |(row, task): (usize, &String)| {
        place.get(task.as_str()).copied().ok_or_else(|| {
            let why =
                format!(
                    "task {task:?} of the first column is not in the first line, which names all tasks; a square file \
                     has their names in its first line and in its first column (pandas: to_csv with its index)"
                );
            table.at(row, FileError::of_table(why))
        })
    };
    let order: Vec<usize> = tasks.iter().enumerate().map(order).collect::<FileResult<_>>()?;
    let known: HashSet<&str> = tasks.iter().map(String::as_str).collect();
    if let Some(task) = table.columns[1..].iter().find(|name| !known.contains(name.trim())) {
        let why =
            format!("task {task:?} of the first line has no row: a square matrix has one for each task");
        return Err(FileError::of_table(why));
    }
    let row = |row: usize| order.iter().map(|&column| table.number(row, column)).collect();
    let rows = (0..tasks.len()).map(row).collect::<FileResult<_>>()?;
    Ok(RelationData::Rows { tasks, rows })
}

fn features(table: &TextTable) -> FileResult<RelationData> {
    if table.columns.len() < 2 {
        return Err(FileError::of_table("features needs columns of numbers beside that of the tasks"));
    }
    let (mut tasks, mut rows) = (vec![], vec![]);
    for row in 0..table.rows.len() {
        tasks.push(table.name(row, 0)?.to_string());
        rows.push(
            (1..table.columns.len()).map(|column| table.number(row, column)).collect::<FileResult<_>>()?,
        );
    }
    Ok(RelationData::Rows { tasks, rows })
}
