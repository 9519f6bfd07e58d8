//! Tables as people have them, from the command line.

use crate::common::Place;

/// 4 shops of 12 rows; labels are numbers, with an id that does not matter.
fn shops(place: &Place, name: &str, shops: &[&str], separator: &str, decimal: &str) {
    let mut text = ["id", "shop", "size", "kind", "spent"].join(separator) + "\n";
    for i in 0..48 {
        let size = f64::from(i * 7 % 13) / 4.0 + 0.05;
        let spent = size * if i % 2 == 0 { 1.5 } else { 0.8 } + 0.01 * f64::from(i % 5);
        let number = |x: f64| format!("{x:.2}").replace('.', decimal);
        let kind = ["new", "old", "none"][i as usize % 3];
        let row = [
            format!("r{i}"),
            shops[i as usize % shops.len()].into(),
            number(size),
            kind.into(),
            number(spent),
        ];
        text += &(row.join(separator) + "\n");
    }
    place.write(name, text.as_bytes());
}

fn fitted() -> Place {
    let place = Place::new();
    shops(&place, "a.csv", &["n", "e", "s", "w"], ",", ".");
    place.ok("fit a.csv --task shop --target spent --keep id --c 1 -o m.st --quiet");
    place
}

#[test]
fn a_column_beside_lists_is_learned_and_carried_along() {
    let place = Place::new();
    let class = |i: usize| ["red", "green"][i % 2];
    let line = |i: usize| format!("{{\"id\":{i},\"c\":\"{}\",\"emb\":[{},{}]}}\n", class(i), i % 2, i % 3);
    place.write("a.jsonl", (0..30).map(line).collect::<String>());
    place.ok("fit a.jsonl --target c --c 1 -o m.st --quiet");
    place.ok("predict m.st a.jsonl --keep c,id -o p.jsonl --quiet");
    let text = String::from_utf8(place.read("p.jsonl")).unwrap();
    let first = text.lines().next().unwrap();
    assert!(first.contains("\"red\"") && first.contains("\"id\":"), "{first}");
}

#[test]
fn options_that_only_a_fit_can_follow_are_refused() {
    let place = fitted();
    for option in
        ["--drop size", "--missing zero", "--max-levels 3", "--features size", "--date-order dmy", "--dense"]
    {
        for command in ["predict", "evaluate", "certify"] {
            let said = place.run(&format!("{command} m.st a.csv {option}"));
            let name = option.split(' ').next().unwrap();
            assert_eq!(said.code, 2, "{}", said.stderr);
            let why =
                "has no effect on a model, which keeps how its columns are read; give it to fit or select";
            assert_eq!(said.stderr, format!("error: {name} {why}\n"));
        }
    }
}

#[test]
fn new_rows_may_have_other_words_for_nothing_and_another_decimal_sign() {
    let place = fitted();
    place.write("new.csv", b"shop,size,kind\nn,?,new\n");
    assert_eq!(place.run("predict m.st new.csv").code, 3);
    shops(&place, "comma.csv", &["n", "e", "s", "w"], ";", ",");
    let wanted = place.ok("predict m.st a.csv --quiet");
    let with_commas = place.ok("predict m.st comma.csv --decimal , --quiet");
    assert!(with_commas.starts_with("id;task;score\nr0;n;"), "{with_commas}");
    assert_eq!(with_commas.replace(',', ".").replace(';', ","), wanted);
    place.ok("predict m.st comma.csv --decimal , --quiet -o out.csv");
    assert_eq!(String::from_utf8(place.read("out.csv")).unwrap(), with_commas);
}

#[test]
fn more_words_for_nothing_join_those_of_the_model() {
    let place = Place::new();
    let row =
        |i: usize| format!("{},{},{}\n", if i % 4 == 1 { "x".into() } else { i.to_string() }, i % 3, i % 5);
    place.write("a.csv", ("a,b,y\n".to_string() + &(0..30).map(row).collect::<String>()).as_bytes());
    place.ok("fit a.csv --target y --missing-word x --c 1 -o m.st --quiet");
    place.write("x.csv", b"a,b\nx,1\nx,1\n");
    place.write("new.csv", b"a,b\n?,1\nx,1\n");
    assert_eq!(place.run("predict m.st new.csv").code, 3);
    assert_eq!(place.ok("predict m.st new.csv --missing-word ?"), place.ok("predict m.st x.csv"));
}

#[test]
fn a_column_to_carry_along_that_is_not_there_is_named() {
    let place = fitted();
    place.write("new.csv", b"shop,size,kind\nn,1,new\n");
    let said = place.run("predict m.st new.csv");
    assert_eq!((said.code, said.stderr.as_str()), (0, "note: no column \"id\" to carry along\n"));
}

#[test]
fn unknown_tasks_are_evaluated_as_they_are_predicted() {
    let place = fitted();
    shops(&place, "b.csv", &["n", "e", "s", "x"], ",", ".");
    let said = place.run("evaluate m.st b.csv");
    let why = "b.csv: line 5, column \"shop\": task \"x\" is unknown";
    assert!(said.code == 3 && said.stderr.starts_with(&format!("error: {why}")), "{}", said.stderr);
    assert!(
        said.stderr.ends_with("--unknown-task mean predicts what all tasks have in common\n"),
        "{}",
        said.stderr
    );
    let said = place.json("evaluate m.st b.csv --unknown-task mean");
    assert_eq!(said["n_tasks"], 5);
    assert_eq!((&said["tasks"][4]["task"], &said["tasks"][4]["n"]), (&"x".into(), &12.into()));
    assert!(place.json("evaluate m.st b.csv --unknown-task zero")["tasks"][4]["r2"].as_f64().unwrap() < 0.0);
}

#[test]
fn scores_on_the_rows_of_the_fit_come_with_a_warning() {
    let place = fitted();
    let warning = "note: the model was fitted to these rows: expect less on new ones\n";
    assert_eq!(place.run("evaluate m.st a.csv").stderr, warning);
    let other = String::from_utf8(place.read("a.csv")).unwrap().replace("3.05", "3.15");
    place.write("other.csv", other.as_bytes());
    assert_eq!(place.run("evaluate m.st other.csv").stderr, "", "as many rows and labels, but others");
}

#[test]
fn targets_of_words_are_fitted_predicted_and_evaluated() {
    let place = Place::new();
    let row = |i: usize| {
        let x = (i * 7 % 12) as f64 / 6.0 - 1.0;
        let word = if i.is_multiple_of(5) {
            ""
        } else if x > 0.0 {
            "active"
        } else {
            "inactive"
        };
        let number = if i.is_multiple_of(7) {
            ""
        } else if x > 0.4 {
            "1"
        } else {
            "0"
        };
        format!("{word},{number},{x:.3},{}\n", i % 4)
    };
    place
        .write("a.csv", ("tox_a,tox_b,x,z\n".to_string() + &(0..60).map(row).collect::<String>()).as_bytes());
    let said = place.ok("fit a.csv --target tox_* --c 1 -o m.st");
    assert!(said.contains("\"inactive\" became -1 and \"active\" became +1 in \"tox_a\""), "{said}");
    let labels = place.ok("predict m.st a.csv --labels --quiet");
    assert!(labels.starts_with("tox_a,tox_b,label tox_a,label tox_b\n"), "{labels}");
    assert!(labels.contains(",active,1\n") && labels.contains(",inactive,0\n"), "{labels}");
    assert!(place.json("evaluate m.st a.csv --quiet")["metrics"]["auc"]["mean"].as_f64().unwrap() > 0.9);
    assert_eq!(place.run("certify m.st a.csv").code, 0);
    let said = place.run("fit a.csv --target tox_* --loss squared -o n.st");
    assert!(said.stderr.contains("this loss is for numbers"), "{}", said.stderr);
}

#[test]
fn a_wrong_name_offers_the_right_one() {
    let place = fitted();
    let said = place.run("fit a.csv --task Shops --target spend -o n.st");
    assert!(said.stderr.contains("there is no column \"Shops\"; did you mean \"shop\"?"), "{}", said.stderr);
    place.write("new.csv", b"shop,sise,kind\nn,1,new\n");
    let said = place.run("predict m.st new.csv");
    assert!(
        said.stderr.contains("the model needs column \"size\"; did you mean \"sise\"?"),
        "{}",
        said.stderr
    );
}

#[test]
fn info_suggests_a_command_that_works() {
    let place = fitted();
    let next =
        |words: &str| place.json(&format!("data info {words}"))["suggestion"].as_str().unwrap().to_string();
    assert_eq!(
        next("a.csv --target spent --drop id"),
        "kinfolk fit a.csv --target spent --drop id --task shop -o a.safetensors"
    );
    let mut text = String::from("shop,a,b,y\n");
    (0..40).for_each(|i| {
        text += &format!(
            "{},{},{},{i}\n",
            ["n", "s"][i % 2],
            if i == 3 { "inf".into() } else { i.to_string() },
            i % 3
        )
    });
    place.write("bad.csv", text.as_bytes());
    let command = next("bad.csv --target y");
    assert_eq!(command, "kinfolk fit bad.csv --target y --task shop --missing-word inf -o bad.safetensors");
    place.ok(command.strip_prefix("kinfolk ").unwrap());
    place.write("unclear.csv", b"a;b;y\n950;1;1\n2.045;2;2\n");
    assert!(place.json("data info unclear.csv --target y").get("suggestion").is_none());
    let said = place.ok("data info unclear.csv --target y");
    assert!(said.contains("\ntargets   1 column\n") && said.contains("--decimal ,"), "{said}");
    let first = said.lines().skip_while(|line| !line.starts_with("column")).nth(1).unwrap();
    assert!(first.starts_with("y "), "targets come first: {said}");
}
