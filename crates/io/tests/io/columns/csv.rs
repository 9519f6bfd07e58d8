//! Csv files as people have them.

use super::common::*;
use flate2::{Compression, write::GzEncoder};
use kinfolk_io::{ColumnRoles, Feature, LabelEncoding};
use std::io::Write;

const TREES: &str = "kind,height,old,y\noak,3.5,true,1\nelm,-2e1,False,0.25\noak,0,TRUE,-3\n";

fn x(values: &[f64]) -> Vec<u64> {
    bits(values)
}

#[test]
fn tasks_are_words_and_labels_numbers() {
    let (rows, schema) = read(TREES, &columns("kind", "y")).unwrap();
    let target: Vec<Label> = rows.iter().map(|row| row.target.clone()).collect();
    assert_eq!(target, [number("oak", 1.0), number("elm", 0.25), number("oak", -3.0)]);
    assert_eq!(rows[1].x, x(&[-20.0, 0.0]));
    assert_eq!(schema.features, Some(vec![Feature::Number("height".into()), Feature::Number("old".into())]));
    assert_eq!((schema.n_features, schema.columns), (2, columns("kind", "y")));
}

#[test]
fn tasks_that_are_integers_come_in_the_order_of_numbers() {
    let mut source = open("t,a,y\n10,1,1\n9,2,2\n", &columns("t", "y"), None).unwrap();
    let table = source.next_chunk(9).unwrap().unwrap();
    let kinfolk_io::Targets::Tasks { task, .. } = table.targets else { panic!() };
    assert_eq!((task.names, task.index), (kinfolk::TaskNames::Integers(vec![9, 10]), vec![1, 0]));
    assert!(source.next_chunk(9).unwrap().is_none());
    assert!(source.next_chunk(9).unwrap().is_none());
}

#[test]
fn one_column_of_numbers_is_one_task_named_after_it() {
    let (rows, _) = read("a,yield\n1,2\n3,4\n", &columns("", "yield")).unwrap();
    assert_eq!(rows[1].target, number("yield", 4.0));
}

#[test]
fn words_without_tasks_are_classes_and_numbers_if_one_says_so() {
    let (rows, _) = read("a,b\n1,cat\n2,7\n", &columns("", "b")).unwrap();
    assert_eq!((&rows[0].target, &rows[1].target), (&Label::Class("cat".into()), &Label::Class("7".into())));
    let classes = ColumnRoles { classes: true, ..columns("", "b") };
    let (rows, _) = read("a,b\n1,3\n2,7\n", &classes).unwrap();
    assert_eq!(rows[1].target, Label::Class("7".into()));
}

#[test]
fn words_with_tasks_are_labels() {
    let (rows, _) = read("t,a,b\nu,1,yes\nv,2,no\n", &columns("t", "b")).unwrap();
    assert_eq!(rows[0].target, word("u", "yes"));
}

#[test]
fn several_targets_are_tasks_and_may_be_missing() {
    let text = "y1,a,y2\n1,5,\nNA,6,2\nnan,7,n/a\n-1,8,<NA>\nNULL,9,None\n";
    let (rows, _) = read(text, &columns("", "y2,y1")).unwrap();
    let wide = |values: [f64; 2]| Label::Wide(names(&["y2", "y1"]), bits(&values));
    let nan = f64::NAN;
    let expected =
        [wide([nan, 1.0]), wide([2.0, nan]), wide([nan, nan]), wide([nan, -1.0]), wide([nan, nan])];
    assert_eq!(rows.iter().map(|row| row.target.clone()).collect::<Vec<_>>(), expected);
}

#[test]
fn weights_offsets_and_parts_are_taken_along() {
    let some = |name: &str| Some(name.to_string());
    let chosen =
        ColumnRoles { weight: some("w"), offset: some("o"), split: some("part"), ..columns("", "y") };
    let text = "w,a,y,o,part\n2,1,1,0,train\n0.5,1,1,-2,Test\n0,1,1,0,val\n1,1,1,1e3,7\n";
    let (rows, schema) = read(text, &chosen).unwrap();
    assert_eq!(rows[1].offset, Some((-2.0_f64).to_bits()));
    // For prediction the column is found by its name; without it there are no offsets.
    assert_eq!(read_as(text, &ColumnRoles::default(), Some(&schema)).unwrap().0[3].offset, rows[3].offset);
    let bare = read_as("a\n1\n", &ColumnRoles::default(), Some(&schema)).unwrap().0;
    assert_eq!(bare[0].offset, None);
    assert_eq!(rows.iter().map(|row| row.split).collect::<Vec<_>>(), [Some(0), Some(1), Some(2), Some(7)]);
    assert_eq!(rows[1].weight, Some(0.5_f64.to_bits()));
    assert_eq!(schema.n_features, 1);
}

#[test]
fn features_may_be_chosen_and_others_dropped() {
    let text = "a,b,c,y\n1,2,x,4\n";
    let chosen = ColumnRoles { features: Some(names(&["b", "a"])), ..columns("", "y") };
    assert_eq!(read(text, &chosen).unwrap().0[0].x, x(&[2.0, 1.0]));
    let dropped = ColumnRoles { drop: names(&["c"]), ..columns("", "y") };
    assert_eq!(read(text, &dropped).unwrap().0[0].x, x(&[1.0, 2.0]));
}

/// Fuzzing found that this panicked.
#[test]
fn a_one_hot_column_without_values_has_no_feature() {
    let one_hot = ColumnRoles { one_hot: names(&["kind"]), ..columns("", "y") };
    let (rows, schema) = read("kind,a,y\n,1,2\n,2,3\n,3,5\n", &one_hot).unwrap();
    assert_eq!((rows[2].x.clone(), schema.n_features), (x(&[3.0]), 1));
    assert_eq!(schema.left_out[0].column, "kind");
    let error = read("kind,y\n,1\n,2\n", &one_hot).unwrap_err().to_string();
    let why = "there is no column left to learn from; \"kind\" is left out: it has no values";
    assert!(error.contains(why), "{error}");
}

#[test]
fn words_become_one_feature_each() {
    let text = "a,city,y\n1,Rome,1\n2,Bari,2\n3,Rome,3\n";
    let one_hot = ColumnRoles { one_hot: names(&["city"]), ..columns("", "y") };
    let (rows, schema) = read(text, &one_hot).unwrap();
    assert_eq!(rows[0].x, x(&[1.0, 0.0, 1.0]));
    assert_eq!(rows[1].x, x(&[2.0, 1.0, 0.0]));
    let values = names(&["Bari", "Rome"]);
    let expected = vec![
        Feature::Number("a".into()),
        Feature::OneHot {
            column: "city".into(),
            values,
            other: false,
            missing: false,
            filled: false,
            no: None,
            fill: None,
        },
    ];
    assert_eq!((schema.features.as_ref(), schema.n_features), (Some(&expected), 3));
    // At prediction the order of columns does not matter, nor which values happen to be there.
    let (rows, again) = read_as("city,zzz,a\nRome,?,7\n", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!((&rows[0].x, &rows[0].target), (&x(&[7.0, 0.0, 1.0]), &Label::None));
    assert_eq!(again, schema);
    // A value that was not there in training has no feature, and that is said.
    let mut source = open("city,a\nRome,1\nOslo,7\n", &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!(all_rows(&mut *source, 9).unwrap()[1].x, x(&[7.0, 0.0, 0.0]));
    assert_eq!(
        source.remarks(),
        ["column \"city\": 1 row has a value that was not there in training, such as \"Oslo\""]
    );
}

#[test]
fn many_words_make_sparse_inputs() {
    let mut text = "a,id,y\n".to_string();
    (0..40).for_each(|i| text += &format!("{},n{i:02},1\n", i % 2));
    let one_hot = ColumnRoles { one_hot: names(&["id"]), ..columns("", "y") };
    let table = open(&text, &one_hot, None).unwrap().next_chunk(100).unwrap().unwrap();
    assert_eq!((table.inputs.kind(), table.inputs.n_features()), ("sparse", 41));
    let (rows, _) = read(&text, &one_hot).unwrap();
    let mut expected = vec![0.0; 41];
    (expected[0], expected[8]) = (1.0, 1.0);
    assert_eq!(rows[7].x, x(&expected));
}

#[test]
fn at_prediction_task_and_target_may_be_absent() {
    let schema = read(TREES, &columns("kind", "y")).unwrap().1;
    let target =
        |text: &str| read_as(text, &ColumnRoles::default(), Some(&schema)).unwrap().0[0].target.clone();
    assert_eq!(target("old,height\n1,2\n"), Label::None);
    assert_eq!(target("old,height,kind\n1,2,fir\n"), Label::Task("fir".into()));
    assert_eq!(target("old,y,height,kind\n1,5,2,fir\n"), number("fir", 5.0));
    // A label that is not there does not matter to who predicts, and a label without its task is of no use.
    assert_eq!(target("old,y,height,kind\n1,,2,fir\n"), number("fir", f64::NAN));
    assert_eq!(target("old,y,height\n1,5,2\n"), Label::None);
    // The caller may call them otherwise.
    let (rows, _) = read_as("old,z,height,who\n1,5,2,fir\n", &columns("who", "z"), Some(&schema)).unwrap();
    assert_eq!(rows[0].target, number("fir", 5.0));
}

#[test]
fn at_prediction_the_recipe_says_what_labels_are() {
    let mut schema = read("a,y\n1,cat\n", &columns("", "y")).unwrap().1;
    schema.label_encoding = LabelEncoding::Classes;
    let label = |text: &str, schema: &kinfolk_io::Schema| {
        read_as(text, &ColumnRoles::default(), Some(schema)).unwrap().0[0].target.clone()
    };
    assert_eq!(label("y,a\n7,1\n", &schema), Label::Class("7".into()));
    let mut schema = read("t,a,y\nu,1,no\nu,1,yes\n", &columns("t", "y")).unwrap().1;
    schema.label_encoding = LabelEncoding::Binary { negative: "no".into(), positive: "yes".into() };
    assert_eq!(label("y,a,t\nyes,1,u\n", &schema), word("u", "yes"));
    schema.label_encoding = LabelEncoding::Binary { negative: "0".into(), positive: "1".into() };
    assert_eq!(label("y,a,t\n1,1,u\n", &schema), number("u", 1.0));
}

#[test]
fn features_without_names_are_all_that_is_left() {
    let schema = kinfolk_io::Schema::new(ColumnRoles::default(), None, 2);
    let (rows, _) = read_as("t,b,a\nu,1,2\n", &columns("t", ""), Some(&schema)).unwrap();
    assert_eq!((&rows[0].x, &rows[0].target), (&x(&[1.0, 2.0]), &Label::Task("u".into())));
    let message = one_line(read_as("t,b,a\nu,1,2\n", &ColumnRoles::default(), Some(&schema)).map(|_| ()));
    assert_eq!(
        message,
        "a.csv: the model has 2 features without names, and 3 columns are left for them here: \"t\", \"b\", \"a\"; \
         check the columns given as column to keep"
    );
}

#[test]
fn line_ends_quotes_marks_and_delimiters_do_not_matter() {
    let plain = read("t,a,y\nu,1,2\nv,3,4\n", &columns("t", "y")).unwrap();
    for text in [
        "t,a,y\r\nu,1,2\r\nv,3,4",
        "t,a,y\ru,1,2\rv,3,4\r",
        "\u{feff}t,a,y\nu,1,2\nv,3,4\n",
        "\n\r\nt,a,y\n\n\nu,1,2\n\n\n\nv,3,4\n\n",
        "\"t\",\"a\",\"y\"\n\"u\",\"1\",\"2\"\n\"v\",3, 4\n",
        "t;a;y\nu;1;2\nv;3;4\n",
        "t\ta\ty\nu\t1\t2\nv\t3\t4\n",
    ] {
        assert_eq!(read(text, &columns("t", "y")).unwrap(), plain, "{text:?}");
    }
    let quoted = "\"a \"\"b\"\"\nc,;\t\",y\n1,2\n";
    let (_, schema) = read(quoted, &columns("", "y")).unwrap();
    assert_eq!(schema.features, Some(vec![Feature::Number("a \"b\"\nc,;".into())]));
}

#[test]
fn compressed_files_of_several_members_are_read_to_the_end() {
    let member = |text: &str| {
        let mut gz = GzEncoder::new(vec![], Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        gz.finish().unwrap()
    };
    let bytes = [member("t,a,y\nu,1,"), member("2\nv,3,4\n")].concat();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv.gz");
    std::fs::write(&path, &bytes).unwrap();
    let mut source = kinfolk_io::open(&path, &columns("t", "y"), None).unwrap();
    assert_eq!(
        all_rows(&mut *source, 1).unwrap(),
        read("t,a,y\nu,1,2\nv,3,4\n", &columns("t", "y")).unwrap().0
    );

    std::fs::write(&path, &bytes[..bytes.len() - 5]).unwrap();
    let cut = kinfolk_io::open(&path, &columns("t", "y"), None).map(|_| ());
    assert!(one_line(cut).ends_with("the file ends early; it was cut off"));
}

/// Found by a fuzzer: 110,407 line ends in 24 bytes of zstd took a second and a half. Four million would not end.
#[test]
fn many_empty_lines_are_passed_once() {
    let text = ["\n".repeat(1 << 22), TREES.into()].concat();
    let (rows, _) = read(&text, &columns("kind", "y")).unwrap();
    assert_eq!(rows, read(TREES, &columns("kind", "y")).unwrap().0);
}
