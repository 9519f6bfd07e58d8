//! One spec means one fit: as options, as a file, as a model remembers it.

use crate::common::{Place, school};

const DATA: &str = "school.csv --task school --target score --threads 1 --quiet";

#[test]
fn the_spec_of_a_model_fits_the_same_model_again() {
    let place = Place::new();
    place.write("school.csv", school());
    let methods = ["fmtl:k=2", "fmtl:output=series;coefficients=[0.1,0.5]", "mtl:mu=0.1", "mtrl", "gmtl"];
    for method in methods {
        place.ok(&format!("fit {DATA} --method {method} --scale standard -o a.st"));
        place.write("fit.toml", place.ok("model show a.st --spec"));
        place.ok("fit school.csv --spec fit.toml -o b.st --quiet");
        assert_eq!(place.read("a.st"), place.read("b.st"), "{method}");
        let shown = place.json("model show b.st");
        let text = shown["spec"]["method"].as_str().unwrap();
        assert!(place.ok("model show b.st").contains(text), "{method}: {text}");
        // What is printed can be pasted back.
        place.ok(&format!("fit {DATA} --method {text} --scale standard -o c.st"));
        assert_eq!(place.read("a.st"), place.read("c.st"), "{method}: {text}");
    }
}

/// A kernel that was chosen stays open in the settings: they make the same choice of kernel and C again.
#[test]
fn the_spec_of_a_curved_model_chooses_the_same_again() {
    let place = Place::new();
    let row = |i: i32| {
        let (x, z) = (f64::from(i * 37 % 41) / 8.0, f64::from(i * 53 % 43) / 20.0 - 1.0);
        format!("t{},{x},{z},{}\n", i % 4, (2.0 * x).sin() * z)
    };
    place.write("a.csv", format!("task,x,z,y\n{}", (0..160).map(row).collect::<String>()));
    let said = place.ok("fit a.csv --task task --target y --threads 1 -o a.st");
    assert!(said.contains("predicts better than linear"), "{said}");
    place.write("fit.toml", place.ok("model show a.st --spec"));
    place.ok("fit a.csv --spec fit.toml -o b.st --quiet");
    assert_eq!(place.read("a.st"), place.read("b.st"));
    assert_eq!(place.json("certify b.st a.csv")["holds"], true);
}

#[test]
fn options_override_a_spec_file_and_wrong_files_are_one_line() {
    let place = Place::new();
    place.write("school.csv", school());
    place
        .write("fit.toml", "method = \"stl\"\nc = 0.5\n[columns]\ntask = \"school\"\ntarget = [\"score\"]\n");
    let fit = place.json("fit school.csv --spec fit.toml --c 2 -o m.st");
    assert_eq!((fit["spec"]["method"].as_str(), fit["c"].as_f64()), (Some("stl"), Some(2.0)), "{fit}");
    place.write("wrong.toml", "methd = \"stl\"\n");
    let said = place.run("fit school.csv --spec wrong.toml -o n.st");
    assert_eq!(said.code, 3, "{}", said.stderr);
    assert!(
        said.stderr.starts_with("error: wrong.toml: ") && said.stderr.contains("methd"),
        "{}",
        said.stderr
    );
    assert!(!place.path("n.st").exists());
}

#[test]
fn an_offset_is_a_known_part_of_the_label_for_the_squared_loss() {
    let place = Place::new();
    let (mut plain, mut shifted) = (String::from("task,x,z,y\n"), String::from("task,x,z,y,known\n"));
    for i in 0..40 {
        let (x, z, known) = (f64::from(i * 7 % 13) - 6.0, f64::from(i * 5 % 11) - 5.0, f64::from(i % 3));
        let y = 0.5 * x - 0.25 * z + f64::from(i % 2);
        let task = ["a", "b"][i as usize % 2];
        plain += &format!("{task},{x},{z},{y}\n");
        shifted += &format!("{task},{x},{z},{},{known}\n", y + known);
    }
    place.write("plain.csv", plain);
    place.write("shifted.csv", shifted);
    let options = "--task task --target y --loss squared --c 1 --tol 1e-10 --threads 1 --quiet";
    place.ok(&format!("fit plain.csv {options} -o p.st"));
    place.ok(&format!("fit shifted.csv {options} --offset known -o s.st"));
    assert_eq!(place.json("certify s.st shifted.csv")["holds"], true);
    let scores = |model: &str| -> Vec<f64> {
        let text = place.ok(&format!("predict {model} plain.csv --task task"));
        text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().parse().unwrap()).collect()
    };
    for (one, other) in scores("p.st").iter().zip(scores("s.st")) {
        assert!((one - other).abs() < 1e-4, "{one} {other}");
    }
    let same = |key: &str, a: &serde_json::Value, b: &serde_json::Value| {
        let (a, b) =
            (a["metrics"][key]["mean"].as_f64().unwrap(), b["metrics"][key]["mean"].as_f64().unwrap());
        assert!((a - b).abs() < 1e-4, "{key}: {a} {b}");
    };
    same("rmse", &place.json("evaluate p.st plain.csv"), &place.json("evaluate s.st shifted.csv"));
}
