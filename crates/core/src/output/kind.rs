//! The names of all output regularisers: what settings, files and other languages say.

use super::{
    Clusters, Cosh, Exp, Fixed, Frobenius, OutputRegularizer, Penalised, Power, Relationship, Series, Trace,
};
use crate::{Error, Matrix, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// An output regulariser by name and parameters, unchecked until [`build`](Self::build).
///
/// ```
/// use kinfolk::output::OutputKind;
/// let kind: OutputKind = serde_json::from_str(r#"{"kind": "power", "k": 2}"#).unwrap();
/// assert_eq!(kind, OutputKind::Power { k: 2 });
/// assert_eq!(kind.build()?.dphi((0, 1), 1.0), 1.5_f64.powi(3));
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum OutputKind {
    /// [`Power`]: V = sum |Theta|^p / 2 with p = 2k / (2k - 1).
    Power {
        /// From 1 (squared Frobenius norm); larger is sparser.
        k: u32,
    },
    /// [`Exp`]: generalised Kullback-Leibler divergence to the prior.
    Exp {
        /// One row per task, all entries positive; all ones if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prior: Option<Vec<Vec<f64>>>,
    },
    /// [`Cosh`]: Theta = sinh(rho).
    Cosh,
    /// [`Series`]: a convex polynomial phi.
    Series {
        /// Of z, z^2, ...; none negative.
        coefficients: Vec<f64>,
    },
    /// [`Fixed`]: a given task matrix.
    Fixed {
        /// One row per task.
        theta: Vec<Vec<f64>>,
    },
    /// [`Frobenius`]: V = |Theta - prior|^2 / 2.
    Frobenius {
        /// One row per task.
        prior: Vec<Vec<f64>>,
    },
    /// [`Trace`]: the trace of Theta, and so the trace norm of the weights.
    Trace {
        /// Its weight.
        nu: f64,
    },
    /// [`Relationship`]: a share of one for each direction of the tasks.
    Relationship {
        /// Weight of each task on its own.
        l1: f64,
        /// Weight of what they share.
        l2: f64,
        /// The group of each task, numbered from 0: what tasks share they share within their group. All are one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        groups: Option<Vec<u32>>,
    },
    /// [`Clusters`]: tasks in clusters, relaxed.
    Clusters {
        /// How many.
        clusters: u32,
        /// What the mean of all tasks costs.
        mean: f64,
        /// What the spread of cluster means costs.
        between: f64,
        /// What the spread within clusters costs.
        within: f64,
    },
}

impl OutputKind {
    /// Independent tasks: Theta is the identity.
    pub fn independent(n_tasks: usize) -> OutputKind {
        OutputKind::shared_mean(n_tasks, 0.0)
    }

    /// Classic multi-task learning: every pair of tasks correlates by `share`, from 0 (independent) to 1 (one model for all).
    pub fn shared_mean(n_tasks: usize, share: f64) -> OutputKind {
        let row = |r: usize| (0..n_tasks).map(|s| if r == s { 1.0 } else { share }).collect();
        OutputKind::Fixed { theta: (0..n_tasks).map(row).collect() }
    }

    /// The regulariser for this number of tasks, or what is wrong with its parameters.
    pub fn build_for(&self, n_tasks: usize) -> Result<Box<dyn OutputRegularizer>> {
        let output = self.of_tasks(n_tasks)?;
        output.check_tasks(n_tasks)?;
        Ok(output)
    }

    /// The regulariser, or what is wrong with its parameters; the number of tasks matters for penalties only.
    pub fn build(&self) -> Result<Box<dyn OutputRegularizer>> {
        self.of_tasks(1)
    }

    fn of_tasks(&self, n_tasks: usize) -> Result<Box<dyn OutputRegularizer>> {
        Ok(match self {
            OutputKind::Power { k } => Box::new(Power::new(*k)?),
            OutputKind::Exp { prior: None } => Box::new(Exp::new()),
            OutputKind::Exp { prior: Some(prior) } => {
                Box::new(Exp::with_prior(matrix("row of exp prior", prior)?)?)
            }
            OutputKind::Cosh => Box::new(Cosh::new()),
            OutputKind::Series { coefficients } => Box::new(Series::new(coefficients.clone())?),
            OutputKind::Fixed { theta } => Box::new(Fixed::new(matrix("row of theta", theta)?)?),
            OutputKind::Frobenius { prior } => {
                Box::new(Frobenius::new(matrix("row of frobenius prior", prior)?)?)
            }
            OutputKind::Trace { nu } => Box::new(Penalised::new(Trace::new(*nu)?, n_tasks)),
            OutputKind::Relationship { l1, l2, groups: None } => {
                Box::new(Penalised::new(Relationship::new(*l1, *l2)?, n_tasks))
            }
            OutputKind::Relationship { l1, l2, groups: Some(groups) } => {
                Box::new(Penalised::of_groups(Relationship::new(*l1, *l2)?, members(groups)))
            }
            OutputKind::Clusters { clusters, mean, between, within } => {
                Box::new(Penalised::new(Clusters::new(*clusters, *mean, *between, *within)?, n_tasks))
            }
        })
    }

    /// Whether it is a sum over the entries of Theta; else it is a [`Penalty`](super::Penalty).
    pub fn is_separable(&self) -> bool {
        !matches!(
            self,
            OutputKind::Trace { .. } | OutputKind::Relationship { .. } | OutputKind::Clusters { .. }
        )
    }

    /// The name in files: `power`, `exp`, `cosh`, `series`, `fixed`, `frobenius`, `trace`, `relationship` or `clusters`.
    pub fn name(&self) -> &'static str {
        match self {
            OutputKind::Power { .. } => "power",
            OutputKind::Exp { .. } => "exp",
            OutputKind::Cosh => "cosh",
            OutputKind::Series { .. } => "series",
            OutputKind::Fixed { .. } => "fixed",
            OutputKind::Frobenius { .. } => "frobenius",
            OutputKind::Trace { .. } => "trace",
            OutputKind::Relationship { .. } => "relationship",
            OutputKind::Clusters { .. } => "clusters",
        }
    }

    /// At least one of each kind of penalty: what tests walk through.
    pub fn penalty_examples() -> Vec<OutputKind> {
        vec![
            OutputKind::Trace { nu: 0.3 },
            OutputKind::Relationship { l1: 0.0, l2: 0.4, groups: None },
            OutputKind::Relationship { l1: 0.3, l2: 0.4, groups: None },
            OutputKind::Clusters { clusters: 1, mean: 0.2, between: 0.5, within: 2.0 },
        ]
    }

    /// At least one of each separable kind, valid for this number of tasks: what tests walk through.
    pub fn all_examples(n_tasks: usize) -> Vec<OutputKind> {
        // Correlation falling with the distance between tasks: positive definite for |correlation| < 1.
        let falling = |size: f64, correlation: f64| -> Vec<Vec<f64>> {
            let entry = |r: usize, s: usize| size * correlation.powi(r.abs_diff(s) as i32);
            (0..n_tasks).map(|r| (0..n_tasks).map(|s| entry(r, s)).collect()).collect()
        };
        let mut all: Vec<OutputKind> = (1..=4).map(|k| OutputKind::Power { k }).collect();
        all.extend([
            OutputKind::Exp { prior: None },
            OutputKind::Exp { prior: Some(falling(2.0, 0.5)) },
            OutputKind::Cosh,
            OutputKind::Series { coefficients: vec![0.1, 0.5, 0.0, 0.25] },
            OutputKind::Fixed { theta: falling(1.5, -0.6) },
            OutputKind::Frobenius { prior: falling(0.8, -0.3) },
        ]);
        all
    }
}

/// The name, and the parameters where they are short: `power(k=2)`, `exp(prior)`, `cosh`.
impl fmt::Display for OutputKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputKind::Power { k } => write!(f, "power(k={k})"),
            OutputKind::Exp { prior: Some(_) } => write!(f, "exp(prior)"),
            OutputKind::Series { coefficients } => write!(f, "series{coefficients:?}"),
            OutputKind::Trace { nu } => write!(f, "trace(nu={nu})"),
            OutputKind::Relationship { l1, l2, groups: None } => write!(f, "relationship(l1={l1}, l2={l2})"),
            OutputKind::Relationship { l1, l2, groups: Some(groups) } => {
                write!(f, "relationship(l1={l1}, l2={l2}, {} groups)", members(groups).len())
            }
            OutputKind::Clusters { clusters, mean, between, within } => {
                write!(f, "clusters({clusters}, mean={mean}, between={between}, within={within})")
            }
            _ => f.write_str(self.name()),
        }
    }
}

/// Tasks of each group that has any.
fn members(groups: &[u32]) -> Vec<Vec<usize>> {
    let mut numbers = groups.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let of = |group: &u32| (0..groups.len()).filter(|&t| groups[t] == *group).collect();
    numbers.iter().map(of).collect()
}

/// A square matrix from its rows; `what` names a row of the wrong length.
fn matrix(what: &'static str, rows: &[Vec<f64>]) -> Result<Matrix> {
    let n = rows.len();
    if let Some(row) = rows.iter().find(|row| row.len() != n) {
        return Err(Error::Length { what, got: row.len(), expected: n });
    }
    Matrix::from_vec(rows.concat(), n, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_of_every_example() {
        for kind in [OutputKind::all_examples(3), OutputKind::penalty_examples()].concat() {
            let text = serde_json::to_string(&kind).unwrap();
            assert!(text.contains(kind.name()), "{text}");
            assert_eq!(serde_json::from_str::<OutputKind>(&text).unwrap(), kind);
            assert_eq!(kind.build().unwrap().name(), kind.name());
        }
    }

    #[test]
    fn names_are_short_and_plain() {
        let names: Vec<String> =
            OutputKind::all_examples(2).iter().skip(3).map(ToString::to_string).collect();
        let expected =
            ["power(k=4)", "exp", "exp(prior)", "cosh", "series[0.1, 0.5, 0.0, 0.25]", "fixed", "frobenius"];
        assert_eq!(names, expected);
    }

    #[test]
    fn json_is_read_strictly() {
        let read = |text: &str| serde_json::from_str::<OutputKind>(text);
        assert_eq!(read(r#"{"kind": "exp"}"#).unwrap(), OutputKind::Exp { prior: None });
        assert_eq!(read(r#"{"kind": "cosh"}"#).unwrap(), OutputKind::Cosh);
        for wrong in [
            r#"{"kind": "sinh"}"#,
            r#"{"kind": "power"}"#,
            r#"{"kind": "exp", "piror": [[1]]}"#,
            r#"{"k": 2}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
