//! A whole table as named columns.

use super::{CellKind, Cells, TableWriter};
use crate::storage::for_each;
use crate::{Columns, Error, Keys, Labels, Result, Table, Targets};
use kinfolk::{Inputs, TaskNames};
use std::collections::HashSet;
use std::path::Path;

/// Numbers of a chunk, about.
const CHUNK: usize = 1 << 18;

/// What to say about the columns of a file that [`write_table`](crate::write_table) wrote, in csv or parquet, to read the same
/// table back: `task`, `y` or `label` or one column per task, `weight` and `split`, each with an underscore for every feature
/// of that name.
pub fn columns_of(table: &Table) -> Columns {
    Names::of(table).columns(table)
}

/// Writes a table as csv or parquet.
pub(crate) fn write(table: &Table, path: &Path) -> Result<()> {
    let names = Names::of(table);
    names.check(table, path)?;
    let mut writer = TableWriter::create(path, &names.list(table))?;
    let step = (CHUNK / (names.features.len() + names.target.len()).max(1)).max(1);
    for first in (0..table.n_rows()).step_by(step) {
        let last = (first + step).min(table.n_rows());
        let chunk = Chunk::of(table, first, last);
        writer.append(&chunk.cells())?;
    }
    writer.finish().map(drop)
}

/// Names of the columns, all different.
struct Names {
    features: Vec<String>,
    task: Option<String>,
    target: Vec<String>,
    weight: Option<String>,
    split: Option<String>,
}

impl Names {
    fn of(table: &Table) -> Self {
        let numbered = || (0..table.inputs.n_features()).map(|j| format!("x{j}")).collect();
        let features: Vec<String> = table.features.clone().unwrap_or_else(numbered);
        let mut taken: HashSet<String> = features.iter().cloned().collect();
        let mut free = |name: &str| {
            let mut name = name.to_string();
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            name
        };
        let task = matches!(table.targets, Targets::Tasks { .. }).then(|| free("task"));
        let target = match &table.targets {
            Targets::None | Targets::Tasks { label: None, .. } => vec![],
            Targets::Tasks { .. } => vec![free("y")],
            Targets::Classes(_) => vec![free("label")],
            Targets::Wide { tasks, .. } => (0..tasks.len()).map(|t| free(&tasks.name(t))).collect(),
        };
        let weight = table.weight.is_some().then(|| free("weight"));
        let split = table.split.is_some().then(|| free("split"));
        Names { features, task, target, weight, split }
    }

    fn columns(self, table: &Table) -> Columns {
        let classes = match &table.targets {
            Targets::Classes(_) => true,
            Targets::Tasks { label, .. } => matches!(label, Some(Labels::Words(_))),
            _ => false,
        };
        let (task, target, weight, split) = (self.task, self.target, self.weight, self.split);
        Columns { task, target, weight, split, classes, ..Columns::default() }
    }

    /// Names and kinds in the order of [`Chunk::cells`].
    fn list(&self, table: &Table) -> Vec<(String, CellKind)> {
        let feature = if is_single(&table.inputs) { CellKind::Singles } else { CellKind::Numbers };
        let mut list: Vec<(String, CellKind)> =
            self.features.iter().map(|name| (name.clone(), feature)).collect();
        if let (Some(name), Targets::Tasks { task, .. }) = (&self.task, &table.targets) {
            list.push((name.clone(), kind(task)));
        }
        let label = match &table.targets {
            Targets::Classes(keys) | Targets::Tasks { label: Some(Labels::Words(keys)), .. } => kind(keys),
            _ => CellKind::Numbers,
        };
        list.extend(self.target.iter().map(|name| (name.clone(), label)));
        list.extend(self.weight.iter().map(|name| (name.clone(), CellKind::Numbers)));
        list.extend(self.split.iter().map(|name| (name.clone(), CellKind::Integers)));
        list
    }

    /// `Err` if the file could not be read back.
    fn check(&self, table: &Table, path: &Path) -> Result<()> {
        let unnamed = |keys: &Keys| (0..keys.names.len()).any(|i| keys.names.name(i).is_empty());
        let unnamed = match &table.targets {
            Targets::Tasks { task, label: Some(Labels::Words(label)) } => unnamed(task) || unnamed(label),
            Targets::Tasks { task: keys, .. } | Targets::Classes(keys) => unnamed(keys),
            Targets::None | Targets::Wide { .. } => false,
        };
        if unnamed {
            let why = "this format cannot hold a task or a class without a name; write .npz";
            return Err(Error::new(path, why));
        }
        if matches!(table.targets, Targets::Wide { .. }) && self.target.len() < 2 {
            return Err(Error::new(path, "this format cannot hold a wide table of one task; write .npz"));
        }
        Ok(())
    }
}

fn is_single(inputs: &Inputs<'_>) -> bool {
    match inputs {
        Inputs::Dense(x) => x.is_f32(),
        Inputs::Sparse(x) => x.is_f32(),
        _ => false,
    }
}

fn kind(keys: &Keys) -> CellKind {
    if matches!(keys.names, TaskNames::Strings(_)) { CellKind::Words } else { CellKind::Integers }
}

/// Some rows, by columns.
struct Chunk {
    columns: Vec<Column>,
}

enum Column {
    Singles(Vec<f64>),
    Numbers(Vec<f64>),
    Integers(Vec<i64>),
    Words(Vec<String>),
}

impl Chunk {
    fn of(table: &Table, first: usize, last: usize) -> Self {
        let rows = first..last;
        let mut features = vec![vec![0.0; rows.len()]; table.inputs.n_features()];
        for row in rows.clone() {
            for_each(&table.inputs, row, |j, value| features[j][row - first] = value);
        }
        let single = is_single(&table.inputs);
        let feature = |values| if single { Column::Singles(values) } else { Column::Numbers(values) };
        let mut columns: Vec<Column> = features.into_iter().map(feature).collect();
        match &table.targets {
            Targets::None => {}
            Targets::Tasks { task, label } => {
                columns.push(names(task, rows.clone()));
                columns.extend(label.as_ref().map(|label| match label {
                    Labels::Numbers(values) => Column::Numbers(values[rows.clone()].to_vec()),
                    Labels::Words(keys) => names(keys, rows.clone()),
                }));
            }
            Targets::Classes(keys) => columns.push(names(keys, rows.clone())),
            Targets::Wide { label, .. } => columns.extend(
                (0..label.cols()).map(|t| Column::Numbers(rows.clone().map(|row| label[(row, t)]).collect())),
            ),
        }
        columns.extend(table.weight.as_ref().map(|weight| Column::Numbers(weight[rows.clone()].to_vec())));
        columns.extend(table.split.as_ref().map(|split| Column::Integers(split[rows].to_vec())));
        Chunk { columns }
    }

    fn cells(&self) -> Vec<Cells<'_>> {
        self.columns.iter().map(Column::cells).collect()
    }
}

impl Column {
    fn cells(&self) -> Cells<'_> {
        match self {
            Column::Singles(cells) => Cells::Singles(cells),
            Column::Numbers(cells) => Cells::Numbers(cells),
            Column::Integers(cells) => Cells::Integers(cells),
            Column::Words(cells) => Cells::Words(cells),
        }
    }
}

fn names(keys: &Keys, rows: std::ops::Range<usize>) -> Column {
    let index = |row: usize| keys.index[row] as usize;
    match &keys.names {
        TaskNames::Strings(names) => Column::Words(rows.map(|row| names[index(row)].clone()).collect()),
        TaskNames::Integers(names) => Column::Integers(rows.map(|row| names[index(row)]).collect()),
        _ => Column::Integers(rows.map(|row| index(row) as i64).collect()),
    }
}
