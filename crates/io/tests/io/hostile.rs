//! Files that are wrong, broken or malicious: each gives one line that says where and what, at once and in
//! little memory.

use crate::common::{f64s, i64s, npy, npz, read_named, words};
use kinfolk_io::{ColumnRoles, Schema, Storage};

fn npz_error(arrays: &[(&str, Vec<u8>)]) -> String {
    error(npz(arrays), "a.npz")
}

fn svm_error(text: &str) -> String {
    error(text.as_bytes().to_vec(), "a.svm")
}

fn error(bytes: Vec<u8>, format: &str) -> String {
    let error =
        read_named(bytes, format, &ColumnRoles::default(), None).expect_err("it cannot be read").to_string();
    assert!(!error.contains('\n'), "{error}");
    error
}

fn x() -> Vec<u8> {
    f64s(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "(3, 2)")
}

#[test]
fn an_npz_file_that_lacks_something_says_what_it_has() {
    assert_eq!(npz_error(&[("y", f64s(&[1.0], "(1,)"))]), "there is no array X, but the arrays y");
    assert_eq!(npz_error(&[]), "there is no array X, but no arrays");
    assert_eq!(npz_error(&[("X", x()), ("K", x())]), "there are both X and K; leave one of them out");
    assert_eq!(
        npz_error(&[("X", x()), ("y", f64s(&[1.0; 3], "(3,)")), ("label", i64s(&[0; 3], "(3,)"))]),
        "there are several arrays to learn (label, y); name one as the target"
    );
    let columns = ColumnRoles { target: vec!["z".into()], ..ColumnRoles::default() };
    let error = read_named(npz(&[("X", x())]), "a.npz", &columns, None).unwrap_err();
    assert_eq!(error.to_string(), "there is no array \"z\", but the arrays X");
}

#[test]
fn wrong_shapes_are_said() {
    assert_eq!(
        npz_error(&[("X", f64s(&[1.0, 2.0], "(2,)"))]),
        "column \"X\": it has shape (2,); expected two dimensions, rows and columns"
    );
    assert_eq!(npz_error(&[("X", f64s(&[], "(0, 3)"))]), "column \"X\": it is empty: its shape is (0, 3)");
    assert_eq!(
        npz_error(&[("X", f64s(&[], "(1000000000000, 0)"))]),
        "column \"X\": it is empty: its shape is (1000000000000, 0)"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("y", f64s(&[1.0, 2.0], "(2,)"))]),
        "column \"y\": it has shape (2,); expected (3,), one item for each row of the inputs"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("Y", f64s(&[1.0, 2.0], "(1, 2)"))]),
        "column \"Y\": it has shape (1, 2); expected 3 rows and a column for each task"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("Y", f64s(&[1.0; 6], "(3, 2)")), ("task_names", words(&["a"]))]),
        "column \"task_names\": 1 names for the 2 columns of Y"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("feature_names", words(&["a", "b", "c"]))]),
        "column \"feature_names\": 3 names for the 2 columns of X"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("feature_names", words(&["a", "a"]))]),
        "column \"feature_names\": the name \"a\" is given twice, at 0 and 1"
    );
}

#[test]
fn wrong_values_are_shown_with_their_row() {
    let bad = f64s(&[1.0, 2.0, 3.0, f64::NAN, 5.0, f64::INFINITY], "(3, 2)");
    assert_eq!(npz_error(&[("X", bad.clone())]), "row 2, column \"1\": NaN is not a finite number");
    assert_eq!(
        npz_error(&[("X", bad), ("feature_names", words(&["age", "size"]))]),
        "row 2, column \"size\": NaN is not a finite number"
    );
    let y = || ("y", f64s(&[1.0; 3], "(3,)"));
    let task = |values: &[i64]| ("task", i64s(values, "(3,)"));
    assert_eq!(
        npz_error(&[("X", x()), y(), task(&[0, 5, 1]), ("task_names", words(&["a", "b"]))]),
        "row 2, column \"task\": 5 is no position in a list of 2 names"
    );
    assert_eq!(
        npz_error(&[("X", x()), y(), ("task", f64s(&[0.0, 1.0, 1.5], "(3,)"))]),
        "row 3, column \"task\": 1.5 is not an integer"
    );
    assert_eq!(
        npz_error(&[("X", x()), y(), ("task", words(&["a", "b", "c"])), ("task_names", words(&["b", "a"]))]),
        "row 3, column \"task\": \"c\" is not among the names"
    );
    assert_eq!(
        npz_error(&[("X", x()), y(), task(&[0, 1, 1]), ("task_names", words(&["a", "a"]))]),
        "column \"task\": the name \"a\" is given twice, at 0 and 1"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("weight", f64s(&[1.0, -2.0, 1.0], "(3,)"))]),
        "row 2, column \"weight\": -2 is not a finite number of at least 0"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("offset", f64s(&[1.0, 2.0, f64::NAN], "(3,)"))]),
        "row 3, column \"offset\": NaN is not a finite number, and every row needs an offset"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("split", words(&["train", "exam", "test"]))]),
        "row 2, column \"split\": \"exam\" is not a part; give 0 or train, 1 or test, 2 or validation, \
         or another integer"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("label", npy("'<u8'", false, "(3,)", &[255; 24]))]),
        "column \"label\": 18446744073709551615 is beyond the range of integers"
    );
}

#[test]
fn types_that_are_not_numbers_are_refused() {
    assert_eq!(
        npz_error(&[("X", npy("'<U1'", false, "(1, 1)", &[65, 0, 0, 0]))]),
        "column \"X\": it holds strings; expected numbers"
    );
    let pickled = npz_error(&[("X", npy("'|O'", false, "(1, 1)", b"\x80\x04."))]);
    assert_eq!(
        pickled,
        "column \"X\": arrays of type \"|O\" are not read: \
         objects are pickled and could run code; save numbers or strings"
    );
    assert_eq!(
        npz_error(&[("X", npy("[('a', '<f8')]", false, "(1, 1)", &[0; 8]))]),
        "column \"X\": structured arrays are not read; save one array per column"
    );
    assert_eq!(
        npz_error(&[("X", x()), ("weight", words(&["a", "b", "c"]))]),
        "column \"weight\": it holds strings; expected numbers"
    );
}

#[test]
fn a_claim_of_many_rows_allocates_nothing() {
    let huge = npy("'<f8'", false, "(4000000000, 1000)", &[0; 800]);
    assert_eq!(npz_error(&[("X", huge.clone())]), "column \"X\": it ends too early: the file is truncated");
    assert_eq!(error(huge, "a.npy"), "it ends too early: the file is truncated");
    let by_columns = npy("'<f8'", true, "(4000000000, 1000)", &[0; 800]);
    assert_eq!(error(by_columns, "a.npy"), "it ends too early: the file is truncated");
    let wide = npy("'<f8'", false, "(2, 2000000000)", &[0; 800]);
    assert_eq!(error(wide, "a.npy"), "it ends too early: the file is truncated");
    let most = error(npy("'<f8'", false, "(9000000000000000000, 9)", &[0; 800]), "a.npy");
    assert!(most.contains("is too large"), "{most}");
    let claimed = npy("'<f8'", false, "(4000000000, 1)", &[0; 8]);
    let labels = npy("'<U9'", false, "(4000000000,)", &[65, 0, 0, 0]);
    assert_eq!(
        npz_error(&[("X", claimed), ("y", labels)]),
        "column \"y\": it ends too early: the file is truncated"
    );
}

#[test]
fn a_truncated_or_damaged_npz_file_is_noticed() {
    let whole = npz(&[("X", x()), ("y", f64s(&[1.0, 2.0, 3.0], "(3,)"))]);
    for length in [0, 3, 30, whole.len() / 2, whole.len() - 1] {
        let error = error(whole[..length].to_vec(), "a.npz");
        assert!(error.starts_with("it is not a whole zip archive"), "{length}: {error}");
    }
    let zip_of_nothing = error(b"not an archive at all".to_vec(), "a.npz");
    assert!(zip_of_nothing.starts_with("it is not a whole zip archive"));
    let mut damaged = 0;
    for byte in 40..whole.len() - 60 {
        let mut bytes = whole.clone();
        bytes[byte] ^= 0x10;
        damaged += usize::from(read_named(bytes, "a.npz", &ColumnRoles::default(), None).is_err());
    }
    assert!(damaged > (whole.len() - 100) / 2, "{damaged} of {}", whole.len() - 100);
}

#[test]
fn a_zip_bomb_is_defused() {
    // 300 MB of zeros in 300 kB: far more than 250 times its size.
    let mut data = npy("'|u1'", false, "(3000000, 100)", &[]);
    data.resize(data.len() + 300_000_000, 0);
    let bomb = npz(&[("X", data)]);
    assert!(bomb.len() < 1_000_000);
    let wanted = "column \"X\": it unpacks to over 256 MiB and 250 times its size, as zip bombs do; \
                  save it uncompressed if that is meant";
    assert_eq!(error(bomb, "a.npz"), wanted);
}

#[test]
fn an_array_nobody_asks_for_may_be_anything() {
    let bytes = npz(&[("X", x()), ("secret", b"\x93NUMPYnonsense".to_vec())]);
    assert!(read_named(bytes, "a.npz", &ColumnRoles::default(), None).is_ok());
}

#[test]
fn data_beyond_the_shape_is_not_overlooked() {
    let error = error(f64s(&[1.0, 2.0, 3.0], "(1, 2)"), "a.npy");
    assert_eq!(error, "there is more data than shape (1, 2) takes");
}

#[test]
fn a_gram_matrix_is_checked() {
    assert_eq!(
        npz_error(&[("K", f64s(&[1.0; 6], "(3, 2)"))]),
        "column \"K\": it has 3 rows and 2 columns; for fitting it must have as many columns as rows"
    );
    let error = npz_error(&[("K", f64s(&[1.0, 3.0, 3.0, 1.0], "(2, 2)"))]);
    assert!(error.starts_with("column \"K\": Gram matrix is not positive semidefinite"), "{error}");
}

#[test]
fn svm_errors_name_line_token_and_value() {
    for (text, wanted) in [
        ("1 1:1\n1 3:1 2:1\n", "line 2, column \"2:1\": index 2 comes after index 3; they must increase"),
        ("# c\n\n1 4:4 4:4\n", "line 3, column \"4:4\": index 4 is given twice"),
        ("1 1:one\n", "line 1, column \"1:one\": \"one\" is not a number"),
        ("1 1:inf\n", "line 1, column \"1:inf\": \"inf\" is inf, not a finite number"),
        ("x 1:1\n", "line 1, column \"label\": \"x\" is not a number"),
        ("nan 1:1\n", "line 1, column \"label\": \"nan\" is NaN, not a finite number"),
        ("1 qid:1 1:1\n1 1:1\n", "line 2, column \"qid\": the row has no task, and the rows before do"),
        ("1 1:1\n1 qid:1 1:1\n", "line 2, column \"qid\": the row has a task, and the rows before do not"),
        ("", "there are no rows"),
        ("# nothing\n", "there are no rows"),
        ("1\n-1\n", "no row has a feature"),
    ] {
        assert_eq!(svm_error(text), wanted);
    }
    assert_eq!(error(b"1 1:\xff\n".to_vec(), "a.svm"), "line 1: byte 4 of the line is not text (UTF-8)");
}

#[test]
fn a_false_svm_preamble_is_refused() {
    for (json, wanted) in [
        ("{", "EOF"),
        ("{\"n_features\":0,\"targets\":\"none\"}", "n_features is 0"),
        ("{\"n_features\":3000000000,\"targets\":\"none\"}", "expected 1 to 2^31"),
        ("{\"n_features\":1,\"targets\":{\"wide\":{\"numbered\":1000000000000}}}", "expected a list"),
        ("{\"n_features\":1,\"targets\":{\"classes\":{\"strings\":[\"a\",\"a\"]}}}", "given twice"),
        ("{\"n_features\":1,\"targets\":{\"classes\":{\"strings\":[]}}}", "is empty"),
        ("{\"n_features\":2,\"feature_names\":[\"a\"],\"targets\":\"none\"}", "as many feature_names"),
    ] {
        let error = svm_error(&format!("# kinfolk {json}\n0 1:1\n"));
        assert!(error.starts_with("line 1: ") && error.contains(wanted), "{error}");
    }
    let classes = "# kinfolk {\"n_features\":1,\"targets\":{\"classes\":{\"strings\":[\"a\"]}}}\n7 1:1\n";
    assert_eq!(svm_error(classes), "line 2, column \"label\": \"7\" is no position in a list of 1 names");
    let wide =
        "# kinfolk {\"n_features\":1,\"targets\":{\"wide\":{\"strings\":[\"a\",\"b\"]}}}\n1,nan,2 1:1\n";
    assert_eq!(svm_error(wide), "line 2, column \"label\": 3 labels for 2 tasks");
}

#[test]
fn one_huge_index_costs_no_memory() {
    let (table, schema) =
        read_named(b"1 2147483648:1\n".to_vec(), "a.svm", &ColumnRoles::default(), None).unwrap();
    assert_eq!((table.inputs.n_features(), schema.storage), (1 << 31, Storage::Sparse));
    let columns = ColumnRoles { dense: true, ..ColumnRoles::default() };
    let error = read_named(b"1 2147483648:1\n".to_vec(), "a.svm", &columns, None).unwrap_err().to_string();
    assert!(error.contains("almost all of them zero"), "{error}");
}

#[test]
fn a_file_that_does_not_fit_the_model_is_refused() {
    let schema = Schema::new(ColumnRoles::default(), None, 3);
    let with = |bytes: Vec<u8>, format, schema: &Schema| {
        read_named(bytes, format, &ColumnRoles::default(), Some(schema)).err().unwrap().to_string()
    };
    assert_eq!(with(npz(&[("X", x())]), "a.npz", &schema), "there are 2 features; the model was fitted on 3");
    assert_eq!(with(x(), "a.npy", &schema), "there are 2 features; the model was fitted on 3");
    assert_eq!(
        with(b"1 4:1\n".to_vec(), "a.svm", &schema),
        "line 1, column \"4:1\": index 4 is beyond the 3 features known"
    );
    let kernel = Schema { storage: Storage::Kernel, ..schema };
    assert_eq!(
        with(npz(&[("X", x())]), "a.npz", &kernel),
        "there is no array K, but the arrays X; the model was fitted on kernel values"
    );
    assert_eq!(
        with(npz(&[("K", x())]), "a.npz", &kernel),
        "there are 2 kernel values per row; the model was fitted on 3"
    );
    let named = |names: [&str; 2]| npz(&[("X", x()), ("feature_names", words(&names))]);
    let (_, schema) = read_named(named(["a", "b"]), "a.npz", &ColumnRoles::default(), None).unwrap();
    assert_eq!(
        with(named(["a", "c"]), "a.npz", &schema),
        "feature 1 is called \"c\"; the model was fitted on \"b\""
    );
}
