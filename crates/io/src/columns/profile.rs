//! What is in the columns of a file, for people who do not know it yet.

use super::cells::CellRules;
use super::decide::{Decision, decide, label_kind};
use super::decimals::{self, DecimalSigns};
use super::number_form::NumberForm;
use super::source::{NamedCursor, rewind, spellings};
use super::survey::ColumnSurvey;
use super::{ColumnType, units};
use crate::error::quoted;
use crate::spelling::differ_in_case;
use crate::{ColumnRoles, Error, Feature, Hint, Missing, Result, Role, dates, text};
use std::collections::{BTreeMap, BTreeSet};

/// Rows looked at in one go.
const BATCH_ROWS: usize = 4096;

/// The columns of files.
#[derive(Debug, Clone, PartialEq)]
pub struct FileProfile {
    /// Number of rows.
    pub rows: u64,
    /// How the files are read, where that is not as usual.
    pub remark: Option<String>,
    /// In the order of the first file.
    pub columns: Vec<ColumnProfile>,
}

/// What is in a column, and what it would be used for.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnProfile {
    /// Its name.
    pub name: String,
    /// `numbers`, `integers`, `words`, `dates`, `mixed`, `empty` or `unusable`.
    pub kind: &'static str,
    /// Number of missing values.
    pub missing: u64,
    /// Different values, as far as they were counted.
    pub distinct: usize,
    /// Whether there are more of them.
    pub more_distinct: bool,
    /// Smallest and largest value.
    pub range: Option<(String, String)>,
    /// A few values.
    pub examples: Vec<String>,
    /// The role that the caller gives it.
    pub role: Option<Role>,
    /// What it would be without another role: `feature`, `left out`, `in the way`, or `unclear` if its decimal sign is
    /// not known.
    pub used_as: &'static str,
    /// What it becomes, or why it cannot be used.
    pub why: String,
    /// If it is in the way: words that may stand for missing values.
    pub missing_words: Vec<String>,
    /// Which number of a list it is, from 0, and of how many.
    pub in_list: Option<(usize, usize)>,
}

/// Looks through files; their columns are those of the first one.
pub(crate) fn profile(files: &mut [NamedCursor], columns: &ColumnRoles) -> Result<Option<FileProfile>> {
    let Some((first, cursor)) = files.first() else { return Ok(None) };
    let in_first = |error: Error| error.in_file(first);
    let (mut columns, said) = columns.expanded(cursor.names()).map_err(in_first)?;
    let unknown = columns.named().filter_map(|(role, name)| cursor.names().require(name, role).err());
    if let Some(error) = Error::several(unknown) {
        return Err(in_first(error));
    }
    if columns.ignore_case {
        columns.spellings = spellings(files)?;
    }
    let mut surveys = look_through(files, &columns)?;
    let names = files[0].1.names();
    columns.units =
        units::find(surveys.iter().enumerate().map(|(column, found)| (names.name(column), found)));
    if !columns.units.is_empty() {
        rewind(files)?;
        surveys = look_through(files, &columns)?;
    }
    let names = files[0].1.names();
    let all = surveys.iter().enumerate().map(|(column, found)| (names.name(column), found));
    let signs = DecimalSigns::find(all.clone(), &columns.decimals);
    let may_have_commas = files.iter().any(|(_, cursor)| cursor.may_have_decimal_commas());
    let unclear = decimals::unclear(all, &columns.decimals, may_have_commas).into_iter();
    let unclear = unclear.filter(|_| columns.decimal.is_none());
    let unclear: BTreeMap<String, String> =
        unclear.filter_map(|error| Some((error.column?.into(), error.why.into()))).collect();
    if columns.decimal.is_none() && signs != (DecimalSigns { file: None, columns: columns.decimals.clone() })
    {
        (columns.decimal, columns.decimals) = (signs.file, signs.columns);
        rewind(files)?;
        surveys = look_through(files, &columns)?;
    }
    let rows = surveys.iter().map(|found| found.rows).max().unwrap_or(0);
    let names = files[0].1.names();
    let one = |(column, found): (usize, &ColumnSurvey)| {
        let found = &*found.settled();
        let name = names.name(column);
        let role = columns.named().find(|(_, own)| *own == name).map(|(role, _)| role);
        let chosen = columns.features.as_ref().is_none_or(|features| features.iter().any(|own| own == name));
        let mut missing_words = vec![];
        let (used_as, why) = match role {
            Some(Role::OneHot) | None if names.is_unnamed(column) => ("left out", "it has no name".into()),
            None if !chosen => ("left out", "it is not among the features".into()),
            Some(Role::OneHot) | None if unclear.contains_key(name) => ("unclear", unclear[name].clone()),
            Some(Role::OneHot) | None => {
                let decision = decide(name, found, &columns);
                if let Decision::InTheWay(error) = &decision {
                    missing_words = words_for_missing(error);
                }
                let (used_as, why) = in_words(decision);
                (used_as, with_unit(why, columns.units.get(name)))
            }
            Some(Role::Target) => {
                let error = label_kind(name, found, columns.task.is_some()).err();
                missing_words = error.as_ref().map_or(vec![], words_for_missing);
                ("", String::new())
            }
            Some(_) => ("", String::new()),
        };
        ColumnProfile {
            name: name.to_string(),
            kind: kind(found),
            missing: found.missing,
            distinct: found.levels.len(),
            more_distinct: found.more_levels,
            range: range(found),
            examples: found.examples.clone(),
            role,
            used_as,
            why,
            missing_words,
            in_list: names.lists().iter().find_map(|list| {
                let place = column.checked_sub(list.first).filter(|place| *place < list.length)?;
                Some((place, list.length))
            }),
        }
    };
    let columns = surveys.iter().enumerate().map(one).collect();
    let of_files: BTreeSet<String> = files.iter().filter_map(|(_, cursor)| cursor.remark()).collect();
    let remarks: Vec<String> = of_files.into_iter().chain(said).collect();
    let remark = (!remarks.is_empty()).then(|| remarks.join("; "));
    Ok(Some(FileProfile { rows, remark, columns }))
}

fn look_through(files: &mut [NamedCursor], columns: &ColumnRoles) -> Result<Vec<ColumnSurvey>> {
    let rules = CellRules::new(columns);
    let Some((_, first)) = files.first() else { return Ok(vec![]) };
    let names: Vec<String> = (0..first.names().len()).map(|i| first.names().name(i).to_string()).collect();
    let survey = |(column, name): (usize, &String)| {
        ColumnSurvey::new(first.column_type(column), columns.one_hot.contains(name), Missing::Mean)
    };
    let mut surveys: Vec<ColumnSurvey> = names.iter().enumerate().map(survey).collect();
    for (path, cursor) in files {
        let own = |(i, name): (usize, &String)| {
            let column = cursor.names().find(name)?;
            (!matches!(cursor.column_type(column), ColumnType::Unusable(_))).then_some((i, column))
        };
        let (which, places): (Vec<usize>, Vec<usize>) = names.iter().enumerate().filter_map(own).unzip();
        let forms: Vec<NumberForm> = which.iter().map(|&i| rules.form(&names[i])).collect();
        let mut look = || {
            cursor.check_size(places.len())?;
            while cursor.visit(&places, BATCH_ROWS, &mut |cell, i, _, place| {
                forms[i].read(cell, |cell| {
                    surveys[which[i]].add(cell, &rules, place);
                    Ok(())
                })
            })? > 0
            {}
            Ok(())
        };
        look().map_err(|error: Error| error.in_file(path))?;
    }
    Ok(surveys)
}

fn with_unit(why: String, unit: Option<&String>) -> String {
    unit.map_or(why.clone(), |unit| format!("{why}; its numbers are in {}", quoted(unit)))
}

fn words_for_missing(error: &Error) -> Vec<String> {
    let words = error.hints.iter().find_map(|hint| match hint {
        Hint::MissingWords(words) => Some(words.clone()),
        _ => None,
    });
    words.unwrap_or_default()
}

fn in_words(decision: Decision) -> (&'static str, String) {
    match decision {
        Decision::Use(Feature::Number(_)) => ("feature", "as it is".into()),
        Decision::Use(Feature::Filled { fill, indicator, .. }) => {
            let where_ = if indicator { ", and a feature says where" } else { "" };
            ("feature", format!("missing values become {}{where_}", text::rounded(fill)))
        }
        Decision::Use(Feature::OneHot { values, no: Some(no), .. }) => {
            ("feature", format!("1 for {}, 0 for {}", quoted(&values.concat()), quoted(&no)))
        }
        Decision::Use(feature @ Feature::OneHot { .. }) => {
            let (names, column) = (feature.names(), feature.column().len() + 1);
            let differ = differ_in_case(names.iter().map(|name| &name[column..])).next().is_some();
            let case = if differ { "; some differ in letter case only (--ignore-case)" } else { "" };
            let n = names.len();
            ("feature", format!("{n} feature{}, one per value{case}", if n == 1 { "" } else { "s" }))
        }
        Decision::Use(Feature::Date { .. }) => ("feature", "days since 1970-01-01".into()),
        Decision::LeaveOut(column) => ("left out", column.why),
        Decision::InTheWay(error) => ("in the way", error.why.into()),
    }
}

fn kind(found: &ColumnSurvey) -> &'static str {
    match &found.column_type {
        ColumnType::Unusable(_) => "unusable",
        _ if found.present() == 0 => "empty",
        _ if found.date_order().is_some() => "dates",
        _ if found.words > 0 && found.numbers.n > 0 => "mixed",
        _ if found.words > 0 => "words",
        _ if found.first_decimal.is_some() => "numbers",
        _ => match found.levels.keys().all(|level| super::cells::is_integer(level)) {
            true => "integers",
            false => "numbers",
        },
    }
}

fn range(found: &ColumnSurvey) -> Option<(String, String)> {
    match found.date_order() {
        Some((order, _)) => {
            let tally = &found.dates[order as usize];
            Some((dates::text(tally.low), dates::text(tally.high)))
        }
        None if found.words > 0 || found.numbers.n == 0 => None,
        None => Some((text::of_number(found.numbers.low), text::of_number(found.numbers.high))),
    }
}
