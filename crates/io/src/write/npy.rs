//! Arrays in numpy's format.

use crate::Table;
use crate::storage::for_each;
use kinfolk::Inputs;
use std::io::{Error, ErrorKind, Result, Write};

/// Longest word that is read back.
const LONGEST_WORD: usize = 1 << 14;

/// The inputs of a table, alone.
pub(super) fn write(table: &Table, to: &mut impl Write) -> Result<()> {
    matrix(&table.inputs, to)
}

/// Inputs, rows one after another, zeros included, in their own precision.
pub(super) fn matrix(inputs: &Inputs<'_>, to: &mut impl Write) -> Result<()> {
    let single = match inputs {
        Inputs::Dense(x) => x.is_f32(),
        Inputs::Sparse(x) => x.is_f32(),
        _ => false,
    };
    let (rows, cols) = (inputs.n_inputs(), inputs.n_features());
    header(if single { "<f4" } else { "<f8" }, &[rows, cols], to)?;
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
pub(super) fn numbers(values: &[f64], shape: &[usize], to: &mut impl Write) -> Result<()> {
    header("<f8", shape, to)?;
    values.iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))
}

/// A list of integers.
pub(super) fn integers(values: impl ExactSizeIterator<Item = i64>, to: &mut impl Write) -> Result<()> {
    header("<i8", &[values.len()], to)?;
    values.into_iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))
}

/// A list of words, each as wide as the longest.
pub(super) fn words<'a>(words: impl Iterator<Item = &'a str> + Clone, to: &mut impl Write) -> Result<()> {
    let width = words.clone().map(|word| word.chars().count()).max().unwrap_or(0).max(1);
    let refused = |why: String| Err(Error::new(ErrorKind::InvalidData, why));
    if width > LONGEST_WORD {
        return refused(format!("a name has {width} characters; at most {LONGEST_WORD} can be written"));
    }
    if let Some(word) = words.clone().find(|word| word.ends_with('\0')) {
        return refused(format!("the name {word:?} ends with a zero, which numpy takes off"));
    }
    header(&format!("<U{width}"), &[words.clone().count()], to)?;
    for word in words {
        let filled = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        filled.into_iter().try_for_each(|code| to.write_all(&code.to_le_bytes()))?;
    }
    Ok(())
}

/// Version 1, filled up with blanks so that the data begin at a multiple of 64.
fn header(descr: &str, shape: &[usize], to: &mut impl Write) -> Result<()> {
    let shape = crate::npy::header::shape_text(&shape.iter().map(|&n| n as u64).collect::<Vec<_>>());
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
    let start = 10;
    text.push_str(&" ".repeat(63 - (start + text.len()) % 64));
    text.push('\n');
    to.write_all(b"\x93NUMPY\x01\x00")?;
    to.write_all(&(text.len() as u16).to_le_bytes())?;
    to.write_all(text.as_bytes())
}
