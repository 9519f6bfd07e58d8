//! Names of columns.

use super::cells::folded;
use crate::error::{listed, quoted};
use crate::text::tidy_name;
use crate::{Hint, Result, Role, nearest};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The columns of a file, by name and by position. Names are distinct and not empty.
pub(crate) struct ColumnNames {
    names: Vec<String>,
    position: HashMap<String, usize>,
    unnamed: Vec<bool>,
    lists: Vec<ListColumn>,
    /// Whether names count as they are written, since some differ by blanks or the form of accents alone.
    are_exact: bool,
}

/// A column of lists, whose numbers are columns of their own: `name_0`, `name_1`, ...
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ListColumn {
    pub(crate) name: String,
    /// The column of its first number.
    pub(crate) first: usize,
    pub(crate) length: usize,
}

impl ColumnNames {
    pub(crate) fn new(names: Vec<String>) -> Result<Self> {
        let mut position = HashMap::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(wrong!(
                    "column {} has no name; give it one, or write the file without it",
                    i + 1
                ));
            }
            if let Some(first) = position.insert(name.clone(), i) {
                let (first, second, name) = (first + 1, i + 1, quoted(name));
                return Err(wrong!("columns {first} and {second} are both named {name}; rename one of them"));
            }
        }
        Ok(ColumnNames { names, position, unnamed: vec![], lists: vec![], are_exact: false })
    }

    /// Names of a file, without blanks around them.
    pub(crate) fn of_file(names: Vec<String>) -> Result<Self> {
        ColumnNames::as_written(tidied(names))
    }

    /// Names as they are. Those of some columns may be empty: those of rows, as R and pandas write them.
    pub(crate) fn as_written(names: Vec<String>) -> Result<Self> {
        let named = |(i, name): (usize, &String)| match name.as_str() {
            "" => format!("(column {})", i + 1),
            _ => name.clone(),
        };
        let unnamed = names.iter().map(String::is_empty).collect();
        let mut all = ColumnNames::new(names.iter().enumerate().map(named).collect())?;
        all.unnamed = unnamed;
        Ok(all)
    }

    /// The same, with what is known about columns of lists.
    pub(crate) fn with_lists(mut self, lists: Vec<ListColumn>, unnamed: Vec<bool>) -> Self {
        (self.lists, self.unnamed) = (lists, unnamed);
        self
    }

    /// The same with more columns at the end.
    pub(crate) fn with_more(&self, more: Vec<String>) -> Result<Self> {
        let names = ColumnNames::new(self.names.iter().cloned().chain(more).collect())?;
        Ok(names.with_lists(self.lists.clone(), self.unnamed.clone()))
    }

    /// Columns of lists.
    pub(crate) fn lists(&self) -> &[ListColumn] {
        &self.lists
    }

    /// The names of the columns of a list's numbers, if there is such a list.
    pub(crate) fn numbers_of_list(&self, name: &str) -> Option<&[String]> {
        let list = self.lists.iter().find(|list| list.name == name)?;
        self.names.get(list.first..list.first + list.length)
    }

    /// Whether a column has no name in the file.
    pub(crate) fn is_unnamed(&self, column: usize) -> bool {
        self.unnamed.get(column).copied().unwrap_or(false)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, column: usize) -> &str {
        &self.names[column]
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let exact = self.position.get(name);
        exact.or_else(|| self.position.get(&*tidy_name(name)).filter(|_| !self.are_exact)).copied()
    }

    /// The only column that is called so if letter case does not count.
    pub(crate) fn find_in_other_case(&self, name: &str) -> Option<usize> {
        let name = folded(name);
        let mut alike = (0..self.len()).filter(|&i| !self.is_unnamed(i) && folded(self.name(i)) == name);
        alike.next().filter(|_| alike.next().is_none())
    }

    /// The same, where columns of a model are also found in other letters if one column fits that the model does not
    /// know by its own name, and what is to be said about it.
    pub(crate) fn as_in_model<'a>(&self, known: impl Iterator<Item = &'a str>) -> (ColumnNames, Vec<String>) {
        let known: BTreeSet<&str> = known.collect();
        let tidy: HashSet<_> = known.iter().map(|name| tidy_name(name)).collect();
        let own: HashSet<usize> = known.iter().filter_map(|name| self.find(name)).collect();
        let mut found = ColumnNames {
            names: self.names.clone(),
            position: self.position.clone(),
            unnamed: self.unnamed.clone(),
            lists: self.lists.clone(),
            are_exact: tidy.len() < known.len(),
        };
        let mut renamed = vec![];
        let unknown: Vec<&str> = known.into_iter().filter(|name| found.find(name).is_none()).collect();
        for name in unknown.into_iter().filter(|_| !found.are_exact) {
            let column = self.find_in_other_case(name).filter(|column| !own.contains(column));
            if let Some(column) = column.filter(|_| self.numbers_of_list(name).is_none()) {
                found.position.insert(name.to_string(), column);
                renamed.push(self.name(column).to_string());
            }
        }
        let said = (!renamed.is_empty()).then(|| {
            format!("in small and capital letters these are columns of the model: {}", listed(&renamed))
        });
        (found, said.into_iter().collect())
    }

    /// The column of this name, which the caller gave for a role.
    pub(crate) fn require(&self, name: &str, role: Role) -> Result<usize> {
        self.find(name).ok_or_else(|| {
            wrong!("there is no column {}; {}", quoted(name), self.instead_of(name))
                .hint(Hint::CheckRoles(vec![role]))
        })
    }

    /// What is said about a name that is not there.
    pub(crate) fn instead_of(&self, name: &str) -> String {
        nearest::not_there(name, &self.names)
    }

    /// The names, or the first few of many.
    pub(crate) fn listed(&self) -> String {
        listed(&self.names)
    }
}

/// The names without blanks around them, where they are still different.
fn tidied(names: Vec<String>) -> Vec<String> {
    let mut times: HashMap<String, u32> = HashMap::new();
    names.iter().for_each(|name| *times.entry(tidy_name(name).into_owned()).or_default() += 1);
    let tidied = |name: String| match tidy_name(&name).into_owned() {
        tidy if tidy.is_empty() || times[&tidy] == 1 => tidy,
        _ => name,
    };
    names.into_iter().map(tidied).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Result<ColumnNames> {
        ColumnNames::new(names.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn names_are_distinct_and_not_empty() {
        let message = |list: &[&str]| names(list).err().unwrap().to_string();
        assert_eq!(message(&["a", "b", "a"]), "columns 1 and 3 are both named \"a\"; rename one of them");
        assert!(message(&["", "b"]).starts_with("column 1 has no name"));
    }

    #[test]
    fn names_of_files_have_no_blanks_around_them_and_one_form_of_accents() {
        let of =
            |list: &[&str]| ColumnNames::of_file(list.iter().map(|name| name.to_string()).collect()).unwrap();
        let names = of(&["a ", " gr\u{f6}\u{df}e", "x", " x", "  "]);
        assert_eq!(names.names, ["a", "gr\u{f6}\u{df}e", "x", " x", "(column 5)"]);
        assert_eq!(
            ["a", " a", "gro\u{308}\u{df}e", " x", "X"].map(|name| names.find(name)),
            [Some(0), Some(0), Some(1), Some(3), None]
        );
        assert_eq!(
            ["A", "GR\u{d6}\u{df}E", "X", "b"].map(|name| names.find_in_other_case(name)),
            [Some(0), Some(1), None, None]
        );
    }

    #[test]
    fn columns_of_a_model_are_found_in_other_letters() {
        let (found, said) =
            names(&["WARD", "age", "X", "Day"]).unwrap().as_in_model(["ward", "Age", "x", "X"].into_iter());
        assert_eq!(
            ["ward", "WARD", "Age", "x", "X"].map(|name| found.find(name)),
            [Some(0), Some(0), Some(1), None, Some(2)]
        );
        assert_eq!(found.name(0), "WARD");
        let alike = names(&["x", "a"]).unwrap().as_in_model(["x", " x", "A"].into_iter()).0;
        assert_eq!(["x", " x", "A"].map(|name| alike.find(name)), [Some(0), None, None]);
        assert_eq!(said, ["in small and capital letters these are columns of the model: \"age\", \"WARD\""]);
    }

    #[test]
    fn a_column_that_is_not_there_lists_those_that_are() {
        let error = names(&["x", " y"]).unwrap().require("y", Role::Target).unwrap_err();
        assert_eq!(
            &*error.why,
            "there is no column \"y\"; did you mean \" y\"? the columns are \"x\", \" y\""
        );
        assert_eq!(error.hints, [Hint::CheckRoles(vec![Role::Target])]);
    }
}
