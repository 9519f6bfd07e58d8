//! From the bytes of a safetensors file to its tensors, trusting nothing.

use super::{Envelope, FileKind, wrong};
use crate::{Error, Matrix, Result};
use safetensors::tensor::{Dtype, Metadata, TensorInfo};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The limit of the safetensors format.
const MAX_HEADER: u64 = 100_000_000;

/// The header and the bytes of the tensors. Not `SafeTensors::deserialize`, whose sums can overflow.
fn split(bytes: &[u8]) -> Result<(Metadata, &[u8])> {
    let not_one =
        |why: String| Err(Error::Model(format!("not a safetensors file, or a truncated one: {why}")));
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return not_one(format!("it has {} bytes", bytes.len()));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER {
        return not_one(format!("a header of {length} bytes is longer than any"));
    }
    if length > rest.len() as u64 {
        return not_one(format!("the header should have {length} bytes, {} bytes follow", rest.len()));
    }
    let (header, data) = rest.split_at(length as usize);
    let header = std::str::from_utf8(header).map_err(|error| wrong("header", error))?;
    let header: Metadata = serde_json::from_str(header).map_err(|error| wrong("header", error))?;
    match (header.data_len(), data.len()) {
        (expected, got) if expected > got => {
            Err(Error::Model(format!("truncated: the tensors should have {expected} bytes, there are {got}")))
        }
        (expected, got) if expected < got => {
            Err(Error::Model(format!("{} bytes after the last tensor", got - expected)))
        }
        _ => Ok((header, data)),
    }
}

fn envelope(header: &Metadata, kind: &FileKind) -> Result<Envelope> {
    let Some(text) = header.metadata().as_ref().and_then(|entries| entries.get(kind.key)) else {
        return Err(Error::Model(format!(
            "a safetensors file without an entry {:?} in its metadata: not {} of kinfolk",
            kind.key, kind.name
        )));
    };
    /// What every version of the format has.
    #[derive(Deserialize)]
    struct Versions {
        format_version: u64,
        kinfolk_version: String,
    }
    let in_metadata = |error| wrong("metadata", error);
    let Versions { format_version: version, kinfolk_version } =
        serde_json::from_str(text).map_err(in_metadata)?;
    if version > u64::from(kind.newest_version) {
        return Err(Error::Model(format!(
            "format version {version}, written by kinfolk {kinfolk_version}, is newer than version {}, \
             the newest that kinfolk {} reads",
            kind.newest_version,
            env!("CARGO_PKG_VERSION")
        )));
    }
    if version == 0 {
        return Err(Error::Model("format version 0 does not exist".into()));
    }
    serde_json::from_str(text).map_err(in_metadata)
}

/// The tensors of a file, each to be taken once.
pub(crate) struct Tensors<'a> {
    header: Metadata,
    data: &'a [u8],
    /// Of those listed.
    checksums: BTreeMap<String, u32>,
    /// Names of those taken so far.
    taken: BTreeSet<String>,
}

impl<'a> Tensors<'a> {
    /// Those of a file with this entry in its metadata, and what the entry says about it.
    pub(crate) fn open(bytes: &'a [u8], kind: &FileKind) -> Result<(Envelope, Self)> {
        let (header, data) = split(bytes)?;
        let mut envelope = envelope(&header, kind)?;
        if !has_checksum(envelope.about.get().as_bytes(), envelope.about_crc32) {
            return Err(wrong("about", "it does not match its checksum: the file is damaged"));
        }
        let checksums = std::mem::take(&mut envelope.tensors);
        Ok((envelope, Tensors { header, data, checksums, taken: BTreeSet::new() }))
    }

    /// Whether a tensor of this name is listed.
    pub(crate) fn lists(&self, name: &str) -> bool {
        self.checksums.contains_key(name)
    }

    /// A tensor of one of these types, and of this shape or else any list.
    pub(crate) fn take(
        &mut self,
        name: &str,
        dtypes: &[Dtype],
        shape: Option<&[usize]>,
    ) -> Result<(&TensorInfo, &'a [u8])> {
        let in_tensor = |why: String| Err(wrong(format!("tensor {name}"), why));
        let Some(&checksum) = self.checksums.get(name) else {
            return in_tensor("missing in the list of tensors in the metadata".into());
        };
        let Some(info) = self.header.info(name) else {
            return in_tensor("missing".into());
        };
        self.taken.insert(name.into());
        if !dtypes.contains(&info.dtype) {
            return in_tensor(format!("its type is {:?}, expected {}", info.dtype, one_of(dtypes)));
        }
        match shape {
            Some(shape) if info.shape != shape => {
                return in_tensor(format!("its shape is {:?}, expected {shape:?}", info.shape));
            }
            None if info.shape.len() != 1 => {
                return in_tensor(format!("its shape is {:?}, expected a list", info.shape));
            }
            _ => {}
        }
        let (start, end) = info.data_offsets;
        let Some(bytes) = self.data.get(start..end) else {
            return in_tensor(format!("bytes {start} to {end} are not in the file"));
        };
        if !has_checksum(bytes, checksum) {
            return in_tensor("it does not match its checksum: the file is damaged".into());
        }
        Ok((info, bytes))
    }

    /// `read(name)` if a tensor of this name is listed.
    pub(crate) fn if_listed<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&mut Self, &str) -> Result<T>,
    ) -> Result<Option<T>> {
        if self.checksums.contains_key(name) { read(self, name).map(Some) } else { Ok(None) }
    }

    pub(crate) fn doubles(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        Ok(to_f64(self.take(name, &[Dtype::F64], Some(shape))?.1))
    }

    pub(crate) fn matrix(&mut self, name: &str, rows: usize, cols: usize) -> Result<Matrix> {
        let values = self.doubles(name, &[rows, cols])?;
        Matrix::from_vec(values, rows, cols).map_err(|error| wrong(format!("tensor {name}"), error))
    }

    pub(crate) fn integers(&mut self, name: &str) -> Result<Vec<u32>> {
        let bytes = self.take(name, &[Dtype::U32], None)?.1;
        Ok(bytes.as_chunks().0.iter().map(|x| u32::from_le_bytes(*x)).collect())
    }

    /// `Err` if a tensor is left over, or one that is not listed has one of these names: it could be mistaken for a
    /// part of the contents. `place` says where a tensor has none.
    pub(crate) fn finish(self, names: &[&str], place: &str) -> Result<()> {
        if let Some(name) = self.checksums.keys().find(|name| !self.taken.contains(*name)) {
            return Err(wrong(format!("tensor {name}"), format!("it has no place in {place}")));
        }
        match names.iter().find(|name| self.header.info(name).is_some() && !self.taken.contains(**name)) {
            Some(name) => Err(wrong(format!("tensor {name}"), "not in the list of tensors in the metadata")),
            None => Ok(()),
        }
    }
}

/// Whether bytes have this CRC-32. No fuzzer guesses one, so under a fuzzer all do.
pub(crate) fn has_checksum(bytes: &[u8], checksum: u32) -> bool {
    cfg!(fuzzing) || crc32fast::hash(bytes) == checksum
}

pub(crate) fn to_f64(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks().0.iter().map(|x| f64::from_le_bytes(*x)).collect()
}

fn one_of(dtypes: &[Dtype]) -> String {
    dtypes.iter().map(|dtype| format!("{dtype:?}")).collect::<Vec<_>>().join(" or ")
}
