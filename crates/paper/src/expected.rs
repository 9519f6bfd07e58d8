//! What the paper reports.

use crate::{Error, Result};
use serde::Deserialize;

/// A figure of the paper, in percent.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Expected {
    /// Data set.
    pub set: String,
    /// Method.
    pub method: String,
    /// Mean.
    pub mean: f64,
    /// What stands behind its "+-".
    pub plus_minus: f64,
}

const TEXTS: [(&str, &str); 2] = [
    ("table-multitask", include_str!("../../../paper/table-multitask/expected.csv")),
    ("table-digits", include_str!("../../../paper/table-digits/expected.csv")),
];

impl Expected {
    /// All figures that the paper has for an item; none if it has none that can be compared.
    ///
    /// # Errors
    /// If the list cannot be read.
    pub fn of(item: &str) -> Result<Vec<Expected>> {
        let Some((_, text)) = TEXTS.iter().find(|(name, _)| *name == item) else { return Ok(vec![]) };
        csv::Reader::from_reader(text.as_bytes())
            .deserialize()
            .map(|row| row.map_err(|error| Error::experiment(item, format!("expected.csv: {error}"))))
            .collect()
    }
}
