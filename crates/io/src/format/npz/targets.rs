//! Which arrays of an npz file are the targets, and what kind of targets they are.

use super::archive::Archive;
use super::columns::{categorical, labels, names, numbers, per_row};
use crate::{Categorical, ColumnRoles, Error, Result, Targets};
use kinfolk::{Matrix, TaskNames};

/// The names of arrays: as the caller says, else as in training if there are such, else the usual ones.
pub(super) struct Wanted<'a> {
    pub(super) now: &'a ColumnRoles,
    pub(super) before: Option<&'a ColumnRoles>,
}

impl Wanted<'_> {
    /// The array for one role. What the caller names must be there.
    pub(super) fn array(
        &self,
        archive: &Archive,
        role: fn(&ColumnRoles) -> &Option<String>,
        usual: &str,
    ) -> Result<Option<String>> {
        if let Some(name) = role(self.now) {
            return archive.member(name).map(|_| Some(name.to_string()));
        }
        let before = self.before.and_then(|before| role(before).as_deref());
        Ok(before.into_iter().chain([usual]).find(|name| archive.has(name)).map(str::to_string))
    }

    fn classes(&self) -> bool {
        self.now.classes || self.before.is_some_and(|columns| columns.classes)
    }

    /// The arrays to learn; none if there are none.
    fn targets(&self, archive: &Archive) -> Result<Vec<String>> {
        if !self.now.target.is_empty() {
            self.now.target.iter().try_for_each(|name| archive.member(name).map(drop))?;
            return Ok(self.now.target.clone());
        }
        let before = self.before.map_or(&[][..], |columns| &columns.target);
        if !before.is_empty() && before.iter().all(|name| archive.has(name)) {
            return Ok(before.to_vec());
        }
        let usual: Vec<String> =
            ["label", "Y", "y"].into_iter().filter(|name| archive.has(name)).map(str::to_string).collect();
        match &usual[..] {
            [_, _, ..] => Err(wrong!(
                "there are several arrays to learn ({}); name one as the target",
                usual.join(", ")
            )),
            _ => Ok(usual),
        }
    }
}

/// Reads the targets of a file with `rows` rows.
pub(super) fn read(archive: &mut Archive, wanted: &Wanted<'_>, rows: usize) -> Result<Targets> {
    let targets = wanted.targets(archive)?;
    let target = match &targets[..] {
        [] => None,
        [one] => Some(one),
        several => return columns_side_by_side(archive, several, rows),
    };
    if let Some(name) = target
        && let [_, cols] = archive.header(name)?.shape[..]
        && (cols != 1 || name == "Y")
    {
        return table(archive, wanted, name, rows);
    }
    match target {
        Some(name) if wanted.classes() || name == "label" => {
            let column = per_row(archive, name, rows)?;
            let names = names(archive, "class_names")?;
            categorical(column, name, names).map(Targets::Classes)
        }
        Some(name) if name == "Y" => Err(wrong!("it is a list; expected rows and columns").in_column(name)),
        Some(name) => {
            let label = labels(per_row(archive, name, rows)?).map_err(|error| error.in_column(name))?;
            // Without an array of tasks there is one task.
            let task =
                tasks(archive, wanted, rows)?.unwrap_or_else(|| Categorical::from_integers(&vec![0; rows]));
            Ok(Targets::Tasks { task, label: Some(label) })
        }
        None => Ok(match tasks(archive, wanted, rows)? {
            Some(task) => Targets::Tasks { task, label: None },
            None => Targets::None,
        }),
    }
}

fn tasks(archive: &mut Archive, wanted: &Wanted<'_>, rows: usize) -> Result<Option<Categorical>> {
    let Some(name) = wanted.array(archive, |roles| &roles.task, "task")? else {
        return Ok(None);
    };
    let column = per_row(archive, &name, rows)?;
    let names = names(archive, "task_names")?;
    categorical(column, &name, names).map(Some)
}

/// One array with a column for each task.
fn table(archive: &mut Archive, wanted: &Wanted<'_>, name: &str, rows: usize) -> Result<Targets> {
    let at = |error: Error| error.in_column(name);
    if wanted.now.task.is_some() {
        return Err(at(wrong!("it has a column for each task; then no other array can say the task")));
    }
    let header = archive.header(name)?;
    let cols = header.shape[1] as usize;
    if header.shape[0] != rows as u64 || cols == 0 {
        return Err(at(wrong!(
            "it has shape {}; expected {rows} rows and a column for each task",
            header.shape_text()
        )));
    }
    let (_, column) = archive.column(name)?;
    let values = numbers(column, name)?;
    let label = match header.fortran {
        true => Matrix::from_vec(values, cols, rows).map(|by_columns| by_columns.transposed()),
        false => Matrix::from_vec(values, rows, cols),
    };
    let label = label.map_err(|error| at(error.into()))?;
    let tasks = names(archive, "task_names")?.unwrap_or(TaskNames::Numbered(cols));
    if tasks.len() != cols {
        return Err(wrong!("{} names for the {cols} columns of {name}", tasks.len()).in_column("task_names"));
    }
    Ok(Targets::Wide { label, tasks })
}

/// Several arrays, one for each task, called as they are.
fn columns_side_by_side(archive: &mut Archive, several: &[String], rows: usize) -> Result<Targets> {
    let mut label = Matrix::zeros(rows, several.len());
    for (t, name) in several.iter().enumerate() {
        let values = numbers(per_row(archive, name, rows)?, name)?;
        values.into_iter().enumerate().for_each(|(i, y)| label[(i, t)] = y);
    }
    Ok(Targets::Wide { label, tasks: TaskNames::Strings(several.to_vec()) })
}
