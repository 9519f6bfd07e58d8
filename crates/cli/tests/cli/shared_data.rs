//! Real data sets, from end to end: `fit` with default settings certifies, `certify` agrees, `predict` and
//! `evaluate` work, and the same data in another format give the same model to the last bit.
//!
//! The files are looked for in `$KINFOLK_DATA`, else beside the project in `../shared/data`. Those above
//! three megabytes take a while and are left out unless `KINFOLK_TEST_ALL` is set.

use crate::common::Place;
use kinfolk::Model;
use kinfolk_io::{ColumnRoles, Targets, columns_of, read};
use std::path::{Path, PathBuf};

#[test]
fn every_data_set_is_fitted_certified_predicted_and_the_same_in_every_format() {
    let Some(folder) = crate::needs::data_folder("every_data_set_is_fitted") else { return };
    let all = std::env::var_os("KINFOLK_TEST_ALL").is_some();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "npz"));
    files.sort();
    for path in files {
        if !all && path.metadata().unwrap().len() > 3_000_000 {
            let why = format!("{} is large (set KINFOLK_TEST_ALL)", path.display());
            crate::needs::skipped("every_data_set_is_fitted", &why);
            continue;
        }
        eprintln!("{}", path.display());
        from_end_to_end(&path);
    }
}

fn from_end_to_end(path: &Path) {
    let place = Place::new();
    let data = path.display();
    let fit = place.json(&format!("fit {data} --c strength:1 -o npz.safetensors"));
    assert_eq!(fit["status"], "certified", "{data}");
    assert!(fit["rel_gap"].as_f64().unwrap() <= 1e-3, "{data}");
    let certify = place.json(&format!("certify npz.safetensors {data}"));
    for key in ["primal", "dual", "gap"] {
        let (told, again) = (fit[key].as_f64().unwrap(), number(&certify, key));
        let scale = fit["primal"].as_f64().unwrap().abs();
        assert!((told - again).abs() <= 1e-12 * scale, "{data}: {key} {told} {again}");
    }
    place.ok(&format!("predict npz.safetensors {data} -o predictions.csv"));
    let rows = place.read("predictions.csv").iter().filter(|byte| **byte == b'\n').count();
    assert_eq!(rows as u64, 1 + fit["n_inputs"].as_u64().unwrap(), "{data}");
    place.json(&format!("evaluate npz.safetensors {data}"));
    let (table, _) = read(path, &ColumnRoles::default(), None).unwrap();
    let wide = matches!(table.targets, Targets::Wide { .. });
    let columns = options(&columns_of(&table));
    let classes = if matches!(table.targets, Targets::Classes(_)) { "--classes" } else { "" };
    let formats =
        [("again.npz", ""), ("again.csv", &*columns), ("again.parquet", &*columns), ("again.svm", classes)];
    for (file, options) in formats {
        // A line of this format has one label.
        if file.ends_with(".svm") && wide {
            continue;
        }
        place.ok(&format!("data convert {data} {file}"));
        place.ok(&format!("fit {file} {options} --c strength:1 -o again.safetensors"));
        let (a, b) =
            (Model::load(place.path("npz.safetensors")), Model::load(place.path("again.safetensors")));
        let (a, b) = (a.unwrap(), b.unwrap());
        assert!(
            a.theta() == b.theta() && a.alpha() == b.alpha() && a.weights() == b.weights(),
            "{data}: {file}"
        );
    }
}

/// A number of the recomputed certificate.
fn number(said: &serde_json::Value, key: &str) -> f64 {
    said["recomputed"].get(key).or(said.get(key)).and_then(serde_json::Value::as_f64).unwrap()
}

/// The command line for these columns.
fn options(columns: &ColumnRoles) -> String {
    let mut words = vec![];
    words.extend(columns.task.iter().map(|task| format!("--task {task}")));
    if !columns.target.is_empty() {
        words.push(format!("--target {}", columns.target.join(",")));
    }
    words.extend(columns.split.iter().map(|split| format!("--split-column {split}")));
    words.extend(columns.classes.then(|| "--classes".to_string()));
    words.join(" ")
}
