//! A kernel as text, `rbf:0.5`, or as a table, `{ kind = "rbf", gamma = 0.5 }`: for `#[serde(with = "kernel")]`.

use kinfolk::Kernel;
use serde::{Deserialize, Deserializer, Serializer};

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
        Some(WrittenKernel::Text(text)) => text.parse().map(Some).map_err(serde::de::Error::custom),
    }
}
