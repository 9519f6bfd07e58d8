//! Rows that are not like those of the fit: columns and labels that are not there, tasks that nobody knows.

use crate::common::Place;

/// Sales of 6 shops; some sizes are missing.
fn sales(shops: u32, columns: &[&str]) -> String {
    let mut text = columns.join(",") + "\n";
    for i in 0..96u32 {
        let shop = i % shops;
        let (size, rain) = (f64::from(i * 7 % 13), f64::from(i * 5 % 11));
        let sales = 3.0 + size * if shop < 3 { 1.0 } else { 0.5 } - 0.2 * rain + 0.01 * f64::from(i % 3);
        let cell = |name: &&str| match *name {
            "shop" => format!("s{shop}"),
            "size" if i % 8 == 1 => String::new(),
            "size" => size.to_string(),
            "rain" => rain.to_string(),
            "kind" => ["new", "old"][i as usize % 2].to_string(),
            _ => sales.to_string(),
        };
        text += &(columns.iter().map(cell).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

fn fitted() -> Place {
    let place = Place::new();
    place.write("a.csv", sales(6, &["shop", "size", "rain", "kind", "sales"]));
    place.ok("fit a.csv --task shop --target sales --c 1 -o m.st --threads 1 --quiet");
    place
}

#[test]
fn columns_that_are_not_there_are_filled_in_on_request() {
    let place = fitted();
    place.write("less.csv", sales(6, &["shop", "rain"]));
    let said = place.run("predict m.st less.csv");
    assert_eq!(said.code, 3);
    assert!(
        said.stderr.contains("the model needs columns \"size\", \"kind\", and there are only"),
        "{}",
        said.stderr
    );
    assert!(said.stderr.ends_with("with --missing-columns fill\n"), "{}", said.stderr);
    let filled = place.run("predict m.st less.csv --missing-columns fill");
    let note = "note: columns \"size\", \"kind\" are not there and are filled in as missing\n";
    assert_eq!((filled.code, filled.stderr.as_str()), (0, note));
    // A column that had gaps is one of gaps; one that had none has its mean.
    let with_gaps: String = sales(6, &["shop", "rain"])
        .lines()
        .enumerate()
        .map(|(i, line)| format!("{line},{}\n", if i == 0 { "size" } else { "" }))
        .collect();
    place.write("gaps.csv", with_gaps);
    assert_eq!(place.ok("predict m.st gaps.csv --missing-columns fill -q"), filled.stdout);
    let mean = |text: &str| {
        let scores: Vec<f64> =
            text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
        scores.iter().sum::<f64>() / scores.len() as f64
    };
    place.write("no_kind.csv", sales(6, &["shop", "rain", "size"]));
    let without = place.ok("predict m.st no_kind.csv --missing-columns fill -q");
    assert!((mean(&without) - mean(&place.ok("predict m.st a.csv -q"))).abs() < 1e-6, "the model is linear");
    place.write("labelled.csv", sales(6, &["shop", "size", "sales"]));
    place.ok("evaluate m.st labelled.csv --missing-columns fill");
    place.ok("report m.st labelled.csv --missing-columns fill -o r.html");
    place.write("other.csv", "shop,x\ns0,1\n");
    let said = place.run("predict m.st other.csv --missing-columns fill");
    assert!(said.stderr.contains("none of the columns of the model is there"), "{}", said.stderr);
    assert_eq!(place.run("fit a.csv --missing-columns fill --task shop --target sales -o n.st").code, 2);
}

#[test]
fn empty_cells_of_columns_without_gaps_have_their_mean_on_request() {
    let place = fitted();
    let with_gap = |rain: &str| {
        let mut lines: Vec<String> =
            sales(6, &["shop", "size", "kind", "rain"]).lines().map(Into::into).collect();
        let line = lines[1].rsplit_once(',').unwrap().0.to_string();
        lines[1] = format!("{line},{rain}");
        lines.join("\n") + "\n"
    };
    place.write("gap.csv", with_gap(""));
    let said = place.run("predict m.st gap.csv");
    assert!(said.code == 3 && said.stderr.contains("--missing-cells fill"), "{}", said.stderr);
    assert_eq!(
        place.run("predict m.st gap.csv --missing-columns fill").stderr,
        said.stderr,
        "no column is absent"
    );
    let filled = place.run("predict m.st gap.csv --missing-cells fill");
    let note = "note: missing values filled in with the mean of training: \"rain\" (1)\n";
    assert_eq!((filled.code, filled.stderr.as_str()), (0, note));
    let filled = filled.stdout;
    let second = |text: &str| text.lines().nth(1).unwrap().to_string();
    // The first row lies between those with less and with more rain; the others are as they were.
    place.write("whole.csv", with_gap("0.5"));
    let whole = place.ok("predict m.st whole.csv -q");
    assert_eq!(filled.lines().skip(2).collect::<Vec<_>>(), whole.lines().skip(2).collect::<Vec<_>>());
    assert_ne!(second(&filled), second(&whole));
    // Of a model that leaves out rows, and of words, too.
    place.ok("fit a.csv --task shop --target sales --c 1 --missing drop -o d.st --threads 1 --quiet");
    place.write("words.csv", sales(6, &["shop", "size", "rain", "kind"]).replacen(",new\n", ",\n", 1));
    let said = place.run("predict d.st words.csv --missing-cells fill");
    assert!(said.code == 0 && said.stderr.contains("\"kind\" (1)"), "{said:?}");
}

#[test]
fn without_a_mean_a_column_cannot_be_filled_in() {
    let place = fitted();
    place.ok("fit a.csv --task shop --target sales --c 1 --scale none -o n.st --quiet");
    place.write("less.csv", sales(6, &["shop", "size", "kind"]));
    let said = place.run("predict n.st less.csv --missing-columns fill");
    assert!(said.stderr.contains("column \"rain\": the column is not there, had no gaps"), "{}", said.stderr);
}

#[test]
fn unknown_tasks_are_reported_as_they_are_predicted() {
    let place = fitted();
    place.write("more.csv", sales(8, &["shop", "size", "rain", "kind", "sales"]));
    let said = place.run("report m.st more.csv -o r.html");
    assert!(said.code == 3 && said.stderr.contains("task \"s6\" is unknown"), "{}", said.stderr);
    assert!(
        said.stderr.contains("--unknown-task mean predicts what all tasks have in common"),
        "{}",
        said.stderr
    );
    place.ok("report m.st more.csv a.csv --unknown-task mean -o r.html");
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(page.contains("s6 (new)") && page.contains("s7 (new)"), "rows for new tasks");
    assert!(page.contains("6 tasks with 16 rows each"), "those of the fit");
}

#[test]
fn an_unknown_task_may_be_related_by_an_atom() {
    let place = fitted();
    let regions = |n: u32| {
        let rows = (0..n).map(|s| format!("s{s},{}\n", if s < 3 || s == 6 { "north" } else { "south" }));
        "shop,region\n".to_string() + &rows.collect::<String>()
    };
    place.write("regions.csv", regions(6));
    place.write("new.csv", regions(8));
    place.write("more.csv", sales(8, &["shop", "size", "rain", "kind", "sales"]));
    let fit =
        "fit a.csv --task shop --target sales --c 1 --atom groups=regions.csv:region -o atoms.st --quiet";
    place.ok(fit);
    for command in
        ["predict atoms.st more.csv", "evaluate atoms.st more.csv", "report atoms.st more.csv -o r.html"]
    {
        let said = place.run(command);
        let cure = "and --atom groups=FILE:region says how it is related to others\n";
        assert!(said.code == 3 && said.stderr.ends_with(cure), "{command}: {}", said.stderr);
        place.ok(&format!("{command} --atom groups=new.csv:region"));
    }
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(page.contains("Where the model comes from: ") && page.contains(" % region"), "shares");
    assert!(page.contains("known relations: groups=regions.csv:region"), "atoms");
    let r2 = |words: &str| {
        place.json(&format!("evaluate atoms.st more.csv {words}"))["metrics"]["r2"]["mean"].as_f64()
    };
    assert!(r2("--atom groups=new.csv:region").is_some());
}

#[test]
fn rows_without_labels_are_for_predict() {
    let place = fitted();
    place.write("new.csv", sales(6, &["shop", "size", "rain", "kind"]));
    place.write("new.jsonl", "{\"shop\":\"s0\",\"size\":1,\"rain\":2,\"kind\":\"old\"}\n");
    for file in ["new.csv", "new.jsonl"] {
        for command in [format!("evaluate m.st {file}"), format!("report m.st {file} -o r.html")] {
            let said = place.run(&command);
            let why = "there are no labels to compare with: the model has them in \"sales\", and tasks in \"shop\" \
                       (--task NAME); --target NAME says which column has them here; kinfolk predict needs none\n";
            assert!(said.code == 3 && said.stderr.ends_with(why), "{command}: {}", said.stderr);
        }
    }
}

#[test]
fn values_that_count_as_the_rest_are_told_of() {
    let place = Place::new();
    let town = |i: u32| {
        if i.is_multiple_of(3) {
            "a".into()
        } else if i % 3 == 1 {
            "b".into()
        } else {
            format!("t{}", i % 9)
        }
    };
    let rows: String = (0..60).map(|i| format!("{},{},{}\n", town(i), i % 7, i % 5)).collect();
    place.write("a.csv", "town,x,y\n".to_string() + &rows);
    place.ok("fit a.csv --target y --max-levels 2 --c 1 -o m.st --quiet");
    place.write("new.csv", "town,x\nz,1\nt2,1\na,2\n");
    let said = place.run("predict m.st new.csv").stderr;
    let note = "note: column \"town\": 2 rows have a value that was rare in training or not there, and counts as one \
                of the rest, such as \"z\"\n";
    assert_eq!(said, note);
}

#[test]
fn values_far_from_those_of_the_training_rows_are_named_once() {
    let place = Place::new();
    let row = |i: u32| {
        let (x, day) = (f64::from(i * 37 % 23), 1 + i % 28);
        format!(
            "s{},{x},2024-03-{day:02},{},{}\n",
            i % 3,
            ["a", "b"][i as usize % 2],
            2.0 * x + f64::from(i % 5)
        )
    };
    place.write("a.csv", format!("shop,x,day,kind,y\n{}", (0..60).map(row).collect::<String>()));
    place.ok("fit a.csv --task shop --target y --c 1 --threads 1 -o m.st");
    let far = "values far outside those of the training rows, where predictions are extrapolations: ";
    let said = place.run("predict m.st a.csv");
    assert!(!said.stderr.contains(far), "{}", said.stderr);
    // A range and its width: 0 to 22 reaches to 44.
    place.write("near.csv", "shop,x,day,kind\ns0,44,2024-04-20,a\n");
    assert!(!place.run("predict m.st near.csv").stderr.contains(far));
    place.write("far.csv", "shop,x,day,kind\ns0,45,2024-03-20,a\ns1,220,2026-01-01,b\ns2,3,2024-03-02,c\n");
    let said = place.run("predict m.st far.csv");
    assert_eq!((said.code, said.stderr.matches(far).count()), (0, 1), "{}", said.stderr);
    let note = "\"day\" (1 row, such as 2026-01-01; in training 2024-03-01 to 2024-03-28), \"x\" (2 rows, such as 220; \
                in training 0 to 22)";
    assert!(said.stderr.contains(note), "{}", said.stderr);
}
