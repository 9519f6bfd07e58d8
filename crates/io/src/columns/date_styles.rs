//! Dates that are written in several ways in one column.

use super::RowPlace;
use super::survey::ColumnSurvey;
use crate::error::quoted;
use crate::{DateOrder, Error, dates};

/// How the dates among the words of a column are written.
#[derive(Debug, Clone, Default)]
pub(crate) struct DateStyles {
    /// Words that are dates in some order.
    pub(crate) dates: u64,
    /// Those with the year first.
    year_first: u64,
    /// The first date of each way to read it: which orders fit.
    first: Vec<([bool; 3], RowPlace, String)>,
    /// The first word that is no date.
    pub(super) other: Option<(RowPlace, String)>,
    /// Words that would be dates if their year had four digits, and the first of them.
    pub(super) short: u64,
    pub(super) first_short: Option<String>,
}

impl DateStyles {
    /// Notes a word and the orders in which it is a date.
    pub(super) fn add(&mut self, text: &str, place: RowPlace, fits: [bool; 3]) {
        if fits == [false; 3] {
            self.other.get_or_insert_with(|| (place, text.trim_ascii().to_string()));
            if dates::has_short_year(text) {
                self.short += 1;
                self.first_short.get_or_insert_with(|| text.trim_ascii().to_string());
            }
            return;
        }
        self.dates += 1;
        self.year_first += u64::from(fits[DateOrder::Ymd as usize]);
        if self.first.iter().all(|(own, ..)| *own != fits) {
            self.first.push((fits, place, text.trim_ascii().to_string()));
        }
    }

    /// Notes a date that is one by its type: it can be read in any order.
    pub(super) fn add_typed(&mut self) {
        self.dates += 1;
        self.year_first += 1;
    }

    /// How many dates have the year first, if others have not, and how many there are.
    pub(crate) fn mixed(&self) -> Option<(u64, u64)> {
        (self.year_first > 0 && self.year_first < self.dates).then_some((self.year_first, self.dates))
    }
}

/// Why a column of mostly dates cannot be read as such.
pub(super) fn not_all(found: &ColumnSurvey) -> Option<String> {
    let (styles, present) = (&found.date_styles, found.present());
    if styles.dates * 2 <= present || styles.dates == present {
        return None;
    }
    let other = match &styles.other {
        Some((place, word)) => format!("{} in {place} is none", quoted(word)),
        None => "the others are numbers".into(),
    };
    Some(format!("{} of {present} values are dates, but {other}", styles.dates))
}

/// What is wrong with a column of dates in which a few cells are none.
pub(super) fn odd_cells(found: &ColumnSurvey) -> Option<Error> {
    let (styles, present) = (&found.date_styles, found.present());
    if styles.dates == present || !found.is_nearly_all(styles.dates) {
        return None;
    }
    let others = present - styles.dates;
    Some(match &styles.other {
        Some((place, word)) => {
            let error = match found.odd_words.listed() {
                Some(listed) => wrong!("{listed} are not dates, and the other values are"),
                None => wrong!("{} is not a date, and {others} of {present} values are not", quoted(word)),
            };
            place.mark(error)
        }
        None => wrong!("{others} of {present} values are numbers, and the others are dates"),
    })
}

/// Why a column of dates with years of two digits, all or some, cannot be read.
pub(super) fn short_years(found: &ColumnSurvey) -> Option<String> {
    let styles = &found.date_styles;
    let date = styles.first_short.as_ref().filter(|_| found.is_nearly_all(styles.dates + styles.short))?;
    Some(format!("dates such as {} need years of four digits", quoted(date)))
}

/// Why a column of dates alone cannot be read as such: no order fits all of them.
pub(super) fn two_styles(found: &ColumnSurvey) -> Option<String> {
    let styles = &found.date_styles;
    if styles.dates == 0 || styles.dates < found.present() {
        return None;
    }
    // Examples that no single order can read, those with one reading first.
    let mut examples: Vec<_> = styles.first.iter().filter(|(fits, ..)| *fits != [true; 3]).collect();
    examples.sort_by_key(|(fits, ..)| fits.iter().filter(|is| **is).count());
    let listed: Vec<String> =
        examples.iter().take(2).map(|(_, place, text)| format!("{} in {place}", quoted(text))).collect();
    Some(format!("two styles of dates, {}; write all dates in one style", listed.join(" and ")))
}
