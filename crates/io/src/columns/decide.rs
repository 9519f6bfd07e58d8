//! From what is found in a column to the features that it becomes.

use super::survey::ColumnSurvey;
use super::{ColumnType, LabelKind};
use crate::error::quoted;
use crate::{Categorical, ColumnRoles, Error, Feature, Hint, LeftOut, MAX_LEVELS, Missing, Result};

/// A column of words with more values than this, of which few appear again, has identifiers or free text.
const MANY_WORDS: usize = 10;

/// What becomes of a column.
#[derive(Debug)]
pub(crate) enum Decision {
    Use(Feature),
    LeaveOut(LeftOut),
    InTheWay(Error),
}

/// What becomes of a column of this name.
pub(crate) fn decide(name: &str, found: &ColumnSurvey, roles: &ColumnRoles) -> Decision {
    let in_the_way = |error: Error| Decision::InTheWay(error.in_column(name).hint(Hint::Drop(name.into())));
    let leave_out = |why: String| Decision::LeaveOut(LeftOut { column: name.into(), why });
    if let ColumnType::Unusable(why) = &found.column_type {
        return in_the_way(wrong!("it cannot be used: {why}"));
    }
    if let Some((place, why)) = &found.unreadable {
        return in_the_way(place.mark(Error::of_table(why)));
    }
    if found.wants_words {
        return match found.more_levels {
            true => {
                in_the_way(wrong!("there are more than a million different values, too many for one-hot"))
            }
            false => Decision::Use(one_hot(name, found, roles, usize::MAX)),
        };
    }
    if let Some((place, text)) = &found.first_not_finite {
        let error = wrong!("{} is not a finite number", quoted(text)).hint(Hint::MissingWord(text.clone()));
        return in_the_way(place.mark(error));
    }
    if found.present() == 0 {
        return leave_out("it has no values".into());
    }
    if found.missing > 0 && roles.missing == Missing::Error {
        let (missing, rows) = (found.missing, found.rows);
        return in_the_way(wrong!("{missing} of {rows} values are missing").hint(Hint::FillMissing));
    }
    match found.date_order() {
        Some((order, ambiguous)) => {
            if ambiguous && roles.date_order.is_none() {
                let example = found.examples.first().map_or(String::new(), |text| quoted(text));
                return in_the_way(
                    wrong!("dates such as {example} can be read in two ways").hint(Hint::DateOrder),
                );
            }
            let order = roles.date_order.filter(|_| ambiguous).unwrap_or(order);
            let fill = found.dates[order as usize].fill(roles.missing).filter(|_| found.missing > 0);
            let (column, parts) = (name.into(), roles.date_parts.clone());
            Decision::Use(Feature::Date { column, order, parts, fill })
        }
        None if found.words == 0 => Decision::Use(number(name, found, roles)),
        None => words(name, found, roles, in_the_way, leave_out),
    }
}

fn number(name: &str, found: &ColumnSurvey, roles: &ColumnRoles) -> Feature {
    match found.numbers.fill(roles.missing).filter(|_| found.missing > 0) {
        Some(fill) => Feature::Filled { column: name.into(), fill, rows: found.missing },
        None => Feature::Number(name.into()),
    }
}

fn words(
    name: &str,
    found: &ColumnSurvey,
    roles: &ColumnRoles,
    in_the_way: impl Fn(Error) -> Decision,
    leave_out: impl Fn(String) -> Decision,
) -> Decision {
    let (levels, present) = (found.levels.len(), found.present());
    let mostly_different = found.more_levels || levels as u64 * 2 > present;
    let most = roles.max_levels.unwrap_or(MAX_LEVELS);
    if found.numbers.n > found.words
        && (mostly_different || levels > most)
        && let Some((place, text)) = &found.first_word
    {
        let (words, text) = (found.words, text.trim_ascii());
        let error = wrong!("{} is not a number, and {words} of {present} values are not", quoted(text));
        return in_the_way(
            place.mark(error.hint(Hint::MissingWord(text.into())).hint(Hint::OneHot(name.into()))),
        );
    }
    if levels > MANY_WORDS && mostly_different {
        let more = if found.more_levels { "more than " } else { "" };
        return leave_out(format!(
            "text of {more}{levels} different values in {present} rows, as identifiers have"
        ));
    }
    Decision::Use(one_hot(name, found, roles, most))
}

/// The values in increasing order: as numbers if all are integers, else as bytes; of too many, the most frequent ones.
fn one_hot(name: &str, found: &ColumnSurvey, roles: &ColumnRoles, most: usize) -> Feature {
    let mut levels: Vec<(&String, u64)> = found.levels.iter().map(|(word, rows)| (word, *rows)).collect();
    levels.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let other = levels.len() > most;
    levels.truncate(most);
    let words: Vec<&String> = levels.into_iter().map(|(word, _)| word).collect();
    let values = Categorical::from_words(&words).names.iter().collect();
    let fills = !matches!(roles.missing, Missing::Drop | Missing::Error);
    Feature::OneHot { column: name.into(), values, other, missing: found.missing > 0 && fills }
}

/// What labels are: integers among words are words, decimals among words are a mistake.
pub(crate) fn label_kind(name: &str, found: &ColumnSurvey, has_task: bool) -> Result<LabelKind> {
    if let Some((place, why)) = &found.unreadable {
        return Err(place.mark(Error::of_table(why)).in_column(name));
    }
    let words = if has_task { LabelKind::Words } else { LabelKind::Classes };
    if found.column_type == ColumnType::Text {
        return Ok(words);
    }
    match (&found.first_word, &found.first_decimal) {
        (None, _) => Ok(LabelKind::Numbers),
        (Some(_), None) => Ok(words),
        (Some((place, word)), Some((_, decimal))) => {
            let word = word.trim_ascii();
            let error = wrong!(
                "{} is not a number, but {} is; labels are all numbers or all words",
                quoted(word),
                quoted(decimal)
            );
            Err(place.mark(error).in_column(name).hint(Hint::MissingWord(word.into())))
        }
    }
}
