//! Which loss: chosen by the labels, one for all tasks, or one for each.

use crate::{Error, Result};
use kinfolk::{LossKind, Losses};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::{fmt, str::FromStr};

/// A choice of losses. As text: `auto`, `hinge`, or one for each task with commas between them.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum LossSpec {
    /// Logistic for classes and labels of two values, squared for numbers.
    #[default]
    Auto,
    /// One loss for all tasks.
    Same(LossKind),
    /// One for each task, in their order.
    PerTask(Vec<LossKind>),
}

impl LossSpec {
    /// What can be written, for help texts.
    pub fn describe() -> String {
        let names: Vec<String> = LossKind::all_examples().iter().map(ToString::to_string).collect();
        format!(
            "{}; auto is logistic for classes and labels of two values, squared for numbers",
            names.join(", ")
        )
    }

    /// The losses, unless the labels decide.
    pub(crate) fn given(&self) -> Option<Losses> {
        match self {
            LossSpec::Auto => None,
            LossSpec::Same(loss) => Some(loss.clone().into()),
            LossSpec::PerTask(all) => Some(Losses::PerTask(all.clone())),
        }
    }

    /// The losses, for labels that are classes or numbers.
    pub(crate) fn losses(&self, are_classes: bool) -> Losses {
        let by_labels = if are_classes { LossKind::Logistic } else { LossKind::Squared };
        self.given().unwrap_or_else(|| by_labels.into())
    }
}

impl From<&Losses> for LossSpec {
    fn from(losses: &Losses) -> Self {
        match losses {
            Losses::Same(loss) => LossSpec::Same(loss.clone()),
            Losses::PerTask(all) => LossSpec::PerTask(all.clone()),
        }
    }
}

impl fmt::Display for LossSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LossSpec::Auto => f.write_str("auto"),
            LossSpec::Same(loss) => write!(f, "{loss}"),
            LossSpec::PerTask(all) => {
                let all: Vec<String> = all.iter().map(ToString::to_string).collect();
                // A comma at the end tells a list of one from one for all.
                f.write_str(&all.join(","))?;
                f.write_str(if all.len() == 1 { "," } else { "" })
            }
        }
    }
}

impl FromStr for LossSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let one = |text: &str| -> Result<LossKind> { Ok(text.trim().parse()?) };
        match text {
            "auto" => Ok(LossSpec::Auto),
            _ if text.contains(',') => {
                let parts = text.strip_suffix(',').unwrap_or(text).split(',');
                Ok(LossSpec::PerTask(parts.map(one).collect::<Result<_>>()?))
            }
            _ => Ok(LossSpec::Same(one(text)?)),
        }
    }
}

impl Serialize for LossSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text, or a list of texts; a list of one is the loss of all tasks.
#[derive(Deserialize)]
#[serde(untagged)]
enum WrittenLoss {
    Text(String),
    List(Vec<String>),
}

impl<'de> Deserialize<'de> for LossSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = match WrittenLoss::deserialize(deserializer)? {
            WrittenLoss::Text(text) => text,
            WrittenLoss::List(all) => all.join(","),
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}
