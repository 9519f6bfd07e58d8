//! Record batches, read from top to bottom.

use super::blocks::FileBlocks;
use super::cells::{cells_of, column_type};
use super::zstd::WithoutZstd;
use crate::columns::{ColumnCursor, ColumnNames, ColumnType, RowPlace, VisitCell};
use crate::dates::ClockUnit;
use crate::format::no_panic::no_panic;
use crate::format::{InputFile, OpenCursorResult};
use crate::{Error, Result};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_schema::{DataType, SchemaRef};
use std::io::{BufRead, Seek};

/// An Arrow file or stream.
pub(super) struct ArrowCursor {
    input: InputFile,
    names: ColumnNames,
    schema: SchemaRef,
    batches: Batches,
    batch: Option<RecordBatch>,
    /// The row of the batch, and of the file, that comes next.
    next: usize,
    row: u64,
}

enum Batches {
    File(FileBlocks),
    Stream(StreamReader<WithoutZstd<Box<dyn SeekableInput>>>),
}

pub(super) trait SeekableInput: BufRead + Seek + Send {}
impl<T: BufRead + Seek + Send> SeekableInput for T {}

impl Batches {
    fn open(input: &InputFile) -> Result<(Self, SchemaRef)> {
        let mut bytes: Box<dyn SeekableInput> = Box::new(input.bytes()?);
        let is_file = bytes.fill_buf()?.starts_with(MAGIC);
        let wrong = |why: String| wrong!("it is not a whole Arrow file: {why}");
        if is_file {
            let blocks = no_panic(|| FileBlocks::open(bytes)).map_err(wrong)?;
            let schema = blocks.schema();
            return Ok((Batches::File(blocks), schema));
        }
        if bytes.fill_buf()?.starts_with(b"FEA1") {
            return Err(wrong!("it is a feather file of version 1; write it again as version 2"));
        }
        let reader = no_panic(|| StreamReader::try_new(WithoutZstd::new(bytes), None)).map_err(wrong)?;
        let schema = reader.schema();
        Ok((Batches::Stream(reader), schema))
    }

    fn next(&mut self) -> Result<Option<RecordBatch>> {
        let next = no_panic(|| match self {
            Batches::File(blocks) => blocks.next(),
            Batches::Stream(reader) => reader.next().transpose(),
        });
        next.map_err(|why| wrong!("a batch is corrupt: {why}"))
    }
}

/// The first and the last bytes of a file.
const MAGIC: &[u8] = b"ARROW1";

impl ArrowCursor {
    pub(super) fn open(input: &InputFile) -> OpenCursorResult {
        let (batches, schema) = Batches::open(input)?;
        let names = ColumnNames::of_file(schema.fields().iter().map(|field| field.name().clone()).collect())?;
        let input = input.clone();
        Ok(Box::new(ArrowCursor { input, names, schema, batches, batch: None, next: 0, row: 0 }))
    }
}

impl ColumnCursor for ArrowCursor {
    fn names(&self) -> &ColumnNames {
        &self.names
    }

    fn column_type(&self, column: usize) -> ColumnType {
        column_type(self.schema.field(column).data_type())
    }

    fn clock(&self, column: usize) -> Option<ClockUnit> {
        match self.schema.field(column).data_type() {
            DataType::Duration(_) => Some(ClockUnit::Seconds),
            DataType::Time32(_) | DataType::Time64(_) => Some(ClockUnit::ShareOfDay),
            _ => None,
        }
    }

    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize> {
        while self.batch.as_ref().is_none_or(|batch| self.next >= batch.num_rows()) {
            self.next = 0;
            self.batch = self.batches.next().map_err(|error| RowPlace::Row(self.row).mark(error))?;
            if self.batch.is_none() {
                return Ok(0);
            }
        }
        let Some(batch) = &self.batch else { return Ok(0) };
        let n = most.min(batch.num_rows() - self.next);
        for (i, &column) in columns.iter().enumerate() {
            let cells = no_panic(|| Ok::<_, String>(cells_of(&*batch.column(column).slice(self.next, n))));
            let cells = cells.map_err(|why| Error::of_table(why).in_column(self.names.name(column)))?;
            for (row, cell) in cells.iter().enumerate() {
                visit(cell, i, row, RowPlace::Row(self.row + row as u64))?;
            }
        }
        self.next += n;
        self.row += n as u64;
        Ok(n)
    }

    fn rewind(&mut self) -> Result<()> {
        self.batches = Batches::open(&self.input)?.0;
        (self.batch, self.next, self.row) = (None, 0, 0);
        Ok(())
    }
}
