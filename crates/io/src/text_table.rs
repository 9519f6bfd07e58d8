//! Small tables beside the data, such as relations of tasks: every cell as its text.

use crate::columns::cells::{folded, is_missing_word};
use crate::{ColumnRoles, Error, Result};
use std::collections::HashMap;

/// Some columns of a file, every cell as its text; a missing value is empty.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TextTable {
    /// Names of the columns that were asked for, in the order of asking.
    pub columns: Vec<String>,
    /// One cell for each of these columns.
    pub rows: Vec<Vec<String>>,
    /// The line of each row in a text file; none for other files.
    pub lines: Vec<u64>,
    /// Whether the usual words for a missing value, such as NA, are words like others.
    pub has_own_missing: bool,
}

impl TextTable {
    /// The same read as data are: texts that stand for a missing value are empty, and if letter case does not count,
    /// words have the spelling of those that are `known`, or of the first that is alike.
    #[must_use]
    pub fn read_as<'a>(mut self, columns: &ColumnRoles, known: impl IntoIterator<Item = &'a String>) -> Self {
        self.has_own_missing = columns.only_missing.is_some();
        let words = || columns.missing_words.iter().chain(columns.only_missing.iter().flatten());
        let is_missing = |text: &str| match columns.ignore_case {
            true => words().any(|word| folded(word) == folded(text)),
            false => words().any(|word| word == text.trim()),
        };
        for cell in self.rows.iter_mut().flatten().filter(|cell| is_missing(cell)) {
            cell.clear();
        }
        if !columns.ignore_case {
            return self;
        }
        let mut spellings: HashMap<String, String> =
            known.into_iter().map(|name| (folded(name), name.clone())).collect();
        // The first line may name tasks, too.
        for name in self.columns.iter_mut().skip(1) {
            if let Some(spelling) = spellings.get(&folded(name)) {
                name.clone_from(spelling);
            }
        }
        let has_letters = |cell: &&mut String| cell.contains(char::is_alphabetic);
        for cell in self.rows.iter_mut().flatten().filter(has_letters) {
            *cell = spellings.entry(folded(cell)).or_insert_with(|| cell.trim().into()).clone();
        }
        self
    }

    /// Whether a text stands for a missing value.
    pub fn is_missing(&self, text: &str) -> bool {
        if self.has_own_missing { text.trim().is_empty() } else { is_missing_word(text) }
    }

    /// An error about a row, with its line where there is one.
    pub fn at(&self, row: usize, error: Error) -> Error {
        match self.lines.get(row) {
            Some(line) => error.at_line(*line),
            None => error.at_row(row),
        }
    }

    /// The number in a cell.
    ///
    /// # Errors
    /// If there is none, with the line and the column.
    pub fn number(&self, row: usize, column: usize) -> Result<f64> {
        let text = self.rows[row][column].trim();
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            _ => {
                let why =
                    if text.is_empty() { "no number".into() } else { format!("{text:?} is not a number") };
                Err(self.at(row, Error::of_table(why).in_column(&self.columns[column])))
            }
        }
    }

    /// The text in a cell, without the space around it.
    ///
    /// # Errors
    /// If there is none, with the line and the column.
    pub fn name(&self, row: usize, column: usize) -> Result<&str> {
        match self.rows[row][column].trim() {
            "" => Err(self.at(row, Error::of_table("no name").in_column(&self.columns[column]))),
            name => Ok(name),
        }
    }
}

/// Which columns to read, by the names of all: their places.
pub type ChooseColumns<'a> = dyn Fn(&[String]) -> Result<Vec<usize>> + 'a;
