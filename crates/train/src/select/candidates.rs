//! From text to candidates: `fmtl:k=2`, `strength=0.1,1,10`.

use super::KernelGrid;
use crate::spec::{ATOM_PARAM, MethodText};
use crate::{
    ATOM_WEIGHT_GRID, AtomSetting, DEFAULT_ATOM_WEIGHT, Error, Method, MethodSpec, Result, Weight, find,
};
use kinfolk::Kernel;

/// More settings than these are not all tried, unless the caller gives all values.
const MAX_ALL: usize = 8;

/// A method with the settings to choose from.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The method, with each setting of its parameters.
    pub settings: Vec<MethodSpec>,
    /// Weights of the losses, increasing.
    pub weights: Vec<Weight>,
    /// Whether larger or smaller strengths are tried if the best is the last or the first.
    pub grows: bool,
    /// Kernels, another axis of settings.
    pub kernels: KernelGrid,
    /// If settings are searched one axis after another, their axes; else all are tried.
    pub axes: Option<SettingAxes>,
}

/// The axes of settings that are all combinations of some values, the last axis varying fastest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingAxes {
    /// Number of values on each axis.
    pub lengths: Vec<usize>,
    /// Where the search starts: the place on each axis.
    pub start: Vec<usize>,
}

/// Values to try of a parameter: `k=1,2,4`, `mu=0.1,1`, `strength=1,10` or `c=0.1,1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    name: String,
    values: Vec<String>,
}

impl Axis {
    /// Axes for methods that take atoms: an axis of an atom's name is about its weight, and an atom without weight and
    /// axis is on the default grid.
    pub fn with_atoms(axes: &[Axis], atoms: &[AtomSetting]) -> Vec<Axis> {
        let of_atom = |axis: &Axis| atoms.iter().any(|atom| atom.name == axis.name);
        let renamed = |axis: &Axis| match of_atom(axis) {
            true => Axis { name: format!("{ATOM_PARAM}{}", axis.name), ..axis.clone() },
            false => axis.clone(),
        };
        let mut all: Vec<Axis> = axes.iter().map(renamed).collect();
        for atom in atoms.iter().filter(|atom| atom.weight.is_none()) {
            let name = format!("{ATOM_PARAM}{}", atom.name);
            if all.iter().all(|axis| axis.name != name) {
                all.push(Axis { name, values: ATOM_WEIGHT_GRID.map(String::from).to_vec() });
            }
        }
        all
    }

    /// Whether it is about the weight of an atom that a caller gives.
    fn is_atom(&self) -> bool {
        self.name.starts_with(ATOM_PARAM)
    }
}

impl std::str::FromStr for Axis {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let (name, values) = text.split_once('=').ok_or("expected NAME=VALUE,VALUE,...")?;
        let values: Vec<String> = values.split(',').map(|v| v.trim().to_string()).collect();
        if name.is_empty() || values.iter().any(String::is_empty) {
            return Err("expected NAME=VALUE,VALUE,...".into());
        }
        Ok(Axis { name: name.trim().to_string(), values })
    }
}

/// Candidates from texts such as `stl`, `mtl:mu=0.1` or `fmtl:output=power,k=1`, and axes for the parameters
/// that these leave open. Parameters on no axis are on their default grids. All combinations are tried if the caller
/// gives all values, or they are few; else one axis is searched after another.
///
/// # Errors
/// If there is no such method or parameter, or a value is not allowed.
pub fn candidates(methods: &[String], axes: &[Axis]) -> Result<Vec<Candidate>> {
    candidates_from(find, methods, axes)
}

/// Methods that others are compared with.
const SIMPLE_METHODS: [&str; 2] = [STL, POOLED];

/// Each task by itself.
pub(crate) const STL: &str = "stl";

/// One model for the rows of all tasks.
pub(crate) const POOLED: &str = "pooled";

/// The same for methods that a caller looks up by name, such as those of a longer list than
/// [`registry`](crate::registry).
///
/// # Errors
/// As of [`candidates`].
pub fn candidates_from(
    find: impl Fn(&str) -> Result<&'static dyn Method>,
    methods: &[String],
    axes: &[Axis],
) -> Result<Vec<Candidate>> {
    let (weights, kernels) = (weights(axes)?, kernels(axes)?);
    let mut used = vec![false; axes.len()];
    let mut out: Vec<Candidate> = vec![];
    for text in methods {
        let written = MethodText::new(text)?;
        let method = find(written.name)?;
        let mut given: Vec<Given> =
            written.params.iter().map(|(name, value)| (name.to_string(), vec![value.to_string()])).collect();
        for (axis, used) in axes.iter().zip(&mut used) {
            let known = method.params().iter().any(|param| param.name == axis.name)
                || (axis.is_atom() && method.info().takes_atoms);
            *used |= known;
            if known && given.iter().all(|(name, _)| *name != axis.name) {
                given.push((axis.name.clone(), axis.values.clone()));
            }
        }
        let (settings, axes) = combinations(method, &given)?;
        let is_open = method
            .params()
            .iter()
            .any(|param| param.grid.len() > 1 && given.iter().all(|(name, _)| name != param.name));
        let kernels = match &kernels {
            Some(all) => KernelGrid::These(all.clone()),
            None if method.info().tries_kernels && is_open => KernelGrid::Auto,
            None => KernelGrid::Study,
        };
        let is_product = axes.lengths.iter().product::<usize>() == settings.len();
        if out.iter().all(|other| other.settings != settings) {
            let candidate = match &weights {
                Some(weights) => Candidate::on_weights(settings, weights.clone()),
                None => Candidate::on_default_grid(settings),
            };
            let is_large = candidate.settings.len() * kernels.most() > MAX_ALL;
            let axes = (is_open && is_product && is_large).then_some(axes);
            out.push(Candidate { kernels, axes, ..candidate });
        }
    }
    // What a curved function gains is no gain of learning tasks together: simple methods have the same kernels.
    if out.iter().any(|candidate| candidate.kernels == KernelGrid::Auto) {
        let is_simple = |method: &MethodSpec| SIMPLE_METHODS.contains(&method.name());
        for candidate in out.iter_mut().filter(|candidate| candidate.settings.iter().all(is_simple)) {
            candidate.kernels = KernelGrid::Auto;
        }
    }
    let unused = |(axis, used): (&Axis, &bool)| {
        (!*used && !is_weight(axis) && axis.name != KERNEL).then(|| axis.name.clone())
    };
    match axes.iter().zip(&used).find_map(unused) {
        Some(name) if name.starts_with(ATOM_PARAM) => {
            let atom = &name[ATOM_PARAM.len()..];
            Err(Error::Study(format!("no method here takes atoms, and {atom:?} is given; kin and fmtl do")))
        }
        Some(name) => Err(Error::Study(format!("no method here has a parameter {name:?}"))),
        None => Ok(out),
    }
}

/// A parameter and the values to try.
type Given = (String, Vec<String>);

fn is_weight(axis: &Axis) -> bool {
    matches!(axis.name.as_str(), "c" | "strength")
}

/// The name of the axis of kernels.
const KERNEL: &str = "kernel";

/// Kernels to try; `None` if there is no axis for them.
fn kernels(axes: &[Axis]) -> Result<Option<Vec<Kernel>>> {
    let axis = axes.iter().find(|axis| axis.name == KERNEL);
    let parse = |axis: &Axis| axis.values.iter().map(|text| Ok(text.parse::<Kernel>()?)).collect();
    axis.map(parse).transpose()
}

/// Strengths or values of C, increasing; `None` if there is no axis for them.
fn weights(axes: &[Axis]) -> Result<Option<Vec<Weight>>> {
    let given: Vec<&Axis> = axes.iter().filter(|axis| is_weight(axis)).collect();
    let axis = match given[..] {
        [] => return Ok(None),
        [axis] => axis,
        _ => return Err(Error::Study("the grid may have values of c or of strength, not both".into())),
    };
    let mut values = vec![];
    for text in &axis.values {
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() && x > 0.0 => values.push(x),
            _ => return Err(Error::Study(format!("{} = {text:?}: it must be a positive number", axis.name))),
        }
    }
    values.sort_by(f64::total_cmp);
    let weight = if axis.name == "c" { Weight::C } else { Weight::Relative };
    Ok(Some(values.into_iter().map(weight).collect()))
}

/// All combinations of the values given, and of the default grids for the other parameters. A parameter that
/// has no effect beside another (k for exp) is not varied. The axes start at the defaults, or in the middle.
fn combinations(method: &'static dyn Method, given: &[Given]) -> Result<(Vec<MethodSpec>, SettingAxes)> {
    let mut all: Vec<Vec<(String, String)>> = vec![vec![]];
    let mut axes = SettingAxes { lengths: vec![], start: vec![] };
    for param in method.params() {
        let own = given.iter().find(|(name, _)| name == param.name).map(|(_, values)| values.clone());
        let values = own.unwrap_or_else(|| param.grid.iter().map(|v| v.to_string()).collect());
        axes.lengths.push(values.len().max(1));
        axes.start.push(values.iter().position(|value| value == param.default).unwrap_or(values.len() / 2));
        all = all
            .iter()
            .flat_map(|start| {
                let matters = start.iter().all(|(name, value)| param.matters_with(name, value));
                let values = if matters { &values[..] } else { &values[..0] };
                let longer = |v: &String| [start.clone(), vec![(param.name.to_string(), v.clone())]].concat();
                if values.is_empty() { vec![start.clone()] } else { values.iter().map(longer).collect() }
            })
            .collect();
    }
    for (name, values) in given.iter().filter(|(name, _)| name.starts_with(ATOM_PARAM)) {
        let longer = |start: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
            values.iter().map(|v| [start.clone(), vec![(name.clone(), v.clone())]].concat()).collect()
        };
        all = all.iter().flat_map(longer).collect();
        axes.lengths.push(values.len());
        let is_default = |value: &String| value.parse() == Ok(DEFAULT_ATOM_WEIGHT);
        axes.start.push(values.iter().position(is_default).unwrap_or(0));
    }
    let is_unknown =
        |name: &str| !name.starts_with(ATOM_PARAM) && method.params().iter().all(|param| param.name != name);
    let unknown = given.iter().filter(|(name, _)| is_unknown(name));
    let mut out = vec![];
    for mut setting in all {
        setting.extend(unknown.clone().map(|(name, values)| (name.clone(), values[0].clone())));
        let pairs: Vec<(&str, &str)> = setting.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        out.push(MethodSpec::of(method, &pairs)?);
    }
    Ok((out, axes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(methods: &[&str], axes: &[&str]) -> std::result::Result<Vec<String>, String> {
        let methods: Vec<String> = methods.iter().map(|m| m.to_string()).collect();
        let axes: Vec<Axis> = axes.iter().map(|a| a.parse().unwrap()).collect();
        let found = candidates(&methods, &axes).map_err(|error| error.to_string())?;
        Ok(found.iter().flat_map(|c| &c.settings).map(ToString::to_string).collect())
    }

    #[test]
    fn methods_axes_and_default_grids_combine() {
        assert_eq!(names(&["stl", "stl"], &[]).unwrap(), ["stl"]);
        assert_eq!(names(&["fmtl:k=2"], &["k=1,4"]).unwrap(), ["fmtl:k=2,output=power"]);
        let both = names(&["mtl", "fmtl"], &["k=1,4", "mu=0.5"]).unwrap();
        assert_eq!(both, ["mtl:mu=0.5", "fmtl:k=1,output=power", "fmtl:k=4,output=power"]);
        assert_eq!(names(&["fmtl:output=exp"], &[]).unwrap(), ["fmtl:output=exp"]);
        assert_eq!(names(&["fmtl"], &[]).unwrap().len(), 3);
    }

    #[test]
    fn weights_of_atoms_are_axes_of_methods_that_take_atoms() {
        let atoms: Vec<AtomSetting> =
            ["groups=r.csv:region", "common,weight=3"].iter().map(|text| text.parse().unwrap()).collect();
        let axes = |axes: &[&str]| -> Vec<Axis> {
            Axis::with_atoms(&axes.iter().map(|a| a.parse().unwrap()).collect::<Vec<_>>(), &atoms)
        };
        let names = |methods: &[&str], axes: &[Axis]| -> std::result::Result<Vec<String>, String> {
            let methods: Vec<String> = methods.iter().map(|m| m.to_string()).collect();
            let found = candidates(&methods, axes).map_err(|error| error.to_string())?;
            Ok(found.iter().flat_map(|c| &c.settings).map(ToString::to_string).collect())
        };
        assert_eq!(
            names(&["fmtl:k=1", "stl"], &axes(&["region=0,5", "common=7"])).unwrap(),
            [
                "fmtl:atom.common=7,atom.region=0,k=1,output=power",
                "fmtl:atom.common=7,atom.region=5,k=1,output=power",
                "stl"
            ]
        );
        assert_eq!(names(&["fmtl:k=1"], &axes(&[])).unwrap().len(), 4);
        assert_eq!(
            names(&["stl"], &axes(&[])).unwrap_err(),
            "no method here takes atoms, and \"region\" is given; kin and fmtl do"
        );
    }

    #[test]
    fn weights_are_sorted_and_positive() {
        let weights = |axes: &[&str]| weights(&axes.iter().map(|a| a.parse().unwrap()).collect::<Vec<_>>());
        assert_eq!(weights(&["c=10,0.1"]).unwrap().unwrap(), [Weight::C(0.1), Weight::C(10.0)]);
        assert_eq!(weights(&[]).unwrap(), None);
        let kernels = |all: &[String]| -> Vec<KernelGrid> {
            candidates(all, &[]).unwrap().into_iter().map(|candidate| candidate.kernels).collect()
        };
        assert_eq!(kernels(&["kin".into(), "stl".into()]), [KernelGrid::Auto, KernelGrid::Auto]);
        assert_eq!(kernels(&["fmtl".into(), "stl".into()]), [KernelGrid::Study, KernelGrid::Study]);
        let found = candidates(&["stl".into()], &[]).unwrap();
        assert!(found[0].weights.len() == 13 && found[0].grows);
        assert!(
            weights(&["c=1", "strength=1"]).is_err()
                && weights(&["c=0"]).is_err()
                && weights(&["c=x"]).is_err()
        );
    }

    #[test]
    fn mistakes_are_named() {
        assert_eq!(names(&["stl"], &["k=1"]).unwrap_err(), "no method here has a parameter \"k\"");
        assert!(names(&["fmtl:j=1"], &[]).unwrap_err().contains("there is no parameter \"j\""));
        assert!(names(&["fmtl:k"], &[]).unwrap_err().contains("\"k\" is not NAME=VALUE"));
        assert!("k".parse::<Axis>().is_err() && "k=".parse::<Axis>().is_err());
    }
}
