//! Parameters of methods: declared once, used by specs, selection, commands and the documentation.

use crate::spec::ATOM_PARAM;
use crate::{Error, Result};
use kinfolk::Observations;
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
    /// The value if none is given, as on the command line; empty if there is no default.
    pub default: &'static str,
    /// The values that selection tries if none are given.
    pub grid: &'static [&'static str],
    /// Another parameter and the value it must have for this one to have an effect.
    pub only_with: Option<(&'static str, &'static str)>,
}

/// The values a parameter may have.
#[derive(Debug, Clone, Copy)]
pub enum Allowed {
    /// A whole number in this range.
    Integer(u32, u32),
    /// A number in this range, ends included.
    Number(f64, f64),
    /// The same, or `auto`: the number that suits the data.
    NumberOrAuto(f64, f64, fn(&Observations) -> f64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of numbers: `[0.1, 0.5]`.
    Numbers,
    /// A task matrix: the name of a file, or its rows as `[[1, 0.5], [0.5, 1]]`.
    TaskMatrix,
}

/// A number that is left to the data.
const AUTO: &str = "auto";

/// A value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Integer(u32),
    /// A number.
    Number(f64),
    /// A word, or the name of a file.
    Word(String),
    /// A list of numbers.
    Numbers(Vec<f64>),
    /// The rows of a task matrix.
    Rows(Vec<Vec<f64>>),
}

/// As it is read back: lists and matrices in brackets.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(n) => write!(f, "{n}"),
            Value::Number(x) => write!(f, "{x}"),
            Value::Word(word) => f.write_str(word),
            Value::Numbers(list) => f.write_str(&bracketed(list)),
            Value::Rows(rows) => {
                let rows: Vec<String> = rows.iter().map(|row| bracketed(row)).collect();
                write!(f, "[{}]", rows.join(","))
            }
        }
    }
}

fn bracketed(list: &[f64]) -> String {
    let numbers: Vec<String> = list.iter().map(f64::to_string).collect();
    format!("[{}]", numbers.join(","))
}

/// `a whole number, at least 1`, `a number, 0 to 1`, `power, exp, cosh`.
impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Allowed::Integer(low, u32::MAX) => write!(f, "a whole number, at least {low}"),
            Allowed::Integer(low, high) => write!(f, "a whole number, {low} to {high}"),
            Allowed::Number(low, high) if high.is_infinite() => write!(f, "a number, at least {low}"),
            Allowed::Number(low, high) => write!(f, "a number, {low} to {high}"),
            Allowed::NumberOrAuto(low, high, _) => write!(f, "{AUTO}, or a number, {low} to {high}"),
            Allowed::Word(words) => f.write_str(&words.join(", ")),
            Allowed::Numbers => f.write_str("a list of numbers such as [0.1,0.5]"),
            Allowed::TaskMatrix => f.write_str("a file with a task matrix, or its rows as [[1,0.5],[0.5,1]]"),
        }
    }
}

impl Allowed {
    fn parse(&self, text: &str) -> Option<Value> {
        match *self {
            Allowed::Integer(low, high) => {
                text.parse().ok().filter(|n| (low..=high).contains(n)).map(Value::Integer)
            }
            Allowed::Number(low, high) => {
                let number = text.parse().ok().filter(|x: &f64| *x >= low && *x <= high && x.is_finite());
                number.map(Value::Number)
            }
            Allowed::NumberOrAuto(..) if text == AUTO => Some(Value::Word(text.to_string())),
            Allowed::NumberOrAuto(low, high, _) => Allowed::Number(low, high).parse(text),
            Allowed::Word(words) => words.contains(&text).then(|| Value::Word(text.to_string())),
            Allowed::Numbers => serde_json::from_str(text).ok().map(Value::Numbers),
            Allowed::TaskMatrix if text.starts_with('[') => serde_json::from_str(text).ok().map(Value::Rows),
            Allowed::TaskMatrix => (!text.is_empty()).then(|| Value::Word(text.to_string())),
        }
    }
}

impl Param {
    /// Whether this one has an effect where another parameter has this value.
    pub fn matters_with(&self, name: &str, value: &str) -> bool {
        self.only_with.is_none_or(|(other, needed)| other != name || needed == value)
    }

    /// Reads a value.
    pub fn parse(&self, method: &'static str, text: &str) -> Result<Value> {
        let (name, allowed) = (self.name, self.allowed);
        let wrong = || Error::Param { method, why: format!("{name} = {text:?}: it must be {allowed}") };
        allowed.parse(text).ok_or_else(wrong)
    }
}

/// Values of a method's parameters, defaults filled in.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, Value>);

impl Params {
    /// From pairs of text; parameters that are not named get their defaults.
    ///
    /// # Errors
    /// If there is no parameter of a name, a value is not allowed, or a parameter would have no effect.
    pub fn parse(method: &'static str, declared: &[Param], given: &[(&str, &str)]) -> Result<Self> {
        let wrong = |why: String| Error::Param { method, why };
        let mut values = BTreeMap::new();
        for (name, text) in given {
            if let Some(atom) = name.strip_prefix(ATOM_PARAM) {
                let weight = text.parse().ok().filter(|w: &f64| *w >= 0.0 && w.is_finite());
                let why = || {
                    wrong(format!("weight of atom {atom:?} = {text:?}: it must be a number, not below zero"))
                };
                if values.insert(name.to_string(), Value::Number(weight.ok_or_else(why)?)).is_some() {
                    return Err(wrong(format!("{name} is given twice")));
                }
                continue;
            }
            let Some(param) = declared.iter().find(|param| param.name == *name) else {
                let names: Vec<&str> = declared.iter().map(|param| param.name).collect();
                let known = if names.is_empty() { "none".into() } else { names.join(", ") };
                return Err(wrong(format!("there is no parameter {name:?}; it has {known}")));
            };
            if values.insert(name.to_string(), param.parse(method, text)?).is_some() {
                return Err(wrong(format!("{name} is given twice")));
            }
        }
        for param in declared {
            let matters = |values: &BTreeMap<String, Value>| {
                values.iter().all(|(name, value)| param.matters_with(name, &value.to_string()))
            };
            match (matters(&values), values.contains_key(param.name)) {
                (true, false) if !param.default.is_empty() => {
                    values.insert(param.name.to_string(), param.parse(method, param.default)?);
                }
                (true, false) if param.only_with.is_some() => {
                    let (other, value) = param.only_with.unwrap_or_default();
                    return Err(wrong(format!("{other}={value} needs {}", param.name)));
                }
                (false, true) => {
                    let (other, value) = param.only_with.unwrap_or_default();
                    return Err(wrong(format!("{} has an effect with {other}={value} only", param.name)));
                }
                _ => {}
            }
        }
        Ok(Params(values))
    }

    /// The value of a parameter, if it has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// The weight of an atom that a caller gives, if it is a parameter.
    pub fn atom_weight(&self, atom: &str) -> Option<f64> {
        self.number(&format!("{ATOM_PARAM}{atom}")).ok()
    }

    /// The atoms whose weights are parameters.
    pub fn atom_names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().filter_map(|name| name.strip_prefix(ATOM_PARAM))
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Result<u32> {
        match self.get(name) {
            Some(Value::Integer(n)) => Ok(*n),
            _ => Err(missing(name, "a whole number")),
        }
    }

    /// A number.
    pub fn number(&self, name: &str) -> Result<f64> {
        match self.get(name) {
            Some(Value::Number(x)) => Ok(*x),
            Some(Value::Integer(n)) => Ok(f64::from(*n)),
            _ => Err(missing(name, "a number")),
        }
    }

    /// A word.
    pub fn word(&self, name: &str) -> Result<&str> {
        match self.get(name) {
            Some(Value::Word(word)) => Ok(word),
            _ => Err(missing(name, "a word")),
        }
    }

    /// A list of numbers.
    pub fn numbers(&self, name: &str) -> Result<&[f64]> {
        match self.get(name) {
            Some(Value::Numbers(list)) => Ok(list),
            _ => Err(missing(name, "a list of numbers such as [0.1,0.5]")),
        }
    }

    /// The rows of a task matrix.
    pub fn task_matrix(&self, name: &str) -> Result<&[Vec<f64>]> {
        match self.get(name) {
            Some(Value::Rows(rows)) => Ok(rows),
            Some(Value::Word(file)) => {
                Err(Error::Spec(format!("parameter {name}: the file {file} was not read")))
            }
            _ => Err(missing(name, "a task matrix: a file, or its rows")),
        }
    }

    /// The same with another value.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.0.insert(name.to_string(), value);
        self
    }

    /// Whether a parameter is left to the data.
    pub(crate) fn is_auto(&self, param: &Param) -> bool {
        matches!(param.allowed, Allowed::NumberOrAuto(..)) && self.word(param.name).is_ok()
    }

    /// The same with numbers in place of what was left to these data.
    pub(crate) fn for_data(&self, declared: &[Param], observations: &Observations) -> Self {
        let mut params = self.clone();
        for param in declared.iter().filter(|param| self.is_auto(param)) {
            if let Allowed::NumberOrAuto(_, _, suits) = param.allowed {
                params = params.with(param.name, Value::Number(suits(observations)));
            }
        }
        params
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

fn missing(name: &str, what: &str) -> Error {
    Error::Spec(format!("parameter {name} is needed: {what}"))
}

/// `k=2,output=power`.
impl fmt::Display for Params {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> = self.iter().map(|(name, value)| format!("{name}={value}")).collect();
        f.write_str(&parts.join(","))
    }
}
