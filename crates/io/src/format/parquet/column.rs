//! A column of a row group, read a few rows at a time.

use super::schema::ValueType;
use crate::columns::cells::{self, Reading, TableCell};
use crate::format::no_panic::no_panic;
use crate::{DateOrder, Decimal, dates};
use parquet::column::reader::{ColumnReader as TypedReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use std::borrow::Cow;

/// Where a column is being read.
pub(super) struct ColumnReader {
    pub(super) kind: ValueType,
    reader: TypedReader,
}

/// Some rows of a column.
pub(super) struct Batch {
    pub(super) kind: ValueType,
    /// One per row, 1 if it has a value; empty if the column has no nulls.
    levels: Vec<i16>,
    /// Of lists: 0 for the first element of a row.
    repeats: Vec<i16>,
    values: Values,
}

/// Values that are there (nulls are not): numbers as the bits they are stored in, or texts.
enum Values {
    Raw(Vec<u64>),
    Text(Vec<ByteArray>),
}

impl Batch {
    /// The lists of the rows, NaN where a number is missing; nothing if they hold no lists.
    pub(super) fn lists(&self) -> Vec<Option<Vec<f64>>> {
        let (Some(list), Values::Raw(values)) = (self.kind.list, &self.values) else { return vec![] };
        let (mut lists, mut next) = (vec![], values.iter());
        for (level, repeat) in self.levels.iter().zip(&self.repeats) {
            if *repeat == 0 {
                lists.push(None);
            }
            if *level < list.element {
                continue;
            }
            let value = if *level == list.value { next.next() } else { None };
            let number = value.map_or(f64::NAN, |raw| self.kind.number(*raw));
            if let Some(last) = lists.last_mut() {
                last.get_or_insert_with(Vec::new).push(number);
            }
        }
        lists
    }

    /// The cells of the rows, unless they hold lists.
    pub(super) fn cells(&self) -> impl Iterator<Item = NullableCell<'_>> {
        let (kind, mut next) = (self.kind, 0);
        let n = match &self.values {
            _ if kind.list.is_some() => 0,
            _ if kind.nullable => self.levels.len(),
            Values::Raw(values) => values.len(),
            Values::Text(values) => values.len(),
        };
        (0..n).map(move |row| {
            if kind.nullable && self.levels[row] == 0 {
                return NullableCell(None);
            }
            next += 1;
            NullableCell(Some(match &self.values {
                Values::Raw(values) => PageCell::Raw(kind, values[next - 1]),
                Values::Text(values) => PageCell::Text(kind, values[next - 1].data()),
            }))
        })
    }
}

/// A value.
#[derive(Clone, Copy)]
pub(super) enum PageCell<'a> {
    Raw(ValueType, u64),
    Text(ValueType, &'a [u8]),
}

impl ColumnReader {
    pub(super) fn new(kind: ValueType, reader: TypedReader) -> Self {
        ColumnReader { kind, reader }
    }

    /// The next n rows; an error if there are fewer.
    pub(super) fn read(&mut self, n: usize) -> Result<Batch, String> {
        let (mut levels, mut repeats) = (vec![], vec![]);
        let to = &mut (&mut levels, &mut repeats);
        let values = match &mut self.reader {
            TypedReader::BoolColumnReader(from) => raw(from, n, to, |value| u64::from(*value)),
            TypedReader::Int32ColumnReader(from) => raw(from, n, to, |value| u64::from(*value as u32)),
            TypedReader::Int64ColumnReader(from) => raw(from, n, to, |value| *value as u64),
            TypedReader::FloatColumnReader(from) => raw(from, n, to, |value| u64::from(value.to_bits())),
            TypedReader::DoubleColumnReader(from) => raw(from, n, to, |value| value.to_bits()),
            TypedReader::FixedLenByteArrayColumnReader(from) if self.kind.is_decimal() => {
                let bytes = |value: &FixedLenByteArray| ByteArray::from(value.data().to_vec());
                rows(from, n, to).map(|values| Values::Text(values.iter().map(bytes).collect()))
            }
            TypedReader::FixedLenByteArrayColumnReader(from) => raw(from, n, to, |value| {
                value.data().iter().rev().fold(0, |bits, b| bits << 8 | u64::from(*b))
            }),
            TypedReader::ByteArrayColumnReader(from) => rows(from, n, to).map(Values::Text),
            TypedReader::Int96ColumnReader(from) => raw(from, n, to, |value| value.to_nanos() as u64),
        };
        let values = values?;
        Ok(Batch { kind: self.kind, values, levels, repeats })
    }
}

/// Where definition levels and repetition levels go.
type Levels<'a> = (&'a mut Vec<i16>, &'a mut Vec<i16>);

fn raw<T: DataType>(
    from: &mut ColumnReaderImpl<T>,
    n: usize,
    levels: &mut Levels<'_>,
    bits: fn(&T::T) -> u64,
) -> Result<Values, String> {
    Ok(Values::Raw(rows(from, n, levels)?.iter().map(bits).collect()))
}

fn rows<T: DataType>(
    from: &mut ColumnReaderImpl<T>,
    n: usize,
    (levels, repeats): &mut Levels<'_>,
) -> Result<Vec<T::T>, String> {
    let mut values = vec![];
    let read = no_panic(|| from.read_records(n, Some(levels), Some(repeats), &mut values));
    match read.map_err(|why| format!("a page is corrupt: {why}"))? {
        (rows, ..) if rows < n => Err("it has fewer rows than the file claims".into()),
        _ => Ok(values),
    }
}

/// A cell that may be null.
pub(super) struct NullableCell<'a>(pub(super) Option<PageCell<'a>>);

fn reading(value: f64) -> Reading {
    match value {
        value if value.is_nan() => Reading::Missing,
        value if value.is_finite() => Reading::Number(value),
        _ => Reading::NotFinite,
    }
}

impl TableCell for NullableCell<'_> {
    fn number(&self, decimal: Decimal) -> Reading {
        match self.0 {
            None => Reading::Missing,
            // A text is read as in csv.
            Some(PageCell::Text(kind, bytes)) => match kind.is_decimal() {
                true => reading(kind.wide_decimal(bytes).0),
                false => cells::number_in(bytes, decimal),
            },
            Some(PageCell::Raw(kind, raw)) => reading(kind.number(raw)),
        }
    }

    fn text(&self) -> crate::Result<Cow<'_, str>> {
        match self.0 {
            None => Ok(Cow::Borrowed("")),
            Some(PageCell::Raw(kind, raw)) => Ok(Cow::Owned(kind.text(raw))),
            Some(PageCell::Text(kind, bytes)) => match kind.is_decimal() {
                true => Ok(Cow::Owned(kind.wide_decimal(bytes).1)),
                false => cells::text_in(bytes),
            },
        }
    }

    fn is_date(&self) -> bool {
        matches!(self.0, Some(PageCell::Raw(kind, _)) if kind.is_date())
    }

    fn has_zone(&self) -> Option<bool> {
        match self.0 {
            Some(PageCell::Raw(kind, _)) => kind.has_zone(),
            Some(PageCell::Text(..)) => self.text().ok().and_then(|text| dates::names_zone(&text)),
            None => None,
        }
    }

    fn date(&self, order: DateOrder) -> Option<f64> {
        match self.0 {
            Some(PageCell::Raw(kind, raw)) if kind.is_date() => Some(kind.number(raw)),
            Some(PageCell::Text(..)) => self.text().ok().and_then(|text| dates::parse(&text, order)),
            _ => None,
        }
    }
}
