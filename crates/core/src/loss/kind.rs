//! Losses by name: the one place where a name becomes a type.

use super::{
    Absolute, Epsilon, Hinge, Huber, Logistic, Loss, Quantile, SmoothedHinge, Squared, SquaredEpsilon,
    SquaredHinge,
};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A loss as written in settings, files and on the command line.
///
/// | Text | Labels | Parameter | If left out |
/// |---|---|---|---|
/// | `squared` | real | | |
/// | `hinge` | -1, +1 | | |
/// | `squared_hinge` | -1, +1 | | |
/// | `smoothed_hinge:0.5` | -1, +1 | gamma > 0, width of the rounded corner | 0.5 |
/// | `logistic` | -1, +1 | | |
/// | `epsilon:0.1` | real | epsilon >= 0, half-width of the tube of free errors | 0.1 |
/// | `squared_epsilon:0.1` | real | epsilon >= 0, the same | 0.1 |
/// | `huber:1` | real | delta > 0, where the loss turns linear | 1 |
/// | `absolute` | real | | |
/// | `quantile:0.5` | real | 0 < q < 1, the quantile | 0.5 |
///
/// Epsilon and delta are in the unit of the labels; their defaults suit labels of unit variance.
///
/// ```
/// use kinfolk::loss::LossKind;
/// let kind: LossKind = "huber:0.5".parse()?;
/// assert_eq!(kind, LossKind::Huber { delta: 0.5 });
/// assert_eq!(kind.build()?.value(0.0, 1.25), 0.5);
/// assert!("huber:-1".parse::<LossKind>().is_err());
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum LossKind {
    /// See [`Squared`].
    Squared,
    /// See [`Hinge`].
    Hinge,
    /// See [`SquaredHinge`].
    SquaredHinge,
    /// See [`SmoothedHinge`].
    SmoothedHinge {
        /// Width of the rounded corner.
        gamma: f64,
    },
    /// See [`Logistic`].
    Logistic,
    /// See [`Epsilon`].
    Epsilon {
        /// Half-width of the tube of free errors.
        epsilon: f64,
    },
    /// See [`SquaredEpsilon`].
    SquaredEpsilon {
        /// Half-width of the tube of free errors.
        epsilon: f64,
    },
    /// See [`Huber`].
    Huber {
        /// Size of the residual where the loss turns linear.
        delta: f64,
    },
    /// See [`Absolute`].
    Absolute,
    /// See [`Quantile`].
    Quantile {
        /// The quantile aimed at.
        q: f64,
    },
}

impl LossKind {
    /// The loss itself. `Err` if its parameter is out of range.
    pub fn build(&self) -> Result<Box<dyn Loss>> {
        Ok(match *self {
            LossKind::Squared => Box::new(Squared),
            LossKind::Hinge => Box::new(Hinge),
            LossKind::SquaredHinge => Box::new(SquaredHinge),
            LossKind::SmoothedHinge { gamma } => Box::new(SmoothedHinge::new(gamma)?),
            LossKind::Logistic => Box::new(Logistic),
            LossKind::Epsilon { epsilon } => Box::new(Epsilon::new(epsilon)?),
            LossKind::SquaredEpsilon { epsilon } => Box::new(SquaredEpsilon::new(epsilon)?),
            LossKind::Huber { delta } => Box::new(Huber::new(delta)?),
            LossKind::Absolute => Box::new(Absolute),
            LossKind::Quantile { q } => Box::new(Quantile::new(q)?),
        })
    }

    /// One of each, for tests and documentation. The quantile is not the median, where a wrong sign would not
    /// show.
    pub fn all_examples() -> Vec<LossKind> {
        vec![
            LossKind::Squared,
            LossKind::Hinge,
            LossKind::SquaredHinge,
            LossKind::SmoothedHinge { gamma: 0.5 },
            LossKind::Logistic,
            LossKind::Epsilon { epsilon: 0.1 },
            LossKind::SquaredEpsilon { epsilon: 0.1 },
            LossKind::Huber { delta: 1.0 },
            LossKind::Absolute,
            LossKind::Quantile { q: 0.3 },
        ]
    }

    /// Whether labels are -1 and +1.
    pub fn is_classification(&self) -> bool {
        use LossKind::{Hinge, Logistic, SmoothedHinge, SquaredHinge};
        matches!(self, Hinge | SquaredHinge | SmoothedHinge { .. } | Logistic)
    }

    /// Name, and parameter if there is one.
    fn parts(&self) -> (&'static str, Option<f64>) {
        match *self {
            LossKind::Squared => ("squared", None),
            LossKind::Hinge => ("hinge", None),
            LossKind::SquaredHinge => ("squared_hinge", None),
            LossKind::SmoothedHinge { gamma } => ("smoothed_hinge", Some(gamma)),
            LossKind::Logistic => ("logistic", None),
            LossKind::Epsilon { epsilon } => ("epsilon", Some(epsilon)),
            LossKind::SquaredEpsilon { epsilon } => ("squared_epsilon", Some(epsilon)),
            LossKind::Huber { delta } => ("huber", Some(delta)),
            LossKind::Absolute => ("absolute", None),
            LossKind::Quantile { q } => ("quantile", Some(q)),
        }
    }
}

/// `name` or `name:parameter`, such that parsing gives the same loss back.
impl fmt::Display for LossKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            (name, None) => f.write_str(name),
            (name, Some(parameter)) => write!(f, "{name}:{parameter}"),
        }
    }
}

/// Reads `name` or `name:parameter`; the parameter is checked.
impl FromStr for LossKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = |why: String| Error::Parse { what: "loss", text: text.to_owned(), why };
        let (name, given) = match text.split_once(':') {
            None => (text, None),
            Some((name, number)) => match number.parse::<f64>() {
                Ok(value) => (name, Some(value)),
                Err(_) => return Err(fail(format!("{number:?} is not a number"))),
            },
        };
        let or = |default: f64| given.unwrap_or(default);
        let kind = match name {
            "squared" => LossKind::Squared,
            "hinge" => LossKind::Hinge,
            "squared_hinge" => LossKind::SquaredHinge,
            "smoothed_hinge" => LossKind::SmoothedHinge { gamma: or(0.5) },
            "logistic" => LossKind::Logistic,
            "epsilon" => LossKind::Epsilon { epsilon: or(0.1) },
            "squared_epsilon" => LossKind::SquaredEpsilon { epsilon: or(0.1) },
            "huber" => LossKind::Huber { delta: or(1.0) },
            "absolute" => LossKind::Absolute,
            "quantile" => LossKind::Quantile { q: or(0.5) },
            _ => {
                let known: Vec<_> = LossKind::all_examples().iter().map(|kind| kind.parts().0).collect();
                return Err(fail(format!("the losses are {}", known.join(", "))));
            }
        };
        if given.is_some() && kind.parts().1.is_none() {
            return Err(fail(format!("{name} takes no parameter")));
        }
        kind.build()?;
        Ok(kind)
    }
}
