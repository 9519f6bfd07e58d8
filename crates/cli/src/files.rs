//! Small files, written at once or not at all.

use crate::failure::{Failure, Result};
use crate::interrupt;
use kinfolk::{Matrix, Model};
use std::io::Write;
use std::path::Path;

/// Replaces a file.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    interrupt::will_write(path);
    kinfolk::write_atomically(path, |file| file.write_all(bytes))
        .map_err(|error| Failure::output(format!("{}: {error}", path.display())))
}

/// Replaces a model file.
pub(crate) fn write_model(path: &Path, model: &Model) -> Result<()> {
    let bytes = model.to_bytes().map_err(Failure::output)?;
    write(path, &bytes)
}

/// `Err` if nothing can be written there, found out before the work and not after it.
pub(crate) fn check_writable(path: &Path) -> Result<()> {
    let refuse = |why: &str| Err(Failure::output(format!("{}: {why}", path.display())));
    if path.file_name().is_none() {
        return refuse("it is not the name of a file");
    }
    if path.exists() && !path.is_file() {
        return refuse("it exists and is not a file");
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            refuse("there is no such folder")
        }
        _ => Ok(()),
    }
}

/// A matrix of doubles in the format of numpy, version 1.0.
pub(crate) fn npy(m: &Matrix) -> Vec<u8> {
    let mut header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", m.rows(), m.cols());
    // Magic, version and length take 10 bytes; all of it with the final newline a multiple of 64.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(m.as_slice().iter().flat_map(|x| x.to_le_bytes()));
    bytes
}
