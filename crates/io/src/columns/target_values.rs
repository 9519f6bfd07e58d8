//! Several targets of which some hold words: each has two values, read as -1 and +1.

use super::cells::{self, CellRules, Reading, TableCell};
use super::survey::ColumnSurvey;
use super::{ColumnType, messages, odd_words};
use crate::error::{listed, quoted};
use crate::{Error, Hint, Result, Role, TargetValues, spelling, text, two_values};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The values of all targets; nothing if all hold numbers.
///
/// # Errors
/// If some hold words and others have more than two values: an error for each of those.
pub(super) fn find(
    targets: &[(String, ColumnSurvey)],
    rules: &CellRules,
) -> std::result::Result<Vec<TargetValues>, Vec<Error>> {
    let targets: Vec<(&String, _)> = targets.iter().map(|(name, found)| (name, found.settled())).collect();
    let Some((first, _)) = targets.iter().find(|(_, found)| has_words(found)) else { return Ok(vec![]) };
    let values: Vec<Vec<String>> = targets.iter().map(|(_, found)| different(found, rules)).collect();
    let pairs: Vec<(&str, &str)> = values.iter().filter_map(|values| pair_of_two(values)).collect();
    let (mut known, mut wrong) = (vec![], vec![]);
    for ((column, found), values) in targets.iter().zip(&values) {
        match pair_of_two(values).or_else(|| pair_of_less(values, &pairs)) {
            Some((negative, positive)) if found.unreadable.is_none() => known.push(TargetValues {
                column: column.to_string(),
                negative: negative.into(),
                positive: positive.into(),
            }),
            _ => wrong.push(not_two(found, values, first).in_column(*column)),
        }
    }
    if wrong.is_empty() { Ok(known) } else { Err(few_with_words(&targets).unwrap_or(wrong)) }
}

/// What is wrong with the columns of words, where most targets are numbers of many values: then these are too many.
fn few_with_words(targets: &[(&String, Cow<'_, ColumnSurvey>)]) -> Option<Vec<Error>> {
    let (with_words, numbers): (Vec<_>, Vec<_>) = targets.iter().partition(|(_, found)| has_words(found));
    let n = numbers.iter().filter(|(_, found)| found.levels.len() > 2).count();
    if with_words.len() >= n || with_words.iter().any(|(_, found)| found.unreadable.is_some()) {
        return None;
    }
    let error = |(column, found): &(&String, Cow<'_, ColumnSurvey>)| {
        let word = found.first_word.as_ref().map_or("a date".into(), |(_, word)| quoted(word.trim_ascii()));
        let error = wrong!("it has words, such as {word}, and {n} other targets have numbers");
        let error = odd_words::or_missing(error, found).hint(Hint::Drop(column.to_string()));
        error.hint(Hint::CheckRoles(vec![Role::Target])).in_column(*column)
    };
    Some(with_words.into_iter().map(error).collect())
}

fn has_words(found: &ColumnSurvey) -> bool {
    found.words > 0 || found.column_type == ColumnType::Date
}

/// The different values of a target, in order; numbers count as numbers, however they are written.
fn different(found: &ColumnSurvey, rules: &CellRules) -> Vec<String> {
    let words = found.words > 0;
    let value = |level: &String| match cells::number(level, rules.decimal) {
        Reading::Number(value) if !words => text::of_number(value + 0.0),
        _ => level.clone(),
    };
    found.levels.keys().map(value).collect::<BTreeSet<_>>().into_iter().collect()
}

fn pair_of_two(values: &[String]) -> Option<(&str, &str)> {
    match values {
        [a, b] => Some(two_values::in_order(a, b)),
        _ => None,
    }
}

/// A target of one value has the other one from a target beside it, or it is a word for yes or no.
fn pair_of_less<'a>(values: &'a [String], pairs: &[(&'a str, &'a str)]) -> Option<(&'a str, &'a str)> {
    match values {
        [] => Some(pairs.first().copied().unwrap_or(("0", "1"))),
        [one] => {
            let beside =
                pairs.iter().copied().find(|(negative, positive)| one == negative || one == positive);
            beside.or(match two_values::known_sign(one) {
                0 => None,
                1 => Some(("no", one)),
                _ => Some((one, "yes")),
            })
        }
        _ => None,
    }
}

fn not_two(found: &ColumnSurvey, values: &[String], with_words: &str) -> Error {
    if let Some((place, why)) = &found.unreadable {
        return place.mark(Error::of_table(why));
    }
    let roles = Hint::CheckRoles(vec![Role::Target]);
    let rule = "several targets are all numbers, or each has two values";
    match values {
        [one] => {
            wrong!("it has one value, {}, and its opposite is not known; {rule}", quoted(one)).hint(roles)
        }
        _ if found.words == 0 => {
            let words = quoted(with_words);
            wrong!("it has numbers of more than two values, and column {words} has words; {rule}").hint(roles)
        }
        _ => {
            let more = if found.more_levels { "more than " } else { "" };
            let n = values.len();
            let error = wrong!("it has {more}{n} different values ({}); {rule}", listed(values));
            let rare = found.levels.iter().min_by_key(|(word, rows)| (**rows, (*word).clone()));
            if spelling::differ_in_case(values.iter().map(String::as_str)).next().is_some() {
                return error.hint(Hint::IgnoreCase);
            }
            match rare.filter(|(word, _)| n == 3 && found.is_rare(word)) {
                Some((word, _)) => error.hint(Hint::MissingWords(vec![word.clone()])),
                None => error.hint(roles),
            }
        }
    }
}

/// The two values of a target at work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TargetPair {
    negative: String,
    positive: String,
    /// If both are numbers.
    numbers: Option<(f64, f64)>,
}

impl TargetPair {
    pub(super) fn new(values: &TargetValues) -> Self {
        let number = |text: &str| match cells::number(text, Default::default()) {
            Reading::Number(value) => Some(value),
            _ => None,
        };
        let (negative, positive) = (values.negative.clone(), values.positive.clone());
        let numbers = number(&negative).zip(number(&positive));
        TargetPair { negative, positive, numbers }
    }

    /// -1 or +1, or NaN where the label is missing.
    pub(super) fn sign(&self, cell: &dyn TableCell, rules: &CellRules) -> Result<f64> {
        let unknown = |text: &str| Err(messages::unknown_label(text, &self.negative, &self.positive));
        match self.numbers {
            Some((negative, positive)) => match rules.number(cell) {
                Reading::Number(value) if value == negative => Ok(-1.0),
                Reading::Number(value) if value == positive => Ok(1.0),
                Reading::Missing => Ok(f64::NAN),
                _ => unknown(&cell.text()?),
            },
            None => match rules.folded(cells::canonical(cell.text()?)) {
                word if word == self.negative => Ok(-1.0),
                word if word == self.positive => Ok(1.0),
                _ if rules.word(cell)?.is_none() => Ok(f64::NAN),
                _ => unknown(&cell.text()?),
            },
        }
    }
}
