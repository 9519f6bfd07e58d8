//! The atoms of the tasks of a fit, and what they say about tasks without rows.

use super::data::{PairValues, ordered, pairs};
use super::similarity::{of_distances, of_features, of_graph, of_groups, of_paths};
use super::{AtomSetting, RelationData, RelationKind, texts};
use crate::Result;
use kinfolk::regularizer::{AtomKind, AtomSpec, nearest_psd};
use kinfolk::{Matrix, TaskNames};
use kinfolk_io::ColumnRoles;
use std::collections::{HashMap, HashSet};

/// Negative eigenvalues down to this share of the largest are cut off, aloud. Beyond, a matrix is refused.
const LARGEST_CUT_SHARE: f64 = 0.05;

/// Names given in a message; the others are counted.
const MAX_NAMES: usize = 8;

/// Atoms as the engine takes them.
#[derive(Debug, Clone, Default)]
pub struct ResolvedAtoms {
    /// With the weights of the settings, or the default one.
    pub atoms: Vec<AtomSpec>,
    /// What a user should know about them.
    pub notes: Vec<String>,
}

impl ResolvedAtoms {
    /// The atoms of these settings for these tasks. Files are read as `columns` say for the data.
    ///
    /// # Errors
    /// If a file cannot be read, tasks are missing in it, or a matrix is not positive semidefinite.
    pub fn new(settings: &[AtomSetting], tasks: &TaskNames, columns: &ColumnRoles) -> Result<Self> {
        let (names, mut out) = (texts(tasks), ResolvedAtoms::default());
        for setting in settings {
            let setting = setting.with_file_read(columns, &names)?;
            let relation = setting.relation(&names, &mut out.notes)?;
            out.atoms.push(AtomSpec::new(setting.name.clone(), setting.weight_or_default(), relation));
        }
        Ok(out)
    }
}

impl AtomSetting {
    /// S of tasks of these names, as the engine takes it.
    fn relation(&self, names: &[String], notes: &mut Vec<String>) -> Result<AtomKind> {
        let Some(data) = &self.data else {
            return match self.kind {
                RelationKind::Common => Ok(AtomKind::Common),
                RelationKind::Own => Ok(AtomKind::Own),
                kind => Err(self.wrong(format!("{kind} needs a file with the relation, or its data"))),
            };
        };
        data.check(self.kind).map_err(|why| self.wrong(why))?;
        self.align(data, names, notes)?;
        if let (RelationKind::Groups, RelationData::Labels { tasks, labels }) = (self.kind, &**data) {
            return Ok(AtomKind::Groups { groups: group_numbers(names, tasks, labels) });
        }
        let full = self.similarity(data, names, names.len()).map_err(|why| self.wrong(why))?;
        let cut = nearest_psd("its matrix", &full).map_err(|error| self.wrong(error.to_string()))?;
        let share = cut.smallest_share;
        if share < -LARGEST_CUT_SHARE {
            let cure = match self.kind {
                RelationKind::Distance => {
                    "; take the square roots of the distances, or give features instead"
                }
                _ => "; give a similarity without negative eigenvalues, or distances or features instead",
            };
            return Err(self.wrong(format!(
                "it is not positive semidefinite: its smallest eigenvalue is {share:.3} times the largest{cure}"
            )));
        }
        if share < 0.0 {
            notes.push(format!(
                "atom {:?}: negative eigenvalues, down to {share:.1e} times the largest, were set to 0",
                self.name
            ));
        }
        let rows = (0..names.len()).map(|r| cut.matrix.row(r).to_vec()).collect();
        Ok(AtomKind::Matrix { rows })
    }

    /// Which tasks of the fit the data do not name, and the other way round.
    fn align(&self, data: &RelationData, names: &[String], notes: &mut Vec<String>) -> Result<()> {
        let known: HashSet<&str> = data.tasks().into_iter().collect();
        let missing: Vec<&str> =
            names.iter().map(String::as_str).filter(|name| !known.contains(name)).collect();
        if missing.len() == names.len() {
            let given: Vec<&str> = data.tasks();
            return Err(self.wrong(format!(
                "it names none of the tasks of the data ({}), only {}; names must be spelled alike",
                listed(&missing),
                listed(&given)
            )));
        }
        let alone = match self.kind {
            RelationKind::Groups => "each is a group of its own",
            RelationKind::Graph => "they have no edges",
            _ => "",
        };
        if !missing.is_empty() && alone.is_empty() {
            let (n, tasks) = (missing.len(), if missing.len() == 1 { "task" } else { "tasks" });
            return Err(
                self.wrong(format!("{n} {tasks} of the data not in it: {}; add them", listed(&missing)))
            );
        }
        if !missing.is_empty() {
            let list = listed(&missing);
            notes.push(format!("atom {:?}: tasks that it does not name, {alone}: {list}", self.name));
        }
        let own: HashSet<&str> = names.iter().map(String::as_str).collect();
        let others = data.tasks().into_iter().filter(|task| !own.contains(task));
        let inner = if self.kind == RelationKind::Tree { data.inner_nodes() } else { HashSet::new() };
        let (inner, others): (Vec<&str>, Vec<&str>) = others.partition(|task| inner.contains(*task));
        if !inner.is_empty() {
            let list = listed(&inner);
            notes.push(format!("atom {:?}: inner nodes of the tree, which are no tasks: {list}", self.name));
        }
        if !others.is_empty() {
            let list = listed(&others);
            notes.push(format!("atom {:?}: tasks that the data do not have: {list}", self.name));
        }
        Ok(())
    }

    /// The similarity of tasks of these names before it is normalised. What a formula takes from the data comes from
    /// the first `n_fitted` of them.
    fn similarity(
        &self,
        data: &RelationData,
        names: &[String],
        n_fitted: usize,
    ) -> std::result::Result<Matrix, String> {
        match (data, self.kind) {
            (RelationData::Labels { tasks, labels }, RelationKind::Groups) => {
                let numbers: Vec<String> =
                    group_numbers(names, tasks, labels).iter().map(u32::to_string).collect();
                Ok(of_groups(&numbers.iter().map(String::as_str).collect::<Vec<_>>()))
            }
            (RelationData::Labels { tasks, labels }, _) => {
                let place = places(tasks);
                let path = |name: &String| place.get(name.as_str()).map_or("", |&i| labels[i].as_str());
                Ok(of_paths(&names.iter().map(path).collect::<Vec<_>>()))
            }
            (RelationData::Pairs { from, to, values }, RelationKind::Graph) => {
                // All nodes count, also those without rows: tasks can be neighbours by way of others.
                let mut nodes: Vec<&str> = names.iter().map(String::as_str).collect();
                let own: HashSet<&str> = nodes.iter().copied().collect();
                nodes.extend(data.tasks().into_iter().filter(|task| !own.contains(task)));
                let place: HashMap<&str, usize> =
                    nodes.iter().enumerate().map(|(i, task)| (*task, i)).collect();
                let edges: Vec<(usize, usize, f64)> = pairs(from, to, values, "weight")?
                    .into_iter()
                    .map(|((a, b), weight)| (place[a], place[b], weight))
                    .collect();
                Ok(part(&of_graph(nodes.len(), &sorted(edges)), names.len()))
            }
            (RelationData::Pairs { from, to, values }, _) => {
                let found = pairs(from, to, values, "distance")?;
                let distance = |a: &str, b: &str| match a == b {
                    true => Ok(0.0),
                    false => found
                        .get(&ordered(a, b))
                        .copied()
                        .ok_or_else(|| format!("it has no distance from {a:?} to {b:?}")),
                };
                Ok(of_distances(&matrix(names, distance)?, n_fitted))
            }
            (RelationData::Rows { tasks, rows }, RelationKind::Features) => {
                let place = places(tasks);
                let row = |name: &String| match place.get(name.as_str()) {
                    Some(&i) => Ok(rows[i].as_slice()),
                    None => Err(format!("it has no task {name:?}")),
                };
                let rows: Vec<&[f64]> = names.iter().map(row).collect::<std::result::Result<_, _>>()?;
                Ok(of_features(&rows, n_fitted, self.kernel))
            }
            (RelationData::Rows { tasks, rows }, kind) => {
                let place = places(tasks);
                let find = |name: &str| place.get(name).ok_or_else(|| format!("it has no task {name:?}"));
                let m = matrix(names, |a, b| Ok(rows[*find(a)?][*find(b)?]))?;
                Ok(if kind == RelationKind::Distance { of_distances(&m, n_fitted) } else { m })
            }
        }
    }
}

/// What an atom of a fit says about other tasks. `more` has relations of tasks that were not known at the time of the
/// fit.
#[derive(Debug)]
pub(crate) struct AtomExtension<'a> {
    setting: &'a AtomSetting,
    more: Option<&'a RelationData>,
    /// Tasks of the fit.
    names: Vec<String>,
    /// Their similarity; of a graph, also that of all other nodes, which come after them.
    similarity: Matrix,
    nodes: Vec<String>,
    /// What S was divided by.
    norm: f64,
}

impl<'a> AtomExtension<'a> {
    /// For the tasks of the fit; `None` for relations without data.
    pub(crate) fn new(
        setting: &'a AtomSetting,
        tasks: &TaskNames,
        more: Option<&'a RelationData>,
    ) -> Result<Option<Self>> {
        let fail = |why: String| setting.wrong(why);
        let Some(data) = &setting.data else {
            return match more {
                None => Ok(None),
                Some(_) => {
                    Err(fail("the model does not keep this relation: name new tasks at the fit".into()))
                }
            };
        };
        if let Some(more) = more {
            more.check(setting.kind).map_err(fail)?;
        }
        let (names, n) = (texts(tasks), tasks.len());
        let mut nodes = names.clone();
        if setting.kind == RelationKind::Graph {
            let own: HashSet<&str> = names.iter().map(String::as_str).collect();
            nodes.extend(data.tasks().into_iter().filter(|task| !own.contains(task)).map(str::to_string));
        }
        let similarity = setting.similarity(data, &nodes, n).map_err(fail)?;
        let fitted = part(&similarity, n);
        let cut = nearest_psd("its matrix", &fitted).map_err(|error| setting.wrong(error.to_string()))?;
        Ok(Some(AtomExtension { setting, more, names, similarity, nodes, norm: norm(&cut.matrix) }))
    }

    /// Tasks of the data that came after the fit.
    pub(crate) fn new_tasks(&self) -> Vec<String> {
        let Some(more) = self.more else { return vec![] };
        let inner = if self.setting.kind == RelationKind::Tree { more.inner_nodes() } else { HashSet::new() };
        more.tasks().into_iter().filter(|task| !inner.contains(*task)).map(String::from).collect()
    }

    /// Row `new` of S against the tasks of the fit, as it would be with the new task, normalised as S was. `None` if
    /// the data do not name the task.
    ///
    /// # Errors
    /// If the data do not suit each other.
    pub(crate) fn row(&self, new: &str) -> Result<Option<Vec<f64>>> {
        let (setting, n) = (self.setting, self.names.len());
        let fail = |why: String| setting.wrong(why);
        let Some(data) = setting.data.as_deref() else { return Ok(None) };
        let with_new = |data: &RelationData| -> Result<Vec<f64>> {
            let mut names = self.names.clone();
            names.push(new.to_string());
            Ok(setting.similarity(data, &names, n).map_err(fail)?.row(n)[..n].to_vec())
        };
        let row = match (setting.kind, self.more.filter(|more| more.tasks().contains(&new))) {
            _ if self.nodes.iter().any(|node| node == new) => {
                let place = self.nodes.iter().position(|node| node == new).unwrap_or(0);
                self.similarity.row(place)[..n].to_vec()
            }
            _ if data.tasks().contains(&new) => with_new(data)?,
            (_, None) => return Ok(None),
            (RelationKind::Graph, Some(RelationData::Pairs { from, to, values })) => {
                let edges = pairs(from, to, values, "weight").map_err(fail)?;
                neighbour(new, &self.nodes, &self.similarity, &edges)[..n].to_vec()
            }
            (_, Some(more)) => with_new(&data.joined(more, &self.names, new).map_err(fail)?)?,
        };
        Ok(Some(row.into_iter().map(|x| x / self.norm).collect()))
    }
}

/// Row of a new node of a graph, from those of its neighbours: `S_new,s = sum_u w_u S_us / (1 + sum_u w_u)`, which is
/// row `new` of the equation `(I + L) S = I`.
fn neighbour(new: &str, names: &[String], s: &Matrix, edges: &PairValues<'_>) -> Vec<f64> {
    let weight = |u: &String| edges.get(&ordered(new, u)).copied().unwrap_or(0.0);
    let weights: Vec<f64> = names.iter().map(weight).collect();
    let sum = 1.0 + weights.iter().sum::<f64>();
    (0..names.len()).map(|t| weights.iter().enumerate().map(|(u, w)| w / sum * s[(u, t)]).sum()).collect()
}

impl RelationData {
    /// With a task of other data; of these, what is about the tasks of the fit.
    fn joined(&self, more: &RelationData, fitted: &[String], new: &str) -> std::result::Result<Self, String> {
        let mut joined = self.clone();
        match (&mut joined, more) {
            (
                RelationData::Labels { tasks, labels },
                RelationData::Labels { tasks: more_tasks, labels: more_labels },
            ) => {
                let place = places(more_tasks);
                tasks.push(new.to_string());
                labels.push(more_labels[place[new]].clone());
            }
            (
                RelationData::Pairs { from, to, values },
                RelationData::Pairs { from: more_from, to: more_to, values: more_values },
            ) => {
                for ((a, b), value) in more_from.iter().zip(more_to).zip(more_values) {
                    if a == new || b == new {
                        from.push(a.clone());
                        to.push(b.clone());
                        values.push(*value);
                    }
                }
            }
            (
                RelationData::Rows { tasks, rows },
                RelationData::Rows { tasks: more_tasks, rows: more_rows },
            ) => {
                let place = places(more_tasks);
                let own = &more_rows[place[new]];
                let is_square = rows.first().is_some_and(|row| row.len() == tasks.len());
                if is_square && own.len() == more_tasks.len() {
                    // A square matrix: only the row of the new task against those of the fit is used.
                    let missing = fitted.iter().find(|task| !place.contains_key(task.as_str()));
                    if let Some(task) = missing {
                        return Err(format!("the row of {new:?} has no entry for task {task:?}"));
                    }
                    let entry = |task: &String| place.get(task.as_str()).map_or(0.0, |&s| own[s]);
                    let against: Vec<f64> = tasks.iter().map(entry).collect();
                    rows.iter_mut().zip(&against).for_each(|(row, x)| row.push(*x));
                    rows.push(against.into_iter().chain([own[place[new]]]).collect());
                } else if rows.first().is_none_or(|row| row.len() == own.len()) {
                    rows.push(own.clone());
                } else {
                    return Err(format!(
                        "the row of {new:?} has {} numbers, others have more or fewer",
                        own.len()
                    ));
                }
                tasks.push(new.to_string());
            }
            _ => return Err(format!("the relation of {new:?} is not given as that of the fit")),
        }
        Ok(joined)
    }
}

/// Numbers of groups in the order of the tasks; a task without a group has one of its own.
fn group_numbers(names: &[String], tasks: &[String], labels: &[String]) -> Vec<u32> {
    let place = places(tasks);
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    let mut next = 0;
    let mut fresh = || {
        next += 1;
        next - 1
    };
    names
        .iter()
        .map(|name| match place.get(name.as_str()) {
            Some(&i) => *numbers.entry(labels[i].as_str()).or_insert_with(&mut fresh),
            None => fresh(),
        })
        .collect()
}

fn places(tasks: &[String]) -> HashMap<&str, usize> {
    tasks.iter().enumerate().map(|(i, task)| (task.as_str(), i)).collect()
}

fn matrix(
    names: &[String],
    entry: impl Fn(&str, &str) -> std::result::Result<f64, String>,
) -> std::result::Result<Matrix, String> {
    let mut m = Matrix::zeros(names.len(), names.len());
    for (r, a) in names.iter().enumerate() {
        for (s, b) in names.iter().enumerate() {
            m[(r, s)] = entry(a, b)?;
        }
    }
    Ok(m)
}

/// The first rows and columns.
fn part(m: &Matrix, n: usize) -> Matrix {
    let mut out = Matrix::zeros(n, n);
    for r in 0..n {
        out.row_mut(r).copy_from_slice(&m.row(r)[..n]);
    }
    out
}

/// In one order, whatever the hash map gave: sums of the same numbers in another order have other bits.
fn sorted(mut edges: Vec<(usize, usize, f64)>) -> Vec<(usize, usize, f64)> {
    edges.sort_by_key(|edge| (edge.0, edge.1));
    edges
}

/// Frobenius norm, in units of the largest entry so that no square overflows.
fn norm(m: &Matrix) -> f64 {
    let largest = m.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return 1.0;
    }
    largest * m.as_slice().iter().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt()
}

/// The first few names, and how many more there are.
fn listed(names: &[&str]) -> String {
    let list = names.iter().take(MAX_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MAX_NAMES) {
        0 => list,
        more => format!("{list} and {more} more"),
    }
}
