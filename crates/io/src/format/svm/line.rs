//! One line of text: its label, task, entries and comment.

use crate::error::quoted;
use crate::{Error, Hint, Result};

/// Columns are numbered by 31 bits.
const MAX_INDEX: u64 = 1 << 31;

/// The parts of a line that holds a row.
#[derive(Debug, PartialEq)]
pub(super) struct SvmLine<'a> {
    /// Empty if the row has none.
    pub(super) label: &'a str,
    pub(super) qid: Option<i64>,
    /// The last index, zeros included: the row has at least so many features.
    pub(super) width: usize,
    pub(super) comment: &'a str,
}

/// How lines are to be understood.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LineRules {
    /// Number of features, if that is known.
    pub(super) n_features: Option<usize>,
    /// Whether indices count from 0.
    pub(super) zero_based: bool,
}

/// Takes a line apart; `None` if there is no row in it. Entries (from 0, not zero) are added to `columns` and
/// `values`.
pub(super) fn parse<'a>(
    bytes: &'a [u8],
    rules: LineRules,
    columns: &mut Vec<u32>,
    values: &mut Vec<f64>,
) -> Result<Option<SvmLine<'a>>> {
    let end = bytes.iter().position(|&byte| byte == b'#').unwrap_or(bytes.len());
    let row = std::str::from_utf8(&bytes[..end])
        .map_err(|error| wrong!("byte {} of the line is not text (UTF-8)", error.valid_up_to()))?;
    // In whatever encoding, a comment does no harm.
    let comment = std::str::from_utf8(&bytes[end..]).unwrap_or_default().trim_start_matches('#');
    let mut tokens = row.split_ascii_whitespace().peekable();
    // A row without a label begins with its task or its entries.
    let label = match tokens.peek() {
        None => return Ok(None),
        Some(token) if token.contains(':') => "",
        Some(_) => tokens.next().unwrap_or_default(),
    };
    let qid = match tokens.peek().and_then(|token| token.strip_prefix("qid:")) {
        Some(qid) => {
            Some(qid.parse().map_err(|_| wrong!("task {} is not an integer", quoted(qid)).in_column("qid"))?)
        }
        None => None,
    };
    let mut last = 0;
    for token in tokens.skip(usize::from(qid.is_some())) {
        let (index, value) = entry(token)
            .map_err(|error| if error.column.is_none() { error.in_column(short(token)) } else { error })?;
        let index = index.saturating_add(u64::from(rules.zero_based));
        check_index(index, last, rules).map_err(|error| error.in_column(short(token)))?;
        last = index;
        if value != 0.0 {
            columns.push((index - 1) as u32);
            values.push(value);
        }
    }
    Ok(Some(SvmLine { label, qid, width: last as usize, comment: comment.trim() }))
}

/// `index:value`.
fn entry(token: &str) -> Result<(u64, f64)> {
    let (index, value) =
        token.split_once(':').ok_or_else(|| wrong!("{} is no entry; expected index:value", quoted(token)))?;
    let number = index.parse().map_err(|_| Error::of_table(index_error(index)))?;
    Ok((number, finite(value)?))
}

fn index_error(index: &str) -> String {
    match index {
        "qid" => "qid comes right after the label, once".into(),
        index => format!("index {} is not an integer from 1 to 2^31", quoted(index)),
    }
}

/// `index` and `last` count from 1.
fn check_index(index: u64, last: u64, rules: LineRules) -> Result<()> {
    let n_features = rules.n_features;
    let why = match index {
        0 => {
            let error = wrong!("index 0, and indices count from 1 here");
            return Err(error.hint(Hint::ZeroBased(true)));
        }
        index if index > MAX_INDEX => format!("index {index} is beyond 2^31"),
        index if index == last => format!("index {index} is given twice"),
        index if index < last => format!("index {index} comes after index {last}; they must increase"),
        index if n_features.is_some_and(|n| index > n as u64) => {
            let (n, written) = (n_features.unwrap_or_default(), index - u64::from(rules.zero_based));
            let from = if rules.zero_based { ", which count from 0" } else { "" };
            let error = wrong!("index {written} is beyond the {n} features known{from}");
            // One too many: perhaps the file counts from 1.
            let may_be = rules.zero_based && written == n as u64;
            return Err(if may_be { error.hint(Hint::ZeroBased(false)) } else { error });
        }
        _ => return Ok(()),
    };
    Err(Error::of_table(why))
}

/// A finite number.
pub(super) fn finite(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(value) => Err(wrong!("{} is {value}, not a finite number", quoted(text))),
        Err(_) => Err(wrong!("{} is not a number", quoted(text))),
    }
}

/// A token as the name of its column.
fn short(token: &str) -> String {
    token.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(line: &str) -> Result<Vec<(u32, f64)>> {
        let (mut columns, mut values) = (vec![], vec![]);
        let rules = LineRules { n_features: Some(50), ..LineRules::default() };
        parse(line.as_bytes(), rules, &mut columns, &mut values)?;
        Ok(columns.into_iter().zip(values).collect())
    }

    #[test]
    fn the_largest_index_that_counts_from_zero_is_one_too_many() {
        let rules = LineRules { zero_based: true, ..LineRules::default() };
        let error = parse(b"1 18446744073709551615:1", rules, &mut vec![], &mut vec![]).unwrap_err();
        assert!(error.to_string().contains("is beyond 2^31"), "{error}");
    }

    #[test]
    fn a_line_is_taken_apart() {
        let (mut columns, mut values) = (vec![], vec![]);
        let line = parse(
            b"-1 qid:7 1:0.5\t3:0 9:-2e3 # a: comment\r",
            LineRules::default(),
            &mut columns,
            &mut values,
        );
        assert_eq!(
            line.unwrap().unwrap(),
            SvmLine { label: "-1", qid: Some(7), width: 9, comment: "a: comment" }
        );
        assert_eq!((columns, values), (vec![0, 8], vec![0.5, -2000.0]));
        assert!(
            parse(b"  # only a comment, caf\xe9", LineRules::default(), &mut vec![], &mut vec![])
                .unwrap()
                .is_none()
        );
        assert_eq!(entries("1").unwrap(), []);
        let rules = LineRules { zero_based: true, n_features: None };
        let (mut columns, mut values) = (vec![], vec![]);
        assert_eq!(parse(b" 0:2 1:3", rules, &mut columns, &mut values).unwrap().unwrap().label, "");
        assert_eq!((columns, values), (vec![0, 1], vec![2.0, 3.0]));
    }

    #[test]
    fn wrong_entries_name_the_token_and_the_value() {
        for (line, wanted) in [
            (
                "1 0:1",
                "column \"0:1\": index 0, and indices count from 1 here; if they count from 0 in this file, say so",
            ),
            ("1 3:1 2:1", "column \"2:1\": index 2 comes after index 3; they must increase"),
            ("1 3:1 3:2", "column \"3:2\": index 3 is given twice"),
            ("1 3:x", "column \"3:x\": \"x\" is not a number"),
            ("1 3:nan", "column \"3:nan\": \"nan\" is NaN, not a finite number"),
            ("1 3:1e999", "column \"3:1e999\": \"1e999\" is inf, not a finite number"),
            ("1 2147483649:1", "column \"2147483649:1\": index 2147483649 is beyond 2^31"),
            (
                "1 99999999999999999999:1",
                "column \"99999999999999999999:1\": index \"99999999999999999999\" is not an integer from 1 to 2^31",
            ),
            ("1 -1:1", "column \"-1:1\": index \"-1\" is not an integer from 1 to 2^31"),
            ("1 51:1", "column \"51:1\": index 51 is beyond the 50 features known"),
            ("1 abc", "column \"abc\": \"abc\" is no entry; expected index:value"),
            ("1 qid:x 1:1", "column \"qid\": task \"x\" is not an integer"),
            ("1 1:1 qid:3", "column \"qid:3\": qid comes right after the label, once"),
        ] {
            assert_eq!(entries(line).unwrap_err().to_string(), wanted);
        }
    }
}
