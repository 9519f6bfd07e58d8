//! Intercepts: a number b_t for each task, added to its predictions and not part of Theta.
//!
//! ```text
//! F(x, t) = <w_t, x> + b_t
//! free    the objective does not contain b; the duals of each task add up to zero (but see `cost.rs`)
//! ridge   the objective has sum_t b_t^2 / (2 B^2); the dual value has -B^2 / 2 sum_t s_t^2, s_t = sum of duals
//! shrunk  the objective has C K sum_t b_t^2 / 2, as if each task had K more rows where the prediction should be zero
//! none    b = 0, as in the paper
//! ```

pub(crate) mod balance;
pub(crate) mod best;
pub(crate) mod cost;
pub(crate) mod settle;

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Whether tasks have intercepts. As text: `free`, `none`, `ridge:2` for B = 2, or `shrunk:3` for K = 3.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Intercept {
    /// Not penalised, unless the labels of a task give it no best value: with logistic loss and labels of one class
    /// only, it costs `C b^2 / 2`.
    #[default]
    Free,
    /// Penalised by `b^2 / (2 B^2)`: intercepts of about the size B cost little. For tasks with very few rows.
    Ridge(f64),
    /// Penalised by `C K b^2 / 2`: drawn to zero as by K more rows of each task. With
    /// [`TargetScale::Pooled`](crate::TargetScale::Pooled), zero is the common level of the tasks, and they are drawn
    /// to it the more, the fewer rows they have.
    Shrunk(f64),
    /// All zero.
    None,
}

impl Intercept {
    /// What files without this field mean.
    pub(crate) fn none() -> Self {
        Intercept::None
    }

    /// The same, `Err` unless B is a positive number.
    pub fn check(self) -> Result<Self> {
        match self {
            Intercept::Ridge(size) if !(size.is_finite() && size > 0.0) => {
                Err(Error::Parameter { name: "B", value: size, expected: "must be positive and finite" })
            }
            Intercept::Shrunk(rows) if !(rows.is_finite() && rows > 0.0) => {
                Err(Error::Parameter { name: "K", value: rows, expected: "must be positive and finite" })
            }
            _ => Ok(self),
        }
    }

    /// The factor of `b^2 / 2` in the objective with this C; `None` where it depends on the labels, or there are no
    /// intercepts.
    pub(crate) fn fixed_cost(self, c: f64) -> Option<f64> {
        match self {
            // B may be so small that its square is zero.
            Intercept::Ridge(size) => Some(1.0 / size / size),
            Intercept::Shrunk(rows) => Some(c * rows),
            Intercept::Free | Intercept::None => None,
        }
    }
}

impl fmt::Display for Intercept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Intercept::Free => f.pad("free"),
            Intercept::Ridge(size) => write!(f, "ridge:{}", short(*size)),
            Intercept::Shrunk(rows) => write!(f, "shrunk:{}", short(*rows)),
            Intercept::None => f.pad("none"),
        }
    }
}

/// A number without hundreds of zeros.
fn short(x: f64) -> String {
    let text = format!("{x:?}");
    text.strip_suffix(".0").map_or(text.clone(), String::from)
}

impl FromStr for Intercept {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || Error::Parse {
            what: "intercept",
            text: text.into(),
            why: "it is free, none, ridge:B or shrunk:K with a positive number B or K".into(),
        };
        match text.split_once(':') {
            None if text == "free" => Ok(Intercept::Free),
            None if text == "none" => Ok(Intercept::None),
            Some(("ridge", size)) => {
                Intercept::Ridge(size.parse().map_err(|_| wrong())?).check().map_err(|_| wrong())
            }
            Some(("shrunk", rows)) => {
                Intercept::Shrunk(rows.parse().map_err(|_| wrong())?).check().map_err(|_| wrong())
            }
            _ => Err(wrong()),
        }
    }
}

impl From<Intercept> for String {
    fn from(intercept: Intercept) -> Self {
        intercept.to_string()
    }
}

impl TryFrom<String> for Intercept {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_and_others_are_refused() {
        for intercept in [Intercept::Free, Intercept::None, Intercept::Ridge(0.25), Intercept::Shrunk(3.5)] {
            assert_eq!(intercept.to_string().parse::<Intercept>().unwrap(), intercept);
        }
        for wrong in
            ["", "ridge", "ridge:0", "ridge:-1", "ridge:inf", "ridge:x", "shrunk:0", "free:1", "Free"]
        {
            assert!(wrong.parse::<Intercept>().is_err(), "{wrong}");
        }
    }
}
