//! Rows as record batches.

use crate::format::{CellKind, Cells, ColumnWriter, CreateResult, OutputFile};
use arrow_array::{ArrayRef, Float32Array, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use std::io::{Error, Result};
use std::sync::Arc;

/// Rows of a batch.
const BATCH_ROWS: usize = 1 << 16;

/// An Arrow file being written: rows wait until a batch is full, so that chunks of any size make the same file.
pub(super) struct ArrowWriter {
    to: FileWriter<OutputFile>,
    schema: SchemaRef,
    waiting: Vec<Cells>,
}

impl ArrowWriter {
    pub(super) fn create(to: OutputFile, columns: &[(String, CellKind)]) -> CreateResult {
        let field = |(name, kind): &(String, CellKind)| {
            let (data_type, nullable) = match kind {
                CellKind::Numbers => (DataType::Float64, true),
                CellKind::Singles => (DataType::Float32, true),
                CellKind::Integers => (DataType::Int64, false),
                CellKind::Words => (DataType::Utf8, false),
            };
            Field::new(name, data_type, nullable)
        };
        let schema: SchemaRef = Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()));
        let to = FileWriter::try_new(to, &schema).map_err(crate::Error::of_table)?;
        let waiting = columns.iter().map(|(_, kind)| Cells::new(*kind)).collect();
        Ok(Box::new(ArrowWriter { to, schema, waiting }))
    }

    fn write_batch(&mut self) -> Result<()> {
        let number = |x: &f64| (!x.is_nan()).then_some(*x);
        let array = |cells: &Cells| -> ArrayRef {
            match cells {
                Cells::Numbers(cells) => Arc::new(cells.iter().map(number).collect::<Float64Array>()),
                Cells::Singles(cells) => {
                    Arc::new(cells.iter().map(|x| number(x).map(|x| x as f32)).collect::<Float32Array>())
                }
                Cells::Integers(cells) => Arc::new(Int64Array::from(cells.clone())),
                Cells::Words(cells) => Arc::new(StringArray::from_iter_values(cells)),
            }
        };
        let arrays: Vec<ArrayRef> = self.waiting.iter().map(array).collect();
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(Error::other)?;
        self.to.write(&batch).map_err(Error::other)?;
        self.waiting = self.waiting.iter().map(|cells| Cells::new(cells.kind())).collect();
        Ok(())
    }
}

impl ColumnWriter for ArrowWriter {
    fn append(&mut self, cells: &[Cells], rows: usize) -> Result<()> {
        for row in 0..rows {
            for (to, from) in self.waiting.iter_mut().zip(cells) {
                match (to, from) {
                    (Cells::Numbers(to), Cells::Numbers(from))
                    | (Cells::Singles(to), Cells::Singles(from)) => {
                        to.push(from[row]);
                    }
                    (Cells::Integers(to), Cells::Integers(from)) => to.push(from[row]),
                    (Cells::Words(to), Cells::Words(from)) => to.push(from[row].clone()),
                    _ => {}
                }
            }
            if self.waiting.first().map_or(0, Cells::len) >= BATCH_ROWS {
                self.write_batch()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>, _: u64) -> Result<OutputFile> {
        if self.waiting.first().is_some_and(|cells| !cells.is_empty()) {
            self.write_batch()?;
        }
        self.to.finish().map_err(Error::other)?;
        self.to.into_inner().map_err(Error::other)
    }
}
