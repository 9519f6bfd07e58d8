//! What the tests of this folder share.

use kinfolk::Inputs;
use kinfolk_io::{ColumnRoles, Labels, Result, Schema, Source, Table, Targets};
use std::path::Path;

/// Everything a file says about one row, in words and numbers that do not depend on chunks. Numbers as bits,
/// so that NaN and -0 count.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) x: Vec<u64>,
    pub(crate) target: Label,
    pub(crate) weight: Option<u64>,
    pub(crate) offset: Option<u64>,
    pub(crate) split: Option<i64>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Label {
    None,
    Task(String),
    Number(String, u64),
    Word(String, String),
    Class(String),
    Wide(Vec<String>, Vec<u64>),
}

pub(crate) fn number(task: &str, value: f64) -> Label {
    Label::Number(task.into(), value.to_bits())
}

pub(crate) fn word(task: &str, word: &str) -> Label {
    Label::Word(task.into(), word.into())
}

pub(crate) fn bits(values: &[f64]) -> Vec<u64> {
    // Any NaN is as good as any other.
    values.iter().map(|value| if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }).collect()
}

/// The rows of a table.
pub(crate) fn rows(table: &Table) -> Vec<Row> {
    let n = table.inputs.n_inputs();
    let x = |i: usize| {
        let mut row = vec![0.0; table.inputs.n_features()];
        match &table.inputs {
            Inputs::Dense(x) => x.load(&[i as u32], &mut row),
            Inputs::Sparse(x) => x.load(&[i as u32], &mut row),
            other => panic!("{} inputs", other.kind()),
        }
        bits(&row)
    };
    let target = |i: usize| match &table.targets {
        Targets::None => Label::None,
        Targets::Tasks { task, label: None } => Label::Task(task.name(i)),
        Targets::Tasks { task, label: Some(Labels::Numbers(label)) } => {
            Label::Number(task.name(i), bits(&label[i..=i])[0])
        }
        Targets::Tasks { task, label: Some(Labels::Words(label)) } => {
            Label::Word(task.name(i), label.name(i))
        }
        Targets::Classes(class) => Label::Class(class.name(i)),
        Targets::Wide { label, tasks } => {
            Label::Wide((0..tasks.len()).map(|t| tasks.name(t)).collect(), bits(label.row(i)))
        }
    };
    (0..n)
        .map(|i| Row {
            x: x(i),
            target: target(i),
            weight: table.weight.as_ref().map(|weight| weight[i].to_bits()),
            offset: table.offset.as_ref().map(|offset| offset[i].to_bits()),
            split: table.split.as_ref().map(|split| split[i]),
        })
        .collect()
}

/// All rows of a source, read in chunks of at most this many.
pub(crate) fn all_rows(source: &mut dyn Source, max_rows: usize) -> Result<Vec<Row>> {
    let mut all = vec![];
    while let Some(table) = source.next_chunk(max_rows)? {
        assert!((1..=max_rows).contains(&table.inputs.n_inputs()));
        assert_eq!(
            table.features.as_ref().map_or(table.inputs.n_features(), Vec::len),
            table.inputs.n_features()
        );
        all.extend(rows(&table));
    }
    Ok(all)
}

pub(crate) fn open(
    text: impl AsRef<[u8]>,
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<Box<dyn Source>> {
    kinfolk_io::open_bytes(Path::new("a.csv"), text.as_ref(), columns, schema)
}

/// Rows and schema of a text, checked to be the same for chunks of every size.
pub(crate) fn read(text: impl AsRef<[u8]>, columns: &ColumnRoles) -> Result<(Vec<Row>, Schema)> {
    read_as(text, columns, None)
}

pub(crate) fn read_as(
    text: impl AsRef<[u8]>,
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<(Vec<Row>, Schema)> {
    let mut source = open(&text, columns, schema)?;
    let rows = all_rows(&mut *source, usize::MAX);
    for max_rows in [1, 2, 7] {
        let again = all_rows(&mut *open(&text, columns, schema)?, max_rows);
        match (&rows, &again) {
            (Ok(rows), Ok(again)) => assert_eq!(rows, again),
            (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
            _ => panic!("{rows:?} in one go, {again:?} in chunks of {max_rows}"),
        }
    }
    Ok((rows?, source.schema()))
}

/// The one-line message of what must fail.
pub(crate) fn message(text: impl AsRef<[u8]>, columns: &ColumnRoles) -> String {
    one_line(read(text, columns).map(|_| ()))
}

pub(crate) fn one_line(result: Result<()>) -> String {
    let message = result.expect_err("this must fail").to_string();
    assert!(!message.contains('\n'), "{message}");
    assert!(message.len() < 1000, "{message}");
    message
}

/// `task`, `target` (several separated by commas); empty = none.
pub(crate) fn columns(task: &str, target: &str) -> ColumnRoles {
    let list =
        |text: &str| text.split(',').filter(|name| !name.is_empty()).map(str::to_string).collect::<Vec<_>>();
    ColumnRoles { task: list(task).pop(), target: list(target), ..ColumnRoles::default() }
}

pub(crate) fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|name| name.to_string()).collect()
}

/// Those of the names that this build can read and write.
pub(crate) fn possible<'a>(names: &'a [&'a str]) -> impl Iterator<Item = &'a str> {
    names.iter().copied().filter(|name| cfg!(feature = "parquet") || !name.ends_with("parquet"))
}
