//! Row groups of a parquet file.

use crate::format::{CellKind, Cells, ColumnWriter, CreateResult, OutputFile};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::io::{Error, Result};
use std::ops::Range;
use std::sync::Arc;

/// Cells of a row group, about: they are held in memory.
const GROUP_CELLS: usize = 1 << 20;

/// A parquet file being written.
pub(super) struct ParquetWriter {
    to: SerializedFileWriter<OutputFile>,
    /// The rows that wait for their row group, by columns.
    group: Vec<Cells>,
    rows: usize,
}

impl ParquetWriter {
    pub(super) fn create(to: OutputFile, columns: &[(String, CellKind)]) -> CreateResult {
        let fields =
            columns.iter().map(|(name, kind)| field(name, *kind)).collect::<Result<Vec<TypePtr>>>()?;
        let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(wrong)?;
        let mut properties = WriterProperties::builder()
            .set_created_by(format!("kinfolk version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::None)
            .set_dictionary_enabled(false);
        for (name, _) in columns.iter().filter(|(_, kind)| *kind == CellKind::Words) {
            properties = properties.set_column_dictionary_enabled(ColumnPath::from(name.as_str()), true);
        }
        let to =
            SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties.build())).map_err(wrong)?;
        let group = columns.iter().map(|(_, kind)| Cells::new(*kind)).collect();
        Ok(Box::new(ParquetWriter { to, group, rows: 0 }))
    }

    fn write_group(&mut self) -> Result<()> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let mut group = self.to.next_row_group().map_err(wrong)?;
        for column in &mut self.group {
            let mut to =
                group.next_column().map_err(wrong)?.ok_or_else(|| Error::other("a column is missing"))?;
            write(column, &mut to).map_err(wrong)?;
            *column = Cells::new(column.kind());
            to.close().map_err(wrong)?;
        }
        group.close().map(drop).map_err(wrong)
    }
}

impl ColumnWriter for ParquetWriter {
    fn append(&mut self, cells: &[Cells], rows: usize) -> Result<()> {
        let most = (GROUP_CELLS / cells.len().max(1)).max(1);
        let mut first = 0;
        while first < rows {
            let next = first + (rows - first).min(most - self.rows);
            self.group.iter_mut().zip(cells).for_each(|(column, cells)| extend(column, cells, first..next));
            self.rows += next - first;
            first = next;
            if self.rows >= most {
                self.write_group()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: u64) -> Result<OutputFile> {
        self.write_group()?;
        self.to.into_inner().map_err(wrong)
    }
}

/// Appends some rows of a column of the same kind.
fn extend(to: &mut Cells, from: &Cells, rows: Range<usize>) {
    match (to, from) {
        (Cells::Numbers(to), Cells::Numbers(from)) | (Cells::Singles(to), Cells::Singles(from)) => {
            to.extend_from_slice(&from[rows]);
        }
        (Cells::Integers(to), Cells::Integers(from)) => to.extend_from_slice(&from[rows]),
        (Cells::Words(to), Cells::Words(from)) => to.extend_from_slice(&from[rows]),
        _ => {}
    }
}

fn write(cells: &Cells, to: &mut SerializedColumnWriter<'_>) -> std::result::Result<usize, ParquetError> {
    match cells {
        Cells::Numbers(cells) => {
            let (values, levels) = present(cells);
            to.typed::<DoubleType>().write_batch(&values, Some(&levels), None)
        }
        Cells::Singles(cells) => {
            let (values, levels) = present(cells);
            let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
            to.typed::<FloatType>().write_batch(&values, Some(&levels), None)
        }
        Cells::Integers(cells) => to.typed::<Int64Type>().write_batch(cells, None, None),
        Cells::Words(cells) => {
            let words: Vec<ByteArray> = cells.iter().map(|word| ByteArray::from(word.as_str())).collect();
            to.typed::<ByteArrayType>().write_batch(&words, None, None)
        }
    }
}

/// Numbers that are there, and for each row whether it has one.
fn present(cells: &[f64]) -> (Vec<f64>, Vec<i16>) {
    let values = cells.iter().copied().filter(|value| !value.is_nan()).collect();
    (values, cells.iter().map(|value| i16::from(!value.is_nan())).collect())
}

fn field(name: &str, kind: CellKind) -> Result<TypePtr> {
    let (physical, logical, repetition) = match kind {
        CellKind::Numbers => (Physical::DOUBLE, None, Repetition::OPTIONAL),
        CellKind::Singles => (Physical::FLOAT, None, Repetition::OPTIONAL),
        CellKind::Integers => (Physical::INT64, None, Repetition::REQUIRED),
        CellKind::Words => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::REQUIRED),
    };
    let field =
        Type::primitive_type_builder(name, physical).with_repetition(repetition).with_logical_type(logical);
    field.build().map(Arc::new).map_err(wrong)
}

fn wrong(error: ParquetError) -> Error {
    Error::other(error.to_string())
}
