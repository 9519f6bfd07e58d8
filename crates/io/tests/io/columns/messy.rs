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
fn columns_may_have_different_decimal_signs() {
    let text = "a;b;y\n\"1.234,50\";0.5;1\n7,5;12.25;2\n3;4;3\n";
    let (rows, schema) = read(text, &y()).unwrap();
    assert_eq!(rows.iter().map(x).collect::<Vec<_>>(), [[1234.5, 0.5], [7.5, 12.25], [3.0, 4.0]]);
    let note =
        "numbers are read with a decimal comma in \"a\", and with a decimal point elsewhere (--decimal)";
    assert_eq!(schema.notes(), [note]);
    // New rows are read in the same way, and nothing is guessed there either.
    let of_new = |text: &str, columns: &ColumnRoles| {
        let rows = open(text, columns, Some(&schema)).and_then(|mut source| all_rows(&mut *source, 9));
        rows.map(|rows| x(&rows[0])).map_err(|error| error.to_string())
    };
    let same = ColumnRoles::default();
    assert_eq!(of_new("b;a\n1.234;1.234\n", &same), Ok(vec![1234.0, 1.234]));
    let error = of_new("b;a\n1;1.5\n", &same).unwrap_err();
    assert!(error.contains("column \"a\": \"1.5\" is not a number; say whether"), "{error}");
    let point = ColumnRoles { decimal: Some(Decimal::Point), ..same.clone() };
    assert_eq!(of_new("b;a\n1;1.5\n", &point), Ok(vec![1.5, 1.0]));
    // A column of which nothing tells the sign is in the way, unless the caller says it.
    let text = "a;b;y\n1,5;0.5;1\n2,5;2;2.309\n";
    assert_eq!(
        message(text, &y()),
        "a.csv: line 3, column \"y\": \"2.309\" can be read in two ways: the sign may separate thousands; say \
         whether its decimal sign is a comma or a point"
    );
    let told = ColumnRoles { decimals: [("y".to_string(), Decimal::Comma)].into(), ..y() };
    let (rows, schema) = read(text, &told).unwrap();
    assert_eq!((x(&rows[1]), &rows[1].target), (vec![2.5, 2.0], &number("y", 2309.0)));
    assert_eq!(schema.columns.decimals.len(), 2);
    let typo = ColumnRoles { decimals: [("z".to_string(), Decimal::Comma)].into(), ..y() };
    assert!(message(text, &typo).contains("there is no column \"z\""));
}

#[test]
fn a_column_of_both_decimal_signs_is_read_where_no_number_has_two_readings() {
    let text = "a;y\n\"1,5\";1\n2.5;2\n1.234,25;3\n7;4\n";
    let (rows, schema) = read(text, &y()).unwrap();
    assert_eq!(rows.iter().map(|row| x(row)[0]).collect::<Vec<_>>(), [1.5, 2.5, 1234.25, 7.0]);
    let note = "each number is read with its own decimal sign in \"a\", where some have a decimal comma and others a \
                point (--decimal)";
    assert_eq!(schema.notes(), [note]);
    let new = |text: &str| {
        open(text, &ColumnRoles::default(), Some(&schema)).and_then(|mut s| all_rows(&mut *s, 9))
    };
    assert_eq!(x(&new("a;z\n1.5;1\n").unwrap()[0]), [1.5]);
    let error = new("a;z\n1,5;1\n1,234;2\n").unwrap_err().to_string();
    assert!(
        error.ends_with(
            "line 3, column \"a\": \"1,234\" can be read in two ways, and in training each number told its decimal \
             sign; say that a single comma or point is always a decimal sign"
        ),
        "{error}"
    );
    let unclear = "a;y\n1,5;1\n2.5;2\n1.234;3\n";
    let error = message(unclear, &y());
    let why = "a.csv: line 4, column \"a\": \"1.234\" can be read in two ways, and this column has decimal commas as \
               well as points (\"1,5\" in line 2); write all numbers with the same sign; say that a single comma or \
               point is always a decimal sign, or leave the column out";
    assert_eq!(error, why);
    let either = ColumnRoles { decimal: Some(Decimal::Either), ..y() };
    let (rows, schema) = read(unclear, &either).unwrap();
    assert_eq!((x(&rows[2])[0], schema.notes().len()), (1.234, 1));
    // Texts with commas are no numbers: the file has points.
    let words = "a;b;y\n1,5 x;0.5;1\n2,5;2.309;2\nred;3;3\nred;3;3\nred;4;3\n2,5;1.5;2\n";
    assert_eq!(x(&read(words, &y()).unwrap().0[1]).last(), Some(&2.309));
}

#[test]
fn money_of_another_kind_in_new_rows_is_said() {
    let (_, schema) = read("price,n,y\n5.50 \u{20ac},1,1\n6 \u{20ac},2,2\n", &y()).unwrap();
    let said = |text: &str| {
        let mut source = open(text, &ColumnRoles::default(), Some(&schema)).unwrap();
        all_rows(&mut *source, 9).unwrap();
        source.remarks()
    };
    assert_eq!(said("price,n\n7 EUR,1\n8,2\n"), [""; 0]);
    assert_eq!(
        said("price,n\n$7,1\n$8,2\n6,3 \u{20ac}\n"),
        [
            "column \"price\": 2 numbers have the sign of money $, and those of the fit had \u{20ac}: read as they \
             are, not converted",
            "column \"n\": 1 number has the sign of money \u{20ac}, and those of the fit had no sign of money: read as \
             they are, not converted"
        ]
    );
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
