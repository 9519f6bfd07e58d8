//! Names of tasks.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;

/// What the tasks are called: just numbered, or by the caller's own integers or strings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TaskNames {
    /// Tasks 0, 1, ..., n - 1.
    Numbered(usize),
    /// The caller's integers, one per task.
    Integers(Vec<i64>),
    /// The caller's strings, one per task.
    Strings(Vec<String>),
}

impl TaskNames {
    /// Number of tasks.
    pub fn len(&self) -> usize {
        match self {
            TaskNames::Numbered(n) => *n,
            TaskNames::Integers(names) => names.len(),
            TaskNames::Strings(names) => names.len(),
        }
    }

    /// Whether there is no task at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name of task t as text.
    pub fn name(&self, t: usize) -> String {
        match self {
            TaskNames::Numbered(_) => t.to_string(),
            TaskNames::Integers(names) => names[t].to_string(),
            TaskNames::Strings(names) => names[t].clone(),
        }
    }

    /// The names of some tasks, in this order.
    pub(crate) fn select(&self, tasks: &[usize]) -> TaskNames {
        match self {
            TaskNames::Numbered(_) => TaskNames::Integers(tasks.iter().map(|&t| t as i64).collect()),
            TaskNames::Integers(names) => TaskNames::Integers(tasks.iter().map(|&t| names[t]).collect()),
            TaskNames::Strings(names) => {
                TaskNames::Strings(tasks.iter().map(|&t| names[t].clone()).collect())
            }
        }
    }

    /// The task of this name.
    pub fn find(&self, name: &str) -> Result<usize> {
        (0..self.len()).find(|&t| self.name(t) == name).ok_or_else(|| {
            let mut known: Vec<String> = (0..self.len().min(10)).map(|t| self.name(t)).collect();
            if self.len() > 10 {
                known.push(format!("... ({} in all)", self.len()));
            }
            Error::UnknownTask { name: name.to_string(), known: known.join(", ") }
        })
    }

    /// Names given as texts: integers if all of them are written as such, else strings.
    ///
    /// ```
    /// use kinfolk::TaskNames;
    /// assert_eq!(TaskNames::from_texts(&["7", "-1"]), TaskNames::Integers(vec![7, -1]));
    /// assert_eq!(TaskNames::from_texts(&["7", "07"]), TaskNames::Strings(vec!["7".into(), "07".into()]));
    /// ```
    pub fn from_texts<S: AsRef<str>>(names: &[S]) -> TaskNames {
        let integer = |name: &S| name.as_ref().parse::<i64>().ok().filter(|i| i.to_string() == name.as_ref());
        let integers: Option<Vec<i64>> = names.iter().map(integer).collect();
        let strings = || TaskNames::Strings(names.iter().map(|name| name.as_ref().into()).collect());
        integers.map_or_else(strings, TaskNames::Integers)
    }

    /// All names as text.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = String> + '_ {
        (0..self.len()).map(|t| self.name(t))
    }

    /// The distinct integers of a task column, in increasing order, and the column as task indices.
    pub fn encode_integers(column: &[i64]) -> (TaskNames, Vec<u32>) {
        let (names, index) = encode(column);
        (TaskNames::Integers(names), index)
    }

    /// The distinct strings of a task column, in increasing order, and the column as task indices.
    pub fn encode_strings<S: AsRef<str>>(column: &[S]) -> (TaskNames, Vec<u32>) {
        let column: Vec<String> = column.iter().map(|s| s.as_ref().to_string()).collect();
        let (names, index) = encode(&column);
        (TaskNames::Strings(names), index)
    }

    pub(crate) fn check_distinct(&self) -> Result<()> {
        match self {
            TaskNames::Numbered(_) => Ok(()),
            TaskNames::Integers(names) => distinct(names),
            TaskNames::Strings(names) => distinct(names),
        }
    }
}

impl From<Vec<i64>> for TaskNames {
    fn from(names: Vec<i64>) -> Self {
        TaskNames::Integers(names)
    }
}

impl From<Vec<String>> for TaskNames {
    fn from(names: Vec<String>) -> Self {
        TaskNames::Strings(names)
    }
}

fn encode<T: Ord + Hash + Clone>(column: &[T]) -> (Vec<T>, Vec<u32>) {
    let mut names = column.to_vec();
    names.sort_unstable();
    names.dedup();
    let position: HashMap<&T, u32> = names.iter().enumerate().map(|(i, name)| (name, i as u32)).collect();
    let index = column.iter().map(|name| position[name]).collect();
    (names, index)
}

fn distinct<T: Eq + Hash + Display>(names: &[T]) -> Result<()> {
    let mut seen = HashMap::new();
    for (second, name) in names.iter().enumerate() {
        if let Some(first) = seen.insert(name, second) {
            return Err(Error::DuplicateTask { name: name.to_string(), first, second });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_encoded_in_increasing_order() {
        let (names, index) = TaskNames::encode_integers(&[30, -1, 30, 7]);
        assert_eq!(names, TaskNames::Integers(vec![-1, 7, 30]));
        assert_eq!(index, [2, 0, 2, 1]);
        let (names, index) = TaskNames::encode_strings(&["b", "a", "b"]);
        assert_eq!((names.name(0), names.name(1), index), ("a".into(), "b".into(), vec![1, 0, 1]));
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let names = TaskNames::Strings(vec!["oak".into(), "elm".into()]);
        assert_eq!(names.find("elm").unwrap(), 1);
        let message = names.find("fir").unwrap_err().to_string();
        assert_eq!(message, "task \"fir\" is unknown; the tasks are oak, elm");
    }
}
