//! Data frames in memory: columns that a caller has, read as those of a file are, with the same recipe.

use crate::columns::cells::TypedCell;
use crate::columns::{self, ColumnCursor, ColumnNames, ColumnType, RowPlace, VisitCell};
use crate::{ColumnRoles, LookThrough, Missing, Result, Schema, Table, assemble, source};
use std::path::{Path, PathBuf};

/// A column of a data frame.
#[derive(Debug, Clone)]
pub struct FrameColumn {
    /// Its name.
    pub name: String,
    /// Its cells, one for each row.
    pub cells: FrameCells,
}

/// The cells of a column.
#[derive(Debug, Clone)]
pub enum FrameCells {
    /// Numbers in double precision; NaN is a missing one.
    Doubles(Vec<f64>),
    /// Numbers in single precision; NaN is a missing one.
    Singles(Vec<f32>),
    /// Integers.
    Integers(Vec<i64>),
    /// `true` and `false`.
    Booleans(Vec<bool>),
    /// Times since 1970-01-01; `i64::MIN` is a missing one, as in numpy.
    Times {
        /// One for each row.
        ticks: Vec<i64>,
        /// How many make a second: a power of ten up to 10^9.
        per_second: i64,
    },
    /// Values of any kind.
    Values {
        /// Which of the values a row has; a place beyond the last is a missing one.
        index: Vec<u32>,
        /// The different values.
        values: Vec<FrameValue>,
    },
    /// Lists of numbers, NaN where one is missing; `None` for a missing list.
    Lists {
        /// One for each row.
        lists: Vec<Option<Vec<f64>>>,
        /// Whether the numbers are in single precision.
        single: bool,
    },
    /// So many rows that cannot be used, and why.
    Unusable(usize, String),
}

/// A cell of a column of mixed values.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameValue {
    /// `true` or `false`.
    Boolean(bool),
    /// A number, and how it is written.
    Number(f64, String),
    /// Text.
    Text(String),
}

/// What is read from a data frame.
#[derive(Debug)]
pub struct FrameReading {
    /// The features of all rows.
    pub table: Table,
    /// The recipe that reads other frames and files in the same way.
    pub schema: Schema,
    /// Values that were not there in training, for people.
    pub remarks: Vec<String>,
}

/// Reads the columns of a data frame as features. With the `schema` of a model they are read by its recipe: found by
/// name, in any order, other columns ignored. Without, the recipe is made from them as for a file, and missing values
/// are filled in as `missing` says.
///
/// No row is left out: with [`Missing::Drop`] a missing value is an error.
///
/// # Errors
/// If the columns are not of the same length, one that is needed is not there, or a value cannot be used.
pub fn read_frame(
    columns: Vec<FrameColumn>,
    missing: Missing,
    schema: Option<&Schema>,
) -> Result<FrameReading> {
    let kept = |missing| if missing == Missing::Drop { Missing::Error } else { missing };
    let schema = schema.map(|schema| {
        let own = &schema.columns;
        let columns = ColumnRoles {
            missing: kept(own.missing),
            missing_words: own.missing_words.clone(),
            only_missing: own.only_missing.clone(),
            only_missing_of: own.only_missing_of.clone(),
            decimal: own.decimal,
            dense: own.dense,
            ignore_case: own.ignore_case,
            spellings: own.spellings.clone(),
            units: own.units.clone(),
            decimals: own.decimals.clone(),
            money: own.money.clone(),
            ..ColumnRoles::default()
        };
        Schema { columns, ..schema.clone() }
    });
    let roles = ColumnRoles { missing: kept(missing), ..ColumnRoles::default() };
    let roles = if schema.is_some() { ColumnRoles::default() } else { roles };
    let cursor = columns::with_lists_as_columns(Box::new(FrameCursor::new(columns)?))?;
    // That a column holds lists is known to who has the frame.
    let known = cursor.remark();
    let mut sources =
        columns::open(vec![(PathBuf::new(), cursor)], &roles, schema.as_ref(), LookThrough::All)?;
    let mut source = source::checked(sources.remove(0), Path::new(""), schema.as_ref());
    let (table, schema) = assemble::read_all(&mut *source, schema.as_ref())?;
    let remarks = source.remarks().into_iter().filter(|remark| Some(remark) != known.as_ref());
    Ok(FrameReading { table, schema, remarks: remarks.collect() })
}

struct FrameCursor {
    names: ColumnNames,
    columns: Vec<CursorCells>,
    n_rows: usize,
    next: usize,
}

/// CursorCells, those of mixed values in the form that is visited.
enum CursorCells {
    Simple(FrameCells),
    Values(Vec<u32>, Vec<TypedCell>),
}

impl FrameCursor {
    fn new(columns: Vec<FrameColumn>) -> Result<Self> {
        let n_rows = columns.first().map_or(0, |column| column.cells.len());
        if let Some(other) = columns.iter().find(|column| column.cells.len() != n_rows) {
            let n = other.cells.len();
            return Err(wrong!("there are {n} rows, and {n_rows} in the first column").in_column(&other.name));
        }
        let names = ColumnNames::as_written(columns.iter().map(|column| column.name.clone()).collect())?;
        let columns = columns.into_iter().map(|column| match column.cells {
            FrameCells::Values { index, values } => {
                CursorCells::Values(index, values.into_iter().map(typed).collect())
            }
            cells => CursorCells::Simple(cells),
        });
        Ok(FrameCursor { names, columns: columns.collect(), n_rows, next: 0 })
    }
}

fn typed(value: FrameValue) -> TypedCell {
    match value {
        FrameValue::Boolean(value) => TypedCell::boolean(value),
        FrameValue::Number(value, text) => TypedCell::Number(value, text),
        FrameValue::Text(text) => TypedCell::Text(text),
    }
}

impl FrameCells {
    fn len(&self) -> usize {
        match self {
            FrameCells::Doubles(values) => values.len(),
            FrameCells::Singles(values) => values.len(),
            FrameCells::Integers(values) => values.len(),
            FrameCells::Booleans(values) => values.len(),
            FrameCells::Times { ticks, .. } => ticks.len(),
            FrameCells::Values { index, .. } => index.len(),
            FrameCells::Lists { lists, .. } => lists.len(),
            FrameCells::Unusable(n, _) => *n,
        }
    }

    /// A cell of a column that is not of mixed values.
    fn cell(&self, row: usize) -> TypedCell {
        match self {
            FrameCells::Doubles(values) => TypedCell::Number(values[row], format!("{:?}", values[row])),
            FrameCells::Singles(values) => {
                TypedCell::Number(f64::from(values[row]), format!("{:?}", values[row]))
            }
            FrameCells::Integers(values) => TypedCell::Number(values[row] as f64, values[row].to_string()),
            FrameCells::Booleans(values) => TypedCell::boolean(values[row]),
            FrameCells::Times { ticks, .. } if ticks[row] == i64::MIN => TypedCell::Null,
            FrameCells::Times { ticks, per_second } => TypedCell::time(ticks[row], *per_second, None),
            FrameCells::Lists { lists, .. } => lists[row].clone().map_or(TypedCell::Null, TypedCell::List),
            FrameCells::Values { .. } | FrameCells::Unusable(..) => TypedCell::Null,
        }
    }

    fn column_type(&self) -> ColumnType {
        match self {
            FrameCells::Singles(_) | FrameCells::Booleans(_) => ColumnType::Number { single: true },
            FrameCells::Doubles(_) | FrameCells::Integers(_) => ColumnType::Number { single: false },
            FrameCells::Times { .. } => ColumnType::Date,
            FrameCells::Values { .. } => ColumnType::Unknown,
            FrameCells::Lists { single, .. } => ColumnType::List { single: *single },
            FrameCells::Unusable(_, why) => ColumnType::Unusable(why.clone()),
        }
    }
}

impl ColumnCursor for FrameCursor {
    fn names(&self) -> &ColumnNames {
        &self.names
    }

    fn column_type(&self, column: usize) -> ColumnType {
        match &self.columns[column] {
            CursorCells::Simple(cells) => cells.column_type(),
            CursorCells::Values(_, values) => {
                match values.iter().all(|value| matches!(value, TypedCell::Number(..))) {
                    true => ColumnType::Number { single: false },
                    false => ColumnType::Unknown,
                }
            }
        }
    }

    fn n_rows(&self) -> Option<usize> {
        Some(self.n_rows)
    }

    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize> {
        let n = most.min(self.n_rows - self.next);
        for (i, &column) in columns.iter().enumerate() {
            for row in 0..n {
                let (at, place) = (self.next + row, RowPlace::Row((self.next + row) as u64));
                match &self.columns[column] {
                    CursorCells::Simple(cells) => visit(&cells.cell(at), i, row, place)?,
                    CursorCells::Values(index, values) => {
                        visit(values.get(index[at] as usize).unwrap_or(&TypedCell::Null), i, row, place)?;
                    }
                }
            }
        }
        self.next += n;
        Ok(n)
    }

    fn rewind(&mut self) -> Result<()> {
        self.next = 0;
        Ok(())
    }
}
