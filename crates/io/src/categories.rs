//! A column of names: tasks, classes.

use crate::columns::cells::canonical;
use crate::{Error, Result, error::quoted};
use kinfolk::TaskNames;
use std::collections::HashMap;
use std::hash::Hash;

/// Names of rows: which of the `names` each row has.
#[derive(Debug, Clone, PartialEq)]
pub struct Categorical {
    /// One per row.
    pub index: Vec<u32>,
    /// In increasing order, whatever the order in the file: so the same data give the same model in any
    /// format. Some may be without rows. Names that are all written like integers are integers.
    pub names: TaskNames,
}

impl Categorical {
    /// Integers that are themselves the names.
    pub fn from_integers(column: &[i64]) -> Self {
        let (names, index) = TaskNames::encode_integers(column);
        Categorical { index, names }
    }

    /// Words that are themselves the names.
    pub fn from_words<S: AsRef<str>>(column: &[S]) -> Self {
        let (names, index) = TaskNames::encode_strings(column);
        Categorical { index, names }.ordered()
    }

    /// Positions in a list of names, which must be distinct.
    pub fn new(index: Vec<u32>, names: TaskNames) -> Result<Self> {
        check_distinct(&names)?;
        if let Some(row) = index.iter().position(|&i| i as usize >= names.len()) {
            return Err(
                wrong!("{} is no position in a list of {} names", index[row], names.len()).at_row(row)
            );
        }
        Ok(Categorical { index, names }.ordered())
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// Name of a row.
    pub fn name(&self, row: usize) -> String {
        self.names.name(self.index[row] as usize)
    }

    /// The given rows; all names are kept.
    pub fn select_rows(&self, rows: impl Iterator<Item = usize>) -> Self {
        Categorical { index: rows.map(|i| self.index[i]).collect(), names: self.names.clone() }
    }

    /// The same rows, none of which has the empty name, without that name.
    pub(crate) fn without_empty_name(&self) -> Self {
        Categorical::from_words(&(0..self.len()).map(|row| self.name(row)).collect::<Vec<_>>())
    }

    /// For each of the names its position in another list, by the text of the name.
    pub fn find_in(&self, names: &TaskNames) -> Vec<Option<u32>> {
        find_in(&self.names, names)
    }

    /// For each row the position of its name in another list; `unknown` is the error of a name that is not
    /// there.
    pub(crate) fn rows_in(&self, names: &TaskNames, unknown: impl Fn(&str) -> Error) -> Result<Vec<u32>> {
        let to = self.find_in(names);
        let position =
            |row: usize| to[self.index[row] as usize].ok_or_else(|| unknown(&self.name(row)).at_row(row));
        (0..self.len()).map(position).collect()
    }

    /// Rows of several columns, one column after the other; the names are those of all of them.
    pub fn concatenate(parts: Vec<Categorical>) -> Self {
        let integers = |column: &Categorical| !matches!(column.names, TaskNames::Strings(_));
        if parts.iter().all(integers) {
            let columns = parts.into_iter().map(|column| (column.index, integer_names(&column.names)));
            let (names, index) = merge(columns.collect());
            return Categorical { index, names: TaskNames::Integers(names) };
        }
        let columns = parts.into_iter().map(|column| (column.index, column.names.iter().collect()));
        let (names, index) = merge(columns.collect());
        Categorical { index, names: TaskNames::Strings(names) }.ordered()
    }

    /// The same column with its names in order, as integers if they are written so.
    fn ordered(self) -> Self {
        let names = match self.names {
            TaskNames::Strings(words) => TaskNames::from_texts(&words),
            names => names,
        };
        if let TaskNames::Strings(words) = names {
            let (names, index) = merge(vec![(self.index, words)]);
            return Categorical { index, names: TaskNames::Strings(names) };
        }
        let (names, index) = merge(vec![(self.index, integer_names(&names))]);
        Categorical { index, names: TaskNames::Integers(names) }
    }
}

/// A column of names while it is being read: the names so far, and which of them each row has.
#[derive(Default)]
pub(crate) struct CategoricalBuilder {
    code: HashMap<String, u32>,
    names: Vec<String>,
    index: Vec<u32>,
}

impl CategoricalBuilder {
    pub(crate) fn push(&mut self, name: &str) {
        // Rows of a task often follow one another.
        if let Some(&last) = self.index.last()
            && self.names[last as usize] == name
        {
            return self.index.push(last);
        }
        let next = self.names.len() as u32;
        let code = self.code.get(name).copied().unwrap_or_else(|| {
            self.names.push(name.to_string());
            self.code.insert(name.to_string(), next);
            next
        });
        self.index.push(code);
    }

    /// Adds rows, of which is known which of these names each has.
    pub(crate) fn extend(&mut self, names: &[String], which: &[u32]) {
        let rows = self.index.len();
        let codes: Vec<u32> = names
            .iter()
            .map(|name| {
                self.push(name);
                self.index[self.index.len() - 1]
            })
            .collect();
        self.index.truncate(rows);
        self.index.extend(which.iter().map(|&name| codes[name as usize]));
    }

    pub(crate) fn finish(self) -> Result<Categorical> {
        Categorical::new(self.index, TaskNames::Strings(self.names))
    }
}

/// For each name its position in another list, by the text of the name; `1.0` and `1` are the same.
pub(crate) fn find_in(names: &TaskNames, known: &TaskNames) -> Vec<Option<u32>> {
    let exact: HashMap<String, u32> = known.iter().zip(0..).collect();
    let short: HashMap<String, u32> =
        known.iter().map(|name| canonical(name.into()).into_owned()).zip(0..).collect();
    let find = |name: String| {
        exact.get(&name).or_else(|| short.get(canonical(name.as_str().into()).as_ref())).copied()
    };
    names.iter().map(find).collect()
}

/// `Err` if two names are the same.
pub(crate) fn check_distinct(names: &TaskNames) -> Result<()> {
    let mut seen = HashMap::new();
    for (t, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, t) {
            return Err(wrong!("the name {} is given twice, at {first} and {t}", quoted(&names.name(t))));
        }
    }
    Ok(())
}

fn integer_names(names: &TaskNames) -> Vec<i64> {
    match names {
        TaskNames::Integers(names) => names.clone(),
        names => (0..names.len() as i64).collect(),
    }
}

/// Columns of positions in different lists become one column of positions in one increasing list.
fn merge<T: Ord + Hash + Clone>(parts: Vec<(Vec<u32>, Vec<T>)>) -> (Vec<T>, Vec<u32>) {
    let mut names: Vec<T> = parts.iter().flat_map(|(_, names)| names).cloned().collect();
    names.sort_unstable();
    names.dedup();
    let position: HashMap<&T, u32> = names.iter().enumerate().map(|(i, name)| (name, i as u32)).collect();
    let mut index = Vec::with_capacity(parts.iter().map(|(index, _)| index.len()).sum());
    for (part, own) in &parts {
        let to: Vec<u32> = own.iter().map(|name| position[name]).collect();
        index.extend(part.iter().map(|&i| to[i as usize]));
    }
    (names, index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(names: &[&str]) -> TaskNames {
        TaskNames::Strings(names.iter().map(|name| name.to_string()).collect())
    }

    #[test]
    fn names_come_in_increasing_order_whatever_the_file_says() {
        let column = Categorical::new(vec![0, 2, 1, 0], words(&["oak", "ash", "elm"])).unwrap();
        assert_eq!(column.names, words(&["ash", "elm", "oak"]));
        assert_eq!((column.index.as_slice(), column.name(1)), (&[2, 1, 0, 2][..], "elm".to_string()));
    }

    #[test]
    fn words_that_are_integers_are_integers() {
        let column = Categorical::from_words(&["10", "9", "10"]);
        assert_eq!(column, Categorical::from_integers(&[10, 9, 10]));
        assert_eq!(
            Categorical::new(vec![1, 0], TaskNames::Numbered(2)).unwrap(),
            Categorical::from_integers(&[1, 0])
        );
        assert_eq!(Categorical::from_words(&["09", "10"]).names, words(&["09", "10"]));
    }

    #[test]
    fn columns_are_joined_by_name() {
        let joined = Categorical::concatenate(vec![
            Categorical::from_words(&["b", "a"]),
            Categorical::from_words(&["7", "b"]),
        ]);
        assert_eq!(joined, Categorical::from_words(&["b", "a", "7", "b"]));
        let joined = Categorical::concatenate(vec![
            Categorical::from_integers(&[5]),
            Categorical::from_integers(&[-1, 5]),
        ]);
        assert_eq!(joined, Categorical::from_integers(&[5, -1, 5]));
    }

    #[test]
    fn twins_and_positions_beyond_the_list_are_refused() {
        let message = |column: Result<Categorical>| column.unwrap_err().to_string();
        assert_eq!(
            message(Categorical::new(vec![], words(&["a", "b", "a"]))),
            "the name \"a\" is given twice, at 0 and 2"
        );
        assert_eq!(
            message(Categorical::new(vec![0, 3], words(&["a"]))),
            "row 2: 3 is no position in a list of 1 names"
        );
    }

    #[test]
    fn names_are_found_by_their_text() {
        let column = Categorical::from_integers(&[3, 8]);
        assert_eq!(column.find_in(&words(&["x", "8"])), [None, Some(1)]);
    }
}
