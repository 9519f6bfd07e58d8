//! A parquet file, read from top to bottom.

use super::arrow_schema;
use super::column::ColumnReader;
use super::pages::ParquetFile;
use super::schema::{self, Field};
use super::shared_file::SharedFile;
use crate::columns::{CellBlock, ColumnBlocks, ColumnCursor, ColumnNames, ColumnType, RowPlace, VisitCell};
use crate::dates::ClockUnit;
use crate::format::{InputFile, OpenCursorResult};
use crate::{Error, ReadThreads, Result};
use rayon::prelude::*;

/// A file may claim this many cells without question...
const FREE_CELLS: u128 = 1 << 24;
/// ... and beyond that this many for each of its bytes. Runs of equal values take no room, but no data are
/// all alike.
const MAX_CELLS_PER_BYTE: u128 = 1000;

/// A parquet file.
pub(super) struct ParquetCursor {
    file: ParquetFile,
    fields: Vec<Field>,
    names: ColumnNames,
    /// The row group being read, how many of its rows are left, its columns, and the row that comes next.
    group: usize,
    left: u64,
    columns: Vec<ColumnReader>,
    row: u64,
}

impl ParquetCursor {
    pub(super) fn open(input: &InputFile) -> OpenCursorResult {
        let file = open_file(input)?;
        let of_file = file.metadata.file_metadata();
        let mut fields = schema::fields(of_file.schema_descr());
        let notes = of_file.key_value_metadata().into_iter().flatten();
        let mut notes =
            notes.filter(|note| note.key == arrow_schema::KEY).filter_map(|note| note.value.as_ref());
        for (name, arrow_type) in notes.next().map_or(vec![], |text| arrow_schema::in_note(text)) {
            let own = fields.iter_mut().filter(|field| field.name == name);
            own.for_each(|field| field.refine(arrow_type));
        }
        let names = ColumnNames::of_file(fields.iter().map(|field| field.name.clone()).collect())?;
        let (group, left, row) = (0, 0, 0);
        file.close();
        Ok(Box::new(ParquetCursor { file, fields, names, group, left, columns: vec![], row }))
    }

    /// How many of the next rows can be read at once, at most this many: those of a row group, whose columns
    /// are then open; 0 at the end.
    fn next_rows(&mut self, columns: &[usize], most: usize) -> Result<usize> {
        while self.left == 0 {
            let Some(group) = self.file.metadata.row_groups().get(self.group) else {
                self.columns.clear();
                self.file.close();
                return Ok(0);
            };
            let claimed = group.num_rows();
            self.left =
                u64::try_from(claimed).map_err(|_| wrong!("a row group claims to have {claimed} rows"))?;
            self.columns.clear();
            for &column in columns {
                let (leaf, kind) =
                    self.fields[column].content.clone().map_err(|why| self.at(column, &why))?;
                let reader = self.file.column(self.group, leaf).map_err(|why| self.at(column, &why))?;
                self.columns.push(ColumnReader::new(kind, reader));
            }
            self.group += 1;
        }
        Ok(most.min(usize::try_from(self.left).unwrap_or(usize::MAX)))
    }

    fn at(&self, column: usize, why: &impl std::fmt::Display) -> Error {
        RowPlace::Row(self.row).mark(Error::of_table(why)).in_column(self.names.name(column))
    }
}

impl ColumnCursor for ParquetCursor {
    fn names(&self) -> &ColumnNames {
        &self.names
    }

    fn column_type(&self, column: usize) -> ColumnType {
        match &self.fields[column].content {
            Err(why) => ColumnType::Unusable(why.clone()),
            Ok((_, kind)) if kind.list.is_some() => ColumnType::List { single: kind.fits_single() },
            Ok((_, kind)) if kind.is_category() => ColumnType::Category,
            Ok((_, kind)) if kind.is_text() => ColumnType::Text,
            Ok((_, kind)) if kind.is_date() => ColumnType::Date,
            Ok((_, kind)) => ColumnType::Number { single: kind.fits_single() },
        }
    }

    fn clock(&self, column: usize) -> Option<ClockUnit> {
        self.fields[column].content.as_ref().ok().and_then(|(_, kind)| kind.clock())
    }

    fn n_rows(&self) -> Option<usize> {
        let rows =
            self.file.metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        usize::try_from(rows.fold(0_u64, u64::saturating_add)).ok()
    }

    /// Refuses a few bytes that claim to be a large table.
    fn check_size(&self, columns: usize) -> Result<()> {
        let (rows, size) = (self.n_rows().unwrap_or(usize::MAX), self.file.size);
        if rows as u128 * columns as u128 <= FREE_CELLS.max(u128::from(size) * MAX_CELLS_PER_BYTE) {
            return Ok(());
        }
        Err(wrong!("it claims to hold {rows} rows of {columns} columns in {size} bytes, as zip bombs do"))
    }

    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize> {
        let n = self.next_rows(columns, most)?;
        if n == 0 {
            return Ok(0);
        }
        for (i, &column) in columns.iter().enumerate() {
            let batch = self.columns[i].read(n).map_err(|why| self.at(column, &why))?;
            batch.visit(&mut |cell, row| visit(cell, i, row, RowPlace::Row(self.row + row as u64)))?;
        }
        self.left -= n as u64;
        self.row += n as u64;
        Ok(n)
    }

    fn next_blocks(
        &mut self,
        columns: &[(usize, bool)],
        most: usize,
        threads: Option<&ReadThreads>,
    ) -> Result<Option<ColumnBlocks>> {
        let places: Vec<usize> = columns.iter().map(|(column, _)| *column).collect();
        let n_rows = self.next_rows(&places, most)?;
        let first_row = self.row;
        if n_rows == 0 {
            return Ok(Some(ColumnBlocks { first_row, n_rows, columns: vec![] }));
        }
        let read = |(reader, (_, as_numbers)): (&mut ColumnReader, &(usize, bool))| {
            reader.read_block(n_rows, *as_numbers)
        };
        let readers = &mut self.columns;
        let blocks: Vec<_> = ReadThreads::run(threads, || match threads {
            Some(_) => readers.par_iter_mut().zip(columns).map(read).collect(),
            None => readers.iter_mut().zip(columns).map(read).collect(),
        });
        let named = |(block, &(column, _)): (std::result::Result<_, String>, &(usize, bool))| {
            block.map_err(|why| self.at(column, &why))
        };
        let columns = blocks.into_iter().zip(columns).map(named).collect::<Result<Vec<_>>>()?;
        self.left -= n_rows as u64;
        self.row += n_rows as u64;
        Ok(Some(ColumnBlocks { first_row, n_rows, columns }))
    }

    fn rows_at_hand(&self) -> Option<usize> {
        // A row group claims them; `check_size` has compared the claims with the bytes of the file.
        usize::try_from(self.left).ok()
    }

    fn nulls(&self, column: usize) -> Option<u64> {
        let (leaf, _) = self.fields[column].content.as_ref().ok()?;
        let groups = self.file.metadata.row_groups().iter();
        groups.map(|group| group.columns().get(*leaf)?.statistics()?.null_count_opt()).sum()
    }

    fn rewind(&mut self) -> Result<()> {
        (self.group, self.left, self.row) = (0, 0, 0);
        self.columns.clear();
        self.file.close();
        Ok(())
    }
}

/// The file, with what it says about its columns.
pub(super) fn open_file(input: &InputFile) -> Result<ParquetFile> {
    let file = match &input.bytes {
        Some(bytes) => ParquetFile::new(bytes::Bytes::copy_from_slice(bytes)),
        None if !input.is_repeatable() && input.path.exists() => {
            return Err(wrong!("it is not a regular file"));
        }
        None => ParquetFile::new(SharedFile::new(&input.path, input.file()?)?),
    };
    file.map_err(|error| wrong!("it is not a whole parquet file: {error}"))
}
