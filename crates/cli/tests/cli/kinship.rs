//! Which tasks are alike: by their fitted functions, which are not what Theta says.

use crate::common::Place;
use serde_json::Value;

/// Five assays that follow the same weights, and a sixth that is minus the first.
fn assays() -> String {
    let mut text = String::from("assay,x,z,activity\n");
    for i in 0..240 {
        let (x, z) = (f64::from(i * 37 % 41) / 20.0 - 1.0, f64::from(i * 53 % 43) / 21.0 - 1.0);
        let noise = f64::from(i * 29 % 31) / 60.0 - 0.25;
        let activity = 2.0 * x + z + noise;
        let assay = i % 6;
        text += &format!("a{assay},{x},{z},{}\n", if assay == 5 { -activity } else { activity });
    }
    text
}

/// The entry of a matrix in an answer, by the names of tasks.
fn entry(answer: &Value, key: &str, (r, s): (&str, &str)) -> f64 {
    let tasks = answer["tasks"].as_array().unwrap();
    let at = |name: &str| tasks.iter().position(|task| task == name).unwrap();
    answer[key][at(r)][at(s)].as_f64().unwrap()
}

#[test]
fn an_assay_that_is_minus_another_is_its_opposite() {
    let place = Place::new();
    place.write("a.csv", assays());
    place.ok("fit a.csv --task assay --target activity --method kin:common=100 --c strength:1 -o m.st -q");
    let said = place.ok("theta m.st");
    assert!(said.contains("closest kin (correlation of fitted functions)"), "{said}");
    assert_eq!(said.matches("opposite: a5 (-").count(), 5, "{said}");
    let answer = place.json("theta m.st");
    assert_eq!(answer["groups_of"], "functions");
    assert_eq!(answer["groups"].as_array().unwrap().len(), 2, "{answer}");
    assert_eq!(answer["groups"][1], serde_json::json!(["a5"]));
    assert!(entry(&answer, "functions", ("a0", "a5")) < -0.9, "{answer}");
    assert!(entry(&answer, "functions", ("a0", "a1")) > 0.9, "{answer}");
    assert!(place.ok("theta m.st --of theta").contains("closest kin (correlation in Theta, without own)"));
    // The page says the same.
    place.ok("report m.st -o r.html -q");
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(page.contains("of fitted functions</a>") && page.contains("> fitted functions</label>"));
}

#[test]
fn correlations_of_functions_are_written_like_theta() {
    let place = Place::new();
    place.write("a.csv", assays());
    place.ok("fit a.csv --task assay --target activity --c strength:1 --kernel rbf -o m.st -q");
    let answer = place.json("theta m.st --of functions");
    assert_eq!(answer["kind"], "functions");
    assert!(answer.get("theta").is_none() && entry(&answer, "functions", ("a1", "a5")) < -0.5, "{answer}");
    assert!(place.ok("theta m.st --of functions").starts_with("functions  "));
    let done = place.ok("theta m.st --of functions -o f.csv --svg f.svg");
    assert!(done.contains("correlations of the fitted functions of 6 tasks in f.csv"), "{done}");
    let written = String::from_utf8(place.read("f.csv")).unwrap();
    assert!(written.starts_with("task,a") && written.lines().count() == 7, "{written}");
    assert!(String::from_utf8(place.read("f.svg")).unwrap().contains("fitted functions of 6 tasks"));
    let edges =
        place.ok("theta m.st --of functions --format graphml --threshold 0.5").matches("<edge").count();
    assert!(edges >= 10, "{edges}");
}
