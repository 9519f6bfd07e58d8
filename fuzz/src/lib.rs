//! What every reader must stand: read any bytes, and do what the program does with them. Errors are fine;
//! panics are not.

use kinfolk_io::{ColumnRoles, Result, Schema, Table, read_bytes};
use std::path::Path;

fn read(bytes: &[u8], name: &str, columns: &ColumnRoles, schema: Option<&Schema>) -> Result<(Table, Schema)> {
    read_bytes(Path::new(name), bytes, columns, schema)
}

/// Reads bytes as a file of this name, for fitting and then again for prediction.
pub fn read_twice(bytes: &[u8], name: &str) {
    for classes in [false, true] {
        let columns = ColumnRoles { classes, ..ColumnRoles::default() };
        let found = match read(bytes, name, &columns, None) {
            Ok(found) => found,
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n') && text.len() < 2000, "{text}");
                continue;
            }
        };
        let (table, schema) = found;
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
}

/// Reads bytes as a table with named columns, in every way that one can ask for. The columns are those of the
/// seed files.
pub fn read_named(bytes: &[u8], name: &str) {
    let some = |name: &str| Some(name.to_string());
    let list = |names: &[&str]| names.iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let ways = [
        ColumnRoles::default(),
        ColumnRoles { task: some("kind"), target: list(&["y"]), ..ColumnRoles::default() },
        ColumnRoles { target: list(&["kind"]), drop: list(&["z"]), ..ColumnRoles::default() },
        ColumnRoles {
            target: list(&["z", "y"]),
            one_hot: list(&["kind"]),
            weight: some("u8"),
            offset: some("float"),
            ..ColumnRoles::default()
        },
        ColumnRoles {
            target: list(&["y"]),
            classes: true,
            features: Some(list(&["u8", "float"])),
            ..ColumnRoles::default()
        },
        ColumnRoles {
            task: some("i8"),
            split: some("u8"),
            one_hot: list(&["flag", "kind"]),
            ..ColumnRoles::default()
        },
    ];
    for columns in ways {
        let (table, schema) = match read(bytes, name, &columns, None) {
            Ok(found) => found,
            Err(error) => {
                let text = error.to_string();
                assert!(!text.contains('\n') && text.len() < 2000, "{text}");
                continue;
            }
        };
        assert_eq!(table.inputs.n_features(), schema.n_features);
        let encoding = table.label_encoding(true);
        let _ = encoding.and_then(|encoding| table.observations(&encoding));
        let again = read(bytes, name, &ColumnRoles::default(), Some(&schema));
        match again {
            Ok((again, _)) => {
                assert_eq!((again.n_rows(), again.inputs.n_features()), (table.n_rows(), schema.n_features))
            }
            // Words for fitting, where the schema without a label encoding expects numbers.
            Err(error) => assert!(error.to_string().contains("is not a"), "{error}"),
        }
    }
}
