//! Data frames in memory are read as files of the same cells are.

use kinfolk_io::{
    ColumnRoles, FrameCells, FrameColumn, FrameReading, FrameValue, Missing, read_bytes, read_frame,
};
use kinfolk_io::{Error, Schema, Table};
use std::path::Path;

const CSV: &str = "age,plan,day,member,visits\n41.5,basic,2024-03-14,true,1\n,pro,2024-03-15 12:00:00,false,2\n\
                   28.25,,,true,3\n33.0,basic,2024-01-01,true,4\n";

fn column(name: &str, cells: FrameCells) -> FrameColumn {
    FrameColumn { name: name.into(), cells }
}

fn words(index: &[u32], values: &[&str]) -> FrameCells {
    let values = values.iter().map(|word| FrameValue::Text(word.to_string())).collect();
    FrameCells::Values { index: index.to_vec(), values }
}

/// The cells of `CSV`.
fn frame() -> Vec<FrameColumn> {
    let day = |day: i64| day * 86_400_000;
    let ticks = vec![day(19_796), day(19_797) + 43_200_000, i64::MIN, day(19_723)];
    vec![
        column("age", FrameCells::Doubles(vec![41.5, f64::NAN, 28.25, 33.0])),
        column("plan", words(&[0, 1, u32::MAX, 0], &["basic", "pro"])),
        column("day", FrameCells::Times { ticks, per_second: 1000 }),
        column("member", FrameCells::Booleans(vec![true, false, true, true])),
        column("visits", FrameCells::Integers(vec![1, 2, 3, 4])),
    ]
}

fn of_csv(text: &str, schema: Option<&Schema>) -> (Table, Schema) {
    read_bytes(Path::new("a.csv"), text.as_bytes(), &ColumnRoles::default(), schema)
        .expect("the text is a table")
}

fn read(columns: Vec<FrameColumn>, schema: Option<&Schema>) -> Result<FrameReading, Error> {
    read_frame(columns, Missing::Mean, schema)
}

fn numbers(table: &Table) -> String {
    format!("{:?}", table.inputs)
}

#[test]
fn a_frame_and_a_file_of_the_same_cells_give_the_same_recipe_and_the_same_bits() {
    let (table, schema) = of_csv(CSV, None);
    let found = read(frame(), None).unwrap();
    assert_eq!(found.schema, schema);
    assert_eq!(numbers(&found.table), numbers(&table));
    assert_eq!(found.table.n_rows(), 4);
}

#[test]
fn the_recipe_of_a_file_reads_a_frame_in_any_order_with_other_columns() {
    let (table, schema) = of_csv(CSV, None);
    let mut columns = frame();
    columns.reverse();
    columns.push(column("odd", FrameCells::Unusable(4, "it holds lists".into())));
    let found = read(columns, Some(&schema)).unwrap();
    assert_eq!(numbers(&found.table), numbers(&table));
    assert!(found.remarks.is_empty());
}

#[test]
fn unseen_words_are_said_and_missing_columns_and_values_are_errors() {
    let (_, schema) = of_csv(CSV, None);
    let mut columns = frame();
    columns[1].cells = words(&[0, 1, 1, 0], &["basic", "gold"]);
    let found = read(columns, Some(&schema)).unwrap();
    assert_eq!(
        found.remarks,
        ["column \"plan\": 2 rows have a value that was not there in training, such as \"gold\""]
    );
    let error = read(frame().split_off(2), Some(&schema)).unwrap_err().to_string();
    assert!(error.starts_with("the model needs columns \"age\", \"plan\""), "{error}");
    let mut columns = frame();
    columns[4].cells = FrameCells::Doubles(vec![1.0, f64::NAN, 2.0, 2.0]);
    let error = read(columns, Some(&schema)).unwrap_err();
    assert_eq!((error.row, error.column.as_deref()), (Some(1), Some("visits")));
}

#[test]
fn numbers_of_objects_are_numbers_whatever_the_decimal_sign_of_the_file() {
    let (table, schema) = of_csv("a;b\n1,5;2\n2,25;3\n1,75;4\n", None);
    let value = |value: f64| FrameValue::Number(value, value.to_string());
    let cells =
        FrameCells::Values { index: vec![0, 1, 2], values: vec![value(1.5), value(2.25), value(1.75)] };
    let columns = vec![column("a", cells), column("b", FrameCells::Singles(vec![2.0, 3.0, 4.0]))];
    assert_eq!(numbers(&read(columns, Some(&schema)).unwrap().table), numbers(&table));
}

#[test]
fn no_row_is_left_out() {
    let read = read_frame(frame(), Missing::Drop, None);
    let error = read.unwrap_err().to_string();
    assert!(error.contains("1 of 4 values are missing"), "{error}");
    let lengths = vec![column("a", FrameCells::Integers(vec![1])), column("b", FrameCells::Integers(vec![]))];
    let error = read_frame(lengths, Missing::Mean, None).unwrap_err().to_string();
    assert_eq!(error, "column \"b\": there are 0 rows, and 1 in the first column");
}
