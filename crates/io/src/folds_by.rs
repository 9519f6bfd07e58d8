//! What decides which rows are held out together.

use crate::{Categorical, Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// How rows are divided into folds, where a column decides it: `group:COLUMN` or `time:COLUMN`.
///
/// ```
/// use kinfolk_io::FoldsBy;
/// let by: FoldsBy = "group:patient".parse()?;
/// assert_eq!((by.column(), by.to_string().as_str()), ("patient", "group:patient"));
/// assert!("patient".parse::<FoldsBy>().is_err());
/// # Ok::<(), kinfolk_io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum FoldsBy {
    /// All rows with the same value of this column are in one fold.
    Group(String),
    /// Rows are tested that are later, by this column, than all rows they are predicted from.
    Time(String),
}

impl FoldsBy {
    /// The column.
    pub fn column(&self) -> &str {
        match self {
            FoldsBy::Group(column) | FoldsBy::Time(column) => column,
        }
    }
}

impl fmt::Display for FoldsBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FoldsBy::Group(column) => write!(f, "group:{column}"),
            FoldsBy::Time(column) => write!(f, "time:{column}"),
        }
    }
}

impl FromStr for FoldsBy {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text.split_once(':').filter(|(_, column)| !column.is_empty()) {
            Some(("group", column)) => Ok(FoldsBy::Group(column.into())),
            Some(("time", column)) => Ok(FoldsBy::Time(column.into())),
            _ => Err(wrong!("folds by {text:?}: it must be group:COLUMN or time:COLUMN")),
        }
    }
}

impl TryFrom<String> for FoldsBy {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<FoldsBy> for String {
    fn from(by: FoldsBy) -> Self {
        by.to_string()
    }
}

/// The column that decides about folds, row by row.
#[derive(Debug, Clone, PartialEq)]
pub enum FoldKeys {
    /// Rows of a group are in one fold.
    Groups(Categorical),
    /// Later rows are predicted from earlier ones. All are finite.
    Times(Vec<f64>),
}

impl FoldKeys {
    /// The given rows.
    #[must_use]
    pub fn select_rows(&self, rows: impl Iterator<Item = usize>) -> Self {
        match self {
            FoldKeys::Groups(group) => FoldKeys::Groups(group.select_rows(rows)),
            FoldKeys::Times(time) => FoldKeys::Times(rows.map(|i| time[i]).collect()),
        }
    }

    /// The most folds that these rows can be divided into: groups, or times after the first.
    pub fn most_folds(&self) -> usize {
        match self {
            FoldKeys::Groups(group) => group.index.iter().collect::<BTreeSet<_>>().len(),
            FoldKeys::Times(time) => {
                let different: BTreeSet<u64> = time.iter().map(|t| (t + 0.0).to_bits()).collect();
                different.len().saturating_sub(1)
            }
        }
    }

    /// Rows of two chunks of a file, one after the other.
    pub(crate) fn concatenate(self, more: FoldKeys) -> Result<Self> {
        match (self, more) {
            (FoldKeys::Groups(a), FoldKeys::Groups(b)) => {
                Ok(FoldKeys::Groups(Categorical::concatenate(vec![a, b])))
            }
            (FoldKeys::Times(mut a), FoldKeys::Times(b)) => {
                a.extend(b);
                Ok(FoldKeys::Times(a))
            }
            _ => Err(wrong!("some rows have groups and others have times")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_columns_may_have_colons() {
        let by: FoldsBy = "time:at: h:m".parse().unwrap();
        assert_eq!(by, FoldsBy::Time("at: h:m".into()));
        for text in ["", "group", "group:", "task:a"] {
            let why = text.parse::<FoldsBy>().unwrap_err().to_string();
            assert_eq!(why, format!("folds by {text:?}: it must be group:COLUMN or time:COLUMN"));
        }
    }

    #[test]
    fn the_most_folds_are_groups_or_later_times() {
        let groups = FoldKeys::Groups(Categorical::from_words(&["a", "b", "a", "c"]));
        assert_eq!((groups.most_folds(), groups.select_rows([0, 2].into_iter()).most_folds()), (3, 1));
        assert_eq!(FoldKeys::Times(vec![2.0, 0.0, -0.0, 2.0, 5.0]).most_folds(), 2);
    }
}
