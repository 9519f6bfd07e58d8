//! Durations, zones and files of polars: what only files with types can say. See fixtures/make.py.

use super::common::*;
use kinfolk_io::{ColumnRoles, Feature, Schema};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn read_file(name: &str, roles: &ColumnRoles) -> (Vec<Row>, Schema) {
    let (table, schema) = kinfolk_io::read(&fixture(name), roles, None).unwrap();
    (rows(&table), schema)
}

#[test]
fn durations_are_seconds_in_every_unit() {
    let csv = "t,wait,y\na,1.5,0\nb,90,1\na,86400.25,2\nb,0.001,3\na,3600,4\nb,-2.5,5\n";
    let (wanted, plain) = read(csv, &columns("t", "y")).unwrap();
    for name in ["durations_ns.parquet", "durations_us.parquet", "durations_ms.arrow"] {
        let (rows, schema) = read_file(name, &columns("t", "y"));
        assert_eq!(rows, wanted, "{name}");
        assert_eq!(schema.notes(), ["durations became seconds: \"wait\""], "{name}");
        assert_eq!(serde_json::to_string(&schema).unwrap(), serde_json::to_string(&plain).unwrap(), "{name}");
    }
}

#[test]
fn clocks_in_text_are_those_of_types() {
    let pandas = "t,wait,y\na,0 days 00:00:01.500000,0\nb,0 days 00:01:30,1\na,1 days 00:00:00.250000,2\n\
                  b,0 days 00:00:00.001000,3\na,0 days 01:00:00,4\nb,-1 days +23:59:57.500000,5\n";
    let (rows, schema) = read(pandas, &columns("t", "y")).unwrap();
    let (wanted, typed) = read_file("durations_ns.parquet", &columns("t", "y"));
    assert_eq!((rows, schema.notes()), (wanted, typed.notes()));
    let text = "t,at,y\na,06:00:00,0\nb,12:00:00,1\na,18:30:15.25,2\n";
    let (rows, schema) = read(text, &columns("t", "y")).unwrap();
    assert_eq!(rows[1].x, bits(&[0.5]));
    assert_eq!(schema.notes(), ["times of day became shares of the day: \"at\""]);
    for name in ["times.parquet", "times.arrow"] {
        let (of_types, typed) = read_file(name, &columns("t", "y"));
        assert_eq!((&of_types, typed.notes()), (&rows, schema.notes()), "{name}");
    }
}

#[test]
fn bytes_may_be_text() {
    for name in ["bytes.parquet", "bytes.arrow"] {
        let (rows, schema) = read_file(name, &columns("t", "y"));
        assert_eq!(schema.feature_names().unwrap(), names(&["b=left", "b=right"]), "{name}");
        assert_eq!(rows[0].x, bits(&[1.0, 0.0]), "{name}");
    }
}

#[test]
fn zones_are_known_by_type() {
    let csv = |zone: &str| {
        let row = |i: usize| {
            let (t, time) = [("a", "2024-03-01 10:00:00"), ("b", "2024-03-02 11:30:00")][i % 2];
            format!("{t},{time}{zone},{i}\n")
        };
        String::from("t,when,y\n") + &(0..6).map(row).collect::<String>()
    };
    for (name, zone, is) in [("zoned.parquet", "+00:00", true), ("unzoned.parquet", "", false)] {
        let (rows, schema) = read_file(name, &columns("t", "y"));
        let (wanted, of_text) = read(csv(zone), &columns("t", "y")).unwrap();
        assert_eq!(rows, wanted, "{name}");
        assert_eq!(
            serde_json::to_string(&schema).unwrap(),
            serde_json::to_string(&of_text).unwrap(),
            "{name}"
        );
        assert!(matches!(schema.features.unwrap()[0], Feature::Date { zone, .. } if zone == is), "{name}");
    }
}

#[test]
fn files_of_polars_may_have_zstd() {
    let (rows, _) = read_file("polars_zstd.arrow", &columns("shop", "spent"));
    assert_eq!((rows.len(), &rows[59].target), (60, &number("b", 118.0)));
    assert_eq!(rows[59].x, bits(&[59.0]));
}

#[test]
fn dates_of_text_and_of_a_type_are_one_column() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("a.csv");
    std::fs::write(&text, "t,when,y\na,2024-03-05,7\nb,2024-03-06,8\n").unwrap();
    for files in [[text.clone(), fixture("unzoned.parquet")], [fixture("unzoned.parquet"), text.clone()]] {
        let (table, schema) = kinfolk_io::read_all(&files, &columns("t", "y"), None).unwrap();
        assert!(matches!(&schema.features.unwrap()[..], [Feature::Date { fill: None, .. }]));
        assert_eq!(table.n_rows(), 8);
    }
    std::fs::write(&text, "t,when,y\na,5.3.2024,7\nb,16.3.2024,8\n").unwrap();
    for files in [[text.clone(), fixture("unzoned.parquet")], [fixture("unzoned.parquet"), text.clone()]] {
        let (table, schema) = kinfolk_io::read_all(&files, &columns("t", "y"), None).unwrap();
        assert!(matches!(&schema.features.unwrap()[..], [Feature::Date { fill: None, .. }]), "none is a gap");
        let day = |row: usize| f64::from_bits(rows(&table)[row].x[0]);
        assert!((0..8).any(|row| day(row) == 19_787.0), "5 March 2024");
    }
}

#[test]
fn categories_are_words_whatever_they_look_like() {
    for name in ["categories.parquet", "categories.arrow"] {
        let (rows, schema) = read_file(name, &columns("t", "y"));
        let wanted = names(&["grade=1", "grade=2", "grade=3", "code=9", "code=10", "plain"]);
        assert_eq!(schema.feature_names().unwrap(), wanted, "{name}");
        assert_eq!(rows[1].x, bits(&[0.0, 1.0, 0.0, 1.0, 0.0, 1.0]), "{name}");
        assert!(
            schema.notes()[0]
                .starts_with("words became a feature for each value: \"grade\" (3), \"code\" (2)")
        );
        // New rows without types are read alike, and categories to be learned are classes.
        let csv = "t,grade,code,plain\na,3,10,7\n";
        let mut source = open(csv, &ColumnRoles::default(), Some(&schema)).unwrap();
        assert_eq!(all_rows(&mut *source, 10).unwrap()[0].x, bits(&[0.0, 0.0, 1.0, 0.0, 1.0, 7.0]), "{name}");
        let (rows, _) = read_file(name, &columns("", "grade"));
        assert_eq!(rows[0].target, Label::Class("1".into()), "{name}");
    }
}
