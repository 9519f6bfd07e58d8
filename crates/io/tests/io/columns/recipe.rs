//! What columns of words, dates and gaps become, and that new rows become the same.

use super::common::*;
use kinfolk_io::{ColumnRoles, DateOrder, DatePart, Decimal, Feature, Missing, Schema};

fn y() -> ColumnRoles {
    columns("", "y")
}

fn x(row: &Row) -> Vec<f64> {
    row.x.iter().map(|bits| f64::from_bits(*bits)).collect()
}

/// Features of new rows.
fn again(text: &str, schema: &Schema) -> Vec<Vec<f64>> {
    let rows = read_as(text, &ColumnRoles::default(), Some(schema)).unwrap().0;
    rows.iter().map(x).collect()
}

#[test]
fn gaps_become_the_mean_and_a_feature_says_where() {
    let text = "a,b,y\n1,2,1\n,4,1\n5,NA,1\n".to_string() + &",NA,1\n".repeat(4);
    let (rows, schema) = read(&text, &y()).unwrap();
    assert_eq!(
        rows.iter().take(3).map(x).collect::<Vec<_>>(),
        [[1.0, 0.0, 2.0, 0.0], [3.0, 1.0, 4.0, 0.0], [5.0, 0.0, 3.0, 1.0]]
    );
    assert_eq!(schema.feature_names().unwrap(), names(&["a", "a=(missing)", "b", "b=(missing)"]));
    assert_eq!(again("b,a,c\n,,1\n", &schema), [[3.0, 1.0, 3.0, 1.0]]);
    let with = |missing| ColumnRoles { missing, ..y() };
    let text = "a,y\n1,1\n,1\n2,1\n9,1\n".to_string() + &",1\n".repeat(4);
    let (rows, schema) = read(&text, &with(Missing::Median)).unwrap();
    assert_eq!(x(&rows[1]), [2.0, 1.0]);
    assert!(schema.notes()[0].ends_with("filled in with the median, and a feature says where (--missing)"));
    assert_eq!(x(&read(&text, &with(Missing::Zero)).unwrap().0[1]), [0.0, 1.0]);
}

/// 200 rows; a column lacks every so-manieth value.
fn with_gaps(every: &[usize]) -> String {
    let names: String = (0..every.len()).map(|j| format!("x{j},")).collect();
    let cell = |i: usize, n: usize| if i % n == 1 { ",".to_string() } else { format!("{},", i % 7) };
    let row = |i: usize| every.iter().map(|n| cell(i, *n)).collect::<String>() + "1\n";
    names + "y\n" + &(0..200).map(row).collect::<String>()
}

#[test]
fn few_gaps_are_filled_in_and_the_same_gaps_have_one_feature() {
    let (rows, schema) = read(with_gaps(&[50, 20, 20, 10]), &y()).unwrap();
    assert_eq!(
        schema.feature_names().unwrap(),
        names(&["x0", "x1", "x1=(missing)", "x2", "x3", "x3=(missing)"])
    );
    assert_eq!(x(&rows[1])[2..], [1.0, x(&rows[1])[3], x(&rows[1])[4], 1.0]);
    assert_eq!(
        schema.notes(),
        [
            "the same as another column, which then counts twice (--drop): \"x2\" = \"x1\"",
            "missing values: \"x0\" (4 rows), \"x1\" (10 rows), \"x2\" (10 rows), \"x3\" (20 rows); filled in with the \
          mean, and 2 features say where: for columns that lack at least 5 %, and one for columns that lack the same \
          rows (--missing)"
        ]
    );
    // New rows may lack any of them, also words and dates of which few were missing.
    assert_eq!(again("x0,x1,x2,x3,z\n,,,,1\n", &schema)[0][2..4], [1.0, x(&rows[1])[3]]);
    let text = "c,d,y\nu,1970-01-03,1\n,,1\nv,1970-01-05,1\n";
    let (rows, schema) = read(text, &y()).unwrap();
    assert_eq!(schema.feature_names().unwrap(), names(&["c=u", "c=v", "d"]));
    assert_eq!(x(&rows[1]), [0.0, 0.0, 3.0]);
    assert_eq!(again("c,d,z\n,,1\n", &schema), [[0.0, 0.0, 3.0]]);
    assert_eq!(
        schema.notes()[2..],
        [
            "missing values: \"d\"; filled in with the mean (--missing)",
            "missing words have none of the features of their column: \"c\""
        ]
    );
}

#[test]
fn rows_with_gaps_may_be_left_out() {
    let drop = ColumnRoles { missing: Missing::Drop, ..y() };
    let text = "a,b,y\n1,2,1\n,4,2\n5,,3\n6,7,4\n";
    let (rows, schema) = read(text, &drop).unwrap();
    assert_eq!(rows.iter().map(x).collect::<Vec<_>>(), [[1.0, 2.0], [6.0, 7.0]]);
    let mut source = open(text, &ColumnRoles::default(), Some(&schema)).unwrap();
    assert_eq!((all_rows(&mut *source, 1).unwrap().len(), source.dropped_rows()), (2, 2));
}

#[test]
fn words_become_features_and_rare_ones_share_one() {
    let text = "c,y\nred,1\nblue,1\nred,1\n,1\ngreen,1\nred,1\nblue,1\n".to_string() + &",1\n".repeat(4);
    let (rows, schema) = read(&text, &ColumnRoles { max_levels: Some(1), ..y() }).unwrap();
    assert_eq!(schema.feature_names().unwrap(), names(&["c=red", "c=(other)", "c=(missing)"]));
    assert_eq!((x(&rows[1]), x(&rows[3])), (vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]));
    assert_eq!(again("c\npink\n", &schema), [[0.0, 1.0, 0.0]]);
    let (_, schema) = read(&text, &y()).unwrap();
    assert_eq!(schema.feature_names().unwrap(), names(&["c=blue", "c=green", "c=red", "c=(missing)"]));
    assert_eq!(again("c\npink\n", &schema), [[0.0; 4]]);
}

#[test]
fn identifiers_and_columns_without_a_name_or_values_are_left_out() {
    let mut text = String::from(",id,empty,a,y\n");
    (0..20).for_each(|i| text += &format!("{i},P-{i},,{},1\n", i % 3));
    let (rows, schema) = read(&text, &y()).unwrap();
    assert_eq!(x(&rows[5]), [2.0]);
    let left_out: Vec<&str> = schema.left_out.iter().map(|column| column.column.as_str()).collect();
    assert_eq!(left_out, ["(column 1)", "id", "empty"]);
}

#[test]
fn dates_become_days_and_parts() {
    let parts = ColumnRoles { date_parts: vec![DatePart::Weekday], ..y() };
    let (rows, schema) = read("d,y\n1970-01-02,1\n1970-01-05 12:00,1\n,1\n", &parts).unwrap();
    let mut wanted = vec![1.0; 1];
    wanted.extend([0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    assert_eq!(x(&rows[0]), wanted);
    assert_eq!((rows[1].x[0], rows[2].x[0]), (4.5_f64.to_bits(), 2.75_f64.to_bits()));
    assert_eq!(schema.feature_names().unwrap()[1], "d.weekday=1");
    let (_, schema) = read("d,y\n25/12/2024,1\n01/02/2024,1\n", &y()).unwrap();
    let date = Feature::Date {
        column: "d".into(),
        order: DateOrder::Dmy,
        parts: vec![],
        fill: None,
        indicator: true,
        zone: false,
    };
    assert_eq!(schema.features, Some(vec![date]));
    assert_eq!(again("d\n01/02/1970\n", &schema), [[31.0]]);
    let said = one_line(read_as("d\n12/25/1970\n", &ColumnRoles::default(), Some(&schema)).map(|_| ()));
    assert_eq!(
        said,
        "a.csv: line 2, column \"d\": \"12/25/1970\" is not a date as in training, 14.3.2024 or 14/03/2024, the day \
         first; it would be one as 03/14/2024, the month first; write the dates of this column as in training"
    );
    let mdy = ColumnRoles { date_order: Some(DateOrder::Mdy), ..y() };
    assert_eq!(x(&read("d,y\n01/02/1970,1\n", &mdy).unwrap().0[0]), [1.0]);
}

#[test]
fn decimal_commas_are_found_and_kept() {
    let (rows, schema) = read("a;b;y\n1,5;1.234,5;2\n2,5;7;3,5\n", &y()).unwrap();
    assert_eq!((x(&rows[0]), rows[1].target.clone()), (vec![1.5, 1234.5], number("y", 3.5)));
    assert_eq!(schema.columns.decimal, Some(Decimal::Comma));
    assert_eq!(again("a;b\n1,234;2\n", &schema), [[1.234, 2.0]]);
    // With a point somewhere, a comma separates thousands.
    assert_eq!(x(&read("a;b;y\n1,500;1.5;2\n", &y()).unwrap().0[0]), [1500.0, 1.5]);
}

#[test]
fn only_the_rows_of_the_part_decide() {
    let part = ColumnRoles { split: Some("s".into()), part: Some(0), ..y() };
    let text = "s,a,c,y\ntrain,1,u,1\ntest,,w,1\ntrain,,v,1\ntest,100,u,1\n";
    let (_, schema) = read(text, &part).unwrap();
    assert_eq!(schema.feature_names().unwrap(), names(&["a", "c=u", "c=v"]));
    assert_eq!(again("a,c\n,u\n", &schema), [[1.0, 1.0, 0.0]]);
}

#[test]
fn names_of_tasks_may_have_zero_decimals() {
    let text = "t,a,y\n1,1,1\n1.0,2,2\n2,3,3\n";
    let mut source = open(text, &columns("t", "y"), None).unwrap();
    let rows = all_rows(&mut *source, 9).unwrap();
    assert_eq!((rows[1].target.clone(), rows[2].target.clone()), (number("1", 2.0), number("2", 3.0)));
    assert_eq!(source.remarks(), ["task \"1.0\" is task \"1\""]);
}

#[test]
fn patterns_choose_columns() {
    let (rows, schema) = read("tox_a,tox_b,m,y1\n1,0,2,3\n", &columns("", "tox_*")).unwrap();
    assert_eq!((x(&rows[0]), schema.columns.target), (vec![2.0, 3.0], names(&["tox_a", "tox_b"])));
}

#[test]
fn labels_may_be_missing_in_every_form() {
    let (rows, _) = read("t,a,y\nu,1,\nu,2,3\n", &columns("t", "y")).unwrap();
    assert_eq!((rows[0].target.clone(), rows[1].target.clone()), (number("u", f64::NAN), number("u", 3.0)));
    let (rows, _) = read("a,y\n1,NA\n2,cat\n", &y()).unwrap();
    assert_eq!(rows[0].target, Label::Class(String::new()));
}
