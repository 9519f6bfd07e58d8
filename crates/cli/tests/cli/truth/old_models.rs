//! Models that 0.1.0 wrote predict the same bits. See `models-0.1.0/README.md`.

use crate::common::Place;
use std::path::Path;

/// Name, data to predict, data of the fit, and what the certificate takes as given.
const MODELS: [(&str, &str, &str, Option<&str>); 10] = [
    ("linear", "new.csv", "train.csv", None),
    ("hinge-rbf", "new.csv", "train.csv", None),
    ("scaled", "new.csv", "train.csv", None),
    ("mtfl", "new.csv", "train.csv", Some("the groups and their weights")),
    ("mtrl", "new.csv", "train.csv", None),
    ("gmtl", "new.csv", "train.csv", Some("the groups")),
    ("fixed", "new.csv", "train.csv", None),
    ("one-task", "new.csv", "train.csv", None),
    ("sparse", "new.svm", "train.svm", None),
    ("classes", "new.npz", "train.npz", None),
];

/// A table without the class of each row, which 0.1.0 did not write.
fn scores(table: &str) -> String {
    if !table.lines().next().unwrap().ends_with(",label") {
        return table.into();
    }
    table.lines().map(|line| format!("{}\n", line.rsplit_once(',').unwrap().0)).collect()
}

#[test]
fn models_of_0_1_0_predict_the_same_bits_and_still_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/models-0.1.0");
    let place = Place::new();
    for (name, new, train, given) in MODELS {
        let path = |file: &str| folder.join(file).display().to_string();
        let model = path(&format!("{name}.safetensors"));
        let stdout = place.ok(&format!("predict {model} {}", path(new)));
        let expected = std::fs::read_to_string(folder.join(format!("{name}.predictions.csv"))).unwrap();
        assert_eq!(scores(&stdout), expected, "{name}");
        let check = place.json(&format!("certify {model} {}", path(train)));
        assert_eq!(check["holds"], true, "{name}: {check}");
        assert_eq!(check["stored"]["claim"]["given"].as_str(), given, "{name}");
        assert!(check["stored"]["status"].is_null(), "{name}");
    }
    let models = std::fs::read_dir(&folder).unwrap().filter(|entry| {
        entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "safetensors")
    });
    assert_eq!(models.count(), MODELS.len());
}
