//! Columns of lists of numbers, such as embeddings: a column for each number, `emb_0`, `emb_1`, ...

use super::cells::{Reading, TableCell};
use super::names::ListColumn;
use super::{ColumnCursor, ColumnNames, ColumnType, VisitCell};
use crate::dates::ClockUnit;
use crate::error::quoted;
use crate::{Decimal, Error, Result, text};
use std::borrow::Cow;

/// Rows looked at in one go for the length of lists.
const BATCH_ROWS: usize = 256;
/// Most numbers of a list.
const MAX_LENGTH: usize = 1 << 16;

/// A file whose lists are columns of numbers.
struct ListCursor {
    inner: Box<dyn ColumnCursor>,
    names: ColumnNames,
    /// The column of the file that each column is from, and which number of its list it is.
    places: Vec<(usize, Option<usize>)>,
}

/// The same file with a column for each number of its lists, which all have the same length.
///
/// # Errors
/// If a list is too long.
pub(crate) fn with_lists_as_columns(mut inner: Box<dyn ColumnCursor>) -> Result<Box<dyn ColumnCursor>> {
    let is_list = |column: &usize| matches!(inner.column_type(*column), ColumnType::List { .. });
    let columns: Vec<usize> = (0..inner.names().len()).filter(is_list).collect();
    if columns.is_empty() {
        return Ok(inner);
    }
    let lengths = lengths(&mut *inner, &columns)?;
    let old = inner.names();
    let (mut names, mut places, mut lists, mut unnamed) = (vec![], vec![], vec![], vec![]);
    for column in 0..old.len() {
        let name = old.name(column);
        match columns.iter().position(|list| *list == column) {
            Some(list) => {
                let length = lengths[list];
                lists.push(ListColumn { name: name.into(), first: names.len(), length });
                names.extend((0..length).map(|k| format!("{name}_{k}")));
                places.extend((0..length).map(|k| (column, Some(k))));
            }
            None => {
                names.push(name.to_string());
                places.push((column, None));
            }
        }
        unnamed.resize(names.len(), old.is_unnamed(column));
    }
    let names = ColumnNames::new(names)?.with_lists(lists, unnamed);
    Ok(Box::new(ListCursor { inner, names, places }))
}

/// The length of the first list of each column that is not empty; 0 if there is none.
fn lengths(inner: &mut dyn ColumnCursor, columns: &[usize]) -> Result<Vec<usize>> {
    let mut lengths = vec![0; columns.len()];
    let names: Vec<String> = columns.iter().map(|&column| inner.names().name(column).to_string()).collect();
    while lengths.contains(&0) {
        let rows = inner.visit(columns, BATCH_ROWS, &mut |cell, i, _, _| {
            // Reading says what is wrong with other cells.
            let found = cell.list().ok().flatten().map_or(0, |list| list.len());
            lengths[i] = if lengths[i] == 0 { found } else { lengths[i] };
            Ok(())
        })?;
        if rows == 0 {
            break;
        }
    }
    inner.rewind()?;
    match lengths.iter().position(|length| *length > MAX_LENGTH) {
        Some(i) => {
            let error = wrong!("a list has {} numbers, more than {MAX_LENGTH}", lengths[i]);
            Err(error.in_column(&*names[i]))
        }
        None => Ok(lengths),
    }
}

impl ColumnCursor for ListCursor {
    fn names(&self) -> &ColumnNames {
        &self.names
    }

    fn column_type(&self, column: usize) -> ColumnType {
        let (column, _) = self.places[column];
        match self.inner.column_type(column) {
            ColumnType::List { single } => ColumnType::Number { single },
            other => other,
        }
    }

    fn n_rows(&self) -> Option<usize> {
        self.inner.n_rows()
    }

    fn may_have_decimal_commas(&self) -> bool {
        self.inner.may_have_decimal_commas()
    }

    fn clock(&self, column: usize) -> Option<ClockUnit> {
        self.inner.clock(self.places[column].0)
    }

    fn empty_rows(&self) -> u64 {
        self.inner.empty_rows()
    }

    fn remark(&self) -> Option<String> {
        let lists = self.names.lists().iter().map(|list| match list.length {
            0 => format!("{} holds no lists with numbers in them", quoted(&list.name)),
            n => format!(
                "{} holds lists of {n} numbers: features {}_0 to {}_{}",
                quoted(&list.name),
                list.name,
                list.name,
                n - 1
            ),
        });
        let all: Vec<String> = self.inner.remark().into_iter().chain(lists).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }

    fn check_size(&self, columns: usize) -> Result<()> {
        self.inner.check_size(columns)
    }

    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize> {
        // Each column of the file once, in the order in which they are asked for first.
        let mut files: Vec<usize> = vec![];
        let mut wanted: Vec<Vec<(usize, Option<usize>)>> = vec![];
        let mut found = vec![None; self.inner.names().len()];
        for (i, &column) in columns.iter().enumerate() {
            let (of_file, number) = self.places[column];
            let at = *found[of_file].get_or_insert_with(|| {
                files.push(of_file);
                wanted.push(vec![]);
                files.len() - 1
            });
            wanted[at].push((i, number));
        }
        let length = |column: &usize| {
            let name = self.inner.names().name(*column);
            self.names.lists().iter().find(|list| list.name == name).map_or(0, |list| list.length)
        };
        let lengths: Vec<usize> = files.iter().map(length).collect();
        self.inner.visit(&files, most, &mut |cell, at, row, place| {
            // A column may be wanted twice, such as one that is learned from and kept.
            if wanted[at].iter().all(|(_, number)| number.is_none()) {
                return wanted[at].iter().try_for_each(|(i, _)| visit(cell, *i, row, place));
            }
            let list = cell.list().and_then(|list| match list.as_ref().map_or(0, |list| list.len()) {
                0 => Ok(None),
                n if n == lengths[at] => Ok(list),
                n => Err(wrong!("a list has the length {n}, and the first one has {}", lengths[at])),
            });
            // What is wrong with a list is said once, by the first of its columns.
            let (list, mut wrong) = list.map_or_else(|error| (None, Some(error.why)), |list| (list, None));
            for &(i, number) in &wanted[at] {
                let value = list.as_ref().zip(number).and_then(|(list, k)| list.get(k).copied());
                visit(&NumberCell(value.unwrap_or(f64::NAN), wrong.take()), i, row, place)?;
            }
            Ok(())
        })
    }

    fn rewind(&mut self) -> Result<()> {
        self.inner.rewind()
    }
}

/// A number of a list, NaN for a missing one, or what is wrong with the list.
struct NumberCell(f64, Option<Box<str>>);

impl TableCell for NumberCell {
    fn number(&self, _: Decimal) -> Reading {
        match self.0 {
            _ if self.1.is_some() => Reading::Word,
            value if value.is_nan() => Reading::Missing,
            value if value.is_finite() => Reading::Number(value),
            _ => Reading::NotFinite,
        }
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        if let Some(why) = &self.1 {
            return Err(Error::of_table(why));
        }
        Ok(if self.0.is_nan() { Cow::Borrowed("") } else { Cow::Owned(text::of_number(self.0)) })
    }

    fn is_text(&self) -> bool {
        false
    }
}
