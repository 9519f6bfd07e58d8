//! What a schema does to the data, in words: everything that nobody asked for is said once.

use crate::error::quoted;
use crate::{Decimal, Feature, Missing, Schema};

/// Columns that are named in a note; the rest is counted.
const MAX_NAMED: usize = 8;

impl Schema {
    /// What was done to the columns, for people; nothing if all are numbers as they are.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![];
        let features = || self.features.iter().flatten();
        let words = features().filter_map(|feature| match feature {
            Feature::OneHot { column, values, other, .. } => {
                let rest = if *other { " and the rest together" } else { "" };
                Some(format!("{} ({}{rest})", quoted(column), values.len()))
            }
            _ => None,
        });
        note(&mut notes, "words became a feature for each value: ", words.collect(), "");
        let dates = features().filter_map(|feature| match feature {
            Feature::Date { column, order, .. } => Some(format!("{} ({order})", quoted(column))),
            _ => None,
        });
        note(&mut notes, "dates became days since 1970-01-01: ", dates.collect(), "");
        let filled = features().filter_map(|feature| match feature {
            Feature::Filled { column, rows, .. } => {
                Some(format!("{} ({rows} row{})", quoted(column), if *rows == 1 { "" } else { "s" }))
            }
            Feature::OneHot { column, missing: true, .. } | Feature::Date { column, fill: Some(_), .. } => {
                Some(quoted(column))
            }
            _ => None,
        });
        let how = match self.columns.missing {
            Missing::Zero => "0",
            Missing::Median => "the median",
            _ => "the mean",
        };
        let tail = format!("; filled in with {how}, and a feature says where (--missing)");
        note(&mut notes, "missing values: ", filled.collect(), &tail);
        if self.columns.decimal == Some(Decimal::Comma) {
            notes.push("numbers are read with a decimal comma (--decimal)".into());
        }
        let left_out =
            self.left_out.iter().map(|column| format!("{} ({})", quoted(&column.column), column.why));
        note(&mut notes, "left out: ", left_out.collect(), "");
        notes
    }
}

fn note(notes: &mut Vec<String>, head: &str, mut parts: Vec<String>, tail: &str) {
    if parts.is_empty() {
        return;
    }
    let more = parts.len().saturating_sub(MAX_NAMED);
    parts.truncate(MAX_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    notes.push(format!("{head}{}{more}{tail}", parts.join(", ")));
}
