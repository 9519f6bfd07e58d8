//! Csv files that are wrong: every message says where and what, on one line.

use super::common::*;
use flate2::{Compression, write::GzEncoder};
use kinfolk_io::{ColumnRoles, Hint, Missing, Role};
use std::io::Write;
use std::path::Path;

fn y() -> ColumnRoles {
    columns("", "y")
}

/// Texts of files with target y, and what is wrong with them.
fn says(cases: &[(&str, &str)]) {
    for (text, why) in cases {
        assert_eq!(message(text, &y()), format!("a.csv: {why}"), "{text:?}");
    }
}

#[test]
fn a_word_among_numbers_offers_what_can_be_done() {
    let error = read("a,my city,y\n1,2,3\n1,Rome,3\n1,4,3\n", &y()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.csv: line 3, column \"my city\": \"Rome\" is not a number, and 1 of 3 values are not; take \"Rome\" for a \
         missing value, or make features of its words (one-hot), or leave the column out"
    );
    let name = || "my city".to_string();
    assert_eq!(
        error.hints,
        [Hint::MissingWords(vec!["Rome".into()]), Hint::OneHot(name()), Hint::Drop(name())]
    );
}

#[test]
fn all_columns_that_are_in_the_way_are_named() {
    let text = "a,b,c,d,y\n1,2,03/04/2024,inf,1\n2,x,05/06/2024,1,1\n3,4,01/01/2024,1,1\n";
    let error = read(text, &y()).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines.len(), 3, "{error}");
    assert!(lines[0].starts_with("a.csv: line 3, column \"b\": \"x\" is not a number"), "{error}");
    assert!(
        lines[1].starts_with("a.csv: column \"c\": dates such as \"03/04/2024\" can be read in two ways"),
        "{error}"
    );
    assert!(lines[2].starts_with("a.csv: line 2, column \"d\": \"inf\" is not a finite number"), "{error}");
}

#[test]
fn missing_features_are_refused_if_one_says_so() {
    let refused = ColumnRoles { missing: Missing::Error, ..y() };
    for cell in ["", "NA", "nan"] {
        assert_eq!(
            message(format!("a,b,y\n1,2,3\n\n1,{cell},3\n"), &refused),
            "a.csv: column \"b\": 1 of 2 values are missing; have it filled in, or leave the column out"
        );
    }
}

#[test]
fn infinite_features_are_refused() {
    for cell in ["inf", "-Infinity", "1e999"] {
        let expected = format!(
            "a.csv: line 2, column \"a\": \"{cell}\" is not a finite number; take \"{cell}\" for a missing value, \
             or leave the column out"
        );
        assert_eq!(message(format!("a,y\n{cell},3\n"), &y()), expected);
    }
}

#[test]
fn labels_for_fitting_are_of_one_kind() {
    says(&[
        ("a,y\n1,inf\n", "line 2, column \"y\": \"inf\" is not a finite number"),
        ("a,y\n1,2.5\n1,2,\n1,3\n1,3.x\n", "line 3: there are 3 cells, and the header has 2"),
        (
            "a,y\n1,2.5\n1,3\n1,3.x\n",
            "line 4, column \"y\": \"3.x\" is not a number, but \"2.5\" is; \
             labels are all numbers or all words; take \"3.x\" for a missing value",
        ),
    ]);
    assert_eq!(
        message("a,y,z\n1,1,x\n", &columns("", "y,z")),
        "a.csv: column \"z\": it has one value, \"x\", and its opposite is not known; several targets are all \
         numbers, or each has two values; check the columns given as target"
    );
}

#[test]
fn tasks_weights_and_parts_must_be_there() {
    assert_eq!(
        message("t,a,y\n,1,2\n", &columns("t", "y")),
        "a.csv: line 2, column \"t\": the cell is empty, and every row needs a task; fill it in or delete the row"
    );
    let weight = ColumnRoles { weight: Some("w".into()), ..y() };
    for cell in ["", "-1", "inf", "x"] {
        let expected = format!(
            "a.csv: line 2, column \"w\": \"{cell}\" is not a weight; weights are finite and not negative"
        );
        assert_eq!(message(format!("w,a,y\n{cell},1,2\n"), &weight), expected);
    }
    let offset = ColumnRoles { offset: Some("o".into()), ..y() };
    for (cell, found) in [
        ("", "the cell is empty"),
        ("nan", "\"nan\" is a missing value"),
        ("inf", "\"inf\" is not a finite number"),
        ("x", "\"x\" is not a number"),
    ] {
        let why = "and every row needs an offset, a finite number";
        let expected = format!("a.csv: line 2, column \"o\": {found}, {why}");
        assert_eq!(message(format!("o,a,y\n{cell},1,2\n"), &offset), expected);
    }
    let split = ColumnRoles { split: Some("s".into()), ..y() };
    assert!(
        message("s,a,y\n1.5,1,2\n", &split).starts_with("a.csv: line 2, column \"s\": \"1.5\" is not a part")
    );
}

#[test]
fn headers_must_name_the_columns() {
    let empty = "it is empty; the first line must name the columns";
    let cases = [
        ("", empty),
        ("\n\r\n", empty),
        ("\u{feff}", empty),
        ("a,y\n", "there are no rows"),
        ("a,y,a\n1,2,3\n", "line 1: columns 1 and 3 are both named \"a\"; rename one of them"),
        ("1,2.5\n3,4\n", "line 1: the first line holds numbers; it must name the columns"),
        (
            "a,b\n1,2\n",
            "there is no column \"y\"; the columns are \"a\", \"b\"; check the columns given as target",
        ),
        ("y\n1\n", "there is no column left to learn from"),
    ];
    says(&cases);
    let half = message(b"\xff\xfea\0,\0y\0\n\x001\0,\x002", &y());
    assert_eq!(half, "a.csv: line 2: it is UTF-16LE text, and damaged: some bytes are no character");
}

#[test]
fn a_column_has_one_use() {
    let text = "t,a,y\nu,1,2\n";
    let twice = ColumnRoles { drop: names(&["t"]), ..columns("t", "y") };
    assert_eq!(
        message(text, &twice),
        "a.csv: column \"t\": it is given as task and as column to drop; a column has one use; \
         check the columns given as task and column to drop"
    );
    let split = ColumnRoles { split: Some("y".into()), ..columns("t", "y") };
    let error = read(text, &split).unwrap_err();
    assert_eq!(error.hints, [Hint::CheckRoles(vec![Role::Target, Role::Split])]);
    let why = |columns: &ColumnRoles| read(text, columns).unwrap_err().why.to_string();
    assert_eq!(why(&columns("t", "y,y")), "it is given twice as target");
    let target = ColumnRoles { features: Some(names(&["a", "y"])), ..columns("t", "y") };
    assert_eq!(why(&target), "it is given as target and as feature; a column has one use");
    let feature = ColumnRoles { features: Some(names(&["a", "a"])), ..columns("t", "y") };
    assert_eq!(why(&feature), "it is given twice as feature");
    assert!(
        message("t,a,y,z\nu,1,2,3\n", &columns("t", "y,z"))
            .contains("with a column of tasks there is one target")
    );
}

#[test]
fn ragged_lines_are_counted_as_editors_do() {
    says(&[
        ("a,y\r\n\r\n1,2\r\n1\r\n", "line 4: there are 1 cells, and the header has 2"),
        ("a,y\n\"1\n\",2\n1,2,3\n", "line 4: there are 3 cells, and the header has 2"),
        (
            "a,y\n1,2\n\"1,2\n1,2\n1,2\n",
            "line 3: there are 1 cells, and the header has 2 (is a quote on this line not closed?)",
        ),
    ]);
}

#[test]
fn damaged_utf8_is_refused_where_it_is_read() {
    let odd = b"a,y,note\n1,2,\xc3\xa9\n1,2,\xff\xfe\n";
    let dropped = ColumnRoles { drop: names(&["note"]), ..y() };
    assert_eq!(read(odd, &dropped).unwrap().0.len(), 2);
    assert_eq!(
        message(odd, &ColumnRoles { one_hot: names(&["note"]), ..y() }),
        "a.csv: line 3, column \"note\": \"\\xff\\xfe\" is not UTF-8; save the file as UTF-8; leave the column out"
    );
    assert_eq!(
        message(b"a\xff,y,\xc3\xa9\n1,2,3\n", &y()),
        "a.csv: line 1: \"a\\xff\" is not UTF-8; save the file as UTF-8"
    );
    // Halves of a character that would make a whole one without the comma between them.
    let halves = read(b"a,y,b,\xc3\xa9\n1,2\xc3,\xa93,4\n", &y()).unwrap_err().to_string();
    assert_eq!(halves.lines().filter(|line| line.contains("is not UTF-8")).count(), 2, "{halves}");
}

#[test]
fn at_prediction_a_missing_feature_is_named_and_no_options_of_a_fit_are_offered() {
    let schema = read("a,b,y\n1,2,3\n", &y()).unwrap().1;
    let message = |text: &str| one_line(read_as(text, &ColumnRoles::default(), Some(&schema)).map(|_| ()));
    assert_eq!(
        message("b,c\n1,2\n"),
        "a.csv: the model needs column \"a\"; the columns are \"b\", \"c\"; have them filled in as missing values"
    );
    assert_eq!(
        message("b,a\n1,x\n"),
        "a.csv: line 2, column \"a\": \"x\" is not a number, and in training all values were; take \"x\" for a missing \
         value"
    );
    assert_eq!(
        message("b,a\n,1\n"),
        "a.csv: line 2, column \"b\": the value is missing, and in training there was always one; \
         fill it in or delete the row, or have it filled in with the mean of the training rows"
    );
    let named = read_as("b,a\n1,1\n", &columns("", "z"), Some(&schema)).map(|_| ());
    assert!(one_line(named).starts_with("a.csv: there is no column \"z\"; the columns are \"b\", \"a\"; "));
}

#[test]
fn a_million_columns_are_read_in_bounded_chunks() {
    let n = 1_000_000;
    let header: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let line = vec!["1"; n].join(",");
    let text = format!("{}\n{line}\n", header.join(","));
    let mut rows = 0;
    let mut source = open(&text, &columns("", "x7"), None).unwrap();
    while let Some(table) = kinfolk_io::Source::next_chunk(&mut *source, usize::MAX).unwrap() {
        assert_eq!(table.inputs.n_features(), n - 1);
        rows += table.inputs.n_inputs();
    }
    assert_eq!(rows, 1);
    let message = message(&text, &columns("", "z"));
    assert!(message.contains("... (1000000 in all)"), "{message}");
}

#[test]
fn more_columns_than_anyone_has_are_refused() {
    let text = ",".repeat(5_000_000);
    assert_eq!(message(text, &y()), "a.csv: line 1: there are 5000001 columns; at most 4194304 can be read");
}

#[test]
fn bombs_are_not_read_to_their_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.gz");
    let mut gz = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::best());
    gz.write_all(b"a,y\n").unwrap();
    let rows = b"0,0\n".repeat(1 << 18);
    (0..300).for_each(|_| gz.write_all(&rows).unwrap());
    gz.finish().unwrap();
    let message = one_line(kinfolk_io::open(&path, &y(), None).map(|_| ()));
    assert!(message.contains("as zip bombs do"), "{message}");
    // One line without end.
    let mut gz = GzEncoder::new(std::fs::File::create(&path).unwrap(), Compression::best());
    let line = vec![b'a'; 1 << 20];
    (0..300).for_each(|_| gz.write_all(&line).unwrap());
    gz.finish().unwrap();
    let message = one_line(kinfolk_io::open(&path, &y(), None).map(|_| ()));
    assert!(message.contains("MiB"), "{message}");
}

#[test]
fn long_cells_make_short_messages() {
    let long = "x".repeat(100_000);
    assert!(message(format!("a,{long}\n1,inf\n"), &columns("", "a")).len() < 400);
    assert!(message(format!("a,y\n{long},2\n1,2\n2,2\n"), &y()).len() < 400);
}

#[test]
fn files_that_are_not_there_or_not_files_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let message = |path: &Path| one_line(kinfolk_io::open(path, &y(), None).map(|_| ()));
    assert!(message(&folder.path().join("none.csv")).contains("No such file"));
    let inside = folder.path().join("folder.csv");
    std::fs::create_dir(&inside).unwrap();
    assert!(message(&inside).ends_with("it is a folder, not a file"));
    let path = folder.path().join("a.csv.gz");
    std::fs::write(&path, "a,y\n1,2\n".repeat(9)).unwrap();
    assert!(message(&path).contains("cannot be decompressed"), "{}", message(&path));
}
