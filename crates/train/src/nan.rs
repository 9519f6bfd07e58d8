//! NaN in JSON: written as null, and read back.

use serde::{Deserialize, Deserializer};

/// For `#[serde(deserialize_with = "nan::from_null")]`.
pub(crate) fn from_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
}

/// For `#[serde(default = "nan::value")]`.
pub(crate) fn value() -> f64 {
    f64::NAN
}
