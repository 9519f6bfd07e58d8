//! Cells that are not what the rest of their column is: said, or refused, and never taken for something else.

use super::common::*;
use kinfolk_io::{ColumnRoles, Feature};
use std::path::Path;

fn y() -> ColumnRoles {
    columns("t", "y")
}

/// Thirty rows of two tasks; `cell` gives the feature of a row.
fn table(cell: impl Fn(usize) -> String) -> String {
    (0..30)
        .fold("t,c,x,y\n".into(), |text, i| text + &format!("t{},{},{},{}\n", i % 2, cell(i), i * 7 % 11, i))
}

/// The same with one odd cell, in line 12, among seven different values.
fn with_odd(cell: impl Fn(usize) -> String, odd: &str) -> String {
    table(|i| if i == 10 { odd.into() } else { cell(i % 7) })
}

#[test]
fn one_odd_cell_makes_no_words_of_numbers() {
    for odd in ["unknown", "?", "<0.5", "3.5*"] {
        let said = message(with_odd(|i| format!("{i}.5"), odd), &y());
        let wanted =
            format!("a.csv: line 12, column \"c\": {odd:?} is not a number, and 1 of 30 values are not; ");
        assert!(said.starts_with(&wanted), "{said}");
        assert!(
            said.contains(&format!("take {odd:?} for a missing value")) && said.contains("one-hot"),
            "{said}"
        );
        let cured = ColumnRoles { missing_words: names(&[odd]), ..y() };
        assert!(read(with_odd(|i| format!("{i}.5"), odd), &cured).is_ok());
        let wanted = ColumnRoles { one_hot: names(&["c"]), ..y() };
        assert!(read(with_odd(|i| format!("{i}.5"), odd), &wanted).is_ok());
    }
    // With a unit, too; and whole numbers are no exception.
    assert!(message(with_odd(|i| format!("{i} kg"), "heavy"), &y()).contains("\"heavy\" is not a number"));
    assert!(message(with_odd(|i| i.to_string(), "unknown"), &y()).contains("\"unknown\" is not a number"));
    // Many words beside numbers are words.
    assert!(read(table(|i| if i % 3 == 0 { "many".into() } else { (i % 3).to_string() }), &y()).is_ok());
}

#[test]
fn one_odd_cell_makes_no_words_of_dates() {
    for odd in ["0000-00-00", "2024-02-30", "01.09.23", "unknown"] {
        let text = with_odd(|i| format!("2024-03-{:02}", i + 1), odd);
        let said = message(&text, &y());
        let wanted =
            format!("a.csv: line 12, column \"c\": {odd:?} is not a date, and 1 of 30 values are not; ");
        assert!(said.starts_with(&wanted) && said.contains("for a missing value"), "{said}");
        let (_, schema) = read(&text, &ColumnRoles { missing_words: names(&[odd]), ..y() }).unwrap();
        assert!(matches!(schema.features.unwrap()[0], Feature::Date { .. }));
    }
    let (_, schema) = read(table(|i| format!("{:02}.09.23", i % 7 + 1)), &y()).unwrap();
    assert_eq!(schema.left_out[0].why, "dates such as \"01.09.23\" need years of four digits");
}

#[test]
fn a_missing_word_is_no_task() {
    let text = table(|i| i.to_string()).replace("\nt0,4,", "\nNA,4,");
    let said = message(&text, &y());
    assert_eq!(
        said,
        "a.csv: line 6, column \"t\": \"NA\" is a missing value, and every row needs a task; fill it in or delete the \
         row, or if a task is really called so, give it another name"
    );
    assert!(
        message(text.replace("\nNA,4,", "\n,4,"), &y())
            .contains("the cell is empty, and every row needs a task")
    );
    // But `none` is a word where others are words.
    assert!(read(text.replace("\nNA,4,", "\nnone,4,"), &y()).is_ok());
    let lines = text.lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{{\"t\":\"{}\",\"c\":{},\"y\":{}}}\n", cells[0], cells[1], cells[3])
    });
    let lines: String = lines.collect();
    let error = kinfolk_io::read_bytes(Path::new("a.jsonl"), lines.as_bytes(), &y(), None).unwrap_err();
    assert!(error.to_string().contains("\"NA\" is a missing value, and every row needs a task"), "{error}");
}

#[test]
fn percent_is_a_unit() {
    let percent = table(|i| format!("{}%", i * 3));
    let (rows, schema) = read(&percent, &y()).unwrap();
    assert_eq!(schema.columns.units["c"], "%");
    assert!(schema.notes().iter().any(|note| note.contains("without the unit beside them: \"c\" (%)")));
    // New rows without the sign are read alike, aloud.
    let plain = table(|i| (i * 3).to_string());
    assert_eq!(read_as(&plain, &ColumnRoles::default(), Some(&schema)).unwrap().0, rows);
    let mut source = open(&plain, &ColumnRoles::default(), Some(&schema)).unwrap();
    all_rows(&mut *source, 100).unwrap();
    let said = source.remarks();
    let wanted = "column \"c\": 30 numbers lack the unit % of the fit and are taken to be in it";
    assert!(said.contains(&wanted.to_string()), "{said:?}");
    // Both in one column: said.
    let (_, schema) =
        read(table(|i| if i % 2 == 0 { format!("{i}%") } else { format!("0.{i}") }), &y()).unwrap();
    let said = schema.notes();
    assert!(said.iter().any(|note| note.contains("\"c\" (15 of 30 numbers, taken to be in %)")), "{said:?}");
    // And a model of plain numbers refuses it.
    let (_, schema) = read(&plain, &y()).unwrap();
    let error = read_as(&percent, &ColumnRoles::default(), Some(&schema)).unwrap_err().to_string();
    assert!(error.contains("\"0%\" is not a number; the numbers of this column have no unit"), "{error}");
}

#[test]
fn a_minus_of_bookkeepers_is_said() {
    let (rows, schema) =
        read(table(|i| if i % 2 == 0 { format!("({i}.50)") } else { i.to_string() }), &y()).unwrap();
    assert_eq!(f64::from_bits(rows[2].x[0]), -2.5);
    let said = schema.notes();
    assert!(said.iter().any(|note| note.contains("are read as negative: \"c\"")), "{said:?}");
}

#[test]
fn times_with_a_zone_are_utc_aloud() {
    let zoned = table(|i| format!("2024-03-{:02}T10:00:00+02:00", i % 28 + 1));
    let plain = table(|i| format!("2024-03-{:02}T10:00:00", i % 28 + 1));
    let (rows, schema) = read(&zoned, &y()).unwrap();
    assert_eq!(f64::from_bits(rows[0].x[0]), 19_783.0 + 8.0 / 24.0);
    assert!(
        schema.notes().contains(&"times with a zone became UTC: \"c\"".to_string()),
        "{:?}",
        schema.notes()
    );
    let kept = serde_json::to_string(&schema).unwrap();
    assert!(kept.contains("\"zone\":true"), "{kept}");
    let said = |text: &str, schema| {
        let mut source = open(text, &ColumnRoles::default(), Some(schema)).unwrap();
        all_rows(&mut *source, 100).unwrap();
        source.remarks()
    };
    let wanted = "column \"c\": 30 times have no zone, and those of the fit had one: taken as UTC";
    assert_eq!(said(&plain, &schema), [wanted]);
    assert!(said(&zoned, &schema).is_empty());
    let (_, schema) = read(&plain, &y()).unwrap();
    assert!(!serde_json::to_string(&schema).unwrap().contains("zone"));
    let wanted = "column \"c\": 30 times have a zone, and those of the fit had none: made UTC";
    assert_eq!(said(&zoned, &schema), [wanted]);
    // Parts are of UTC, in every format.
    let parts = ColumnRoles { date_parts: vec!["hour".parse().unwrap()], ..y() };
    let (rows, schema) = read(&zoned, &parts).unwrap();
    assert_eq!(f64::from_bits(rows[0].x[1 + 8]), 1.0);
    assert!(
        schema.notes().contains(&"times with a zone became UTC, and so are their parts: \"c\"".to_string())
    );
}

#[test]
fn rows_that_are_left_out_are_counted_and_kept() {
    let roles = ColumnRoles { missing: "drop".parse().unwrap(), ..y() };
    let (rows, schema) = read(table(|i| if i < 3 { String::new() } else { i.to_string() }), &roles).unwrap();
    assert_eq!((rows.len(), schema.dropped_rows), (27, 3));
    assert!(
        schema.notes().contains(&"3 rows with a missing value are left out (--missing drop)".to_string())
    );
}

#[test]
fn yes_and_no_are_one_number() {
    for (yes, no) in [("ja", "nein"), ("oui", "non"), ("WAHR", "FALSCH"), ("yes", "no"), ("Y", "N")] {
        let (rows, schema) = read(table(|i| if i % 3 == 0 { yes.into() } else { no.into() }), &y()).unwrap();
        assert_eq!(schema.feature_names().unwrap(), names(&[&format!("c={yes}"), "x"]));
        assert_eq!((rows[0].x[0], rows[1].x[0]), (1f64.to_bits(), 0f64.to_bits()));
        assert_eq!(schema.notes(), [format!("words became 1 and 0: \"c\" ({yes:?}, {no:?})")]);
        let mut source =
            open(table(|i| [yes, no, "maybe"][i % 3].into()), &ColumnRoles::default(), Some(&schema))
                .unwrap();
        all_rows(&mut *source, 100).unwrap();
        let wanted = "column \"c\": 10 rows have a value that was not there in training, such as \"maybe\"";
        assert_eq!(source.remarks(), [wanted]);
    }
    // Other words, and words that are asked for, have a feature each.
    let (_, schema) = read(table(|i| ["left", "right"][i % 2].into()), &y()).unwrap();
    assert_eq!(schema.feature_names().unwrap(), names(&["c=left", "c=right", "x"]));
    let wanted = ColumnRoles { one_hot: names(&["c"]), ..y() };
    let (_, schema) = read(table(|i| ["ja", "nein"][i % 2].into()), &wanted).unwrap();
    assert_eq!(schema.feature_names().unwrap(), names(&["c=ja", "c=nein", "x"]));
}

#[test]
fn names_of_tasks_that_are_one_are_said() {
    let text = table(|i| i.to_string()).replace("\nt0,", "\n1.0,").replace("\nt1,", "\n1,");
    let (_, schema) = read(text, &y()).unwrap();
    assert!(schema.notes().contains(&"task \"1.0\" is task \"1\"".to_string()), "{:?}", schema.notes());
}

#[test]
fn all_names_that_are_not_there_are_named() {
    let error = read(table(|i| i.to_string()), &columns("tt", "yy")).unwrap_err();
    assert_eq!(error.others.map_or(0, |others| others.len()), 1);
}

#[test]
fn all_words_that_are_no_numbers_are_named_at_once() {
    let cell = |i: usize| match i {
        3 | 9 | 20 => "NC".into(),
        5 | 6 => " non renseign\u{e9} ".into(),
        7 => "?".into(),
        8 => "inf".into(),
        _ => format!("{}.5", i % 17),
    };
    let error = read(table(cell), &y()).unwrap_err();
    let words = names(&["NC", "non renseign\u{e9}", "?", "inf"]);
    assert!(error.hints.contains(&kinfolk_io::Hint::MissingWords(words.clone())), "{error}");
    let listed =
        "\"NC\" (3 rows), \"non renseign\u{e9}\" (2 rows), \"?\" (1 row) and \"inf\" (1 row) are not finite";
    assert!(error.to_string().contains(listed), "{error}");
    let cured = ColumnRoles { missing_words: words, ..y() };
    let (_, schema) = read(table(cell), &cured).unwrap();
    assert!(matches!(schema.features.unwrap()[0], Feature::Filled { rows: 7, .. }));
    // Labels, too.
    let labels = |i: usize| format!("{},{i}", cell(i));
    let text = table(labels).replace("t,c,x,y\n", "t,y,c,x,z\n");
    let error = read(&text, &y()).unwrap_err();
    assert!(
        matches!(&error.hints[..], [kinfolk_io::Hint::MissingWords(words)] if words.len() == 4),
        "{error}"
    );
    assert!(read(text, &cured).is_ok());
}

#[test]
fn infinity_is_a_word_among_words() {
    let (rows, schema) = read(table(|i| ["inf", "sup", "mid"][i % 3].into()), &y()).unwrap();
    assert_eq!(schema.feature_names().unwrap()[..3], names(&["c=inf", "c=mid", "c=sup"]));
    assert_eq!(rows[0].x[..3], bits(&[1.0, 0.0, 0.0]));
}

#[test]
fn infinite_labels_may_be_missing() {
    for target in ["y", "x,y"] {
        let roles =
            ColumnRoles { target: target.split(',').map(String::from).collect(), ..ColumnRoles::default() };
        let text = table(|i| i.to_string()).replace(",7\n", ",-inf\n");
        let error = read(&text, &roles).unwrap_err();
        assert_eq!(error.hints, [kinfolk_io::Hint::MissingWords(names(&["-inf"]))], "{error}");
        assert!(read(&text, &ColumnRoles { missing_words: names(&["-inf"]), ..roles }).is_ok());
    }
}

#[test]
fn superscripts_are_digits_in_units() {
    let text = |unit: [&str; 2]| table(|i| format!("{i}.5 {}", unit[i % 2]));
    let (rows, schema) = read(text(["m\u{b2}", "m2"]), &y()).unwrap();
    assert_eq!(rows[3].x[0], 3.5f64.to_bits());
    let mut source = open(text(["m2", "m2"]), &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(all_rows(&mut *source, 100).unwrap()[3].x, rows[3].x);
    // Units that differ are named, with what lacks one, though there are other words.
    let mixed = |i: usize| match i {
        0..=9 => format!("{i}.5 m\u{b2}"),
        10..=17 => format!("{i}.5 ft2"),
        18 => "NC".into(),
        _ => format!("{i}.5"),
    };
    let said = message(table(mixed), &y());
    assert!(
        said.contains("different units: \"ft2\" (8 rows), \"m\u{b2}\" (10 rows), none (11 rows)"),
        "{said}"
    );
}

#[test]
fn one_odd_target_of_many_is_the_only_one_named() {
    let row = |i: usize| format!("{i},{}.5,{}.5,{}.5,{}\n", i % 7, i % 5, i % 6, ["ok", "bad", "odd"][i % 3]);
    let text = String::from("x,y_1,y_2,y_3,y_note\n") + &(0..30).map(row).collect::<String>();
    let roles = ColumnRoles { target: names(&["y_*"]), ..ColumnRoles::default() };
    let error = read(&text, &roles).unwrap_err();
    assert!(error.others.is_none(), "{error}");
    let wanted =
        "a.csv: column \"y_note\": it has words, such as \"ok\", and 3 other targets have numbers; leave the";
    assert!(error.to_string().starts_with(wanted), "{error}");
    assert!(read(&text, &ColumnRoles { drop: names(&["y_note"]), ..roles }).is_ok());
}

#[test]
fn blanks_around_names_without_letters_do_not_count_if_case_does_not() {
    let text = table(|i| i.to_string()).replace("\nt0,", "\n0105 ,").replace("\nt1,", "\n0105,");
    let folded = ColumnRoles { ignore_case: true, ..y() };
    let (rows, schema) = read(&text, &folded).unwrap();
    assert!(rows.iter().all(|row| matches!(&row.target, Label::Number(task, _) if task == "0105")));
    let new = text.replace("0105", "0107").replace("0107 ", " 0105 ");
    let mut source = open(new, &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(all_rows(&mut *source, 100).unwrap()[0].target, number("0105", 0.0));
    let (table, schema) = kinfolk_io::read_bytes(Path::new("a.csv"), text.as_bytes(), &y(), None).unwrap();
    assert!(schema.spelling_notes(&table)[0].starts_with("tasks: 2 different spellings of 1 word"));
}

#[test]
fn row_numbers_that_pandas_named_are_no_features() {
    for (first, step, is_left_out) in [(0, 1, true), (1, 1, true), (2, 1, false), (0, 2, false)] {
        let text = table(|i| (first + step * i).to_string()).replace("t,c,x", "t,Unnamed: 0,x");
        let (_, schema) = read(&text, &y()).unwrap();
        assert_eq!(schema.feature_names().unwrap().len(), if is_left_out { 1 } else { 2 }, "{first} {step}");
        assert_eq!(schema.left_out.len(), usize::from(is_left_out));
        let listed = ColumnRoles { features: Some(names(&["Unnamed: 0"])), ..y() };
        assert_eq!(read(&text, &listed).unwrap().1.feature_names().unwrap().len(), 1);
    }
}

#[test]
fn nothing_to_learn_from_says_what_is_left_out() {
    let lists = (0..30).map(|i| format!("\"[{i}, 2]\",{i}\n")).collect::<String>();
    let said = message("emb,y\n".to_string() + &lists, &columns("", "y"));
    assert!(
        said.contains("no column left to learn from; \"emb\" is left out: lists in text; write them as"),
        "{said}"
    );
}
