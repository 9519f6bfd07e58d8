//! A column of a row group, read a few rows at a time.

use super::bits::Runs;
use super::pages::{Content, Pages};
use super::schema::ValueType;
use super::values::{self, Decoder, PageValues};
use crate::columns::cells::{self, Reading, TableCell};
use std::borrow::Cow;

/// Where a column is being read.
pub(super) struct ColumnReader {
    pub(super) kind: ValueType,
    pages: Pages,
    dictionary: Option<PageValues>,
    page: Option<OpenPage>,
}

struct OpenPage {
    left: usize,
    levels: Option<Runs>,
    decoder: Decoder,
}

/// Some rows of a column.
pub(super) struct Batch {
    pub(super) kind: ValueType,
    /// One per row, 1 if it has a value; empty if no column may be null.
    levels: Vec<u32>,
    values: PageValues,
}

impl Batch {
    /// The cells of the rows.
    pub(super) fn cells(&self) -> impl Iterator<Item = NullableCell<'_>> {
        let (kind, mut next) = (self.kind, 0);
        let n = if kind.nullable { self.levels.len() } else { self.values.len() };
        (0..n).map(move |row| {
            if kind.nullable && self.levels[row] == 0 {
                return NullableCell(None);
            }
            next += 1;
            NullableCell(Some(match &self.values {
                PageValues::Raw(values) => PageCell::Raw(kind, values[next - 1]),
                PageValues::Text(values) => PageCell::Text(&values[next - 1]),
            }))
        })
    }
}

/// A value.
#[derive(Clone, Copy)]
pub(super) enum PageCell<'a> {
    Raw(ValueType, u64),
    Text(&'a [u8]),
}

impl ColumnReader {
    pub(super) fn new(kind: ValueType, pages: Pages) -> Self {
        ColumnReader { kind, pages, dictionary: None, page: None }
    }

    /// The next n rows; an error if there are fewer.
    pub(super) fn read(&mut self, n: usize) -> Result<Batch, String> {
        let mut batch =
            Batch { kind: self.kind, levels: vec![], values: PageValues::none(self.kind.physical) };
        let mut read = 0;
        while read < n {
            let page = match &mut self.page {
                Some(page) if page.left > 0 => page,
                _ => {
                    self.page = Some(self.next_page()?.ok_or("it has fewer rows than the file claims")?);
                    continue;
                }
            };
            let take = page.left.min(n - read);
            let corrupt = "a page is corrupt";
            let there = match &mut page.levels {
                None => take,
                Some(levels) => {
                    let before = batch.levels.len();
                    levels.read(take, &mut batch.levels).ok_or(corrupt)?;
                    batch.levels[before..].iter().filter(|&&level| level != 0).count()
                }
            };
            page.decoder.read(there, self.dictionary.as_ref(), &mut batch.values).ok_or(corrupt)?;
            page.left -= take;
            read += take;
        }
        Ok(batch)
    }

    fn next_page(&mut self) -> Result<Option<OpenPage>, String> {
        let physical = self.kind.physical;
        loop {
            match self.pages.next(self.kind.nullable)? {
                None => return Ok(None),
                Some(Content::Dictionary { n, bytes }) => {
                    let values = values::dictionary(physical, bytes, n);
                    self.dictionary = Some(values.ok_or("its dictionary is corrupt")?);
                }
                Some(Content::Data { n, levels, encoding, bytes }) => {
                    // Columns of the outermost level are there or not: one bit.
                    let levels = levels.and_then(|levels| Runs::new(levels, 1));
                    let decoder = Decoder::new(physical, encoding, bytes, n)?;
                    return Ok(Some(OpenPage { left: n, levels, decoder }));
                }
            }
        }
    }
}

/// A cell that may be null.
pub(super) struct NullableCell<'a>(pub(super) Option<PageCell<'a>>);

impl TableCell for NullableCell<'_> {
    fn number(&self) -> Reading {
        match self.0 {
            None => Reading::Missing,
            // A text is read as in csv.
            Some(PageCell::Text(bytes)) => cells::number_in(bytes),
            Some(PageCell::Raw(kind, raw)) => match kind.number(raw) {
                value if value.is_nan() => Reading::Missing,
                value if value.is_finite() => Reading::Number(value),
                _ => Reading::NotFinite,
            },
        }
    }

    fn text(&self) -> crate::Result<Cow<'_, str>> {
        match self.0 {
            None => Ok(Cow::Borrowed("")),
            Some(PageCell::Raw(kind, raw)) => Ok(Cow::Owned(kind.text(raw))),
            Some(PageCell::Text(bytes)) => cells::text_in(bytes),
        }
    }
}
