//! What a cell says.

use super::messages;
use crate::Result;
use std::borrow::Cow;

/// One cell of a file with named columns.
pub(crate) trait TableCell {
    /// Its number, if it holds one.
    fn number(&self) -> Reading;

    /// Its text; empty for a null.
    fn text(&self) -> Result<Cow<'_, str>>;

    /// Its text, which may not be empty: `what` it is for.
    fn name(&self, what: &str) -> Result<Cow<'_, str>> {
        match self.text()? {
            name if name.is_empty() => Err(messages::no_name(what)),
            name => Ok(name),
        }
    }
}

/// What a value of a one-hot column is called in messages.
pub(crate) const ONE_HOT_VALUE: &str = "value in a one-hot column";

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
pub(crate) fn number_in(bytes: &[u8]) -> Reading {
    std::str::from_utf8(bytes).map_or(Reading::Word, number)
}

/// The text of some bytes.
pub(crate) fn text_in(bytes: &[u8]) -> Result<Cow<'_, str>> {
    std::str::from_utf8(bytes).map(Cow::Borrowed).map_err(|_| messages::not_utf8(bytes))
}

/// Reads a number: decimal, with or without exponent, spaces around it. `true` and `false` are 1 and 0.
///
/// A cell is missing if it is empty or holds one of `MISSING`.
pub(crate) fn number(text: &str) -> Reading {
    let text = text.trim_ascii();
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Reading::Number(value),
        Ok(value) if value.is_infinite() => Reading::NotFinite,
        _ if is_missing(text) => Reading::Missing,
        _ if text.eq_ignore_ascii_case("true") => Reading::Number(1.0),
        _ if text.eq_ignore_ascii_case("false") => Reading::Number(0.0),
        _ => Reading::Word,
    }
}

/// What stands for a missing number, in upper or lower case.
const MISSING: [&str; 8] = ["", "na", "n/a", "nan", "-nan", "null", "none", "<na>"];

fn is_missing(text: &str) -> bool {
    MISSING.iter().any(|word| text.eq_ignore_ascii_case(word))
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
pub(crate) fn split(text: &str) -> Result<i64> {
    let text = text.trim_ascii();
    match text.to_ascii_lowercase().as_str() {
        "train" | "training" => Ok(0),
        "test" => Ok(1),
        "validation" | "valid" | "val" | "dev" => Ok(2),
        _ => text.parse().map_err(|_| messages::split(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_written_in_many_ways() {
        for (text, value) in
            [("1", 1.0), (" -2.5e-3 ", -0.0025), (".5", 0.5), ("+7", 7.0), ("1E3", 1000.0), ("-0", -0.0)]
        {
            assert_eq!(number(text), Reading::Number(value), "{text:?}");
        }
        assert_eq!((number("TRUE"), number("False")), (Reading::Number(1.0), Reading::Number(0.0)));
    }

    #[test]
    fn what_is_no_number_is_told_apart() {
        for text in ["", "  ", "NA", "n/a", "NaN", "-nan", "null", "None", "<NA>"] {
            assert_eq!(number(text), Reading::Missing, "{text:?}");
        }
        for text in ["inf", "-Infinity", "1e999"] {
            assert_eq!(number(text), Reading::NotFinite, "{text:?}");
        }
        for text in ["x", "1,5", "0x10", "1_000", "--1", "1e", "²", "1 2"] {
            assert_eq!(number(text), Reading::Word, "{text:?}");
        }
    }

    #[test]
    fn integers_are_those_written_plainly() {
        assert!(["0", "-7", "10"].into_iter().all(is_integer));
        assert!(!["", "-", "-0", "007", "+1", "1.0", "1e3", " 1"].into_iter().any(is_integer));
    }
}
