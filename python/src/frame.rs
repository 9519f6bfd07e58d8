//! Data frames: their columns become features by the recipe that files are read with.

use crate::error::value;
use kinfolk::Inputs;
use kinfolk_io::{
    Error, FrameCells, FrameColumn, FrameReading, FrameValue, Hint, Missing, Schema, read_frame,
};
use numpy::{IntoPyArray, PyArrayMethods, PyReadonlyArray1};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

/// The cells of a column, as numpy has them.
#[derive(FromPyObject)]
pub(crate) enum ColumnCells<'py> {
    /// Numbers, NaN where one is missing.
    Doubles(PyReadonlyArray1<'py, f64>),
    /// The same in single precision.
    Singles(PyReadonlyArray1<'py, f32>),
    /// Integers.
    Integers(PyReadonlyArray1<'py, i64>),
    /// Booleans.
    Booleans(PyReadonlyArray1<'py, bool>),
    /// Times since 1970-01-01, and how many make a second.
    Times(PyReadonlyArray1<'py, i64>, i64),
    /// Which value each row has, and the different values.
    Values(PyReadonlyArray1<'py, u32>, Vec<CellValue>),
    /// Lists of numbers, and whether these are in single precision.
    Lists(Vec<Option<Vec<f64>>>, bool),
    /// Number of rows that cannot be used, and why.
    Unusable(usize, String),
}

/// A value of any kind.
#[derive(FromPyObject)]
pub(crate) enum CellValue {
    /// True or False, which would be an integer too.
    Boolean(bool),
    /// A number, and how it is written.
    Number(f64, String),
    /// Text.
    Text(String),
}

fn list<T: numpy::Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    array.as_array().iter().copied().collect()
}

impl From<ColumnCells<'_>> for FrameCells {
    fn from(cells: ColumnCells<'_>) -> Self {
        match cells {
            ColumnCells::Doubles(values) => FrameCells::Doubles(list(&values)),
            ColumnCells::Singles(values) => FrameCells::Singles(list(&values)),
            ColumnCells::Integers(values) => FrameCells::Integers(list(&values)),
            ColumnCells::Booleans(values) => FrameCells::Booleans(list(&values)),
            ColumnCells::Times(ticks, per_second) => FrameCells::Times { ticks: list(&ticks), per_second },
            ColumnCells::Values(index, values) => {
                let values = values.into_iter().map(|value| match value {
                    CellValue::Boolean(value) => FrameValue::Boolean(value),
                    CellValue::Number(value, text) => FrameValue::Number(value, text),
                    CellValue::Text(text) => FrameValue::Text(text),
                });
                FrameCells::Values { index: list(&index), values: values.collect() }
            }
            ColumnCells::Lists(lists, single) => FrameCells::Lists { lists, single },
            ColumnCells::Unusable(rows, why) => FrameCells::Unusable(rows, why),
        }
    }
}

/// Features of a frame as arrays, the recipe as JSON, and remarks on values that were not there in training.
type Encoded<'py> = (Bound<'py, PyAny>, String, Vec<String>);

/// Encodes the columns of a frame by a recipe, which is the JSON of a schema; without one, by a recipe that is made
/// from them, where missing values are filled in as `missing` says.
#[pyfunction]
#[pyo3(signature = (columns, missing, recipe=None))]
pub(crate) fn encode_frame<'py>(
    py: Python<'py>,
    columns: Vec<(String, ColumnCells<'_>)>,
    missing: &str,
    recipe: Option<&str>,
) -> PyResult<Encoded<'py>> {
    let missing: Missing = missing.parse().map_err(value)?;
    let schema = recipe.map(parse).transpose()?;
    let column = |(name, cells): (String, ColumnCells<'_>)| FrameColumn { name, cells: cells.into() };
    let columns: Vec<FrameColumn> = columns.into_iter().map(column).collect();
    let read = py.detach(|| read_frame(columns, missing, schema.as_ref()));
    let FrameReading { table, schema, remarks } = read.map_err(in_words)?;
    Ok((arrays(py, &table.inputs)?, serde_json::to_string(&schema).map_err(value)?, remarks))
}

/// The names of the features of a recipe, and what it does, in words.
#[pyfunction]
pub(crate) fn describe_recipe(recipe: &str) -> PyResult<(Vec<String>, Vec<String>)> {
    let schema = parse(recipe)?;
    let notes = schema.notes().into_iter();
    let notes = notes.map(|note| without_options(&note.replace(" (--missing)", " (missing=)")));
    Ok((schema.feature_names().unwrap_or_default(), notes.collect()))
}

/// A note without the options of the command, which are in parentheses.
fn without_options(note: &str) -> String {
    let (start, rest) = note.split_once(" (--").unwrap_or((note, ""));
    let rest = rest.split_once(')').map_or(String::new(), |(_, rest)| without_options(rest));
    format!("{start}{rest}")
}

pub(crate) fn parse(recipe: &str) -> PyResult<Schema> {
    serde_json::from_str(recipe).map_err(value)
}

fn arrays<'py>(py: Python<'py>, inputs: &Inputs<'_>) -> PyResult<Bound<'py, PyAny>> {
    let (rows, cols) = (inputs.n_inputs(), inputs.n_features());
    match inputs {
        Inputs::Dense(x) => match (x.as_f32(), x.as_f64()) {
            (Some(x), _) => x.to_vec().into_pyarray(py).reshape([rows, cols])?.into_bound_py_any(py),
            (_, Some(x)) => x.to_vec().into_pyarray(py).reshape([rows, cols])?.into_bound_py_any(py),
            _ => Err(value("dense features are single or double numbers")),
        },
        Inputs::Sparse(x) => {
            let values = (0..rows).flat_map(|i| x.row(i)).map(|(_, value)| value);
            let values = match x.is_f32() {
                true => values
                    .map(|value| value as f32)
                    .collect::<Vec<_>>()
                    .into_pyarray(py)
                    .into_bound_py_any(py)?,
                false => values.collect::<Vec<_>>().into_pyarray(py).into_bound_py_any(py)?,
            };
            let (indptr, indices) =
                (x.indptr().to_vec().into_pyarray(py), x.indices().to_vec().into_pyarray(py));
            (indptr, indices, values, cols).into_bound_py_any(py)
        }
        _ => Err(value("a frame has features")),
    }
}

/// An error about a frame, with rows counted from 0 and hints in the words of this package.
fn in_words(error: Error) -> PyErr {
    let more = error.others.map_or_else(Vec::new, |others| *others);
    let lines = std::iter::once(Error { others: None, ..error }).chain(more).map(|mut error| {
        let row = error.row.take();
        let (text, comma) = (error.with_hints(hint), if error.column.is_some() { "," } else { ":" });
        row.map_or(format!("X: {text}"), |row| format!("X: row {row}{comma} {text}"))
    });
    value(lines.collect::<Vec<_>>().join("\n"))
}

fn hint(hint: &Hint) -> String {
    match hint {
        Hint::FillIn => "fill it in".into(),
        Hint::Drop(_) => "leave the column out of X".into(),
        Hint::OneHot(_) => "make words of all its values".into(),
        Hint::FillMissing => "have it filled in with missing='mean', 'median' or 'zero'".into(),
        Hint::FillColumns => "add what is missing to X".into(),
        Hint::MissingWords(words) => match words.as_slice() {
            [word] => format!("replace {word:?} by None if it stands for a missing value"),
            words => format!("replace {words:?} by None if they stand for missing values"),
        },
        Hint::DateOrder => "make dates of it, for example with pandas.to_datetime(..., dayfirst=True)".into(),
        other => other.to_string(),
    }
}
