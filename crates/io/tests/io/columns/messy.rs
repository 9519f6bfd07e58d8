//! Tables as programs export them: empty rows, words for nothing, thousands, targets of words.

use super::common::*;
use kinfolk_io::{ColumnRoles, Decimal, LabelEncoding, Targets};

fn y() -> ColumnRoles {
    columns("", "y")
}

fn x(row: &Row) -> Vec<f64> {
    row.x.iter().map(|bits| f64::from_bits(*bits)).collect()
}

fn wide(tasks: &[&str], values: &[f64]) -> Label {
    Label::Wide(names(tasks), bits(values))
}

#[test]
fn targets_of_words_become_signs_and_that_is_kept() {
    let text = "tox_a,tox_b,x\nactive,1,3\ninactive,,1\n,0,2\nactive,0,5\n";
    let (rows, schema) = read(text, &columns("", "tox_*")).unwrap();
    let tasks = ["tox_a", "tox_b"];
    let nan = f64::NAN;
    let wanted = [[1.0, 1.0], [-1.0, nan], [nan, -1.0], [1.0, -1.0]].map(|values| wide(&tasks, &values));
    assert_eq!(rows.iter().map(|row| row.target.clone()).collect::<Vec<_>>(), wanted);
    assert_eq!(
        schema.notes(),
        [
            "targets: \"inactive\" became -1 and \"active\" became +1 in \"tox_a\"",
            "targets: \"0\" became -1 and \"1\" became +1 in \"tox_b\"",
        ]
    );
    // New rows are read in the same way, and other words are an error.
    let new = |text: &str| read_as(text, &ColumnRoles::default(), Some(&schema)).map(|(rows, _)| rows);
    assert_eq!(new("x,tox_b,tox_a\n1,1.0,inactive\n").unwrap()[0].target, wide(&tasks, &[-1.0, 1.0]));
    assert_eq!(
        one_line(new("x,tox_a,tox_b\n1,weak,1\n").map(|_| ())),
        "a.csv: line 2, column \"tox_a\": label \"weak\" is neither \"inactive\" (-1) nor \"active\" (+1)"
    );
    let loss = schema.check_loss(false, &Targets::None).unwrap_err().to_string();
    assert!(loss.starts_with("column \"tox_a\": labels are words (\"inactive\", \"active\")"), "{loss}");
}

#[test]
fn targets_of_one_value_take_the_other_from_those_beside_them() {
    let (rows, _) = read("a,b,c,x\nlow,low,yes,3\nhigh,low,,1\n", &columns("", "a,b,c")).unwrap();
    assert_eq!(rows[0].target, wide(&["a", "b", "c"], &[1.0, 1.0, 1.0]));
    let said = message("a,b,x\nlow,one,3\nhigh,one,1\n", &columns("", "a,b"));
    assert!(
        said.contains("column \"b\": it has one value, \"one\", and its opposite is not known"),
        "{said}"
    );
}

#[test]
fn targets_of_words_and_of_many_numbers_do_not_go_together() {
    let said = message("a,b,x\nlow,1,3\nhigh,2,1\nlow,3,2\n", &columns("", "a,b"));
    let why = "it has numbers of more than two values, and column \"a\" has words; several targets are all numbers, or \
               each has two values; check the columns given as target";
    assert_eq!(said, format!("a.csv: column \"b\": {why}"));
    let mut text = String::from("a,b,x\n");
    (0..6).for_each(|_| text += "low,1,3\nhigh,0,1\n");
    text += "n/k,1,2\n";
    let said = message(&text, &columns("", "a,b"));
    assert!(said.ends_with("take \"n/k\" for a missing value"), "{said}");
    // A word that fills the column is no missing value.
    let said =
        message("a,b,x\nlow,1,3\nhigh,0,1\nmid,1,2\nlow,1,3\nhigh,0,1\nmid,1,2\n", &columns("", "a,b"));
    assert!(
        !said.contains("missing") && said.contains("3 different values (\"high\", \"low\", \"mid\")"),
        "{said}"
    );
}

#[test]
fn frequent_words_are_not_said_to_be_missing_values() {
    let table = |word: &str, every: usize| {
        let cell = |i: usize| if i % every == 1 { word.to_string() } else { format!("{}.5", i) };
        (0..60).fold(String::from("a,y\n"), |text, i| text + &format!("{},1\n", cell(i)))
    };
    assert!(message(table("bad", 10), &y()).contains("take \"bad\" for a missing value"));
    assert!(!message(table("bad", 3), &y()).contains("missing value"));
    assert!(message(table("inf", 10), &y()).contains("take \"inf\" for a missing value"));
    assert!(!message(table("inf", 2), &y()).contains("missing value"));
}

#[test]
fn thousands_and_decimals_are_not_guessed() {
    let text = "a;b;y\n950;1;1\n2.045;2;2\n";
    assert_eq!(
        message(text, &y()),
        "a.csv: line 3, column \"a\": \"2.045\" can be read in two ways: the sign may separate thousands; \
         say whether the decimal sign is a comma or a point"
    );
    let with = |decimal| read(text, &ColumnRoles { decimal: Some(decimal), ..y() }).unwrap().0;
    assert_eq!((x(&with(Decimal::Comma)[1])[0], x(&with(Decimal::Point)[1])[0]), (2045.0, 2.045));
    assert!(message("a;y\n1,234;1\n", &y()).contains("\"1,234\" can be read in two ways"));
    assert!(message("a;y\n1;950\n2;1.250\n", &y()).contains("column \"y\": \"1.250\""), "labels too");
    assert!(
        message("a;y\n1.234;1\n2.045;2\n", &y()).contains("\"1.234\" can be read in two ways"),
        "in all cells"
    );
    assert!(
        message("a\ty\n4,656\t1\n9,583\t2\n", &y()).contains("\"4,656\" can be read in two ways"),
        "tabs"
    );
    // Another number tells, or cells are separated by commas.
    assert_eq!(x(&read("a;b;y\n950;0.5;1\n2.045;2;2\n", &y()).unwrap().0[1]), [2.045, 2.0]);
    assert_eq!(x(&read("a;b;y\n950;0,5;1\n2.045;2;2\n", &y()).unwrap().0[1]), [2045.0, 2.0]);
    assert_eq!(x(&read("a\tb\ty\n4,656\t0.5\t1\n9,583\t2\t2\n", &y()).unwrap().0[1]), [9583.0, 2.0]);
    let plain = read("a,y\n1.234,1\n2.045,2\n", &y()).unwrap();
    assert_eq!((x(&plain.0[1])[0], plain.1.notes()), (2.045, vec![]));
    let grouped = read("a,y\n\"1,100\",1\n\"2,137\",2\n", &y()).unwrap();
    assert_eq!(x(&grouped.0[1]), [2137.0]);
    let note = "numbers such as \"1,100\" are read with commas between thousands (--decimal ,): \"a\"";
    assert!(grouped.1.notes().contains(&note.to_string()), "{:?}", grouped.1.notes());
}

#[test]
fn rows_of_empty_cells_are_left_out_and_counted() {
    let text = "a;b;y\r\n1;2;3\r\n;;\r\n4;5;6\r\n; ;\r\n;;\r\n";
    let (rows, schema) = read(text, &y()).unwrap();
    assert_eq!(rows.iter().map(x).collect::<Vec<_>>(), [[1.0, 2.0], [4.0, 5.0]]);
    assert_eq!(schema.notes(), ["3 rows of empty cells are left out"]);
    assert_eq!(message("a;b;y\n;;\n1;inf;3\n", &y()).split(", ").next(), Some("a.csv: line 3"));
    let mut source = open("a;b\n;\n1;2\n", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(all_rows(&mut *source, 9).unwrap().len(), 1);
    assert_eq!(source.remarks(), ["1 row of empty cells is left out"]);
}

#[test]
fn none_is_a_word_among_words_and_missing_among_numbers() {
    let (rows, schema) = read("c,n,y\nNone,1,1\nred,None,1\nred,3,1\n", &y()).unwrap();
    assert_eq!(schema.feature_names().unwrap(), names(&["c=None", "c=red", "n"]));
    assert_eq!((x(&rows[0]), x(&rows[1])), (vec![1.0, 0.0, 1.0], vec![0.0, 1.0, 2.0]));
    let missing = ColumnRoles { missing_words: names(&["None"]), ..y() };
    let (rows, schema) = read("c,y\nNone,1\nred,1\nred,1\n", &missing).unwrap();
    assert_eq!((schema.feature_names().unwrap(), x(&rows[0])), (names(&["c=red"]), vec![0.0]));
    // Labels as well; a model keeps it.
    let (rows, mut schema) = read("t,a,y\nu,1,none\nu,2,mild\n", &columns("t", "y")).unwrap();
    assert_eq!(rows[0].target, word("u", "none"));
    schema.label_encoding = LabelEncoding::Binary { negative: "none".into(), positive: "mild".into() };
    let new = read_as("t,a,y\nu,1,none\n", &ColumnRoles::default(), Some(&schema)).unwrap().0;
    assert_eq!(new[0].target, word("u", "none"));
    let (rows, _) = read("t,a,y\nu,1,none\nu,2,4\n", &columns("t", "y")).unwrap();
    assert_eq!(rows[0].target, number("u", f64::NAN));
}

#[test]
fn the_positive_word_is_the_one_that_says_yes() {
    let mut source = open("t,a,y\nu,1,active\nu,2,inactive\n", &columns("t", "y"), None).unwrap();
    let table = source.next_chunk(9).unwrap().unwrap();
    assert!(matches!(table.targets, Targets::Tasks { .. }));
    let wanted = LabelEncoding::Binary { negative: "inactive".into(), positive: "active".into() };
    assert_eq!(table.label_encoding(true).unwrap(), wanted);
}

#[test]
fn a_number_with_another_decimal_sign_than_in_training_is_named() {
    let (_, schema) = read("x;y\n1,5;1\n2,5;2\n", &columns("", "y")).unwrap();
    let new = read_as("x;y\n13.4;1\n", &columns("", ""), Some(&schema));
    let wanted = "\"13.4\" is not a number; say whether the decimal sign is a comma or a point";
    assert!(one_line(new.map(|_| ())).ends_with(wanted));
}
