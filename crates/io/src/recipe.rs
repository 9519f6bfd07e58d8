//! What the columns of a file mean.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// What a caller says about the columns of a table with named columns. Formats whose arrays have fixed names (npz, npy,
/// svm) need none of it; in npz, `task`, `target`, `weight` and `split` may name other arrays than the usual ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Columns {
    /// The column that says which task a row belongs to.
    pub task: Option<String>,
    /// The columns to be learned; several = one task each.
    pub target: Vec<String>,
    /// The columns to learn from; `None` = all other numeric ones.
    pub features: Option<Vec<String>>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Columns of words to turn into one feature per word.
    pub one_hot: Vec<String>,
    /// Column of weights.
    pub weight: Option<String>,
    /// Column that says which part a row belongs to.
    pub split: Option<String>,
    /// Whether the target's values are classes even if they are numbers.
    pub classes: bool,
    /// Whether to keep inputs dense however many zeros there are.
    pub dense: bool,
}

/// Everything needed to read a file the way the training file was read. Stored in the model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What the caller said.
    pub columns: Columns,
    /// The features in their order, if they have names.
    pub features: Option<Vec<Feature>>,
    /// Number of features after one-hot coding.
    pub n_features: usize,
    /// How the inputs are stored; settled once, when the file is first read as a whole.
    pub storage: Storage,
    /// How labels became numbers; settled by [`Table::coding`](crate::Table::coding).
    pub coding: Coding,
}

impl Recipe {
    /// A recipe that is not settled yet: dense inputs, labels as they are.
    pub fn new(columns: Columns, features: Option<Vec<Feature>>, n_features: usize) -> Self {
        Recipe { columns, features, n_features, storage: Storage::Dense, coding: Coding::Numbers }
    }

    /// Names of the features, one-hot ones included, if they have names.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        self.features.as_ref().map(|features| features.iter().flat_map(Feature::names).collect())
    }
}

/// How inputs are stored. All rows of a problem are stored in one way, in training and prediction: sums of the same numbers
/// then come in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// Features, all of them.
    Dense,
    /// Features, those that are not zero.
    Sparse,
    /// Kernel values with the training inputs.
    Kernel,
}

/// Where one or several features come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// A numeric column.
    Number(String),
    /// A column of words: one feature for each of the values seen in training, 0 or 1.
    OneHot {
        /// The column.
        column: String,
        /// Its values in increasing order.
        values: Vec<String>,
    },
}

impl Feature {
    /// What its features are called: `age`, or `colour=blue`, `colour=red`.
    pub fn names(&self) -> Vec<String> {
        match self {
            Feature::Number(column) => vec![column.clone()],
            Feature::OneHot { column, values } => {
                values.iter().map(|value| format!("{column}={value}")).collect()
            }
        }
    }
}

/// How labels become numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// They are numbers.
    Numbers,
    /// Two values, coded -1 and +1.
    Binary {
        /// What -1 was.
        negative: String,
        /// What +1 was.
        positive: String,
    },
    /// One class per row, one task per class: +1 for its own, -1 for the others.
    Classes,
}

/// `Err` if the caller chooses features by name in a format where they have none to choose by.
pub(crate) fn no_named_features(columns: &Columns, format: &str) -> Result<()> {
    match columns.features.is_some() || !columns.drop.is_empty() || !columns.one_hot.is_empty() {
        true => Err(Error::of_table(format!(
            "features of {format} files are not chosen by name; csv and parquet can"
        ))),
        false => Ok(()),
    }
}

/// The same for tasks, targets, weights and parts.
pub(crate) fn no_named_columns(columns: &Columns, format: &str) -> Result<()> {
    no_named_features(columns, format)?;
    let named = [&columns.task, &columns.weight, &columns.split].into_iter().flatten().chain(&columns.target);
    match named.into_iter().next() {
        Some(name) => {
            Err(Error::of_table(format!("{format} files have no columns by name, such as {name:?}")))
        }
        None => Ok(()),
    }
}
