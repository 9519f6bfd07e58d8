//! Rows of an array.

use super::{CellKind, Cells};
use std::fs::File;
use std::io::{BufWriter, Result, Seek, SeekFrom, Write};

/// Bytes before the first number: enough for any shape, and a multiple of 64 as numpy likes it.
const HEADER: usize = 128;

/// An array of doubles being written. How many rows it has is known at the end, so room is left for the header.
pub(super) struct NpySink {
    to: BufWriter<File>,
    columns: usize,
    row: Vec<u8>,
}

impl NpySink {
    pub(super) fn new(file: File, columns: &[(String, CellKind)]) -> Result<Self> {
        let mut to = BufWriter::with_capacity(1 << 16, file);
        to.write_all(&[0; HEADER])?;
        Ok(NpySink { to, columns: columns.len(), row: vec![] })
    }

    pub(super) fn append(&mut self, cells: &[Cells<'_>], rows: usize) -> Result<()> {
        for row in 0..rows {
            self.row.clear();
            for column in cells {
                let value = match column {
                    Cells::Numbers(cells) | Cells::Singles(cells) => cells[row],
                    Cells::Integers(cells) => cells[row] as f64,
                    Cells::Words(_) => f64::NAN,
                };
                self.row.extend_from_slice(&value.to_le_bytes());
            }
            self.to.write_all(&self.row)?;
        }
        Ok(())
    }

    pub(super) fn finish(self, rows: u64) -> Result<File> {
        let mut file = self.to.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        let shape =
            if self.columns == 1 { format!("({rows},)") } else { format!("({rows}, {})", self.columns) };
        let text = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
        let mut header = Vec::from(b"\x93NUMPY\x01\x00");
        header.extend_from_slice(&((HEADER - 10) as u16).to_le_bytes());
        header.extend_from_slice(text.as_bytes());
        header.resize(HEADER - 1, b' ');
        header.push(b'\n');
        file.seek(SeekFrom::Start(0))?;
        file.write_all(&header)?;
        Ok(file)
    }
}
