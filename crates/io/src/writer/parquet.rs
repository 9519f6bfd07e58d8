//! Row groups of a parquet file.

use super::{CellKind, Cells};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};
use std::fs::File;
use std::io::{Error, Result};
use std::sync::Arc;

/// Cells of a row group, about: they are held in memory.
const GROUP: usize = 1 << 20;

/// A parquet file being written.
pub(super) struct ParquetSink {
    to: SerializedFileWriter<File>,
    group: Vec<Column>,
    rows: usize,
}

/// The cells of a column that wait for their row group.
enum Column {
    Numbers(Vec<f64>),
    Singles(Vec<f64>),
    Integers(Vec<i64>),
    Words(Vec<ByteArray>),
}

impl ParquetSink {
    pub(super) fn new(file: File, columns: &[(String, CellKind)]) -> Result<Self> {
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
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build())).map_err(wrong)?;
        let group = columns.iter().map(|(_, kind)| Column::new(*kind)).collect();
        Ok(ParquetSink { to, group, rows: 0 })
    }

    pub(super) fn append(&mut self, cells: &[Cells<'_>], rows: usize) -> Result<()> {
        let most = (GROUP / cells.len().max(1)).max(1);
        let mut first = 0;
        while first < rows {
            let n = (rows - first).min(most - self.rows);
            self.group.iter_mut().zip(cells).for_each(|(column, cells)| column.extend(cells, first, n));
            first += n;
            self.rows += n;
            if self.rows >= most {
                self.write_group()?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<File> {
        self.write_group()?;
        self.to.into_inner().map_err(wrong)
    }

    fn write_group(&mut self) -> Result<()> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(());
        }
        let mut group = self.to.next_row_group().map_err(wrong)?;
        for column in &mut self.group {
            let mut to =
                group.next_column().map_err(wrong)?.ok_or_else(|| Error::other("a column is missing"))?;
            column.write(&mut to).map_err(wrong)?;
            to.close().map_err(wrong)?;
        }
        group.close().map(drop).map_err(wrong)
    }
}

impl Column {
    fn new(kind: CellKind) -> Self {
        match kind {
            CellKind::Numbers => Column::Numbers(vec![]),
            CellKind::Singles => Column::Singles(vec![]),
            CellKind::Integers => Column::Integers(vec![]),
            CellKind::Words => Column::Words(vec![]),
        }
    }

    fn extend(&mut self, cells: &Cells<'_>, first: usize, n: usize) {
        let rows = first..first + n;
        match (self, cells) {
            (Column::Numbers(column), Cells::Numbers(cells)) => column.extend_from_slice(&cells[rows]),
            (Column::Singles(column), Cells::Singles(cells)) => column.extend_from_slice(&cells[rows]),
            (Column::Integers(column), Cells::Integers(cells)) => column.extend_from_slice(&cells[rows]),
            (Column::Words(column), Cells::Words(cells)) => {
                column.extend(cells[rows].iter().map(|word| ByteArray::from(word.as_str())));
            }
            _ => {}
        }
    }

    /// Writes and forgets the cells.
    fn write(&mut self, to: &mut SerializedColumnWriter<'_>) -> std::result::Result<(), ParquetError> {
        match self {
            Column::Numbers(cells) => {
                let (values, levels) = present(cells);
                to.typed::<DoubleType>().write_batch(&values, Some(&levels), None)?;
                cells.clear();
            }
            Column::Singles(cells) => {
                let (values, levels) = present(cells);
                let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
                to.typed::<FloatType>().write_batch(&values, Some(&levels), None)?;
                cells.clear();
            }
            Column::Integers(cells) => {
                to.typed::<Int64Type>().write_batch(cells, None, None)?;
                cells.clear();
            }
            Column::Words(cells) => {
                to.typed::<ByteArrayType>().write_batch(cells, None, None)?;
                cells.clear();
            }
        }
        Ok(())
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
