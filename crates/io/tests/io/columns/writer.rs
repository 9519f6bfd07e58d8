//! Rows appended to files of every format.

use super::common::possible;
use kinfolk_io::{CellKind, Cells, ColumnRoles, Labels, TableWriter, Targets, read};
use std::fs;
use std::path::Path;

fn columns() -> Vec<(String, CellKind)> {
    let column = |name: &str, kind| (name.to_string(), kind);
    vec![
        column("score", CellKind::Numbers),
        column("single", CellKind::Singles),
        column("n", CellKind::Integers),
        column("word", CellKind::Words),
    ]
}

/// Ten rows, in chunks of this many.
fn write(path: &Path, step: usize, columns: &[(String, CellKind)]) -> kinfolk_io::Result<u64> {
    let mut writer = TableWriter::create(path, columns)?;
    for first in (0..10).step_by(step) {
        let rows: Vec<usize> = (first..(first + step).min(10)).collect();
        let numbers: Vec<f64> =
            rows.iter().map(|&i| if i == 3 { f64::NAN } else { i as f64 / 3.0 }).collect();
        let singles: Vec<f64> = rows.iter().map(|&i| f64::from(0.1_f32 * i as f32)).collect();
        let integers: Vec<i64> = rows.iter().map(|&i| i as i64 - i64::MAX).collect();
        let words: Vec<String> = rows.iter().map(|&i| ["a,b", "\"", "", "é\n"][i % 4].to_string()).collect();
        let all = [
            Cells::Numbers(numbers),
            Cells::Singles(singles),
            Cells::Integers(integers),
            Cells::Words(words),
        ];
        writer.append(&all[..columns.len()])?;
    }
    writer.finish()
}

#[test]
fn chunks_of_any_size_make_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    for name in possible(&["a.csv", "a.csv.gz", "a.npy", "a.parquet"]) {
        let columns = if name == "a.npy" { columns()[..3].to_vec() } else { columns() };
        let path = folder.path().join(name);
        let files: Vec<Vec<u8>> = [1, 7, 10]
            .into_iter()
            .map(|step| {
                assert_eq!(write(&path, step, &columns).unwrap(), 10);
                fs::read(&path).unwrap()
            })
            .collect();
        assert_eq!(files[0], files[1], "{name}");
        assert_eq!(files[0], files[2], "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), if cfg!(feature = "parquet") { 4 } else { 3 });
}

#[test]
fn csv_is_as_everybody_writes_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    write(&path, 4, &columns()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let expected = "score,single,n,word\n0,0,-9223372036854775807,\"a,b\"\n\
        0.3333333333333333,0.10000000149011612,-9223372036854775806,\"\"\"\"\n\
        0.6666666666666666,0.20000000298023224,-9223372036854775805,\"\"\n\
        ,0.30000001192092896,-9223372036854775804,\"é\n\"\n";
    assert_eq!(&text[..expected.len()], expected);
}

#[test]
fn arrays_have_the_shape_that_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    write(&path, 3, &columns()[1..3]).unwrap_err();
    let two: Vec<(String, CellKind)> =
        vec![("a".into(), CellKind::Numbers), ("b".into(), CellKind::Integers)];
    let mut writer = TableWriter::create(&path, &two).unwrap();
    writer.append(&[Cells::Numbers(vec![1.5, 2.5]), Cells::Integers(vec![3, 4])]).unwrap();
    writer.append(&[Cells::Numbers(vec![0.5]), Cells::Integers(vec![-1])]).unwrap();
    writer.finish().unwrap();
    let (table, _) = read(&path, &ColumnRoles::default(), None).unwrap();
    let kinfolk::Inputs::Dense(x) = &table.inputs else { panic!() };
    assert_eq!((x.rows(), x.cols(), x.get(1, 0), x.get(2, 1)), (3, 2, 2.5, -1.0));
    let bytes = fs::read(&path).unwrap();
    assert_eq!((bytes.len(), &bytes[..8]), (128 + 6 * 8, &b"\x93NUMPY\x01\x00"[..]));
    // One column is a list.
    let mut writer = TableWriter::create(&path, &two[..1]).unwrap();
    writer.append(&[Cells::Numbers(vec![1.5, 2.5])]).unwrap();
    writer.finish().unwrap();
    assert!(String::from_utf8_lossy(&fs::read(&path).unwrap()[..128]).contains("'shape': (2,), }"));
}

#[test]
fn until_the_end_nothing_is_touched_and_nothing_is_left_behind() {
    let folder = tempfile::tempdir().unwrap();
    for name in possible(&["a.csv", "a.csv.gz", "a.npy", "a.parquet"]) {
        let path = folder.path().join(name);
        fs::write(&path, "old").unwrap();
        let mut writer = TableWriter::create(&path, &columns()[..1]).unwrap();
        writer.append(&[Cells::Numbers(vec![1.0; 1000])]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(writer);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        fs::remove_file(&path).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn files_without_rows_are_files() {
    let folder = tempfile::tempdir().unwrap();
    for name in possible(&["a.csv", "a.npy", "a.parquet"]) {
        let path = folder.path().join(name);
        assert_eq!(TableWriter::create(&path, &columns()[..1]).unwrap().finish().unwrap(), 0);
        assert!(path.is_file());
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_anything_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let create = |name: &str, columns: &[(String, CellKind)]| {
        let message = TableWriter::create(&folder.path().join(name), columns).err().unwrap().to_string();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        message.replace(&format!("{}/", folder.path().display()), "")
    };
    assert_eq!(create("a.csv", &[]), "a.csv: there are no columns to write");
    assert_eq!(
        create("a.npy", &columns()),
        "a.npy: column \"word\": an array holds numbers alone, not words"
    );
    let twins = [columns()[0].clone(), columns()[0].clone()];
    assert_eq!(
        create("a.csv", &twins),
        "a.csv: columns 1 and 2 are both named \"score\"; rename one of them"
    );
    assert!(create("a.svm", &columns()).ends_with(
        "expected a name that ends in .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .arrow, .feather, .ipc or .npy; \
         texts also with .gz or .bz2"
    ));
    assert!(create("a.doc", &columns()).contains("its kind is not known by its name"));
    assert!(create("no/such/a.csv", &columns()).contains("No such file"));
    let path = folder.path().join("a.csv");
    let mut writer = TableWriter::create(&path, &columns()[..2]).unwrap();
    for cells in [
        &[Cells::Numbers(vec![1.0])][..],
        &[Cells::Numbers(vec![1.0]), Cells::Numbers(vec![1.0])],
        &[Cells::Numbers(vec![1.0]), Cells::Singles(vec![])],
    ] {
        assert!(writer.append(cells).unwrap_err().to_string().ends_with("are not those that were announced"));
    }
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_program_without_parquet_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    let refused = TableWriter::create(&path, &columns()).err().unwrap().to_string();
    assert!(refused.contains("built without parquet; rebuild it with --features parquet"), "{refused}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(
        read(&path, &ColumnRoles::default(), None)
            .err()
            .unwrap()
            .to_string()
            .contains("built without parquet")
    );
}

#[test]
fn texts_that_are_all_numbers_are_labels_that_are_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let columns = [("x".to_string(), CellKind::Numbers), ("y".to_string(), CellKind::Words)];
    let roles = ColumnRoles { target: vec!["y".into()], ..ColumnRoles::default() };
    for name in possible(&["a.csv", "a.jsonl", "a.parquet"]) {
        let path = folder.path().join(name);
        let labels = |texts: [&str; 3]| {
            let mut writer = TableWriter::create(&path, &columns).unwrap();
            // Csv has no types: there, a point in a number says that no comma is a decimal sign.
            let numbers = if name == "a.csv" { vec![1.0, 2.0, 3.0] } else { vec![0.5, 1.5, 2.5] };
            writer
                .append(&[Cells::Numbers(numbers), Cells::Words(texts.map(String::from).to_vec())])
                .unwrap();
            writer.finish().unwrap();
            read(&path, &roles, None).unwrap().0.targets
        };
        for texts in [["EUR 12,50", "EUR 7,25", "EUR 1,00"], ["12,5", "7,25", "1"]] {
            let Targets::Tasks { label: Some(Labels::Numbers(found)), .. } = labels(texts) else {
                panic!("{name}")
            };
            assert_eq!(found, [12.5, 7.25, 1.0], "{name}");
        }
        assert!(matches!(labels(["red", "2", "blue"]), Targets::Classes(_)), "{name}");
    }
}
