//! What can be wrong with a file: where, what was found there, and what to do about it.

use crate::Role;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file that cannot be used, or not in this way.
#[derive(Debug)]
pub struct Error {
    /// The file; empty for a table that did not come from one.
    pub path: PathBuf,
    /// Line of a text file, counted from 1 as editors do; the header is line 1.
    pub line: Option<u64>,
    /// Row of an array or a table, counted from 0 as numpy does; messages count from 1.
    pub row: Option<u64>,
    /// Name of the column, or of the array inside an archive.
    pub column: Option<Box<str>>,
    /// What is wrong, with the offending value.
    pub why: Box<str>,
    /// What to do about it, where that is known. See [`with_hints`](Self::with_hints).
    pub hints: Vec<Hint>,
    /// What else is wrong with the same file.
    pub others: Option<Box<Vec<Error>>>,
}

/// What a caller can do about an error. `Display` gives it in plain words; an interface that has options or
/// parameters for it names those instead, with [`Error::with_hints`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// A value is missing: fill it in, or delete the row.
    FillIn,
    /// A name, of this kind of thing, that stands for a missing value: give it another one.
    Rename(String),
    /// There are other lines above the header: [`ColumnRoles::skip_lines`](crate::ColumnRoles::skip_lines).
    SkipLines,
    /// Leave this column out: [`ColumnRoles::drop`](crate::ColumnRoles::drop).
    Drop(String),
    /// Make features of the words of this column: [`ColumnRoles::one_hot`](crate::ColumnRoles::one_hot).
    OneHot(String),
    /// Fill in missing values: [`ColumnRoles::missing`](crate::ColumnRoles::missing).
    FillMissing,
    /// Take these texts for missing values: [`ColumnRoles::missing_words`](crate::ColumnRoles::missing_words).
    MissingWords(Vec<String>),
    /// Say in which order dates are written: [`ColumnRoles::date_order`](crate::ColumnRoles::date_order).
    DateOrder,
    /// Say which decimal sign numbers in text have: [`ColumnRoles::decimal`](crate::ColumnRoles::decimal).
    Decimal,
    /// The same for this column: [`ColumnRoles::decimals`](crate::ColumnRoles::decimals).
    DecimalOf(String),
    /// Say that numbers of this column may have either decimal sign: [`Decimal::Either`](crate::Decimal::Either).
    EitherDecimal(String),
    /// Say whether indices of an svm file count from 0: [`ColumnRoles::zero_based`](crate::ColumnRoles::zero_based).
    ZeroBased(bool),
    /// Take the labels for classes: [`ColumnRoles::classes`](crate::ColumnRoles::classes).
    Classes,
    /// Keep inputs dense: [`ColumnRoles::dense`](crate::ColumnRoles::dense); or scale them without centring.
    Dense,
    /// Take words that differ in letter case only for one:
    /// [`ColumnRoles::ignore_case`](crate::ColumnRoles::ignore_case).
    IgnoreCase,
    /// Fill in columns that are not there: [`ColumnRoles::missing_columns`](crate::ColumnRoles::missing_columns).
    FillColumns,
    /// Fill in cells of columns that had no gaps in training, in the same way.
    FillCells,
    /// Look through all rows before they are read: [`LookThrough::All`](crate::LookThrough::All).
    LookThrough,
    /// Look at what is named for these roles.
    CheckRoles(Vec<Role>),
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::FillIn => f.write_str("fill it in or delete the row"),
            Hint::SkipLines => f.write_str("the header must be the first line: leave out what is above it"),
            Hint::Rename(what) => write!(f, "if a {what} is really called so, give it another name"),
            Hint::Drop(_) => f.write_str("leave the column out"),
            Hint::OneHot(_) => f.write_str("make features of its words (one-hot)"),
            Hint::FillMissing => f.write_str("have it filled in"),
            Hint::MissingWords(words) => match words.as_slice() {
                [word] => write!(f, "take {} for a missing value", quoted(word)),
                words => write!(f, "take {} for missing values", listed(words)),
            },
            Hint::DateOrder => f.write_str("say whether the day or the month comes first"),
            Hint::Decimal => f.write_str("say whether the decimal sign is a comma or a point"),
            Hint::DecimalOf(_) => f.write_str("say whether its decimal sign is a comma or a point"),
            Hint::EitherDecimal(_) => {
                f.write_str("say that a single comma or point is always a decimal sign")
            }
            Hint::ZeroBased(is) => {
                write!(f, "if they count from {} in this file, say so", u8::from(!is))
            }
            Hint::Classes => f.write_str("without such a column, declare them classes"),
            Hint::Dense => {
                f.write_str("keep inputs dense, or choose spread scaling, which divides by the same numbers")
            }
            Hint::IgnoreCase => f.write_str("take words that differ in letter case only for one"),
            Hint::LookThrough => f.write_str("look through all rows before"),
            Hint::FillColumns => f.write_str("have them filled in as missing values"),
            Hint::FillCells => f.write_str("have it filled in with the mean of the training rows"),
            Hint::CheckRoles(roles) => {
                let roles: Vec<String> = roles.iter().map(Role::to_string).collect();
                write!(f, "check the columns given as {}", roles.join(" and "))
            }
        }
    }
}

/// A result whose error names the place.
pub type Result<T> = std::result::Result<T, Error>;

/// An error about a table, from the parts of a message as in `format!`.
macro_rules! wrong {
    ($($message:tt)*) => { $crate::Error::of_table(format!($($message)*)) };
}

impl Error {
    /// An error about a whole file.
    pub fn new(path: impl AsRef<Path>, why: impl fmt::Display) -> Self {
        let (path, why) = (path.as_ref().to_path_buf(), why.to_string().into_boxed_str());
        Error { path, line: None, row: None, column: None, why, hints: vec![], others: None }
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
        self.column = Some(column.into().into_boxed_str());
        self
    }

    /// The same, about this file, unless it names one already.
    #[must_use]
    pub fn in_file(mut self, path: impl AsRef<Path>) -> Self {
        if self.path.as_os_str().is_empty() {
            self.path = path.as_ref().to_path_buf();
        }
        for other in self.others.iter_mut().flat_map(|others| others.iter_mut()) {
            if other.path.as_os_str().is_empty() {
                other.path = path.as_ref().to_path_buf();
            }
        }
        self
    }

    /// Several errors as one; `None` if there are none.
    pub fn several(errors: impl IntoIterator<Item = Error>) -> Option<Self> {
        let mut errors = errors.into_iter();
        let mut first = errors.next()?;
        let others: Vec<Error> = errors.collect();
        first.others = (!others.is_empty()).then(|| Box::new(others));
        Some(first)
    }

    /// The same, with one more thing to do about it.
    #[must_use]
    pub fn hint(mut self, hint: Hint) -> Self {
        self.hints.push(hint);
        self
    }

    /// The message, with the hints in the words of an interface: `--drop age`, or `drop=["age"]`. A line for each of
    /// several errors.
    pub fn with_hints(&self, words: impl Fn(&Hint) -> String) -> String {
        let lines = [self]
            .into_iter()
            .chain(self.others.iter().flat_map(|others| others.iter()))
            .map(|error| error.line_with_hints(&words));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn line_with_hints(&self, words: &impl Fn(&Hint) -> String) -> String {
        let mut place = vec![];
        place.extend(self.line.map(|line| format!("line {line}")));
        // People count rows from 1.
        place.extend(self.row.map(|row| format!("row {}", row.saturating_add(1))));
        place.extend(self.column.as_ref().map(|column| format!("column {}", quoted(column))));
        let hints = self.hints.iter().map(words).collect::<Vec<_>>().join(", or ");
        let why = [shortened(&self.why, LONGEST_WHY), shortened(&hints, LONGEST_WHY)];
        let parts = [self.path.display().to_string(), place.join(", "), joined(&why, "; ")];
        one_line(&joined(&parts, ": "))
    }
}

/// `file.csv: line 3, column "age": "x" is not a number`, on one line for each error, whatever the file holds.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.with_hints(Hint::to_string))
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::of_table(error)
    }
}

impl From<kinfolk::Error> for Error {
    fn from(error: kinfolk::Error) -> Self {
        Error::of_table(error)
    }
}

/// Longest explanation, in characters: a file may have names without end.
const LONGEST_WHY: usize = 600;

/// A value for a message: in quotes, on one line, and short.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text, 60))
}

/// The first few of many values, in quotes, for a message.
pub(crate) fn listed(names: &[String]) -> String {
    const MAX_LISTED_NAMES: usize = 10;
    let mut list: Vec<String> = names.iter().take(MAX_LISTED_NAMES).map(|name| quoted(name)).collect();
    if names.len() > MAX_LISTED_NAMES {
        list.push(format!("... ({} in all)", names.len()));
    }
    list.join(", ")
}

fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_string(),
    }
}

fn joined(parts: &[String], by: &str) -> String {
    parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(by)
}

fn one_line(text: &str) -> String {
    let escaped = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_file_line_column_and_value() {
        let error = Error::new("a.csv", "\"x\" is not a number").at_line(3).in_column("age");
        assert_eq!(error.to_string(), "a.csv: line 3, column \"age\": \"x\" is not a number");
        assert_eq!(Error::of_table("no labels").in_file("b.npz").to_string(), "b.npz: no labels");
        assert_eq!(Error::of_table("no label").at_row(0).to_string(), "row 1: no label");
    }

    #[test]
    fn a_message_is_one_short_line_whatever_the_file_holds() {
        let error = Error::new("a\nb", format!("{} is odd", quoted(&"x\n".repeat(1000))));
        let text = error.to_string();
        assert!(!text.contains('\n') && text.starts_with("a\\nb: ") && text.len() < 200, "{text}");
    }

    #[test]
    fn hints_are_in_the_words_of_the_interface() {
        let error = Error::of_table("it is text").hint(Hint::Drop("a".into())).hint(Hint::OneHot("a".into()));
        assert_eq!(
            error.to_string(),
            "it is text; leave the column out, or make features of its words (one-hot)"
        );
        let words = |hint: &Hint| match hint {
            Hint::Drop(name) => format!("drop={name}"),
            other => other.to_string(),
        };
        assert_eq!(error.with_hints(words), "it is text; drop=a, or make features of its words (one-hot)");
    }
}
