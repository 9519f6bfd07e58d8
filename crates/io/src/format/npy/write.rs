//! Arrays in numpy's format.

use super::shape_text;
use crate::Table;
use crate::dense_or_sparse::{for_each, is_single};
use crate::format::{CellKind, Cells, ColumnWriter, CreateResult, OutputFile};
use kinfolk::{Inputs, Matrix};
use std::io::{Error, ErrorKind, Result, Seek, SeekFrom, Write};

/// Longest word that is read back.
const MAX_WORD_CHARS: usize = 1 << 14;
/// Bytes before the first number where the number of rows is not known yet: enough for any shape.
const LARGEST_HEADER: usize = 128;

/// A matrix of doubles as an npy file.
pub fn npy_bytes(m: &Matrix) -> Vec<u8> {
    let mut bytes = header("<f8", &[m.rows(), m.cols()], 0);
    bytes.extend(m.as_slice().iter().flat_map(|x| x.to_le_bytes()));
    bytes
}

/// The inputs of a table, which has nothing else.
pub(super) fn write(table: &Table, mut to: OutputFile) -> crate::Result<OutputFile> {
    matrix(&table.inputs, &mut to)?;
    Ok(to)
}

/// Inputs, rows one after another, zeros included, in their own precision.
pub(crate) fn matrix(inputs: &Inputs<'_>, to: &mut impl Write) -> Result<()> {
    let single = is_single(inputs);
    let (rows, cols) = (inputs.n_inputs(), inputs.n_features());
    to.write_all(&header(if single { "<f4" } else { "<f8" }, &[rows, cols], 0))?;
    let (mut row, mut bytes) = (vec![0.0; cols], vec![]);
    for i in 0..rows {
        row.fill(0.0);
        for_each(inputs, i, |j, x| row[j] = x);
        bytes.clear();
        match single {
            true => row.iter().for_each(|&x| bytes.extend((x as f32).to_le_bytes())),
            false => row.iter().for_each(|&x| bytes.extend(x.to_le_bytes())),
        }
        to.write_all(&bytes)?;
    }
    Ok(())
}

/// Numbers of any shape, rows one after another.
pub(crate) fn numbers(values: &[f64], shape: &[usize], to: &mut impl Write) -> Result<()> {
    to.write_all(&header("<f8", shape, 0))?;
    values.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))
}

/// A list of integers.
pub(crate) fn integers(values: impl ExactSizeIterator<Item = i64>, to: &mut impl Write) -> Result<()> {
    to.write_all(&header("<i8", &[values.len()], 0))?;
    values.into_iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))
}

/// A list of words, each as wide as the longest.
pub(crate) fn words<'a>(words: impl Iterator<Item = &'a str> + Clone, to: &mut impl Write) -> Result<()> {
    let width = words.clone().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
    let refused = |why: String| Err(Error::new(ErrorKind::InvalidData, why));
    if width > MAX_WORD_CHARS {
        return refused(format!("a name has {width} characters; at most {MAX_WORD_CHARS} can be written"));
    }
    if let Some(word) = words.clone().find(|word| word.ends_with('\0')) {
        return refused(format!("the name {word:?} ends with a zero, which numpy takes off"));
    }
    to.write_all(&header(&format!("<U{width}"), &[words.clone().count()], 0))?;
    for word in words {
        let filled = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        filled.into_iter().try_for_each(|code| to.write_all(&code.to_le_bytes()))?;
    }
    Ok(())
}

/// Version 1, filled up with blanks so that the data begin at a multiple of 64, and not before `least` bytes.
fn header(descr: &str, shape: &[usize], least: usize) -> Vec<u8> {
    let shape = shape_text(&shape.iter().map(|&n| n as u64).collect::<Vec<_>>());
    let text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let magic = b"\x93NUMPY\x01\x00";
    let start = magic.len() + size_of::<u16>();
    let size = (start + text.len() + 1).next_multiple_of(64).max(least);
    let mut header = magic.to_vec();
    header.extend(((size - start) as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header.resize(size - 1, b' ');
    header.push(b'\n');
    header
}

/// An array of doubles being written. The number of rows is known at the end, so room is left for the header.
pub(super) struct NpyWriter {
    to: OutputFile,
    columns: usize,
    row: Vec<u8>,
}

impl NpyWriter {
    pub(super) fn create(mut to: OutputFile, columns: &[(String, CellKind)]) -> CreateResult {
        if let Some((name, _)) = columns.iter().find(|(_, kind)| *kind == CellKind::Words) {
            return Err(wrong!("an array holds numbers alone, not words").in_column(name));
        }
        to.write_all(&[0; LARGEST_HEADER])?;
        Ok(Box::new(NpyWriter { to, columns: columns.len(), row: vec![] }))
    }
}

impl ColumnWriter for NpyWriter {
    fn append(&mut self, cells: &[Cells], rows: usize) -> Result<()> {
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

    fn finish(mut self: Box<Self>, rows: u64) -> Result<OutputFile> {
        let shape = [rows as usize, self.columns];
        let shape = if self.columns == 1 { &shape[..1] } else { &shape[..] };
        self.to.seek(SeekFrom::Start(0))?;
        self.to.write_all(&header("<f8", shape, LARGEST_HEADER))?;
        Ok(self.to)
    }
}
