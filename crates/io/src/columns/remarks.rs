//! What is to be said about columns before a fit: signs that were taken off, columns without effect, identifiers.

use super::source::NamedCursor;
use super::survey::ColumnSurvey;
use super::{ColumnCursor, cells};
use crate::dates::ClockUnit;
use crate::error::{listed, quoted};
use crate::{LeftOut, MAX_LEVELS, Schema, dates, family};
use std::collections::{BTreeMap, HashMap, HashSet};

/// So many columns that are called like the target are a family.
const MIN_SIBLINGS: usize = 2;
/// A column with fewer rows is too short to be called a list of identifiers.
const MIN_ROWS_OF_IDS: u64 = 20;
/// Different values, at least, of a column that is called like an identifier and has some again.
const MIN_REPEATED_IDS: usize = 20;

/// Parts of names of identifiers.
const ID_WORDS: [&str; 9] = ["id", "nr", "no", "index", "key", "uid", "uuid", "mrn", "isbn"];
/// Last parts of such names; before other words they are numbers of things.
const ID_ENDINGS: [&str; 8] = ["num", "number", "nummer", "code", "serial", "plz", "zip", "postcode"];
/// A target and at most so many columns with the same first word are perhaps outcomes of one thing.
const MAX_RELATED: usize = 3;
/// A first word with fewer letters says little.
const MIN_WORD_CHARS: usize = 3;

/// A sentence for each thing that nobody asked for. The first `n_features` columns are those to learn from.
pub(super) fn of_columns(
    surveys: &[(String, ColumnSurvey)],
    n_features: usize,
    units: &BTreeMap<String, String>,
    target: &[String],
) -> Vec<String> {
    let features = &surveys[..n_features];
    let mut said = vec![];
    if !units.is_empty() {
        let units: Vec<String> =
            units.iter().map(|(name, unit)| format!("{} ({unit})", quoted(name))).collect();
        said.push(format!("numbers are read without the unit beside them: {}", units.join(", ")));
    }
    let mut units = names(surveys, |found| !found.units.is_empty() && found.words == 0);
    units.dedup();
    if !units.is_empty() {
        let what = "numbers are read without the sign of money beside them";
        said.push(format!("{what}: {}", listed(&units)));
    }
    for (name, found) in surveys.iter().filter(|(_, found)| found.units.len() > 1 && found.words == 0) {
        let signs: Vec<&str> = found.units.iter().copied().collect();
        let (name, signs) = (quoted(name), signs.join(", "));
        said.push(format!(
            "column {name} mixes amounts in {signs}: they are read as they are, not converted"
        ));
    }
    let minus = names(surveys, |found| found.has_odd_minus && found.words == 0);
    if !minus.is_empty() {
        let what = "numbers in parentheses, or with a minus behind them, are read as negative";
        said.push(format!("{what}: {}", listed(&minus)));
    }
    for (name, found) in features {
        if let Some((order, _)) = found.date_order()
            && let Some((year_first, dates)) = found.date_styles.mixed()
        {
            let name = quoted(name);
            said.push(format!(
                "column {name} has two styles of dates: {year_first} of {dates} with the year first, the others \
                 {order}; all are read"
            ));
        }
    }
    let zones = names(features, |found| found.with_zone > 0 && found.without_zone > 0);
    if !zones.is_empty() {
        said.push(format!(
            "times with and without a zone (+02:00): those without are taken as UTC: {}",
            listed(&zones)
        ));
    }
    let constant = names(features, |found| found.present() > 0 && found.missing == 0 && found.is_constant());
    if !constant.is_empty() {
        said.push(format!("the same in all rows, without effect: {}", listed(&constant)));
    }
    let same = duplicates(features);
    if !same.is_empty() {
        said.push(format!(
            "the same as another column, which then counts twice (--drop): {}",
            same.join(", ")
        ));
    }
    said.extend(surveys.iter().filter_map(|(name, found)| far_value(name, found)));
    said.extend(features.iter().filter_map(|(name, found)| parts_of_data(name, found)));
    said.extend(features.iter().filter_map(|(name, found)| identifiers(name, found)));
    said.extend(siblings(features, target));
    said.extend(other_outcomes(features, target));
    said
}

/// A sentence about numbers such as `1,100` in a file that has no other decimal sign.
pub(super) fn grouped_numbers(surveys: &[(String, ColumnSurvey)]) -> Option<String> {
    let example = |found: &ColumnSurvey| {
        let (_, text) = found.first_with_two_readings.as_ref().filter(|_| found.words == 0)?;
        text.contains(',').then(|| text.trim().to_string())
    };
    let first = surveys.iter().find_map(|(_, found)| example(found))?;
    let columns = listed(&names(surveys, |found| example(found).is_some()));
    Some(format!(
        "numbers such as {} are read with commas between thousands (--decimal ,): {columns}",
        quoted(&first)
    ))
}

/// Sentences about columns of durations and of times of day, which became numbers; about numbers of both kinds, too.
pub(super) fn clocks(files: &[NamedCursor], surveys: &[(String, ColumnSurvey)]) -> Vec<String> {
    let is = |name: &str, found: &ColumnSurvey, clock: ClockUnit| {
        let mut cursors = files.iter().map(|(_, cursor)| cursor);
        let typed =
            |column: Option<usize>, cursor: &dyn ColumnCursor| column.and_then(|column| cursor.clock(column));
        found.words == 0 && found.clocks.contains(&clock)
            || cursors.any(|cursor| typed(cursor.names().find(name), &**cursor) == Some(clock))
    };
    let columns = |clock: ClockUnit| {
        let fit = surveys.iter().filter(|(name, found)| is(name, found, clock));
        fit.map(|(name, _)| name.clone()).collect::<Vec<String>>()
    };
    let said = |what: &str, columns: Vec<String>| {
        (!columns.is_empty()).then(|| format!("{what}: {}", listed(&columns)))
    };
    let durations = said("durations became seconds", columns(ClockUnit::Seconds));
    let times = said("times of day became shares of the day", columns(ClockUnit::ShareOfDay));
    durations.into_iter().chain(times).collect()
}

/// Sentences about several files: one that is there twice, and columns that only some have.
pub(super) fn of_files(files: &[NamedCursor]) -> Vec<String> {
    let Some((first, rest)) = files.split_first() else { return vec![] };
    let (mut seen, mut said) = (HashSet::new(), vec![]);
    for (path, _) in files {
        if !seen.insert(path.canonicalize().unwrap_or_else(|_| path.clone())) {
            said.push(format!(
                "file {} is given twice: its rows count twice",
                quoted(&path.to_string_lossy())
            ));
        }
    }
    let names = first.1.names();
    for (path, cursor) in rest {
        let own = cursor.names();
        let more = (0..own.len()).filter(|&i| !own.is_unnamed(i)).map(|i| own.name(i));
        let more: Vec<String> = more.filter(|name| names.find(name).is_none()).map(String::from).collect();
        if !more.is_empty() {
            let (path, more) = (quoted(&path.to_string_lossy()), listed(&more));
            said.push(format!("left out of file {path}, since the first file has no such columns: {more}"));
        }
    }
    said
}

fn names(surveys: &[(String, ColumnSurvey)], is: impl Fn(&ColumnSurvey) -> bool) -> Vec<String> {
    surveys.iter().filter(|(_, found)| is(found)).map(|(name, _)| name.clone()).collect()
}

/// Whether nothing is to be said about a column of numbers whose rows begin like this, whatever numbers follow: they
/// are not all the same, and no identifiers.
pub(super) fn rest_says_nothing(name: &str, found: &ColumnSurvey) -> bool {
    let are_numbers = found.words == 0 && found.missing == 0 && found.numbers.n > 1 && !found.is_constant();
    are_numbers && (found.has_fraction() || !found.has_different_integers() && !is_called_id(name))
}

/// Columns that have the same value in each row as one further to the left.
pub(super) fn duplicates(features: &[(String, ColumnSurvey)]) -> Vec<String> {
    let mut first: HashMap<(u64, u64, u64), &str> = HashMap::new();
    let mut same = vec![];
    for (name, found) in features.iter().filter(|(_, found)| found.present() > 1 && !found.is_constant()) {
        match first.get(&(found.rows, found.gaps, found.contents)) {
            Some(other) => same.push(format!("{} = {}", quoted(name), quoted(other))),
            None => drop(first.insert((found.rows, found.gaps, found.contents), name)),
        }
    }
    same
}

/// A sentence about columns that are learned from although they are like the only target by their names.
fn siblings(features: &[(String, ColumnSurvey)], target: &[String]) -> Option<String> {
    let [target] = target else { return None };
    let stem = family(target)?;
    let alike: Vec<String> =
        names(features, |_| true).into_iter().filter(|name| family(name) == Some(stem)).collect();
    (alike.len() >= MIN_SIBLINGS).then(|| {
        format!(
            "column {} is learned from {} columns that are called like it (--target '{stem}*' learns all of them, \
             --drop '{stem}*' leaves the others out): {}",
            quoted(target),
            alike.len(),
            listed(&alike)
        )
    })
}

/// A sentence about columns of numbers whose names have the same first word as that of the only target: `cost_drugs`
/// beside `cost_total`.
fn other_outcomes(features: &[(String, ColumnSurvey)], target: &[String]) -> Option<String> {
    let [target] = target else { return None };
    let word = first_word(target)?;
    let numbers = features.iter().filter(|(_, found)| found.words == 0 && found.numbers.n > 0);
    let own = family(target);
    let is_alike =
        |name: &&String| first_word(name).as_ref() == Some(&word) && (own.is_none() || family(name) != own);
    let alike: Vec<String> = numbers.map(|(name, _)| name).filter(is_alike).cloned().collect();
    let first = quoted(alike.first()?);
    (alike.len() <= MAX_RELATED && alike.len() * 2 <= features.len()).then(|| {
        format!(
            "called like the target {}, and so perhaps other outcomes, which are not known for new rows (--drop \
             {first} leaves it out): {}",
            quoted(target),
            listed(&alike)
        )
    })
}

/// The first word of a name, in small letters, if it is long enough to say something.
fn first_word(name: &str) -> Option<String> {
    let word = name.trim().split(|c: char| !c.is_alphanumeric()).next()?.to_lowercase();
    (word.chars().count() >= MIN_WORD_CHARS && word.contains(char::is_alphabetic)).then_some(word)
}

/// A sentence about a value that is far from all others: a slip of the pen, or a number that stands for no value.
fn far_value(name: &str, found: &ColumnSurvey) -> Option<String> {
    let (tally, is_date) = match found.date_order() {
        Some((order, _)) => (&found.dates[order as usize], true),
        None => (&found.numbers, false),
    };
    let far = tally.far_value().filter(|_| is_date || found.words == 0)?;
    let text = |value: f64| if is_date { dates::text(value) } else { value.to_string() };
    let rows = if far.rows == 1 { "1 row".to_string() } else { format!("{} rows", far.rows) };
    let word = if is_date { "WORD".to_string() } else { far.value.to_string() };
    Some(format!(
        "column {}: {} ({rows}) is far from all other values, which are {} to {} (--missing-word {word} takes it for \
         a missing one)",
        quoted(name),
        text(far.value),
        text(far.others[0]),
        text(far.others[1]),
    ))
}

/// A sentence about a column of words that name the parts of data, which new rows do not have.
fn parts_of_data(name: &str, found: &ColumnSurvey) -> Option<String> {
    let mut words: Vec<&str> = found.levels.keys().map(String::as_str).collect();
    words.sort_unstable();
    let are_parts = words.len() > 1 && words.iter().all(|word| cells::part_of_word(word).is_some());
    are_parts.then(|| {
        format!(
            "column {} says which part of the data a row is in ({}), and is learned from (--split-column {} --split \
             {} learns from that part alone, --drop {} leaves it out)",
            quoted(name),
            words.join(", "),
            quoted(name),
            words.iter().find(|word| cells::part_of_word(word) == Some(0)).unwrap_or(&words[0]),
            quoted(name),
        )
    })
}

/// A sentence about a column that holds identifiers: whole numbers that are called so or written so, or that count the
/// rows.
fn identifiers(name: &str, found: &ColumnSurvey) -> Option<String> {
    if found.rows < MIN_ROWS_OF_IDS {
        return None;
    }
    if found.words > 0 {
        return word_identifiers(name, found);
    }
    let count_rows = found.numbers.high - found.numbers.low == (found.rows - 1) as f64;
    let (is_called_id, are_different) = (is_called_id(name), found.has_different_integers());
    let name = quoted(name);
    let drop = format!("--drop {name} leaves it out");
    if are_different && (count_rows || is_called_id) {
        return Some(format!("{} ({drop})", other_in_each_row(&name)));
    }
    if let Some(code) = &found.code {
        return Some(format!(
            "column {name} has zeros in front of numbers, as codes have ({}), and is learned from like a number \
             ({drop}, --one-hot {name} takes its values for words)",
            quoted(code)
        ));
    }
    (is_called_id && found.has_many_integers(MIN_REPEATED_IDS)).then(|| {
        format!(
            "column {name} is called like an identifier and learned from like a number ({drop}, --folds-by \
             group:{name} keeps its rows together in folds)"
        )
    })
}

/// A sentence about words that are called identifiers, each of which is in several rows.
fn word_identifiers(name: &str, found: &ColumnSurvey) -> Option<String> {
    let (levels, is_feature) = (found.levels.len(), found.levels.len() as u64 * 2 <= found.present());
    let has_many = levels > MAX_LEVELS && !found.more_levels && is_feature;
    (has_many && is_called_id(name)).then(|| {
        let name = quoted(name);
        format!(
            "column {name} is called like an identifier and has {levels} values, of which the most frequent are \
             learned from (--drop {name} leaves it out, --folds-by group:{name} keeps its rows together in folds)"
        )
    })
}

/// What is said about whole numbers that identify rows; the name is in quotes.
fn other_in_each_row(name: &str) -> String {
    format!("column {name} has another whole number in each row, as identifiers have")
}

/// Whether a column has identifiers: by its name, or as a fit saw.
pub(super) fn is_identifier(name: &str, schema: &Schema) -> bool {
    let said = other_in_each_row(&quoted(name));
    let is_left_out = |own: &LeftOut| {
        own.column == name && own.why.ends_with(AS_IDENTIFIERS) && own.why.starts_with("text of")
    };
    is_called_id(name)
        || schema.remarks.iter().any(|remark| remark.starts_with(&said))
        || schema.left_out.iter().any(is_left_out)
}

/// What is said about texts of which few appear again.
pub(super) const AS_IDENTIFIERS: &str = "as identifiers have";

/// Whether a column is called like an identifier.
fn is_called_id(name: &str) -> bool {
    let lower = with_spaces(name).to_lowercase();
    let mut parts = lower.split(|c: char| !c.is_alphanumeric());
    let ends = parts.clone().next_back().is_some_and(|part| ID_ENDINGS.contains(&part));
    ends || parts.any(|part| ID_WORDS.contains(&part)) || lower.ends_with("nummer")
}

/// A name with a space before each capital letter after a small one, as in `PatientNr`.
fn with_spaces(name: &str) -> String {
    let mut spaced = String::new();
    for c in name.chars() {
        if c.is_uppercase() && spaced.ends_with(char::is_lowercase) {
            spaced.push(' ');
        }
        spaced.push(c);
    }
    spaced
}
