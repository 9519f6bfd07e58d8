//! The column that decides about folds.

use super::cells::{CellRules, TableCell};
use super::decide::{Decision, decide};
use super::encoder::{Code, FeatureColumn};
use super::survey::ColumnSurvey;
use super::{ColumnNames, messages};
use crate::categories::CategoricalBuilder;
use crate::error::{listed, quoted};
use crate::{ColumnRoles, Error, Feature, FoldKeys, FoldsBy, Hint, Missing, Result, Role};

/// Where that column is, and how its cells are read.
pub(crate) enum FoldColumn {
    /// Names of groups.
    Group(usize),
    /// Times: numbers or dates.
    Time(Box<FeatureColumn>),
}

impl FoldColumn {
    /// The column that the caller names, if any. A column of times may be learned from too, as may its day or month; a
    /// column of groups may not: its values are never seen in training.
    pub(super) fn find(
        names: &ColumnNames,
        columns: &ColumnRoles,
        roles: &[Option<Role>],
    ) -> Result<Option<Self>> {
        let Some(by) = &columns.folds_by else { return Ok(None) };
        let column = names.require(by.column(), Role::Folds)?;
        let is_listed = columns.features.iter().flatten().any(|name| names.find(name) == Some(column));
        let clash = match (by, roles[column]) {
            (_, None | Some(Role::Drop | Role::Keep)) => None,
            (FoldsBy::Group(_), Some(Role::Task)) | (FoldsBy::Time(_), Some(Role::OneHot)) => None,
            (_, other) => other,
        };
        if let Some(role) = clash.filter(|role| *role != Role::OneHot) {
            return Err(super::layout::two_uses(by.column(), role, Role::Folds));
        }
        if matches!(by, FoldsBy::Group(_)) && (is_listed || clash.is_some()) {
            let features = columns.features.iter().flatten().chain(&columns.one_hot).cloned();
            let features = listed(&features.collect::<Vec<_>>());
            let role = if is_listed { Role::Features } else { Role::OneHot };
            let why = format!(
                "its values are the groups of the folds, so it cannot be learned from; the features are {features}"
            );
            return Err(Error::of_table(why)
                .in_column(by.column())
                .hint(Hint::CheckRoles(vec![Role::Folds, role])));
        }
        Ok(Some(match by {
            FoldsBy::Group(_) => FoldColumn::Group(column),
            FoldsBy::Time(name) => {
                FoldColumn::Time(Box::new(FeatureColumn::new(column, Feature::Number(name.clone()))))
            }
        }))
    }

    /// Its place in the file.
    pub(crate) fn column(&self) -> usize {
        match self {
            FoldColumn::Group(column) => *column,
            FoldColumn::Time(time) => time.column,
        }
    }

    /// How times are read, from what is found in the column.
    pub(super) fn decide_times(
        &mut self,
        name: &str,
        found: &ColumnSurvey,
        columns: &ColumnRoles,
    ) -> Result<()> {
        let FoldColumn::Time(time) = self else { return Ok(()) };
        let plain = ColumnRoles { missing: Missing::Mean, date_parts: vec![], ..columns.clone() };
        let feature = match decide(name, found, &plain) {
            Decision::Use(Feature::Number(name) | Feature::Filled { column: name, .. }) => {
                Feature::Number(name)
            }
            Decision::Use(Feature::Date { column, order, zone, .. }) => {
                Feature::Date { column, order, parts: vec![], fill: None, indicator: true, zone }
            }
            Decision::Use(Feature::OneHot { .. }) | Decision::LeaveOut(_) => {
                let error = wrong!("there is no time in it: times are numbers or dates");
                let word = found.first_word.as_ref();
                let error = word.map_or(error, |(place, word)| {
                    place.mark(wrong!("{} is no time: times are numbers or dates", quoted(word)))
                });
                return Err(error.in_column(name).hint(Hint::CheckRoles(vec![Role::Folds])));
            }
            Decision::InTheWay(mut error) => {
                error.hints.retain(|hint| !matches!(hint, Hint::Drop(_) | Hint::OneHot(_)));
                return Err(error);
            }
        };
        **time = FeatureColumn::new(time.column, feature);
        Ok(())
    }
}

/// The cells of the column, as they come.
#[derive(Default)]
pub(super) struct FoldCells {
    groups: CategoricalBuilder,
    times: Vec<f64>,
}

impl FoldCells {
    /// Takes a cell. In rows that are left out later, nothing need be there.
    pub(super) fn put(
        &mut self,
        cell: &dyn TableCell,
        column: &FoldColumn,
        rules: &CellRules,
        is_left_out: bool,
    ) -> Result<()> {
        match column {
            FoldColumn::Group(_) => match rules.word(cell)? {
                Some(name) => self.groups.push(&name),
                None if is_left_out => self.groups.push("none"),
                None => return Err(messages::no_name(&cell.text()?, "group")),
            },
            FoldColumn::Time(time) => match time.code(cell, rules, true) {
                Ok(Code::Value(value)) => self.times.push(value),
                _ if is_left_out => self.times.push(0.0),
                Ok(Code::Missing | Code::Unseen | Code::Respelled(_) | Code::Rest(_)) => {
                    return Err(messages::no_time(&cell.text()?));
                }
                Err(error) => return Err(error),
            },
        }
        Ok(())
    }

    pub(super) fn finish(self, column: &FoldColumn) -> Result<FoldKeys> {
        Ok(match column {
            FoldColumn::Group(_) => FoldKeys::Groups(self.groups.finish()?),
            FoldColumn::Time(_) => FoldKeys::Times(self.times),
        })
    }
}
