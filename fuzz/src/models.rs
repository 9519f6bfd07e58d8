//! The model loader. Whatever loads can predict, and is written and loaded again to the same bytes.

use crate::readers::check_message;
use arbitrary::{Arbitrary, Result, Unstructured};
use kinfolk::Model;
use kinfolk::inputs::{Dense, Inputs};
use kinfolk_train::Trained;
use serde_json::Value;

/// Models of every kind, from the command itself.
pub const SEEDS: [&[u8]; 5] = [
    include_bytes!("../seeds/model/kin.safetensors"),
    include_bytes!("../seeds/model/rbf.safetensors"),
    include_bytes!("../seeds/model/mtrl.safetensors"),
    include_bytes!("../seeds/model/sparse.safetensors"),
    include_bytes!("../seeds/model/classes.safetensors"),
];
const MOST_FEATURES: usize = 4096;

/// Loads bytes as a model file.
pub fn loaded(bytes: &[u8]) {
    let model = match Model::from_bytes(bytes) {
        Ok(model) => model,
        Err(error) => return check_message(error),
    };
    let d = model.about().n_features;
    if d <= MOST_FEATURES {
        let x: Vec<f64> = (0..2 * d).map(|i| (i % 3) as f64 - 1.0).collect();
        if let Ok(dense) = Dense::f64(&x, 2, d) {
            let _ = model.predict_all(&Inputs::from(dense));
        }
    }
    let _ = model.correlation();
    let _ = model.theta_parts();
    let _ = model.linear_coefficients();
    let written = model.to_bytes().expect("what was read can be written");
    let again = Model::from_bytes(&written).expect("what was written can be read");
    assert_eq!(again.to_bytes().expect("written before"), written);
    match Trained::from_model(model) {
        Ok(trained) => {
            let _ = trained.spec_mismatches();
            trained.to_bytes().expect("what was read can be written");
        }
        Err(error) => check_message(error),
    }
}

/// A model file in parts: its header, the settings inside, and the numbers.
pub struct Parts {
    pub header: serde_json::Map<String, Value>,
    pub envelope: Value,
    pub numbers: Vec<u8>,
}

impl Parts {
    /// Of a file that the command wrote.
    pub fn new(bytes: &[u8]) -> Parts {
        let length = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
        let header: serde_json::Map<String, Value> =
            serde_json::from_slice(&bytes[8..8 + length]).expect("a header of JSON");
        let text = header["__metadata__"]["kinfolk"].as_str().expect("the settings");
        let envelope = serde_json::from_str(text).expect("settings of JSON");
        Parts { header, envelope, numbers: bytes[8 + length..].to_vec() }
    }

    /// The file again. Checksums are not compared here.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut header = self.header.clone();
        header["__metadata__"]["kinfolk"] = self.envelope.to_string().into();
        let text = serde_json::to_vec(&header).expect("JSON");
        [&(text.len() as u64).to_le_bytes(), &text[..], &self.numbers[..]].concat()
    }
}

/// The values below this one, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

/// The value at this place of [`count`].
fn at(value: &mut Value, mut place: usize) -> &mut Value {
    if place == 0 {
        return value;
    }
    place -= 1;
    let below: Vec<&mut Value> = match value {
        Value::Array(list) => list.iter_mut().collect(),
        Value::Object(map) => map.values_mut().collect(),
        _ => unreachable!("a leaf has no places below"),
    };
    for inner in below {
        let size = count(inner);
        if place < size {
            return at(inner, place);
        }
        place -= size;
    }
    unreachable!("places are counted")
}

/// Something that may stand there instead.
fn other(bytes: &mut Unstructured<'_>, now: &Value) -> Result<Value> {
    Ok(match bytes.int_in_range(0..=9)? {
        0 => Value::Null,
        1 => bool::arbitrary(bytes)?.into(),
        2 => i64::arbitrary(bytes)?.into(),
        3 => f64::arbitrary(bytes)?.into(),
        4 => i8::arbitrary(bytes)?.into(),
        5 => <&str>::arbitrary(bytes)?.into(),
        6 => (*bytes.choose(&[
            "none", "free", "ridge:1", "shrunk:2", "pooled", "auto", "linear", "rbf", "squared", "hinge",
            "inf", "nan",
        ])?)
        .into(),
        7 => Value::Array(vec![now.clone(), now.clone()]),
        8 => Value::Array(vec![]),
        _ => serde_json::json!({"kind": <&str>::arbitrary(bytes)?}),
    })
}

/// A model file in which some settings, shapes or numbers are changed.
pub fn patched(bytes: &[u8]) {
    let mut left = Unstructured::new(bytes);
    let made = |left: &mut Unstructured<'_>| -> Result<Vec<u8>> {
        let mut parts = Parts::new(left.choose(&SEEDS)?);
        for _ in 0..left.int_in_range(1..=4)? {
            match left.int_in_range(0..=5)? {
                0..=3 => {
                    let place = left.int_in_range(0..=count(&parts.envelope) - 1)?;
                    let old = at(&mut parts.envelope, place);
                    *old = other(left, old)?;
                }
                4 => {
                    let mut header = Value::Object(std::mem::take(&mut parts.header));
                    let place = left.int_in_range(1..=count(&header) - 1)?;
                    let old = at(&mut header, place);
                    let new = other(left, old)?;
                    if !old.is_object() && !old.is_string() {
                        *old = new;
                    }
                    parts.header = header.as_object().cloned().unwrap_or_default();
                }
                _ => {
                    let place = left.int_in_range(0..=parts.numbers.len() / 8 - 1)?;
                    let number = if left.ratio(1, 2)? {
                        f64::arbitrary(left)?.to_bits()
                    } else {
                        u64::arbitrary(left)?
                    };
                    parts.numbers[8 * place..8 * place + 8].copy_from_slice(&number.to_le_bytes());
                }
            }
        }
        Ok(parts.to_bytes())
    };
    if let Ok(file) = made(&mut left) {
        loaded(&file);
    }
}
