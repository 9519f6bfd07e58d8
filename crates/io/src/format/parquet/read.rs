//! A parquet file, read from top to bottom.

use super::column::ColumnReader;
use super::durations;
use super::pages::ParquetFile;
use super::schema::{self, Field};
use crate::columns::cells::TypedCell;
use crate::columns::{ColumnCursor, ColumnNames, ColumnType, RowPlace, VisitCell};
use crate::dates::ClockUnit;
use crate::format::{InputFile, OpenCursorResult};
use crate::{Error, Result};

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
            notes.filter(|note| note.key == durations::KEY).filter_map(|note| note.value.as_ref());
        let durations = notes.next().map_or(vec![], |text| durations::in_arrow_schema(text));
        for (name, per_second) in durations {
            let own = fields.iter_mut().filter(|field| field.name == name);
            own.for_each(|field| field.as_durations(per_second));
        }
        let names = ColumnNames::of_file(fields.iter().map(|field| field.name.clone()).collect())?;
        let (group, left, row) = (0, 0, 0);
        Ok(Box::new(ParquetCursor { file, fields, names, group, left, columns: vec![], row }))
    }

    /// How many of the next rows can be read at once, at most this many: those of a row group, whose columns
    /// are then open; 0 at the end.
    fn next_rows(&mut self, columns: &[usize], most: usize) -> Result<usize> {
        while self.left == 0 {
            let Some(group) = self.file.metadata.row_groups().get(self.group) else { return Ok(0) };
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
            for (row, list) in batch.lists().into_iter().enumerate() {
                let cell = list.map_or(TypedCell::Null, TypedCell::List);
                visit(&cell, i, row, RowPlace::Row(self.row + row as u64))?;
            }
            for (row, cell) in batch.cells().enumerate() {
                visit(&cell, i, row, RowPlace::Row(self.row + row as u64))?;
            }
        }
        self.left -= n as u64;
        self.row += n as u64;
        Ok(n)
    }

    fn rewind(&mut self) -> Result<()> {
        (self.group, self.left, self.row) = (0, 0, 0);
        self.columns.clear();
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
        None => ParquetFile::new(input.file()?),
    };
    file.map_err(|error| wrong!("it is not a whole parquet file: {error}"))
}
