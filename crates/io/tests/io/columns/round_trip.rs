//! What is written comes back, to the last bit, in csv and in parquet.

use super::common::*;
use kinfolk::inputs::{Dense, Sparse};
use kinfolk::{Inputs, Matrix};
use kinfolk_io::{Categorical, Labels, Table, Targets, columns_of, read, write_table};
use proptest::prelude::*;

const NAMES: [&str; 4] = ["a.csv", "b.csv.gz", "c.parquet", "d.npz"];

/// Finite numbers of every size.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => any::<f64>().prop_filter("finite", |x| x.is_finite()),
        2 => (-1000_i32..1000).prop_map(|i| f64::from(i) / 8.0),
        1 => any::<f32>().prop_filter("finite", |x| x.is_finite()).prop_map(f64::from),
        1 => Just(0.0),
    ]
}

/// Names with everything that could be taken for something else. Not integers: those are names too, but
/// numbers as labels.
fn name() -> impl Strategy<Value = String> {
    let name = "[a-zé ,;\t\"'\n\r#|\u{feff}-]{1,6}|n[0-9]{1,3}";
    let missing = ["na", "nan", "none", "null", "nat", "-nan", "-", "--"];
    let stands_for_nothing = move |name: &str| missing.contains(&name.trim());
    name.prop_filter("a missing value is no name", move |name| !stands_for_nothing(name))
}

/// Names of columns are read without blanks around them.
fn column_name() -> impl Strategy<Value = String> {
    let tidy = name().prop_map(|name| kinfolk_io::tidy_name(&name).into_owned());
    tidy.prop_filter("a column needs a name", |name| !name.is_empty())
}

fn keys(n: usize) -> impl Strategy<Value = Categorical> {
    prop_oneof![
        prop::collection::vec(prop::sample::select(vec![-3_i64, 0, 7, 10, i64::MIN]), n)
            .prop_map(|column| Categorical::from_integers(&column)),
        prop::collection::vec(name(), n).prop_map(|column| Categorical::from_words(&column)),
    ]
}

fn inputs(n: usize, d: usize) -> impl Strategy<Value = Inputs<'static>> {
    let dense = prop::collection::vec(finite(), n * d);
    let singles = prop::collection::vec(any::<f32>().prop_filter("finite", |x| x.is_finite()), n * d);
    prop_oneof![
        dense.prop_map(move |x| Dense::f64_owned(x, n, d).unwrap().into()),
        singles.prop_map(move |x| Dense::f32_owned(x, n, d).unwrap().into()),
        prop::collection::vec(finite(), n).prop_map(move |x| {
            let indptr: Vec<usize> = (0..=n).collect();
            let indices: Vec<u32> = (0..n).map(|i| (i % d) as u32).collect();
            Sparse::f64(indptr, indices, x, d).unwrap().into()
        }),
    ]
}

fn targets(n: usize) -> impl Strategy<Value = Targets> {
    let numbers = prop::collection::vec(finite(), n);
    let wide = (2_usize..5).prop_flat_map(move |t| {
        let label = prop::collection::vec(prop_oneof![4 => finite(), 1 => Just(f64::NAN)], n * t);
        (label, prop::collection::btree_set(column_name(), t)).prop_map(move |(label, names)| Targets::Wide {
            label: Matrix::from_vec(label, n, t).unwrap(),
            tasks: kinfolk::TaskNames::Strings(names.into_iter().collect()),
        })
    });
    prop_oneof![
        Just(Targets::None),
        keys(n).prop_map(Targets::Classes),
        keys(n).prop_map(|task| Targets::Tasks { task, label: None }),
        (keys(n), numbers).prop_map(|(task, y)| Targets::Tasks { task, label: Some(Labels::Numbers(y)) }),
        (keys(n), keys(n)).prop_map(|(task, y)| Targets::Tasks { task, label: Some(Labels::Words(y)) }),
        wide,
    ]
}

fn table() -> impl Strategy<Value = Table> {
    (1_usize..12, 1_usize..5).prop_flat_map(|(n, d)| {
        let features = prop::option::of(prop::collection::btree_set(column_name(), d));
        let features = features.prop_map(|names| names.map(|names| names.into_iter().collect::<Vec<_>>()));
        let weight = prop::option::of(prop::collection::vec(0.0..1e3, n));
        let split = prop::option::of(prop::collection::vec(-1_i64..3, n));
        let offset = prop::option::of(prop::collection::vec(finite(), n));
        (inputs(n, d), features, targets(n), weight, offset, split).prop_map(
            |(inputs, features, targets, weight, offset, split)| Table {
                inputs,
                features,
                targets,
                weight,
                offset,
                split,
                fold_keys: None,
                kept: vec![],
                lines: vec![],
            },
        )
    })
}

/// A zero has no sign in a table that was read.
fn unsigned(mut rows: Vec<Row>) -> Vec<Row> {
    let zero = |bits: &mut u64| *bits = if *bits == (-0.0_f64).to_bits() { 0 } else { *bits };
    rows.iter_mut().for_each(|row| row.x.iter_mut().for_each(zero));
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn tables_come_back_the_same(table in table()) {
        let folder = tempfile::tempdir().unwrap();
        let clash = match (&table.targets, &table.features) {
            (Targets::Wide { tasks, .. }, Some(features)) => {
                (0..tasks.len()).any(|t| features.contains(&tasks.name(t)))
            }
            _ => false,
        };
        prop_assume!(!clash);
        let expected = unsigned(rows(&table));
        let mut kinds = vec![];
        for name in possible(&NAMES) {
            let path = folder.path().join(name);
            write_table(&table, &path).unwrap();
            let columns = if name.ends_with("npz") { Default::default() } else { columns_of(&table) };
            let (again, schema) = read(&path, &columns, None).unwrap();
            prop_assert_eq!(&unsigned(rows(&again)), &expected, "{}", name);
            let single = match &again.inputs {
                Inputs::Dense(x) => x.is_f32(),
                Inputs::Sparse(x) => x.is_f32(),
                _ => false,
            };
            kinds.push((again.inputs.kind(), single, schema.storage));
            // And as a file to predict for.
            let (once_more, _) = read(&path, &Default::default(), Some(&schema)).unwrap();
            prop_assert_eq!(once_more.inputs.n_inputs(), again.inputs.n_inputs());
            prop_assert_eq!(once_more.inputs.kind(), again.inputs.kind());
        }
        prop_assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{:?}", kinds);
    }
}

#[test]
fn names_that_features_have_are_left_to_them() {
    let table = Table {
        inputs: Dense::f64_owned(vec![1.0, 2.0, 3.0], 1, 3).unwrap().into(),
        features: Some(names(&["task", "y", "weight"])),
        targets: Targets::Tasks {
            task: Categorical::from_integers(&[4]),
            label: Some(Labels::Numbers(vec![5.0])),
        },
        weight: Some(vec![6.0]),
        offset: Some(vec![-0.5]),
        split: Some(vec![1]),
        fold_keys: None,
        kept: vec![],
        lines: vec![],
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    write_table(&table, &path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text, "task,y,weight,task_,y_,weight_,offset,split\n1,2,3,4,5,6,-0.5,1\n");
    let (again, _) = read(&path, &columns_of(&table), None).unwrap();
    assert_eq!(rows(&again), rows(&table));
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let inputs = || Dense::f64_owned(vec![1.0], 1, 1).unwrap().into();
    let table = |targets| Table::new(inputs(), targets);
    let folder = tempfile::tempdir().unwrap();
    let message = |targets| one_line(write_table(&table(targets), &folder.path().join("a.csv")));
    assert!(
        message(Targets::Classes(Categorical::from_words(&[""]))).ends_with("without a name; write .npz")
    );
    let one = Targets::Wide { label: Matrix::zeros(1, 1), tasks: kinfolk::TaskNames::Numbered(1) };
    assert!(message(one).ends_with("a wide table of one task; write .npz"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn real_data_come_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["landmine", "yale", "parkinson", "sarcos", "mhci", "usps_lapin14"] {
        let test = format!("real_data_come_back_the_same ({name})");
        let Some(path) = crate::needs::data_file(&test, &format!("{name}.npz")) else { continue };
        let (table, schema) = read(&path, &Default::default(), None).unwrap();
        for end in possible(&["csv", "csv.gz", "parquet"]) {
            let path = folder.path().join(format!("{name}.{end}"));
            write_table(&table, &path).unwrap();
            let (again, settled) = read(&path, &columns_of(&table), None).unwrap();
            assert_eq!(rows(&again), rows(&table), "{name}.{end}");
            assert_eq!(settled.storage, schema.storage);
            assert_eq!(format!("{:?}", again.inputs), format!("{:?}", table.inputs));
            assert_eq!(format!("{:?}", again.targets), format!("{:?}", table.targets));
        }
    }
}
