//! A parquet file, read in chunks.

use super::column::Column;
use super::pages::File;
use super::rows;
use super::schema::{self, Field, Kind};
use crate::named::{Header, Kind as LabelKind, Layout, Precision, Rows, Survey, Target, Why};
use crate::{Columns, Error, Recipe, Result, Source, Table};
use std::path::Path;

/// Rows decoded at a time from one column: enough for speed, little enough for the cache.
const BATCH: usize = 4096;

/// A file may claim this many cells without question...
const FREE: u128 = 1 << 24;
/// ... and beyond that this many for each of its bytes. Runs of equal values take no room, but no data are all alike.
const MOST_PER_BYTE: u128 = 1000;

/// A parquet file, read in chunks.
pub struct ParquetSource {
    file: File,
    fields: Vec<Field>,
    header: Header,
    layout: Layout,
    precision: Precision,
    /// The row group being read, how many of its rows are left, its columns, and the row that comes next.
    group: usize,
    left: u64,
    columns: Vec<Column>,
    row: u64,
}

impl ParquetSource {
    /// Opens a file: as it was first read (`recipe`) or as the caller says (`columns`).
    pub fn open(path: &Path, columns: &Columns, recipe: Option<&Recipe>) -> Result<Self> {
        let file = std::fs::File::open(path).map_err(|error| Error::new(path, error))?;
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return Err(Error::new(path, "is not a regular file"));
        }
        ParquetSource::of(path, File::new(file), columns, recipe)
    }

    /// The same for bytes in memory; `path` is what messages call them.
    pub fn from_bytes(path: &Path, bytes: &[u8], columns: &Columns, recipe: Option<&Recipe>) -> Result<Self> {
        ParquetSource::of(path, File::new(bytes::Bytes::copy_from_slice(bytes)), columns, recipe)
    }

    fn of(
        path: &Path,
        file: std::result::Result<File, String>,
        columns: &Columns,
        recipe: Option<&Recipe>,
    ) -> Result<Self> {
        let file = file
            .map_err(|error| Error::new(path, format!("is not a parquet file, or a broken one: {error}")))?;
        let fields = schema::fields(file.metadata.file_metadata().schema_descr());
        let header = Header::new(path, fields.iter().map(|field| field.name.clone()).collect())?;
        let mut layout = match recipe {
            Some(recipe) => Layout::for_prediction(&header, columns, recipe)?,
            None => Layout::for_fitting(&header, &without_index(&header, columns))?,
        };
        settle_label(&mut layout, &fields);
        check_kinds(&layout, &fields, &header)?;
        let single =
            |column: usize| fields[column].content.as_ref().is_ok_and(|(_, kind)| kind.fits_single());
        let single =
            layout.features.iter().all(|feature| feature.one_hot.is_some() || single(feature.column));
        let precision = if single { Precision::Single } else { Precision::Double };
        let (group, left, row) = (0, 0, 0);
        let mut source =
            ParquetSource { file, fields, header, layout, precision, group, left, columns: vec![], row };
        source.check_size()?;
        if let Some(survey) = Survey::of(&source.layout) {
            source.survey(survey)?;
        }
        Ok(source)
    }

    /// Refuses a few bytes that claim to be a large table.
    fn check_size(&self) -> Result<()> {
        let rows = self.n_rows().unwrap_or(usize::MAX);
        let columns = rows::uses(&self.layout).len();
        if rows as u128 * columns as u128 <= FREE.max(u128::from(self.file.size) * MOST_PER_BYTE) {
            return Ok(());
        }
        let why = format!(
            "it claims to hold {rows} rows of {columns} columns in {} bytes, as zip bombs do",
            self.file.size
        );
        Err(Error::new(self.header.path(), why))
    }

    /// Reads one-hot columns to know their values, then goes back to the beginning.
    fn survey(&mut self, mut survey: Survey) -> Result<()> {
        let columns = survey.one_hot_columns();
        while let Some(n) = self.next_rows(&columns, BATCH)? {
            for (i, &column) in columns.iter().enumerate() {
                let batch = self.read(i, column, n)?;
                for (row, cell) in batch.cells().enumerate() {
                    rows::name(cell, "value in a one-hot column")
                        .and_then(|value| survey.value(i, &value))
                        .map_err(|why| self.wrong(row, column, why))?;
                }
            }
            self.advance(n);
        }
        survey.settle(&mut self.layout, &self.header)?;
        (self.group, self.left, self.row) = (0, 0, 0);
        self.columns.clear();
        Ok(())
    }

    /// How many of the next rows can be read at once, at most this many: those of a row group, whose columns are then open.
    fn next_rows(&mut self, columns: &[usize], most: usize) -> Result<Option<usize>> {
        while self.left == 0 {
            let Some(group) = self.file.metadata.row_groups().get(self.group) else { return Ok(None) };
            let claimed = group.num_rows();
            self.left = u64::try_from(claimed).map_err(|_| {
                Error::new(self.header.path(), format!("a row group claims to have {claimed} rows"))
            })?;
            self.columns.clear();
            for &column in columns {
                let (leaf, kind) = self.content(column)?;
                let pages = self.file.pages(self.group, leaf).map_err(|why| self.wrong(0, column, why))?;
                self.columns.push(Column::new(kind, pages));
            }
            self.group += 1;
        }
        Ok(Some(most.min(usize::try_from(self.left).unwrap_or(usize::MAX))))
    }

    fn read(&mut self, i: usize, column: usize, n: usize) -> Result<super::column::Batch> {
        self.columns[i].read(n).map_err(|why| self.wrong(0, column, why))
    }

    fn advance(&mut self, n: usize) {
        self.left -= n as u64;
        self.row += n as u64;
    }

    fn content(&self, column: usize) -> Result<(usize, Kind)> {
        self.fields[column].content.clone().map_err(|why| {
            Error::new(self.header.path(), format!("cannot be used: {why}"))
                .in_column(self.header.name(column))
        })
    }

    /// `row` counts from the next one to be read.
    fn wrong(&self, row: usize, column: usize, why: String) -> Error {
        let row = usize::try_from(self.row).unwrap_or(usize::MAX).saturating_add(row);
        Error::new(self.header.path(), why).at_row(row).in_column(self.header.name(column))
    }
}

impl Source for ParquetSource {
    fn next_chunk(&mut self, max_rows: usize) -> Result<Option<Table>> {
        let max_rows = Rows::at_most(max_rows, &self.layout);
        let uses = rows::uses(&self.layout);
        let columns: Vec<usize> = uses.iter().map(|(column, _)| *column).collect();
        let mut rows = Rows::new();
        while rows.n < max_rows
            && let Some(n) = self.next_rows(&columns, BATCH.min(max_rows - rows.n))?
        {
            rows::make_room(&mut rows, n, &self.layout);
            for (i, &(column, usage)) in uses.iter().enumerate() {
                let batch = self.read(i, column, n)?;
                rows::fill(&mut rows, n, &batch, usage, &self.layout, self.header.name(column))
                    .map_err(|(row, why)| self.wrong(row, column, why))?;
            }
            self.advance(n);
        }
        match (rows.n, self.row) {
            (0, 0) => Err(Error::new(self.header.path(), "there are no rows")),
            (0, _) => Ok(None),
            _ => rows.finish(&self.layout, self.precision, self.header.path()).map(Some),
        }
    }

    fn n_rows(&self) -> Option<usize> {
        let rows =
            self.file.metadata.row_groups().iter().map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        usize::try_from(rows.fold(0_u64, u64::saturating_add)).ok()
    }

    fn recipe(&self) -> Recipe {
        self.layout.recipe().clone()
    }
}

/// Leaves out what pandas keeps for itself, unless the caller speaks of it.
fn without_index(header: &Header, columns: &Columns) -> Columns {
    let mut columns = columns.clone();
    let named = |name: &str| {
        let one = [&columns.task, &columns.weight, &columns.split].into_iter().flatten();
        let lists = [&columns.target, &columns.drop, &columns.one_hot].into_iter().flatten();
        one.chain(lists).chain(columns.features.iter().flatten()).any(|other| other == name)
    };
    let is_index = |name: &&str| {
        let number = name.strip_prefix("__index_level_").and_then(|rest| rest.strip_suffix("__"));
        number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit())) && !named(name)
    };
    let names = (0..header.len()).map(|i| header.name(i)).filter(is_index).map(str::to_string);
    let names: Vec<String> = names.collect();
    columns.drop.extend(names);
    columns
}

/// The type of the column says what labels are.
fn settle_label(layout: &mut Layout, fields: &[Field]) {
    let has_task = layout.task.is_some();
    if let Some(Target::One { column, kind: kind @ LabelKind::Open, .. }) = &mut layout.target {
        let is_text = fields[*column].content.as_ref().is_ok_and(|(_, kind)| kind.is_text());
        *kind = match (is_text, has_task) {
            (false, _) => LabelKind::Numbers,
            (true, true) => LabelKind::Words,
            (true, false) => LabelKind::Classes,
        };
    }
}

/// Features, weights and wide labels are numbers; whatever is used can be used.
fn check_kinds(layout: &Layout, fields: &[Field], header: &Header) -> Result<()> {
    for (column, usage) in rows::uses(layout) {
        let wrong = |why: String| Err(Error::new(header.path(), why).in_column(header.name(column)));
        let name = header.name(column);
        match (&fields[column].content, usage) {
            (Err(why), rows::Usage::Feature(_)) if layout.fitting => {
                return wrong(format!("cannot be used: {why}; {}", Why::offer_drop(name)));
            }
            (Err(why), _) => return wrong(format!("cannot be used: {why}")),
            (Ok((_, kind)), rows::Usage::Feature(k))
                if kind.is_text() && layout.features[k].one_hot.is_none() =>
            {
                let offer = if layout.fitting { format!("; {}", Why::offer(name)) } else { String::new() };
                return wrong(format!("holds text, not numbers{offer}"));
            }
            _ => {}
        }
    }
    Ok(())
}
