//! What the columns of a file mean.

use crate::error::quoted;
use crate::label_encoding::{listed, names_in_use};
use crate::{DateOrder, DatePart, Decimal, Feature, FoldsBy, Missing, NewGaps, Result, Targets};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// What a caller says about the columns of a file. Formats whose arrays have fixed names (npz, npy, svm) need
/// none of it; in npz, `task`, `target`, `weight`, `offset` and `split` may name other arrays than the usual
/// ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ColumnRoles {
    /// The column with the task of each row.
    pub task: Option<String>,
    /// The columns to learn; several = one task each.
    pub target: Vec<String>,
    /// The columns to learn from; `None` = all other numeric ones.
    pub features: Option<Vec<String>>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// Columns of words to turn into one feature per word.
    pub one_hot: Vec<String>,
    /// Column of weights.
    pub weight: Option<String>,
    /// Column of offsets: numbers that are added to the scores of a row, in the loss.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// Column with the part of each row (train, test, ...).
    pub split: Option<String>,
    /// Columns that predictions carry along as they are; they are not learned from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    /// How missing values of features are filled in.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missing: Missing,
    /// More texts that stand for a missing value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_words: Vec<String>,
    /// The only texts that stand for a missing value, besides these and an empty cell; `None` = the usual ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_missing: Option<Vec<String>>,
    /// The same for single columns, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub only_missing_of: BTreeMap<String, Vec<String>>,
    /// Most values of a column of words that become a feature each; the rest is one feature together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_levels: Option<usize>,
    /// Parts of dates that become features beside the date itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub date_parts: Vec<DatePart>,
    /// Order of day, month and year in dates; `None` = as the dates show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// The decimal sign of numbers in text; `None` = as the numbers show.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<Decimal>,
    /// Lines above the header of a csv file, which are not read; `None` = those that look like a title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_lines: Option<u64>,
    /// Whether indices of svm files count from 0; `None` = if one is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zero_based: Option<bool>,
    /// The part whose rows decide about encodings: means, values of words. `None` = all rows.
    #[serde(skip)]
    pub part: Option<i64>,
    /// The column that decides about folds.
    #[serde(skip)]
    pub folds_by: Option<FoldsBy>,
    /// What becomes of columns of a model that new rows do not have.
    #[serde(skip)]
    pub missing_columns: NewGaps,
    /// What becomes of missing values in columns that had none in training.
    #[serde(skip)]
    pub missing_cells: NewGaps,
    /// Whether no row may be left out: then a missing value is an error that [`Missing::Drop`] would leave out.
    #[serde(skip)]
    pub keep_rows: bool,
    /// Whether words, labels and tasks that differ only in letter case, or in spaces around them, are the same.
    #[serde(default, skip_serializing_if = "is_default")]
    pub ignore_case: bool,
    /// Then the spelling that stands for each word, by the word in lower case; a fit finds it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spellings: BTreeMap<String, String>,
    /// The unit beside the numbers of a column, by the name of the column; a fit finds it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, String>,
    /// The decimal sign of the numbers of a column, by its name, where it is not that of the file; a fit finds those
    /// that are not told.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub decimals: BTreeMap<String, Decimal>,
    /// Signs of money beside the numbers of a column, by its name; a fit finds them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub money: BTreeMap<String, Vec<String>>,
    /// Whether the target's values are classes even if they are numbers.
    pub classes: bool,
    /// Whether to keep inputs dense however many zeros there are.
    pub dense: bool,
}

impl ColumnRoles {
    /// The columns that are named, except the features, with their roles.
    pub(crate) fn named(&self) -> impl Iterator<Item = (Role, &String)> {
        let one = |role, name| Option::iter(name).map(move |name| (role, name));
        let list = |role, names| <[String]>::iter(names).map(move |name| (role, name));
        one(Role::Task, &self.task)
            .chain(list(Role::Target, &self.target))
            .chain(one(Role::Weight, &self.weight))
            .chain(one(Role::Offset, &self.offset))
            .chain(one(Role::Split, &self.split))
            .chain(list(Role::Drop, &self.drop))
            .chain(list(Role::OneHot, &self.one_hot))
            .chain(list(Role::Keep, &self.keep))
    }

    /// `Err` if features are chosen by name in a format where they have no names.
    pub(crate) fn refuse_features(&self, format: &str) -> Result<()> {
        let chosen = self.named().any(|(role, _)| matches!(role, Role::Drop | Role::OneHot | Role::Keep));
        match chosen || self.features.is_some() {
            true => Err(wrong!("features of {format} files are not chosen by name; csv and parquet can")),
            false => Ok(()),
        }
    }

    /// `Err` if any column is named in a format without named columns.
    pub(crate) fn refuse_all(&self, format: &str) -> Result<()> {
        self.refuse_features(format)?;
        let folds = self.folds_by.as_ref().map(FoldsBy::column);
        match self.named().map(|(_, name)| name.as_str()).chain(folds).next() {
            Some(name) => Err(wrong!("{format} files have no columns by name, such as {name:?}")),
            None => Ok(()),
        }
    }
}

/// What a column is used for, as a field of [`ColumnRoles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// [`ColumnRoles::task`].
    Task,
    /// [`ColumnRoles::target`].
    Target,
    /// [`ColumnRoles::features`].
    Features,
    /// [`ColumnRoles::drop`].
    Drop,
    /// [`ColumnRoles::one_hot`].
    OneHot,
    /// [`ColumnRoles::weight`].
    Weight,
    /// [`ColumnRoles::offset`].
    Offset,
    /// [`ColumnRoles::split`].
    Split,
    /// [`ColumnRoles::keep`].
    Keep,
    /// [`ColumnRoles::folds_by`].
    Folds,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Task => "task",
            Role::Target => "target",
            Role::Features => "feature",
            Role::Drop => "column to drop",
            Role::OneHot => "one-hot column",
            Role::Weight => "weight",
            Role::Offset => "offset",
            Role::Split => "split",
            Role::Keep => "column to keep",
            Role::Folds => "column of the folds",
        })
    }
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Everything needed to read a file the way the training file was read. Stored in the model file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schema {
    /// What the caller said.
    pub columns: ColumnRoles,
    /// The features in their order, if they have names.
    pub features: Option<Vec<Feature>>,
    /// Number of features after one-hot encoding.
    pub n_features: usize,
    /// How the inputs are stored; decided once, when the file is first read as a whole.
    pub storage: Storage,
    /// How labels became numbers; see [`Table::label_encoding`](crate::Table::label_encoding).
    #[serde(rename = "coding")]
    pub label_encoding: LabelEncoding,
    /// The two values of each target, where several targets are learned and some hold words; else nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_values: Vec<TargetValues>,
    /// The labels of a svm file whose rows have any number of them; else nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub several_labels: Vec<String>,
    /// Whether the label `none` is a word like any other, and not a missing label.
    #[serde(default, skip_serializing_if = "is_default")]
    pub none_is_label: bool,
    /// Columns that were left out without being told to, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// Rows of the training file whose cells were all empty; they were left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub empty_rows: u64,
    /// Rows of the training file that were left out, since they lacked a value.
    #[serde(default, skip_serializing_if = "is_default")]
    pub dropped_rows: u64,
    /// How the training files were read, for people: the same rows in another encoding give the same model.
    #[serde(skip)]
    pub remarks: Vec<String>,
    /// Means of the features in training, if they are known: for columns that new rows do not have.
    #[serde(skip)]
    pub feature_means: Option<Vec<f64>>,
}

/// The two values of a target, which are read as -1 and +1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetValues {
    /// The column, and the task.
    pub column: String,
    /// What is read as -1.
    pub negative: String,
    /// What is read as +1.
    pub positive: String,
}

/// A column that is no feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its name.
    pub column: String,
    /// Why it cannot be learned from.
    pub why: String,
}

impl Schema {
    /// The columns of a file that a model knows: those with a role, and features.
    pub(crate) fn column_names(&self) -> impl Iterator<Item = &str> {
        let roles = self.columns.named().map(|(_, name)| name.as_str());
        roles.chain(self.features.iter().flatten().map(Feature::column))
    }

    /// A schema before the rows were read: dense inputs, labels as they are.
    pub fn new(columns: ColumnRoles, features: Option<Vec<Feature>>, n_features: usize) -> Self {
        let (storage, label_encoding) = (Storage::Dense, LabelEncoding::Numbers);
        Schema {
            columns,
            features,
            n_features,
            storage,
            label_encoding,
            target_values: vec![],
            several_labels: vec![],
            none_is_label: false,
            left_out: vec![],
            empty_rows: 0,
            dropped_rows: 0,
            remarks: vec![],
            feature_means: None,
        }
    }

    /// The two values of a task, where each target has its own.
    pub fn values_of_task(&self, task: &str) -> Option<&TargetValues> {
        self.target_values.iter().find(|values| values.column == task)
    }

    /// `Err` if these targets are words that nobody declared to be classes, and the loss is not for `classification`.
    ///
    /// # Errors
    /// Then it names a target and its values.
    pub fn check_loss(&self, classification: bool, targets: &Targets) -> Result<()> {
        let why = "and this loss is for numbers; take a loss for classification";
        match (self.target_values.first(), targets) {
            _ if classification => Ok(()),
            (Some(values), _) => {
                let (negative, positive) = (quoted(&values.negative), quoted(&values.positive));
                Err(wrong!("labels are words ({negative}, {positive}), {why}").in_column(&*values.column))
            }
            // Arrays of classes are declared by their names.
            (None, Targets::Classes(class)) if !self.columns.classes && !self.columns.target.is_empty() => {
                let words = listed(names_in_use(class));
                let error = wrong!("labels are words ({words}), {why}, or declare them classes");
                Err(error.in_column(self.columns.target.join(",")))
            }
            _ => Ok(()),
        }
    }

    /// Names of the features, one-hot ones included, if they have names.
    pub fn feature_names(&self) -> Option<Vec<String>> {
        self.features.as_ref().map(|features| features.iter().flat_map(Feature::names).collect())
    }
}

/// How inputs are stored. All rows of a problem are stored in one way, in training and prediction: sums of
/// the same numbers then come in the same order.
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

/// How labels become numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LabelEncoding {
    /// They are numbers.
    Numbers,
    /// Two values, encoded as -1 and +1.
    Binary {
        /// What -1 was.
        negative: String,
        /// What +1 was.
        positive: String,
    },
    /// One class per row, one task per class: +1 for its own, -1 for the others.
    Classes,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_of_version_0_1_0_is_read() {
        let text = r#"{"columns":{"task":"t","target":["y"],"features":null,"drop":[],"one_hot":["c"],"weight":null,
            "split":null,"classes":false,"dense":false},"features":[{"number":"a"},{"one_hot":{"column":"c",
            "values":["x"]}}],"n_features":2,"storage":"dense","coding":{"binary":{"negative":"0","positive":"1"}}}"#;
        let schema: Schema = serde_json::from_str(text).unwrap();
        assert_eq!((schema.columns.offset.as_ref(), schema.n_features), (None, 2));
        let squeezed = text.replace(['\n', ' '], "");
        assert_eq!(serde_json::to_string(&schema).unwrap(), squeezed, "and written the same");
    }
}
