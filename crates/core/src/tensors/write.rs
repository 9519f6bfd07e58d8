//! From tensors to the bytes of a safetensors file.

use super::{Envelope, FileKind, wrong};
use crate::{Matrix, Result};
use safetensors::tensor::{Dtype, View};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// The contents of a file: tensors with their names, what it is about, and attachments.
pub(crate) fn to_bytes<N: AsRef<str>>(
    kind: &FileKind,
    tensors: &[(N, Tensor)],
    about: &impl Serialize,
    attachments: Option<Box<RawValue>>,
) -> Result<Vec<u8>> {
    let json = |error: serde_json::Error| wrong("about", error);
    let about = RawValue::from_string(serde_json::to_string(about).map_err(json)?).map_err(json)?;
    let envelope = Envelope {
        format_version: kind.newest_version,
        kinfolk_version: env!("CARGO_PKG_VERSION").into(),
        tensors: tensors
            .iter()
            .map(|(name, tensor)| (name.as_ref().to_string(), crc32fast::hash(&tensor.bytes)))
            .collect(),
        about_crc32: crc32fast::hash(about.get().as_bytes()),
        about,
        attachments_crc32: attachments.as_ref().map(|text| crc32fast::hash(text.get().as_bytes())),
        attachments,
    };
    let metadata = HashMap::from([(kind.key.to_string(), serde_json::to_string(&envelope).map_err(json)?)]);
    safetensors::serialize(tensors.iter().map(|(name, tensor)| (name.as_ref(), tensor)), Some(metadata))
        .map_err(|error| wrong("it cannot be written", error))
}

/// A tensor ready to be written.
pub(crate) struct Tensor {
    pub(crate) dtype: Dtype,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl View for &Tensor {
    fn dtype(&self) -> Dtype {
        self.dtype
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        Cow::Borrowed(&self.bytes)
    }

    fn data_len(&self) -> usize {
        self.bytes.len()
    }
}

/// A matrix, row by row.
pub(crate) fn matrix(m: &Matrix) -> Tensor {
    doubles(m.as_slice(), vec![m.rows(), m.cols()])
}

/// Numbers in double precision.
pub(crate) fn doubles(values: &[f64], shape: Vec<usize>) -> Tensor {
    Tensor { dtype: Dtype::F64, shape, bytes: values.iter().flat_map(|x| x.to_le_bytes()).collect() }
}

/// A list of integers.
pub(crate) fn integers(values: &[u32]) -> Tensor {
    let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
    Tensor { dtype: Dtype::U32, shape: vec![values.len()], bytes }
}
