//! From words to candidates: `fmtl:k=2`, `strength=0.1,1,10`.

use super::Candidate;
use crate::{Error, Method, Params, Point, Result, find};
use kinfolk::CScale;

/// What a caller wants tried of a parameter: `k=1,2,4`, `mu=0.1,1`, `strength=1,10` or `c=0.1,1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    name: String,
    values: Vec<String>,
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

/// Candidates from a list such as `stl,mtl:mu=0.1,fmtl:k=1` (several parameters: `fmtl:output=exp;k=1`) and axes for what the list
/// leaves open. What nobody says is on the default grids.
pub fn candidates(methods: &[String], axes: &[Axis]) -> Result<Vec<Candidate>> {
    candidates_from(find, methods, axes)
}

/// The same for methods that a caller looks up by name, such as those of a longer list than [`registry`](crate::registry).
pub fn candidates_from(
    find: impl Fn(&str) -> Result<&'static dyn Method>,
    methods: &[String],
    axes: &[Axis],
) -> Result<Vec<Candidate>> {
    let points = points(axes)?;
    let mut used = vec![false; axes.len()];
    let mut out: Vec<Candidate> = vec![];
    for text in methods {
        let (name, given) = text.split_once(':').unwrap_or((text, ""));
        let method = find(name.trim())?;
        let mut said = vec![];
        for part in given.split(';').filter(|part| !part.trim().is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                let why = format!("{part:?} is not NAME=VALUE");
                return Err(Error::Param { method: method.name(), why });
            };
            said.push((key.trim().to_string(), vec![value.trim().to_string()]));
        }
        for (axis, used) in axes.iter().zip(&mut used) {
            let known = method.params().iter().any(|param| param.name == axis.name);
            *used |= known;
            if known && said.iter().all(|(key, _)| *key != axis.name) {
                said.push((axis.name.clone(), axis.values.clone()));
            }
        }
        let params = combinations(method, &said)?;
        if out.iter().all(|other| other.method.name() != method.name() || other.params != params) {
            out.push(Candidate { method, params, points: points.clone() });
        }
    }
    let unused = |(axis, used): (&Axis, &bool)| (!*used && !is_point(axis)).then(|| axis.name.clone());
    match axes.iter().zip(&used).find_map(unused) {
        Some(name) => Err(Error::Study(format!("no method here has a parameter {name:?}"))),
        None => Ok(out),
    }
}

fn is_point(axis: &Axis) -> bool {
    matches!(axis.name.as_str(), "c" | "strength")
}

/// Strengths or values of C, increasing; the default strengths if nobody says.
fn points(axes: &[Axis]) -> Result<Vec<Point>> {
    let said: Vec<&Axis> = axes.iter().filter(|axis| is_point(axis)).collect();
    let axis = match said[..] {
        [] => return Ok(CScale::grid().map(Point::Strength).to_vec()),
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
    let point = |x: &f64| if axis.name == "c" { Point::C(*x) } else { Point::Strength(*x) };
    Ok(values.iter().map(point).collect())
}

/// All combinations of what was said, and of the default grids for what was not. A parameter that has no effect beside another
/// (k for exp) is not varied.
fn combinations(method: &'static dyn Method, said: &[(String, Vec<String>)]) -> Result<Vec<Params>> {
    let mut all: Vec<Vec<(String, String)>> = vec![vec![]];
    for param in method.params() {
        let own = said.iter().find(|(key, _)| key == param.name).map(|(_, values)| values.clone());
        let values = own.unwrap_or_else(|| param.grid.iter().map(|v| v.to_string()).collect());
        all = all
            .iter()
            .flat_map(|start| {
                let matters = start.iter().all(|(key, value)| param.matters_with(key, value));
                let values = if matters { &values[..] } else { &values[..0] };
                let longer = |v: &String| [start.clone(), vec![(param.name.to_string(), v.clone())]].concat();
                if values.is_empty() { vec![start.clone()] } else { values.iter().map(longer).collect() }
            })
            .collect();
    }
    let unknown = said.iter().filter(|(key, _)| method.params().iter().all(|param| param.name != key));
    let mut out = vec![];
    for mut given in all {
        given.extend(unknown.clone().map(|(key, values)| (key.clone(), values[0].clone())));
        let pairs: Vec<(&str, &str)> = given.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        out.push(Params::parse(method.name(), method.params(), &pairs)?);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(methods: &[&str], axes: &[&str]) -> std::result::Result<Vec<String>, String> {
        let methods: Vec<String> = methods.iter().map(|m| m.to_string()).collect();
        let axes: Vec<Axis> = axes.iter().map(|a| a.parse().unwrap()).collect();
        let found = candidates(&methods, &axes).map_err(|error| error.to_string())?;
        let of =
            |c: &Candidate| c.params.iter().map(|p| format!("{} {p}", c.method.name())).collect::<Vec<_>>();
        Ok(found.iter().flat_map(of).collect())
    }

    #[test]
    fn methods_axes_and_default_grids_combine() {
        assert_eq!(names(&["stl", "stl"], &[]).unwrap(), ["stl "]);
        assert_eq!(names(&["fmtl:k=2"], &["k=1,4"]).unwrap(), ["fmtl k=2, output=power"]);
        let both = names(&["mtl", "fmtl"], &["k=1,4", "mu=0.5"]).unwrap();
        assert_eq!(both, ["mtl mu=0.5", "fmtl k=1, output=power", "fmtl k=4, output=power"]);
        assert_eq!(names(&["fmtl:output=exp"], &[]).unwrap(), ["fmtl output=exp"]);
        assert_eq!(names(&["fmtl"], &[]).unwrap().len(), 3);
    }

    #[test]
    fn points_are_sorted_and_positive() {
        let points = |axes: &[&str]| points(&axes.iter().map(|a| a.parse().unwrap()).collect::<Vec<_>>());
        assert_eq!(points(&["c=10,0.1"]).unwrap(), [Point::C(0.1), Point::C(10.0)]);
        assert_eq!(points(&[]).unwrap().len(), 13);
        assert!(
            points(&["c=1", "strength=1"]).is_err() && points(&["c=0"]).is_err() && points(&["c=x"]).is_err()
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
