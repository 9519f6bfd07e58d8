//! Numbers with a unit in the cell.

use crate::common::Place;

/// 60 rows of three meters; `units` are those of wind, temperature and use.
fn meters(units: [&str; 3]) -> String {
    let mut text = String::from("meter;wind;temp;use\n");
    for i in 0..60 {
        let number = |x: usize| format!("{},{:02}", x / 100, x % 100);
        let (wind, temp) = (number(i * 7919 % 1000), number(i * 104_729 % 3000));
        let used = number(500 + 3 * (i * 7919 % 1000) / 10 + 100 * (i % 3));
        text += &format!("z{};{wind}{};{temp}{};{used}{}\n", i % 3, units[0], units[1], units[2]);
    }
    text
}

const FIT: &str = "--task meter --target use --c 1";

#[test]
fn a_unit_beside_all_numbers_is_taken_off_aloud() {
    let place = Place::new();
    place.write("units.csv", meters([" m/s", "\u{b0}C", " kWh"]).replacen("9,19 m/s", "k.A.", 1));
    place.write("plain.csv", meters(["", "", ""]).replacen("9,19;", "k.A.;", 1));
    place.ok(&format!("fit plain.csv {FIT} -o plain.st"));
    let said = place.ok(&format!("fit units.csv {FIT} -o units.st"));
    let note =
        "numbers are read without the unit beside them: \"temp\" (\u{b0}C), \"use\" (kWh), \"wind\" (m/s)";
    assert_eq!(said.matches(note).count(), 1, "{said}");
    assert!(said.contains("decimal comma"), "{said}");
    let scores = |rows: &str, model: &str| place.ok(&format!("predict {model} {rows}"));
    // The same numbers, whether new rows have the units or not.
    assert_eq!(scores("plain.csv", "units.st"), scores("units.csv", "units.st"));
    assert_eq!(scores("plain.csv", "units.st"), scores("plain.csv", "plain.st"));
    place.write("other.csv", meters([" km/h", "\u{b0}C", ""]));
    let said = place.run("predict units.st other.csv").stderr;
    assert!(said.contains("km/h\" is not a number; the unit of this column is \"m/s\""), "{said}");
    // Signs of money and percent, which are read without a word elsewhere, are other units here.
    for unit in [" %", " \u{20ac}"] {
        place.write("other.csv", meters([unit, "\u{b0}C", ""]));
        let said = place.run("predict units.st other.csv");
        assert!(said.code == 3 && said.stderr.contains("the unit of this column is \"m/s\""), "{said:?}");
    }
    let said = place.ok("data info units.csv");
    assert!(said.contains("its numbers are in \"m/s\""), "{said}");
}

#[test]
fn a_unit_beside_some_numbers_is_the_unit_of_all() {
    let place = Place::new();
    place.write("plain.csv", meters(["", "", ""]));
    // The wind of some rows has a unit.
    let some = |units: [&str; 2]| {
        let plain = meters(["", "", ""]);
        let row = |(i, line): (usize, &str)| {
            let (meter, rest) = line.split_once(';').unwrap();
            let (wind, rest) = rest.split_once(';').unwrap();
            let unit = if i % 10 == 5 { units[i / 10 % 2] } else { "" };
            format!("{meter};{wind}{unit};{rest}\n")
        };
        plain.lines().enumerate().map(row).collect::<String>()
    };
    place.write("some.csv", some([" m/s"; 2]));
    place.ok(&format!("fit plain.csv {FIT} -o plain.st"));
    let said = place.ok(&format!("fit some.csv {FIT} -o some.st"));
    let note = "some numbers lack the unit of their column: \"wind\" (54 of 60 numbers, taken to be in m/s)";
    assert_eq!(said.matches(note).count(), 1, "{said}");
    let scores = |model: &str, rows: &str| place.ok(&format!("predict {model} {rows}"));
    assert_eq!(scores("some.st", "some.csv"), scores("plain.st", "plain.csv"));
    assert_eq!(scores("some.st", "plain.csv"), scores("plain.st", "plain.csv"));
    assert!(place.ok("data info some.csv").contains("its numbers are in \"m/s\""));
    // A second unit is refused, however rare it is.
    place.write("two.csv", some([" m/s", " km/h"]));
    let said = place.run(&format!("fit two.csv {FIT} -o two.st")).stderr;
    assert!(said.contains("column \"wind\": its numbers have different units: \"km/h\" ("), "{said}");
    place.write("km.csv", meters([" km/h", "", ""]));
    let said = place.run("predict some.st km.csv").stderr;
    assert!(said.contains("the unit of this column is \"m/s\""), "{said}");
    // A few whole numbers: a space tells a unit from the name of something.
    let days = |unit: &str| {
        let row = |i: usize| {
            format!("t{},{}{},{}\n", i % 3, i % 7, if i.is_multiple_of(9) { unit } else { "" }, i * 5 % 11)
        };
        format!("t,stay,y\n{}", (0..70).map(row).collect::<String>())
    };
    place.write("days.csv", days(" d"));
    let said = place.ok("fit days.csv --task t --target y --c 1 -o m.st");
    assert!(said.contains("taken to be in d)"), "{said}");
    place.write("names.csv", days("d"));
    let said = place.ok("fit names.csv --task t --target y --c 1 -o m.st");
    assert!(said.contains("words became a feature for each value: \"stay\""), "{said}");
}

#[test]
fn different_units_are_an_error_or_words() {
    let place = Place::new();
    let mixed = meters([" m/s", "", " kWh"]).replace("5 m/s", "5 km/h").replace("1 kWh", "1 MWh");
    place.write("mixed.csv", mixed);
    let said = place.run(&format!("fit mixed.csv {FIT} -o m.st")).stderr;
    assert!(said.contains("column \"wind\": its numbers have different units: \"km/h\" ("), "{said}");
    assert!(said.contains("column \"use\": its numbers have different units: \"MWh\" ("), "{said}");
    assert!(said.contains("write all in one unit") && !said.contains("--missing-word"), "{said}");
    // A few sizes are words.
    let sizes: String =
        (0..40).map(|i| format!("{},{},{}\n", ["250 ml", "1 l"][i % 2], i * 7 % 5, i * 3 % 11)).collect();
    place.write("sizes.csv", format!("size,x,y\n{sizes}"));
    let said = place.ok("fit sizes.csv --target y --c 1 -o m.st");
    assert!(said.contains("words became a feature for each value: \"size\" (2)"), "{said}");
}

#[test]
fn errors_about_labels_do_not_lead_in_a_circle() {
    let place = Place::new();
    let rows = (0..30).map(|i| format!("t{},{},{}\n", i % 2, i * 7 % 5, ["low", "mid", "high"][i % 3]));
    place.write("a.csv", format!("t,x,y\n{}", rows.collect::<String>()));
    let numbers = place.run("fit a.csv --task t --target y --loss squared -o m.st").stderr;
    assert!(
        numbers.contains("labels are words") && !numbers.contains("loss for classification"),
        "{numbers}"
    );
    let classes = place.run("fit a.csv --task t --target y --loss logistic -o m.st").stderr;
    assert!(classes.contains("two values") && !classes.contains("loss for regression"), "{classes}");
}

#[test]
fn rows_of_unknown_classes_are_counted_and_left_out() {
    let place = Place::new();
    let row = |i: usize, class: &str| format!("{},{},{class}\n", i % 3 * 10 + i % 7, i * 5 % 9);
    let known: String = (0..45).map(|i| row(i, ["ash", "elm", "oak"][i % 3])).collect();
    place.write("a.csv", format!("x,z,tree\n{known}"));
    place.ok("fit a.csv --target tree --classes --c 1 -o m.st");
    place.write("b.csv", format!("x,z,tree\n{known}{}{}{}", row(1, "yew"), row(2, "yew"), row(3, "fir")));
    let said = place.run("evaluate m.st b.csv");
    assert_eq!(said.code, 0, "{}", said.stderr);
    let note = "3 rows of a class that was not there in training, never predicted and left out of the scores: \"fir\" \
                (1 row), \"yew\" (2 rows)";
    assert!(said.stderr.contains(note), "{}", said.stderr);
    let (all, some) = (place.json("evaluate m.st a.csv"), place.json("evaluate m.st b.csv"));
    assert_eq!((&all["accuracy"], &some["unknown_classes"]["yew"]), (&some["accuracy"], &2.into()));
    place.write("c.csv", format!("x,z,tree\n{}", row(1, "yew")));
    let said = place.run("evaluate m.st c.csv").stderr;
    assert!(said.contains("no row has a class that the model knows: \"yew\" (1 row)"), "{said}");
}
