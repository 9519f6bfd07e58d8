//! Optima that a conic solver found, for the tests of several crates.

#![allow(clippy::unwrap_used)] // a helper of tests

use kinfolk::LossKind;

/// The optimum of a problem by its name in methods.json.
pub(crate) fn optimum(name: &str, loss: &LossKind) -> f64 {
    let golden: serde_json::Value = serde_json::from_str(include_str!("methods.json")).unwrap();
    let instances = golden["instances"].as_array().unwrap();
    assert_eq!(instances.len(), 41);
    let loss = loss.to_string();
    let found = instances.iter().find(|i| i["name"] == name && i["loss"] == loss);
    found.unwrap_or_else(|| panic!("no {name}, {loss}"))["optimum"].as_f64().unwrap()
}
