//! What can be wrong with a file: always where, and what was found there.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file that cannot be used, or not so.
#[derive(Debug)]
pub struct Error {
    /// The file; empty for a table that did not come from one.
    pub path: PathBuf,
    /// Line of a text file, counted from 1 as editors do; the header is line 1.
    pub line: Option<u64>,
    /// Row of an array or a table, counted from 0 as numpy does.
    pub row: Option<u64>,
    /// Name of the column, or of the array inside an archive.
    pub column: Option<String>,
    /// What is wrong, with the offending value, and what to do about it where that is known.
    pub why: String,
}

/// A result whose error names the place.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error about a whole file.
    pub fn new(path: impl AsRef<Path>, why: impl fmt::Display) -> Self {
        Error { path: path.as_ref().to_path_buf(), line: None, row: None, column: None, why: why.to_string() }
    }

    /// An error about a table, wherever it came from; see [`in_file`](Self::in_file).
    pub fn of_table(why: impl fmt::Display) -> Self {
        Error::new("", why)
    }

    /// The same, about a line.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same, about a row, counted from 0.
    #[must_use]
    pub fn at_row(mut self, row: usize) -> Self {
        self.row = Some(row as u64);
        self
    }

    /// The same, about a column.
    #[must_use]
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }

    /// The same, about this file, unless it names one already.
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        if self.path.as_os_str().is_empty() {
            self.path = path.as_ref().to_path_buf();
        }
        self
    }
}

/// `file.csv: line 3, column "age": "x" is not a number`, on one line whatever the file holds.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut place = vec![];
        place.extend(self.line.map(|line| format!("line {line}")));
        place.extend(self.row.map(|row| format!("row {row}")));
        place.extend(self.column.as_ref().map(|column| format!("column {}", quoted(column))));
        let path = self.path.display().to_string();
        let parts = [path, place.join(", "), shortened(&self.why, LONGEST)];
        let text = parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(": ");
        text.chars().try_for_each(|c| match c.is_control() {
            true => write!(f, "{}", c.escape_default()),
            false => write!(f, "{c}"),
        })
    }
}

impl std::error::Error for Error {}

/// Longest explanation, in characters: a file may have names without end.
const LONGEST: usize = 600;

/// A value for a message: in quotes, on one line, and short.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text, 60))
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_file_line_column_and_value() {
        let error = Error::new("a.csv", "\"x\" is not a number").at_line(3).in_column("age");
        assert_eq!(error.to_string(), "a.csv: line 3, column \"age\": \"x\" is not a number");
        assert_eq!(Error::of_table("no labels").in_file("b.npz").to_string(), "b.npz: no labels");
        assert_eq!(Error::of_table("no label").at_row(0).to_string(), "row 0: no label");
    }

    #[test]
    fn a_message_is_one_short_line_whatever_the_file_holds() {
        let error = Error::new("a\nb", format!("{} is odd", quoted(&"x\n".repeat(1000))));
        let text = error.to_string();
        assert!(!text.contains('\n') && text.starts_with("a\\nb: ") && text.len() < 200, "{text}");
    }
}
