//! What is written comes back the same, in every format, to the last bit.

use crate::common::{assert_same, read_named};
use kinfolk::inputs::Dense;
use kinfolk::{Matrix, TaskNames};
use kinfolk_io::{Categorical, ColumnRoles, Generator, Labels, Table, Targets, digits, read, write_table};
use proptest::prelude::*;
use std::path::Path;

/// Writes, reads, writes in another format, reads.
fn comes_back(table: &Table, directory: &Path, names: &[&str]) {
    for name in names {
        let path = directory.join(name);
        write_table(table, &path).unwrap();
        let (read, schema) = read(&path, &ColumnRoles::default(), None).unwrap();
        assert_same(table, &read);
        assert_eq!(schema.n_features, table.inputs.n_features());
    }
    assert_eq!(std::fs::read_dir(directory).unwrap().count(), names.len(), "nothing else is left behind");
}

/// As a reader would have made it: by way of a file.
fn settled(table: Table, directory: &Path) -> Table {
    let path = directory.join("first.npz");
    write_table(&table, &path).unwrap();
    let (table, _) = read(&path, &ColumnRoles::default(), None).unwrap();
    std::fs::remove_file(&path).unwrap();
    table
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        prop::collection::btree_set("[a-zäß 0-9#,:\"]{0,5}", 3),
        prop::collection::btree_set("-?[1-9][0-9]{0,3}", 3),
    ]
    .prop_map(|names| names.into_iter().collect())
    .prop_shuffle()
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => Just(0.0),
        1 => Just(-0.0),
        2 => (-9i32..9).prop_map(f64::from),
        2 => any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
        2 => any::<f64>().prop_filter("finite", |x| x.is_finite()),
    ]
}

fn targets(rows: usize) -> impl Strategy<Value = Targets> {
    let index = || prop::collection::vec(0..3u32, rows);
    let keys = move || {
        (index(), names()).prop_map(|(i, names)| Categorical::new(i, TaskNames::Strings(names)).unwrap())
    };
    let used = move || {
        (index(), names()).prop_map(|(i, names)| {
            Categorical::from_words(&i.iter().map(|&i| &names[i as usize]).collect::<Vec<_>>())
        })
    };
    let label = || prop_oneof![9 => number(), 1 => Just(f64::NAN)];
    let labels = move || prop::collection::vec(label(), rows);
    prop_oneof![
        Just(Targets::None),
        keys().prop_map(|task| Targets::Tasks { task, label: None }),
        (keys(), labels()).prop_map(|(task, y)| Targets::Tasks { task, label: Some(Labels::Numbers(y)) }),
        (keys(), used()).prop_map(|(task, y)| Targets::Tasks { task, label: Some(Labels::Words(y)) }),
        keys().prop_map(Targets::Classes),
        (prop::collection::vec(label(), rows * 3), names()).prop_map(move |(y, names)| Targets::Wide {
            label: Matrix::from_vec(y, rows, 3).unwrap(),
            tasks: TaskNames::Strings(names)
        }),
    ]
}

fn tables() -> impl Strategy<Value = Table> {
    (1..12usize, 1..15usize).prop_flat_map(|(rows, cols)| {
        (
            prop_oneof![
                prop::collection::vec(number(), rows * cols),
                prop::collection::vec(prop_oneof![20 => Just(0.0), 1 => number()], rows * cols),
            ],
            prop::option::of(prop::collection::btree_set("[a-z]{1,3}", cols)),
            targets(rows),
            prop::option::of(prop::collection::vec((0..99u8).prop_map(|w| f64::from(w) / 7.0), rows)),
            prop::option::of(prop::collection::vec(number(), rows)),
            prop::option::of(prop::collection::vec(-1..3i64, rows)),
        )
            .prop_map(move |(values, features, targets, weight, offset, split)| Table {
                inputs: Dense::f64_owned(values, rows, cols).unwrap().into(),
                features: features.map(|names| names.into_iter().collect()),
                targets,
                weight,
                offset,
                split,
                fold_keys: None,
                kept: vec![],
                lines: vec![],
            })
    })
}

proptest! {
    #[test]
    fn any_table_comes_back_from_any_format(table in tables()) {
        let directory = tempfile::tempdir().unwrap();
        let mut table = settled(table, directory.path());
        comes_back(&table, directory.path(), &["a.npz"]);
        // A svm file has no room for offsets.
        if table.offset.take().is_some() {
            comes_back(&table, directory.path(), &["a.npz"]);
        }
        comes_back(&table, directory.path(), &["a.npz", "a.svm", "a.svmlight.gz"]);
    }

    #[test]
    fn no_bytes_make_the_svm_reader_panic(
        text in "([-+0-9.e]{1,3}( qid:[0-9])?( [0-9]{1,2}:[-0-9.e]{1,3}){0,4}( #.{0,3})?\n){0,4}"
    ) {
        let _ = read_named(text.into_bytes(), "a.svm", &ColumnRoles::default(), None);
    }
}

#[test]
fn generated_tables_and_the_digits_come_back() {
    let directory = tempfile::tempdir().unwrap();
    for binary in [false, true] {
        let (table, _) = Generator { binary, ..Generator::default() }.generate().unwrap();
        comes_back(&table, directory.path(), &["a.npz", "a.svm", "a.libsvm.gz"]);
    }
    let directory = tempfile::tempdir().unwrap();
    comes_back(&digits(), directory.path(), &["digits.npz", "digits.svm"]);
}

#[test]
fn a_gram_matrix_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let gram = kinfolk::inputs::Gram::new(vec![2.0, 0.1, 0.1, 2.0], 2).unwrap();
    let table = Table::new(gram.into(), Targets::None);
    comes_back(&table, directory.path(), &["a.npz"]);
    let error = write_table(&table, &directory.path().join("a.svm")).unwrap_err().to_string();
    assert!(error.ends_with("a.svm: this format cannot hold a Gram matrix; write .npz"), "{error}");
}

#[test]
fn an_npy_file_holds_inputs_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.npy");
    let (table, _) = Generator::default().generate().unwrap();
    assert!(write_table(&table, &path).unwrap_err().to_string().contains("cannot hold labels"));
    assert!(!path.exists());
    comes_back(&Table { targets: Targets::None, ..table }, directory.path(), &["x.npy"]);
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_old_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.npz");
    std::fs::write(&path, "old").unwrap();
    let (mut table, _) = Generator::default().generate().unwrap();
    table.features = Some((0..30).map(|j| "x".repeat(20_000 + j)).collect());
    assert!(write_table(&table, &path).unwrap_err().to_string().contains("at most 16384"));
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    assert!(write_table(&table, Path::new("/no/such/folder/a.npz")).is_err());
}
