//! Tasks of several parts brought together by their names.

use crate::{Error, Result, TaskNames};
use std::collections::HashMap;

/// Where each task of a list is in another that has all of them.
pub(super) fn places(tasks: &TaskNames, all: &TaskNames) -> Vec<usize> {
    if tasks == all {
        return (0..tasks.len()).collect();
    }
    let place: HashMap<String, usize> = all.iter().enumerate().map(|(t, name)| (name, t)).collect();
    tasks.iter().map(|name| place[&name]).collect()
}

/// Which task comes to each place.
pub(super) fn inverse(map: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; map.len()];
    map.iter().enumerate().for_each(|(t, &to)| inverse[to] = t);
    inverse
}

/// The tasks of both: in the order of the first if they are the same, else sorted.
pub(super) fn joined(own: &TaskNames, other: &TaskNames, both_complete: bool) -> Result<TaskNames> {
    use TaskNames::{Integers, Numbered, Strings};
    let integers = |names: &TaskNames| match names {
        Numbered(n) => Some((0..*n as i64).collect()),
        Integers(names) => Some(names.clone()),
        _ => None,
    };
    let same = |sorted: bool| own.len() == other.len() && sorted;
    match (own, other) {
        (Numbered(a), Numbered(b)) if a != b && both_complete => {
            Err(Error::Incompatible(format!("the rows so far have {a} labels each, these have {b}")))
        }
        (Numbered(a), Numbered(b)) => Ok(Numbered(*a.max(b))),
        (Strings(a), Strings(b)) => {
            let (all, is_same) = union(a, b);
            Ok(if same(is_same) { own.clone() } else { Strings(all) })
        }
        // Names that are numbers in some rows only are texts like others.
        (Integers(_), Strings(_)) | (Strings(_), Integers(_)) => {
            let [a, b] = [own, other].map(|names| names.iter().collect::<Vec<String>>());
            Ok(Strings(union(&a, &b).0))
        }
        _ => match (integers(own), integers(other)) {
            (Some(a), Some(b)) => {
                let (all, is_same) = union::<i64>(&a, &b);
                Ok(if same(is_same) { Integers(a) } else { Integers(all) })
            }
            _ => Err(Error::Incompatible(
                "tasks are called by numbers in some rows and by words in others; convert one of them".into(),
            )),
        },
    }
}

/// All names, sorted, and whether both lists have all of them.
fn union<T: Ord + Clone>(a: &[T], b: &[T]) -> (Vec<T>, bool) {
    let mut all: Vec<T> = a.iter().chain(b).cloned().collect();
    all.sort_unstable();
    all.dedup();
    let same = all.len() == a.len() && all.len() == b.len();
    (all, same)
}
