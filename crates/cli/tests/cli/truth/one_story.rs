//! Every method, three losses, three C: claim, status and numbers are the same in all four places.

use super::envelope::Parts;
use crate::common::Place;
use serde_json::{Value, json};

const KEYS: [&str; 5] = ["claim", "status", "primal", "dual", "gap"];

fn picked(object: &Value) -> Value {
    KEYS.iter().map(|key| (key.to_string(), object[key].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// What the model file holds.
fn in_file(place: &Place) -> Value {
    let about = Parts::of(&place.read("m.st")).about;
    let certificate = &about["certificate"];
    json!({
        "claim": about["claim"], "status": about["status"],
        "primal": certificate["primal"], "dual": certificate["dual"], "gap": certificate["gap"],
    })
}

/// The data of the page.
fn in_page(place: &Place) -> Value {
    let page = String::from_utf8(place.read("m.html")).unwrap();
    let start = "<script type=\"application/json\" id=\"certificate-data\">";
    let (_, rest) = page.split_once(start).expect("the page holds the certificate");
    picked(&serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap())
}

#[test]
fn fit_file_certify_and_report_agree() {
    let place = Place::new();
    place.write("d.csv", super::rows());
    let columns = "--task task --target y --threads 1";
    let mut told = 0;
    for method in kinfolk_train::registry() {
        for loss in ["squared", "hinge", "logistic"] {
            for c in ["0.01", "1", "100"] {
                let what = format!("{} {loss} C = {c}", method.name());
                let fit = format!(
                    "fit d.csv {columns} --method {} --loss {loss} --c {c} -o m.st --json",
                    method.name()
                );
                let said = place.run(&fit);
                if said.stderr.contains("the squared loss only") {
                    assert_ne!(loss, "squared", "{what}");
                    continue;
                }
                assert_eq!(said.code, 0, "{what}: {}", said.stderr);
                let fit: Value = serde_json::from_str(&said.stdout).unwrap();
                let story = picked(&fit);
                let given = fit["claim"]["given"].as_str();
                let expected = match method.name() {
                    "mtfl" => Some("the groups and their weights"),
                    "gmtl" => Some("the groups"),
                    _ => None,
                };
                assert_eq!(given, expected, "{what}");
                assert_eq!(in_file(&place), story, "{what}");
                let certify = place.run("certify m.st d.csv --threads 1 --json");
                let checked: Value = serde_json::from_str(&certify.stdout).unwrap();
                assert_eq!(picked(&checked["stored"]), story, "{what}");
                assert_eq!(checked["mismatches"], json!([]), "{what}");
                assert_eq!(checked["holds"], fit["status"] == "certified", "{what}: {checked}");
                for key in ["primal", "dual", "gap"] {
                    let number = |object: &Value| object[key].as_f64().unwrap();
                    let size = fit["primal"].as_f64().unwrap().abs();
                    assert!(
                        (number(&checked["recomputed"]) - number(&fit)).abs() <= 1e-12 * size,
                        "{what}: {key}"
                    );
                }
                let report = place.json("report m.st d.csv -o m.html --threads 1");
                assert_eq!(picked(&report), story, "{what}");
                assert_eq!(in_page(&place), story, "{what}");
                assert_eq!(report["remark"], fit["remark"], "{what}");
                told += 1;
            }
        }
    }
    // All methods know the three losses, but for one.
    assert_eq!(told, 9 * kinfolk_train::registry().len() - 6);
}
