//! Small tables beside the data, as texts.

use kinfolk_io::{CellKind, Cells, TableWriter, read_texts};

#[test]
fn csv_and_parquet_say_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let columns = [("shop".to_string(), CellKind::Words), ("size".to_string(), CellKind::Numbers)];
    let cells = [Cells::Words(vec!["b \"x\"".into(), "a".into()]), Cells::Numbers(vec![0.25, -3e100])];
    for name in ["t.csv", "t.csv.gz", "t.parquet"] {
        let path = folder.path().join(name);
        let mut writer = TableWriter::create(&path, &columns).unwrap();
        writer.append(&cells).unwrap();
        writer.finish().unwrap();
        let table = read_texts(&path, &|names| Ok((0..names.len()).rev().collect())).unwrap();
        assert_eq!(table.columns, ["size", "shop"]);
        assert_eq!((table.name(0, 1).unwrap(), table.name(1, 1).unwrap()), ("b \"x\"", "a"));
        assert_eq!((table.number(0, 0).unwrap(), table.number(1, 0).unwrap()), (0.25, -3e100));
        let error = table.number(1, 1).unwrap_err().to_string();
        let place = if name == "t.parquet" { "row 2" } else { "line 3" };
        assert_eq!(error, format!("{place}, column \"shop\": \"a\" is not a number"));
    }
    std::fs::write(folder.path().join("x.npy"), "").unwrap();
    let error = read_texts(&folder.path().join("x.npy"), &|_| Ok(vec![])).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "x.npy: it has no names; expected .csv, .tsv, .txt, .jsonl, .ndjson, .parquet, .arrow, .feather or .ipc; \
             texts also with .gz, .bz2 or .zst"
        ),
        "{error}"
    );
}
