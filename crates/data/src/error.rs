//! What can be wrong with a file: always where, and what was found there.

use std::fmt;
use std::path::{Path, PathBuf};

/// A file that cannot be used, or not so.
#[derive(Debug)]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// Line or row, counted from 1 as editors do; the header is line 1.
    pub line: Option<u64>,
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
        Error { path: path.as_ref().to_path_buf(), line: None, column: None, why: why.to_string() }
    }

    /// The same, about a line.
    #[must_use]
    pub fn at_line(mut self, line: u64) -> Self {
        self.line = Some(line);
        self
    }

    /// The same, about a column.
    #[must_use]
    pub fn in_column(mut self, column: impl Into<String>) -> Self {
        self.column = Some(column.into());
        self
    }
}

/// `file.csv: line 3, column "age": "x" is not a number`, on one line whatever the file holds.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match (self.line, &self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, column {column:?}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, Some(column)) => write!(f, "column {column:?}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.why)
    }
}

impl std::error::Error for Error {}
