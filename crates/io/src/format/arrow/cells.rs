//! Cells of arrays.

use crate::columns::ColumnType;
use crate::columns::cells::TypedCell;
use crate::{dates, decimal};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType};
use arrow_schema::{DataType, TimeUnit};

/// What a type means for us.
pub(super) fn column_type(data_type: &DataType) -> ColumnType {
    let number = |single| ColumnType::Number { single };
    match data_type {
        DataType::Boolean | DataType::Float16 | DataType::Float32 => number(true),
        DataType::Int8 | DataType::Int16 | DataType::UInt8 | DataType::UInt16 => number(true),
        DataType::Int32 | DataType::Int64 | DataType::UInt32 | DataType::UInt64 | DataType::Float64 => {
            number(false)
        }
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => number(false),
        DataType::Time32(_) | DataType::Time64(_) | DataType::Duration(_) | DataType::Null => number(false),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => ColumnType::Text,
        // Bytes may be text, and are told apart when they are read.
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => ColumnType::Text,
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => ColumnType::Date,
        DataType::Dictionary(_, values) => match column_type(values) {
            ColumnType::Number { .. } | ColumnType::Text if **values != DataType::Boolean => {
                ColumnType::Category
            }
            other => other,
        },
        DataType::List(field) | DataType::LargeList(field) | DataType::FixedSizeList(field, _) => {
            match column_type(field.data_type()) {
                ColumnType::Number { single } => ColumnType::List { single },
                _ => ColumnType::Unusable(format!(
                    "it holds lists of type {}; only lists of numbers can be used",
                    field.data_type()
                )),
            }
        }
        other => ColumnType::Unusable(format!(
            "it holds values of type {other}, which are neither numbers nor text"
        )),
    }
}

/// The cells of an array of a type that [`column_type`] can use.
pub(super) fn cells_of(array: &dyn Array) -> Vec<TypedCell> {
    let n = array.len();
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            each(array, |i| TypedCell::boolean(values.value(i)))
        }
        DataType::Int8 => numbers::<Int8Type>(array, |x| (f64::from(x), x.to_string())),
        DataType::Int16 => numbers::<Int16Type>(array, |x| (f64::from(x), x.to_string())),
        DataType::Int32 => numbers::<Int32Type>(array, |x| (f64::from(x), x.to_string())),
        DataType::Int64 => numbers::<Int64Type>(array, |x| (x as f64, x.to_string())),
        DataType::UInt8 => numbers::<UInt8Type>(array, |x| (f64::from(x), x.to_string())),
        DataType::UInt16 => numbers::<UInt16Type>(array, |x| (f64::from(x), x.to_string())),
        DataType::UInt32 => numbers::<UInt32Type>(array, |x| (f64::from(x), x.to_string())),
        DataType::UInt64 => numbers::<UInt64Type>(array, |x| (x as f64, x.to_string())),
        DataType::Float16 => numbers::<Float16Type>(array, |x| (f64::from(x), x.to_string())),
        DataType::Float32 => numbers::<Float32Type>(array, |x| (f64::from(x), format!("{x:?}"))),
        DataType::Float64 => numbers::<Float64Type>(array, |x| (x, format!("{x:?}"))),
        DataType::Decimal32(_, scale) => decimals::<Decimal32Type>(array, *scale, i128::from),
        DataType::Decimal64(_, scale) => decimals::<Decimal64Type>(array, *scale, i128::from),
        DataType::Decimal128(_, scale) => decimals::<Decimal128Type>(array, *scale, |x| x),
        DataType::Date32 => days::<Date32Type>(array, |x| TypedCell::Day(f64::from(x), None)),
        DataType::Date64 => days::<Date64Type>(array, |x| TypedCell::time(x, 1_000, None)),
        DataType::Timestamp(unit, zone) => {
            let time = |x: i64, per_second| TypedCell::time(x, per_second, Some(zone.is_some()));
            match unit {
                TimeUnit::Second => days::<TimestampSecondType>(array, |x| time(x, 1)),
                TimeUnit::Millisecond => days::<TimestampMillisecondType>(array, |x| time(x, 1_000)),
                TimeUnit::Microsecond => days::<TimestampMicrosecondType>(array, |x| time(x, 1_000_000)),
                TimeUnit::Nanosecond => days::<TimestampNanosecondType>(array, |x| time(x, 1_000_000_000)),
            }
        }
        DataType::Duration(TimeUnit::Second) => numbers::<DurationSecondType>(array, |x| duration(x, 1)),
        DataType::Duration(TimeUnit::Millisecond) => {
            numbers::<DurationMillisecondType>(array, |x| duration(x, 1_000))
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            numbers::<DurationMicrosecondType>(array, |x| duration(x, 1_000_000))
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            numbers::<DurationNanosecondType>(array, |x| duration(x, 1_000_000_000))
        }
        DataType::Time32(TimeUnit::Second) => {
            numbers::<Time32SecondType>(array, |x| of_day(i64::from(x), 1.0))
        }
        DataType::Time32(_) => numbers::<Time32MillisecondType>(array, |x| of_day(i64::from(x), 1e3)),
        DataType::Time64(TimeUnit::Microsecond) => {
            numbers::<Time64MicrosecondType>(array, |x| of_day(x, 1e6))
        }
        DataType::Time64(_) => numbers::<Time64NanosecondType>(array, |x| of_day(x, 1e9)),
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            each(array, |i| TypedCell::Text(values.value(i).to_string()))
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            each(array, |i| TypedCell::Text(values.value(i).to_string()))
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            each(array, |i| TypedCell::Text(values.value(i).to_string()))
        }
        DataType::Binary => {
            let values = array.as_binary::<i32>();
            each(array, |i| TypedCell::Bytes(values.value(i).to_vec()))
        }
        DataType::LargeBinary => {
            let values = array.as_binary::<i64>();
            each(array, |i| TypedCell::Bytes(values.value(i).to_vec()))
        }
        DataType::BinaryView => {
            let values = array.as_binary_view();
            each(array, |i| TypedCell::Bytes(values.value(i).to_vec()))
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (values, keys) = (cells_of(dictionary.values().as_ref()), dictionary.normalized_keys());
            each(array, |i| values.get(keys[i]).cloned().unwrap_or(TypedCell::Null))
        }
        DataType::List(_) => each(array, |i| list(&array.as_list::<i32>().value(i))),
        DataType::LargeList(_) => each(array, |i| list(&array.as_list::<i64>().value(i))),
        DataType::FixedSizeList(..) => each(array, |i| list(&array.as_fixed_size_list().value(i))),
        _ => vec![TypedCell::Null; n],
    }
}

/// A list of numbers.
fn list(values: &dyn Array) -> TypedCell {
    let number = |cell: &TypedCell| if let TypedCell::Number(value, _) = cell { *value } else { f64::NAN };
    TypedCell::List(cells_of(values).iter().map(number).collect())
}

fn each(array: &dyn Array, cell: impl Fn(usize) -> TypedCell) -> Vec<TypedCell> {
    (0..array.len()).map(|i| if array.is_null(i) { TypedCell::Null } else { cell(i) }).collect()
}

fn numbers<T: ArrowPrimitiveType>(
    array: &dyn Array,
    number: impl Fn(T::Native) -> (f64, String),
) -> Vec<TypedCell> {
    let values = array.as_primitive::<T>();
    each(array, |i| {
        let (value, text) = number(values.value(i));
        TypedCell::Number(value, text)
    })
}

fn decimals<T: ArrowPrimitiveType>(
    array: &dyn Array,
    scale: i8,
    whole: impl Fn(T::Native) -> i128,
) -> Vec<TypedCell> {
    let values = array.as_primitive::<T>();
    let scale = u32::try_from(scale).unwrap_or(0);
    each(array, |i| {
        let value = whole(values.value(i));
        TypedCell::Number(decimal::number(value, scale), decimal::text(value, scale))
    })
}

fn days<T: ArrowPrimitiveType>(array: &dyn Array, day: impl Fn(T::Native) -> TypedCell) -> Vec<TypedCell> {
    let values = array.as_primitive::<T>();
    each(array, |i| day(values.value(i)))
}

/// A duration in seconds.
fn duration(ticks: i64, per_second: i64) -> (f64, String) {
    let seconds = dates::seconds(ticks, per_second);
    (seconds, crate::text::of_number(seconds))
}

/// A time of day as a share of the day.
fn of_day(ticks: i64, per_second: f64) -> (f64, String) {
    let share = ticks as f64 / per_second / 86_400.0;
    (share, crate::text::of_number(share))
}
