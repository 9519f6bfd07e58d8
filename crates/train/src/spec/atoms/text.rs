//! Atoms as text and as tables.

use super::{AtomSetting, RelationData, RelationKind, TaskKernel};
use crate::{Error, Result};
use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::PathBuf;
use std::sync::Arc;
use std::{fmt, str::FromStr};

/// What may follow the relation.
const OPTIONS: [&str; 3] = ["name", "weight", "kernel"];

impl fmt::Display for RelationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for RelationKind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        RelationKind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| {
            let known = RelationKind::ALL.map(RelationKind::name).join(", ");
            Error::Spec(format!("there is no relation {text:?}; there are {known}"))
        })
    }
}

impl TaskKernel {
    fn name(self) -> &'static str {
        match self {
            TaskKernel::Rbf => "rbf",
            TaskKernel::Linear => "linear",
        }
    }
}

impl FromStr for TaskKernel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "rbf" => Ok(TaskKernel::Rbf),
            "linear" => Ok(TaskKernel::Linear),
            _ => Err(Error::Spec(format!("kernel {text:?} of tasks: it must be rbf or linear"))),
        }
    }
}

/// The name of an atom where none is given.
fn default_name(kind: RelationKind, column: Option<&str>) -> String {
    column.unwrap_or(kind.name()).to_string()
}

impl fmt::Display for AtomSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        if let Some(file) = &self.file {
            write!(f, "={}", file.display())?;
        }
        if let Some(column) = &self.column {
            write!(f, ":{column}")?;
        }
        if self.name != default_name(self.kind, self.column.as_deref()) {
            write!(f, ",name={}", self.name)?;
        }
        if let Some(weight) = self.weight {
            write!(f, ",weight={weight}")?;
        }
        if self.kernel != TaskKernel::default() {
            write!(f, ",kernel={}", self.kernel.name())?;
        }
        Ok(())
    }
}

impl FromStr for AtomSetting {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (head, options) = split_options(text);
        let (kind, place) = match head.split_once('=') {
            Some((kind, place)) => (kind.trim().parse::<RelationKind>()?, Some(place.trim())),
            None => (head.trim().parse()?, None),
        };
        let wrong = |why: String| Error::Spec(format!("atom {text:?}: {why}"));
        let (file, column) = match place {
            Some("") => return Err(wrong(format!("expected {kind}=FILE"))),
            Some(place) if kind.has_column() => split_column(place),
            Some(place) => (Some(place), None),
            None if kind.is_built_in() => (None, None),
            None => return Err(wrong(format!("expected {kind}=FILE"))),
        };
        let mut atom = AtomSetting::named(default_name(kind, column), kind);
        (atom.file, atom.column) = (file.map(PathBuf::from), column.map(str::to_string));
        for (name, value) in options {
            match name {
                "name" => atom.name = value.to_string(),
                "kernel" => atom.kernel = value.parse()?,
                _ => {
                    let weight = value.parse::<f64>().ok();
                    let weight = weight.ok_or_else(|| wrong(format!("weight {value:?} is not a number")))?;
                    atom.weight = Some(weight);
                }
            }
        }
        atom.check()?;
        Ok(atom)
    }
}

/// The text before the first option, and the options. A comma that no option follows belongs to the file's name.
fn split_options(text: &str) -> (&str, Vec<(&str, &str)>) {
    let mut starts: Vec<(usize, &str)> = vec![];
    for name in OPTIONS {
        let key = format!(",{name}=");
        starts.extend(text.match_indices(&key).map(|(at, _)| (at, name)));
    }
    starts.sort_unstable();
    let end = |i: usize| starts.get(i + 1).map_or(text.len(), |(at, _)| *at);
    let option = |(i, &(at, name)): (usize, &(usize, &'static str))| {
        let value = &text[at + name.len() + 2..end(i)];
        (name, value.trim())
    };
    let head = starts.first().map_or(text, |(at, _)| &text[..*at]);
    (head, starts.iter().enumerate().map(option).collect())
}

/// `FILE:COLUMN`; a colon before a slash, as in `C:\\a.csv`, belongs to the file.
fn split_column(place: &str) -> (Option<&str>, Option<&str>) {
    match place.rsplit_once(':') {
        Some((file, column)) if !file.is_empty() && !column.is_empty() && !column.contains(['/', '\\']) => {
            (Some(file), Some(column))
        }
        _ => (Some(place), None),
    }
}

/// An atom in toml and json.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AtomTable {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<PathBuf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    column: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kernel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<RelationData>,
}

impl Serialize for AtomSetting {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let kernel = (self.kind == RelationKind::Features).then(|| self.kernel.name().to_string());
        AtomTable {
            name: Some(self.name.clone()),
            weight: self.weight,
            kind: self.kind.to_string(),
            file: self.file.clone(),
            column: self.column.clone(),
            kernel,
            data: self.data.as_deref().cloned(),
        }
        .serialize(serializer)
    }
}

impl TryFrom<AtomTable> for AtomSetting {
    type Error = Error;

    fn try_from(table: AtomTable) -> Result<Self> {
        let AtomTable { name, weight, kind, file, column, kernel, data } = table;
        let kind: RelationKind = kind.parse()?;
        let kernel = kernel.map(|kernel| kernel.parse()).transpose()?.unwrap_or_default();
        let name = name.unwrap_or_else(|| default_name(kind, column.as_deref()));
        let atom = AtomSetting { name, weight, kind, file, column, kernel, data: data.map(Arc::new) };
        atom.check()?;
        Ok(atom)
    }
}

/// A text or a table.
impl<'de> Deserialize<'de> for AtomSetting {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct TextOrTable;

        impl<'de> Visitor<'de> for TextOrTable {
            type Value = AtomSetting;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an atom, as text or table")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> std::result::Result<AtomSetting, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<AtomSetting, A::Error> {
                let table = AtomTable::deserialize(MapAccessDeserializer::new(map))?;
                AtomSetting::try_from(table).map_err(serde::de::Error::custom)
            }
        }

        deserializer.deserialize_any(TextOrTable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_and_printed_back() {
        for text in [
            "groups=regions.csv:region",
            "groups=regions.csv",
            "tree=a,b/x.csv:path,name=taxonomy,weight=0.5",
            "graph=edges.csv,weight=3",
            "features=C:\\x\\f.csv,kernel=linear",
            "common",
            "own,weight=0",
            "distance=d.parquet,name=molecules",
        ] {
            let atom: AtomSetting = text.parse().unwrap();
            assert_eq!(atom.to_string(), text);
            let json = serde_json::to_string(&atom).unwrap();
            assert_eq!(serde_json::from_str::<AtomSetting>(&json).unwrap(), atom);
            assert_eq!(serde_json::from_str::<AtomSetting>(&format!("{text:?}")).unwrap(), atom);
        }
        let atom: AtomSetting = "groups=C:\\data\\r.csv:region".parse().unwrap();
        assert_eq!((atom.name.as_str(), atom.file), ("region", Some(PathBuf::from("C:\\data\\r.csv"))));
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| text.parse::<AtomSetting>().unwrap_err().to_string();
        assert_eq!(
            why("region=a.csv"),
            "there is no relation \"region\"; there are groups, tree, graph, distance, matrix, features, common, own"
        );
        assert_eq!(why("groups"), "atom \"groups\": expected groups=FILE");
        assert_eq!(why("groups="), "atom \"groups=\": expected groups=FILE");
        assert_eq!(why("common=a.csv"), "atom \"common\": a.csv: common needs no file");
        assert_eq!(
            why("graph=e.csv,weight=x"),
            "atom \"graph=e.csv,weight=x\": weight \"x\" is not a number"
        );
        assert!(why("graph=e.csv,weight=-1").contains("weight is -1, it must be a number, not below zero"));
        assert!(why("graph=e.csv,name=a=b").contains("a name may not be empty or have , ; = : [ ] in it"));
        assert!(why("graph=e.csv,kernel=linear").contains("graph has no kernel"));
        assert!(why("features=e.csv,kernel=cubic").contains("it must be rbf or linear"));
        let json = |text: &str| serde_json::from_str::<AtomSetting>(text).unwrap_err().to_string();
        assert!(json(r#"{"kind": "groups", "fle": "a.csv"}"#).contains("unknown field `fle`"));
        assert!(json(r#"{"kind": "groups"}"#).contains("groups needs a file with the relation, or its data"));
        let data = r#"{"kind": "groups", "data": {"tasks": ["a"], "labels": ["x", "y"]}}"#;
        assert!(json(data).contains("1 tasks and 2 labels"));
    }
}
