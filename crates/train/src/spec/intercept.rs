//! Intercepts in specs: as text, where `auto` is to leave them to the data.

use kinfolk::Intercept;
use serde::{Deserialize, Deserializer, Serializer};
use std::str::FromStr;

/// Intercepts, or `auto`, which leaves them to the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterceptSetting(pub Option<Intercept>);

/// The word for intercepts that are left to the data.
const AUTO: &str = "auto";

impl FromStr for InterceptSetting {
    type Err = kinfolk::Error;

    fn from_str(text: &str) -> Result<Self, kinfolk::Error> {
        if text == AUTO { Ok(InterceptSetting(None)) } else { Ok(InterceptSetting(Some(text.parse()?))) }
    }
}

pub(super) fn serialize<S: Serializer>(given: &Option<Intercept>, serializer: S) -> Result<S::Ok, S::Error> {
    match given {
        Some(intercept) => serializer.collect_str(intercept),
        None => serializer.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Intercept>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else { return Ok(None) };
    text.parse().map(|InterceptSetting(given)| given).map_err(serde::de::Error::custom)
}
