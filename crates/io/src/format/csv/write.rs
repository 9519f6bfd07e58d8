//! Rows of text.

use crate::Decimal;
use crate::format::{CellKind, Cells, ColumnWriter, CreateResult, OutputFile};
use std::io::{Result, Write};

/// A csv file being written.
pub(super) struct CsvWriter {
    to: OutputFile,
    line: Vec<u8>,
    decimal: Decimal,
}

impl CsvWriter {
    pub(super) fn create(to: OutputFile, columns: &[(String, CellKind)]) -> CreateResult {
        with_decimal(to, columns, Decimal::Point)
    }

    fn separator(&self) -> u8 {
        if self.decimal == Decimal::Comma { b';' } else { b',' }
    }

    fn word(&mut self, text: &str) {
        word(&mut self.line, text);
        self.line.push(self.separator());
    }

    fn number(&mut self, value: f64) {
        let start = self.line.len();
        number(&mut self.line, value);
        if self.decimal == Decimal::Comma {
            self.line[start..].iter_mut().filter(|byte| **byte == b'.').for_each(|byte| *byte = b',');
        }
    }

    /// Every cell ends in a separator; the last one becomes the end of the line.
    fn end_line(&mut self) -> Result<()> {
        if let Some(last) = self.line.last_mut() {
            *last = b'\n';
        }
        self.to.write_all(&self.line)?;
        self.line.clear();
        Ok(())
    }
}

/// Starts a file whose numbers have this decimal sign. With a comma, semicolons separate cells.
pub(in crate::format) fn with_decimal(
    to: OutputFile,
    columns: &[(String, CellKind)],
    decimal: Decimal,
) -> CreateResult {
    let mut writer = CsvWriter { to, line: vec![], decimal };
    columns.iter().for_each(|(name, _)| writer.word(name));
    writer.end_line()?;
    Ok(Box::new(writer))
}

impl ColumnWriter for CsvWriter {
    fn append(&mut self, cells: &[Cells], rows: usize) -> Result<()> {
        for row in 0..rows {
            for column in cells {
                match column {
                    Cells::Numbers(cells) | Cells::Singles(cells) => self.number(cells[row]),
                    Cells::Integers(cells) => write!(self.line, "{}", cells[row])?,
                    Cells::Words(cells) => {
                        self.word(&cells[row]);
                        continue;
                    }
                }
                self.line.push(self.separator());
            }
            self.end_line()?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _: u64) -> Result<OutputFile> {
        Ok(self.to)
    }
}

/// The shortest text that gives the number back: `1`, `0.1`, `1e300`; nothing for NaN.
fn number(line: &mut Vec<u8>, value: f64) {
    if value.is_nan() {
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format(value);
    line.extend_from_slice(text.strip_suffix(".0").unwrap_or(text).as_bytes());
}

/// A word; in quotes if a reader could take it for something else.
fn word(line: &mut Vec<u8>, word: &str) {
    let special = |byte: u8| b",;|\t\"\r\n".contains(&byte);
    if word.is_empty() || word.starts_with('\u{feff}') || word.bytes().any(special) {
        line.push(b'"');
        for byte in word.bytes() {
            if byte == b'"' {
                line.push(b'"');
            }
            line.push(byte);
        }
        line.push(b'"');
    } else {
        line.extend_from_slice(word.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_come_back() {
        let values =
            [0.0, -0.0, 1.0, -1.5, 1e300, 5e-324, f64::from(0.1_f32), 0.1, 1e16, 123456789.0, 2f64.powi(70)];
        for value in values {
            let mut line = vec![];
            number(&mut line, value);
            let text = String::from_utf8(line).unwrap();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
            // Some write the sign of an exponent, some do not.
            assert!(text.replace("e+", "e").len() <= format!("{value:?}").len(), "{text}");
        }
    }
}
