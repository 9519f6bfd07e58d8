//! Columns that are in the names of folders, as Hive, Spark, pandas and polars write them: the rows of
//! `sales/country=de/year=2024/part-0.parquet` have the country `de` and the year 2024.

use super::blocks::{CellBlock, ColumnBlock, ColumnBlocks, VisitRow};
use super::cells::TypedCell;
use super::{ColumnCursor, ColumnNames, ColumnType, VisitCell};
use crate::dates::ClockUnit;
use crate::error::quoted;
use crate::{ReadThreads, Result};
use std::ops::Range;
use std::path::{Component, Path};

/// What Hive and Spark write for a missing value.
const MISSING: &str = "__HIVE_DEFAULT_PARTITION__";

/// A file with columns of one value each, that of its path.
struct PartitionedCursor {
    inner: Box<dyn ColumnCursor>,
    names: ColumnNames,
    /// The values of the last columns.
    values: Vec<TypedCell>,
    /// What is to be said about folders called like a column of the file.
    beside: Vec<String>,
}

/// The same file with a column for each folder of its path that is called `column=value`, unless it has that column
/// itself.
pub(crate) fn with_partitions(inner: Box<dyn ColumnCursor>, path: &Path) -> Result<Box<dyn ColumnCursor>> {
    let folders = path.parent().into_iter().flat_map(Path::components);
    let (mut found, mut beside): (Vec<(String, TypedCell)>, Vec<String>) = (vec![], vec![]);
    for (name, value) in folders.filter_map(|folder| match folder {
        Component::Normal(folder) => partition(folder.to_str()?),
        _ => None,
    }) {
        let names = inner.names();
        if let Some(own) = names.find(&name) {
            let own = quoted(names.name(own));
            beside.push(format!("column {own} is that of the files, not that of the names of folders"));
        } else if found.iter().all(|(other, _)| *other != name) {
            if let Some(own) = names.find_in_other_case(&name) {
                let own = quoted(names.name(own));
                beside
                    .push(format!("{own} in the files is another column than {} of folders", quoted(&name)));
            }
            found.push((name, value));
        }
    }
    if found.is_empty() && beside.is_empty() {
        return Ok(inner);
    }
    let (more, values): (Vec<String>, Vec<TypedCell>) = found.into_iter().unzip();
    let names = inner.names().with_more(more)?;
    Ok(Box::new(PartitionedCursor { inner, names, values, beside }))
}

/// Whether a folder is called as one of a partition.
pub fn is_partition(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).and_then(partition).is_some()
}

/// The column and the value of a folder `column=value`.
fn partition(folder: &str) -> Option<(String, TypedCell)> {
    let (name, value) = folder.split_once('=').filter(|(name, _)| !name.is_empty())?;
    let value = match value {
        "" | MISSING => TypedCell::Null,
        value => TypedCell::Text(unescaped(value)),
    };
    Some((unescaped(name), value))
}

/// Names of folders have `%2F` for a slash.
fn unescaped(text: &str) -> String {
    let (mut bytes, mut rest) = (vec![], text.as_bytes());
    while let [first, more @ ..] = rest {
        let code = more.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &more[2..];
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_string())
}

impl PartitionedCursor {
    /// The value of a column, if it is not one of the file.
    fn value(&self, column: usize) -> Option<&TypedCell> {
        column.checked_sub(self.inner.names().len()).map(|place| &self.values[place])
    }

    /// The columns of the file among these, with their places; at least one of the file, whose cells say how many rows
    /// there are, with no place.
    fn of_file(&self, columns: &[usize]) -> Vec<(usize, Option<usize>)> {
        let is_own = |(_, column): &(usize, usize)| self.value(*column).is_none();
        let own = columns.iter().copied().enumerate().filter(is_own);
        let own: Vec<(usize, Option<usize>)> = own.map(|(i, column)| (column, Some(i))).collect();
        let is_usable = |column: &usize| !matches!(self.inner.column_type(*column), ColumnType::Unusable(_));
        let any = || (0..self.inner.names().len()).find(is_usable).map(|column| (column, None));
        if own.is_empty() { any().into_iter().collect() } else { own }
    }
}

impl ColumnCursor for PartitionedCursor {
    fn names(&self) -> &ColumnNames {
        &self.names
    }

    fn column_type(&self, column: usize) -> ColumnType {
        self.value(column).map_or_else(|| self.inner.column_type(column), |_| ColumnType::Unknown)
    }

    fn n_rows(&self) -> Option<usize> {
        self.inner.n_rows()
    }

    fn may_have_decimal_commas(&self) -> bool {
        self.inner.may_have_decimal_commas()
    }

    fn clock(&self, column: usize) -> Option<ClockUnit> {
        self.value(column).map_or_else(|| self.inner.clock(column), |_| None)
    }

    fn empty_rows(&self) -> u64 {
        self.inner.empty_rows()
    }

    fn remark(&self) -> Option<String> {
        let first = self.inner.names().len();
        let names: Vec<String> = (first..self.names.len()).map(|i| quoted(self.names.name(i))).collect();
        let columns = if names.len() == 1 { "column" } else { "columns" };
        let own = format!("{columns} from the names of folders: {}", names.join(", "));
        let own = Some(own).filter(|_| !names.is_empty());
        let all: Vec<String> =
            self.inner.remark().into_iter().chain(own).chain(self.beside.iter().cloned()).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn check_size(&self, columns: usize) -> Result<()> {
        self.inner.check_size(columns)
    }

    /// A cell of a partition comes just before the next cell of the file in its row, so that cells of a row come in
    /// the order in which columns are asked for.
    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize> {
        let own = self.of_file(columns);
        let value = |column: usize| self.value(column).cloned();
        let values: Vec<Option<TypedCell>> = columns.iter().map(|&column| value(column)).collect();
        let of_file: Vec<usize> = own.iter().map(|(column, _)| *column).collect();
        self.inner.visit(&of_file, most, &mut |cell, i, row, place| {
            let own_place = own[i].1;
            let before = if i == 0 { 0 } else { own[i - 1].1.map_or(0, |place| place + 1) };
            let visit_values = |mut range: Range<usize>, visit: &mut VisitCell<'_>| {
                range.try_for_each(|at| {
                    values[at].as_ref().map_or(Ok(()), |value| visit(value, at, row, place))
                })
            };
            visit_values(before..own_place.unwrap_or(before), visit)?;
            own_place.map_or(Ok(()), |at| visit(cell, at, row, place))?;
            match i + 1 < own.len() {
                true => Ok(()),
                false => visit_values(own_place.map_or(before, |at| at + 1)..values.len(), visit),
            }
        })
    }

    fn next_blocks(
        &mut self,
        columns: &[(usize, bool)],
        most: usize,
        threads: Option<&ReadThreads>,
    ) -> Result<Option<ColumnBlocks>> {
        let places: Vec<usize> = columns.iter().map(|(column, _)| *column).collect();
        let own = self.of_file(&places);
        let as_numbers = |place: Option<usize>| place.is_some_and(|place| columns[place].1);
        let of_file: Vec<(usize, bool)> =
            own.iter().map(|(column, place)| (*column, as_numbers(*place))).collect();
        let Some(blocks) = self.inner.next_blocks(&of_file, most, threads)? else { return Ok(None) };
        let ColumnBlocks { first_row, n_rows, columns: found } = blocks;
        let mut found = own.iter().zip(found).filter_map(|((_, place), block)| place.map(|_| block));
        let block = |&column: &usize| match self.value(column) {
            Some(value) => Some(ColumnBlock::Cells(Box::new(EqualCells { value: value.clone(), n_rows }))),
            None => found.next(),
        };
        let columns = if n_rows == 0 { vec![] } else { places.iter().filter_map(block).collect() };
        Ok(Some(ColumnBlocks { first_row, n_rows, columns }))
    }

    fn rows_at_hand(&self) -> Option<usize> {
        self.inner.rows_at_hand()
    }

    fn nulls(&self, column: usize) -> Option<u64> {
        self.value(column).map_or_else(|| self.inner.nulls(column), |_| None)
    }

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()
    }
}

/// Cells that are all the same.
struct EqualCells {
    value: TypedCell,
    n_rows: usize,
}

impl CellBlock for EqualCells {
    fn visit(&self, visit: &mut VisitRow<'_>) -> Result<()> {
        (0..self.n_rows).try_for_each(|row| visit(&self.value, row))
    }

    fn visit_different(&self, visit: &mut VisitRow<'_>) -> Result<Vec<u32>> {
        visit(&self.value, 0)?;
        Ok(vec![0; self.n_rows])
    }
}
