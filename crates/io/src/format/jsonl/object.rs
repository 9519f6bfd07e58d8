//! One line: an object, with the keys of objects inside of it as its own.

use crate::error::quoted;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Error, Map, Value};
use std::fmt;

/// An object with its keys in their order; of equal keys the last one counts.
pub(super) struct JsonObject(pub(super) Vec<JsonEntry>);

/// A key and what it stands for.
pub(super) struct JsonEntry {
    pub(super) key: String,
    pub(super) value: Value,
    /// Whether it comes from an object inside: the key `b` of `a` is `a.b`.
    pub(super) is_inside: bool,
}

impl JsonObject {
    /// Reads a line. Python writes `NaN` and `Infinity`, which JSON does not have.
    pub(super) fn parse(line: &[u8]) -> Result<Self, Error> {
        serde_json::from_slice(line).or_else(|error| {
            let mended = without_words(line);
            if mended == line { Err(error) } else { serde_json::from_slice(&mended) }
        })
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = JsonObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonObject, A::Error> {
                let mut entries = vec![];
                while let Some((key, value)) = map.next_entry::<String, Value>()? {
                    match value {
                        Value::Object(inside) if !inside.is_empty() => {
                            flatten(&key, inside, &mut entries).map_err(A::Error::custom)?;
                        }
                        value => entries.push(JsonEntry { key, value, is_inside: false }),
                    }
                }
                Ok(JsonObject(entries))
            }
        }
        from.deserialize_map(ObjectVisitor)
    }
}

/// Adds what is inside of an object.
fn flatten(name: &str, inside: Map<String, Value>, entries: &mut Vec<JsonEntry>) -> Result<(), String> {
    for (key, value) in inside {
        let key = format!("{name}.{key}");
        match value {
            Value::Object(inside) if !inside.is_empty() => flatten(&key, inside, entries)?,
            _ if entries.iter().any(|other| other.key == key) => {
                return Err(format!("there are two values for {}", quoted(&key)));
            }
            value => entries.push(JsonEntry { key, value, is_inside: true }),
        }
    }
    Ok(())
}

/// The line with null for `NaN`, and a text for an infinity.
fn without_words(line: &[u8]) -> Vec<u8> {
    const WORDS: [(&[u8], &[u8]); 3] =
        [(b"NaN", b"null"), (b"-Infinity", b"\"-Infinity\""), (b"Infinity", b"\"Infinity\"")];
    let (mut out, mut rest, mut in_text) = (Vec::with_capacity(line.len()), line, false);
    while let Some(byte) = rest.first() {
        let word = WORDS.iter().find(|(word, _)| !in_text && rest.starts_with(word));
        let (written, length): (&[u8], usize) = match (word, byte) {
            (Some((word, instead)), _) => (instead, word.len()),
            // What follows does not end the text.
            (None, b'\\') => (&rest[..2.min(rest.len())], 2.min(rest.len())),
            (None, b'"') => {
                in_text = !in_text;
                (&rest[..1], 1)
            }
            _ => (&rest[..1], 1),
        };
        out.extend_from_slice(written);
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_python_are_read_outside_of_texts_only() {
        let mended = |line: &str| String::from_utf8(without_words(line.as_bytes())).unwrap();
        assert_eq!(
            mended(r#"{"NaN": NaN, "a\"NaN": [1, NaN], "b": -Infinity, "c": "Infinity"}"#),
            r#"{"NaN": null, "a\"NaN": [1, null], "b": "-Infinity", "c": "Infinity"}"#
        );
        assert!(JsonObject::parse(b"{\"a\": NAN}").is_err() && JsonObject::parse(b"{\"a\": \\").is_err());
    }

    #[test]
    fn keys_of_objects_inside_are_keys_with_a_point() {
        let object = JsonObject::parse(br#"{"a": 1, "b": {"x": null, "c": {"d": [2]}}, "e": {}}"#).unwrap();
        let keys: Vec<(&str, bool)> = object.0.iter().map(|one| (one.key.as_str(), one.is_inside)).collect();
        assert_eq!(keys, [("a", false), ("b.c.d", true), ("b.x", true), ("e", false)]);
        let error = JsonObject::parse(br#"{"b.x": 1, "b": {"x": 2}}"#).err().unwrap().to_string();
        assert!(error.starts_with("there are two values for \"b.x\""), "{error}");
    }
}
