//! Arrays of numpy with a header that is right in most places, alone or in an archive.

use crate::readers::read_twice;
use arbitrary::{Arbitrary, Result, Unstructured};
use std::io::{Cursor, Write};
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

/// Type and bytes of an entry.
const TYPES: [(&str, usize); 20] = [
    ("<f8", 8),
    ("<f4", 4),
    ("<f2", 2),
    (">f8", 8),
    ("<i8", 8),
    ("<i4", 4),
    ("<i2", 2),
    ("|i1", 1),
    ("<u8", 8),
    ("<u4", 4),
    ("<u2", 2),
    ("|u1", 1),
    ("|b1", 1),
    (">i4", 4),
    ("<U1", 4),
    ("<U3", 12),
    ("|S2", 2),
    ("|O", 8),
    ("<c16", 16),
    ("<U0", 0),
];
const NAMES: [&str; 14] = [
    "X",
    "y",
    "task",
    "Y",
    "label",
    "K",
    "weight",
    "offset",
    "split",
    "task_names",
    "class_names",
    "feature_names",
    "indptr",
    "shape",
];

/// An npy file; with so many rows, unless the bytes want it otherwise.
fn array(bytes: &mut Unstructured<'_>, rows: usize, columns: Option<usize>) -> Result<Vec<u8>> {
    let (descr, size) = if bytes.ratio(2, 3)? { TYPES[0] } else { *bytes.choose(&TYPES)? };
    let rows = if bytes.ratio(1, 20)? { usize::arbitrary(bytes)? } else { rows };
    let shape = match (columns, bytes.ratio(1, 20)?) {
        (Some(columns), false) => vec![rows, columns],
        (None, false) => vec![rows],
        _ => (0..bytes.int_in_range(0..=3)?).map(|_| usize::arbitrary(bytes)).collect::<Result<_>>()?,
    };
    let entries = shape.iter().fold(1usize, |a, &b| a.saturating_mul(b)).min(256);
    let mut data = vec![];
    for _ in 0..entries {
        let value: f64 =
            if bytes.ratio(1, 30)? { f64::arbitrary(bytes)? } else { f64::from(i8::arbitrary(bytes)? % 4) };
        match descr {
            "<f8" => data.extend(value.to_le_bytes()),
            "<f4" => data.extend((value as f32).to_le_bytes()),
            _ => data.extend((0..size).map(|place| if place == 0 { value as i8 as u8 } else { 0 })),
        }
    }
    if bytes.ratio(1, 30)? {
        data.truncate(usize::from(u8::arbitrary(bytes)?));
    }
    let fortran = if bytes.ratio(1, 5)? { "True" } else { "False" };
    let listed: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let mut header = format!(
        "{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': ({}{comma}), }}",
        listed.join(", ")
    );
    let version = if bytes.ratio(1, 20)? { u8::arbitrary(bytes)? } else { 1 };
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut file = vec![0x93];
    file.extend(b"NUMPY");
    file.extend([version, 0]);
    file.extend((header.len() as u16).to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(data);
    Ok(file)
}

/// An array alone.
pub fn npy(bytes: &[u8]) {
    let mut left = Unstructured::new(bytes);
    let made = |left: &mut Unstructured<'_>| {
        let (rows, columns) = (left.int_in_range(0..=9)?, left.int_in_range(0..=5)?);
        let columns = if left.ratio(1, 5)? { None } else { Some(columns) };
        array(left, rows, columns)
    };
    if let Ok(file) = made(&mut left) {
        read_twice(&file, "a.npy");
    }
}

/// An archive with inputs, labels and some of the other arrays.
pub fn npz(bytes: &[u8]) {
    let mut left = Unstructured::new(bytes);
    let made = |left: &mut Unstructured<'_>| -> Result<Vec<u8>> {
        let rows = left.int_in_range(0..=8)?;
        let mut archive = zip::ZipWriter::new(Cursor::new(vec![]));
        let deflated = left.ratio(1, 4)?;
        let method = if deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        let options = SimpleFileOptions::default().compression_method(method);
        for _ in 0..left.int_in_range(1..=5)? {
            let name = *left.choose(&NAMES)?;
            let columns = match name {
                "X" | "Y" => Some(left.int_in_range(0..=4)?),
                "K" => Some(rows),
                _ => None,
            };
            let file = array(left, rows, columns)?;
            // The same name twice is not made.
            if archive.start_file(format!("{name}.npy"), options).is_ok() {
                archive.write_all(&file).expect("memory takes all");
            }
        }
        Ok(archive.finish().expect("memory takes all").into_inner())
    };
    if let Ok(file) = made(&mut left) {
        read_twice(&file, "a.npz");
    }
}
