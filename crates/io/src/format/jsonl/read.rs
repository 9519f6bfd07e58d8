//! Lines of JSON, read from top to bottom.

use super::object::{JsonEntry, JsonObject};
use crate::columns::cells::{self, Reading, TableCell};
use crate::columns::{ColumnCursor, ColumnNames, ColumnType, RowPlace, VisitCell};
use crate::error::{listed, quoted};
use crate::format::{InputFile, OpenCursorResult};
use crate::{Decimal, Error, Result};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{BufRead, Read};

/// Longest line, in bytes.
const MAX_LINE_BYTES: u64 = 256 << 20;
/// Names of columns take memory, so there is an end to them.
const MAX_COLUMNS: usize = 1 << 20;

/// A file of JSON objects.
pub(super) struct JsonCursor {
    input: InputFile,
    names: ColumnNames,
    /// Which columns hold lists.
    lists: Vec<bool>,
    /// Columns that are keys of objects inside of the lines.
    inside: Vec<String>,
    lines: JsonLines,
}

impl JsonCursor {
    pub(super) fn open(input: &InputFile) -> OpenCursorResult {
        let (mut names, mut known): (Vec<String>, HashMap<String, usize>) = (vec![], HashMap::new());
        let (mut lists, mut inside) = (vec![], vec![]);
        let mut lines = JsonLines::new(input)?;
        while let Some(object) = lines.next()? {
            for JsonEntry { key, value, is_inside } in object.0 {
                let place = *known.entry(key).or_insert_with_key(|key| {
                    inside.extend(is_inside.then(|| key.clone()));
                    names.push(key.clone());
                    lists.push(false);
                    names.len() - 1
                });
                lists[place] |= value.as_array().is_some_and(|list| list.iter().all(is_number));
            }
            if names.len() > MAX_COLUMNS {
                return Err(wrong!("there are more than {MAX_COLUMNS} different keys"));
            }
        }
        if names.is_empty() {
            return Err(wrong!("there are no objects with keys in it"));
        }
        let names = ColumnNames::of_file(names)?;
        let lines = JsonLines::new(input)?;
        Ok(Box::new(JsonCursor { input: input.clone(), names, lists, inside, lines }))
    }
}

/// Whether a value can be one of a list of numbers.
fn is_number(value: &Value) -> bool {
    value.is_number() || value.is_null()
}

impl ColumnCursor for JsonCursor {
    fn names(&self) -> &ColumnNames {
        &self.names
    }

    fn column_type(&self, column: usize) -> ColumnType {
        if self.lists[column] { ColumnType::List { single: false } } else { ColumnType::Unknown }
    }

    fn remark(&self) -> Option<String> {
        (!self.inside.is_empty())
            .then(|| format!("objects inside of lines became columns: {}", listed(&self.inside)))
    }

    fn visit(&mut self, columns: &[usize], most: usize, visit: &mut VisitCell<'_>) -> Result<usize> {
        for row in 0..most {
            let Some(object) = self.lines.next()? else { return Ok(row) };
            let place = RowPlace::Line(self.lines.line);
            let cells: HashMap<usize, Value> = object
                .0
                .into_iter()
                .filter_map(|JsonEntry { key, value, .. }| Some((self.names.find(&key)?, value)))
                .collect();
            for (i, column) in columns.iter().enumerate() {
                visit(&JsonCell(cells.get(column).unwrap_or(&Value::Null)), i, row, place)?;
            }
        }
        Ok(most)
    }

    fn rewind(&mut self) -> Result<()> {
        self.lines = JsonLines::new(&self.input)?;
        Ok(())
    }
}

struct JsonLines {
    text: Box<dyn BufRead + Send>,
    line: u64,
}

impl JsonLines {
    fn new(input: &InputFile) -> Result<Self> {
        Ok(JsonLines { text: input.text()?, line: 0 })
    }

    /// The next object; empty lines are skipped.
    fn next(&mut self) -> Result<Option<JsonObject>> {
        loop {
            self.line += 1;
            let mut bytes = vec![];
            let read = (&mut self.text).take(MAX_LINE_BYTES).read_until(b'\n', &mut bytes);
            let at_line = |error: Error| error.at_line(self.line);
            let read = read.map_err(|error| at_line(error.into()))?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == MAX_LINE_BYTES {
                return Err(at_line(wrong!("the line is longer than {} MiB", MAX_LINE_BYTES >> 20)));
            }
            let text = bytes.strip_prefix(b"\xef\xbb\xbf").filter(|_| self.line == 1).unwrap_or(&bytes);
            let text = text.trim_ascii();
            if !text.is_empty() {
                let object = JsonObject::parse(text);
                return object.map(Some).map_err(|error| at_line(wrong!("it is not a JSON object: {error}")));
            }
        }
    }
}

/// A value of an object.
struct JsonCell<'a>(&'a Value);

impl TableCell for JsonCell<'_> {
    fn number(&self, decimal: Decimal) -> Reading {
        match self.0 {
            Value::Null => Reading::Missing,
            Value::Bool(is) => Reading::Number(f64::from(u8::from(*is))),
            Value::Number(number) => number.as_f64().map_or(Reading::NotFinite, Reading::Number),
            Value::String(text) => cells::number(text, decimal),
            Value::Array(_) | Value::Object(_) => Reading::Word,
        }
    }

    fn text(&self) -> Result<Cow<'_, str>> {
        Ok(match self.0 {
            Value::Null => Cow::Borrowed(""),
            Value::String(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_string()),
        })
    }

    fn list(&self) -> Result<Option<Cow<'_, [f64]>>> {
        match self.0 {
            Value::Null => Ok(None),
            Value::Array(list) if list.iter().all(is_number) => {
                let number = |value: &Value| value.as_f64().unwrap_or(f64::NAN);
                Ok(Some(list.iter().map(number).collect()))
            }
            other => Err(wrong!("{} is not a list of numbers", quoted(&other.to_string()))),
        }
    }

    fn is_text(&self) -> bool {
        self.0.is_string()
    }
}
