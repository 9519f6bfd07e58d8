//! Names of columns.

use crate::error::quoted;
use crate::{Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The columns of a file, by name and by position. Names are distinct and not empty.
pub(crate) struct Header {
    path: PathBuf,
    names: Vec<String>,
    position: HashMap<String, usize>,
}

impl Header {
    pub(crate) fn new(path: &Path, names: Vec<String>) -> Result<Self> {
        let mut position = HashMap::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            if name.is_empty() {
                let why = format!("column {} has no name; give it one, or write the file without it", i + 1);
                return Err(Error::new(path, why));
            }
            if let Some(first) = position.insert(name.clone(), i) {
                let why = format!("columns {} and {} are both named {}", first + 1, i + 1, quoted(name));
                return Err(Error::new(path, why));
            }
        }
        Ok(Header { path: path.to_path_buf(), names, position })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, column: usize) -> &str {
        &self.names[column]
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.position.get(name).copied()
    }

    /// The column of this name; `what` says in the message who asks for it.
    pub(crate) fn require(&self, name: &str, what: &str) -> Result<usize> {
        self.find(name).ok_or_else(|| {
            let known = self.listed();
            Error::new(
                &self.path,
                format!("there is no column {} ({what}); the columns are {known}", quoted(name)),
            )
        })
    }

    /// The names, or the first few of many.
    pub(crate) fn listed(&self) -> String {
        listed(&self.names)
    }
}

/// Names for a message: all, or the first few of many.
pub(crate) fn listed(names: &[String]) -> String {
    const MOST: usize = 10;
    let mut list: Vec<String> = names.iter().take(MOST).map(|name| quoted(name)).collect();
    if names.len() > MOST {
        list.push(format!("... ({} in all)", names.len()));
    }
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> Result<Header> {
        Header::new(Path::new("a.csv"), names.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn names_are_distinct_and_not_empty() {
        let message = |names: &[&str]| header(names).err().unwrap().to_string();
        assert_eq!(message(&["a", "b", "a"]), "a.csv: columns 1 and 3 are both named \"a\"");
        assert!(message(&["", "b"]).starts_with("a.csv: column 1 has no name"));
    }

    #[test]
    fn a_column_that_is_not_there_lists_those_that_are() {
        let message = header(&["x", " y"]).unwrap().require("y", "--target").unwrap_err().to_string();
        assert_eq!(message, "a.csv: there is no column \"y\" (--target); the columns are \"x\", \" y\"");
    }
}
