//! Columns that are alike, tasks that are not, and what else readers of tables stumbled over.

use crate::common::Place;

/// 60 molecules with 12 assays that are alike, some results missing, and an identifier.
fn molecules() -> String {
    let names: Vec<String> = (1..=12).map(|t| format!("tox_{t}")).collect();
    let mut text = format!("molecule_id,mass,charge,{}\n", names.join(","));
    for i in 0..60_usize {
        let (mass, charge) = (100 + i * 37 % 53, i * 7 % 5);
        let result = |t: usize| match (i + t) % 4 {
            0 => String::new(),
            _ => usize::from((mass * (1 + t % 3) + 11 * charge) % 7 > 3).to_string(),
        };
        let results: Vec<String> = (1..=12).map(result).collect();
        text += &format!("m{i},{mass}.5,{charge},{}\n", results.join(","));
    }
    text
}

#[test]
fn one_target_of_a_family_is_noted() {
    let place = Place::new();
    place.write("m.csv", molecules());
    let said = place.ok("fit m.csv --target tox_1 --loss logistic --c 1 -o m.st");
    let note = "column \"tox_1\" is learned from 11 columns that are called like it (--target 'tox_*' learns all of \
                them, --drop 'tox_*' leaves the others out): \"tox_2\", \"tox_3\"";
    assert!(said.contains(note), "{said}");
    for other in ["--target tox_1 --drop tox_*", "--target tox_*"] {
        let said = place.ok(&format!("fit m.csv {other} --loss logistic --c 1 -o m.st --force"));
        assert!(!said.contains("called like it"), "{said}");
    }
}

#[test]
fn info_folds_columns_that_are_alike_and_proposes_them_as_targets() {
    let place = Place::new();
    place.write("m.csv", molecules());
    let said = place.ok("data info m.csv");
    assert!(said.contains("tox_1 (and 11 like it)") && !said.contains("tox_2 "), "{said}");
    assert!(said.contains("mass") && said.contains("--target 'tox_*'"), "{said}");
    let columns = place.json("data info m.csv")["columns"].clone();
    assert_eq!(columns.as_array().unwrap().len(), 15);
}

#[test]
fn wide_coefficients_have_a_line_each() {
    let place = Place::new();
    place.write("m.csv", molecules());
    place.ok("fit m.csv --target tox_* --loss logistic --c 1 -o m.st");
    let said = place.ok("model coef m.st --top 1");
    assert!(said.starts_with("feature") && said.lines().all(|line| line.chars().count() <= 120), "{said}");
    assert!(said.contains("tox_12"), "{said}");
    let said = place.ok("model coef m.st --top 1 --task tox_1 --task tox_2");
    assert!(said.lines().next().unwrap().ends_with("tox_2"), "{said}");
}

#[test]
fn predictions_say_how_to_keep_an_identifier_and_write_commas() {
    let place = Place::new();
    let rows = (0..40).map(|i| format!("{i};{:02}.03.2024;{},5;{},25\n", 1 + i % 28, i * 7 % 11, i * 3 % 8));
    place.write("a.csv", format!("nr;day;x;y\n{}", rows.collect::<String>()));
    place.ok("fit a.csv --target y --drop nr --c 1 -o m.st");
    let said = place.run("predict m.st a.csv");
    assert!(said.stderr.contains("--keep nr carries that column along"), "{}", said.stderr);
    assert!(said.stderr.contains("--decimal , writes commas"), "{}", said.stderr);
    let said = place.run("predict m.st a.csv --keep day --decimal ,");
    assert!(!said.stderr.contains("--keep") && !said.stderr.contains("--decimal"), "{}", said.stderr);
}

/// Tasks 0 to 2 have one slope, tasks 3 to 5 the opposite one.
fn opposites() -> String {
    let mut text = String::from("t,x,z,y\n");
    for i in 0..120_i32 {
        let (task, x, z) = (i % 6, i * 37 % 23 - 11, i * 11 % 7 - 3);
        let sign = if task < 3 { 1 } else { -1 };
        text += &format!("t{task},{x},{z},{}\n", sign * (3 * x - 5 * z) * 10 + i * 29 % 13);
    }
    text
}

#[test]
fn opposites_are_no_kin_and_tasks_alone_were_not_compared() {
    let place = Place::new();
    place.write("a.csv", opposites());
    place.ok("fit a.csv --task t --target y --method fmtl --c strength:1 -o m.st");
    let said = place.ok("theta m.st");
    let line =
        said.lines().rfind(|line| line.starts_with("t0") && line.contains("opposite: t")).unwrap_or_default();
    let (kin, opposite) = line.split_once("; opposite: ").unwrap_or_default();
    assert!(kin.contains("t1 (") && kin.contains("t2 (") && !kin.contains("-"), "{said}");
    assert!(opposite.starts_with(['t']) && opposite.contains("(-"), "{said}");
    place.ok("report m.st a.csv -o m.html");
    let page = String::from_utf8(place.read("m.html")).unwrap();
    assert!(page.contains("Closest kin: ") && !page.contains("Closest kin: t0 and t3"));
    place.ok("fit a.csv --task t --target y --method stl --c strength:1 -o s.st");
    place.ok("report s.st a.csv -o s.html");
    let page = String::from_utf8(place.read("s.html")).unwrap();
    assert!(page.contains("Tasks were learned alone: relations were not looked for"));
    assert!(!page.contains("No two tasks are related"));
}

#[test]
fn splits_write_no_model() {
    let place = Place::new();
    place.write("a.csv", opposites());
    let said = place.run("select a.csv --task t --target y --splits 2 --train-share 0.5 -o m.st");
    assert!(said.code == 2 && said.stderr.contains("-o has nothing to write"), "{}", said.stderr);
}
