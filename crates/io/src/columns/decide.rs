//! From what is found in a column to the features that it becomes.

use super::remarks::AS_IDENTIFIERS;
use super::survey::ColumnSurvey;
use super::{ColumnType, LabelKind, RowPlace, date_styles, decimals, odd_words, units};
use crate::error::quoted;
use crate::{
    Categorical, ColumnRoles, Error, Feature, Hint, LeftOut, MAX_LEVELS, Missing, Result, two_values,
};

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
    let found = &*found.settled();
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
            false => match one_hot(name, found, roles, usize::MAX) {
                // No feature, and perhaps there is no other column.
                feature if feature.names().is_empty() => leave_out("it has no values".into()),
                feature => Decision::Use(feature),
            },
        };
    }
    if let Some((place, text)) = &found.first_not_finite {
        return in_the_way(not_finite(*place, text, found));
    }
    if found.present() == 0 {
        return leave_out("it has no values".into());
    }
    if is_unnamed_by_pandas(name) && found.counts_rows() && roles.features.is_none() {
        return leave_out("it counts the rows, and had no name in a file that pandas read".into());
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
            let indicator = fill.is_none() || found.wants_indicator();
            let zone = found.with_zone > 0;
            Decision::Use(Feature::Date { column, order, parts, fill, indicator, zone })
        }
        None if found.words == 0 => Decision::Use(number(name, found, roles)),
        None => words(name, found, roles, in_the_way, leave_out),
    }
}

/// Whether pandas gave a column its name, `Unnamed: 0`, since it had none.
fn is_unnamed_by_pandas(name: &str) -> bool {
    name.strip_prefix("Unnamed: ").is_some_and(|place| place.parse::<u32>().is_ok())
}

fn number(name: &str, found: &ColumnSurvey, roles: &ColumnRoles) -> Feature {
    match found.numbers.fill(roles.missing).filter(|_| found.missing > 0) {
        Some(fill) => {
            let (rows, indicator) = (found.missing, found.wants_indicator());
            Feature::Filled { column: name.into(), fill, rows, indicator }
        }
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
    if let Some(error) = decimals::other_sign(name, found) {
        return in_the_way(error);
    }
    if let Some(error) = units::mixed(found) {
        return in_the_way(error.hint(Hint::OneHot(name.into())));
    }
    if let Some(why) = date_styles::two_styles(found) {
        return leave_out(why);
    }
    if let Some(error) = date_styles::odd_cells(found) {
        return in_the_way(odd_words::or_missing(error, found).hint(Hint::OneHot(name.into())));
    }
    if let Some(why) = date_styles::short_years(found) {
        return leave_out(why);
    }
    let many_values = mostly_different || levels > most;
    let are_numbers = found.numbers.n > found.words && many_values || found.is_nearly_all(found.numbers.n);
    if let Some((place, text)) = found.first_word.as_ref().filter(|_| are_numbers) {
        let (words, text) = (found.words, text.trim_ascii());
        let error = match found.odd_words.listed() {
            Some(listed) => wrong!("{listed} are not numbers, and the other values are"),
            None => wrong!("{} is not a number, and {words} of {present} values are not", quoted(text)),
        };
        let error = odd_words::or_missing(place.mark(error), found);
        return in_the_way(error.hint(Hint::OneHot(name.into())));
    }
    if levels > MANY_WORDS && mostly_different {
        if found.examples.first().is_some_and(|text| text.trim_ascii().starts_with('[')) {
            return leave_out(
                "lists in text; write them as parquet, arrow or jsonl, where they are numbers".into(),
            );
        }
        if let Some(why) = date_styles::not_all(found) {
            return leave_out(why);
        }
        let more = if found.more_levels { "more than " } else { "" };
        return leave_out(format!(
            "text of {more}{levels} different values in {present} rows, {AS_IDENTIFIERS}"
        ));
    }
    let (yes, no) = match two_values::yes_and_no(found.levels.keys()) {
        Some((yes, no)) if !found.more_levels => (yes, no),
        _ => return Decision::Use(one_hot(name, found, roles, most)),
    };
    // One number, as of `true` and `false`.
    let mut feature = one_hot(name, found, roles, most);
    if let Feature::OneHot { values, no: without, fill, .. } = &mut feature {
        (*values, *without) = (vec![yes.clone()], Some(no.clone()));
        *fill = fill_of_two(found.levels[yes], found.levels[no], roles.missing);
    }
    Decision::Use(feature)
}

/// What a missing value of so many that say yes and no becomes; `None` if that is no.
fn fill_of_two(yes: u64, no: u64, missing: Missing) -> Option<f64> {
    let fill = match missing {
        Missing::Zero => 0.0,
        Missing::Median if yes != no => f64::from(u8::from(yes > no)),
        _ => yes as f64 / (yes + no) as f64,
    };
    Some(fill).filter(|fill| *fill > 0.0)
}

/// The values in increasing order: as numbers if all are integers, else as bytes; of too many, the most frequent ones,
/// and of these none that is in one row only.
fn one_hot(name: &str, found: &ColumnSurvey, roles: &ColumnRoles, most: usize) -> Feature {
    let mut levels: Vec<(&String, u64)> = found.levels.iter().map(|(word, rows)| (word, *rows)).collect();
    levels.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let other = levels.len() > most;
    levels.truncate(most);
    if other && levels.first().is_some_and(|(_, rows)| *rows > 1) {
        levels.retain(|(_, rows)| *rows > 1);
    }
    let words: Vec<&String> = levels.into_iter().map(|(word, _)| word).collect();
    let values = Categorical::from_words(&words).names.iter().collect();
    let fills = !matches!(roles.missing, Missing::Drop | Missing::Error);
    let fills = found.missing > 0 && fills;
    let missing = fills && found.wants_indicator();
    Feature::OneHot {
        column: name.into(),
        values,
        other,
        missing,
        filled: fills && !missing,
        no: None,
        fill: None,
    }
}

/// What is wrong with a column that has infinities; `text` is the first of them.
fn not_finite(place: RowPlace, text: &str, found: &ColumnSurvey) -> Error {
    let error = match found.odd_words.listed() {
        Some(listed) => wrong!("{listed} are not finite numbers"),
        None => wrong!("{} is not a finite number", quoted(text)),
    };
    odd_words::or_missing(place.mark(error), found)
}

/// What is wrong with labels that are numbers of which some are infinite.
pub(crate) fn infinite_labels(found: &ColumnSurvey) -> Option<Error> {
    let (place, text) = found.first_not_finite.as_ref().filter(|_| found.words < found.numbers.n)?;
    Some(not_finite(*place, text, found))
}

/// What labels are: numbers if all of them are, in every format. Integers among words are words, decimals among words
/// are a mistake where the format does not say that all are text.
pub(crate) fn label_kind(name: &str, found: &ColumnSurvey, has_task: bool) -> Result<LabelKind> {
    if let Some((place, why)) = &found.unreadable {
        return Err(place.mark(Error::of_table(why)).in_column(name));
    }
    let words = if has_task { LabelKind::Words } else { LabelKind::Classes };
    if found.column_type == ColumnType::Category {
        return Ok(words);
    }
    if let Some(error) = infinite_labels(found) {
        return Err(error.in_column(name));
    }
    if let Some(error) = decimals::other_sign(name, found) {
        return Err(error.in_column(name));
    }
    if let Some(error) = units::mixed(found) {
        return Err(error.in_column(name));
    }
    if found.column_type == ColumnType::Text && found.words > 0 {
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
            Err(odd_words::or_missing(place.mark(error).in_column(name), found))
        }
    }
}
