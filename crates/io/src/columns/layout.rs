//! Which column is used for what.

mod of_model;

use super::ColumnNames;
use super::cells::{self, TableCell};
use super::encoder::FeatureColumn;
use super::feature_columns::{features_to_fit, known_features, nothing_left};
use super::fold_column::FoldColumn;
use super::target_values::TargetPair;
use crate::{ColumnRoles, Error, Feature, Hint, LeftOut, Result, Role, Schema, TargetValues};
use std::collections::BTreeMap;

/// What is to be taken from a file with named columns.
pub(crate) struct ColumnLayout {
    /// The columns to learn from, in their order.
    pub(crate) features: Vec<FeatureColumn>,
    /// The column of tasks.
    pub(crate) task: Option<usize>,
    /// The columns to learn.
    pub(crate) target: Option<TargetColumns>,
    /// The column of weights.
    pub(crate) weight: Option<usize>,
    /// The column of offsets.
    pub(crate) offset: Option<usize>,
    /// The column with the part of each row.
    pub(crate) split: Option<usize>,
    /// The column that decides about folds.
    pub(crate) folds: Option<FoldColumn>,
    /// Columns to carry along.
    pub(crate) keep: Vec<(usize, String)>,
    /// Whether the file is read to fit a model.
    pub(crate) fitting: bool,
    /// The part whose rows matter; those of other parts may lack values.
    pub(crate) part: Option<i64>,
    /// Whether no row may be left out for a missing value.
    pub(crate) keeps_rows: bool,
    /// Whether only the first rows were looked at.
    pub(crate) only_start_known: bool,
    /// What is to be said about the names that the caller gave.
    pub(crate) said: Vec<String>,
    schema: Schema,
}

/// What is to be learned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TargetColumns {
    /// One column. `task` is the name of the only task, where there is no column of tasks.
    One { column: usize, kind: LabelKind, task: String },
    /// A column for each task; `None` where the file lacks it.
    /// `pairs` has the two values of each, if some are words.
    Wide { columns: Vec<Option<usize>>, tasks: Vec<String>, pairs: Vec<TargetPair> },
}

/// What a column of labels holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelKind {
    /// Only the whole file can tell.
    Unknown,
    /// Numbers.
    Numbers,
    /// Words of rows that have a task.
    Words,
    /// Classes.
    Classes,
}

/// What a column is read for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnUse {
    /// The k-th feature column.
    Feature(usize),
    Task,
    /// Labels that are numbers; of a wide table, of the t-th task.
    Number(usize),
    Word,
    Weight,
    Offset,
    Split,
    Folds,
    /// The k-th column to carry along.
    Keep(usize),
}

impl ColumnLayout {
    /// As the caller says. All features are numbers until [`complete`](Self::complete), and the kind of a single target
    /// may be unknown.
    pub(crate) fn for_fitting(names: &ColumnNames, columns: &ColumnRoles) -> Result<Self> {
        let roles = roles(names, columns)?;
        let folds = FoldColumn::find(names, columns, &roles)?;
        let (features, left_out) = features_to_fit(names, columns, &roles)?;
        let find = |name: &Option<String>| name.as_ref().and_then(|name| names.find(name));
        let task = find(&columns.task);
        let target = match columns.target.as_slice() {
            [] => None,
            [name] => {
                let kind = match (columns.classes, task) {
                    (true, None) => LabelKind::Classes,
                    (true, Some(_)) => LabelKind::Words,
                    (false, _) => LabelKind::Unknown,
                };
                let column = names.require(name, Role::Target)?;
                Some(TargetColumns::One { column, kind, task: name.clone() })
            }
            targets => Some(TargetColumns::Wide {
                columns: targets.iter().map(|name| names.find(name)).collect(),
                tasks: targets.to_vec(),
                pairs: vec![],
            }),
        };
        if let (Some(name), Some(TargetColumns::Wide { .. })) = (&columns.task, &target) {
            let why = "with a column of tasks there is one target; with several targets each is a task";
            let roles = Hint::CheckRoles(vec![Role::Task, Role::Target]);
            return Err(Error::of_table(why).in_column(name).hint(roles));
        }
        let mut layout = ColumnLayout {
            features,
            task,
            target,
            weight: find(&columns.weight),
            offset: find(&columns.offset),
            split: find(&columns.split),
            folds,
            keep: vec![],
            fitting: true,
            part: columns.part,
            keeps_rows: columns.keep_rows,
            only_start_known: false,
            said: vec![],
            schema: Schema {
                left_out,
                ..Schema::new(ColumnRoles { part: None, folds_by: None, ..columns.clone() }, None, 0)
            },
        };
        layout.note_features();
        Ok(layout)
    }

    /// The schema that reads another file in the same way.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Number of features, one-hot ones counted each.
    pub(crate) fn n_features(&self) -> usize {
        self.features.iter().map(|feature| feature.width).sum()
    }

    /// All columns that are read, and what for.
    pub(crate) fn uses(&self) -> Vec<(usize, ColumnUse)> {
        let features = self.features.iter().enumerate();
        let features = features.filter(|(_, feature)| !feature.is_absent());
        let mut uses: Vec<_> = features.map(|(k, feature)| (feature.column, ColumnUse::Feature(k))).collect();
        uses.extend(self.task.map(|column| (column, ColumnUse::Task)));
        match &self.target {
            None => {}
            Some(TargetColumns::One { column, kind: LabelKind::Numbers, .. }) => {
                uses.push((*column, ColumnUse::Number(0)));
            }
            Some(TargetColumns::One { column, .. }) => uses.push((*column, ColumnUse::Word)),
            Some(TargetColumns::Wide { columns, .. }) => {
                let columns = columns.iter().enumerate();
                uses.extend(columns.filter_map(|(t, &column)| Some((column?, ColumnUse::Number(t)))));
            }
        }
        uses.extend(self.weight.map(|column| (column, ColumnUse::Weight)));
        uses.extend(self.offset.map(|column| (column, ColumnUse::Offset)));
        uses.extend(self.split.map(|column| (column, ColumnUse::Split)));
        uses.extend(self.folds.as_ref().map(|folds| (folds.column(), ColumnUse::Folds)));
        uses.extend(self.keep.iter().enumerate().map(|(k, (column, _))| (*column, ColumnUse::Keep(k))));
        uses
    }

    /// The two values of the t-th target, if they are not numbers as they are.
    pub(super) fn pair(&self, t: usize) -> Option<&TargetPair> {
        match &self.target {
            Some(TargetColumns::Wide { pairs, .. }) => pairs.get(t),
            _ => None,
        }
    }

    /// Takes these features of the file.
    pub(super) fn complete(
        &mut self,
        names: &ColumnNames,
        features: &[Feature],
        left_out: &[LeftOut],
    ) -> Result<()> {
        self.features = known_features(names, features)?;
        self.schema.left_out.extend_from_slice(left_out);
        self.note_features();
        match features.is_empty() {
            true => Err(nothing_left(&self.schema.left_out)),
            false => Ok(()),
        }
    }

    /// Says what the labels of the file are.
    pub(super) fn set_labels(&mut self, values: &[TargetValues], none_is_label: bool) {
        if let Some(TargetColumns::Wide { pairs, .. }) = &mut self.target {
            *pairs = values.iter().map(TargetPair::new).collect();
        }
        (self.schema.target_values, self.schema.none_is_label) = (values.to_vec(), none_is_label);
    }

    /// Says how many rows of the files were left out, since they were empty.
    pub(super) fn set_empty_rows(&mut self, rows: u64) {
        self.schema.empty_rows = rows;
    }

    /// Columns of the model that the file does not have.
    pub(super) fn absent_columns(&self) -> Vec<String> {
        let absent = self.features.iter().filter(|feature| feature.is_absent());
        absent.map(|feature| feature.feature.column().to_string()).collect()
    }

    /// Says how the files were read, for people.
    pub(super) fn set_remarks(&mut self, remarks: Vec<String>) {
        self.schema.remarks = remarks;
    }

    /// Says which decimal signs the numbers of the file have.
    pub(super) fn set_decimals(&mut self, found: &ColumnRoles) {
        let columns = &mut self.schema.columns;
        (columns.decimal, columns.decimals) = (found.decimal, found.decimals.clone());
    }

    /// Says which signs of money are beside the numbers of the file, by column.
    pub(super) fn set_money(&mut self, money: &BTreeMap<String, Vec<String>>) {
        self.schema.columns.money = money.clone();
    }

    /// The sign of money of a number that the numbers of the fit did not have.
    pub(super) fn other_money(
        &self,
        column: &str,
        column_use: ColumnUse,
        cell: &dyn TableCell,
    ) -> Option<&'static str> {
        let is_number = match column_use {
            ColumnUse::Feature(k) => !self.features[k].is_one_hot(),
            ColumnUse::Number(_) => true,
            _ => false,
        };
        if self.fitting || !is_number || !cell.is_text() {
            return None;
        }
        let (_, sign) = cells::number_and_unit(&cell.text().ok()?)?;
        let known = self.schema.columns.money.get(column).into_iter().flatten();
        (!known.into_iter().any(|own| own == sign)).then_some(sign)
    }

    /// Says which units are beside the numbers of the file, by column.
    pub(super) fn set_units(&mut self, units: &BTreeMap<String, String>) {
        self.schema.columns.units = units.clone();
    }

    /// Writes the features into the schema.
    fn note_features(&mut self) {
        self.schema.features = Some(self.features.iter().map(|feature| feature.feature.clone()).collect());
        self.schema.n_features = self.n_features();
    }
}

/// The role that the caller gives each column, if any; features that are listed have none.
fn roles(names: &ColumnNames, columns: &ColumnRoles) -> Result<Vec<Option<Role>>> {
    let mut roles = vec![None; names.len()];
    let unknown = columns.named().filter_map(|(role, name)| names.require(name, role).err());
    if let Some(error) = Error::several(unknown) {
        return Err(error);
    }
    for (role, name) in columns.named() {
        if let Some(old) = roles[names.require(name, role)?].replace(role) {
            return Err(two_uses(name, old, role));
        }
    }
    let mut listed = vec![false; names.len()];
    for name in columns.features.iter().flatten() {
        let column = names.require(name, Role::Features)?;
        let clash = roles[column].filter(|role| *role != Role::OneHot);
        match (clash, std::mem::replace(&mut listed[column], true)) {
            (Some(role), _) => return Err(two_uses(name, role, Role::Features)),
            (None, true) => return Err(two_uses(name, Role::Features, Role::Features)),
            (None, false) => {}
        }
    }
    Ok(roles)
}

pub(super) fn two_uses(name: &str, first: Role, second: Role) -> Error {
    let (why, roles) = match first == second {
        true => (format!("it is given twice as {first}"), vec![first]),
        false => {
            (format!("it is given as {first} and as {second}; a column has one use"), vec![first, second])
        }
    };
    Error::of_table(why).in_column(name).hint(Hint::CheckRoles(roles))
}
