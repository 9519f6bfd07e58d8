//! The columns of a model in another file: found by name, as the training file was read.

use super::{ColumnLayout, LabelKind, TargetColumns};
use crate::columns::ColumnNames;
use crate::columns::encoder::FeatureColumn;
use crate::columns::feature_columns::{fill_cells, known_features, present_features};
use crate::columns::target_values::TargetPair;
use crate::{ColumnRoles, Feature, Hint, LabelEncoding, NewGaps, Result, Role, Schema};
use std::collections::BTreeMap;

impl ColumnLayout {
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
            folds: None,
            keep: keep(names, roles, old)?,
            fitting: false,
            part: None,
            keeps_rows: roles.keep_rows,
            only_start_known: false,
            said: vec![],
            schema: schema.clone(),
        };
        layout.schema.columns.missing_words.extend_from_slice(&roles.missing_words);
        let columns = &mut layout.schema.columns;
        if roles.only_missing.is_some() {
            columns.only_missing.clone_from(&roles.only_missing);
            columns.only_missing_of.clear();
        }
        columns.only_missing_of.extend(roles.only_missing_of.clone());
        columns.decimal = roles.decimal.or(old.decimal);
        if roles.decimal.is_some() {
            columns.decimals.clear();
        }
        columns.decimals.extend(roles.decimals.clone());
        // Targets of other names are written as those of the fit.
        for (new, old) in roles.target.iter().zip(&old.target) {
            as_in(&mut columns.units, new, old);
            as_in(&mut columns.decimals, new, old);
            as_in(&mut columns.money, new, old);
            as_in(&mut columns.only_missing_of, new, old);
        }
        layout.features = match &schema.features {
            Some(features) if roles.missing_columns == NewGaps::Fill => {
                present_features(names, features, schema)?
            }
            Some(features) => known_features(names, features)?,
            None => layout.unnamed_features(names)?,
        };
        if roles.missing_cells == NewGaps::Fill {
            fill_cells(&mut layout.features, schema);
        }
        // Predictions need no labels, and new rows may have remarks in their place. Columns of labels can be tasks.
        if layout.keeps_rows && layout.task.is_some() {
            layout.target = None;
        }
        Ok(layout)
    }

    /// The model knows its features by number only: all columns without another use, in the order of the
    /// file.
    fn unnamed_features(&self, names: &ColumnNames) -> Result<Vec<FeatureColumn>> {
        let mut used = vec![false; names.len()];
        self.uses().into_iter().for_each(|(column, _)| used[column] = true);
        let features: Vec<_> = (0..names.len()).filter(|&i| !used[i] && !names.is_unnamed(i)).collect();
        let (n, expected) = (features.len(), self.schema.n_features);
        if n != expected {
            let error = wrong!(
                "the model has {expected} features without names, and {n} columns are left for them here: {}",
                names.listed()
            );
            // A column that is carried along is no feature.
            let keep = Hint::CheckRoles(vec![Role::Keep]);
            return Err(if n > expected { error.hint(keep) } else { error });
        }
        let feature = |column| FeatureColumn::new(column, Feature::Number(names.name(column).into()));
        Ok(features.into_iter().map(feature).collect())
    }
}

/// What is known about a column of the fit, for the one that stands in its place.
fn as_in<T: Clone>(known: &mut BTreeMap<String, T>, new: &str, old: &str) {
    if let Some(value) = known.get(old).cloned() {
        known.insert(new.to_string(), value);
    }
}

/// Columns to carry along: those that the caller names, or those of the fit that are there.
fn keep(names: &ColumnNames, roles: &ColumnRoles, old: &ColumnRoles) -> Result<Vec<(usize, String)>> {
    let place = |name: &String, column: usize| (column, name.clone());
    match roles.keep.is_empty() {
        true => Ok(old.keep.iter().filter_map(|name| Some(place(name, names.find(name)?))).collect()),
        false => {
            let keep = roles.keep.iter().map(|name| Ok(place(name, names.require(name, Role::Keep)?)));
            keep.collect()
        }
    }
}

fn target_for_prediction(
    names: &ColumnNames,
    columns: &ColumnRoles,
    schema: &Schema,
    task: Option<usize>,
) -> Result<Option<TargetColumns>> {
    let old = &schema.columns;
    let given = !columns.target.is_empty();
    // Rows that tell their task have one score, and not one for each of several targets.
    if !given && columns.task.is_some() && old.target.len() > 1 {
        return Ok(None);
    }
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
            let pairs = tasks.iter().filter_map(|task| schema.values_of_task(task)).map(TargetPair::new);
            let pairs: Vec<TargetPair> = pairs.collect();
            let pairs = if pairs.len() == tasks.len() { pairs } else { vec![] };
            Ok(any.then(|| TargetColumns::Wide { columns, tasks: tasks.to_vec(), pairs }))
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
