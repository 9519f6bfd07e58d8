//! Parameters of methods: declared once, used by selection, by commands and by the documentation.

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// A parameter that a method has besides C.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Name on the command line and in files.
    pub name: &'static str,
    /// What it does, in a few words.
    pub meaning: &'static str,
    /// What it may be.
    pub allowed: Allowed,
    /// What it is if nobody says; text as on the command line.
    pub default: &'static str,
    /// The values that selection tries if nobody says.
    pub grid: &'static [&'static str],
    /// Another parameter and the value it must have for this one to matter.
    pub only_with: Option<(&'static str, &'static str)>,
}

/// The values a parameter may have.
#[derive(Debug, Clone, Copy)]
pub enum Allowed {
    /// A whole number in this range.
    Integer(u32, u32),
    /// A number in this range, ends included.
    Number(f64, f64),
    /// One of these words.
    Word(&'static [&'static str]),
}

/// A value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Integer(u32),
    /// A number.
    Number(f64),
    /// A word.
    Word(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(n) => write!(f, "{n}"),
            Value::Number(x) => write!(f, "{x}"),
            Value::Word(word) => f.write_str(word),
        }
    }
}

/// `at least 1`, `0 to 1`, `power, exp or cosh`.
impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Integer(low, u32::MAX) => write!(f, "a whole number, at least {low}"),
            Allowed::Integer(low, high) => write!(f, "a whole number, {low} to {high}"),
            Allowed::Number(low, high) if high.is_infinite() => write!(f, "a number, at least {low}"),
            Allowed::Number(low, high) => write!(f, "a number, {low} to {high}"),
            Allowed::Word(words) => f.write_str(&words.join(", ")),
        }
    }
}

impl Param {
    /// Whether this one matters where another parameter has this value.
    pub fn matters_with(&self, name: &str, value: &str) -> bool {
        self.only_with.is_none_or(|(other, needed)| other != name || needed == value)
    }

    /// Reads a value.
    pub fn parse(&self, method: &'static str, text: &str) -> Result<Value> {
        let value = match self.allowed {
            Allowed::Integer(low, high) => {
                text.parse().ok().filter(|n| (low..=high).contains(n)).map(Value::Integer)
            }
            Allowed::Number(low, high) => text
                .parse()
                .ok()
                .filter(|x: &f64| *x >= low && *x <= high && x.is_finite())
                .map(Value::Number),
            Allowed::Word(words) => words.contains(&text).then(|| Value::Word(text.to_string())),
        };
        let (name, allowed) = (self.name, self.allowed);
        value.ok_or_else(|| Error::Param { method, why: format!("{name} = {text:?}: it must be {allowed}") })
    }
}

/// Parameters that release 0.1.0 had and stored in model files, with the value that is still what the method does.
const RETIRED: [(&str, &str, &str); 5] = [
    ("mtrl", "form", "fast"),
    ("okl", "form", "fast"),
    ("convex-okl", "form", "fast"),
    ("mtl-sdca", "form", "balanced"),
    ("gmtl", "grouping", "moves"),
];

/// Values of a method's parameters, defaults filled in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, Value>);

impl Params {
    /// From pairs of text; parameters that are not named get their defaults.
    pub fn parse(method: &'static str, specs: &[Param], given: &[(&str, &str)]) -> Result<Self> {
        let mut values = BTreeMap::new();
        for (name, text) in given.iter().filter(|(name, text)| !RETIRED.contains(&(method, name, text))) {
            let Some(spec) = specs.iter().find(|spec| spec.name == *name) else {
                let known: Vec<&str> = specs.iter().map(|spec| spec.name).collect();
                let known = if known.is_empty() {
                    "it has none".into()
                } else {
                    format!("it has {}", known.join(", "))
                };
                return Err(Error::Param { method, why: format!("there is no parameter {name:?}; {known}") });
            };
            values.insert(name.to_string(), spec.parse(method, text)?);
        }
        for spec in specs {
            let matters = values.iter().all(|(name, value)| spec.matters_with(name, &value.to_string()));
            if matters && !values.contains_key(spec.name) {
                values.insert(spec.name.to_string(), spec.parse(method, spec.default)?);
            }
        }
        Ok(Params(values))
    }

    /// A whole number; 0 if there is none of this name, which a declared parameter always has.
    pub fn integer(&self, name: &str) -> u32 {
        match self.0.get(name) {
            Some(Value::Integer(n)) => *n,
            _ => 0,
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> f64 {
        match self.0.get(name) {
            Some(Value::Number(x)) => *x,
            Some(Value::Integer(n)) => f64::from(*n),
            _ => 0.0,
        }
    }

    /// A word.
    pub fn word(&self, name: &str) -> &str {
        match self.0.get(name) {
            Some(Value::Word(word)) => word,
            _ => "",
        }
    }

    /// All values by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `k=2, output=power`.
impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&parts.join(", "))
    }
}
