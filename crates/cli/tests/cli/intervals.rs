//! Intervals of predictions, and comparisons that folds allow.

use crate::common::Place;

/// `n` shops of 12 rows each, with a level of its own and a slope that all share.
fn shops(n: u32) -> String {
    let mut text = String::from("shop,x,z,y\n");
    for i in 0..12 * n {
        let (shop, x, z) = (i % n, f64::from(i * 37 % 23), f64::from(i * 11 % 7));
        let y = f64::from(shop % 5) + 0.5 * x - 0.2 * z + f64::from(i * 29 % 13) / 10.0;
        text += &format!("s{shop:02},{x},{z},{y}\n");
    }
    text
}

const SHOPS: &str = "shops.csv --task shop --target y --threads 1";

#[test]
fn a_given_c_has_intervals_with_folds_of_its_own() {
    let place = Place::new();
    place.write("shops.csv", shops(6));
    place.ok(&format!("fit {SHOPS} --c strength:1 -o m.st"));
    let said = place.run("predict m.st shops.csv --interval 0.9").stderr;
    assert!(said.contains("--interval-folds 5") && said.contains("--interval-new-tasks"), "{said}");
    place.ok(&format!("fit {SHOPS} --c strength:1 --interval-folds 5 -o n.st"));
    let said = place.ok("predict n.st shops.csv --interval 0.9");
    assert!(said.starts_with("task,score,low,high\n"), "{said}");
    // The model itself is the same.
    assert_eq!(place.ok("predict n.st shops.csv"), place.ok("predict m.st shops.csv"));
    let said = place.run(&format!("fit {SHOPS} --interval-folds 5 -o n.st --force"));
    assert!(said.stderr.contains("--interval-folds has no effect: C is auto"), "{}", said.stderr);
}

#[test]
fn folds_of_whole_tasks_give_intervals_for_new_tasks() {
    let place = Place::new();
    place.write("shops.csv", shops(12));
    let said = place.run(&format!(
        "select {SHOPS} --method kin:common=10,own=1,k=1 --grid strength=1 --whole-tasks --folds 12 --compare -o w.st"
    ));
    assert_eq!(said.code, 0, "{}", said.stderr);
    assert!(place.ok("model show w.st").contains(" on held-out tasks, by select\n"));
    place.write("new.csv", "shop,x,z\nnew,3,1\ns01,3,1\n");
    let said = place.run("predict w.st new.csv --unknown-task mean --interval 0.9");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let rows: Vec<Vec<&str>> = said.stdout.lines().map(|line| line.split(',').collect()).collect();
    let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    assert!(number(rows[1][2]) < number(rows[1][1]) && number(rows[1][1]) < number(rows[1][3]), "{rows:?}");
    assert!(number(rows[2][2]).is_nan(), "{rows:?}");
    assert!(
        said.stderr.contains("errors are known for tasks without training rows alone"),
        "{}",
        said.stderr
    );
    let said = place.run("predict w.st new.csv --unknown-task mean --interval 0.95").stderr;
    assert!(said.contains("12 held-out tasks are too few"), "{said}");
    // Rows held out at random say nothing about new tasks, and the note names the way.
    place.ok(&format!("fit {SHOPS} -o r.st"));
    let said = place.run("predict r.st new.csv --unknown-task mean --interval 0.9").stderr;
    assert!(said.contains("(fit --interval-new-tasks measures them)"), "{said}");
}

/// Task, low and high of each row.
fn ends(text: &str) -> Vec<(String, f64, f64)> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
        (cells[0].to_string(), number(cells[2]), number(cells[3]))
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn one_model_has_intervals_for_known_and_for_new_tasks() {
    let place = Place::new();
    // A task with three rows, which are far apart, beside twelve with twelve.
    let few = "few,1,1,2\nfew,9,2,16\nfew,20,3,4\n";
    place.write("shops.csv", shops(12) + few);
    place.write("new.csv", "shop,x,z\nnew,3,1\ns01,3,1\nfew,3,1\n");
    let interval = "new.csv --unknown-task mean --interval 0.9";
    let width = |model: &str, task: usize| {
        let said = place.ok(&format!("predict {model} {interval}"));
        ends(&said)[task].2 - ends(&said)[task].1
    };
    place.ok(&format!("fit {SHOPS} -o known.st"));
    place.ok(&format!("fit {SHOPS} --interval-new-tasks -o both.st"));
    place.ok(&format!("fit {SHOPS} --c strength:1 --interval-folds 5 --interval-new-tasks -o given.st"));
    for model in ["both.st", "given.st"] {
        let widths = [0, 1, 2].map(|task| width(model, task));
        assert!(widths.iter().all(|width| *width > 0.0), "{widths:?}");
        // A task with three rows knows at least what one without rows knows.
        assert!(widths[2] <= widths[0] * (1.0 + 1e-9), "{widths:?}");
    }
    // Without errors for new tasks it is at least as wide; large tasks do not change.
    assert!(width("known.st", 2) >= width("both.st", 2) && width("known.st", 0).is_nan());
    assert_eq!(width("known.st", 1), width("both.st", 1));
    // The model itself is the same.
    assert_eq!(place.ok("predict both.st shops.csv"), place.ok("predict known.st shops.csv"));
    let said = place.run("fit shops.csv --target y --c 1 --interval-new-tasks --drop shop -o one.st").stderr;
    assert!(
        said.contains("errors for new tasks cannot be measured") && said.contains("fewer than two tasks")
    );
}

#[test]
fn folds_of_groups_that_hold_whole_tasks_give_intervals_for_new_tasks() {
    let place = Place::new();
    place.write("shops.csv", shops(12));
    place.write("new.csv", "shop,x,z\nnew,3,1\ns01,3,1\n");
    place.ok(&format!("fit {SHOPS} --folds-by group:shop -o g.st"));
    let said = place.run("predict g.st new.csv --unknown-task mean --interval 0.9");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let rows = ends(&said.stdout);
    assert!(rows[0].1 < rows[0].2 && rows[1].1.is_nan(), "{rows:?}");
    assert!(
        said.stderr.contains("errors are known for tasks without training rows alone"),
        "{}",
        said.stderr
    );
}

#[test]
fn comparisons_that_cannot_be_are_left_out() {
    let place = Place::new();
    place.write("shops.csv", shops(8));
    let said = place.ok(&format!("fit {SHOPS} --folds-by group:shop -o m.st"));
    assert!(!said.contains("tasks alone 0") && !said.contains("tasks alone -"), "{said}");
    assert!(said.contains("whole tasks were held out, which tasks alone cannot predict"), "{said}");
    let select = format!("select {SHOPS} --method kin:common=10,own=1,k=1 --grid strength=1 --compare");
    let said = place.run(&format!("{select} --folds-by group:shop"));
    assert!(said.stderr.contains("no comparison with tasks alone (stl)"), "{}", said.stderr);
    assert!(!said.stdout.contains("stl") && said.stdout.contains("pooled"), "{}", said.stdout);
    // One model for the rows of all tasks says nothing where tasks are classes of the same rows.
    let rows = (0..60).map(|i| format!("{},{},{}\n", i % 3 * 10 + i % 7, i * 5 % 9, ["a", "b", "c"][i % 3]));
    place.write("classes.csv", format!("x,z,class\n{}", rows.collect::<String>()));
    let said = place.run(
        "select classes.csv --target class --classes --method kin:common=0,own=1,k=1 --grid strength=1 --compare \
         --folds 3",
    );
    assert!(said.stderr.contains("no comparison with one model for all (pooled)"), "{}", said.stderr);
    assert!(said.stdout.contains("stl") && !said.stdout.contains("pooled"), "{}", said.stdout);
}

#[test]
fn a_verdict_is_the_difference_of_the_scores_in_the_table() {
    let place = Place::new();
    place.write("shops.csv", shops(6));
    let words =
        format!("select {SHOPS} --method kin:common=10,own=1,k=1 --grid strength=1 --compare -o m.st");
    let found = place.json(&words);
    let score = |method: &str| {
        let rows = found["best"].as_array().unwrap();
        let row = rows.iter().find(|row| row["method"].as_str().unwrap().starts_with(method)).unwrap();
        row["score"].as_f64().unwrap()
    };
    for verdict in found["comparisons"].as_array().unwrap() {
        let gain = score("kin") - score(verdict["baseline"].as_str().unwrap());
        assert!((verdict["gain"].as_f64().unwrap() - gain).abs() < 1e-12, "{verdict}");
    }
    // The model keeps the score, as that of a fit does.
    let said = place.ok("model show m.st");
    assert!(said.starts_with("score    pooled-r2 0."), "{said}");
    assert!(said.contains("on held-out rows, by select; ") && said.contains("stl 0."), "{said}");
}

#[test]
fn tasks_whose_auc_rests_on_one_row_are_named() {
    let place = Place::new();
    let label = |i: usize| u8::from(if i.is_multiple_of(3) { i == 27 } else { i * 7 % 5 > 2 });
    let rows = (0..60).map(|i| format!("t{},{},{},{}\n", i % 3, i * 7 % 5, i * 3 % 11, label(i)));
    place.write("a.csv", format!("t,x,z,y\n{}", rows.collect::<String>()));
    let note =
        "auc of 1 task rests on one positive or one negative row, and counts in the mean like others: t0";
    place.ok("fit a.csv --task t --target y --loss logistic --c 1 -o m.st");
    let said = place.ok("evaluate m.st a.csv");
    assert!(said.contains(note), "{said}");
    // Unless it is asked for, the mean is not what settings are chosen by then.
    let select = "select a.csv --task t --target y --loss logistic --method stl --grid strength=1 --folds 3";
    let said = place.run(select);
    assert!(said.stdout.contains("pooled-auc") && !said.stderr.contains(note), "{said:?}");
    let said = place.run(&format!("{select} --metric auc"));
    assert!(said.stderr.contains(note), "{}", said.stderr);
}
