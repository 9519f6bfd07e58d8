//! A method with its parameters, in one text form: `fmtl`, `mtl:mu=0.1`, `fmtl:k=2,output=power`.

use crate::params::{Allowed, Param, Value};
use crate::task_matrix;
use crate::{Error, Method, Params, Result, StepWhen, find};
use kinfolk::{Model, Observations, TaskNames};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::{Path, PathBuf};
use std::{fmt, str::FromStr};

/// A method of the registry and the values of its parameters.
///
/// As text: the name, a colon, and parameters with `,` or `;` between them. A list or a matrix is in
/// brackets. What is printed can be read back, here and wherever a list of methods is taken.
///
/// ```
/// use kinfolk_train::MethodSpec;
/// let spec: MethodSpec = "fmtl:output=power;k=2".parse()?;
/// assert_eq!(spec.to_string(), "fmtl:k=2,output=power");
/// assert!("fmtl:k".parse::<MethodSpec>().is_err());
/// # Ok::<(), kinfolk_train::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct MethodSpec {
    method: &'static dyn Method,
    params: Params,
}

impl MethodSpec {
    /// From a name and pairs of text.
    ///
    /// # Errors
    /// If there is no such method or parameter, or a value is not allowed.
    pub fn new(name: &str, given: &[(&str, &str)]) -> Result<Self> {
        MethodSpec::of(find(name)?, given)
    }

    /// From a method, which need not be of the registry, and pairs of text.
    ///
    /// # Errors
    /// If there is no such parameter, or a value is not allowed.
    pub fn of(method: &'static dyn Method, given: &[(&str, &str)]) -> Result<Self> {
        let params = Params::parse(method.name(), method.params(), given)?;
        if let Some(atom) = params.atom_names().next().filter(|_| !method.info().takes_atoms) {
            let why = format!("it takes no atoms, and the weight of {atom:?} is given");
            return Err(Error::Param { method: method.name(), why });
        }
        Ok(MethodSpec { method, params })
    }

    /// Whether it takes relations of tasks that a caller gives.
    pub fn takes_atoms(&self) -> bool {
        self.method.info().takes_atoms
    }

    /// A method whose parameters all have defaults, with these.
    pub(crate) fn plain(method: &'static dyn Method) -> Self {
        let params = Params::parse(method.name(), method.params(), &[]).unwrap_or_default();
        MethodSpec { method, params }
    }

    /// From text, and more parameters beside it.
    ///
    /// # Errors
    /// As of [`new`](Self::new), or if a parameter is given twice.
    pub fn parse_with(text: &str, more: &[(&str, &str)]) -> Result<Self> {
        let given = MethodText::new(text)?;
        MethodSpec::new(given.name, &[&given.params, more].concat())
    }

    /// From text, for methods that a caller looks up by name.
    ///
    /// # Errors
    /// As of [`new`](Self::new).
    pub fn parse_from(find: impl Fn(&str) -> Result<&'static dyn Method>, text: &str) -> Result<Self> {
        let given = MethodText::new(text)?;
        MethodSpec::of(find(given.name)?, &given.params)
    }

    /// The same method with values that were stored.
    #[must_use]
    pub fn with_params(&self, params: Params) -> Self {
        MethodSpec { method: self.method, params }
    }

    /// The same with other values of some parameters.
    ///
    /// # Errors
    /// As of [`new`](Self::new).
    pub fn with(&self, changes: &[(&str, &str)]) -> Result<Self> {
        let kept = self.params.iter().filter(|(name, _)| changes.iter().all(|(changed, _)| changed != name));
        let kept: Vec<(&str, String)> = kept.map(|(name, value)| (name, value.to_string())).collect();
        let mut given: Vec<(&str, &str)> = kept.iter().map(|(name, value)| (*name, value.as_str())).collect();
        given.extend(changes);
        MethodSpec::new(self.name(), &given)
    }

    /// The method.
    pub fn method(&self) -> &'static dyn Method {
        self.method
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.method.name()
    }

    /// The values of its parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The same with task matrices read from their files, for these tasks.
    ///
    /// # Errors
    /// If a file cannot be read, or has no matrix for these tasks.
    pub fn with_files_read(&self, tasks: &TaskNames) -> Result<Self> {
        let mut read = self.clone();
        for param in self.method.params() {
            if let (Allowed::TaskMatrix, Some(Value::Word(file))) =
                (param.allowed, self.params.get(param.name))
            {
                let rows = task_matrix::read(Path::new(file), tasks)?;
                read.params = read.params.with(param.name, Value::Rows(rows));
            }
        }
        Ok(read)
    }

    /// The same with numbers in place of what was left to these data.
    #[must_use]
    pub fn for_data(&self, observations: &Observations) -> Self {
        self.with_params(self.params.for_data(self.method.params(), observations))
    }

    /// The same with the weights of a model's atoms in place of what was left to the data.
    #[must_use]
    pub fn with_weights_of(&self, model: &Model) -> Self {
        let atoms = &model.about().problem.atoms;
        let mut params = self.params.clone();
        for param in self.method.params().iter().filter(|param| self.params.is_auto(param)) {
            // Models leave out atoms without weight.
            let weight = atoms.iter().find(|atom| atom.name == param.name).map_or(0.0, |atom| atom.weight);
            params = params.with(param.name, Value::Number(weight));
        }
        self.with_params(params)
    }

    /// The same with each of the method's steps whose parameters are all left to the data, and when they are worth a
    /// try.
    pub(crate) fn steps(&self) -> Result<Vec<(StepWhen, Self)>> {
        let is_auto =
            |name: &str| self.method.params().iter().any(|p| p.name == name && self.params.is_auto(p));
        let steps = self.method.info().steps.iter();
        let open = steps.filter(|step| step.params.iter().all(|(name, _)| is_auto(name)));
        open.map(|step| Ok((step.when, self.with(step.params)?))).collect()
    }

    /// The files that task matrices are in.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let file = |param: &Param| match (param.allowed, self.params.get(param.name)) {
            (Allowed::TaskMatrix, Some(Value::Word(file))) => Some(PathBuf::from(file)),
            _ => None,
        };
        self.method.params().iter().filter_map(file).collect()
    }

    /// For people: matrices are left out.
    pub fn brief(&self) -> String {
        let short = |(name, value): (&str, &Value)| match value {
            Value::Rows(rows) => format!("{name}=[{0} x {0}]", rows.len()),
            _ => format!("{name}={value}"),
        };
        let params: Vec<String> = self.params.iter().map(short).collect();
        if params.is_empty() { self.name().into() } else { format!("{}:{}", self.name(), params.join(",")) }
    }
}

/// The default method, with its defaults.
impl Default for MethodSpec {
    fn default() -> Self {
        MethodSpec::plain(crate::methods::DEFAULT)
    }
}

impl PartialEq for MethodSpec {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.params == other.params
    }
}

impl fmt::Display for MethodSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.params.is_empty() {
            true => f.write_str(self.name()),
            false => write!(f, "{}:{}", self.name(), self.params),
        }
    }
}

impl FromStr for MethodSpec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        MethodSpec::parse_with(text, &[])
    }
}

impl Serialize for MethodSpec {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MethodSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A method as it was written: the name, and the parameters that were given.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MethodText<'a> {
    pub(crate) name: &'a str,
    pub(crate) params: Vec<(&'a str, &'a str)>,
}

impl<'a> MethodText<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Self> {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let name = name.trim();
        let pair = |part: &'a str| match part.split_once('=') {
            Some((key, value)) => Ok((key.trim(), value.trim())),
            None => Err(Error::Spec(format!(
                "method {name}: {part:?} is not NAME=VALUE; lists have brackets, as in [0.1,0.5]"
            ))),
        };
        let parts = split(given).into_iter().filter(|part| !part.trim().is_empty());
        Ok(MethodText { name, params: parts.map(pair).collect::<Result<_>>()? })
    }
}

/// Texts of methods from a list such as `stl,fmtl:k=2,output=power,mtl`: a part with `=` and no name of a
/// method in front belongs to the method before it.
pub fn method_texts(list: &str) -> Vec<String> {
    let mut texts: Vec<String> = vec![];
    for part in split(list) {
        let is_parameter = part.find('=').is_some_and(|equals| !part[..equals].contains(':'));
        match texts.last_mut() {
            Some(last) if is_parameter => *last += &format!(",{}", part.trim()),
            _ => texts.push(part.trim().to_string()),
        }
    }
    texts
}

/// Parts between `,` or `;` that are not in brackets.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut begin, mut depth) = (vec![], 0, 0i32);
    for (at, letter) in text.char_indices() {
        match letter {
            '[' => depth += 1,
            ']' => depth -= 1,
            ',' | ';' if depth <= 0 => {
                parts.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[begin..]);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_write_a_method_is_understood() {
        for text in ["fmtl:output=exp", "fmtl: output = exp", "fmtl:output=exp;"] {
            assert_eq!(text.parse::<MethodSpec>().unwrap().to_string(), "fmtl:output=exp");
        }
        let series: MethodSpec = "fmtl:output=series,coefficients=[0.1, 0.5,0,0.25]".parse().unwrap();
        assert_eq!(series.to_string(), "fmtl:coefficients=[0.1,0.5,0,0.25],output=series");
        let fixed: MethodSpec = "fmtl:output=fixed,theta=[[1,0.5],[0.5,1]]".parse().unwrap();
        assert_eq!(fixed.to_string().parse::<MethodSpec>().unwrap(), fixed);
        assert_eq!(fixed.brief(), "fmtl:output=fixed,theta=[2 x 2]");
        assert_eq!(MethodSpec::default().to_string(), "kin:common=auto,k=1,own=auto");
    }

    #[test]
    fn mistakes_are_named() {
        let why = |text: &str| text.parse::<MethodSpec>().unwrap_err().to_string();
        assert!(why("fmtl:k").starts_with("method fmtl: \"k\" is not NAME=VALUE"));
        assert_eq!(why("fmtl:k=1,k=2"), "method fmtl: k is given twice");
        assert_eq!(why("fmtl:output=exp,k=2"), "method fmtl: k has an effect with output=power only");
        assert_eq!(why("fmtl:output=fixed"), "method fmtl: output=fixed needs theta");
        assert!(why("lasso").starts_with("there is no method \"lasso\""));
    }

    #[test]
    fn lists_of_methods_are_taken_apart() {
        assert_eq!(
            method_texts("stl, fmtl:output=power,k=2,mtl:mu=0.1;stl,fmtl:coefficients=[1,2],output=series"),
            ["stl", "fmtl:output=power,k=2", "mtl:mu=0.1", "stl", "fmtl:coefficients=[1,2],output=series"]
        );
    }
}
