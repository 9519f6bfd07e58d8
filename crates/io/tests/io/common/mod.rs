//! Shared by the tests: files made by hand, and what it means that two tables are the same.
#![allow(dead_code, clippy::unwrap_used)]

use kinfolk::Inputs;
use kinfolk_io::{ColumnRoles, Labels, Result, Schema, Table, Targets, read_bytes};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;

/// The same to the last bit: form, precision, values, names, labels (a missing one is like another), weights, parts.
pub(crate) fn assert_same(a: &Table, b: &Table) {
    assert_eq!(a.inputs.kind(), b.inputs.kind());
    assert_eq!((a.n_rows(), a.inputs.n_features()), (b.n_rows(), b.inputs.n_features()));
    match (&a.inputs, &b.inputs) {
        (Inputs::Dense(a), Inputs::Dense(b)) => {
            assert_eq!(a.is_f32(), b.is_f32());
            assert_eq!(a.as_f32().map(bits32), b.as_f32().map(bits32));
            assert_eq!(a.as_f64().map(bits64), b.as_f64().map(bits64));
        }
        (Inputs::Sparse(a), Inputs::Sparse(b)) => {
            assert_eq!((a.is_f32(), a.indptr(), a.indices()), (b.is_f32(), b.indptr(), b.indices()));
            (0..a.rows()).for_each(|i| assert!(a.row(i).eq(b.row(i))));
        }
        (Inputs::Gram(a), Inputs::Gram(b)) => assert_eq!(bits64(a.as_slice()), bits64(b.as_slice())),
        _ => panic!("kinds differ"),
    }
    assert_eq!(a.features, b.features);
    match (&a.targets, &b.targets) {
        (Targets::Wide { label: a, tasks }, Targets::Wide { label: b, tasks: others }) => {
            assert_eq!((tasks, a.rows(), a.cols()), (others, b.rows(), b.cols()));
            assert_eq!(bits64(a.as_slice()), bits64(b.as_slice()));
        }
        (
            Targets::Tasks { task: a, label: Some(Labels::Numbers(of_a)) },
            Targets::Tasks { task: b, label: Some(Labels::Numbers(of_b)) },
        ) => {
            assert_eq!(a, b);
            assert_eq!(bits64(of_a), bits64(of_b));
        }
        (a, b) => assert_eq!(a, b),
    }
    assert_eq!(a.weight, b.weight);
    assert_eq!(a.offset, b.offset);
    assert_eq!(a.split, b.split);
}

fn bits32(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// All missing values are one.
fn bits64(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }).collect()
}

/// An npy file with any header, true or not.
pub(crate) fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

pub(crate) fn f64s(values: &[f64], shape: &str) -> Vec<u8> {
    npy("'<f8'", false, shape, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn i64s(values: &[i64], shape: &str) -> Vec<u8> {
    npy("'<i8'", false, shape, &values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>())
}

pub(crate) fn words(values: &[&str]) -> Vec<u8> {
    let code = |word: &&str| {
        let codes = word.chars().map(u32::from).chain(std::iter::repeat(0)).take(12);
        codes.flat_map(u32::to_le_bytes).collect::<Vec<_>>()
    };
    npy("'<U12'", false, &format!("({},)", values.len()), &values.iter().flat_map(code).collect::<Vec<_>>())
}

/// A zip archive of such files.
pub(crate) fn npz(arrays: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(vec![]));
    for (name, bytes) in arrays {
        zip.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Reads bytes as a file of this name; messages come without it.
pub(crate) fn read_named(
    bytes: Vec<u8>,
    name: &str,
    columns: &ColumnRoles,
    schema: Option<&Schema>,
) -> Result<(Table, Schema)> {
    read_bytes(Path::new(name), &bytes, columns, schema).map_err(|mut error| {
        assert_eq!(error.path, Path::new(name));
        error.path = PathBuf::new();
        error
    })
}
