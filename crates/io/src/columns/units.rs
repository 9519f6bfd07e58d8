//! Numbers with a unit in the cell: `6,1 m/s`, `11.42 kWh`, `12 °C`. Where a column has one unit, in all cells or in
//! some of them, it is taken off and kept in the schema, so that new rows are read alike.

use super::cells::{self, Reading};
use super::survey::ColumnSurvey;
use crate::error::quoted;
use crate::{Decimal, Error, MAX_LEVELS};
use std::collections::BTreeMap;

/// Longest unit, in characters.
const MAX_CHARS: usize = 16;
/// Different units of a column that are counted; a column with more has none.
const MAX_UNITS: usize = 20;

/// The number and the unit of a text that has both. Signs of money are read without this.
pub(super) fn number_and_unit(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let is_inside = |c: char| c.is_ascii_digit() || "+-.,' \u{a0}\u{202f}".contains(c);
    if !text.starts_with(|c: char| c.is_ascii_digit() || "+-.,".contains(c)) {
        return None;
    }
    let mut end = text.find(|c: char| !is_inside(c))?;
    // An exponent: 3.5e-3 mol.
    if let Some(power) = text[end..].strip_prefix(['e', 'E']) {
        let unsigned = power.strip_prefix(['+', '-']).unwrap_or(power);
        let digits = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
        if digits > 0 {
            end = text.len() - unsigned.len() + digits;
        }
    }
    let (number, unit) = (text[..end].trim_end(), text[end..].trim_start());
    // `3.x` is a slip and no number of x.
    if !number.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let is_number = |decimal| matches!(cells::number(number, decimal), Reading::Number(_));
    (is_unit(unit) && (is_number(Decimal::Point) || is_number(Decimal::Comma))).then_some((number, unit))
}

/// Short, begins with a letter or a sign of units, and is no rest of a date or a list of words with numbers.
fn is_unit(text: &str) -> bool {
    let digits = text.contains(|c: char| c.is_ascii_digit());
    let words = text.contains(char::is_whitespace);
    // What follows is the rest of a date or of a share: `12/25/1970`.
    let is_rest = text.strip_prefix('/').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    text.starts_with(|c: char| c.is_alphabetic() || "°%‰€$£¥\"/".contains(c))
        && text.chars().count() <= MAX_CHARS
        && !text.contains([',', ';', ':', '(', '[', '{', '='])
        && !(digits && words)
        && !is_rest
}

/// A unit with digits in place of superscripts and one sign for micro: `m²` is `m2`.
fn plain(unit: &str) -> String {
    let sign = |c: char| match c {
        '\u{b9}' => '1',
        '\u{b2}' => '2',
        '\u{b3}' => '3',
        '\u{2070}' => '0',
        '\u{2074}'..='\u{2079}' => char::from(b'4' + (c as u32 - 0x2074) as u8),
        '\u{207b}' | '\u{2212}' => '-',
        '\u{b5}' => '\u{3bc}',
        c => c,
    };
    unit.chars().map(sign).collect()
}

/// Whether two units are the same, however they are written.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one == other || plain(one) == plain(other)
}

/// Units of the words of a column, with their rows.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnitCounts {
    /// By the unit in plain signs: how it is written first, and its rows.
    rows: BTreeMap<String, (String, u64)>,
    more: bool,
    /// Rows with a unit directly behind the number: `12a`, which may be the name of something.
    attached: u64,
}

impl UnitCounts {
    pub(super) fn add(&mut self, text: &str) {
        // Signs of money are known, and read with the right decimal sign.
        let Some((number, unit)) = number_and_unit(text).filter(|_| cells::number_and_unit(text).is_none())
        else {
            return;
        };
        let is_word = unit.starts_with(char::is_alphabetic);
        self.attached += u64::from(is_word && text.trim().len() == number.len() + unit.len());
        let has_room = self.rows.len() < MAX_UNITS;
        let plain = plain(unit);
        match (self.rows.get_mut(&plain), has_room) {
            (Some((_, rows)), _) => *rows += 1,
            (None, true) => drop(self.rows.insert(plain, (unit.to_string(), 1))),
            (None, false) => self.more = true,
        }
    }

    fn total(&self) -> u64 {
        self.rows.values().map(|(_, rows)| rows).sum()
    }
}

/// Whether a column has so many different values that they are no classes.
fn has_many_values(found: &ColumnSurvey) -> bool {
    found.more_levels || found.levels.len() > MAX_LEVELS || found.levels.len() as u64 * 2 > found.present()
}

/// Numbers without a unit; those with the other decimal sign are words until the sign is known.
fn plain_numbers(found: &ColumnSurvey) -> u64 {
    found.numbers.n + found.other_sign
}

/// Whether the numbers with a unit are measured, and no names such as `12a`: most cells have a unit, or there are many
/// different values, or a space is before each unit.
fn are_measured(found: &ColumnSurvey) -> bool {
    let units = &found.units_of_words;
    units.total() >= plain_numbers(found) || has_many_values(found) || units.attached == 0
}

/// The unit of each column whose values are numbers with the same unit. Some may lack it. Words that are no numbers
/// must be few, among many different numbers: reading the column says what to do about them.
pub(super) fn find<'a>(
    surveys: impl Iterator<Item = (&'a str, &'a ColumnSurvey)>,
) -> BTreeMap<String, String> {
    let unit = |(name, found): (&str, &ColumnSurvey)| {
        let (unit, rows) = found.units_of_words.rows.values().next()?;
        let is_only = found.units_of_words.rows.len() == 1 && !found.units_of_words.more;
        let others = found.words - rows - found.other_sign;
        let fits = others == 0
            || found.are_few(others) && has_many_values(found)
            || found.is_nearly_all(found.present() - others);
        let is = is_only && are_measured(found) && fits && !found.wants_words;
        (is && found.date_order().is_none()).then(|| (name.to_string(), unit.clone()))
    };
    surveys.filter_map(unit).collect()
}

/// A sentence about columns of which some cells lack the unit, from what was found before it was taken off.
pub(super) fn lacking_note(
    surveys: &[(String, ColumnSurvey)],
    units: &BTreeMap<String, String>,
) -> Option<String> {
    let lacking = surveys.iter().filter_map(|(name, found)| {
        let (unit, without) = (units.get(name)?, plain_numbers(found));
        let all = without + found.units_of_words.total();
        (without > 0).then(|| format!("{} ({without} of {all} numbers, taken to be in {unit})", quoted(name)))
    });
    let lacking: Vec<String> = lacking.collect();
    (!lacking.is_empty())
        .then(|| format!("some numbers lack the unit of their column: {}", lacking.join(", ")))
}

/// What is wrong with a column of numbers with different units. Other words are few.
pub(super) fn mixed(found: &ColumnSurvey) -> Option<Error> {
    let units = &found.units_of_words;
    let others = found.words.saturating_sub(units.total() + found.other_sign);
    let fits = others == 0 || found.is_nearly_all(found.present() - others);
    let all = units.rows.len() > 1 && !units.more && fits;
    // A few sizes (`250 ml`, `1 l`) are words, unless most cells are plain numbers.
    let are = has_many_values(found) || found.numbers.n > found.words && are_measured(found);
    let (place, _) = found.first_word.as_ref().filter(|_| all && are)?;
    let rows = |n: u64| if n == 1 { "1 row".to_string() } else { format!("{n} rows") };
    let one = |(unit, n): &(String, u64)| format!("{} ({})", quoted(unit), rows(*n));
    let list: Vec<String> = units.rows.values().map(one).collect();
    let without = match found.numbers.n {
        0 => String::new(),
        n => format!(", none ({})", rows(n)),
    };
    let list = list.join(", ");
    let error = wrong!("its numbers have different units: {list}{without}; write all in one unit");
    Some(place.mark(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_unit_are_told_apart() {
        for (text, number, unit) in [
            ("6,1 m/s", "6,1", "m/s"),
            ("11.42kWh", "11.42", "kWh"),
            ("-12 \u{b0}C", "-12", "\u{b0}C"),
            (" 1.234,5\u{a0}m2 ", "1.234,5", "m2"),
            ("3.5e-3 mol", "3.5e-3", "mol"),
            ("3.5 e", "3.5", "e"),
            (".5 l/100km", ".5", "l/100km"),
            ("20 km per hour", "20", "km per hour"),
            ("13 %", "13", "%"),
            ("8%", "8", "%"),
        ] {
            assert_eq!(number_and_unit(text), Some((number, unit)), "{text:?}");
        }
        for text in [
            "",
            "kg",
            "5",
            "1e5",
            "5 Jan 24",
            "12:30",
            "1-2 h",
            "a 5 kg",
            "10 a long text of words",
            "3, 4 kg",
            "5 (kg)",
            "2024-03-14",
            "1.2.3 x",
            "12/25/1970",
            "3/4",
            "3.x",
        ] {
            assert_eq!(number_and_unit(text), None, "{text:?}");
        }
    }
}
