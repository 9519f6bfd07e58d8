//! Words in a column of numbers or dates: what they are, and that they may stand for missing values.

use super::cells;
use super::survey::ColumnSurvey;
use super::units::number_and_unit;
use crate::error::quoted;
use crate::{Error, Hint};

/// Different words that are counted. More are no signs for missing values.
const MAX_WORDS: usize = 10;
/// Words that a message names.
const MAX_NAMED: usize = 5;

/// Different words with their rows, in the order of the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct OddWords {
    rows: Vec<(String, u64)>,
    more: bool,
}

impl OddWords {
    /// Counts a cell that is neither a number nor a date. Numbers in another form are no signs for missing values.
    pub(super) fn add(&mut self, text: &str) {
        let text = text.trim_ascii();
        if let Some((_, rows)) = self.rows.iter_mut().find(|(word, _)| word == text) {
            *rows += 1;
        } else if self.rows.len() == MAX_WORDS {
            self.more = true;
        } else if number_and_unit(text).is_none() && cells::decimal_sign(text).is_none() {
            self.rows.push((text.to_string(), 1));
        }
    }

    /// The words with their rows, the most frequent ones first; `None` if there is at most one.
    pub(super) fn listed(&self) -> Option<String> {
        let mut words: Vec<&(String, u64)> = self.rows.iter().collect();
        words.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        let more = words.len().saturating_sub(MAX_NAMED);
        let one = |(word, n): &&(String, u64)| {
            format!("{} ({n} row{})", quoted(word), if *n == 1 { "" } else { "s" })
        };
        let mut named: Vec<String> = words.iter().take(MAX_NAMED).map(one).collect();
        if more > 0 || self.more {
            named.push(format!("{}{more} more", if self.more { "at least " } else { "" }));
        }
        let last = named.pop().filter(|_| !named.is_empty())?;
        Some(format!("{} and {last}", named.join(", ")))
    }
}

/// The error with the hint that the odd words of a column may stand for missing values, if few cells hold each.
pub(super) fn or_missing(error: Error, found: &ColumnSurvey) -> Error {
    let odd = &found.odd_words;
    let are_signs = !odd.more && !odd.rows.is_empty() && odd.rows.iter().all(|(_, n)| found.are_few(*n));
    let words = || odd.rows.iter().map(|(word, _)| word.clone()).collect();
    if are_signs { error.hint(Hint::MissingWords(words())) } else { error }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_listed_with_their_rows() {
        let listed = |words: &[&str]| {
            let mut odd = OddWords::default();
            words.iter().for_each(|word| odd.add(word));
            odd.listed()
        };
        assert_eq!((listed(&[]), listed(&["a", "a "]), listed(&["a", "5 kg", "1,5"])), (None, None, None));
        assert_eq!(listed(&["?", "NC", "NC"]).unwrap(), "\"NC\" (2 rows) and \"?\" (1 row)");
        let letters: Vec<String> = ('a'..='z').map(String::from).collect();
        let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
        assert!(listed(&letters[..6]).unwrap().ends_with("\"e\" (1 row) and 1 more"));
        assert!(listed(&letters).unwrap().ends_with("and at least 5 more"));
    }
}
