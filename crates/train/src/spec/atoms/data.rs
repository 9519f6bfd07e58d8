//! What relations are given as: always by the names of tasks, never by their position.

use super::RelationKind;
use super::path::nodes;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};

/// A relation between named tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RelationTable", into = "RelationTable")]
#[non_exhaustive]
pub enum RelationData {
    /// A text for each task: its group, or its path in a tree, such as `animal/cat/tabby`. A slash inside a name of a
    /// path has a backslash before it.
    Labels {
        /// Names.
        tasks: Vec<String>,
        /// One for each task.
        labels: Vec<String>,
    },
    /// A number for pairs of tasks, in any order: weights of edges, or distances.
    Pairs {
        /// One task of each pair.
        from: Vec<String>,
        /// The other.
        to: Vec<String>,
        /// The number.
        values: Vec<f64>,
    },
    /// Numbers for each task: features, or a square matrix.
    Rows {
        /// Names.
        tasks: Vec<String>,
        /// One for each task.
        rows: Vec<Vec<f64>>,
    },
}

/// The form in toml and json, of all variants.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RelationTable {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tasks: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    labels: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Vec<Vec<f64>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    from: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    to: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<Vec<f64>>,
}

impl TryFrom<RelationTable> for RelationData {
    type Error = String;

    fn try_from(table: RelationTable) -> Result<Self, String> {
        let RelationTable { tasks, labels, rows, from, to, values } = table;
        match (tasks, labels, rows, from, to, values) {
            (Some(tasks), Some(labels), None, None, None, None) => Ok(RelationData::Labels { tasks, labels }),
            (Some(tasks), None, Some(rows), None, None, None) => Ok(RelationData::Rows { tasks, rows }),
            (None, None, None, Some(from), Some(to), Some(values)) => {
                Ok(RelationData::Pairs { from, to, values })
            }
            _ => {
                Err("data of a relation are tasks and labels, or tasks and rows, or from, to and values"
                    .into())
            }
        }
    }
}

impl From<RelationData> for RelationTable {
    fn from(data: RelationData) -> Self {
        let none =
            RelationTable { tasks: None, labels: None, rows: None, from: None, to: None, values: None };
        match data {
            RelationData::Labels { tasks, labels } => {
                RelationTable { tasks: Some(tasks), labels: Some(labels), ..none }
            }
            RelationData::Rows { tasks, rows } => {
                RelationTable { tasks: Some(tasks), rows: Some(rows), ..none }
            }
            RelationData::Pairs { from, to, values } => {
                RelationTable { from: Some(from), to: Some(to), values: Some(values), ..none }
            }
        }
    }
}

impl RelationData {
    /// `Err` if it is no relation of this kind, its lists have different lengths, or a task is there twice.
    pub(super) fn check(&self, kind: RelationKind) -> Result<(), String> {
        use RelationKind as Kind;
        match (self, kind) {
            (RelationData::Labels { tasks, labels }, Kind::Groups | Kind::Tree) => {
                if tasks.len() != labels.len() {
                    return Err(format!("it has {} tasks and {} labels", tasks.len(), labels.len()));
                }
                distinct(tasks)
            }
            (RelationData::Pairs { from, to, values }, Kind::Graph | Kind::Distance) => {
                if from.len() != to.len() || from.len() != values.len() {
                    let (f, t, v) = (from.len(), to.len(), values.len());
                    return Err(format!("from has {f} tasks, to {t}, and there are {v} values"));
                }
                let what = if kind == Kind::Graph { "weight" } else { "distance" };
                pairs(from, to, values, what).map(drop)
            }
            (RelationData::Rows { tasks, rows }, Kind::Features | Kind::Distance | Kind::Matrix) => {
                distinct(tasks)?;
                if tasks.len() != rows.len() {
                    return Err(format!("it has {} tasks and {} rows", tasks.len(), rows.len()));
                }
                let columns = match kind {
                    Kind::Features => rows.first().map_or(0, Vec::len),
                    _ => tasks.len(),
                };
                for (task, row) in tasks.iter().zip(rows) {
                    if row.len() != columns {
                        let n = row.len();
                        return Err(format!("the row of task {task:?} has {n} numbers, expected {columns}"));
                    }
                    if let Some(x) = row.iter().find(|x| !x.is_finite()) {
                        return Err(format!(
                            "the row of task {task:?} has {x}, which is not a finite number"
                        ));
                    }
                }
                match kind {
                    Kind::Features => Ok(()),
                    _ => square(tasks, rows, kind),
                }
            }
            _ => Err(format!("these are no data for {kind}")),
        }
    }

    /// Names of groups and paths.
    pub(crate) fn texts(&self) -> Vec<String> {
        match self {
            RelationData::Labels { labels, .. } => labels.clone(),
            _ => vec![],
        }
    }

    /// All tasks that it names, each once, in the order of their first place.
    pub(crate) fn tasks(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all: Vec<&String> = match self {
            RelationData::Labels { tasks, .. } | RelationData::Rows { tasks, .. } => tasks.iter().collect(),
            RelationData::Pairs { from, to, .. } => from.iter().zip(to).flat_map(|(a, b)| [a, b]).collect(),
        };
        all.into_iter().map(String::as_str).filter(|task| seen.insert(*task)).collect()
    }

    /// Nodes above others in the paths of a tree.
    pub(super) fn inner_nodes(&self) -> HashSet<String> {
        let RelationData::Labels { labels, .. } = self else { return HashSet::new() };
        labels.iter().flat_map(|path| nodes(path).into_iter().rev().skip(1)).collect()
    }

    /// How many numbers it holds, about.
    pub(super) fn n_numbers(&self) -> usize {
        match self {
            RelationData::Labels { tasks, .. } => 2 * tasks.len(),
            RelationData::Pairs { values, .. } => 3 * values.len(),
            RelationData::Rows { rows, .. } => rows.iter().map(Vec::len).sum(),
        }
    }
}

fn distinct(tasks: &[String]) -> Result<(), String> {
    let mut seen = HashSet::new();
    match tasks.iter().find(|task| !seen.insert(task.as_str())) {
        Some(task) => Err(format!("task {task:?} is there twice")),
        None => Ok(()),
    }
}

/// A square matrix is symmetric up to rounding; distances are not negative, and zero from a task to itself.
fn square(tasks: &[String], rows: &[Vec<f64>], kind: RelationKind) -> Result<(), String> {
    let largest = rows.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
    for (r, row) in rows.iter().enumerate() {
        for (s, &x) in row.iter().enumerate() {
            let (task, other, mirror) = (&tasks[r], &tasks[s], rows[s][r]);
            if (x - mirror).abs() > 1e-8 * largest {
                return Err(format!(
                    "it is not symmetric: {x} from {task:?} to {other:?}, {mirror} the other way round"
                ));
            }
            if kind == RelationKind::Distance && x < 0.0 {
                return Err(format!(
                    "the distance from {task:?} to {other:?} is {x}, it must not be negative"
                ));
            }
            if kind == RelationKind::Distance && r == s && x != 0.0 {
                return Err(format!("the distance from {task:?} to itself is {x}, it must be 0"));
            }
        }
    }
    Ok(())
}

/// Numbers of unordered pairs, by the names in increasing order. A pair may be there twice with the same number.
pub(super) type PairValues<'a> = HashMap<(&'a str, &'a str), f64>;

/// Those of a list.
pub(super) fn pairs<'a>(
    from: &'a [String],
    to: &'a [String],
    values: &[f64],
    what: &str,
) -> Result<PairValues<'a>, String> {
    let mut found = HashMap::new();
    for ((a, b), &x) in from.iter().zip(to).zip(values) {
        if !(x.is_finite() && x >= 0.0) {
            return Err(format!("the {what} of {a:?} and {b:?} is {x}, it must be a number, not below zero"));
        }
        if a == b && what == "distance" && x != 0.0 {
            return Err(format!("the distance from {a:?} to itself is {x}, it must be 0"));
        }
        if let Some(other) = found.insert(ordered(a, b), x).filter(|other| *other != x) {
            return Err(format!("{a:?} and {b:?} are there twice, with the {what}s {other} and {x}"));
        }
    }
    Ok(found)
}

/// A pair in increasing order.
pub(super) fn ordered<'a>(a: &'a str, b: &'a str) -> (&'a str, &'a str) {
    if a <= b { (a, b) } else { (b, a) }
}
