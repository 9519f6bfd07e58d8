//! What new users stumbled over.

use crate::common::Place;

/// Sales of 6 shops on 15 days; a shop has a town, with umlauts, and a size.
fn sales(date: impl Fn(u32) -> String) -> String {
    let mut text = String::from("shop;town;size;day;weather;sales\n");
    for i in 0..90u32 {
        let (shop, day) = (i % 6, i / 6);
        let town = ["K\u{f6}ln", "M\u{fc}nchen", "Gie\u{df}en"][shop as usize % 3];
        let weather = f64::from(i * 17 % 23) / 4.0;
        let sales =
            10.0 + f64::from(shop) + weather * if shop < 3 { 1.5 } else { -1.0 } + f64::from(day) / 10.0;
        let number = |x: f64| format!("{x:.2}").replace('.', ",");
        text += &format!(
            "s{shop};{town};{};{};{};{}\n",
            100 + 20 * shop,
            date(1 + day),
            number(weather),
            number(sales)
        );
    }
    text
}

fn german() -> String {
    sales(|day| format!("{day:02}.03.2024"))
}

/// Letters of latin-1, and the euro sign, as Windows-1252 has them.
fn windows_1252(text: &str) -> Vec<u8> {
    text.chars().map(|c| if c == '\u{20ac}' { 0x80 } else { u8::try_from(u32::from(c)).unwrap() }).collect()
}

const FIT: &str = "--task shop --target sales --threads 1";

#[test]
fn a_file_in_windows_1252_is_read_aloud_and_gives_the_same_model() {
    let place = Place::new();
    let text = german().replace("weather", "weather in \u{20ac}");
    place.write("utf8.csv", &text);
    place.write("ansi.csv", windows_1252(&text));
    let plain = place.ok(&format!("fit utf8.csv {FIT} -o utf8.st"));
    let said = place.ok(&format!("fit ansi.csv {FIT} -o ansi.st"));
    let note = "the text is not UTF-8, and is read as Windows-1252";
    assert!(said.contains(note) && !plain.contains(note), "{said}");
    assert_eq!(place.read("utf8.st"), place.read("ansi.st"));
    let predicted = place.run("predict ansi.st ansi.csv");
    assert!(predicted.stderr.contains(note), "{}", predicted.stderr);
    assert_eq!(predicted.stdout, place.ok("predict utf8.st utf8.csv"));
    let info = place.ok("data info ansi.csv");
    assert!(info.contains("M\u{fc}nchen") && info.matches(note).count() == 1, "{info}");
    assert_eq!(place.json("certify ansi.st utf8.csv")["holds"], true);
}

#[test]
fn damaged_utf8_is_refused_with_its_place() {
    let place = Place::new();
    let mut bytes = german().into_bytes();
    let at = bytes.iter().rposition(|byte| *byte == 0xc3).unwrap();
    bytes[at] = b'?';
    place.write("damaged.csv", bytes);
    let said = place.run(&format!("fit damaged.csv {FIT} -o m.st"));
    assert_eq!(said.code, 3);
    assert!(said.stderr.contains("is not UTF-8; save the file as UTF-8"), "{}", said.stderr);
    assert!(said.stderr.contains("damaged.csv: line 91, column \"town\""), "{}", said.stderr);
}

#[test]
fn dates_in_another_format_than_in_training_are_refused_with_the_format() {
    let place = Place::new();
    place.write("a.csv", german());
    place.ok(&format!("fit a.csv {FIT} --c 1 -o m.st --quiet"));
    for (name, text, why) in [
        (
            "us.csv",
            sales(|day| format!("03/{:02}/2024", day + 12)),
            "\"03/13/2024\" is not a date as in training, 14.3.2024 or 14/03/2024, the day first; it would be one as \
             03/14/2024, the month first; write the dates of this column as in training",
        ),
        (
            "word.csv",
            sales(|_| "soon".into()),
            "\"soon\" is not a date as in training, 14.3.2024 or 14/03/2024, the day first; write the dates of this \
             column as in training",
        ),
    ] {
        place.write(name, text);
        let said = place.run(&format!("predict m.st {name}"));
        assert_eq!(
            (said.code, said.stderr.as_str()),
            (3, &*format!("error: {name}: line 2, column \"day\": {why}\n"))
        );
    }
    // The year first cannot be taken for anything else.
    place.write("iso.csv", sales(|day| format!("2024-03-{day:02}")));
    assert_eq!(place.ok("predict m.st iso.csv"), place.ok("predict m.st a.csv"));
    place.ok(&format!("fit iso.csv {FIT} --c 1 -o iso.st --quiet"));
    let said = place.run("predict iso.st a.csv");
    assert!(said.stderr.contains("as in training, 2024-03-14, the year first; it would"), "{}", said.stderr);
}

#[test]
fn two_styles_of_dates_are_read_where_one_has_the_year_first() {
    let place = Place::new();
    place.write("a.csv", german());
    place.ok(&format!("fit a.csv {FIT} --c 1 -o a.st"));
    let style = |day: u32, other: &dyn Fn(u32) -> String| match day % 3 {
        0 => format!("2024-03-{day:02}"),
        _ => other(day),
    };
    for other in ["german", "american"] {
        let write = |day: u32| match other {
            "german" => format!("{day:02}.03.2024"),
            _ => format!("03/{day:02}/2024"),
        };
        place.write("b.csv", sales(|day| style(day, &write)));
        let said = place.ok(&format!("fit b.csv {FIT} --c 1 -o b.st"));
        let order = if other == "german" { "dmy" } else { "mdy" };
        let note = format!(
            "column \"day\" has two styles of dates: 30 of 90 with the year first, the others {order}; all are read"
        );
        assert_eq!(said.matches(&note).count(), 1, "{said}");
        assert_eq!(place.ok("predict b.st b.csv"), place.ok("predict a.st a.csv"));
    }
}

#[test]
fn two_styles_of_dates_that_no_order_reads_are_named_with_their_lines() {
    let place = Place::new();
    // The day first, and from the tenth day on the month first.
    let mixed =
        |day: u32| if day < 10 { format!("{}/03/2024", 12 + day) } else { format!("03/{}/2024", 12 + day) };
    place.write("a.csv", sales(mixed));
    let said = place.ok(&format!("fit a.csv {FIT} --c 1 -o a.st"));
    let note = "\"day\" (two styles of dates, \"13/03/2024\" in line 2 and \"03/22/2024\" in line 56; write all dates \
                in one style)";
    assert!(said.contains(note) && !said.contains("identifier"), "{said}");
    assert!(place.ok("data info a.csv").contains("two styles of dates"));
    // Times make the values different, as they are in identifiers.
    let timed = |soon: std::ops::Range<u32>| {
        let day = |day: u32| if soon.contains(&day) { "soon".into() } else { format!("{day:02}.03.2024") };
        let time = |i: usize| format!(".2024 {:02}:{:02};", i / 60, i % 60);
        let rows = sales(day);
        let rows = rows.lines().enumerate().map(|(i, line)| line.replace(".2024;", &time(i)) + "\n");
        rows.collect::<String>()
    };
    place.write("b.csv", timed(7..10));
    let said = place.ok(&format!("fit b.csv {FIT} --c 1 -o b.st"));
    let note = "\"day\" (72 of 90 values are dates, but \"soon\" in line 38 is none)";
    assert!(said.contains(note) && !said.contains("identifier"), "{said}");
    // If nearly all are dates, the others are mistakes.
    place.write("c.csv", timed(7..8));
    let said = place.run(&format!("fit c.csv {FIT} --c 1 -o c.st"));
    assert!(
        said.code == 3 && said.stderr.contains("\"soon\" is not a date, and 6 of 90 values are not"),
        "{said:?}"
    );
    place.ok(&format!("fit c.csv {FIT} --c 1 --missing-word soon -o c.st"));
}

#[test]
fn columns_that_do_not_change_within_tasks_are_named() {
    let place = Place::new();
    place.write("a.csv", german());
    let note = "2 columns do not change within any task: the intercept of each task takes their place, and they have \
                no effect (--intercept ridge:1 penalises intercepts): \"town\", \"size\"";
    let said = place.ok(&format!("fit a.csv {FIT} -o m.st"));
    assert_eq!(said.matches(note).count(), 1, "{said}");
    let coefficients = place.json("model show m.st --coef")["coefficients"].clone();
    let features = coefficients["features"].as_array().unwrap();
    let size = features.iter().position(|name| name == "size").unwrap();
    for value in coefficients["values"][size].as_array().unwrap() {
        assert!(value.as_f64().unwrap().abs() < 1e-4, "{coefficients}");
    }
    for other in ["--intercept ridge:1", "--intercept none", "--kernel rbf", "--drop town,size"] {
        let said = place.ok(&format!("fit a.csv {FIT} {other} -o m.st"));
        assert!(!said.contains("within any task"), "{other}: {said}");
    }
    let select = format!("select a.csv {FIT} --method stl --grid strength=1 -o s.st");
    place.ok(&select);
    assert!(place.ok("model show s.st").contains(note), "{}", place.ok("model show s.st"));
}

#[test]
fn money_percent_and_names_of_months_are_read() {
    let place = Place::new();
    let plain = sales(|day| format!("{day:02}.03.2024"));
    let with_signs: Vec<String> = plain.lines().map(|line| format!("{line} \u{20ac}\n")).collect();
    let with_signs =
        with_signs.concat().replacen("sales \u{20ac}", "sales", 1).replace(".03.2024", "-Mar-2024");
    place.write("plain.csv", plain);
    place.write("signs.csv", with_signs);
    place.ok(&format!("fit plain.csv {FIT} -o plain.st"));
    let said = place.ok(&format!("fit signs.csv {FIT} -o signs.st"));
    let note = "numbers are read without the sign of money beside them: \"sales\"";
    assert!(said.contains(note), "{said}");
    let scores = |model: &str, rows: &str| place.ok(&format!("predict {model} {rows}"));
    assert_eq!(scores("signs.st", "signs.csv"), scores("plain.st", "plain.csv"));
    assert_eq!(scores("signs.st", "plain.csv"), scores("plain.st", "plain.csv"));
    let rows = (0..28).map(|i| format!("{:02}.02.24,{},{}\n", i + 1, i * 7 % 5, i * 3 % 11));
    place.write("short.csv", format!("day,x,y\n{}", rows.collect::<String>()));
    let said = place.ok("fit short.csv --target y -o short.st");
    assert!(said.contains("\"day\" (dates such as \"01.02.24\" need years of four digits)"), "{said}");
}

#[test]
fn theta_names_groups_of_tasks() {
    let place = Place::new();
    place.write("a.csv", german());
    place.ok(&format!("fit a.csv {FIT} --method fmtl --drop town,size,day -o m.st --quiet"));
    let said = place.ok("theta m.st --of theta");
    assert!(
        said.contains("below 0: opposite") && said.contains("closest kin (correlation in Theta)"),
        "{said}"
    );
    let answer = place.json("theta m.st --of theta");
    assert_eq!(answer["group_correlation"], 0.5);
    assert!(answer.get("shared_correlation").is_none());
    let names = answer["groups"].as_array().unwrap().iter().flat_map(|group| group.as_array().unwrap());
    let mut names: Vec<&str> = names.map(|name| name.as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["s0", "s1", "s2", "s3", "s4", "s5"]);
    // What each task has to itself is taken away before tasks are grouped.
    place.ok(&format!("fit a.csv {FIT} --method kin:own=100 --drop town,size,day -o k.st --quiet"));
    let said = place.ok("theta k.st --of theta");
    assert!(said.contains("closest kin (correlation in Theta, without own)"), "{said}");
    assert!(said.contains(" % of the model is own, what each task has to itself"), "{said}");
    let answer = place.json("theta k.st --correlation");
    let size = |key: &str| answer[key][0][1].as_f64().unwrap().abs();
    assert!(size("shared_correlation") > size("theta"), "{answer}");
}

#[test]
fn a_target_without_labels_is_fitted_around() {
    let place = Place::new();
    let mut text = String::from("x,z,hit,miss,none\n");
    for i in 0..40 {
        let (x, z) = (i * 7 % 13, i * 5 % 11);
        let word = |is: bool| if is { "yes" } else { "no" };
        text += &format!("{x},{z},{},{},\n", word(x > 6), word(x + z > 11));
    }
    place.write("a.csv", text);
    let said = place.ok("fit a.csv --target hit,miss,none --threads 1 -o m.st");
    assert!(said.contains("1 task has no labels: nothing is learned about none"), "{said}");
}

/// Intervals need held-out rows, which `fit` with a given C has none of; `select` has them for any C.
#[test]
fn intervals_for_a_given_c_come_from_select() {
    let place = Place::new();
    place.write("s.csv", crate::common::school());
    place.ok("fit s.csv --task school --target score --c 1 -o m.st --quiet");
    let said = place.run("predict m.st s.csv --interval 0.9 -o p.csv");
    assert!(
        said.code == 2 && said.stderr.contains("select, which takes a given C as --grid c=X"),
        "{said:?}"
    );
    place.ok("select s.csv --task school --target score --grid c=1 -o n.st --quiet");
    place.ok("predict n.st s.csv --interval 0.9 -o p.csv --quiet");
    assert!(String::from_utf8(place.read("p.csv")).unwrap().starts_with("task,score,low,high\n"));
}

/// A clinic in which all were cured is not certain to cure the next one, and less so the fewer it has seen.
#[test]
fn tasks_of_one_class_are_not_certain() {
    let place = Place::new();
    let mut text = String::from("clinic,age,cured\n");
    for (clinic, rows) in [("a", 30), ("few", 3), ("many", 30)] {
        for i in 0..rows {
            let cured = clinic != "a" || i * 7 % 10 > 4;
            text += &format!("{clinic},{},{}\n", 20 + i * 13 % 50, if cured { "yes" } else { "no" });
        }
    }
    place.write("a.csv", text);
    place.write("new.csv", "clinic,age\na,45\nfew,45\nmany,45\n");
    // With age in a straight line, which says nothing: a curve finds the period of the labels, and is right to be sure.
    let said = place
        .ok("fit a.csv --task clinic --target cured --loss logistic --kernel linear --threads 1 -o m.st");
    let note = "2 tasks have labels of one class only (intercept drawn to that of all tasks, so that no probability \
                is 0 or 1): few, m";
    assert!(said.contains(note), "{said}");
    assert_eq!(place.json("certify m.st a.csv")["holds"], true);
    place.ok("predict m.st new.csv --proba -o p.csv --quiet");
    let text = String::from_utf8(place.read("p.csv")).unwrap();
    let found: Vec<f64> =
        text.lines().skip(1).map(|l| l.rsplit(',').next().unwrap().parse().unwrap()).collect();
    assert!(0.7 < found[1] && found[1] + 0.05 < found[2] && found[2] < 0.99, "{found:?}");
}

/// Rows of two features; the label says which is larger.
fn svm_rows(with_label: impl Fn(bool) -> &'static str) -> String {
    let row = |i: u32| {
        let (a, b) = (f64::from(i * 7 % 11), f64::from(i * 5 % 13));
        format!("{}1:{a} 2:{b}\n", with_label(a > b))
    };
    (0..60).map(row).collect()
}

#[test]
fn svm_rows_without_labels_have_the_same_predictions() {
    let place = Place::new();
    place.write("a.svm", svm_rows(|larger| if larger { "a " } else { "b " }));
    place.write("new.svm", svm_rows(|_| ""));
    place.ok("fit a.svm --classes --c 1 -o m.st --threads 1 --quiet");
    assert_eq!(place.ok("predict m.st new.svm --quiet"), place.ok("predict m.st a.svm --quiet"));
    place.write("several.svm", svm_rows(|larger| if larger { "0,2 " } else { "1 " }));
    place.write("one.svm", svm_rows(|larger| if larger { "0 " } else { "1 " }));
    place.ok("fit several.svm --c 1 --loss logistic -o s.st --threads 1 --quiet");
    let wanted = place.ok("predict s.st several.svm --quiet");
    for rows in ["one.svm", "new.svm"] {
        assert_eq!(place.ok(&format!("predict s.st {rows} --quiet")), wanted);
    }
    assert!(place.json("evaluate s.st one.svm --quiet")["metrics"]["auc"]["mean"].as_f64().unwrap() > 0.9);
}

#[test]
fn amounts_of_money_are_numbers_in_every_format() {
    let place = Place::new();
    let amount = |i: u32| format!("EUR {},{:02}", 10 + i * 7 % 31, i * 13 % 100);
    let csv: String = (0..60).map(|i| format!("{};{};{}\n", i % 3, i % 17, amount(i))).collect();
    let row = |i| format!("{{\"shop\":{},\"x\":{}.5,\"y\":\"{}\"}}\n", i % 3, i % 17, amount(i));
    let json: String = (0..60).map(row).collect();
    place.write("a.csv", format!("shop;x;y\n{csv}"));
    place.write("a.jsonl", json);
    for file in ["a.csv", "a.jsonl"] {
        let fit =
            place.json(&format!("fit {file} --task shop --target y --c 1 -o {file}.st --threads 1 --quiet"));
        assert_eq!(fit["n_tasks"], 3, "{fit}");
        assert!(
            place.ok(&format!("fit {file} --target y --c 1 -o m.st --threads 1")).contains("squared loss")
        );
    }
    place.write("words.csv", "x,y\n1,red\n2,green\n3,blue\n4,red\n");
    let said = place.run("fit words.csv --target y --loss squared --c 1 -o n.st");
    assert!(said.code == 3 && said.stderr.contains("this loss is for numbers"), "{}", said.stderr);
    place.ok("fit words.csv --target y --loss squared --classes --c 1 -o n.st --quiet");
}

#[test]
fn the_command_after_data_info_works_with_a_pattern() {
    let place = Place::new();
    let row = |i: u32| format!("b{},{},{},{}\n", i % 4, i % 2, i % 3 % 2, i * 7 % 11);
    place.write("a.csv", "batch,tox_a,tox_b,x\n".to_string() + &(0..60).map(row).collect::<String>());
    let next = place.json("data info a.csv --target tox_*")["suggestion"].as_str().unwrap().to_string();
    assert!(!next.contains("--task"), "{next}");
    place.ok(&format!("{} --c 1 --quiet", next.strip_prefix("kinfolk ").unwrap().replace('"', "")));
}

#[test]
fn a_task_with_three_rows_is_not_the_closest_kin_of_large_ones() {
    let place = Place::new();
    // Four sensors with slopes of their own, and one with three rows.
    let row = |i: u32| {
        let (sensor, x, z) = (i % 4, f64::from(i * 37 % 23) - 11.0, f64::from(i * 11 % 7) - 3.0);
        let slope = [1.0, 1.2, -0.5, -0.7][sensor as usize];
        format!("s{sensor},{x},{z},{}\n", slope * x + z + f64::from(i * 29 % 13) / 10.0)
    };
    let rows: String = (0..160).map(row).collect();
    place.write("a.csv", format!("sensor,x,z,y\n{rows}tiny,1,1,2\ntiny,5,2,7\ntiny,-3,0,-2\n"));
    place.ok("fit a.csv --task sensor --target y --kernel linear --c strength:1 --threads 1 -o m.st");
    let said = place.ok("theta m.st");
    // The first lines are the matrix.
    let is_kin = |line: &&str, task: &str| line.starts_with(task) && line.contains('(');
    let line = |task: &str| said.lines().find(|line| is_kin(line, task)).unwrap().to_string();
    for sensor in ["s0", "s1", "s2", "s3"] {
        assert!(!line(sensor).contains("tiny"), "{said}");
    }
    // It has kin itself.
    assert!(line("tiny").contains("s0 ("), "{said}");
    place.ok("report m.st a.csv -o m.html");
    let page = String::from_utf8(place.read("m.html")).unwrap();
    assert!(!page.contains("<td>tiny (") && !page.contains("Closest kin: tiny"), "the report names it");
}
