//! The width of a kernel, given or derived from the inputs.

use crate::inputs::{Inputs, Values};
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The parameter gamma of a kernel: a number, or one of scikit-learn's two rules.
///
/// As JSON: `"scale"`, `"auto"` or a number; as text the same without quotes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gamma {
    /// `1 / (n_features * var)`, where var is the population variance of all entries of the training inputs,
    /// the zeros of sparse ones included; 1 if all entries are equal.
    #[default]
    Scale,
    /// `1 / n_features`.
    Auto,
    /// The number itself, > 0 and finite.
    #[serde(untagged)]
    Value(f64),
}

impl Gamma {
    /// As a [`Gamma::Value`], for these training inputs.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the number is not positive and finite.
    pub fn resolve(self, inputs: &Inputs<'_>) -> Result<Gamma> {
        let (value, expected) = match self {
            Gamma::Scale => {
                (scale(inputs), "the variance of the inputs is out of range; rescale them or give gamma")
            }
            Gamma::Auto => (1.0 / inputs.n_features() as f64, "must be positive"),
            Gamma::Value(value) => (value, "must be a positive finite number"),
        };
        check(value, expected)?;
        Ok(Gamma::Value(value))
    }

    /// `Err` unless it is a number in range.
    pub(super) fn check_resolved(self) -> Result<()> {
        match self {
            Gamma::Value(value) => check(value, "must be a positive finite number"),
            Gamma::Scale | Gamma::Auto => {
                Err(Error::Incompatible("gamma is a rule for the training inputs, not a number".into()))
            }
        }
    }

    /// The number.
    ///
    /// # Panics
    /// If not resolved.
    pub(crate) fn value(self) -> f64 {
        match self {
            Gamma::Value(value) => value,
            _ => panic!("gamma must be resolved before kernel values are computed"),
        }
    }
}

impl fmt::Display for Gamma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gamma::Scale => f.pad("scale"),
            Gamma::Auto => f.pad("auto"),
            Gamma::Value(value) => f.pad(&value.to_string()),
        }
    }
}

impl FromStr for Gamma {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "scale" => Ok(Gamma::Scale),
            "auto" => Ok(Gamma::Auto),
            number => number.parse().map(Gamma::Value).map_err(|_| Error::Parse {
                what: "gamma",
                text: text.into(),
                why: "it is a number, scale or auto".into(),
            }),
        }
    }
}

fn check(value: f64, expected: &'static str) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::Parameter { name: "gamma", value, expected })
}

fn scale(inputs: &Inputs<'_>) -> f64 {
    let n_entries = inputs.n_inputs() as f64 * inputs.n_features() as f64;
    let (unit, variance) = match inputs {
        Inputs::Dense(x) => scaled_variance(x.values(), n_entries, x.max_abs()),
        Inputs::Sparse(x) => scaled_variance(x.values(), n_entries, x.max_abs()),
        Inputs::Gram(_) => return f64::NAN,
    };
    match variance > 0.0 {
        true => 1.0 / (inputs.n_features() as f64 * variance) / unit / unit,
        false => 1.0,
    }
}

/// `(unit, v)` such that the population variance of `values` and as many zeros as there are up to `n` is
/// `unit^2 v`.
fn scaled_variance(values: &Values<'_>, n: f64, max_abs: f64) -> (f64, f64) {
    match values {
        Values::F32(v) => variance(v, n, max_abs),
        Values::F64(v) => variance(v, n, max_abs),
    }
}

/// Two passes over differences from the first entry, so that equal entries have variance exactly 0, in units
/// of a power of two, so that no square over- or underflows.
fn variance<T: Copy + Into<f64>>(values: &[T], n: f64, max_abs: f64) -> (f64, f64) {
    let exponent_bits = 0x7ff0_0000_0000_0000;
    let unit = f64::from_bits(max_abs.to_bits() & exponent_bits).max(f64::MIN_POSITIVE);
    let zeros = n - values.len() as f64;
    let shift = values.first().filter(|_| zeros == 0.0).map_or(0.0, |&x| x.into() / unit);
    // Sums of sums: the rounding error grows with the square root of the length only.
    let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
        values.chunks(1024).map(|c| c.iter().map(|&x| f(x.into() / unit - shift)).sum::<f64>()).sum()
    };
    let mean = sum(&|x| x) / n;
    (unit, (sum(&|x| (x - mean) * (x - mean)) + zeros * mean * mean) / n)
}
