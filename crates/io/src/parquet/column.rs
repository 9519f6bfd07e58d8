//! A column of a row group, read a few rows at a time.

use super::bits::Runs;
use super::pages::{Content, Pages};
use super::schema::Kind;
use super::values::{self, Decoder, Values};

/// Where a column is being read.
pub(super) struct Column {
    pub(super) kind: Kind,
    pages: Pages,
    dictionary: Option<Values>,
    page: Option<OpenPage>,
}

struct OpenPage {
    left: usize,
    levels: Option<Runs>,
    decoder: Decoder,
}

/// Some rows of a column.
pub(super) struct Batch {
    pub(super) kind: Kind,
    /// One per row, 1 if it has a value; empty if no column may be null.
    levels: Vec<u32>,
    values: Values,
}

impl Batch {
    /// The rows: the number or the text of each, or `None` for null.
    pub(super) fn cells(&self) -> impl Iterator<Item = Option<Cell<'_>>> {
        let (kind, mut next) = (self.kind, 0);
        let n = if kind.nullable { self.levels.len() } else { self.values.len() };
        (0..n).map(move |row| {
            if kind.nullable && self.levels[row] == 0 {
                return None;
            }
            next += 1;
            Some(match &self.values {
                Values::Raw(values) => Cell::Raw(kind, values[next - 1]),
                Values::Text(values) => Cell::Text(&values[next - 1]),
            })
        })
    }
}

/// A value.
#[derive(Clone, Copy)]
pub(super) enum Cell<'a> {
    Raw(Kind, u64),
    Text(&'a [u8]),
}

impl Column {
    pub(super) fn new(kind: Kind, pages: Pages) -> Self {
        Column { kind, pages, dictionary: None, page: None }
    }

    /// The next n rows; an error if there are fewer.
    pub(super) fn read(&mut self, n: usize) -> Result<Batch, String> {
        let mut batch = Batch { kind: self.kind, levels: vec![], values: Values::none(self.kind.physical) };
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
