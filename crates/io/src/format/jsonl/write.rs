//! Rows as JSON objects.

use crate::format::{CellKind, Cells, ColumnWriter, CreateResult, OutputFile};
use serde_json::{Value, json};
use std::io::{Result, Write};

/// A file of JSON objects being written.
pub(super) struct JsonWriter {
    to: OutputFile,
    /// The keys as they are in the text.
    keys: Vec<String>,
}

impl JsonWriter {
    pub(super) fn create(to: OutputFile, columns: &[(String, CellKind)]) -> CreateResult {
        let keys = columns.iter().map(|(name, _)| Value::from(name.as_str()).to_string()).collect();
        Ok(Box::new(JsonWriter { to, keys }))
    }
}

impl ColumnWriter for JsonWriter {
    fn append(&mut self, cells: &[Cells], rows: usize) -> Result<()> {
        for row in 0..rows {
            let entry = |(key, cells): (&String, &Cells)| {
                let value = match cells {
                    Cells::Numbers(cells) | Cells::Singles(cells) => json!(cells[row]),
                    Cells::Integers(cells) => json!(cells[row]),
                    Cells::Words(cells) => json!(cells[row]),
                };
                format!("{key}:{value}")
            };
            let entries: Vec<String> = self.keys.iter().zip(cells).map(entry).collect();
            writeln!(self.to, "{{{}}}", entries.join(","))?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: u64) -> Result<OutputFile> {
        Ok(self.to)
    }
}
