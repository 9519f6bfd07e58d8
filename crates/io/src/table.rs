//! What a file holds, before it is a learning problem.

use crate::{Categorical, Error, FoldKeys, Hint, Result, Role, part_in_words};
use kinfolk::{Inputs, Matrix, TaskNames};
use std::collections::BTreeMap;

/// Rows of a file.
///
/// Inputs are dense or sparse, in single or double precision, by their contents and not by the format they
/// came in: sparse if at most a tenth of the numbers is not zero, single if that loses nothing. So the same
/// numbers give the same model to the last bit, whatever file they are in.
#[derive(Debug)]
pub struct Table {
    /// Features, or kernel values (array `K`): a Gram matrix when read for fitting, rows against the training
    /// inputs when read for prediction.
    pub inputs: Inputs<'static>,
    /// Names of the features, if the file has them.
    pub features: Option<Vec<String>>,
    /// What is to be learned, if the file says.
    pub targets: Targets,
    /// One weight per row.
    pub weight: Option<Vec<f64>>,
    /// One offset per row: it is added to the scores of the row, for all its tasks, in the loss.
    pub offset: Option<Vec<f64>>,
    /// Part of each row (0 = train, 1 = test, 2 = validation by custom).
    pub split: Option<Vec<i64>>,
    /// What decides about folds, if a column was named for it.
    pub fold_keys: Option<FoldKeys>,
    /// Columns that predictions carry along.
    pub kept: Vec<KeptColumn>,
    /// The line of each row in a text file; empty for other files.
    pub lines: Vec<u64>,
}

/// A column that is carried along as it is.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptColumn {
    /// Its name.
    pub name: String,
    /// Its cells, as texts.
    pub values: Vec<String>,
}

/// The labels of a table.
#[derive(Debug, Clone, PartialEq)]
pub enum Targets {
    /// There are none: good enough for prediction.
    None,
    /// Each row belongs to one task and has one label.
    Tasks {
        /// Task of each row.
        task: Categorical,
        /// Label of each row; `None` if the file has tasks only, for prediction.
        label: Option<Labels>,
    },
    /// Each row has one class.
    Classes(Categorical),
    /// Each row has a label for every task, or none (NaN) for some.
    Wide {
        /// Rows x tasks.
        label: Matrix,
        /// Names of the tasks.
        tasks: TaskNames,
    },
}

/// Labels of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Labels {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Words: "yes", "no".
    Words(Categorical),
}

impl Table {
    /// Inputs and targets, and nothing else.
    pub fn new(inputs: Inputs<'static>, targets: Targets) -> Self {
        Table {
            inputs,
            features: None,
            targets,
            weight: None,
            offset: None,
            split: None,
            fold_keys: None,
            kept: vec![],
            lines: vec![],
        }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.inputs.n_inputs()
    }

    /// The given rows, copied; of a Gram matrix those rows and columns. Tasks and classes keep their names,
    /// rows or not.
    ///
    /// # Panics
    /// If a row is out of range.
    pub fn select_rows(&self, rows: &[u32]) -> Table {
        let rows_of = || rows.iter().map(|&i| i as usize);
        Table {
            inputs: self.inputs.select_rows(rows),
            features: self.features.clone(),
            targets: self.targets.select_rows(rows_of()),
            weight: self.weight.as_ref().map(|weight| rows_of().map(|i| weight[i]).collect()),
            offset: self.offset.as_ref().map(|offset| rows_of().map(|i| offset[i]).collect()),
            split: self.split.as_ref().map(|split| rows_of().map(|i| split[i]).collect()),
            fold_keys: self.fold_keys.as_ref().map(|keys| keys.select_rows(rows_of())),
            kept: self.kept.iter().map(|column| column.select_rows(rows_of())).collect(),
            lines: if self.lines.is_empty() { vec![] } else { rows_of().map(|i| self.lines[i]).collect() },
        }
    }

    /// The rows that have a label, and how many have none. Rows of a wide table count, whatever they have.
    pub fn labelled(self) -> (Table, usize) {
        let unnamed = |column: &Categorical| column.names.iter().position(|name| name.is_empty());
        let rows: Vec<u32> = match &self.targets {
            Targets::Tasks { label: Some(Labels::Numbers(labels)), .. } => {
                (0..labels.len()).filter(|&i| !labels[i].is_nan()).map(|i| i as u32).collect()
            }
            Targets::Tasks { label: Some(Labels::Words(words)), .. } | Targets::Classes(words) => {
                let Some(none) = unnamed(words) else { return (self, 0) };
                (0..words.len()).filter(|&i| words.index[i] as usize != none).map(|i| i as u32).collect()
            }
            _ => return (self, 0),
        };
        let missing = self.n_rows() - rows.len();
        if missing == 0 {
            return (self, 0);
        }
        let mut table = self.select_rows(&rows);
        if let Targets::Tasks { label: Some(Labels::Words(words)), .. } | Targets::Classes(words) =
            &mut table.targets
        {
            *words = words.without_empty_name();
        }
        (table, missing)
    }

    /// An error about a row of this table, with the line it is on where that is known.
    pub(crate) fn place(&self, mut error: Error) -> Error {
        if let Some(&line) = error.row.and_then(|row| self.lines.get(row as usize)) {
            (error.row, error.line) = (None, Some(line));
        }
        error
    }

    /// The rows of one part of the data.
    ///
    /// # Errors
    /// If the table has no split or no row is in that part; then it says which parts there are.
    pub fn take_split(&self, part: i64) -> Result<Table> {
        let split = self.split.as_ref().ok_or_else(|| {
            let why = "there is no split: nothing says which part a row belongs to";
            Error::of_table(why).hint(Hint::CheckRoles(vec![Role::Split]))
        })?;
        let rows: Vec<u32> = (0..split.len()).filter(|&i| split[i] == part).map(|i| i as u32).collect();
        if rows.is_empty() {
            let mut counts = BTreeMap::new();
            split.iter().for_each(|part| *counts.entry(part).or_insert(0usize) += 1);
            let parts =
                counts.iter().take(10).map(|(part, n)| format!("{}: {n} rows", part_in_words(**part)));
            let (part, parts) = (part_in_words(part), parts.collect::<Vec<_>>().join(", "));
            return Err(wrong!("no row is in part {part}; there is {parts}").in_column("split"));
        }
        Ok(self.select_rows(&rows))
    }
}

impl KeptColumn {
    fn select_rows(&self, rows: impl Iterator<Item = usize>) -> Self {
        KeptColumn { name: self.name.clone(), values: rows.map(|i| self.values[i].clone()).collect() }
    }
}

impl Targets {
    /// The given rows.
    pub(crate) fn select_rows(&self, rows: impl Iterator<Item = usize> + Clone) -> Targets {
        match self {
            Targets::None => Targets::None,
            Targets::Tasks { task, label } => Targets::Tasks {
                task: task.select_rows(rows.clone()),
                label: label.as_ref().map(|label| label.select_rows(rows)),
            },
            Targets::Classes(class) => Targets::Classes(class.select_rows(rows)),
            Targets::Wide { label, tasks } => {
                let mut taken = Matrix::zeros(rows.clone().count(), label.cols());
                rows.enumerate().for_each(|(to, from)| taken.row_mut(to).copy_from_slice(label.row(from)));
                Targets::Wide { label: taken, tasks: tasks.clone() }
            }
        }
    }
}

impl Labels {
    fn select_rows(&self, rows: impl Iterator<Item = usize>) -> Labels {
        match self {
            Labels::Numbers(labels) => Labels::Numbers(rows.map(|i| labels[i]).collect()),
            Labels::Words(labels) => Labels::Words(labels.select_rows(rows)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;

    fn table() -> Table {
        Table {
            inputs: Dense::f64_owned(vec![1.0, 2.0, 3.0], 3, 1).unwrap().into(),
            features: None,
            targets: Targets::Tasks {
                task: Categorical::from_words(&["a", "b", "c"]),
                label: Some(Labels::Numbers(vec![0.1, 0.2, 0.3])),
            },
            weight: Some(vec![1.0, 2.0, 3.0]),
            offset: Some(vec![0.5, 0.0, -0.5]),
            split: Some(vec![0, 1, 0]),
            fold_keys: Some(FoldKeys::Times(vec![3.0, 1.0, 2.0])),
            kept: vec![KeptColumn { name: "id".into(), values: ["p", "q", "r"].map(String::from).to_vec() }],
            lines: vec![2, 4, 5],
        }
    }

    #[test]
    fn a_part_has_its_rows_and_all_names() {
        let part = table().take_split(0).unwrap();
        assert_eq!((part.n_rows(), part.weight), (2, Some(vec![1.0, 3.0])));
        assert_eq!(part.offset, Some(vec![0.5, -0.5]));
        assert_eq!(part.fold_keys, Some(FoldKeys::Times(vec![3.0, 2.0])));
        assert_eq!((part.lines, part.kept[0].values.join(" ")), (vec![2, 5], "p r".to_string()));
        let Targets::Tasks { task, label } = part.targets else { panic!() };
        assert_eq!((task.names.len(), task.index), (3, vec![0, 2]));
        assert_eq!(label, Some(Labels::Numbers(vec![0.1, 0.3])));
    }

    #[test]
    fn a_part_that_is_not_there_is_an_error_that_lists_those_that_are() {
        let error = table().take_split(2).unwrap_err().to_string();
        assert_eq!(
            error,
            "column \"split\": no row is in part 2 (validation); there is 0 (train): 2 rows, 1 (test): 1 rows"
        );
    }

    #[test]
    fn rows_of_a_wide_table_are_taken_whole() {
        let label = Matrix::from_vec(vec![1.0, f64::NAN, 3.0, 4.0], 2, 2).unwrap();
        let wide = Targets::Wide { label, tasks: TaskNames::Numbered(2) };
        let Targets::Wide { label, .. } = wide.select_rows([1, 0].into_iter()) else { panic!() };
        assert_eq!(label.row(0), [3.0, 4.0]);
        assert!(label[(1, 1)].is_nan());
    }
}
