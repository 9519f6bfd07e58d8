//! A parquet file, read in chunks.

use super::column::{Batch, ColumnReader};
use super::pages::ParquetFile;
use super::schema::{self, Field, ValueType};
use crate::columns::cells::{ONE_HOT_VALUE, TableCell};
use crate::columns::{
    ColumnLayout, ColumnNames, ColumnUse, FirstPass, LabelKind, Precision, RowBuffer, TargetColumns,
};
use crate::format::{InputFile, OpenResult};
use crate::{ColumnRoles, Error, Hint, Result, Schema, Source, Table};

/// Rows decoded at a time from one column: enough for speed, little enough for the cache.
pub(super) const BATCH_ROWS: usize = 4096;
/// A file may claim this many cells without question...
const FREE_CELLS: u128 = 1 << 24;
/// ... and beyond that this many for each of its bytes. Runs of equal values take no room, but no data are
/// all alike.
const MAX_CELLS_PER_BYTE: u128 = 1000;

/// A parquet file, read in chunks.
pub(super) struct ParquetSource {
    file: ParquetFile,
    fields: Vec<Field>,
    names: ColumnNames,
    layout: ColumnLayout,
    precision: Precision,
    /// The row group being read, how many of its rows are left, its columns, and the row that comes next.
    group: usize,
    left: u64,
    columns: Vec<ColumnReader>,
    row: u64,
}

impl ParquetSource {
    /// As the training file was read (`schema`) or as the caller says (`columns`).
    pub(super) fn open(input: &InputFile, columns: &ColumnRoles, schema: Option<&Schema>) -> OpenResult {
        let file = open_file(input)?;
        let fields = schema::fields(file.metadata.file_metadata().schema_descr());
        let names = ColumnNames::new(fields.iter().map(|field| field.name.clone()).collect())?;
        let mut layout = match schema {
            Some(schema) => ColumnLayout::for_prediction(&names, columns, schema)?,
            None => ColumnLayout::for_fitting(&names, &without_index(&names, columns))?,
        };
        decide_label_kind(&mut layout, &fields);
        check_types(&layout, &fields, &names)?;
        let single =
            |column: usize| fields[column].content.as_ref().is_ok_and(|(_, value)| value.fits_single());
        let single =
            layout.features.iter().all(|feature| feature.one_hot.is_some() || single(feature.column));
        let precision = if single { Precision::Single } else { Precision::Double };
        let (group, left, row) = (0, 0, 0);
        let mut source =
            ParquetSource { file, fields, names, layout, precision, group, left, columns: vec![], row };
        source.check_size()?;
        if let Some(first_pass) = FirstPass::needed_for(&source.layout) {
            source.first_pass(first_pass)?;
        }
        Ok(Box::new(source))
    }

    /// Refuses a few bytes that claim to be a large table.
    fn check_size(&self) -> Result<()> {
        let (rows, size) = (self.n_rows().unwrap_or(usize::MAX), self.file.size);
        let columns = self.layout.uses().len();
        if rows as u128 * columns as u128 <= FREE_CELLS.max(u128::from(size) * MAX_CELLS_PER_BYTE) {
            return Ok(());
        }
        Err(wrong!("it claims to hold {rows} rows of {columns} columns in {size} bytes, as zip bombs do"))
    }

    /// Reads one-hot columns to know their values, then goes back to the beginning.
    fn first_pass(&mut self, mut first_pass: FirstPass) -> Result<()> {
        let columns = first_pass.one_hot_columns();
        while let Some(n) = self.next_rows(&columns, BATCH_ROWS)? {
            for (i, &column) in columns.iter().enumerate() {
                let batch = self.read(i, column, n)?;
                for (row, cell) in batch.cells().enumerate() {
                    let value = cell.name(ONE_HOT_VALUE);
                    let noted = value.and_then(|value| first_pass.value(i, &value));
                    noted.map_err(|error| self.at(row, column, error))?;
                }
            }
            self.advance(n);
        }
        first_pass.complete(&mut self.layout, &self.names)?;
        (self.group, self.left, self.row) = (0, 0, 0);
        self.columns.clear();
        Ok(())
    }

    /// How many of the next rows can be read at once, at most this many: those of a row group, whose columns
    /// are then open.
    fn next_rows(&mut self, columns: &[usize], most: usize) -> Result<Option<usize>> {
        while self.left == 0 {
            let Some(group) = self.file.metadata.row_groups().get(self.group) else { return Ok(None) };
            let claimed = group.num_rows();
            self.left =
                u64::try_from(claimed).map_err(|_| wrong!("a row group claims to have {claimed} rows"))?;
            self.columns.clear();
            for &column in columns {
                let (leaf, kind) = self.content(column)?;
                let reader = self.file.column(self.group, leaf);
                let reader = reader.map_err(|why| self.at(0, column, Error::of_table(why)))?;
                self.columns.push(ColumnReader::new(kind, reader));
            }
            self.group += 1;
        }
        Ok(Some(most.min(usize::try_from(self.left).unwrap_or(usize::MAX))))
    }

    fn read(&mut self, i: usize, column: usize, n: usize) -> Result<Batch> {
        self.columns[i].read(n).map_err(|why| self.at(0, column, Error::of_table(why)))
    }

    fn advance(&mut self, n: usize) {
        self.left -= n as u64;
        self.row += n as u64;
    }

    fn content(&self, column: usize) -> Result<(usize, ValueType)> {
        let content = self.fields[column].content.clone();
        content.map_err(|why| wrong!("it cannot be used: {why}").in_column(self.names.name(column)))
    }

    /// `row` counts from the next one to be read.
    fn at(&self, row: usize, column: usize, error: Error) -> Error {
        let row = usize::try_from(self.row).unwrap_or(usize::MAX).saturating_add(row);
        error.at_row(row).in_column(self.names.name(column))
    }
}

impl Source for ParquetSource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let max_rows = RowBuffer::at_most(max_rows, &self.layout);
        let uses = self.layout.uses();
        let columns: Vec<usize> = uses.iter().map(|(column, _)| *column).collect();
        let mut rows = RowBuffer::default();
        while rows.n_rows() < max_rows
            && let Some(n) = self.next_rows(&columns, BATCH_ROWS.min(max_rows - rows.n_rows()))?
        {
            let first = rows.n_rows();
            rows.grow(n, &self.layout);
            for (i, &(column, column_use)) in uses.iter().enumerate() {
                let batch = self.read(i, column, n)?;
                for (row, cell) in batch.cells().enumerate() {
                    rows.put(first + row, column_use, &cell, &self.layout, self.names.name(column))
                        .map_err(|error| self.at(row, column, error))?;
                }
            }
            self.advance(n);
        }
        match (rows.n_rows(), self.row) {
            (0, 0) => Err(wrong!("there are no rows")),
            (0, _) => Ok(None),
            _ => rows.finish(&self.layout, self.precision).map(Some),
        }
    }

    fn n_rows(&self) -> Option<usize> {
        let rows =
            self.file.metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        usize::try_from(rows.fold(0_u64, u64::saturating_add)).ok()
    }

    fn schema(&self) -> Schema {
        self.layout.schema().clone()
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

/// Leaves out the index that pandas adds, unless the caller names it.
fn without_index(names: &ColumnNames, columns: &ColumnRoles) -> ColumnRoles {
    let mut columns = columns.clone();
    let named = |name: &str| {
        let features = columns.features.iter().flatten();
        columns.named().map(|(_, name)| name).chain(features).any(|other| other == name)
    };
    let is_index = |name: &&str| {
        let number = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) && !named(name)
    };
    let index = (0..names.len()).map(|i| names.name(i)).filter(is_index).map(str::to_string);
    let index: Vec<String> = index.collect();
    columns.drop.extend(index);
    columns
}

/// The type of the column says what labels are.
fn decide_label_kind(layout: &mut ColumnLayout, fields: &[Field]) {
    let has_task = layout.task.is_some();
    if let Some(TargetColumns::One { column, kind: kind @ LabelKind::Unknown, .. }) = &mut layout.target {
        let is_text = fields[*column].content.as_ref().is_ok_and(|(_, value)| value.is_text());
        *kind = match (is_text, has_task) {
            (false, _) => LabelKind::Numbers,
            (true, true) => LabelKind::Words,
            (true, false) => LabelKind::Classes,
        };
    }
}

/// Every column that is used can be read, and features hold numbers.
fn check_types(layout: &ColumnLayout, fields: &[Field], names: &ColumnNames) -> Result<()> {
    for (column, column_use) in layout.uses() {
        let name = names.name(column);
        let (drop, one_hot) = (Hint::Drop(name.into()), Hint::OneHot(name.into()));
        let error = match (&fields[column].content, column_use) {
            (Err(why), ColumnUse::Feature(_)) if layout.fitting => {
                wrong!("it cannot be used: {why}").hint(drop)
            }
            (Err(why), _) => wrong!("it cannot be used: {why}"),
            (Ok((_, value)), ColumnUse::Feature(k))
                if value.is_text() && layout.features[k].one_hot.is_none() =>
            {
                let error = wrong!("it holds text, not numbers");
                if layout.fitting { error.hint(drop).hint(one_hot) } else { error }
            }
            _ => continue,
        };
        return Err(error.in_column(name));
    }
    Ok(())
}
