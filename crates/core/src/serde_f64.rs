//! `f64` in JSON, which has no infinity and no NaN: those are written as `"inf"`, `"-inf"` and `"nan"`, which
//! `float()` of Python and `parse` of Rust read.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

struct JsonNumber(f64);

impl Serialize for JsonNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("nan"),
            x if x > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

impl<'de> Deserialize<'de> for JsonNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = JsonNumber;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, \"inf\", \"-inf\" or \"nan\"")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<JsonNumber, E> {
        Ok(JsonNumber(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<JsonNumber, E> {
        Ok(JsonNumber(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<JsonNumber, E> {
        Ok(JsonNumber(value as f64))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<JsonNumber, E> {
        match value {
            "inf" => Ok(JsonNumber(f64::INFINITY)),
            "-inf" => Ok(JsonNumber(f64::NEG_INFINITY)),
            "nan" => Ok(JsonNumber(f64::NAN)),
            _ => Err(E::invalid_value(Unexpected::Str(value), &self)),
        }
    }
}

/// For `#[serde(with = "kinfolk::serde_f64::number")]` on an `f64`.
pub mod number {
    use super::{Deserialize, Deserializer, JsonNumber, Serialize, Serializer};

    /// Writes it.
    pub fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        JsonNumber(*value).serialize(serializer)
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(JsonNumber::deserialize(deserializer)?.0)
    }
}

/// For `#[serde(with = "kinfolk::serde_f64::numbers")]` on a list of them.
pub mod numbers {
    use super::{Deserialize, Deserializer, JsonNumber, Serializer};

    /// Writes it.
    pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(values.iter().map(|value| JsonNumber(*value)))
    }

    /// Reads it.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<JsonNumber>::deserialize(deserializer)?.into_iter().map(|number| number.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::certificate::{Certificate, Form};

    #[test]
    fn certificates_survive_json_whatever_their_numbers() {
        let certificate = Certificate {
            primal: f64::INFINITY,
            dual: f64::NEG_INFINITY,
            gap: 0.1 + 0.2,
            rounding: 1e-17,
            form: Form::TwoPoint,
            task_gaps: vec![f64::INFINITY, 5e-324, f64::MAX, 1.0 / 3.0, -0.0],
        };
        let text = serde_json::to_string(&certificate).unwrap();
        assert!(text.contains(r#""primal":"inf","dual":"-inf""#), "{text}");
        let back: Certificate = serde_json::from_str(&text).unwrap();
        assert_eq!(back, certificate);
        let bits = |c: &Certificate| c.task_gaps.iter().map(|g| g.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&back), bits(&certificate));
    }

    #[test]
    fn nothing_but_numbers_and_three_words_is_read() {
        let read = |number: &str| {
            let text = format!(
                r#"{{"primal": {number}, "dual": 1, "gap": -1, "form": "one_point", "task_gaps": ["nan"]}}"#
            );
            serde_json::from_str::<Certificate>(&text)
        };
        assert_eq!(read("2").unwrap().primal, 2.0);
        assert!(read("2").unwrap().task_gaps[0].is_nan());
        for wrong in ["null", "true", "\"Infinity\"", "[]", "1e999", "\"1\""] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
