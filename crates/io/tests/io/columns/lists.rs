//! Lists of numbers in a column: a feature for each number, in every format. See fixtures/make.py.

use super::common::*;
use kinfolk_io::{ColumnRoles, Feature, Result, Schema, Table, read_bytes};
use std::path::Path;

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

/// The rows that make.py writes, as json lines.
fn lines() -> String {
    let number = |i: usize| if i == 9 { "null".into() } else { format!("{}", (i * i) as f64 / 16.0) };
    let list = |i: usize| format!("[{},{},{}]", i as f64 / 8.0, number(i), -(i as f64) / 4.0);
    let list = |i: usize| if i == 7 { "null".into() } else { list(i) };
    (0..30).map(|i| format!("{{\"y\":{}.0,\"emb\":{}}}\n", i % 5, list(i))).collect()
}

fn read(name: &str, bytes: &[u8], roles: &ColumnRoles, schema: Option<&Schema>) -> Result<(Table, Schema)> {
    read_bytes(Path::new(name), bytes, roles, schema)
}

fn target() -> ColumnRoles {
    columns("", "y")
}

#[test]
fn numbers_of_lists_are_features_in_every_format() {
    let (table, schema) = read("a.jsonl", lines().as_bytes(), &target(), None).unwrap();
    assert_eq!(table.features.as_ref().unwrap(), &names(&["emb_0", "emb_1", "emb_2"]));
    let is_filled =
        |feature: &Feature| matches!(feature, Feature::Filled { rows, .. } if *rows == 1 || *rows == 2);
    assert!(schema.features.iter().flatten().all(is_filled), "{:?}", schema.features);
    let said = schema.notes().join("\n");
    assert!(said.contains("\"emb\" holds lists of 3 numbers: features emb_0 to emb_2"), "{said}");
    for name in ["lists.parquet", "lists_polars.parquet", "lists.arrow"] {
        let (other, _) = read(name, &fixture(name), &target(), None).unwrap();
        assert_eq!(rows(&other), rows(&table), "{name}");
        let (again, _) = read(name, &fixture(name), &ColumnRoles::default(), Some(&schema)).unwrap();
        assert_eq!(rows(&again), rows(&table), "{name} by the recipe of the lines");
    }
}

#[test]
fn a_list_is_chosen_and_dropped_by_its_name() {
    let text =
        "{\"a\":1,\"emb\":[1,2],\"y\":1}\n{\"a\":2,\"emb\":[3,5],\"y\":2}\n{\"a\":4,\"emb\":[3,4],\"y\":3}\n";
    let features =
        |roles: ColumnRoles| read("a.jsonl", text.as_bytes(), &roles, None).unwrap().0.features.unwrap();
    assert_eq!(features(ColumnRoles { drop: names(&["emb"]), ..target() }), ["a"]);
    assert_eq!(features(ColumnRoles { features: Some(names(&["emb"])), ..target() }), ["emb_0", "emb_1"]);
}

#[test]
fn lists_of_another_length_are_refused() {
    let ragged = "{\"emb\":[1,2],\"y\":1}\n{\"emb\":[3],\"y\":2}\n";
    let error = read("a.jsonl", ragged.as_bytes(), &target(), None).unwrap_err().to_string();
    let why = "a list has the length 1, and the first one has 2; leave the column out";
    assert_eq!(error, format!("a.jsonl: line 2, column \"emb_0\": {why}"));
    let (_, schema) = read("a.jsonl", lines().as_bytes(), &target(), None).unwrap();
    for (list, n) in [("[1,2,3,4]", 4), ("[1,2]", 2)] {
        let line = format!("{{\"emb\":{list}}}\n");
        let error = read("b.jsonl", line.as_bytes(), &ColumnRoles::default(), Some(&schema)).unwrap_err();
        let why = format!("b.jsonl: column \"emb\": its lists have {n} numbers, and in training they had 3");
        assert_eq!(error.to_string(), why);
    }
    let mixed = "{\"emb\":[1,2],\"y\":1}\n{\"emb\":\"x\",\"y\":2}\n";
    let error = read("a.jsonl", mixed.as_bytes(), &target(), None).unwrap_err().to_string();
    assert_eq!(
        error,
        "a.jsonl: line 2, column \"emb_0\": \"\\\"x\\\"\" is not a list of numbers; leave the column out"
    );
}
