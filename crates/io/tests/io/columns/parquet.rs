//! Parquet files made by pandas, pyarrow, polars and fastparquet; see fixtures/make.py.

use super::common::*;
use kinfolk_io::{ColumnRoles, Feature, Result, Schema};
use std::path::{Path, PathBuf};

const SAME: [&str; 18] = [
    "arrow_delta",
    "arrow_dictionary",
    "arrow_pages2",
    "arrow_plain",
    "arrow_required",
    "arrow_split",
    "fastparquet",
    "pandas_gzip",
    "pandas_lz4",
    "pandas_none",
    "pandas_snappy",
    "pandas_zstd",
    "polars_categorical",
    "polars_gzip",
    "polars_lz4",
    "polars_snappy",
    "polars_uncompressed",
    "polars_zstd",
];

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name).with_extension("parquet")
}

/// Rows and schema, checked to be the same for chunks of every size.
fn read(name: &str, columns: &ColumnRoles, schema: Option<&Schema>) -> Result<(Vec<Row>, Schema)> {
    let open = || kinfolk_io::open(&fixture(name), columns, schema);
    let mut source = open()?;
    let rows = all_rows(&mut *source, usize::MAX)?;
    for max_rows in [1, 7] {
        assert_eq!(all_rows(&mut *open()?, max_rows)?, rows);
    }
    Ok((rows, source.schema()))
}

/// The message, without the folder.
fn message(name: &str, columns: &ColumnRoles) -> String {
    let text = one_line(read(name, columns, None).map(|_| ()));
    text.replace(&fixture(name).display().to_string(), &format!("{name}.parquet"))
}

/// What make.py writes.
fn expected(i: usize) -> Row {
    let n = i as f64;
    let x = [
        n * 0.1 - 0.5,
        f64::from(i as f32 * 0.25 + 0.1),
        n * 20.0 - 120.0,
        255.0 - n,
        n * 5000.0 - 30000.0,
        65535.0 - n,
        n * 3e8 - 2e9,
        4_294_967_295.0 - n,
        (i as i64 * 10_i64.pow(17) - 5 * 10_i64.pow(17)) as f64,
        (u64::MAX - i as u64) as f64,
        f64::from(u8::from(i.is_multiple_of(3))),
    ];
    let kind = ["oak", "elm", "fir"][i % 3];
    Row { x: bits(&x), target: Label::Task(kind.into()), weight: None, offset: None, split: None }
}

#[test]
fn files_of_all_libraries_hold_the_same_rows() {
    let chosen = ColumnRoles { drop: names(&["z"]), ..columns("kind", "") };
    let all: Vec<Row> = (0..12).map(expected).collect();
    for name in SAME {
        let (rows, schema) = read(name, &chosen, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(rows, all, "{name}");
        assert_eq!(schema.n_features, 11);
        let mut source = kinfolk_io::open(&fixture(name), &chosen, None).unwrap();
        assert_eq!(source.n_rows(), Some(12));
        let kinfolk::Inputs::Dense(x) = source.next_chunk(1).unwrap().unwrap().inputs else { panic!() };
        assert!(!x.is_f32());
    }
}

#[test]
fn nulls_are_missing_labels_of_wide_tables() {
    for name in SAME {
        let chosen = ColumnRoles { features: Some(names(&["u8"])), ..columns("", "z,double") };
        let (rows, _) = read(name, &chosen, None).unwrap();
        for (i, row) in rows.iter().enumerate() {
            let z = if i.is_multiple_of(4) { f64::NAN } else { i as f64 / 7.0 };
            let expected = Label::Wide(names(&["z", "double"]), bits(&[z, i as f64 * 0.1 - 0.5]));
            assert_eq!(row.target, expected, "{name}");
        }
    }
}

#[test]
fn small_types_are_stored_in_single_precision() {
    for (features, single) in [
        (&["float", "i8", "u8", "i16", "u16", "flag"][..], true),
        (&["double"], false),
        (&["i32"], false),
        (&["u32", "flag"], false),
        (&["i64"], false),
    ] {
        let chosen = ColumnRoles { features: Some(names(features)), ..columns("kind", "") };
        for name in ["pandas_snappy", "polars_zstd"] {
            let table =
                kinfolk_io::open(&fixture(name), &chosen, None).unwrap().next_chunk(9).unwrap().unwrap();
            let kinfolk::Inputs::Dense(x) = &table.inputs else { panic!() };
            assert_eq!(x.is_f32(), single, "{features:?} of {name}");
        }
    }
    let (rows, _) = read("halves", &columns("", "y"), None).unwrap();
    assert_eq!(rows[2].x, bits(&[2.0, 1.0]));
}

#[test]
fn columns_of_any_type_may_be_names() {
    let one_hot = ColumnRoles {
        features: Some(names(&["u8"])),
        one_hot: names(&["flag", "kind"]),
        ..columns("i8", "")
    };
    for name in SAME {
        let (rows, schema) = read(name, &one_hot, None).unwrap();
        assert_eq!(rows[1].x, bits(&[254.0, 1.0, 0.0, 1.0, 0.0, 0.0]), "{name}");
        assert_eq!(rows[1].target, Label::Task("-100".into()));
        let one_hot = |column: &str, values| Feature::OneHot {
            column: column.into(),
            values: names(values),
            other: false,
            missing: false,
            filled: false,
            no: None,
            fill: None,
        };
        let features = vec![
            Feature::Number("u8".into()),
            one_hot("flag", &["false", "true"]),
            one_hot("kind", &["elm", "fir", "oak"]),
        ];
        assert_eq!(schema.features, Some(features));
    }
}

#[test]
fn labels_are_what_their_type_says() {
    let target = |target: &str, task: &str, classes: bool| {
        let chosen = ColumnRoles { features: Some(names(&["u8"])), classes, ..columns(task, target) };
        read("pandas_zstd", &chosen, None).unwrap().0[1].target.clone()
    };
    assert_eq!(target("i16", "", false), number("i16", -25000.0));
    assert_eq!(target("flag", "", false), number("flag", 0.0));
    assert_eq!(target("kind", "", false), Label::Class("elm".into()));
    assert_eq!(target("kind", "i8", false), word("-100", "elm"));
    assert_eq!(target("u64", "", true), Label::Class((u64::MAX - 1).to_string()));
}

#[test]
fn a_model_of_one_format_reads_the_other() {
    let csv = "float,kind,y,u8\n1,ash,2,3\n";
    let chosen = ColumnRoles { features: Some(names(&["u8", "float"])), ..columns("kind", "y") };
    let schema = super::common::read(csv, &chosen).unwrap().1;
    let (rows, again) = read("polars_zstd", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(rows[3].x, bits(&[252.0, f64::from(3.0_f32 * 0.25 + 0.1)]));
    assert_eq!((&rows[3].target, again), (&Label::Task("oak".into()), schema));
}

#[test]
fn many_pages_and_row_groups_are_read_through() {
    let (rows, _) = read("many_pages", &columns("", "y"), None).unwrap();
    assert_eq!(rows.len(), 3000);
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row.x, bits(&[(i % 700) as f64 * 0.5]));
        assert_eq!(row.target, number("y", (i / 11) as f64));
    }
}

#[test]
fn the_index_of_pandas_is_left_out_unless_it_is_named() {
    let (rows, schema) = read("pandas_index", &columns("", "y"), None).unwrap();
    assert_eq!((rows[1].x.clone(), schema.n_features), (bits(&[2.0]), 1));
    let (rows, _) = read("pandas_index", &columns("__index_level_0__", "y"), None).unwrap();
    assert_eq!(rows[1].target, number("b", 4.0));
}

#[test]
fn what_cannot_be_used_says_why() {
    let feature =
        |name: &str| message("odd", &ColumnRoles { features: Some(names(&[name])), ..columns("", "y") });
    let nested = "it cannot be used: it is nested (a map, a struct, or a list of something else than numbers); leave \
                  the column out";
    let ragged = "a list has the length 1, and the first one has 2; leave the column out";
    assert_eq!(feature("list"), format!("odd.parquet: row 2, column \"list_0\": {ragged}"));
    assert_eq!(feature("struct"), format!("odd.parquet: column \"struct\": {nested}"));
    assert!(feature("bytes").starts_with("odd.parquet: row 1, column \"bytes\": \"\\xff\" is not UTF-8"));
    assert!(feature("nothing").contains("no column left to learn from"), "{}", feature("nothing"));
    assert!(
        feature("inf").starts_with("odd.parquet: row 2, column \"inf\": \"inf\" is not a finite number"),
        "{}",
        feature("inf")
    );
    let x = || Some(names(&["x"]));
    assert_eq!(
        message("odd", &ColumnRoles { features: x(), ..columns("hole", "y") }),
        "odd.parquet: row 2, column \"hole\": the cell is empty, and every row needs a task; fill it in or delete the \
         row"
    );
    assert_eq!(
        message("odd", &ColumnRoles { features: x(), ..columns("bytes", "y") }),
        "odd.parquet: row 1, column \"bytes\": \"\\xff\" is not UTF-8; save the file as UTF-8"
    );
    let several = ColumnRoles { features: Some(names(&["x", "list", "inf"])), ..columns("", "y") };
    let path = fixture("odd");
    let error = kinfolk_io::read(&path, &several, None).unwrap_err().to_string();
    assert_eq!(error.lines().count(), 2, "{error}");
    assert!(
        error.contains("\"list_0\": a list has the length 1") && error.contains("\"inf\" is not a finite"),
        "{error}"
    );
    assert_eq!(message("empty", &columns("", "y")), "empty.parquet: there are no rows");
}

#[test]
fn broken_files_say_so_wherever_they_are_cut_or_changed() {
    let chosen = ColumnRoles { drop: names(&["z"]), one_hot: names(&["flag"]), ..columns("kind", "i8") };
    for name in ["polars_zstd", "arrow_delta", "pandas_lz4", "arrow_plain"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        let read = |bytes: &[u8]| {
            let mut source = kinfolk_io::open_bytes(Path::new("a.parquet"), bytes, &chosen, None)?;
            all_rows(&mut *source, 5).map(|_| ())
        };
        read(&bytes).unwrap();
        for end in (0..bytes.len()).step_by(7) {
            assert!(one_line(read(&bytes[..end])).starts_with("a.parquet: "));
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= [0x01, 0x80, 0xff][at % 3];
            // Some changes cannot be noticed: all that is asked for is an answer.
            if let Err(error) = read(&changed) {
                assert!(!error.to_string().contains('\n'));
            }
        }
    }
}

/// Found by a fuzzer: the header of a page claims 161,532,287 numbers, and the crate goes through all of them.
#[test]
fn a_list_in_a_header_does_not_claim_more_than_there_is() {
    let chosen = ColumnRoles { target: names(&["kind"]), drop: names(&["z"]), ..ColumnRoles::default() };
    let bytes = std::fs::read(fixture("hostile_list")).unwrap();
    for read in [
        kinfolk_io::read(&fixture("hostile_list"), &chosen, None),
        kinfolk_io::read_bytes(Path::new("a.parquet"), &bytes, &chosen, None),
    ] {
        let message = one_line(read.map(|_| ()));
        assert!(message.contains("a page is corrupt: "), "{message}");
    }
}

#[test]
fn files_that_are_something_else_say_so() {
    let read = |bytes: &[u8]| kinfolk_io::open_bytes(Path::new("a.parquet"), bytes, &columns("", "y"), None);
    for bytes in [&b""[..], b"PAR1", b"PAR1PAR1", b"a,y\n1,2\n", &[0; 100]] {
        let message = one_line(read(bytes).map(|_| ()));
        assert!(message.starts_with("a.parquet: it is not a whole parquet file: "), "{message}");
    }
}
