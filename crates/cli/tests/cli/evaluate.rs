//! Scores of predictions, what intervals hold, and what drives predictions.

use crate::common::Place;

/// `n` wards of 30 rows: a curve in age, a word that matters, a column that does not.
fn wards(n: u32) -> String {
    let mut text = String::from("ward,age,unit,noise,stay\n");
    for i in 0..30 * n {
        let (ward, age) = (i % n, f64::from(i * 37 % 61));
        let unit = ["icu", "day", "night"][(i * 7 % 3) as usize];
        let bend = (age - 30.0).powi(2) / 100.0;
        let stay = 3.0 + bend + if unit == "icu" { 4.0 } else { 0.0 } + f64::from(i * 29 % 13) / 10.0;
        text += &format!("w{ward:02},{age},{unit},{},{stay}\n", i * 41 % 17);
    }
    text
}

const WARDS: &str = "wards.csv --task ward --target stay --threads 1";

#[test]
fn importance_says_what_drives_a_curved_model() {
    let place = Place::new();
    place.write("wards.csv", wards(5));
    place.ok(&format!("fit {WARDS} --kernel rbf --c strength:1 -o m.st"));
    let said = place.run("model coef m.st").stderr;
    assert!(said.contains("kinfolk evaluate MODEL DATA --importance"), "{said}");
    let said = place.run("evaluate m.st wards.csv --importance --by-task");
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(said.stderr.contains("the model was fitted to these rows"), "{}", said.stderr);
    assert!(said.stdout.contains("fall of pooled-r2, ") && said.stdout.contains("over 5 shuffles"));
    let found = place.json("evaluate m.st wards.csv --importance --by-task");
    let columns = found["columns"].as_array().unwrap();
    // A column for each of the file, and not for each feature: the most important first.
    let names: Vec<&str> = columns.iter().map(|column| column["column"].as_str().unwrap()).collect();
    assert_eq!(names, ["age", "unit", "noise"]);
    let fall = |i: usize| columns[i]["fall"].as_f64().unwrap();
    assert!(fall(0) > 0.3 && fall(1) > 0.1 && fall(2).abs() < 0.1, "{found}");
    assert!(columns[0]["tasks"]["w03"].as_f64().unwrap() > 0.1, "{found}");
    // The same seed gives the same numbers, with any number of threads; another one does not.
    let same = place.json("evaluate m.st wards.csv --importance --by-task --threads 2");
    assert_eq!(same, found);
    assert_ne!(place.json("evaluate m.st wards.csv --importance --by-task --seed 7"), found);
    let other = place.json("evaluate m.st wards.csv --importance --metric rmse --shuffles 2");
    assert!(other["metric"] == "rmse" && other["columns"][0]["fall"].as_f64().unwrap() > 0.0, "{other}");
    assert_eq!(place.run("evaluate m.st wards.csv --by-task").code, 2);
}

#[test]
fn importance_is_for_classes_too() {
    let place = Place::new();
    let row = |i: usize| format!("{},{},{}\n", i % 3 * 10 + i % 7, i * 5 % 9, ["ash", "elm", "oak"][i % 3]);
    place.write("a.csv", format!("x,z,tree\n{}7,1,yew\n", (0..60).map(row).collect::<String>()));
    place.write("fit.csv", format!("x,z,tree\n{}", (0..60).map(row).collect::<String>()));
    place.ok("fit fit.csv --target tree --classes --kernel rbf --c 1 -o m.st");
    let said = place.run("evaluate m.st a.csv --importance");
    assert!(said.stderr.contains("1 row without a label or a task of the model left out"), "{}", said.stderr);
    let found = place.json("evaluate m.st a.csv --importance");
    assert_eq!((&found["columns"][0]["column"], &found["n_inputs"]), (&"x".into(), &60.into()));
    // Rows that are left out are not counted as rows that are scored.
    assert_eq!(place.json("evaluate m.st a.csv")["n_inputs"], 60);
    let found = place.json("evaluate m.st a.csv --metric top-2");
    assert!(found["metrics"]["top_2"]["pooled"].as_f64().unwrap() > 0.5, "{found}");
}

#[test]
fn one_score_and_coverage_of_intervals_can_be_asked_for() {
    let place = Place::new();
    place.write("wards.csv", wards(12));
    place.ok(&format!(
        "fit {WARDS} --kernel rbf --c strength:1 --interval-folds 5 --interval-new-tasks -o m.st"
    ));
    let rows = wards(12) + "w01,30,icu,3,\nnew,30,icu,3,8\n";
    place.write("new.csv", rows);
    let said = place.ok("evaluate m.st new.csv --interval 0.9 --unknown-task mean");
    assert!(said.contains("in interval") && said.contains("intervals are those of level 0.9, "), "{said}");
    let found = place.json("evaluate m.st new.csv --interval 0.9 --unknown-task mean");
    let coverage = found["interval"]["coverage"].as_f64().unwrap();
    assert!(coverage > 0.85 && found["interval"]["mean_width"].as_f64().unwrap() > 0.0, "{found}");
    assert_eq!((&found["interval"]["n_without_interval"], &found["n_inputs"]), (&0.into(), &361.into()));
    let said = place.ok("evaluate m.st wards.csv --metric mae");
    assert!(said.contains("mae") && !said.contains("rmse"), "{said}");
    let said = place.run("evaluate m.st wards.csv --metric auc").stderr;
    assert!(said.contains("the metric auc needs labels of two values"), "{said}");
    place.ok(&format!("fit {WARDS} --c strength:1 -o none.st"));
    assert!(place.run("evaluate none.st wards.csv --interval 0.9").stderr.contains("--interval-folds 5"));
}

#[test]
fn noise_is_not_spoken_of_where_it_is_not_measured() {
    let place = Place::new();
    place.write("wards.csv", wards(6));
    let said = place.ok(&format!(
        "select {WARDS} --method kin:common=10,own=1,k=1 --grid strength=1 --kernel linear --whole-tasks --folds 6 \
         --compare"
    ));
    assert!(!said.contains("0 of them beyond noise"), "{said}");
    assert!(said.contains("(each task is in one fold, which does not tell noise)"), "{said}");
}

#[test]
fn spellings_of_yes_and_no_are_two_labels_aloud() {
    let place = Place::new();
    let table = |words: [&str; 6]| {
        let row = |i: usize| {
            let (x, z) = (i * 7 % 13, i * 5 % 11);
            let side = if x + z > 11 { 0 } else { 3 };
            format!(
                "t{},{x},{z},{}\n",
                i % 3,
                words[side + usize::from(i.is_multiple_of(5)) + usize::from(i.is_multiple_of(10))]
            )
        };
        format!("t,x,z,sold\n{}", (0..90).map(row).collect::<String>())
    };
    place.write("plain.csv", table(["yes", "yes", "yes", "no", "no", "no"]));
    place.write("mixed.csv", table(["yes", "Yes", "Y", "no", "N", "No"]));
    place.ok("fit plain.csv --task t --target sold --c 1 --threads 1 -o plain.st");
    let said = place.ok("fit mixed.csv --task t --target sold --c 1 --threads 1 -o mixed.st");
    let note = "labels in several spellings are read as two: \"no\" (also \"N\", \"No\") and \"yes\" (also \"Y\", \
                \"Yes\")";
    assert_eq!(said.matches(note).count(), 1, "{said}");
    let scores = |model: &str, rows: &str| place.json(&format!("evaluate {model} {rows}"))["metrics"].clone();
    assert_eq!(scores("mixed.st", "mixed.csv"), scores("plain.st", "plain.csv"));
    assert_eq!(place.ok("predict mixed.st plain.csv"), place.ok("predict plain.st plain.csv"));
    place.write("three.csv", table(["yes", "yes", "maybe", "no", "no", "no"]));
    let said = place.run("fit three.csv --task t --target sold --c 1 -o three.st").stderr;
    assert!(said.contains("needs labels of two values"), "{said}");
}

#[test]
fn names_that_are_printed_can_be_explained() {
    let place = Place::new();
    for name in
        ["tasks-alone", "one-model-for-all", "majority", "closest-kin", "importance", "found-in-the-data"]
    {
        assert!(place.ok(&format!("explain {name}")).len() > 40, "{name}");
    }
}
