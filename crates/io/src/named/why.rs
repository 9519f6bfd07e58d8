//! What is wrong with a cell, and what can be done about it.

use super::cells::Reading;
use super::{Layout, listed};
use crate::error::quoted;

/// Messages about cells. Those for fitting offer options; a model that is there takes no more of them.
#[derive(Clone, Copy)]
pub(crate) struct Why {
    fitting: bool,
}

impl Why {
    pub(crate) fn of(layout: &Layout) -> Self {
        Why { fitting: layout.fitting }
    }

    /// A feature that is not a finite number. `text` is what the cell holds.
    pub(crate) fn feature(self, column: &str, text: &str, reading: Reading) -> String {
        let found = found(text, reading);
        match (reading, self.fitting) {
            (Reading::Missing, false) => format!("{found}; features may not be missing: fill it in"),
            (Reading::Missing, true) => format!(
                "{found}; features may not be missing: fill it in, delete the row, or {}",
                Why::offer_drop(column)
            ),
            (_, false) | (Reading::NotFinite, true) => found,
            (_, true) => format!("{found}; {}", Why::offer(column)),
        }
    }

    /// What to do about a column of words among the features.
    pub(crate) fn offer(column: &str) -> String {
        let column_name = argument(column);
        format!("{}, or make features of its words with --one-hot {column_name}", Why::offer_drop(column))
    }

    /// What to do about a column that cannot be a feature in any way.
    pub(crate) fn offer_drop(column: &str) -> String {
        format!("leave the column out with --drop {}", argument(column))
    }

    /// A cell of a one-hot column whose value was not there in training.
    pub(crate) fn unknown(text: &str, known: &[String]) -> String {
        format!("{} was not there in training; known are {}", quoted(text), listed(known))
    }

    /// An empty cell where there must be a name.
    pub(crate) fn no_name(what: &str) -> String {
        format!("the cell is empty, and every row needs a {what}")
    }

    /// A label that is not a number.
    pub(crate) fn label(self, text: &str, reading: Reading) -> String {
        let found = found(text, reading);
        match reading {
            Reading::Missing => format!("{found}, and every row needs a label: fill it in or delete the row"),
            _ => found,
        }
    }

    /// A weight that is not a number, or negative.
    pub(crate) fn weight(text: &str) -> String {
        format!("{} is not a weight; weights are finite and not negative", quoted(text))
    }

    /// A part that is neither a number nor one of the usual words.
    pub(crate) fn split(text: &str) -> String {
        format!(
            "{} is not a part; give 0 or train, 1 or test, 2 or validation, or another integer",
            quoted(text)
        )
    }

    /// Bytes that are not text.
    pub(crate) fn not_utf8(bytes: &[u8]) -> String {
        let text = bytes.escape_ascii().take(60).map(char::from).collect::<String>();
        format!("\"{text}\" is not UTF-8; save the file as UTF-8")
    }
}

fn found(text: &str, reading: Reading) -> String {
    match reading {
        Reading::Missing if text.trim_ascii().is_empty() => "the cell is empty".to_string(),
        Reading::Missing => format!("{} is a missing value", quoted(text)),
        Reading::NotFinite => format!("{} is not a finite number", quoted(text)),
        Reading::Word | Reading::Number(_) => format!("{} is not a number", quoted(text)),
    }
}

/// A name as one would type it in a shell.
fn argument(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.:/+=@".contains(c);
    if name.len() <= 60 && name.chars().all(plain) { name.to_string() } else { quoted(name) }
}
