//! What the arrays and lines of good files mean.

use crate::common::{assert_same, f64s, i64s, npy, npz, read_named, words};
use kinfolk::{Inputs, TaskNames};
use kinfolk_io::{
    Categorical, ColumnRoles, Labels, Schema, Storage, Table, Targets, open, read, write_table,
};

fn table(bytes: Vec<u8>, format: &str) -> Table {
    read_named(bytes, format, &ColumnRoles::default(), None).unwrap().0
}

fn x() -> Vec<u8> {
    f64s(&[1.5, 2.0, 3.0, 4.0, 5.0, 6.0], "(3, 2)")
}

fn names(names: &[&str]) -> TaskNames {
    TaskNames::Strings(names.iter().map(|name| name.to_string()).collect())
}

#[test]
fn tasks_are_positions_in_a_list_or_names_themselves() {
    let y = || ("y", npy("'|i1'", false, "(3,)", &[1, 255, 1]));
    let label = Some(Labels::Numbers(vec![1.0, -1.0, 1.0]));
    for (task, wanted) in [
        (i64s(&[7, -3, 7], "(3,)"), Categorical::from_integers(&[7, -3, 7])),
        (f64s(&[7.0, -3.0, 7.0], "(3, 1)"), Categorical::from_integers(&[7, -3, 7])),
        (words(&["b", "a", "b"]), Categorical::from_words(&["b", "a", "b"])),
        (npy("'|S1'", false, "(3,)", b"bab"), Categorical::from_words(&["b", "a", "b"])),
        (npy("'|b1'", false, "(3,)", &[1, 0, 1]), Categorical::from_integers(&[1, 0, 1])),
    ] {
        let read = table(npz(&[("X", x()), y(), ("task", task)]), "a.npz");
        assert_eq!(read.targets, Targets::Tasks { task: wanted, label: label.clone() });
    }
    for task in [i64s(&[0, 2, 0], "(3,)"), words(&["oak", "ash", "oak"])] {
        let listed = ("task_names", words(&["oak", "elm", "ash"]));
        let read = table(npz(&[("X", x()), y(), ("task", task), listed]), "a.npz");
        let task = Categorical { index: vec![2, 0, 2], names: names(&["ash", "elm", "oak"]) };
        assert_eq!(read.targets, Targets::Tasks { task, label: label.clone() });
    }
    let alone = table(npz(&[("X", x()), y()]), "a.npz");
    assert_eq!(alone.targets, Targets::Tasks { task: Categorical::from_integers(&[0, 0, 0]), label });
    let unlabelled = table(npz(&[("X", x()), ("task", i64s(&[1, 2, 3], "(3,)"))]), "a.npz");
    assert_eq!(
        unlabelled.targets,
        Targets::Tasks { task: Categorical::from_integers(&[1, 2, 3]), label: None }
    );
}

#[test]
fn labels_may_be_words() {
    let read = table(npz(&[("X", x()), ("y", words(&["yes", "no", "yes"]))]), "a.npz");
    let Targets::Tasks { label: Some(Labels::Words(labels)), .. } = read.targets else { panic!() };
    assert_eq!(labels, Categorical::from_words(&["yes", "no", "yes"]));
}

#[test]
fn classes_and_wide_tables() {
    let classes =
        npz(&[("X", x()), ("label", i64s(&[1, 0, 1], "(3,)")), ("class_names", words(&["z", "a"]))]);
    assert_eq!(table(classes, "a.npz").targets, Targets::Classes(Categorical::from_words(&["a", "z", "a"])));
    let wide = [1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0];
    let by_columns: Vec<u8> =
        [1.0, 3.0, 5.0, f64::NAN, 4.0, 6.0].iter().flat_map(|x: &f64| x.to_le_bytes()).collect();
    for array in [f64s(&wide, "(3, 2)"), npy("'<f8'", true, "(3, 2)", &by_columns)] {
        let read = table(npz(&[("X", x()), ("Y", array), ("task_names", words(&["b", "a"]))]), "a.npz");
        let Targets::Wide { label, tasks } = read.targets else { panic!() };
        assert_eq!((label.row(1), tasks), (&[3.0, 4.0][..], names(&["b", "a"])));
        assert!(label[(0, 1)].is_nan());
    }
}

#[test]
fn other_arrays_may_be_the_target() {
    let file = || {
        npz(&[
            ("X", x()),
            ("y", f64s(&[1.0, 2.0, 3.0], "(3,)")),
            ("y_motor", f64s(&[4.0, 5.0, 6.0], "(3,)")),
            ("patient", i64s(&[3, 3, 4], "(3,)")),
            ("w", f64s(&[1.0, 2.0, 0.0], "(3,)")),
            ("exposure", f64s(&[0.5, 0.0, -1.0], "(3,)")),
            ("part", words(&["train", "test", "validation"])),
        ])
    };
    let columns = ColumnRoles {
        task: Some("patient".into()),
        target: vec!["y_motor".into()],
        weight: Some("w".into()),
        offset: Some("exposure".into()),
        split: Some("part".into()),
        ..ColumnRoles::default()
    };
    let (read, schema) = read_named(file(), "a.npz", &columns, None).unwrap();
    let label = Some(Labels::Numbers(vec![4.0, 5.0, 6.0]));
    assert_eq!(read.targets, Targets::Tasks { task: Categorical::from_integers(&[3, 3, 4]), label });
    assert_eq!((read.weight.clone(), read.split.clone()), (Some(vec![1.0, 2.0, 0.0]), Some(vec![0, 1, 2])));
    let (again, _) = read_named(file(), "a.npz", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(read.offset, Some(vec![0.5, 0.0, -1.0]));
    assert_eq!((again.targets, again.offset, again.split), (read.targets, read.offset, read.split));
    let usual = npz(&[("X", x()), ("offset", f64s(&[1.0, 2.0, 3.0], "(3,)"))]);
    assert_eq!(table(usual, "a.npz").offset, Some(vec![1.0, 2.0, 3.0]));
    // Names from training that a file for prediction does not have are not missed.
    let bare = read_named(npz(&[("X", x())]), "a.npz", &ColumnRoles::default(), Some(&schema)).unwrap().0;
    assert_eq!(bare.targets, Targets::None);
    let columns = ColumnRoles { target: vec!["y".into(), "y_motor".into()], ..ColumnRoles::default() };
    let (wide, _) = read_named(file(), "a.npz", &columns, None).unwrap();
    let Targets::Wide { label, tasks } = wide.targets else { panic!() };
    assert_eq!((label.row(2), tasks), (&[3.0, 6.0][..], names(&["y", "y_motor"])));
    let columns = ColumnRoles { target: vec!["patient".into()], classes: true, ..ColumnRoles::default() };
    let (classes, _) = read_named(file(), "a.npz", &columns, None).unwrap();
    assert_eq!(classes.targets, Targets::Classes(Categorical::from_integers(&[3, 3, 4])));
}

#[test]
fn any_order_and_type_of_inputs_gives_the_same_numbers() {
    let values = [1u8, 2, 3, 4, 5, 6];
    let f64_bytes = |values: &[f64]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>();
    let rows: Vec<f64> = values.iter().map(|&x| f64::from(x)).collect();
    let first = table(npy("'|u1'", false, "(3, 2)", &values), "a.npy");
    for other in [
        npy("'<f8'", false, "(3, 2)", &f64_bytes(&rows)),
        npy("'<f8'", true, "(3, 2)", &f64_bytes(&[1.0, 3.0, 5.0, 2.0, 4.0, 6.0])),
        npy("'>i4'", false, "(3, 2)", &values.iter().flat_map(|&x| [0, 0, 0, x]).collect::<Vec<_>>()),
        npy("'<i2'", true, "(3, 2)", &[1, 0, 3, 0, 5, 0, 2, 0, 4, 0, 6, 0]),
    ] {
        assert_same(&first, &table(other, "a.npy"));
    }
    let text = table(b"0 1:1 2:2\n0 1:3 2:4\n0 1:5 2:6".to_vec(), "a.svm");
    assert_eq!(text.inputs.kind(), "dense");
    let Inputs::Dense(x) = &text.inputs else { panic!() };
    assert!(x.is_f32() && x.get(2, 1) == 6.0);
}

#[test]
fn a_gram_matrix_for_fitting_and_rows_of_it_for_prediction() {
    let square = npz(&[("K", f64s(&[2.0, 1.0, 1.0, 2.0], "(2, 2)")), ("y", f64s(&[1.0, 2.0], "(2,)"))]);
    let (read, schema) = read_named(square.clone(), "a.npz", &ColumnRoles::default(), None).unwrap();
    assert_eq!((read.inputs.kind(), schema.storage, schema.n_features), ("Gram", Storage::Kernel, 2));
    let rows = npz(&[("X", x()), ("K", f64s(&[0.5, 1.0, 0.0, 0.0, 3.0, 1.0], "(3, 2)"))]);
    let (read, _) = read_named(rows, "a.npz", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!((read.inputs.kind(), read.n_rows()), ("dense", 3));
    let (read, _) = read_named(square, "a.npz", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(read.inputs.kind(), "dense");
}

#[test]
fn svm_labels_are_numbers_of_tasks_or_classes() {
    let text = b"\xef\xbb\xbf+1 qid:3 1:1\n-1 qid:1 2:1 # no kin\n".to_vec();
    let label = Some(Labels::Numbers(vec![1.0, -1.0]));
    assert_eq!(
        table(text, "a.svm").targets,
        Targets::Tasks { task: Categorical::from_integers(&[3, 1]), label }
    );
    let columns = ColumnRoles { classes: true, ..ColumnRoles::default() };
    let (classes, schema) = read_named(b"2.0 1:1\n+1 2:1\n".to_vec(), "a.svm", &columns, None).unwrap();
    assert_eq!(classes.targets, Targets::Classes(Categorical::from_integers(&[2, 1])));
    let (more, _) = read_named(b"1 1:1\n".to_vec(), "a.svm", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(
        (more.inputs.n_features(), more.targets),
        (2, Targets::Classes(Categorical::from_integers(&[1])))
    );
}

#[test]
fn svm_rows_without_labels_keep_their_first_feature() {
    let first = |table: &Table| values(table, 0)[0];
    let rows = || b"1:5 2:1\n1:6\n".to_vec();
    for classes in [true, false] {
        let columns = ColumnRoles { classes, ..ColumnRoles::default() };
        let fitted = read_named(b"2 1:1\n1:3\n1 2:1\n".to_vec(), "a.svm", &columns, None).unwrap();
        let (table, missing) = fitted.0.labelled();
        assert_eq!((table.n_rows(), missing), (2, 1), "a missing label");
        let new = read_named(rows(), "a.svm", &ColumnRoles::default(), Some(&fitted.1)).unwrap().0;
        assert_eq!((first(&new), &new.targets), (5.0, &Targets::None));
    }
    let tasks = table(b"qid:3 1:5\nqid:1 1:6\n".to_vec(), "a.svm");
    let Targets::Tasks { task, label: Some(Labels::Numbers(labels)) } = &tasks.targets else { panic!() };
    assert_eq!((first(&tasks), task), (5.0, &Categorical::from_integers(&[3, 1])));
    assert!(labels.iter().all(|label| label.is_nan()));
    let error = table(rows(), "a.svm").label_encoding(false).unwrap_err().to_string();
    assert_eq!(error, "all labels are missing");
}

#[test]
fn a_model_of_several_labels_reads_rows_with_one_or_none() {
    let none = ColumnRoles::default();
    let (_, schema) = read_named(b"0,2 1:1\n1 2:1\n1:1 2:1\n".to_vec(), "a.svm", &none, None).unwrap();
    assert_eq!(schema.several_labels, ["0", "1", "2"]);
    let new = read_named(b"2 1:1\n2:1\n".to_vec(), "a.svm", &none, Some(&schema)).unwrap().0;
    let Targets::Wide { label, tasks } = new.targets else { panic!() };
    assert_eq!((label.row(0), label.row(1)), (&[0.0, 0.0, 1.0][..], &[0.0, 0.0, 0.0][..]));
    assert_eq!(tasks.len(), 3);
}

#[test]
fn chunks_are_stored_as_the_recipe_says_and_add_up_to_the_whole() {
    let directory = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for i in 0..100 {
        // The first rows are full, the last ones nearly empty: by themselves they would be stored differently.
        let entries = if i < 20 { "1:1 2:2 3:3 4:4 5:5.5 6:6 7:7 8:8 9:9 10:1" } else { "1:0.25" };
        text.push_str(&format!("{i} qid:{} {entries}\n", i % 7));
    }
    let path = directory.path().join("all.svm");
    std::fs::write(&path, &text).unwrap();
    let (whole, schema) = read(&path, &ColumnRoles::default(), None).unwrap();
    assert_eq!(schema.storage, Storage::Dense);
    for storage in [Storage::Dense, Storage::Sparse] {
        let schema = Schema { storage, ..schema.clone() };
        for name in ["all.svm", "all.npz", "all.svm.gz"] {
            let path = directory.path().join(name);
            write_table(&whole, &path).unwrap();
            let mut source = open(&path, &ColumnRoles::default(), Some(&schema)).unwrap();
            let mut row = 0;
            while let Some(chunk) = source.next_chunk(7).unwrap() {
                assert_eq!(chunk.inputs.kind(), if storage == Storage::Dense { "dense" } else { "sparse" });
                let rows: Vec<u32> = (row..row + chunk.n_rows() as u32).collect();
                let part = whole.select_rows(&rows);
                for i in 0..chunk.n_rows() as u32 {
                    assert_eq!(values(&chunk, i), values(&part, i));
                }
                row += chunk.n_rows() as u32;
            }
            assert_eq!(row, 100);
        }
    }
}

fn values(table: &Table, row: u32) -> Vec<f64> {
    let mut out = vec![0.0; table.inputs.n_features()];
    match &table.inputs {
        Inputs::Dense(x) => x.load(&[row], &mut out),
        Inputs::Sparse(x) => x.load(&[row], &mut out),
        _ => panic!(),
    }
    out
}

#[test]
fn an_error_names_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.svm");
    std::fs::write(&path, "1 1:1\n1 1:x\n").unwrap();
    let error = read(&path, &ColumnRoles::default(), None).unwrap_err().to_string();
    assert_eq!(error, format!("{}: line 2, column \"1:x\": \"x\" is not a number", path.display()));
    let error = read(&directory.path().join("b.npz"), &ColumnRoles::default(), None).unwrap_err().to_string();
    assert!(error.contains("b.npz: ") && error.contains("No such file"), "{error}");
}
