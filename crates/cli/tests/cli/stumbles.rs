//! What readers of 2026-11-19 stumbled over.

use crate::common::Place;

/// 60 rows of three shops: `line` makes the cells behind task and label.
fn shops(columns: &str, cells: impl Fn(usize) -> String) -> String {
    let row = |i: usize| {
        format!("{},{},{}\n", ["east", "north", "west"][i % 3], (i * 7 % 23) as f64 / 4.0, cells(i))
    };
    format!("shop,sales,{columns}\n") + &(0..60).map(row).collect::<String>()
}

const COLUMNS: &str = "--task shop --target sales";

fn scores(text: &str) -> Vec<f64> {
    text.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect()
}

/// Before, a missing or unknown answer was a no.
#[test]
fn a_missing_answer_lies_between_yes_and_no() {
    let place = Place::new();
    let answer = |i: usize| if i * 5 % 7 < 4 { "yes" } else { "no" };
    let words = shops("open,size", |i| format!("{},{}", if i == 8 { "" } else { answer(i) }, i * 3 % 11));
    let bits = shops("open,size", |i| {
        format!("{},{}", if i == 8 { "" } else { ["0", "1"][usize::from(answer(i) == "yes")] }, i * 3 % 11)
    });
    place.write("words.csv", words);
    place.write("bits.csv", bits);
    let said = place.ok(&format!("fit words.csv {COLUMNS} --c 1 --threads 1 -o words.st"));
    assert!(said.contains("missing words of two become the mean of 1 and 0: \"open\""), "{said}");
    place.ok(&format!("fit bits.csv {COLUMNS} --c 1 --threads 1 -o bits.st"));
    place.write("new-words.csv", "shop,open,size\neast,yes,4\neast,no,4\neast,,4\neast,perhaps,4\n");
    place.write("new-bits.csv", "shop,open,size\neast,1,4\neast,0,4\neast,,4\neast,,4\n");
    let (own, other) = (place.ok("predict words.st new-words.csv"), place.ok("predict bits.st new-bits.csv"));
    let (own, other) = (scores(&own), scores(&other));
    own.iter().zip(&other).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{own:?} {other:?}"));
    assert!((own[2] - own[0]) * (own[2] - own[1]) < 0.0 && own[2] == own[3], "{own:?}");
}

#[test]
fn a_column_of_parts_is_named() {
    let place = Place::new();
    place.write(
        "a.csv",
        shops("size,part", |i| format!("{},{}", i % 7, ["train", "test"][usize::from(i % 4 == 0)])),
    );
    let said = place.ok(&format!("fit a.csv {COLUMNS} --c 1 --threads 1 -o m.st"));
    assert!(said.contains("column \"part\" says which part of the data a row is in (test, train)"), "{said}");
    place.ok(&format!("fit a.csv {COLUMNS} --c 1 --split-column part --split train --threads 1 -o m.st"));
    let said = place.run("evaluate m.st a.csv --split valid");
    assert!(said.stderr.contains("there are no rows of part 2 (validation)"), "{said:?}");
}

/// 999 for no age, and a slip of the pen among labels.
#[test]
fn values_far_from_all_others_are_named() {
    let place = Place::new();
    let age = |i: usize| if i % 9 == 2 { 999 } else { 20 + i };
    let day = |i: usize| if i == 5 { "9999-12-31".into() } else { format!("2024-03-{:02}", 1 + i % 28) };
    let text = shops("age,day,visits", |i| format!("{},{},{}", age(i), day(i), i % 6));
    place.write("a.csv", text.replacen("east,0,", "east,1e5,", 1));
    for command in ["fit a.csv --c 1 --threads 1 -o m.st", "data info a.csv"] {
        let said = place.ok(&format!("{command} {COLUMNS}"));
        assert!(
            said.contains("column \"age\": 999 (7 rows) is far from all other values, which are 20 to 79"),
            "{said}"
        );
        assert!(said.contains("column \"day\": 9999-12-31 (1 row) is far"), "{said}");
        assert!(said.contains("column \"sales\": 100000 (1 row) is far"), "{said}");
        assert!(!said.contains("column \"visits\":"), "{said}");
    }
}

#[test]
fn new_rows_are_read_as_people_mean_them() {
    let place = Place::new();
    let member = |i: usize| ["TRUE", "FALSE"][i % 2];
    let size = |i: usize| if i % 12 == 5 { "absent".to_string() } else { (i * 3 % 11).to_string() };
    place.write("a.csv", shops("size,member", |i| format!("{},{}", size(i), member(i))));
    place.ok(&format!("fit a.csv {COLUMNS} --missing-word absent --ignore-case --c 1 --threads 1 -o m.st"));
    // Letter case of missing words does not count either; labels are not read.
    place.write("new.csv", "shop,size,member,sales\neast,Absent,TRUE,to come\neast,absent,TRUE,\n");
    let found = scores(&place.ok("predict m.st new.csv"));
    assert_eq!(found[0], found[1]);
    // What says no is no missing value.
    place.write("no.csv", "shop,size,member\neast,1,F\n");
    let said = place.run("predict m.st no.csv");
    assert!(
        said.stderr.contains("\"F\" is not a number, and in training all values were; write 0 for no"),
        "{said:?}"
    );
    assert!(!said.stderr.contains("--missing-word"), "{said:?}");
    // A column without any value.
    let empty: String = "shop,size,member\n".to_string() + &"east,,TRUE\n".repeat(12);
    place.write("empty.csv", empty);
    let said = place.run("predict m.st empty.csv");
    assert!(said.stderr.contains("no value in any row, filled in as missing: \"size\""), "{said:?}");
}

#[test]
fn misspelt_tasks_are_told_from_new_ones() {
    let place = Place::new();
    place.write("a.csv", shops("size", |i| (i * 3 % 11).to_string()));
    place.ok(&format!("fit a.csv {COLUMNS} --c 1 --threads 1 -o m.st"));
    place.write("new.csv", "shop,size\nnoth,1\nmars,2\nnoth,3\neast,3\n");
    let said = place.run("predict m.st new.csv");
    assert!(
        said.stderr
            .contains("task \"noth\" is unknown; the tasks are east, north, west; did you mean \"north\"?"),
        "{said:?}"
    );
    let said = place.run("predict m.st new.csv --unknown-task mean");
    let note = "note: not there in training, and predicted as --unknown-task says: \"mars\" (1 row), \
                \"noth\" (2 rows; did you mean \"north\"?)";
    assert!(said.stderr.contains(note), "{said:?}");
}

/// As R writes them: the first column has no name and numbers of rows.
#[test]
fn relations_of_files_with_names_of_rows_are_found() {
    let place = Place::new();
    let text: String =
        (0..60).map(|i| format!("{},{},{},{}\n", i % 7, i * 3 % 11, i % 5, (i * 7 % 13) as f64)).collect();
    place.write("a.csv", format!("sp_a,sp_b,sp_c,size\n{text}"));
    place.write(
        "taxa.csv",
        "\"\",\"species\",\"genus\"\n\"1\",\"sp_a\",\"x\"\n\"2\",\"sp_b\",\"x\"\n\"3\",\"sp_c\",\"y\"\n",
    );
    let said = place.ok("fit a.csv --target sp_* --atom groups=taxa.csv:genus --c 1 --threads 1 -o m.st");
    assert!(said.contains("genus"), "{said}");
    // Names of tasks in such a column are found as before.
    place.write("index.csv", ",genus\nsp_a,x\nsp_b,x\nsp_c,y\n");
    place.ok("fit a.csv --target sp_* --atom groups=index.csv:genus --c 1 --threads 1 -o n.st");
    assert_eq!(place.ok("predict m.st a.csv"), place.ok("predict n.st a.csv"));
}

#[test]
fn values_of_one_row_have_no_feature_where_there_are_too_many() {
    let place = Place::new();
    let phrase = |i: usize| {
        if i.is_multiple_of(3) { format!("once {i}") } else { ["again", "often", "now"][i % 5 % 3].into() }
    };
    place.write("a.csv", shops("said,size", |i| format!("{},{}", phrase(i), i * 3 % 11)));
    let said = place.ok(&format!("fit a.csv {COLUMNS} --c 1 --max-levels 10 --threads 1 -o m.st"));
    assert!(said.contains("\"said\" (3 and the rest together)"), "{said}");
}

/// R's `write.table` writes the names of rows, and none for their column.
#[test]
fn names_of_rows_without_a_head_are_left_out() {
    let place = Place::new();
    let (head, rows) = ("town,size,sales", ["Rome,1,3", "Oslo,2,NA", "Rome,3,5", "Oslo,5,7"]);
    let text = |separator: &str, names: Option<[&str; 4]>| {
        let row = |i: usize| match names {
            Some(names) => format!("{},{}", names[i], rows[i]),
            None => rows[i].into(),
        };
        let lines: Vec<String> = std::iter::once(head.into()).chain((0..4).map(row)).collect();
        format!("{}\n", lines.join("\n")).replace(',', separator)
    };
    let fit = "--task town --target sales --c 1 --threads 1";
    place.write("plain.csv", text(",", None));
    place.ok(&format!("fit plain.csv {fit} -o plain.st"));
    let predicted = place.ok("predict plain.st plain.csv");
    for names in [["\"1\"", "\"2\"", "\"3\"", "\"4\""], ["r1", "r2", "r3", "r4"]] {
        for separator in [",", " ", "\t", ";"] {
            place.write("r.csv", text(separator, Some(names)));
            let said = place.ok(&format!("fit r.csv {fit} -o r.st --force"));
            assert!(said.contains("the first is the name of a row, and left out"), "{said}");
            assert_eq!(place.ok("predict r.st r.csv"), predicted);
        }
    }
    // Names that stand twice are none, and an option says so.
    place.write("twice.csv", text(",", Some(["r1", "r1", "r2", "r3"])));
    let said = place.run("data info twice.csv");
    assert!(said.stderr.contains("if lines begin with the name of a row"), "{said:?}");
}
