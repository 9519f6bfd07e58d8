//! JSON texts that callers store with a model. This crate does not interpret them.

use super::Model;
use crate::{Error, Result};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Bytes of keys and texts that one model may carry. A file's header, in which quotes take two bytes, has
/// room for six times that.
const MAX_BYTES: usize = 16 << 20;
/// Bytes of a key.
const MAX_KEY: usize = 100;

/// JSON texts by key, in the order of the keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attachments {
    texts: BTreeMap<String, Box<RawValue>>,
    /// Of all keys and texts.
    bytes: usize,
}

impl Model {
    /// Keeps a text in JSON with the model, in its file too, in place of one that has the same key. The text
    /// stays as it is, but for space around it.
    ///
    /// Keys of one program should start alike, `"cli.columns"` for example, so that several programs can use
    /// the same file: loading and saving a model keeps all attachments.
    ///
    /// # Errors
    /// [`Error::Parse`] if it is not valid JSON (or nested more than 127 deep), or the key is empty or longer
    /// than 100 bytes, or all attachments together would take more than 16 MiB. The model is then as it was.
    pub fn attach(&mut self, key: &str, json: &str) -> Result<()> {
        self.attachments.insert(key, json)
    }

    /// The text attached under this key.
    pub fn attachment(&self, key: &str) -> Option<&str> {
        self.attachments.texts.get(key).map(|text| text.get())
    }

    /// Takes an attachment away; whether there was one.
    pub fn detach(&mut self, key: &str) -> bool {
        self.attachments.remove(key)
    }

    /// Keys and texts of all attachments, in the order of the keys.
    pub fn attachments(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attachments.texts.iter().map(|(key, text)| (key.as_str(), text.get()))
    }
}

impl Attachments {
    fn insert(&mut self, key: &str, json: &str) -> Result<()> {
        let fail = |why: String| Error::Parse { what: "attachment", text: excerpt(key), why };
        if key.is_empty() || key.len() > MAX_KEY {
            return Err(fail(format!("a key has 1 to {MAX_KEY} bytes")));
        }
        let others = self.bytes - self.texts.get(key).map_or(0, |text| key.len() + text.get().len());
        if others + key.len() + json.len() > MAX_BYTES {
            let mebibytes = MAX_BYTES >> 20;
            return Err(fail(format!("attachments of more than {mebibytes} MiB in all do not fit a model")));
        }
        // Reading it as a value, not just as a text between brackets, looks at depth, strings and numbers
        // too.
        let check: std::result::Result<serde_json::Value, _> = serde_json::from_str(json);
        check.map_err(|error| fail(format!("not valid JSON: {error}")))?;
        let text = RawValue::from_string(json.trim().into());
        let text = text.map_err(|error| fail(format!("not valid JSON: {error}")))?;
        self.bytes = others + key.len() + text.get().len();
        self.texts.insert(key.into(), text);
        Ok(())
    }

    fn remove(&mut self, key: &str) -> bool {
        let removed = self.texts.remove(key);
        self.bytes -= removed.as_ref().map_or(0, |text| key.len() + text.get().len());
        removed.is_some()
    }

    /// One JSON object, if there are any.
    pub(crate) fn to_json(&self) -> Result<Option<Box<RawValue>>> {
        let json = || serde_json::value::to_raw_value(&self.texts);
        (!self.texts.is_empty()).then(json).transpose().map_err(|error| Error::Model(error.to_string()))
    }

    /// From what [`to_json`](Self::to_json) gave, checked as if attached one by one.
    pub(crate) fn from_json(text: &RawValue) -> Result<Self> {
        let entries: BTreeMap<String, &RawValue> =
            serde_json::from_str(text.get()).map_err(|error| Error::Model(error.to_string()))?;
        let mut attachments = Attachments::default();
        for (key, text) in entries {
            attachments.insert(&key, text.get())?;
        }
        Ok(attachments)
    }
}

/// The start of a text that may be long.
fn excerpt(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.into(),
    }
}
