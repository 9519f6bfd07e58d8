//! How much weight the losses have.

use crate::{Error, Result};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// The weight of the losses. As text: `auto`, `0.5` for C itself, `strength:0.5` for a place on the scale of C.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Weight {
    /// The strength that predicts held-out rows best, see [`AutoC`](crate::AutoC).
    #[default]
    Auto,
    /// C itself.
    C(f64),
    /// The strength: C on the scale without units of the data, which means the same for any data and method.
    Relative(f64),
}

impl Weight {
    /// The same, `Err` unless it is a positive number.
    pub fn check(self) -> Result<Self> {
        match self {
            Weight::C(x) | Weight::Relative(x) if !(x.is_finite() && x > 0.0) => {
                Err(Error::Spec(format!("c = {self}: it must be auto or a positive number")))
            }
            _ => Ok(self),
        }
    }

    /// C or the strength; NaN for `auto`.
    pub fn number(self) -> f64 {
        match self {
            Weight::C(x) | Weight::Relative(x) => x,
            Weight::Auto => f64::NAN,
        }
    }

    /// The strength, if it is given as one.
    pub fn strength(self) -> Option<f64> {
        match self {
            Weight::Relative(strength) => Some(strength),
            _ => None,
        }
    }
}

impl fmt::Display for Weight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Weight::Auto => f.write_str("auto"),
            Weight::C(c) => write!(f, "{c}"),
            Weight::Relative(strength) => write!(f, "strength:{strength}"),
        }
    }
}

impl FromStr for Weight {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::Spec(format!("c = {text:?}: it must be auto, a positive number or strength:NUMBER"));
        let number = |text: &str| text.parse().map_err(|_| wrong());
        let weight = match text.strip_prefix("strength:") {
            _ if text == "auto" => Weight::Auto,
            Some(strength) => Weight::Relative(number(strength)?),
            None => Weight::C(number(text)?),
        };
        weight.check().map_err(|_| wrong())
    }
}

impl Serialize for Weight {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Weight::C(c) => serializer.serialize_f64(*c),
            other => serializer.collect_str(other),
        }
    }
}

/// A number, a text, or the tables `{ c = 0.5 }` and `{ strength = 0.5 }` of 0.1.0.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenWeight {
    Number(f64),
    Text(String),
    Named(Named),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Named {
    C(f64),
    Strength(f64),
}

impl<'de> Deserialize<'de> for Weight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let weight = match WrittenWeight::deserialize(deserializer)? {
            WrittenWeight::Number(c) | WrittenWeight::Named(Named::C(c)) => Weight::C(c).check(),
            WrittenWeight::Named(Named::Strength(strength)) => Weight::Relative(strength).check(),
            WrittenWeight::Text(text) => text.parse(),
        };
        weight.map_err(serde::de::Error::custom)
    }
}
