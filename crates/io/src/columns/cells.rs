//! What a cell says.

use super::messages;
use super::number_form::NumberForm;
use crate::error::quoted;
use crate::text::nfc;
use crate::{ColumnRoles, DateOrder, Decimal, Result, dates};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// One cell of a file with named columns.
pub(crate) trait TableCell {
    /// Its number, if it holds one; in text, with this decimal sign.
    fn number(&self, decimal: Decimal) -> Reading;

    /// Its text; empty for a null.
    fn text(&self) -> Result<Cow<'_, str>>;

    /// Whether it holds a text: then a number in it may have one decimal sign or the other.
    fn is_text(&self) -> bool {
        true
    }

    /// Whether its file has nulls: then no word in a column of names stands for a missing one.
    fn has_nulls(&self) -> bool {
        false
    }

    /// The only words that stand for a missing value in its column, if these are not those of the file.
    fn only_missing(&self) -> Option<&[String]> {
        None
    }

    /// Days since 1970-01-01, if it holds a date; in text, in this order.
    fn date(&self, order: DateOrder) -> Option<f64> {
        self.text().ok().and_then(|text| dates::parse(&text, order))
    }

    /// Whether it holds a date by its type, and not as text.
    fn is_date(&self) -> bool {
        false
    }

    /// Whether its time has a zone; `None` if it has no time, or that is not known.
    fn has_zone(&self) -> Option<bool> {
        self.text().ok().and_then(|text| dates::names_zone(&text))
    }

    /// The numbers of a list, NaN where one is missing; `None` for a null.
    ///
    /// # Errors
    /// If it holds something else.
    fn list(&self) -> Result<Option<Cow<'_, [f64]>>> {
        match self.text()? {
            text if is_missing(text.trim_ascii()) => Ok(None),
            text => Err(wrong!("{} is not a list of numbers", quoted(&text))),
        }
    }
}

/// A cell of a table whose values have types: Arrow files, and data frames in memory.
#[derive(Debug, Clone)]
pub(crate) enum TypedCell {
    Null,
    /// A number, and how it is written.
    Number(f64, String),
    /// Days since 1970-01-01, and whether their times have a zone, if that is known.
    Day(f64, Option<bool>),
    Text(String),
    /// Bytes that may be text.
    Bytes(Vec<u8>),
    /// Numbers, NaN where one is missing.
    List(Vec<f64>),
}

impl TypedCell {
    /// `true` and `false`, which are the numbers 1 and 0.
    pub(crate) fn boolean(value: bool) -> Self {
        TypedCell::Number(f64::from(u8::from(value)), value.to_string())
    }

    /// Ticks since 1970-01-01, so many in a second.
    pub(crate) fn time(ticks: i64, per_second: i64, has_zone: Option<bool>) -> Self {
        let nanos = ticks.rem_euclid(per_second) * (1_000_000_000 / per_second);
        TypedCell::Day(dates::days(ticks.div_euclid(per_second), nanos), has_zone)
    }
}

impl TableCell for TypedCell {
    fn number(&self, decimal: Decimal) -> Reading {
        match self {
            TypedCell::Null => Reading::Missing,
            TypedCell::Text(text) => number(text, decimal),
            TypedCell::Bytes(bytes) => number_in(bytes, decimal),
            TypedCell::List(_) => Reading::Word,
            TypedCell::Number(value, _) | TypedCell::Day(value, _) => match *value {
                value if value.is_nan() => Reading::Missing,
                value if value.is_finite() => Reading::Number(value),
                _ => Reading::NotFinite,
            },
        }
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        Ok(match self {
            TypedCell::Null => Cow::Borrowed(""),
            TypedCell::Text(text) | TypedCell::Number(_, text) => Cow::Borrowed(text),
            TypedCell::Bytes(bytes) => text_in(bytes)?,
            TypedCell::Day(day, _) => Cow::Owned(dates::text(*day)),
            TypedCell::List(numbers) => Cow::Owned(format!("{numbers:?}")),
        })
    }

    fn list(&self) -> Result<Option<Cow<'_, [f64]>>> {
        match self {
            TypedCell::Null => Ok(None),
            TypedCell::List(numbers) => Ok(Some(Cow::Borrowed(numbers))),
            other => Err(wrong!("{} is not a list of numbers", quoted(&other.text()?))),
        }
    }

    fn is_text(&self) -> bool {
        matches!(self, TypedCell::Text(_) | TypedCell::Bytes(_))
    }

    fn has_nulls(&self) -> bool {
        true
    }

    fn is_date(&self) -> bool {
        matches!(self, TypedCell::Day(..))
    }

    fn has_zone(&self) -> Option<bool> {
        match self {
            TypedCell::Day(_, has_zone) => *has_zone,
            TypedCell::Text(text) => dates::names_zone(text),
            TypedCell::Bytes(bytes) => text_in(bytes).ok().and_then(|text| dates::names_zone(&text)),
            _ => None,
        }
    }

    fn date(&self, order: DateOrder) -> Option<f64> {
        match self {
            TypedCell::Day(day, _) => Some(*day),
            TypedCell::Text(text) => dates::parse(text, order),
            TypedCell::Bytes(bytes) => text_in(bytes).ok().and_then(|text| dates::parse(&text, order)),
            _ => None,
        }
    }
}

/// How the cells of a file are to be understood.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellRules {
    pub(crate) decimal: Decimal,
    missing_words: Vec<String>,
    /// What stands for a missing value besides, instead of the usual words; and in some columns.
    only_missing: Option<Vec<String>>,
    only_missing_of: BTreeMap<String, Vec<String>>,
    /// The spelling of each word, if letter case does not count.
    spellings: Option<BTreeMap<String, String>>,
    units: BTreeMap<String, String>,
    decimals: BTreeMap<String, Decimal>,
}

impl CellRules {
    pub(crate) fn new(columns: &ColumnRoles) -> Self {
        let words = |words: &Vec<String>| words.iter().map(|word| nfc(word.into()).into_owned()).collect();
        CellRules {
            decimal: columns.decimal.unwrap_or_default(),
            missing_words: words(&columns.missing_words),
            only_missing: columns.only_missing.as_ref().map(words),
            only_missing_of: columns
                .only_missing_of
                .iter()
                .map(|(of, own)| (of.clone(), words(own)))
                .collect(),
            spellings: columns.ignore_case.then(|| columns.spellings.clone()),
            units: columns.units.clone(),
            decimals: columns.decimals.clone(),
        }
    }

    /// How the numbers of this column are written, and what stands for a missing one.
    pub(super) fn form(&self, column: &str) -> NumberForm {
        NumberForm {
            unit: self.units.get(column).cloned(),
            decimal: self.decimals.get(column).copied(),
            only_missing: self.only_missing_of.get(column).cloned(),
        }
    }

    /// Whether a number that is one by its type is never a missing value.
    pub(super) fn takes_typed_numbers(&self) -> bool {
        self.missing_words.is_empty() && self.only_missing.as_ref().is_none_or(Vec::is_empty)
    }

    /// Whether letter case does not count.
    pub(crate) fn ignores_case(&self) -> bool {
        self.spellings.is_some()
    }

    /// A word in the spelling that stands for all that are the same; an unknown word without the blanks around it.
    pub(crate) fn folded<'a>(&self, word: Cow<'a, str>) -> Cow<'a, str> {
        let Some(spellings) = &self.spellings else { return word };
        let bare = word.trim();
        match spellings.get(&folded(bare)) {
            Some(spelling) => Cow::Owned(spelling.clone()),
            // Words without letters have no spellings: `0105 ` is `0105`, and blanks alone are a name.
            None if bare.len() == word.len() || bare.is_empty() => word,
            None => Cow::Owned(canonical(bare.into()).into_owned()),
        }
    }

    /// The number of a cell.
    pub(crate) fn number(&self, cell: &dyn TableCell) -> Reading {
        if self.is_missing_word(cell) {
            return Reading::Missing;
        }
        match cell.number(self.decimal) {
            Reading::Missing if cell.is_text() && self.has_own_words(cell) => match cell.text() {
                Ok(text) if !self.says_missing(cell, text.trim_ascii()) => Reading::Word,
                _ => Reading::Missing,
            },
            other => other,
        }
    }

    /// The text of a cell, as one of several values; `None` if it is missing.
    pub(crate) fn word<'a>(&self, cell: &'a dyn TableCell) -> Result<Option<Cow<'a, str>>> {
        let text = cell.text()?;
        let missing = self.says_missing(cell, text.trim_ascii()) || self.is_missing_word(cell);
        Ok((!missing).then(|| self.folded(canonical(text))))
    }

    /// The name of what a row belongs to, which may not be missing: `what` it is for.
    pub(crate) fn name<'a>(&self, cell: &'a dyn TableCell, what: &str) -> Result<Cow<'a, str>> {
        let text = cell.text()?;
        let word = text.trim_ascii();
        // A name of blanks is a name, and so is `none`, as elsewhere among words.
        let is_text_beside_nulls = cell.has_nulls() && cell.is_text();
        let is_name = word.is_empty() || is_text_beside_nulls || self.none(cell).is_some();
        let missing = !is_name && self.says_missing(cell, word);
        match text.is_empty() || missing || self.is_missing_word(cell) {
            true => Err(messages::no_name(&text, what)),
            false => Ok(text),
        }
    }

    /// The text of a cell that says `none`: it is missing among numbers, and a word among words.
    pub(crate) fn none<'a>(&self, cell: &'a dyn TableCell) -> Option<Cow<'a, str>> {
        let is_none = |text: &Cow<'_, str>| text.trim_ascii().eq_ignore_ascii_case("none");
        cell.text().ok().filter(|text| is_none(text) && !self.is_missing_word(cell))
    }

    /// The text of a label; empty if it is missing. Spaces are a name like any other, and so may be `none`.
    pub(crate) fn label<'a>(&self, cell: &'a dyn TableCell, none_is_label: bool) -> Result<Cow<'a, str>> {
        if let Some(none) = self.none(cell).filter(|_| none_is_label) {
            return Ok(self.folded(none));
        }
        let text = cell.text()?;
        let word = text.trim_ascii();
        match !word.is_empty() && self.says_missing(cell, word) || self.is_missing_word(cell) {
            true => Ok(Cow::Borrowed("")),
            false => Ok(self.folded(canonical(text))),
        }
    }

    /// Whether a cell holds one of the words that were added to the usual ones, or given in their place.
    fn is_missing_word(&self, cell: &dyn TableCell) -> bool {
        let only = self.own_words(cell).unwrap_or_default();
        if self.missing_words.is_empty() && only.is_empty() {
            return false;
        }
        let words = || self.missing_words.iter().chain(only);
        let is = |text: &str| match self.ignores_case() {
            true => words().any(|word| folded(word) == folded(text)),
            false => words().any(|word| word == text),
        };
        cell.text().is_ok_and(|text| is(text.trim_ascii()) || is(&canonical(text)))
    }

    /// What was given in place of the usual words.
    fn own_words<'a>(&'a self, cell: &'a dyn TableCell) -> Option<&'a [String]> {
        cell.only_missing().or(self.only_missing.as_deref())
    }

    fn has_own_words(&self, cell: &dyn TableCell) -> bool {
        self.own_words(cell).is_some()
    }

    /// Whether a text of a cell stands for a missing value, if nothing was added.
    fn says_missing(&self, cell: &dyn TableCell, text: &str) -> bool {
        match self.has_own_words(cell) {
            true => text.is_empty(),
            false => is_missing(text),
        }
    }
}

/// A word without letter case and spaces around it.
pub fn folded(word: &str) -> String {
    nfc(word.trim().into()).to_lowercase()
}

/// A name as it is written without decimals that are zero: `1.0` is `1`, as which other programs write it. Letters with
/// accents are one character each.
pub(crate) fn canonical(name: Cow<'_, str>) -> Cow<'_, str> {
    let name = nfc(name);
    let whole = name.split_once('.').filter(|(whole, zeros)| {
        is_integer(whole) && !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0')
    });
    match whole.map(|(whole, _)| whole.len()) {
        Some(end) => Cow::Owned(name[..end].to_string()),
        None => name,
    }
}

/// A cell that should hold a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Reading {
    /// It does.
    Number(f64),
    /// An infinity, or a number too large for double precision.
    NotFinite,
    /// Nothing, or a word that stands for a missing value.
    Missing,
    /// Some other text.
    Word,
}

/// The number in the bytes of a text.
pub(crate) fn number_in(bytes: &[u8], decimal: Decimal) -> Reading {
    std::str::from_utf8(bytes).map_or(Reading::Word, |text| number(text, decimal))
}

/// The text of some bytes.
pub(crate) fn text_in(bytes: &[u8]) -> Result<Cow<'_, str>> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| messages::not_utf8(bytes))
}

/// Reads a number: with or without exponent and groups of digits, spaces around it, a sign of money (`61,48 €` is
/// 61.48), a minus as bookkeepers write it (`(5.00)` and `5.00-` are -5). `true` and `false` are 1 and 0.
///
/// A cell is missing if it is empty or holds one of `MISSING`.
pub(crate) fn number(text: &str, decimal: Decimal) -> Reading {
    let text = text.trim_ascii();
    let decimal = if decimal == Decimal::Either { own_sign(text) } else { decimal };
    let bare = number_and_unit(text).map(|(bare, _)| bare);
    if let Some(bare) = bare.or_else(|| with_minus_in_front(text)) {
        return match number(&bare, decimal) {
            Reading::Number(value) => Reading::Number(value),
            _ => Reading::Word,
        };
    }
    // With a decimal comma, a point separates groups: `1.234` is not 1.234.
    if decimal == Decimal::Comma && text.contains(['.', ',']) && !is_missing(text) {
        return plain(text, decimal).map_or(Reading::Word, |plain| number(&plain, Decimal::Point));
    }
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Reading::Number(value),
        Ok(value) if value.is_infinite() => Reading::NotFinite,
        _ if is_missing(text) => Reading::Missing,
        _ if text.eq_ignore_ascii_case("true") => Reading::Number(1.0),
        _ if text.eq_ignore_ascii_case("false") => Reading::Number(0.0),
        _ => {
            let number = plain(text, decimal).and_then(|text| text.parse().ok());
            number
                .or_else(|| dates::clock(text).map(|(value, _)| value))
                .map_or(Reading::Word, Reading::Number)
        }
    }
}

/// Signs of money, which people write beside numbers. Those that end with another one come before it.
const UNITS: [&str; 12] = ["US$", "R$", "C$", "A$", "€", "$", "£", "¥", "EUR", "USD", "GBP", "CHF"];

/// Spaces inside numbers and beside units.
const SPACES: [char; 3] = [' ', '\u{a0}', '\u{202f}'];

/// The same number with a minus in front, where it is written in another way: `(5.00)`, `5.00-`, or with the minus of
/// printed texts; `None` if it is not.
pub(crate) fn with_minus_in_front(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('\u{2212}') {
        return Some(format!("-{}", rest.trim_start_matches(SPACES)));
    }
    let inside = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let before = text.strip_suffix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let number = inside.or(before)?.trim_matches(SPACES);
    let is_positive = number.contains(|c: char| c.is_ascii_digit()) && !number.starts_with(['-', '+', '(']);
    is_positive.then(|| format!("-{number}"))
}

/// What is left of a number beside which there is a sign of money, and the sign; signs and codes of the same money are
/// one.
pub(crate) fn number_and_unit(text: &str) -> Option<(String, &'static str)> {
    let text = text.trim_ascii();
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let text = match text.ends_with(is_digit) {
        true if !text.starts_with('\u{2212}') => Cow::Borrowed(text),
        _ => with_minus_in_front(text).map_or(Cow::Borrowed(text), Cow::Owned),
    };
    let (minus, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest.trim_start_matches(SPACES)),
        None => ("", &*text),
    };
    // Most numbers begin and end like one, and this is quick to see.
    if unsigned.starts_with(|c: char| c.is_ascii_digit() || "+-.,".contains(c))
        == unsigned.ends_with(is_digit)
    {
        return None;
    }
    let cut = |unit: &&'static str| {
        Some((unsigned.strip_suffix(*unit).or_else(|| unsigned.strip_prefix(*unit))?, *unit))
    };
    let (rest, unit) = UNITS.iter().find_map(cut)?;
    let rest = rest.trim_matches(SPACES);
    let signs = if minus.is_empty() { "+-.," } else { ".," };
    let begins = rest.starts_with(|c: char| c.is_ascii_digit() || signs.contains(c));
    let is_number = begins && rest.contains(|c: char| c.is_ascii_digit()) && rest.ends_with(is_digit);
    let unit = match unit {
        "EUR" => "€",
        "USD" | "US$" => "$",
        "GBP" => "£",
        other => other,
    };
    is_number.then(|| (format!("{minus}{rest}"), unit))
}

/// A number with groups of three digits or a decimal comma, written as programs do; `None` if it is none of these.
fn plain(text: &str, decimal: Decimal) -> Option<String> {
    let sign = if decimal == Decimal::Comma { ',' } else { '.' };
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit()) && !unsigned.starts_with(sign) {
        return None;
    }
    let exponent = unsigned.find(['e', 'E']).unwrap_or(unsigned.len());
    let (mantissa, exponent) = unsigned.split_at(exponent);
    let (whole, fraction) = mantissa.split_once(sign).unwrap_or((mantissa, ""));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let point = if decimal == Decimal::Comma { '.' } else { ',' };
    let separators = ['\'', '\u{2019}', ' ', '\u{a0}', '\u{202f}', point];
    let digits = match whole.find(separators) {
        None => whole.to_string(),
        Some(at) => {
            let separator = whole[at..].chars().next()?;
            let mut groups = whole.split(separator);
            let first = groups.next()?;
            let all = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
            // Groups do not begin with a zero: 0.123 is no 123.
            if !(1..=3).contains(&first.len()) || !all(first) || first.starts_with('0') {
                return None;
            }
            let groups: Vec<&str> = groups.collect();
            let is_grouped =
                groups.iter().all(|group| group.len() == 3) || separator == ',' && is_indian(first, &groups);
            (is_grouped && groups.iter().all(|group| all(group))).then(|| whole.replace(separator, ""))?
        }
    };
    let minus = if text.starts_with('-') { "-" } else { "" };
    Some(format!("{minus}{digits}.{fraction}{exponent}"))
}

/// Whether digits are in groups as in India: three at the end, and two before that, as in 1,10,500.
fn is_indian(first: &str, groups: &[&str]) -> bool {
    let Some((last, middle)) = groups.split_last() else { return false };
    first.len() <= 2 && last.len() == 3 && !middle.is_empty() && middle.iter().all(|group| group.len() == 2)
}

/// The decimal sign of a number that can be read with one sign only: `1,5` or `1.5`, but not `1,234`.
pub(crate) fn decimal_sign(text: &str) -> Option<Decimal> {
    let text = text.trim_ascii();
    if !text.contains([',', '.']) {
        return None;
    }
    let reads = |decimal| matches!(number(text, decimal), Reading::Number(_));
    match (reads(Decimal::Point), reads(Decimal::Comma)) {
        (true, false) => Some(Decimal::Point),
        (false, true) => Some(Decimal::Comma),
        _ => None,
    }
}

/// The decimal sign of a number that may have either: of two signs the last one, and a single sign if it is there once.
fn own_sign(text: &str) -> Decimal {
    let count = |sign: char| text.matches(sign).count();
    let is_comma = match (count('.'), count(',')) {
        (0, commas) => commas == 1,
        (points, 0) => points > 1,
        _ => text.rfind(',') > text.rfind('.'),
    };
    if is_comma { Decimal::Comma } else { Decimal::Point }
}

/// Whether a text is one number with a decimal point and another one with a decimal comma, as `1,234` is.
pub(crate) fn has_two_readings(text: &str) -> bool {
    let text = text.trim_ascii();
    // Most numbers have no three digits behind their last sign, and this is quick to see.
    let is_grouped = text.rsplit([',', '.']).next().is_some_and(|after| {
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        digits == 3 && after.len() < text.len()
    });
    let read = |decimal| number(text, decimal);
    is_grouped
        && matches!((read(Decimal::Point), read(Decimal::Comma)), (Reading::Number(a), Reading::Number(b)) if a != b)
}

/// What stands for a missing number, in upper or lower case: what pandas takes for one, errors of Excel in English and
/// German, and what people and SAS write.
const MISSING: [&str; 30] = [
    "", "na", "n/a", "nan", "-nan", "null", "none", "<na>", "nat", "#n/a", "#na", "#n/a n/a", "1.#ind",
    "-1.#ind", "1.#qnan", "#value!", "#div/0!", "#ref!", "#num!", "#name?", "#null!", "#nv", "#wert!",
    "k.a.", "k. a.", "n/d", "n.d.", "-", "--", ".",
];

pub(crate) fn is_missing(text: &str) -> bool {
    text.len() <= 8 && MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a text stands for a missing value among words, where `none` is a word.
pub(crate) fn is_missing_word(text: &str) -> bool {
    let text = text.trim_ascii();
    is_missing(text) && !text.eq_ignore_ascii_case("none")
}

/// Whether a text is written exactly as an integer is: such texts may be names among words, decimals may not.
pub(crate) fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    match digits {
        [b'0'] => text == "0",
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// Which part a row belongs to: an integer, or one of the usual words.
///
/// # Errors
/// If it is neither.
pub fn split(text: &str) -> Result<i64> {
    let text = text.trim_ascii();
    part_of_word(text).map_or_else(|| text.parse().map_err(|_| messages::split(text)), Ok)
}

/// Which part one of the usual words means.
pub(super) fn part_of_word(word: &str) -> Option<i64> {
    match word.trim_ascii().to_ascii_lowercase().as_str() {
        "train" | "training" => Some(0),
        "test" => Some(1),
        "validation" | "valid" | "val" | "dev" => Some(2),
        _ => None,
    }
}

/// A part with its usual word: `1 (test)`.
pub fn part_in_words(part: i64) -> String {
    let word = match part {
        0 => " (train)",
        1 => " (test)",
        2 => " (validation)",
        _ => "",
    };
    format!("{part}{word}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_written_in_many_ways() {
        for (text, value) in
            [("1", 1.0), (" -2.5e-3 ", -0.0025), (".5", 0.5), ("+7", 7.0), ("1E3", 1000.0), ("-0", -0.0)]
        {
            assert_eq!(number(text, Decimal::Point), Reading::Number(value), "{text:?}");
        }
        for (text, value) in
            [("1,234.5", 1234.5), ("-1 000 000", -1e6), ("1'000.25", 1000.25), ("TRUE", 1.0), ("False", 0.0)]
        {
            assert_eq!(number(text, Decimal::Point), Reading::Number(value), "{text:?}");
        }
        for (text, value) in
            [("1,5", 1.5), ("1.234,5", 1234.5), ("-0,25e2", -25.0), ("1.234", 1234.0), ("7", 7.0)]
        {
            assert_eq!(number(text, Decimal::Comma), Reading::Number(value), "{text:?}");
        }
        assert_eq!(number("1.5", Decimal::Comma), Reading::Word);
        for (text, value) in [
            ("$1,234.50", 1234.5),
            ("-7.5EUR", -7.5),
            ("\u{a3} 3", 3.0),
            ("-$108.15", -108.15),
            ("$-108.15", -108.15),
            ("($5.00)", -5.0),
            ("(1,234.5)", -1234.5),
            ("12.50-", -12.5),
            ("\u{2212}12.50 \u{20ac}", -12.5),
            ("\u{2212}3", -3.0),
            ("US$ 5.00", 5.0),
            ("1\u{2019}200.50", 1200.5),
            ("1,10,500.25", 110_500.25),
            ("-12,34,567", -1_234_567.0),
        ] {
            assert_eq!(number(text, Decimal::Point), Reading::Number(value), "{text:?}");
        }
        for (text, value) in [("R$ 5,00", 5.0), ("12,50-", -12.5), ("\u{2212}1.012,50 \u{20ac}", -1012.5)] {
            assert_eq!(number(text, Decimal::Comma), Reading::Number(value), "{text:?}");
        }
        assert_eq!(number("37.247,45\u{a0}\u{20ac}", Decimal::Comma), Reading::Number(37247.45));
        for text in [
            "%", "13 %", "5 %%", "5 apples", "a $", "1-2 %x", "$ five", "inf $", "EUR", "(-5)", "()", "(a)",
            "5--", "-$-5", "((5))", "(5", "a-", "($)", "-($5)",
        ] {
            assert_eq!(number(text, Decimal::Point), Reading::Word, "{text:?}");
        }
        assert_eq!(
            ["1,5", "1.5", "1,234", "1.234", "0.123", "x,y"].map(decimal_sign),
            [Some(Decimal::Comma), Some(Decimal::Point), None, None, Some(Decimal::Point), None]
        );
    }

    #[test]
    fn either_sign_is_told_by_the_number_itself() {
        for (text, value) in [
            ("1,5", 1.5),
            ("2.5", 2.5),
            ("1.234,5", 1234.5),
            ("1,234.5", 1234.5),
            ("1,234", 1.234),
            ("1.234.567", 1_234_567.0),
            ("1,234,567", 1_234_567.0),
            ("R$ 1.012,50", 1012.5),
            ("-7", -7.0),
        ] {
            assert_eq!(number(text, Decimal::Either), Reading::Number(value), "{text:?}");
        }
        for text in [".", "k.A.", "n/a", ""] {
            assert_eq!(number(text, Decimal::Either), Reading::Missing, "{text:?}");
        }
        for text in ["1,234", "1.234", "12.345", "R$ 1.234", "1.234.567", "-1,234"] {
            assert_eq!(has_two_readings(text), text != "1.234.567", "{text:?}");
        }
        for text in ["1,5", "0.123", "1234", "1.2345", "1,234.5", "a.bcd", "1.234e3x", "0,500"] {
            assert!(!has_two_readings(text), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_number_is_told_apart() {
        for text in [
            "", "  ", "NA", "n/a", "NaN", "-nan", "null", "None", "<NA>", "#N/A", "NaT", "#DIV/0!", "#NV",
            "#Wert!", "k.A.", "k. A.", "n/d", "N.D.", "-", " -- ", ".",
        ] {
            assert_eq!(number(text, Decimal::Point), Reading::Missing, "{text:?}");
            assert_eq!(number(text, Decimal::Comma), Reading::Missing, "{text:?}");
        }
        for text in ["inf", "-Infinity", "1e999"] {
            assert_eq!(number(text, Decimal::Point), Reading::NotFinite, "{text:?}");
        }
        for text in ["x", "1,5", "0x10", "1_000", "--1", "1e", "²", "1 2", "1,2,456", "1,234,", "1234,567"] {
            assert_eq!(number(text, Decimal::Point), Reading::Word, "{text:?}");
        }
    }

    #[test]
    fn integers_are_those_written_plainly() {
        assert!(["0", "-7", "10"].into_iter().all(is_integer));
        assert!(!["", "-", "-0", "007", "+1", "1.0", "1e3", " 1"].into_iter().any(is_integer));
    }

    #[test]
    fn names_are_written_without_zero_decimals() {
        let name = |text: &'static str| canonical(text.into()).into_owned();
        assert_eq!(
            ["1.0", "-7.00", "1.5", "01.0", "v1.0", "1."].map(name),
            ["1", "-7", "1.5", "01.0", "v1.0", "1."]
        );
    }
}
