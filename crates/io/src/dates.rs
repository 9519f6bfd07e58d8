//! Dates and times in text, as days since 1970-01-01.
//!
//! `2024-03-14`, `2024/3/14`, `14.3.2024`, `14/03/2024`, `03/14/2024`, `14-Mar-2024`, `14. März 2024` or
//! `March 14, 2024`, with or without a time: `10:30`, `10:30:05.25`, `2:05 PM`, after a space or a `T`, and with or
//! without `Z` or `+02:00`. A time without a zone is taken as it is. A year of four digits that comes first cannot be
//! taken for anything else, so such dates are read beside those of any order.

use crate::months::month_number;

/// The order of day, month and year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateOrder {
    /// Year, month, day.
    #[default]
    Ymd,
    /// Day, month, year.
    Dmy,
    /// Month, day, year.
    Mdy,
}

named! {
    DateOrder, "order of day, month and year":
    Ymd = "ymd",
    Dmy = "dmy",
    Mdy = "mdy",
}

/// A part of a date, whose values become a feature each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatePart {
    /// 1 to 12.
    Month,
    /// 1 (Monday) to 7.
    Weekday,
    /// 0 to 23.
    Hour,
}

named! {
    DatePart, "part of a date":
    Month = "month",
    Weekday = "weekday",
    Hour = "hour",
}

const SECONDS_PER_DAY: i64 = 86_400;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

impl DatePart {
    /// All its values, in order.
    pub(crate) fn values(self) -> std::ops::Range<i64> {
        match self {
            DatePart::Month => 1..13,
            DatePart::Weekday => 1..8,
            DatePart::Hour => 0..24,
        }
    }

    /// Its value on a day.
    pub(crate) fn of(self, days: f64) -> i64 {
        let day = days.floor();
        match self {
            DatePart::Month => civil(day as i64).1,
            // 1970-01-01 was a Thursday.
            DatePart::Weekday => (day as i64 + 3).rem_euclid(7) + 1,
            DatePart::Hour => (((days - day) * 24.0 + 1e-6).floor() as i64).clamp(0, 23),
        }
    }
}

/// Seconds and nanoseconds since 1970-01-01 as days. Every reader takes this, so that all give the same bits.
pub(crate) fn days(seconds: i64, nanos: i64) -> f64 {
    let seconds = seconds.saturating_add(nanos.div_euclid(NANOS_PER_SECOND));
    let nanos = nanos.rem_euclid(NANOS_PER_SECOND);
    let (day, second) = (seconds.div_euclid(SECONDS_PER_DAY), seconds.rem_euclid(SECONDS_PER_DAY));
    let nanos_of_day = second * NANOS_PER_SECOND + nanos;
    day as f64 + nanos_of_day as f64 / (SECONDS_PER_DAY * NANOS_PER_SECOND) as f64
}

/// A duration in seconds, rounded once: files of any unit give the same number.
pub(crate) fn seconds(ticks: i64, per_second: i64) -> f64 {
    let digits = per_second.checked_ilog10().unwrap_or(0);
    crate::decimal::number(i128::from(ticks), digits)
}

/// What a number that was a time stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ClockUnit {
    /// Seconds of a duration.
    Seconds,
    /// A share of the day.
    ShareOfDay,
}

/// A duration as pandas writes it (`1 days 02:00:00`, `-1 days +23:59:58`) in seconds, or a time of day with its
/// seconds (`10:30:00`) as a share of the day: what these are in files with types. `10:30` may be many things.
pub(crate) fn clock(text: &str) -> Option<(f64, ClockUnit)> {
    if text.bytes().filter(|byte| *byte == b':').count() != 2 {
        return None;
    }
    let (days, time) = match text.split_once(" days ") {
        Some((days, time)) => (Some(days), time.strip_prefix('+').unwrap_or(time)),
        None => (None, text),
    };
    let is_plain = time.bytes().all(|byte| byte.is_ascii_digit() || b":.".contains(&byte));
    let (seconds, nanos) = if is_plain { time_of_day(time)? } else { return None };
    let days = match days {
        Some(days) => {
            Some(whole(days.strip_prefix('-').unwrap_or(days))? * if days.starts_with('-') { -1 } else { 1 })
        }
        None => None,
    };
    let of_days = days.unwrap_or(0).checked_mul(SECONDS_PER_DAY)?;
    let nanos = i128::from(of_days.checked_add(seconds)?) * i128::from(NANOS_PER_SECOND) + i128::from(nanos);
    let seconds = crate::decimal::number(nanos, 9);
    Some(match days {
        Some(_) => (seconds, ClockUnit::Seconds),
        None => (seconds / SECONDS_PER_DAY as f64, ClockUnit::ShareOfDay),
    })
}

/// Days as text: `2024-03-14`, or with a time if it is not midnight.
pub(crate) fn text(days: f64) -> String {
    let day = days.floor();
    let (year, month, of_month) = civil(day as i64);
    let seconds = ((days - day) * SECONDS_PER_DAY as f64).round() as i64;
    let date = format!("{year:04}-{month:02}-{of_month:02}");
    match seconds {
        0 => date,
        s => format!("{date} {:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
    }
}

/// Which orders read a text as a date.
pub(crate) fn orders(text: &str) -> [bool; 3] {
    // Most cells are no dates, and this is quick to see.
    let has_digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count() >= 5;
    if !(8..=40).contains(&text.len()) || !has_digits(text) {
        return [false; 3];
    }
    [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy].map(|order| parse(text, order).is_some())
}

/// A date in text, in this order or with the year first.
pub(crate) fn parse(text: &str, order: DateOrder) -> Option<f64> {
    in_order(text, order).or_else(|| in_order(text, DateOrder::Ymd))
}

/// A date in text, in this order.
fn in_order(text: &str, order: DateOrder) -> Option<f64> {
    let (year, month, day, time) = year_month_day(text.trim_ascii(), order)?;
    if year.len() != 4 || day.len() > 2 {
        return None;
    }
    let day = days_of(whole(year)?, month_number(month)?, whole(day)?)?;
    let (seconds, nanos) = if time.is_empty() { (0, 0) } else { time_of_day(time)? };
    Some(days(day * SECONDS_PER_DAY + seconds, nanos))
}

/// Year, month, day and time, as they are written.
fn year_month_day(text: &str, order: DateOrder) -> Option<(&str, &str, &str, &str)> {
    let is_name = |text: &str| text.starts_with(char::is_alphabetic);
    // A month by its name between spaces: `14. March 2024`, `March 14, 2024`.
    if text.split(' ').take(2).any(is_name) {
        let mut words = text.splitn(4, ' ').map(str::trim_ascii);
        let mut bare = || words.next().map(|word| word.trim_end_matches(['.', ',']));
        let (first, second, year) = (bare()?, bare()?, bare()?);
        let time = words.next().unwrap_or("");
        return match order {
            DateOrder::Dmy if is_name(second) => Some((year, second, cardinal(first), time)),
            DateOrder::Mdy if is_name(first) => Some((year, first, cardinal(second), time)),
            _ => None,
        };
    }
    let end = text.find([' ', 'T']).unwrap_or(text.len());
    let (date, time) = (&text[..end], text[end..].trim_start_matches([' ', 'T']));
    let separator = date.chars().find(|c| !c.is_ascii_digit())?;
    let mut parts = date.split(separator);
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() || !['-', '/', '.'].contains(&separator) {
        return None;
    }
    match order {
        DateOrder::Ymd => Some((first, second, third, time)),
        DateOrder::Dmy => Some((third, second, first, time)),
        // Nobody writes the month first with points or dashes.
        DateOrder::Mdy if separator == '/' => Some((third, first, second, time)),
        DateOrder::Mdy => None,
    }
}

/// The digits of a day that may be written as an ordinal: `1er`, `2nd`.
fn cardinal(day: &str) -> &str {
    let digits = day.trim_end_matches(|c: char| !c.is_ascii_digit());
    match &day[digits.len()..] {
        "er" | "st" | "nd" | "rd" | "th" | "\u{ba}" | "\u{b0}" => digits,
        _ => day,
    }
}

/// Whether a text with a time names its zone; `None` if it has no time.
pub(crate) fn names_zone(text: &str) -> Option<bool> {
    let lower = text.to_ascii_lowercase();
    let (_, time) = text.split_once(':').or_else(|| french_hour(&lower).map(|at| lower.split_at(at)))?;
    let time = time.trim_ascii_end().to_ascii_lowercase();
    Some(time.ends_with('z') || time.ends_with("utc") || time.contains(['+', '-']))
}

/// Whether a text looks like a date whose year has two digits: nobody can tell its century.
pub(crate) fn has_short_year(text: &str) -> bool {
    let date = text.trim_ascii().split(' ').next().unwrap_or_default();
    let Some(separator) = date.chars().find(|c| ['-', '/', '.'].contains(c)) else { return false };
    let parts: Vec<&str> = date.split(separator).collect();
    parts.len() == 3
        && parts.iter().all(|part| part.len() <= 3 && month_number(part).is_some())
        && parts[2].len() == 2
}

/// Where hours end that have an h behind them, as people in France write: `17h54`. The text is in lower case.
fn french_hour(text: &str) -> Option<usize> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
    let bytes = text.as_bytes();
    let is_between = |at: &usize| is_digit(bytes.get(at - 1)) && is_digit(bytes.get(at + 1));
    (1..bytes.len()).filter(|&at| bytes[at] == b'h').find(is_between)
}

/// Seconds and nanoseconds since midnight, in UTC where the text names a zone.
fn time_of_day(text: &str) -> Option<(i64, i64)> {
    let mut lower = text.to_ascii_lowercase();
    if let Some(at) = french_hour(&lower) {
        lower.replace_range(at..=at, ":");
    }
    let (text, twelve) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(rest), _) => (rest.trim_end(), Some(0)),
        (_, Some(rest)) => (rest.trim_end(), Some(12)),
        _ => (lower.as_str(), None),
    };
    let (text, shift) = match text.strip_suffix('z').or_else(|| text.strip_suffix(" utc")) {
        Some(rest) => (rest, 0),
        None => match text.rfind(['+', '-']) {
            Some(at) => (&text[..at], zone(&text[at..])?),
            None => (text, 0),
        },
    };
    let mut parts = text.trim_end().split(':');
    let (hour, minute, second) = (whole(parts.next()?)?, whole(parts.next()?)?, parts.next().unwrap_or("0"));
    let (second, fraction) = second.split_once('.').unwrap_or((second, ""));
    let second = whole(second)?;
    if parts.next().is_some() || fraction.len() > 9 || minute > 59 || second > 59 {
        return None;
    }
    let hour = match twelve {
        Some(after) if (1..=12).contains(&hour) => hour % 12 + after,
        None if hour < 24 => hour,
        _ => return None,
    };
    let nanos = if fraction.is_empty() { 0 } else { whole(&format!("{fraction:0<9}"))? };
    Some((hour * 3600 + minute * 60 + second - shift, nanos))
}

/// Seconds east of UTC: `+02:00`, `-0530`, `+01`.
fn zone(text: &str) -> Option<i64> {
    let digits: String = text[1..].chars().filter(|c| *c != ':').collect();
    let (hours, minutes) = match digits.len() {
        2 => (whole(&digits)?, 0),
        4 => (whole(&digits[..2])?, whole(&digits[2..])?),
        _ => return None,
    };
    let seconds = hours * 3600 + minutes * 60;
    Some(if text.starts_with('-') { -seconds } else { seconds })
}

fn whole(digits: &str) -> Option<i64> {
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then(|| digits.parse().ok())?
}

/// Days since 1970-01-01 of a date of the Gregorian calendar, which repeats after 400 years of 146,097 days.
fn days_of(year: i64, month: i64, day: i64) -> Option<i64> {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if !(1..=last).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last one.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// Year, month and day of a number of days since 1970-01-01.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days.saturating_add(719_468);
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_since_1970() {
        for (text, order, days) in [
            ("1970-01-01", DateOrder::Ymd, 0.0),
            ("1969-12-31", DateOrder::Ymd, -1.0),
            ("2000/02/29", DateOrder::Ymd, 11_016.0),
            ("14.3.2024", DateOrder::Dmy, 19_796.0),
            ("03/14/2024", DateOrder::Mdy, 19_796.0),
            ("14-Mar-2024", DateOrder::Dmy, 19_796.0),
            ("2024-MAR-14 12:00", DateOrder::Ymd, 19_796.5),
            ("14.M\u{e4}r.2024", DateOrder::Dmy, 19_796.0),
            ("14. M\u{e4}rz 2024", DateOrder::Dmy, 19_796.0),
            ("14 mars 2024 12:00", DateOrder::Dmy, 19_796.5),
            ("14 Mar 2024", DateOrder::Dmy, 19_796.0),
            ("1er mars 2024", DateOrder::Dmy, 19_783.0),
            ("14th March 2024", DateOrder::Dmy, 19_796.0),
            ("March 1st, 2024", DateOrder::Mdy, 19_783.0),
            ("14/03/2024 18h00", DateOrder::Dmy, 19_796.75),
            ("14.3.2024 6H00:00", DateOrder::Dmy, 19_796.25),
            ("March 14, 2024", DateOrder::Mdy, 19_796.0),
            ("14-marzo-2024", DateOrder::Dmy, 19_796.0),
            ("2024-03-14T12:00:00Z", DateOrder::Ymd, 19_796.5),
            ("2024-03-14 14:00+02:00", DateOrder::Ymd, 19_796.5),
            ("3/14/2024 6:00 PM", DateOrder::Mdy, 19_796.75),
            ("2024-03-14 00:00:00.000000", DateOrder::Ymd, 19_796.0),
        ] {
            assert_eq!(parse(text, order), Some(days), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        for word in [
            "2023-02-29",
            "2024-13-01",
            "10.5.99",
            "1.2.3.4",
            "2024-03",
            "oak-10-10",
            "1-2-2024 25:00",
            "",
            "Flat 12, 2024",
            "12 Main 20245",
            "14 2024 March",
            "12345 March 20",
            "14 jui 2024",
            "1x mars 2024",
            "14/03/2024 h30",
            "14/03/2024 24h30",
        ] {
            assert!(orders(word).iter().all(|is| !is), "{word}");
        }
        assert_eq!(orders("03/04/2024"), [false, true, true]);
        assert_eq!(orders("2024-03-04"), [true; 3]);
        assert_eq!(orders("03-Apr-2024"), [false, true, false]);
        assert!(["01.09.23", "9/1/23 10:00", "01-Sep-23"].into_iter().all(has_short_year));
        assert!(!["1.2.3.4", "2024-03-14", "a.b.c", "10.0", ""].into_iter().any(has_short_year));
        assert_eq!(orders("13/04/2024"), [false, true, false]);
        assert_eq!(orders("3 Apr 2024"), [false, true, false]);
        assert_eq!(
            ["2024-03-14 10h00", "2024-03-14T10:00Z", "2024-03-14 10:00+02:00", "14.3.2024"].map(names_zone),
            [Some(false), Some(true), Some(true), None]
        );
    }

    #[test]
    fn clocks_are_numbers() {
        for (text, value) in [
            ("0 days 01:30:00", (5400.0, ClockUnit::Seconds)),
            ("-1 days +23:59:57.500000", (-2.5, ClockUnit::Seconds)),
            ("12:00:00", (0.5, ClockUnit::ShareOfDay)),
            ("6:00:00.000", (0.25, ClockUnit::ShareOfDay)),
        ] {
            assert_eq!(clock(text), Some(value), "{text}");
        }
        for text in
            ["1:40", "25:00:00", "10:30:00Z", "a days 01:00:00", "2024-03-01 10:00:00", "1:2:3:4", "::"]
        {
            assert_eq!(clock(text), None, "{text}");
        }
    }

    #[test]
    fn days_become_dates_again() {
        for day in (-800_000..800_000).step_by(997) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days_of(year, month, of_month), Some(day));
        }
        assert_eq!((text(19_796.0), text(19_796.75)), ("2024-03-14".into(), "2024-03-14 18:00:00".into()));
        assert_eq!((DatePart::Weekday.of(19_796.0), DatePart::Month.of(19_796.0)), (4, 3));
        assert_eq!(DatePart::Hour.of(days(7 * 3600, 0)), 7);
    }
}
