//! A column of a row group, read a few rows at a time.

use super::schema::ValueType;
use crate::columns::cells::{self, Reading, TableCell, TypedCell};
use crate::columns::{CellBlock, ColumnBlock, VisitRow};
use crate::format::no_panic::no_panic;
use crate::{DateOrder, Decimal, dates};
use parquet::column::reader::{ColumnReader as TypedReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::errors::ParquetError;
use std::borrow::Cow;
use std::io;

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

impl CellBlock for Batch {
    fn visit(&self, visit: &mut VisitRow<'_>) -> crate::Result<()> {
        for (row, list) in self.lists().into_iter().enumerate() {
            visit(&list.map_or(TypedCell::Null, TypedCell::List), row)?;
        }
        self.cells().enumerate().try_for_each(|(row, cell)| visit(&cell, row))
    }

    fn visit_different(&self, visit: &mut VisitRow<'_>) -> crate::Result<Vec<u32>> {
        let mut which = vec![];
        let (mut known, mut n) = (KnownCells::new(), 0);
        for (row, cell) in self.cells().enumerate() {
            // Equal texts of a dictionary are at the same place.
            let key = match cell.0 {
                None => (0, 0),
                Some(PageCell::Raw(_, raw)) => (raw, 1),
                Some(PageCell::Text(_, bytes)) => (bytes.as_ptr().addr() as u64, 2 + bytes.len() as u64),
            };
            which.push(match known.find(key) {
                Some(number) => number,
                None => {
                    visit(&cell, row)?;
                    known.insert(key, n);
                    n += 1;
                    n - 1
                }
            });
        }
        Ok(which)
    }
}

/// Keys that were seen, and their numbers: as many as there are places, each key at its own.
struct KnownCells(Vec<Option<((u64, u64), u32)>>);

impl KnownCells {
    const PLACES_LOG2: u32 = 12;

    fn new() -> Self {
        KnownCells(vec![None; 1 << Self::PLACES_LOG2])
    }

    /// The upper bits of a product with an odd number near 2^64 / phi (Knuth).
    fn place(key: (u64, u64)) -> usize {
        ((key.0 ^ key.1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - Self::PLACES_LOG2)) as usize
    }

    fn find(&self, key: (u64, u64)) -> Option<u32> {
        self.0[Self::place(key)].filter(|(own, _)| *own == key).map(|(_, number)| number)
    }

    fn insert(&mut self, key: (u64, u64), number: u32) {
        self.0[Self::place(key)] = Some((key, number));
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

impl ColumnReader {
    /// The next n rows, plain numbers as such if they are wanted.
    pub(super) fn read_block(&mut self, n: usize, as_numbers: bool) -> Result<ColumnBlock, String> {
        if !as_numbers || !self.kind.is_plain_number() {
            return Ok(ColumnBlock::Cells(Box::new(self.read(n)?)));
        }
        let (mut levels, mut repeats) = (vec![], vec![]);
        let to = &mut (&mut levels, &mut repeats);
        let most = self.kind.present_level();
        Ok(match &mut self.reader {
            TypedReader::FloatColumnReader(from) => {
                let values = rows(from, n, to)?;
                ColumnBlock::of_singles(with_gaps(values, &levels, most, f32::NAN))
            }
            TypedReader::DoubleColumnReader(from) => {
                let values = rows(from, n, to)?;
                ColumnBlock::of_doubles(with_gaps(values, &levels, most, f64::NAN))
            }
            _ => {
                let batch = self.read(n)?;
                let Values::Raw(values) = &batch.values else {
                    return Ok(ColumnBlock::Cells(Box::new(batch)));
                };
                let values = values.iter().map(|raw| self.kind.number(*raw)).collect();
                ColumnBlock::of_doubles(with_gaps(values, &batch.levels, most, f64::NAN))
            }
        })
    }
}

/// Values in their rows, where those of nulls are not stored.
fn with_gaps<T: Copy>(values: Vec<T>, levels: &[i16], present: i16, gap: T) -> Vec<T> {
    if values.len() >= levels.len() {
        return values;
    }
    let mut next = values.into_iter();
    levels.iter().map(|level| if *level >= present { next.next().unwrap_or(gap) } else { gap }).collect()
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
    let read = no_panic(|| Ok::<_, String>(from.read_records(n, Some(levels), Some(repeats), &mut values)));
    let corrupt = |why: String| format!("a page is corrupt: {why}");
    match read.map_err(corrupt)? {
        Ok((rows, ..)) if rows < n => Err("it has fewer rows than the file claims".into()),
        Ok(_) => Ok(values),
        // Said by the system, not by the file: there may be too many open ones.
        Err(ParquetError::External(why)) if !is_damage(&*why) => {
            Err(format!("the file cannot be read: {why}"))
        }
        Err(error) => Err(corrupt(error.to_string())),
    }
}

/// Whether a header cannot be what it says, as [`thrift`](super::thrift) finds out.
fn is_damage(why: &(dyn std::error::Error + 'static)) -> bool {
    why.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::InvalidData)
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

    fn is_text(&self) -> bool {
        matches!(self.0, Some(PageCell::Text(kind, _)) if !kind.is_decimal())
    }

    fn has_nulls(&self) -> bool {
        true
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
