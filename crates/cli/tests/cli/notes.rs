//! What is said about columns, words and numbers that may not be meant as they are.

use crate::common::Place;

/// A file of 40 rows, its columns made by these rules, with a label.
fn table(columns: &[(&str, &dyn Fn(usize) -> String)]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.0).collect();
    let mut text = format!("{};y\n", names.join(";"));
    for i in 0..40 {
        let cells: Vec<String> = columns.iter().map(|column| (column.1)(i)).collect();
        text += &format!("{};{}\n", cells.join(";"), i * 7 % 11);
    }
    text
}

fn fit(columns: &[(&str, &dyn Fn(usize) -> String)], more: &str) -> String {
    let place = Place::new();
    place.write("a.csv", table(columns));
    let said = place.run(&format!("fit a.csv --target y --c 1 -o m.st {more}"));
    said.stdout + &said.stderr
}

fn x(i: usize) -> String {
    (i * 5 % 9).to_string()
}

#[test]
fn columns_without_effect_and_copies_are_named_once() {
    let said =
        fit(&[("x", &x), ("same", &|_| "7".into()), ("copy", &x), ("words", &|i| format!("w{}", i % 2))], "");
    assert!(said.contains("columns  the same in all rows, without effect: \"same\"\n"), "{said}");
    assert!(
        said.contains("the same as another column, which then counts twice (--drop): \"copy\" = \"x\"\n"),
        "{said}"
    );
    let said = fit(&[("x", &x), ("z", &|i| (i % 4).to_string())], "");
    assert!(!said.contains("the same"), "{said}");
}

#[test]
fn whole_numbers_that_never_repeat_may_be_identifiers() {
    let note = |name: &str| format!("column \"{name}\" has another whole number in each row");
    let counted = |i: usize| (100 + i).to_string();
    let scattered = |i: usize| (i * i + 10).to_string();
    let rules: [(&str, &dyn Fn(usize) -> String); 2] = [("row", &counted), ("customer_id", &scattered)];
    for (name, id) in rules {
        let said = fit(&[("x", &x), (name, id)], "");
        assert!(said.contains(&note(name)) && said.contains(&format!("--drop \"{name}\"")), "{said}");
    }
    let said = fit(&[("x", &x), ("price", &|i| (i * i + 10).to_string())], "");
    assert!(!said.contains("another whole number"), "{said}");
    let said = fit(&[("x", &x), ("patient_id", &|i| (i * i % 39 + i % 26).to_string())], "");
    assert!(said.contains("column \"patient_id\" is called like an identifier"), "{said}");
    assert!(said.contains("--folds-by group:\"patient_id\""), "{said}");
}

#[test]
fn several_currencies_are_told_of() {
    let money = |i: usize| format!("{} {}", i % 5, if i.is_multiple_of(3) { "USD" } else { "\u{20ac}" });
    let said = fit(&[("x", &x), ("price", &money)], "");
    assert!(said.contains("without the sign of money beside them: \"price\""), "{said}");
    assert!(
        said.contains("column \"price\" mixes amounts in $, \u{20ac}: they are read as they are"),
        "{said}"
    );
    let said = fit(
        &[
            ("x", &x),
            ("price", &|i| format!("{} {}", i % 5, if i.is_multiple_of(3) { "EUR" } else { "\u{20ac}" })),
        ],
        "",
    );
    assert!(said.contains("sign of money") && !said.contains("mixes"), "{said}");
}

#[test]
fn times_with_and_without_a_zone_and_what_dates_are_good_for_are_told_of() {
    let time = |i: usize| {
        format!("2024-03-{:02} 10:00{}", 1 + i % 28, if i.is_multiple_of(2) { "+02:00" } else { "" })
    };
    let said = fit(&[("x", &x), ("when", &time)], "");
    assert!(
        said.contains("times with and without a zone (+02:00): those without are taken as UTC: \"when\""),
        "{said}"
    );
    assert!(
        said.contains("--date-parts month,weekday adds their parts, --folds-by time:when scores later rows"),
        "{said}"
    );
    let german = |i: usize| format!("{}. {} 2024", 1 + i % 28, ["Januar", "M\u{e4}rz", "Dez"][i % 3]);
    let said = fit(&[("x", &x), ("Datum", &german)], "--date-parts month");
    assert!(said.contains("dates became days since 1970-01-01: \"Datum\" (dmy)\n"), "{said}");
}

#[test]
fn numbers_with_another_decimal_sign_than_the_one_that_is_told_are_an_error() {
    let (point, comma) = (|i: usize| format!("{}.5", i % 7), |i: usize| format!("{},25", i % 5));
    let said = fit(&[("p", &point), ("c", &comma)], "--decimal .");
    let why =
        "column \"c\": its numbers, such as \"0,25\", have another decimal sign than the rest of the file";
    assert!(said.contains(why) && said.contains("--decimal c=either"), "{said}");
    // Labels would be classes.
    let place = Place::new();
    let rows: String = (0..30).map(|i| format!("{};{}\n", point(i), comma(i))).collect();
    place.write("a.csv", format!("x;y\n{rows}"));
    let said = place.run("fit a.csv --target y --c 1 --decimal . -o m.st").stderr;
    assert!(said.contains("line 2, column \"y\": its numbers, such as \"0,25\", have another"), "{said}");
}

/// Labels in several spellings.
fn answers(words: &[&str]) -> String {
    let row = |i: usize| format!("{},{},{}\n", ["A", "b"][i % 2], i * 5 % 9, words[i % words.len()]);
    "clinic,x,cured\n".to_string() + &(0..60).map(row).collect::<String>()
}

#[test]
fn spellings_of_one_word_are_told_of_and_joined_on_request() {
    let place = Place::new();
    place.write("three.csv", answers(&["Yes", "no", "yes", "NO", "maybe"]));
    let said = place.run("fit three.csv --task clinic --target cured --c 1 -o m.st");
    assert!(
        said.code == 3 && said.stderr.contains("--ignore-case takes words that differ"),
        "{}",
        said.stderr
    );
    place.write("a.csv", answers(&["Yes", "no", "yes", "NO", "YES"]));
    // Spellings of two words are two labels of a task; classes are as they are written.
    let said = place.ok("fit a.csv --task clinic --target cured --c 1 -o m.st");
    let note = "labels in several spellings are read as two: \"no\" (also \"NO\") and \"yes\" (also \"YES\", \"Yes\")";
    assert!(said.contains(note), "{said}");
    let said = place.ok("fit a.csv --target cured --c 1 -o m.st");
    let note = "classes: 5 different spellings of 2 words that differ in letter case or spaces only, such as \
                \"NO\", \"no\", and 1 more; --ignore-case makes one of them";
    assert!(said.contains(note), "{said}");
    let said = place.ok("fit a.csv --task clinic --target cured --ignore-case --c 1 -o m.st");
    assert!(said.contains("labels: \"no\" became -1 and \"yes\" became +1"), "{said}");
    assert!(said.contains("that differ in letter case only are one (--ignore-case)"), "{said}");
    // New rows are read alike, without the option.
    place.write("new.csv", "clinic,x,cured\na,3,yEs\nB,4,nO\n");
    assert_eq!(place.json("evaluate m.st new.csv --quiet")["n_labels"], 2);
    // Names are those of the fit, in the spelling that it had most often.
    assert!(place.ok("predict m.st new.csv --quiet").contains("\nA,"), "and not a");
    assert!(place.ok("predict m.st new.csv --quiet").contains("\nb,"), "and not B");
    assert_eq!(place.run("predict m.st new.csv --ignore-case").code, 2);
    assert_eq!(place.json("certify m.st a.csv")["holds"], true);
    // Two spellings of one word are two classes, but not without a word.
    place.write("two.csv", answers(&["Yes", "yes"]));
    assert!(
        place.ok("fit two.csv --task clinic --target cured --c 1 -o two.st").contains("labels: 2 different")
    );
}

#[test]
fn words_that_group_tasks_may_be_a_known_relation() {
    let place = Place::new();
    let row = |i: usize| format!("s{},r{},{},{}\n", i % 6, i % 2, i % 7, i % 7 * (1 + i % 2) + i % 3);
    place.write("a.csv", "shop,region,x,y\n".to_string() + &(0..90).map(row).collect::<String>());
    let said = place.ok("fit a.csv --task shop --target y --c 1 -o m.st");
    assert!(
        said.contains("if it groups the tasks, --atom \"groups=a.csv:region\" makes a known relation of it"),
        "{said}"
    );
    place.ok("fit a.csv --task shop --target y --c 1 --atom groups=a.csv:region -o m.st");
}

#[test]
fn missing_values_may_have_points_beside_decimal_commas() {
    let said = fit(&[("x", &|i| if i % 9 == 2 { "k.A.".into() } else { format!("{},5", i % 7) })], "");
    assert!(said.contains("missing values: \"x\" (5 rows)"), "{said}");
}

#[test]
fn sparse_inputs_and_standard_scaling_name_what_helps() {
    let place = Place::new();
    let row = |i: usize| format!("{} {}:1 {}:2\n", i % 2, 1 + i % 17, 30 + i % 13);
    place.write("a.svm", (0..60).map(row).collect::<String>());
    let said = place.run("fit a.svm --scale standard --c 1 -o m.st");
    assert!(said.stderr.contains("--scale spread") && said.stderr.contains("--dense"), "{}", said.stderr);
    place.ok("fit a.svm --scale standard --dense --c 1 -o m.st -q");
}

#[test]
fn coefficients_of_one_task_and_per_spread() {
    let place = Place::new();
    let row =
        |i: usize| format!("{},{},{},{}\n", ["a", "b"][i % 2], i % 7, 1000 * (i % 5), i % 7 * 3 + i % 5);
    place.write("a.csv", "shop,x,z,y\n".to_string() + &(0..70).map(row).collect::<String>());
    place.ok("fit a.csv --task shop --target y --c 10 -o m.st -q");
    let units = place.json("model coef m.st --task b");
    let spread = place.json("model coef m.st --task b --per-spread");
    assert_eq!(units["features"], serde_json::json!(["x", "z"]), "by what they contribute");
    let value = |json: &serde_json::Value, j: usize| json["values"][j][0].as_f64().unwrap();
    assert_eq!(units["values"][0].as_array().unwrap().len(), 1);
    assert!(value(&units, 1) < 0.01 && value(&spread, 1) > 0.5, "{units} {spread}");
    assert!(
        (value(&spread, 0) - 2.0 * value(&units, 0)).abs() < 1e-9,
        "0 to 6 have the standard deviation 2"
    );
    assert_eq!(place.run("model coef m.st --task c").code, 3);
}

#[test]
fn theta_of_many_tasks_says_how_to_see_it() {
    let place = Place::new();
    let row = |i: usize| {
        let (x, z) = (i % 7, i * 5 % 11);
        format!("t{:02},{x},{z},{}\n", i % 20, x * (20 + i % 20) + z * (i % 20) * (i % 5) + i % 3)
    };
    place.write("a.csv", "task,x,z,y\n".to_string() + &(0..200).map(row).collect::<String>());
    place.ok("fit a.csv --task task --target y --c 1 -o m.st -q");
    assert!(
        place
            .ok("theta m.st --correlation")
            .starts_with("correlations of 20 tasks: --full prints the matrix")
    );
    assert!(place.ok("theta m.st").starts_with("Theta of 20 tasks: --full"));
    // The report has the numbers of theta, under the same name.
    let kin = place.ok("theta m.st").lines().find(|line| line.starts_with("t00")).unwrap().to_string();
    let kin = kin.split_whitespace().skip(2).take(2).collect::<Vec<_>>().join(" ");
    place.ok("report m.st -o r.html -q");
    let page = String::from_utf8(place.read("r.html")).unwrap();
    assert!(page.contains("Nearest kin (correlation of fitted functions)"), "as in theta");
    assert!(page.contains(kin.trim_end_matches(',')), "{kin}");
}

#[test]
fn columns_that_may_be_other_outcomes_are_named() {
    let place = Place::new();
    let row = |i: u32| {
        let (age, stay) = (20 + i * 37 % 60, 1 + i * 7 % 11);
        let cost = 100 * stay + 90 * (i % 13);
        let billed = f64::from(cost) * 1.19 + f64::from(i % 3);
        format!("w{},{age},{stay},{},{billed},{},{cost}\n", i % 3, i * 31 % 97, 90_000 + i * 7919 % 10_007)
    };
    let rows: String = (0..80).map(row).collect();
    place.write("a.csv", format!("ward,age,stay,cost_drugs,billed,stay_code,cost_total\n{rows}"));
    let fit = "a.csv --task ward --target cost_total";
    let alike = "called like the target \"cost_total\", and so perhaps other outcomes, which are not known for new \
                 rows (--drop \"cost_drugs\" leaves it out): \"cost_drugs\"";
    let near = "nearly the label by itself: \"billed\" (correlation 1.000); if that is another outcome";
    let id = "column \"stay_code\" has another whole number in each row, as identifiers have";
    for said in [
        place.ok(&format!("fit {fit} --c 1 -o m.st")),
        place.ok(&format!("data info {fit}")),
        place.run(&format!("select {fit} --method stl --grid strength=1 --folds 2")).stderr,
    ] {
        for note in [alike, near, id] {
            assert_eq!(said.matches(note).count(), 1, "{note}: {said}");
        }
    }
    // Nothing is left out unasked, and nothing is said about what is dropped.
    assert!(place.ok("model show m.st").contains("billed"));
    let said = place.ok(&format!("fit {fit} --c 1 --drop cost_drugs,billed,stay_code -o m.st --force"));
    assert!(!said.contains("outcome") && !said.contains("identifiers"), "{said}");
}
