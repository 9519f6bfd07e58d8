//! Regularisers by name: the one place where a name becomes a type.

use super::{
    AtomSpec, Clusters, Cosh, Entrywise, Exp, Fixed, Frobenius, Power, Regularizer, Relationship, Series,
    SpectralRegularizer, SumRegularizer, Trace,
};
use crate::{Error, Matrix, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A regulariser as written in settings, files and on the command line; [`DESCRIPTIONS`](Self::DESCRIPTIONS)
/// lists them.
///
/// In text it is a name, or a name, a colon and numbers: commas between numbers, semicolons between rows.
///
/// ```
/// use kinfolk::regularizer::RegularizerKind;
/// let kind: RegularizerKind = "power:2".parse()?;
/// assert_eq!(kind, RegularizerKind::Power { k: 2 });
/// assert_eq!(kind, serde_json::from_str(r#"{"kind": "power", "k": 2}"#).unwrap());
/// let series: RegularizerKind = "series:0,0.5,0,0.25".parse()?;
/// assert_eq!(series.to_string(), "series:0,0.5,0,0.25");
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum RegularizerKind {
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
        /// The group of each task, numbered from 0: what tasks share they share within their group. All are
        /// one if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        groups: Option<Vec<u32>>,
    },
    /// [`Clusters`]: tasks in clusters, relaxed.
    Clusters {
        /// How many.
        clusters: u32,
        /// Weight of the mean of all tasks.
        mean: f64,
        /// Weight of the spread of cluster means.
        between: f64,
        /// Weight of the spread within clusters.
        within: f64,
    },
}

impl RegularizerKind {
    /// Every regulariser: its name, its parameters in text, and what it means. Sums over entries come first.
    pub const DESCRIPTIONS: [RegularizerDescription; 9] = [
        describe(
            "power",
            "k",
            "sum of |Theta|^p / 2, p = 2k / (2k - 1); larger k is sparser (k = 1 if left out)",
        ),
        describe(
            "exp",
            "[prior]",
            "Kullback-Leibler divergence to a prior of positive entries, all ones if left out",
        ),
        describe("cosh", "", "Theta = sinh(rho): between power:1 and exp"),
        describe("series", "a1,a2,...", "phi(z) = a1 z + a2 z^2 + ..., convex, no coefficient negative"),
        describe("fixed", "theta", "a given task matrix, one row per task"),
        describe("frobenius", "prior", "|Theta - prior|^2 / 2, one row per task"),
        describe("trace", "nu", "nu times the trace of Theta: weights of low rank (nu = 1 if left out)"),
        describe(
            "relationship",
            "l1,l2[;groups]",
            "Theta of trace one, beside independent tasks of weight l1",
        ),
        describe(
            "clusters",
            "clusters,mean,between,within",
            "tasks in clusters, relaxed to a convex problem",
        ),
    ];

    /// Names of those that are sums over the entries of Theta.
    pub const ENTRYWISE: [&'static str; 6] = first_names(&Self::DESCRIPTIONS);

    /// Independent tasks: Theta is the identity.
    pub fn independent(n_tasks: usize) -> RegularizerKind {
        RegularizerKind::shared_mean(n_tasks, 0.0)
    }

    /// Classic multi-task learning: every pair of tasks correlates by `share`, from 0 (independent) to 1 (one
    /// model for all).
    pub fn shared_mean(n_tasks: usize, share: f64) -> RegularizerKind {
        let row = |r: usize| (0..n_tasks).map(|s| if r == s { 1.0 } else { share }).collect();
        RegularizerKind::Fixed { theta: (0..n_tasks).map(row).collect() }
    }

    /// The regulariser for this number of tasks, or what is wrong with its parameters.
    pub fn build_for(&self, n_tasks: usize) -> Result<Regularizer> {
        let regularizer = self.of_tasks(n_tasks)?;
        regularizer.check_tasks(n_tasks)?;
        Ok(regularizer)
    }

    /// The same with atoms.
    ///
    /// # Errors
    /// As [`build_for`](Self::build_for), and if an atom is not valid or the regulariser takes none.
    pub fn build_with_atoms(&self, atoms: &[AtomSpec], n_tasks: usize) -> Result<Regularizer> {
        match self.build_for(n_tasks)? {
            Regularizer::Entrywise(regularizer) => {
                regularizer.with_atoms(atoms, n_tasks).map(Regularizer::Entrywise)
            }
            spectral => match atoms.iter().find(|atom| atom.weight != 0.0) {
                Some(atom) => {
                    let why = format!("the {} regulariser of Theta is no sum over its entries", self.name());
                    Err(Error::Atom { name: atom.name.clone(), why })
                }
                None => Ok(spectral),
            },
        }
    }

    /// The regulariser for as many tasks as its matrix has, or for one, or what is wrong with its parameters.
    pub fn build(&self) -> Result<Regularizer> {
        self.of_tasks(1)
    }

    fn of_tasks(&self, n_tasks: usize) -> Result<Regularizer> {
        let all = || vec![(0..n_tasks).collect()];
        Ok(match self {
            RegularizerKind::Power { k } => entrywise(Power::new(*k)?),
            RegularizerKind::Exp { prior: None } => entrywise(Exp::new()),
            RegularizerKind::Exp { prior: Some(prior) } => {
                entrywise(Exp::with_prior(matrix("row of exp prior", prior)?)?)
            }
            RegularizerKind::Cosh => entrywise(Cosh::new()),
            RegularizerKind::Series { coefficients } => entrywise(Series::new(coefficients.clone())?),
            RegularizerKind::Fixed { theta } => entrywise(Fixed::new(matrix("row of theta", theta)?)?),
            RegularizerKind::Frobenius { prior } => {
                entrywise(Frobenius::new(matrix("row of frobenius prior", prior)?)?)
            }
            RegularizerKind::Trace { nu } => {
                Regularizer::Spectral(SpectralRegularizer::new(Trace::new(*nu)?, all()))
            }
            RegularizerKind::Relationship { l1, l2, groups } => {
                let groups = groups.as_ref().map_or_else(all, |groups| members(groups));
                Regularizer::Spectral(SpectralRegularizer::new(Relationship::new(*l1, *l2)?, groups))
            }
            RegularizerKind::Clusters { clusters, mean, between, within } => {
                let clusters = Clusters::new(*clusters, *mean, *between, *within)?;
                Regularizer::Spectral(SpectralRegularizer::new(clusters, all()))
            }
        })
    }

    /// Whether it is a sum over the entries of Theta; else it is a function of its eigenvalues.
    pub fn is_entrywise(&self) -> bool {
        Self::ENTRYWISE.contains(&self.name())
    }

    /// The name in files: `power`, `exp`, `cosh`, `series`, `fixed`, `frobenius`, `trace`, `relationship` or
    /// `clusters`.
    pub fn name(&self) -> &'static str {
        match self {
            RegularizerKind::Power { .. } => "power",
            RegularizerKind::Exp { .. } => "exp",
            RegularizerKind::Cosh => "cosh",
            RegularizerKind::Series { .. } => "series",
            RegularizerKind::Fixed { .. } => "fixed",
            RegularizerKind::Frobenius { .. } => "frobenius",
            RegularizerKind::Trace { .. } => "trace",
            RegularizerKind::Relationship { .. } => "relationship",
            RegularizerKind::Clusters { .. } => "clusters",
        }
    }

    /// At least one of each function of eigenvalues: what tests walk through.
    pub fn spectral_examples() -> Vec<RegularizerKind> {
        vec![
            RegularizerKind::Trace { nu: 0.3 },
            RegularizerKind::Relationship { l1: 0.0, l2: 0.4, groups: None },
            RegularizerKind::Relationship { l1: 0.3, l2: 0.4, groups: None },
            RegularizerKind::Clusters { clusters: 1, mean: 0.2, between: 0.5, within: 2.0 },
        ]
    }

    /// At least one of each sum over entries, valid for this number of tasks: what tests walk through.
    pub fn entrywise_examples(n_tasks: usize) -> Vec<RegularizerKind> {
        // Correlation falling with the distance between tasks: positive definite for |correlation| < 1.
        let falling = |size: f64, correlation: f64| -> Vec<Vec<f64>> {
            let entry = |r: usize, s: usize| size * correlation.powi(r.abs_diff(s) as i32);
            (0..n_tasks).map(|r| (0..n_tasks).map(|s| entry(r, s)).collect()).collect()
        };
        let mut all: Vec<RegularizerKind> = (1..=4).map(|k| RegularizerKind::Power { k }).collect();
        all.extend([
            RegularizerKind::Exp { prior: None },
            RegularizerKind::Exp { prior: Some(falling(2.0, 0.5)) },
            RegularizerKind::Cosh,
            RegularizerKind::Series { coefficients: vec![0.1, 0.5, 0.0, 0.25] },
            RegularizerKind::Fixed { theta: falling(1.5, -0.6) },
            RegularizerKind::Frobenius { prior: falling(0.8, -0.3) },
        ]);
        all
    }
}

/// A regulariser that users can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegularizerDescription {
    /// Name in text and files.
    pub name: &'static str,
    /// Parameters after the colon; empty if there are none, in brackets where they may be left out.
    pub parameters: &'static str,
    /// What it is.
    pub meaning: &'static str,
}

const fn describe(
    name: &'static str,
    parameters: &'static str,
    meaning: &'static str,
) -> RegularizerDescription {
    RegularizerDescription { name, parameters, meaning }
}

const fn first_names<const N: usize>(all: &[RegularizerDescription]) -> [&'static str; N] {
    let (mut names, mut i) = ([""; N], 0);
    while i < N {
        names[i] = all[i].name;
        i += 1;
    }
    names
}

fn entrywise(regularizer: impl Entrywise + 'static) -> Regularizer {
    Regularizer::Entrywise(SumRegularizer::new(regularizer))
}

impl RegularizerKind {
    /// The numbers after the colon, in rows.
    fn rows(&self) -> Vec<Vec<f64>> {
        match self {
            RegularizerKind::Power { k } => vec![vec![f64::from(*k)]],
            RegularizerKind::Exp { prior } => prior.clone().unwrap_or_default(),
            RegularizerKind::Cosh => vec![],
            RegularizerKind::Series { coefficients } => vec![coefficients.clone()],
            RegularizerKind::Fixed { theta } => theta.clone(),
            RegularizerKind::Frobenius { prior } => prior.clone(),
            RegularizerKind::Trace { nu } => vec![vec![*nu]],
            RegularizerKind::Relationship { l1, l2, groups } => {
                let groups = groups.iter().map(|groups| groups.iter().map(|&g| f64::from(g)).collect());
                std::iter::once(vec![*l1, *l2]).chain(groups).collect()
            }
            RegularizerKind::Clusters { clusters, mean, between, within } => {
                vec![vec![f64::from(*clusters), *mean, *between, *within]]
            }
        }
    }

    /// Name and rows of numbers as a regulariser, or what was expected instead of these numbers.
    fn from_rows(name: &str, rows: Vec<Vec<f64>>) -> std::result::Result<Self, String> {
        let first = rows.first().map_or(&[][..], |row| row);
        Ok(match (name, first, rows.len()) {
            ("power", [], 0) => RegularizerKind::Power { k: 1 },
            ("power", [k], 1) => RegularizerKind::Power { k: whole(*k)? },
            ("exp", [], 0) => RegularizerKind::Exp { prior: None },
            ("exp", ..) => RegularizerKind::Exp { prior: Some(rows) },
            ("cosh", [], 0) => RegularizerKind::Cosh,
            ("series", [_, ..], 1) => RegularizerKind::Series { coefficients: first.to_vec() },
            ("fixed", [_, ..], _) => RegularizerKind::Fixed { theta: rows },
            ("frobenius", [_, ..], _) => RegularizerKind::Frobenius { prior: rows },
            ("trace", [], 0) => RegularizerKind::Trace { nu: 1.0 },
            ("trace", [nu], 1) => RegularizerKind::Trace { nu: *nu },
            ("relationship", &[l1, l2], 1) => RegularizerKind::Relationship { l1, l2, groups: None },
            ("relationship", &[l1, l2], 2) => {
                let groups =
                    rows[1].iter().map(|&group| whole(group)).collect::<std::result::Result<_, _>>()?;
                RegularizerKind::Relationship { l1, l2, groups: Some(groups) }
            }
            ("clusters", &[clusters, mean, between, within], 1) => {
                RegularizerKind::Clusters { clusters: whole(clusters)?, mean, between, within }
            }
            _ => {
                let known = RegularizerKind::DESCRIPTIONS;
                return Err(match known.iter().find(|known| known.name == name) {
                    Some(known) if known.parameters.is_empty() => format!("{name} takes no parameter"),
                    Some(known) => format!("expected {name}:{}", known.parameters),
                    None => format!("the regularisers are {}", known.map(|known| known.name).join(", ")),
                });
            }
        })
    }
}

fn whole(number: f64) -> std::result::Result<u32, String> {
    let whole = number as u32;
    if f64::from(whole) == number { Ok(whole) } else { Err(format!("{number} is not a whole number")) }
}

/// `name` or `name:numbers`, such that parsing gives the same regulariser back.
impl fmt::Display for RegularizerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
        let rows: Vec<String> = self.rows().iter().map(row).collect();
        match rows.is_empty() {
            true => f.write_str(self.name()),
            false => write!(f, "{}:{}", self.name(), rows.join(";")),
        }
    }
}

/// Reads `name` or `name:numbers`; the numbers are checked.
impl FromStr for RegularizerKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = |why: String| Error::Parse { what: "regulariser", text: text.to_owned(), why };
        let (name, numbers) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
        let number =
            |word: &str| word.trim().parse::<f64>().map_err(|_| fail(format!("{word:?} is not a number")));
        let row = |row: &str| row.split(',').map(number).collect::<Result<Vec<f64>>>();
        let rows =
            numbers.map_or(Ok(vec![]), |numbers| numbers.split(';').map(row).collect::<Result<_>>())?;
        let kind = RegularizerKind::from_rows(name, rows).map_err(fail)?;
        kind.build()?;
        Ok(kind)
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
        for kind in [RegularizerKind::entrywise_examples(3), RegularizerKind::spectral_examples()].concat() {
            let text = serde_json::to_string(&kind).unwrap();
            assert!(text.contains(kind.name()), "{text}");
            assert_eq!(serde_json::from_str::<RegularizerKind>(&text).unwrap(), kind);
            assert_eq!(kind.build().unwrap().name(), kind.name());
            assert_eq!(kind.build().unwrap().entrywise().is_some(), kind.is_entrywise());
            assert_eq!(kind.to_string().parse::<RegularizerKind>().unwrap(), kind);
        }
    }

    #[test]
    fn text_is_read_strictly() {
        let read = |text: &str| text.parse::<RegularizerKind>();
        assert_eq!(read("power").unwrap(), RegularizerKind::Power { k: 1 });
        assert_eq!(read("fixed:1,0.5;0.5,1").unwrap(), RegularizerKind::shared_mean(2, 0.5));
        assert_eq!(read("relationship:0,1;0,0,1").unwrap().to_string(), "relationship:0,1;0,0,1");
        for (wrong, why) in [
            ("sinh", "power, exp, cosh, series"),
            ("power:1.5", "1.5 is not a whole number"),
            ("power:0", "from 1 to 1000"),
            ("power:1,2", "expected power:k"),
            ("cosh:1", "cosh takes no parameter"),
            ("series", "expected series:a1,a2,..."),
            ("series:1,x", "\"x\" is not a number"),
            ("fixed:1,0", "row of theta"),
            ("clusters:2", "expected clusters:clusters,mean,between,within"),
        ] {
            let message = read(wrong).unwrap_err().to_string();
            assert!(message.contains(why), "{wrong}: {message}");
        }
    }

    #[test]
    fn every_kind_is_described_once() {
        let examples =
            [RegularizerKind::entrywise_examples(2), RegularizerKind::spectral_examples()].concat();
        for RegularizerDescription { name, .. } in RegularizerKind::DESCRIPTIONS {
            assert_eq!(RegularizerKind::DESCRIPTIONS.iter().filter(|other| other.name == name).count(), 1);
            assert!(examples.iter().any(|kind| kind.name() == name), "{name}");
        }
        for kind in examples {
            assert!(RegularizerKind::DESCRIPTIONS.iter().any(|known| known.name == kind.name()), "{kind}");
        }
    }

    #[test]
    fn json_is_read_strictly() {
        let read = |text: &str| serde_json::from_str::<RegularizerKind>(text);
        assert_eq!(read(r#"{"kind": "exp"}"#).unwrap(), RegularizerKind::Exp { prior: None });
        assert_eq!(read(r#"{"kind": "cosh"}"#).unwrap(), RegularizerKind::Cosh);
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
