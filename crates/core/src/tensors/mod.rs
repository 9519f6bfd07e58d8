//! Files of tensors: [safetensors](https://github.com/huggingface/safetensors) with checksums and a description.

mod read;
mod write;

pub(crate) use read::{Tensors, has_checksum, to_f64};
pub(crate) use write::{Tensor, doubles, integers, matrix, to_bytes};

use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

/// What a file contains.
pub(crate) struct FileKind {
    /// Entry of the metadata that makes a safetensors file one of this kind.
    pub(crate) key: &'static str,
    /// With its article, for messages.
    pub(crate) name: &'static str,
    /// The newest version of the format that can be read, and the one that is written.
    pub(crate) newest_version: u32,
}

/// What is stored under the key of a [`FileKind`].
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Envelope {
    pub(crate) format_version: u32,
    pub(crate) kinfolk_version: String,
    /// CRC-32 of each tensor's bytes.
    pub(crate) tensors: BTreeMap<String, u32>,
    pub(crate) about_crc32: u32,
    pub(crate) about: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attachments_crc32: Option<u32>,
    /// Keys with JSON values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) attachments: Option<Box<RawValue>>,
}

/// Writes bytes to a file, replacing one that is there, completely or not at all.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    crate::write_atomically(path, |file| file.write_all(bytes)).map_err(|source| io_error(path, source))
}

/// Reads a file; errors about its contents name it.
pub(crate) fn load<T>(path: &Path, parse: impl FnOnce(&[u8]) -> Result<T>) -> Result<T> {
    let bytes = crate::fs::read_file(path).map_err(|source| io_error(path, source))?;
    parse(&bytes).map_err(|error| match error {
        Error::Model(why) => Error::Model(format!("{}: {why}", path.display())),
        other => other,
    })
}

fn io_error(path: &Path, source: std::io::Error) -> Error {
    Error::Io { path: path.display().to_string(), source }
}

/// An error about this part of a file.
pub(crate) fn wrong(what: impl std::fmt::Display, why: impl std::fmt::Display) -> Error {
    Error::Model(format!("{what}: {why}"))
}
