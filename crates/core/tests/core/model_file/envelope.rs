//! A model file taken apart, to be put together again with something changed: an independent reading of the
//! format.

use serde_json::{Value, json, value::RawValue};
use std::collections::BTreeMap;

#[derive(Clone)]
pub(crate) struct Parts {
    /// format_version and kinfolk_version.
    pub(crate) version: (Value, Value),
    pub(crate) about: Value,
    /// Raw text of the attachments.
    pub(crate) attachments: Option<String>,
    pub(crate) tensors: BTreeMap<String, Tensor>,
    /// In the file, but not in the list of tensors.
    pub(crate) unlisted: Vec<&'static str>,
    /// In the list of tensors, but not in the file.
    pub(crate) missing: Vec<&'static str>,
}

#[derive(Clone)]
pub(crate) struct Tensor {
    pub(crate) dtype: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) bytes: Vec<u8>,
}

impl Tensor {
    pub(crate) fn doubles(shape: &[usize], values: &[f64]) -> Tensor {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        Tensor { dtype: "F64".into(), shape: shape.to_vec(), bytes }
    }

    /// Overwrites entry i of a tensor of doubles.
    pub(crate) fn set(&mut self, i: usize, value: f64) {
        self.bytes[8 * i..8 * (i + 1)].copy_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn set_u32(&mut self, i: usize, value: u32) {
        self.bytes[4 * i..4 * (i + 1)].copy_from_slice(&value.to_le_bytes());
    }

    pub(crate) fn set_u64(&mut self, i: usize, value: u64) {
        self.bytes[8 * i..8 * (i + 1)].copy_from_slice(&value.to_le_bytes());
    }
}

impl Parts {
    pub(crate) fn of(bytes: &[u8]) -> Parts {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let data = &bytes[8 + length..];
        let mut header: BTreeMap<String, Value> = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let metadata = header.remove("__metadata__").unwrap();
        let envelope: Value = serde_json::from_str(metadata["kinfolk"].as_str().unwrap()).unwrap();
        #[derive(serde::Deserialize)]
        struct Raw {
            attachments: Option<Box<RawValue>>,
        }
        let raw: Raw = serde_json::from_str(metadata["kinfolk"].as_str().unwrap()).unwrap();
        let attachments = raw.attachments.map(|text| text.get().to_string());
        let crc = attachments.as_ref().map(|text| crc32(text.as_bytes()));
        assert_eq!(envelope["attachments_crc32"], json!(crc));
        let tensors = header.into_iter().map(|(name, info)| {
            let numbers = |key: &str| -> Vec<usize> { serde_json::from_value(info[key].clone()).unwrap() };
            let (shape, span) = (numbers("shape"), numbers("data_offsets"));
            let bytes = data[span[0]..span[1]].to_vec();
            assert_eq!(envelope["tensors"][&name], crc32(&bytes), "{name}");
            (name, Tensor { dtype: info["dtype"].as_str().unwrap().into(), shape, bytes })
        });
        Parts {
            version: (envelope["format_version"].clone(), envelope["kinfolk_version"].clone()),
            about: envelope["about"].clone(),
            attachments,
            tensors: tensors.collect(),
            unlisted: vec![],
            missing: vec![],
        }
    }

    pub(crate) fn tensor(&mut self, name: &str) -> &mut Tensor {
        self.tensors.get_mut(name).unwrap_or_else(|| panic!("no tensor {name}"))
    }

    /// A file with the right checksums.
    pub(crate) fn seal(&self) -> Vec<u8> {
        let about = self.about.to_string();
        let listed = self.tensors.iter().filter(|(name, _)| !self.unlisted.contains(&name.as_str()));
        let mut checksums: BTreeMap<&str, u32> =
            listed.map(|(name, tensor)| (name.as_str(), crc32(&tensor.bytes))).collect();
        checksums.extend(self.missing.iter().map(|name| (*name, 0)));
        let attachments = self.attachments.as_ref().map_or(String::new(), |text| {
            format!(r#", "attachments_crc32": {}, "attachments": {text}"#, crc32(text.as_bytes()))
        });
        let about_crc32 = crc32(about.as_bytes());
        let checked =
            format!(r#""tensors": {}, "about_crc32": {about_crc32}, "about": {about}"#, json!(checksums));
        let (format, kinfolk) = &self.version;
        let envelope = format!(
            r#"{{"format_version": {format}, "kinfolk_version": {kinfolk}, {checked}{attachments}}}"#
        );
        let mut header = json!({"__metadata__": {"kinfolk": envelope}});
        let mut data = vec![];
        for (name, tensor) in &self.tensors {
            let offsets = [data.len(), data.len() + tensor.bytes.len()];
            header[name] = json!({"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": offsets});
            data.extend(&tensor.bytes);
        }
        file(header.to_string().as_bytes(), &data)
    }
}

/// A safetensors file with this header.
pub(crate) fn file(header: &[u8], data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header, data].concat()
}

/// Bit by bit, from the definition.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}
