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
