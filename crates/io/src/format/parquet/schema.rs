//! What the columns of a file hold.

use super::arrow_schema::ArrowType;
use crate::dates::ClockUnit;
use crate::{dates, decimal, text};
use half::f16;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Physical {
    Bool,
    Int32,
    Int64,
    Half,
    Float,
    Double,
    Text,
}

/// What a number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Itself.
    Number,
    /// A day since 1970-01-01.
    Day,
    /// So many of these units make a second since 1970-01-01; and whether times have a zone, if that is known.
    Timestamp(i64, Option<bool>),
    /// So many of these units make a second.
    Duration(i64),
    /// So many of these units make a second since midnight.
    TimeOfDay(i64),
    /// An integer times 10 to the power of minus this.
    Decimal(u32),
}

/// What values mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueType {
    physical: Physical,
    meaning: Meaning,
    /// Integers: the bits they have; 0 for others.
    bits: u8,
    signed: bool,
    /// Whether a value may be null.
    pub(super) nullable: bool,
    /// If it is a list, its levels.
    pub(super) list: Option<ListLevels>,
    /// Whether programs had the values as categories.
    is_dictionary: bool,
}

/// What definition levels of a list mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListLevels {
    /// From here on there is an element, which may be null.
    pub(super) element: i16,
    /// From here on it has a value.
    pub(super) value: i16,
}

impl ValueType {
    /// Whether values are categories: numbers or text by themselves, but no booleans, dates or decimals.
    pub(super) fn is_category(self) -> bool {
        self.is_dictionary && self.meaning == Meaning::Number && self.physical != Physical::Bool
    }

    /// Whether values are numbers and nothing else: no dates, decimals or categories, and no lists.
    pub(super) fn is_plain_number(self) -> bool {
        self.meaning == Meaning::Number
            && self.physical != Physical::Text
            && self.list.is_none()
            && !self.is_dictionary
    }

    /// The definition level of a value that is there.
    pub(super) fn present_level(self) -> i16 {
        i16::from(self.nullable)
    }

    pub(super) fn is_text(self) -> bool {
        self.physical == Physical::Text && self.meaning == Meaning::Number
    }

    pub(super) fn is_date(self) -> bool {
        matches!(self.meaning, Meaning::Day | Meaning::Timestamp(..))
    }

    pub(super) fn has_zone(self) -> Option<bool> {
        if let Meaning::Timestamp(_, has_zone) = self.meaning { has_zone } else { None }
    }

    pub(super) fn clock(self) -> Option<ClockUnit> {
        match self.meaning {
            Meaning::Duration(_) => Some(ClockUnit::Seconds),
            Meaning::TimeOfDay(_) => Some(ClockUnit::ShareOfDay),
            _ => None,
        }
    }

    pub(super) fn is_decimal(self) -> bool {
        matches!(self.meaning, Meaning::Decimal(_))
    }

    /// Whether every value is a number in single precision.
    pub(super) fn fits_single(self) -> bool {
        if self.meaning != Meaning::Number {
            return false;
        }
        match self.physical {
            Physical::Bool | Physical::Half | Physical::Float => true,
            Physical::Int32 | Physical::Int64 => self.bits <= 16,
            Physical::Double | Physical::Text => false,
        }
    }

    /// The number that is stored like this.
    pub(super) fn number(self, raw: u64) -> f64 {
        match self.meaning {
            Meaning::Number => {}
            Meaning::Day => return self.integer(raw) as f64,
            Meaning::Timestamp(units, _) => {
                let (ticks, nanos) = (self.integer(raw), NANOS_PER_SECOND / units);
                return dates::days(ticks.div_euclid(units), ticks.rem_euclid(units) * nanos);
            }
            Meaning::Duration(units) => return dates::seconds(self.integer(raw), units),
            Meaning::TimeOfDay(units) => return self.integer(raw) as f64 / units as f64 / 86_400.0,
            Meaning::Decimal(scale) => return decimal::number(i128::from(self.integer(raw)), scale),
        }
        match self.physical {
            Physical::Float => f64::from(f32::from_bits(raw as u32)),
            Physical::Double => f64::from_bits(raw),
            Physical::Half => f64::from(f16::from_bits(raw as u16)),
            Physical::Int32 | Physical::Int64 if self.signed => self.integer(raw) as f64,
            _ => self.unsigned(raw) as f64,
        }
    }

    /// The number as it is written in text: as a name, or in a message.
    pub(super) fn text(self, raw: u64) -> String {
        match self.meaning {
            Meaning::Number => {}
            Meaning::Day | Meaning::Timestamp(..) => return dates::text(self.number(raw)),
            Meaning::TimeOfDay(_) | Meaning::Duration(_) => return text::of_number(self.number(raw)),
            Meaning::Decimal(scale) => return decimal::text(i128::from(self.integer(raw)), scale),
        }
        match self.physical {
            Physical::Bool => (raw != 0).to_string(),
            Physical::Float => format!("{:?}", f32::from_bits(raw as u32)),
            Physical::Half => f16::from_bits(raw as u16).to_string(),
            Physical::Double => format!("{:?}", f64::from_bits(raw)),
            _ if self.signed => self.integer(raw).to_string(),
            _ => self.unsigned(raw).to_string(),
        }
    }

    /// The number and the text of a decimal that is stored in bytes.
    pub(super) fn wide_decimal(self, bytes: &[u8]) -> (f64, String) {
        let Meaning::Decimal(scale) = self.meaning else { return (f64::NAN, String::new()) };
        match decimal::from_bytes(bytes) {
            Some(value) => (decimal::number(value, scale), decimal::text(value, scale)),
            None => (f64::INFINITY, "a decimal of more than 38 digits".into()),
        }
    }

    fn integer(self, raw: u64) -> i64 {
        if self.physical == Physical::Int32 { i64::from(raw as i32) } else { raw as i64 }
    }

    fn unsigned(self, raw: u64) -> u64 {
        if self.physical == Physical::Int32 { u64::from(raw as u32) } else { raw }
    }
}

/// A column of the outermost level.
pub(super) struct Field {
    pub(super) name: String,
    /// Position among the leaves of the schema, and what it holds; or why it cannot be used.
    pub(super) content: Result<(usize, ValueType), String>,
}

impl Field {
    /// The same column as one of this Arrow type.
    pub(super) fn refine(&mut self, arrow_type: ArrowType) {
        let Ok((_, kind)) = &mut self.content else { return };
        match arrow_type {
            ArrowType::Duration(per_second)
                if kind.physical == Physical::Int64 && kind.meaning == Meaning::Number =>
            {
                kind.meaning = Meaning::Duration(per_second);
            }
            ArrowType::Duration(_) => {}
            ArrowType::Dictionary => kind.is_dictionary = true,
        }
    }
}

/// The columns of the outermost level. Those with columns of their own cannot be used.
pub(super) fn fields(schema: &SchemaDescriptor) -> Vec<Field> {
    let nested = "it is nested (a map, a struct, or a list of something else than numbers)";
    let roots = schema.root_schema().get_fields().iter();
    let field = |root: &parquet::schema::types::TypePtr| Field {
        name: root.name().to_string(),
        content: Err(nested.to_string()),
    };
    let mut fields: Vec<Field> = roots.map(field).collect();
    for leaf in 0..schema.num_columns() {
        let column = schema.column(leaf);
        let field = &mut fields[schema.get_column_root_idx(leaf)];
        if column.path().parts().len() == 1 && column.max_rep_level() == 0 {
            field.content = kind(&column).map(|kind| (leaf, kind));
        } else if is_list(schema, leaf) {
            let value = column.max_def_level();
            let element = value - i16::from(column.self_type().is_optional());
            let list = Some(ListLevels { element, value });
            let numbers = kind(&column).ok().filter(|kind| !kind.is_text() && !kind.is_date());
            field.content =
                numbers.map(|kind| (leaf, ValueType { list, ..kind })).ok_or_else(|| nested.to_string());
        }
    }
    fields
}

/// Whether a leaf is what the lists of a column hold: `emb.list.element`, or `emb.array` as old programs write it.
fn is_list(schema: &SchemaDescriptor, leaf: usize) -> bool {
    let (column, root) = (schema.column(leaf), schema.get_column_root_idx(leaf));
    let leaves = (0..schema.num_columns()).filter(|&other| schema.get_column_root_idx(other) == root).count();
    column.max_rep_level() == 1 && column.path().parts().len() <= 3 && leaves == 1
}

/// What the values stand for, if it is not just numbers or text.
fn meaning(column: &ColumnDescriptor) -> Option<Meaning> {
    let units = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1_000,
        TimeUnit::MICROS => 1_000_000,
        TimeUnit::NANOS => NANOS_PER_SECOND,
    };
    let decimal = || {
        let scale = u32::try_from(column.type_scale()).ok().filter(|scale| *scale <= 38)?;
        Some(Meaning::Decimal(scale))
    };
    match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (Type::INT96, ..) => Some(Meaning::Timestamp(NANOS_PER_SECOND, None)),
        (Type::INT32, Some(LogicalType::Date), _) | (Type::INT32, None, ConvertedType::DATE) => {
            Some(Meaning::Day)
        }
        (Type::INT64, Some(LogicalType::Timestamp(time)), _) => {
            Some(Meaning::Timestamp(units(&time.unit), Some(time.is_adjusted_to_u_t_c)))
        }
        (Type::INT64, None, ConvertedType::TIMESTAMP_MILLIS) => Some(Meaning::Timestamp(1_000, None)),
        (Type::INT64, None, ConvertedType::TIMESTAMP_MICROS) => Some(Meaning::Timestamp(1_000_000, None)),
        (Type::INT32 | Type::INT64, Some(LogicalType::Time(time)), _) => {
            Some(Meaning::TimeOfDay(units(&time.unit)))
        }
        (Type::INT32, None, ConvertedType::TIME_MILLIS) => Some(Meaning::TimeOfDay(1_000)),
        (Type::INT64, None, ConvertedType::TIME_MICROS) => Some(Meaning::TimeOfDay(1_000_000)),
        (
            Type::INT32 | Type::INT64 | Type::FIXED_LEN_BYTE_ARRAY | Type::BYTE_ARRAY,
            Some(LogicalType::Decimal(_)),
            _,
        )
        | (
            Type::INT32 | Type::INT64 | Type::FIXED_LEN_BYTE_ARRAY | Type::BYTE_ARRAY,
            None,
            ConvertedType::DECIMAL,
        ) => decimal(),
        _ => None,
    }
}

fn kind(column: &ColumnDescriptor) -> Result<ValueType, String> {
    let nullable = column.max_def_level() > 0;
    let of = |physical, bits, signed| {
        Ok(ValueType {
            physical,
            meaning: Meaning::Number,
            bits,
            signed,
            nullable,
            list: None,
            is_dictionary: false,
        })
    };
    if let Some(meaning) = meaning(column) {
        let physical = match column.physical_type() {
            Type::INT32 => Physical::Int32,
            Type::INT64 | Type::INT96 => Physical::Int64,
            // Bytes are kept as they are.
            _ => Physical::Text,
        };
        let (list, is_dictionary) = (None, false);
        return Ok(ValueType { physical, meaning, bits: 0, signed: true, nullable, list, is_dictionary });
    }
    let (logical, converted) = (column.logical_type_ref(), column.converted_type());
    let no_numbers = || {
        let what = logical.map_or_else(|| converted.to_string(), |logical| format!("{logical:?}"));
        Err(format!("it holds values of type {what}, which are neither numbers nor text"))
    };
    let integer = |physical, all: u8| match (logical, converted) {
        (Some(LogicalType::Integer(integer)), _) => {
            of(physical, integer.bit_width.unsigned_abs(), integer.is_signed)
        }
        (None, ConvertedType::NONE) => of(physical, all, true),
        (None, ConvertedType::INT_8) => of(physical, 8, true),
        (None, ConvertedType::INT_16) => of(physical, 16, true),
        (None, ConvertedType::INT_32 | ConvertedType::INT_64) => of(physical, all, true),
        (None, ConvertedType::UINT_8) => of(physical, 8, false),
        (None, ConvertedType::UINT_16) => of(physical, 16, false),
        (None, ConvertedType::UINT_32 | ConvertedType::UINT_64) => of(physical, all, false),
        _ => no_numbers(),
    };
    match (column.physical_type(), logical) {
        (Type::BOOLEAN, _) => of(Physical::Bool, 0, false),
        // A column of nulls alone.
        (Type::INT32, Some(LogicalType::Unknown)) => of(Physical::Int32, 32, true),
        (Type::INT32, _) => integer(Physical::Int32, 32),
        (Type::INT64, _) => integer(Physical::Int64, 64),
        (Type::FLOAT, _) => of(Physical::Float, 0, true),
        (Type::DOUBLE, _) => of(Physical::Double, 0, true),
        (Type::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) if column.type_length() == 2 => {
            of(Physical::Half, 0, true)
        }
        // Bytes without a word on what they are may be text, and are told apart when they are read.
        (Type::BYTE_ARRAY, None | Some(LogicalType::String | LogicalType::Enum))
            if matches!(converted, ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM) =>
        {
            of(Physical::Text, 0, false)
        }
        (other, None) if converted == ConvertedType::NONE => {
            Err(format!("it holds values of type {other}, which are neither numbers nor text"))
        }
        _ => no_numbers(),
    }
}
