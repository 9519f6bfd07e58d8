//! A kernel as text, `rbf:0.5`, or as a table, `{ kind = "rbf", gamma = 0.5 }`: for `#[serde(with = "kernel")]`. `auto`
//! is none: it is left to the data.

use kinfolk::Kernel;
use serde::{Deserialize, Deserializer, Serializer};
use std::str::FromStr;

/// A kernel, or `auto`, which leaves it to the data.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelSetting(pub Option<Kernel>);

/// The word for a kernel that is left to the data.
const AUTO: &str = "auto";

impl FromStr for KernelSetting {
    type Err = kinfolk::Error;

    fn from_str(text: &str) -> Result<Self, kinfolk::Error> {
        if text == AUTO { Ok(KernelSetting(None)) } else { Ok(KernelSetting(Some(text.parse()?))) }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenKernel {
    Text(String),
    Table(Kernel),
}

pub(super) fn serialize<S: Serializer>(kernel: &Option<Kernel>, serializer: S) -> Result<S::Ok, S::Error> {
    match kernel {
        Some(kernel) => serializer.collect_str(kernel),
        None => serializer.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Kernel>, D::Error> {
    match Option::<WrittenKernel>::deserialize(deserializer)? {
        None => Ok(None),
        Some(WrittenKernel::Table(kernel)) => Ok(Some(kernel)),
        Some(WrittenKernel::Text(text)) => {
            text.parse().map(|KernelSetting(kernel)| kernel).map_err(serde::de::Error::custom)
        }
    }
}
