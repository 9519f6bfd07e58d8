//! What is wrong with a cell, and what can be done about it.

use super::cells::{Reading, decimal_sign, has_two_readings};
use super::units::number_and_unit;
use crate::error::quoted;
use crate::label_encoding::neither;
use crate::{DateOrder, Error, Hint, Missing, dates, two_values};

/// A feature that is not a finite number; `text` is what the cell holds. Only a fit can still choose its
/// columns.
pub(super) fn feature(column: &str, text: &str, reading: Reading, fitting: bool) -> Error {
    let found = found(text, reading);
    let drop = |error: Error| if fitting { error.hint(Hint::Drop(column.into())) } else { error };
    match reading {
        Reading::Word if fitting => drop(Error::of_table(found)).hint(Hint::OneHot(column.into())),
        // Either sign was known by itself in training.
        Reading::Word if has_two_readings(text) => {
            let error = wrong!(
                "{} can be read in two ways, and in training each number told its decimal sign",
                quoted(text.trim_ascii())
            );
            error.hint(Hint::EitherDecimal(column.into()))
        }
        // A number with another decimal sign than in training.
        Reading::Word if decimal_sign(text).is_some() => Error::of_table(found).hint(Hint::Decimal),
        // What is said about its unit follows.
        Reading::Word if number_and_unit(text).is_some() => Error::of_table(found),
        Reading::Word => {
            let error = wrong!("{found}, and in training all values were");
            match two_values::is_yes(text) {
                Some(true) => wrong!("{found}, and in training all values were; write 1 for yes"),
                Some(false) => wrong!("{found}, and in training all values were; write 0 for no"),
                None => error.hint(Hint::MissingWords(vec![text.trim_ascii().into()])),
            }
        }
        _ => Error::of_table(found),
    }
}

/// A missing value that the recipe does not fill in.
pub(super) fn missing(missing: Missing, fitting: bool) -> Error {
    match (missing, fitting) {
        (Missing::Error, true) => wrong!("the value is missing").hint(Hint::FillIn).hint(Hint::FillMissing),
        (Missing::Error | Missing::Drop, false) => {
            wrong!("the value is missing, and the model was fitted on rows without missing values")
                .hint(Hint::FillIn)
                .hint(Hint::FillCells)
        }
        (_, false) => wrong!("the value is missing, and in training there was always one")
            .hint(Hint::FillIn)
            .hint(Hint::FillCells),
        _ => wrong!("the value is missing, and in training there was always one").hint(Hint::FillIn),
    }
}

/// A cell that is no date in the order of a column of dates.
pub(super) fn date(text: &str, order: DateOrder) -> Error {
    let format = |order: DateOrder| match order {
        DateOrder::Ymd => "2024-03-14, the year first",
        DateOrder::Dmy => "14.3.2024 or 14/03/2024, the day first",
        DateOrder::Mdy => "03/14/2024, the month first",
    };
    let others = [DateOrder::Ymd, DateOrder::Dmy, DateOrder::Mdy].into_iter().filter(|other| *other != order);
    let other = others.into_iter().find(|other| dates::parse(text, *other).is_some());
    let read_as = other.map_or(String::new(), |other| format!("; it would be one as {}", format(other)));
    let wanted = format(order);
    wrong!(
        "{} is not a date as in training, {wanted}{read_as}; write the dates of this column as in training",
        quoted(text)
    )
}

/// A missing value where there must be a name.
pub(super) fn no_name(text: &str, what: &str) -> Error {
    let error = wrong!("{}, and every row needs a {what}", found(text, Reading::Missing)).hint(Hint::FillIn);
    // NA is Namibia, too.
    if text.trim_ascii().is_empty() { error } else { error.hint(Hint::Rename(what.into())) }
}

/// A missing value where there must be a time.
pub(super) fn no_time(text: &str) -> Error {
    wrong!("{}, and every row needs a time", found(text, Reading::Missing)).hint(Hint::FillIn)
}

/// A label that is not a number.
pub(super) fn label(text: &str, reading: Reading) -> Error {
    Error::of_table(found(text, reading))
}

/// A label that is none of two values.
pub(super) fn unknown_label(text: &str, negative: &str, positive: &str) -> Error {
    Error::of_table(neither(text, negative, positive))
}

/// A weight that is not a number, or negative.
pub(super) fn weight(text: &str) -> Error {
    wrong!("{} is not a weight; weights are finite and not negative", quoted(text))
}

/// An offset that is not a finite number.
pub(super) fn offset(text: &str, reading: Reading) -> Error {
    let found = found(text, reading);
    wrong!("{found}, and every row needs an offset, a finite number")
}

/// A part that is neither a number nor one of the usual words.
pub(super) fn split(text: &str) -> Error {
    let known = "give 0 or train, 1 or test, 2 or validation, or another integer";
    wrong!("{} is not a part; {known}", quoted(text))
}

/// Bytes that are not text.
pub(super) fn not_utf8(bytes: &[u8]) -> Error {
    let text = bytes.escape_ascii().take(60).map(char::from).collect::<String>();
    wrong!("\"{text}\" is not UTF-8; save the file as UTF-8")
}

fn found(text: &str, reading: Reading) -> String {
    match reading {
        Reading::Missing if text.trim_ascii().is_empty() => "the cell is empty".to_string(),
        Reading::Missing => format!("{} is a missing value", quoted(text)),
        Reading::NotFinite => format!("{} is not a finite number", quoted(text)),
        Reading::Word | Reading::Number(_) => format!("{} is not a number", quoted(text)),
    }
}
