//! Which column is used for what.

use super::{ColumnNames, OneHot};
use crate::error::quoted;
use crate::{ColumnRoles, Error, Feature, Hint, LabelEncoding, Result, Role, Schema};

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
    /// Whether the file is read to fit a model, so that every label must be there.
    pub(crate) fitting: bool,
    schema: Schema,
}

/// A column to learn from.
pub(crate) struct FeatureColumn {
    pub(crate) column: usize,
    /// `None`: it holds numbers.
    pub(crate) one_hot: Option<OneHot>,
}

/// What is to be learned.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TargetColumns {
    /// One column. `task` is the name of the only task, where there is no column of tasks.
    One { column: usize, kind: LabelKind, task: String },
    /// A column for each task; `None` where the file lacks it.
    Wide { columns: Vec<Option<usize>>, tasks: Vec<String> },
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
}

impl ColumnLayout {
    /// As the caller says. One-hot columns have no values yet, and the kind of a single target may be
    /// unknown.
    pub(crate) fn for_fitting(names: &ColumnNames, columns: &ColumnRoles) -> Result<Self> {
        let features = features_to_fit(names, columns, &roles(names, columns)?)?;
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
            fitting: true,
            schema: Schema::new(columns.clone(), None, 0),
        };
        layout.note_features(names);
        Ok(layout)
    }

    /// As the training file was read. What the caller names besides must be there.
    pub(crate) fn for_prediction(names: &ColumnNames, roles: &ColumnRoles, schema: &Schema) -> Result<Self> {
        let old = &schema.columns;
        let find = |new: &Option<String>, old: &Option<String>, role| match (new, old) {
            (Some(name), _) => names.require(name, role).map(Some),
            (None, Some(name)) => Ok(names.find(name)),
            (None, None) => Ok(None),
        };
        let task = find(&roles.task, &old.task, Role::Task)?;
        let mut layout = ColumnLayout {
            features: vec![],
            task,
            target: target_for_prediction(names, roles, schema, task)?,
            weight: find(&roles.weight, &old.weight, Role::Weight)?,
            offset: find(&roles.offset, &old.offset, Role::Offset)?,
            split: find(&roles.split, &old.split, Role::Split)?,
            fitting: false,
            schema: schema.clone(),
        };
        layout.features = match &schema.features {
            Some(features) => {
                features.iter().map(|feature| known_feature(names, feature)).collect::<Result<_>>()?
            }
            None => layout.unnamed_features(names)?,
        };
        Ok(layout)
    }

    /// The schema that reads another file in the same way.
    pub(crate) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Number of features, one-hot ones counted each.
    pub(crate) fn n_features(&self) -> usize {
        self.features.iter().map(|feature| feature.one_hot.as_ref().map_or(1, OneHot::len)).sum()
    }

    /// All columns that are read, and what for.
    pub(crate) fn uses(&self) -> Vec<(usize, ColumnUse)> {
        let features = self.features.iter().enumerate();
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
        uses
    }

    /// Writes the features, with what is known of them, into the schema.
    pub(super) fn note_features(&mut self, names: &ColumnNames) {
        let feature = |feature: &FeatureColumn| {
            let column = names.name(feature.column).to_string();
            match &feature.one_hot {
                None => Feature::Number(column),
                Some(values) => Feature::OneHot { column, values: values.values().to_vec() },
            }
        };
        self.schema.features = Some(self.features.iter().map(feature).collect());
        self.schema.n_features = self.n_features();
    }

    /// The model knows its features by number only: all columns without another use, in the order of the
    /// file.
    fn unnamed_features(&self, names: &ColumnNames) -> Result<Vec<FeatureColumn>> {
        let mut used = vec![false; names.len()];
        self.uses().into_iter().for_each(|(column, _)| used[column] = true);
        let features: Vec<_> = (0..names.len()).filter(|&i| !used[i]).collect();
        let (n, expected) = (features.len(), self.schema.n_features);
        if n != expected {
            return Err(wrong!(
                "the model has {expected} features without names, and {n} columns are left for them here: {}",
                names.listed()
            ));
        }
        Ok(features.into_iter().map(|column| FeatureColumn { column, one_hot: None }).collect())
    }
}

/// The role that the caller gives each column, if any; features that are listed have none.
fn roles(names: &ColumnNames, columns: &ColumnRoles) -> Result<Vec<Option<Role>>> {
    let mut roles = vec![None; names.len()];
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

fn two_uses(name: &str, first: Role, second: Role) -> Error {
    let (why, roles) = match first == second {
        true => (format!("it is given twice as {first}"), vec![first]),
        false => {
            (format!("it is given as {first} and as {second}; a column has one use"), vec![first, second])
        }
    };
    Error::of_table(why).in_column(name).hint(Hint::CheckRoles(roles))
}

/// Those that are listed and the one-hot ones; without a list, all that have no other role.
fn features_to_fit(
    names: &ColumnNames,
    columns: &ColumnRoles,
    roles: &[Option<Role>],
) -> Result<Vec<FeatureColumn>> {
    let is_one_hot = |column: usize| roles[column] == Some(Role::OneHot);
    let chosen: Vec<usize> = match &columns.features {
        None => (0..names.len()).filter(|&i| roles[i].is_none() || is_one_hot(i)).collect(),
        Some(features) => {
            let rest = columns.one_hot.iter().filter(|name| !features.contains(name));
            features.iter().chain(rest).filter_map(|name| names.find(name)).collect()
        }
    };
    if chosen.is_empty() {
        return Err(wrong!("there is no column left to learn from"));
    }
    let feature = |column| FeatureColumn { column, one_hot: is_one_hot(column).then(OneHot::default) };
    Ok(chosen.into_iter().map(feature).collect())
}

fn known_feature(names: &ColumnNames, feature: &Feature) -> Result<FeatureColumn> {
    let (name, one_hot) = match feature {
        Feature::Number(name) => (name, None),
        Feature::OneHot { column, values } => (column, Some(OneHot::new(values.clone()))),
    };
    let column = names.find(name).ok_or_else(|| {
        let (name, listed) = (quoted(name), names.listed());
        wrong!("the model needs column {name}, and there are only {listed}")
    })?;
    Ok(FeatureColumn { column, one_hot })
}

fn target_for_prediction(
    names: &ColumnNames,
    columns: &ColumnRoles,
    schema: &Schema,
    task: Option<usize>,
) -> Result<Option<TargetColumns>> {
    let old = &schema.columns;
    let given = !columns.target.is_empty();
    let targets = if given { &columns.target } else { &old.target };
    let find = |name: &String| match given {
        true => names.require(name, Role::Target).map(Some),
        false => Ok(names.find(name)),
    };
    // Tasks keep their names from training, whatever the columns are called here.
    let tasks = if old.target.len() == targets.len() { &old.target } else { targets };
    match targets.as_slice() {
        [] => Ok(None),
        [name] => {
            // Labels are of no use where the column that tells their tasks is absent.
            let useless = old.task.is_some() && task.is_none();
            let kind = label_kind(schema, columns);
            let target = |column| TargetColumns::One { column, kind, task: tasks[0].clone() };
            Ok(find(name)?.filter(|_| !useless).map(target))
        }
        targets => {
            let columns = targets.iter().map(find).collect::<Result<Vec<_>>>()?;
            let any = columns.iter().any(Option::is_some);
            Ok(any.then(|| TargetColumns::Wide { columns, tasks: tasks.to_vec() }))
        }
    }
}

/// What the labels were in training.
fn label_kind(schema: &Schema, columns: &ColumnRoles) -> LabelKind {
    let is_number = |text: &String| text.trim().parse::<f64>().is_ok();
    match &schema.label_encoding {
        LabelEncoding::Classes => LabelKind::Classes,
        LabelEncoding::Binary { negative, positive } if is_number(negative) && is_number(positive) => {
            LabelKind::Numbers
        }
        LabelEncoding::Binary { .. } => LabelKind::Words,
        LabelEncoding::Numbers if columns.classes || schema.columns.classes => LabelKind::Words,
        LabelEncoding::Numbers => LabelKind::Numbers,
    }
}
