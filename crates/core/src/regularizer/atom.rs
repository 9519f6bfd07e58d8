//! Atoms: relations between tasks that are known up to their weight.
//!
//! An atom is a positive semidefinite matrix S with one row per task and Frobenius norm one. It adds
//! `w phi(<S, rho>)` to the regulariser of the dual, and so `a S` to Theta, with a learned `a = w phi'(<S, rho>)`.

use crate::linalg::{self, dot, psd};
use crate::{Error, Matrix, Result};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which relation an atom stands for. Matrices are normalised when they are used, so their scale does not matter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum AtomKind {
    /// All tasks are the same task: every entry of S is equal.
    Common,
    /// Tasks have nothing to do with each other: S is diagonal.
    Own,
    /// Tasks of one group are the same task: a block of equal entries for each group.
    Groups {
        /// The group of each task, numbered from 0.
        groups: Vec<u32>,
    },
    /// Any symmetric and positive semidefinite matrix.
    Matrix {
        /// One row per task.
        rows: Vec<Vec<f64>>,
    },
}

/// An atom as written in settings and files.
///
/// ```
/// use kinfolk::regularizer::{AtomKind, AtomSpec};
/// let atom = AtomSpec::new("common", 10.0, AtomKind::Common);
/// assert_eq!(atom, serde_json::from_str(r#"{"name": "common", "weight": 10, "relation": {"kind": "common"}}"#)?);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AtomSpec {
    /// Name in reports and messages.
    pub name: String,
    /// w: 0 switches the atom off; with larger values more of Theta is learned as a multiple of S.
    pub weight: f64,
    /// What S is.
    pub relation: AtomKind,
}

impl AtomSpec {
    /// An atom of this name.
    pub fn new(name: impl Into<String>, weight: f64, relation: AtomKind) -> Self {
        AtomSpec { name: name.into(), weight, relation }
    }

    /// The atom for this number of tasks, or what is wrong with it.
    ///
    /// # Errors
    /// [`Error::Atom`] if the weight is negative or not finite, or S has another size, is not symmetric and
    /// positive semidefinite, or zero.
    pub fn build_for(&self, n_tasks: usize) -> Result<Atom> {
        self.check_size(n_tasks)?;
        let fail = |why: String| Error::Atom { name: self.name.clone(), why };
        let shape = Arc::new(Shape::new(&self.relation, n_tasks).map_err(fail)?);
        let mut atom = Atom { weight: self.weight, n_tasks, shape, trace: 0.0 };
        atom.trace = (0..n_tasks).map(|r| atom.diagonal(r)).sum();
        Ok(atom)
    }
}

impl AtomSpec {
    /// [`build_for`](Self::build_for) without the eigenvalues of matrices.
    pub(crate) fn check_size(&self, n_tasks: usize) -> Result<()> {
        let fail = |why: String| Err(Error::Atom { name: self.name.clone(), why });
        if !(self.weight >= 0.0 && self.weight.is_finite()) {
            return fail(format!("its weight is {}, it must be finite and not negative", self.weight));
        }
        match &self.relation {
            AtomKind::Groups { groups } if groups.len() != n_tasks => {
                fail(format!("it has groups for {} tasks, there are {n_tasks}", groups.len()))
            }
            AtomKind::Matrix { rows } => {
                let columns = rows.iter().map(Vec::len).find(|&columns| columns != n_tasks);
                if rows.len() == n_tasks && columns.is_none() {
                    return Ok(());
                }
                let (rows, columns) = (rows.len(), columns.unwrap_or(n_tasks));
                fail(format!("its matrix is {rows} x {columns}, there are {n_tasks} tasks"))
            }
            _ => Ok(()),
        }
    }
}

/// S, normalised, with its weight.
#[derive(Debug, Clone)]
pub struct Atom {
    weight: f64,
    n_tasks: usize,
    shape: Arc<Shape>,
    trace: f64,
}

#[derive(Debug)]
enum Shape {
    /// Every entry has this value.
    Constant(f64),
    /// This value times the identity.
    Diagonal(f64),
    /// Entries of tasks of one group have this value; `members` of each group and the group of each task.
    Blocks {
        value: f64,
        members: Vec<Vec<usize>>,
        of_task: Vec<usize>,
    },
    Dense(Matrix),
}

impl Shape {
    fn new(relation: &AtomKind, n_tasks: usize) -> std::result::Result<Shape, String> {
        let n = n_tasks as f64;
        Ok(match relation {
            AtomKind::Common => Shape::Constant(1.0 / n),
            AtomKind::Own => Shape::Diagonal(1.0 / n.sqrt()),
            AtomKind::Groups { groups } => {
                let mut numbers = groups.clone();
                numbers.sort_unstable();
                numbers.dedup();
                let of_task: Vec<usize> =
                    groups.iter().map(|group| numbers.partition_point(|other| other < group)).collect();
                let mut members = vec![vec![]; numbers.len()];
                of_task.iter().enumerate().for_each(|(task, &group)| members[group].push(task));
                let squares: f64 = members.iter().map(|tasks| (tasks.len() as f64).powi(2)).sum();
                Shape::Blocks { value: 1.0 / squares.sqrt(), members, of_task }
            }
            AtomKind::Matrix { rows } => {
                let m =
                    Matrix::from_vec(rows.concat(), n_tasks, n_tasks).map_err(|error| error.to_string())?;
                let mut m = psd::checked("its matrix", m).map_err(|error| error.to_string())?;
                // In units of the largest entry no square overflows.
                let largest = m.as_slice().iter().fold(0.0f64, |most, x| most.max(x.abs()));
                if largest == 0.0 {
                    return Err("its matrix is zero".into());
                }
                m.as_mut_slice().iter_mut().for_each(|x| *x /= largest);
                let norm = linalg::inner(&m, &m).sqrt();
                m.as_mut_slice().iter_mut().for_each(|x| *x /= norm);
                Shape::Dense(m)
            }
        })
    }
}

impl Atom {
    /// w.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// `<S, m>`.
    pub fn inner(&self, m: &Matrix) -> f64 {
        match &*self.shape {
            Shape::Constant(value) => value * sum(m.as_slice()),
            Shape::Diagonal(value) => value * (0..m.rows()).map(|r| m[(r, r)]).sum::<f64>(),
            Shape::Blocks { value, members, .. } => {
                let block = |tasks: &Vec<usize>| -> f64 {
                    tasks.iter().map(|&r| tasks.iter().map(|&s| m[(r, s)]).sum::<f64>()).sum()
                };
                value * members.iter().map(block).sum::<f64>()
            }
            Shape::Dense(s) => linalg::inner(s, m),
        }
    }

    /// `<S, rho>` for a rho that is positive semidefinite up to rounding: not negative.
    pub fn value(&self, rho: &Matrix) -> f64 {
        self.inner(rho).max(0.0)
    }

    /// Row r of S times a vector.
    #[inline]
    pub fn row_times(&self, r: usize, b: &[f64]) -> f64 {
        match &*self.shape {
            Shape::Constant(value) => value * sum(b),
            Shape::Diagonal(value) => value * b[r],
            Shape::Blocks { value, members, of_task } => {
                value * members[of_task[r]].iter().map(|&s| b[s]).sum::<f64>()
            }
            Shape::Dense(m) => dot(m.row(r), b),
        }
    }

    /// S_rr.
    #[inline]
    pub fn diagonal(&self, r: usize) -> f64 {
        match &*self.shape {
            Shape::Constant(value) | Shape::Diagonal(value) | Shape::Blocks { value, .. } => *value,
            Shape::Dense(m) => m[(r, r)],
        }
    }

    /// The trace of S.
    pub fn trace(&self) -> f64 {
        self.trace
    }

    /// Adds `a S` to m.
    pub fn add_to(&self, a: f64, m: &mut Matrix) {
        match &*self.shape {
            Shape::Constant(value) => m.as_mut_slice().iter_mut().for_each(|x| *x += a * value),
            Shape::Diagonal(value) => (0..m.rows()).for_each(|r| m[(r, r)] += a * value),
            Shape::Blocks { value, members, .. } => {
                for tasks in members {
                    for &r in tasks {
                        tasks.iter().for_each(|&s| m[(r, s)] += a * value);
                    }
                }
            }
            Shape::Dense(s) => linalg::axpy(m.as_mut_slice(), a, s.as_slice()),
        }
    }

    /// S.
    pub fn matrix(&self) -> Matrix {
        let mut m = Matrix::zeros(self.n_tasks, self.n_tasks);
        self.add_to(1.0, &mut m);
        m
    }
}

/// The sum of all numbers.
#[inline(always)]
fn sum(values: &[f64]) -> f64 {
    linalg::sum_pairs(values, values, |x, _| x)
}

/// An atom along a coordinate of the dual, as the regulariser sees it, in the units of
/// [`RowStep`](super::RowStep): `w phi(z + 2 b step + a s step^2) / 2`.
#[derive(Debug, Clone, Copy)]
pub struct AtomStep {
    /// w.
    pub weight: f64,
    /// z, the value of `<S, rho>` now.
    pub z: f64,
    /// Row r of S times the scores.
    pub b: f64,
    /// S_rr.
    pub s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> Vec<AtomKind> {
        let rows = vec![vec![2.0, 1.0, 0.0], vec![1.0, 2.0, -0.5], vec![0.0, -0.5, 1.0]];
        vec![
            AtomKind::Common,
            AtomKind::Own,
            AtomKind::Groups { groups: vec![7, 2, 7] },
            AtomKind::Matrix { rows },
        ]
    }

    #[test]
    fn every_way_to_use_s_is_that_of_its_matrix() {
        let m = Matrix::from_vec((0..9).map(|i| f64::from(i * i) - 7.0).collect(), 3, 3).unwrap();
        let b = [0.3, -2.0, 5.0];
        for kind in kinds() {
            let atom = AtomSpec::new("x", 2.0, kind.clone()).build_for(3).unwrap();
            let s = atom.matrix();
            assert!((linalg::inner(&s, &s) - 1.0).abs() < 1e-14, "{kind:?}");
            assert!((atom.inner(&m) - linalg::inner(&s, &m)).abs() < 1e-13, "{kind:?}");
            assert!((atom.trace() - (0..3).map(|r| s[(r, r)]).sum::<f64>()).abs() < 1e-14, "{kind:?}");
            for r in 0..3 {
                assert!((atom.row_times(r, &b) - dot(s.row(r), &b)).abs() < 1e-14, "{kind:?}");
                assert_eq!(atom.diagonal(r), s[(r, r)], "{kind:?}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |weight: f64, kind: AtomKind| {
            AtomSpec::new("region", weight, kind).build_for(2).unwrap_err().to_string()
        };
        assert_eq!(
            message(-1.0, AtomKind::Own),
            "atom \"region\": its weight is -1, it must be finite and not negative"
        );
        assert!(message(f64::NAN, AtomKind::Own).contains("NaN"));
        assert!(
            message(1.0, AtomKind::Groups { groups: vec![1] }).contains("groups for 1 tasks, there are 2")
        );
        let matrix =
            |rows: &[&[f64]]| AtomKind::Matrix { rows: rows.iter().map(|row| row.to_vec()).collect() };
        assert!(message(1.0, matrix(&[&[0.0, 0.0], &[0.0, 0.0]])).contains("its matrix is zero"));
        assert!(message(1.0, matrix(&[&[1.0, 2.0], &[2.0, 1.0]])).contains("entry (1, 0) is 2, too large"));
        assert!(message(1.0, matrix(&[&[1.0, 2.0]])).contains("1 x 2, there are 2 tasks"));
    }
}
