//! What is said where a number alone would mislead.

use crate::common::Place;

/// Six wards of forty patients, and two of six.
fn wards() -> String {
    let mut text = String::from("ward,age,pressure,died\n");
    for i in 0..252_i32 {
        let ward = if i < 240 { i % 6 } else { 6 + i % 2 };
        let (age, pressure) = (i * 37 % 41 - 20, i * 53 % 43 - 21);
        let risk = 3 * age + 2 * pressure + i * 29 % 61 - 30;
        text += &format!("w{ward},{age},{pressure},{}\n", if risk > 0 { "yes" } else { "no" });
    }
    text
}

#[test]
fn gains_that_rest_on_tasks_with_few_labels_are_named() {
    let place = Place::new();
    place.write("w.csv", wards());
    let select = "select w.csv --task ward --target died --compare --method kin --folds 3 --grid strength=1 \
                  --kernel linear --results r.json -o m.st";
    let said = place.ok(&format!("{select} --metric auc"));
    assert!(said.contains("without tasks that have few labels (w6"), "{said}");
    place.ok("report m.st w.csv --select r.json -o r.html -q");
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(page.contains(" Without tasks that have few labels (w6"));
    assert!(page.contains("w6 (few labels)") && !page.contains("w1 (few labels)"));
    // Of all rows together, six rows are six of many.
    let said = place.ok(&format!("{select} --metric pooled-auc --force"));
    assert!(!said.contains("few labels"), "{said}");
}

/// Shops over 60 days, of which the last is open for six.
fn shops(days: std::ops::Range<i32>, last: std::ops::Range<i32>) -> String {
    let mut text = String::from("shop,day,price,sales\n");
    for shop in 0..5 {
        let own = if shop == 4 { last.clone() } else { days.clone() };
        for day in own.flat_map(|day| [day, day]) {
            let price = (day * 7 + shop * 3) % 11;
            text += &format!("s{shop},{day},{price},{}\n", 3 * day - 2 * price + 10 * shop);
        }
    }
    text
}

#[test]
fn rows_outside_of_what_a_task_covers_are_named() {
    let place = Place::new();
    place.write("shops.csv", shops(0..60, 20..26));
    place.write("new.csv", shops(30..40, 30..34));
    place.write("old.csv", shops(30..40, 20..24));
    place.ok("fit shops.csv --task shop --target sales --c 1 -o m.st -q");
    let said = place.run("predict m.st new.csv").stderr;
    let note = "predictions there rest on other tasks, and intervals are too narrow if labels differ there: \"s4\" (8 \
                rows, \"day\" such as 33; in its training 20 to 25)";
    assert!(said.contains(note) && !said.contains("\"s3\""), "{said}");
    let said = place.run("predict m.st old.csv").stderr;
    assert!(!said.contains("rest on other tasks"), "{said}");
}

#[test]
fn all_columns_that_lack_values_are_named_at_once() {
    let place = Place::new();
    let rows = |gap: fn(usize) -> bool| {
        let cell = |i: usize, of: usize, text: String| if gap(i * 3 + of) { String::new() } else { text };
        let row = |i: usize| {
            let word = ["a", "b"][i % 2].to_string();
            let (x, z) = (cell(i, 0, (i % 7).to_string()), cell(i, 1, (i % 5).to_string()));
            format!("t{},{x},{z},{},{}\n", i % 3, cell(i, 2, word), i % 7 + i % 3)
        };
        format!("task,x,z,word,y\n{}", (0..60).map(row).collect::<String>())
    };
    place.write("a.csv", rows(|_| false));
    place.write("new.csv", rows(|cell| [12, 28, 41].contains(&cell)));
    place.ok("fit a.csv --task task --target y --c 1 -o m.st -q");
    let said = place.run("predict m.st new.csv");
    assert!(
        said.code == 3 && said.stderr.starts_with("error: 3 columns are in the way\n"),
        "{}",
        said.stderr
    );
    for place in ["line 6, column \"x\"", "line 11, column \"z\"", "line 15, column \"word\""] {
        assert!(said.stderr.contains(place), "{}", said.stderr);
    }
    let filled = place.run("predict m.st new.csv --missing-cells fill");
    assert!(filled.stderr.contains("\"x\" (1), \"z\" (1), \"word\" (1)"), "{}", filled.stderr);
}

#[test]
fn info_says_what_it_guesses() {
    let place = Place::new();
    place.write("a.csv", crate::common::school());
    let said = place.ok("data info a.csv");
    assert!(said.contains("target \"score\" and task \"school\" are guesses"), "{said}");
    let said = place.ok("data info a.csv --target score");
    assert!(said.contains("(task \"school\" is a guess"), "{said}");
    let answer = place.json("data info a.csv --target score --task school");
    assert!(answer.get("guess").is_none(), "{answer}");
}

/// What rounding may add is estimated from sums in a stream, and from duals in memory.
#[test]
fn few_streamed_rows_of_many_columns_agree_with_their_model() {
    let place = Place::new();
    let value =
        |i: u64| i.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 44;
    let head: String = (0..300).map(|j| format!(",x{j}")).collect();
    let row = |i: u64| {
        let cells: String = (0..300).map(|j| format!(",{}", value(i * 301 + j) as f64 / 1e6)).collect();
        format!("t{}{cells},{}\n", i % 2, value(i * 301 + 300) as f64 / 1e6)
    };
    place.write("a.csv", format!("task{head},y\n{}", (0..5).map(row).collect::<String>()));
    place.run("fit a.csv --task task --target y --stream --c 1e9 --threads 1 -o m.st -q");
    let said = place.run("certify m.st a.csv");
    assert!(said.stdout.contains("model and data agree"), "{}{}", said.stdout, said.stderr);
}

#[test]
fn a_stream_takes_tasks_called_by_numbers_and_by_words() {
    let place = Place::new();
    let rows = |first: &str, n: usize| {
        let row = |i: usize| format!("{first}{},{i},{}\n", i % 3, i * 7 % 11);
        format!("shop,x,y\n{}", (0..n).map(row).collect::<String>())
    };
    std::fs::create_dir(place.path("shops")).unwrap();
    place.write("shops/a.csv", rows("", 20));
    place.write("shops/b.csv", rows("w", 23));
    let fit = "--task shop --target y --kernel linear --c 1 --tol 1e-9 --threads 1";
    place.ok(&format!("fit shops {fit} -o memory.st -q"));
    place.ok(&format!("fit shops {fit} --stream -o stream.st -q"));
    assert_eq!(place.json("certify stream.st shops")["holds"], true);
    let tasks = |model: &str| place.json(&format!("model show {model}"))["tasks"].clone();
    assert_eq!(tasks("stream.st"), tasks("memory.st"));
    // To the tolerance of the fits.
    let scores = |model: &str| -> Vec<f64> {
        let lines = place.ok(&format!("predict {model} shops/a.csv"));
        lines.lines().skip(1).map(|line| line.rsplit_once(',').unwrap().1.parse().unwrap()).collect()
    };
    let far =
        scores("stream.st").iter().zip(scores("memory.st")).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far < 1e-3, "{far}");
}
