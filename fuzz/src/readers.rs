//! Bytes as a file of data: what the program does with it, for fitting and then again for prediction.

use kinfolk_io::{ColumnRoles, Result, Schema, Table, read_bytes};
use std::path::Path;

/// Longer lines are no help.
const MOST_BYTES_OF_A_LINE: usize = 4000;

/// An error is one line, or one for each column in the way, and none is long.
pub fn check_message(error: impl std::fmt::Display) {
    let text = error.to_string();
    assert!(!text.is_empty() && text.lines().all(|line| line.len() < MOST_BYTES_OF_A_LINE), "{text}");
}

fn read(bytes: &[u8], name: &str, columns: &ColumnRoles, schema: Option<&Schema>) -> Result<(Table, Schema)> {
    read_bytes(Path::new(name), bytes, columns, schema)
}

/// Reads arrays or svm lines, as numbers or as classes.
pub fn read_twice(bytes: &[u8], name: &str) {
    let columns = ColumnRoles { classes: bytes.len() % 2 == 1, ..ColumnRoles::default() };
    let (table, schema) = match read(bytes, name, &columns, None) {
        Ok(found) => found,
        Err(error) => return check_message(error),
    };
    assert_eq!(table.inputs.n_features(), schema.n_features);
    for classification in [false, true] {
        let encoding = table.label_encoding(classification);
        let _ = encoding.and_then(|encoding| table.observations(&encoding));
    }
    let all: Vec<u32> = (0..table.n_rows() as u32).collect();
    assert_eq!(table.select_rows(&all).n_rows(), table.n_rows());
    let again = read(bytes, name, &ColumnRoles::default(), Some(&schema));
    let (again, _) = again.expect("what was read for fitting can be read for prediction");
    assert_eq!((again.n_rows(), again.inputs.n_features()), (table.n_rows(), schema.n_features));
}

/// Reads a table with named columns, in one of the ways that one can ask for. The columns are those of the seed files.
pub fn read_named(bytes: &[u8], name: &str) {
    let some = |name: &str| Some(name.to_string());
    let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    // Always the same for the same bytes.
    let columns = match bytes.len() % 6 {
        0 => ColumnRoles::default(),
        1 => ColumnRoles { task: some("kind"), target: list(&["y"]), ..ColumnRoles::default() },
        2 => ColumnRoles { target: list(&["kind"]), drop: list(&["z"]), ..ColumnRoles::default() },
        3 => ColumnRoles {
            target: list(&["z", "y"]),
            one_hot: list(&["kind"]),
            weight: some("u8"),
            offset: some("float"),
            ..ColumnRoles::default()
        },
        4 => ColumnRoles {
            target: list(&["y"]),
            classes: true,
            features: Some(list(&["u8", "float"])),
            ..ColumnRoles::default()
        },
        _ => ColumnRoles {
            task: some("i8"),
            split: some("u8"),
            one_hot: list(&["flag", "kind"]),
            ..ColumnRoles::default()
        },
    };
    let (table, schema) = match read(bytes, name, &columns, None) {
        Ok(found) => found,
        Err(error) => return check_message(error),
    };
    assert_eq!(table.inputs.n_features(), schema.n_features);
    let encoding = table.label_encoding(true);
    let _ = encoding.and_then(|encoding| table.observations(&encoding));
    match read(bytes, name, &ColumnRoles::default(), Some(&schema)) {
        Ok((again, _)) => {
            assert_eq!((again.n_rows(), again.inputs.n_features()), (table.n_rows(), schema.n_features));
        }
        // Words for fitting, where the schema without a label encoding expects numbers.
        Err(error) => assert!(error.to_string().contains("is not a"), "{error}"),
    }
}
