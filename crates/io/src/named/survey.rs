//! What only the whole file can tell: the values of one-hot columns, and whether a column of labels holds numbers or words.

use super::cells::{self, Reading};
use super::one_hot::MOST_VALUES;
use super::{Header, Kind, Layout, OneHot, Target};
use crate::error::quoted;
use crate::{Error, Result};
use std::collections::HashSet;

/// Answers collected while reading a file for the first time.
#[derive(Default)]
pub(crate) struct Survey {
    /// Position among the features, column, values met.
    one_hot: Vec<(usize, usize, HashSet<String>)>,
    /// Column of labels, and the first cells of each sort with their lines.
    label: Option<(usize, Sorts)>,
}

#[derive(Default)]
struct Sorts {
    decimal: Option<(u64, String)>,
    word: Option<(u64, String)>,
}

impl Survey {
    /// What is to be asked for this layout; `None` if nothing is.
    pub(crate) fn of(layout: &Layout) -> Option<Self> {
        let one_hot = layout.features.iter().enumerate().filter(|(_, feature)| feature.one_hot.is_some());
        let one_hot = one_hot.map(|(k, feature)| (k, feature.column, HashSet::new())).collect::<Vec<_>>();
        let label = match layout.target {
            Some(Target::One { column, kind: Kind::Open, .. }) => Some((column, Sorts::default())),
            _ => None,
        };
        (layout.fitting && (label.is_some() || !one_hot.is_empty())).then_some(Survey { one_hot, label })
    }

    /// The one-hot columns, in the order in which [`value`](Self::value) counts them.
    pub(crate) fn one_hot_columns(&self) -> Vec<usize> {
        self.one_hot.iter().map(|(_, column, _)| *column).collect()
    }

    /// The column of labels, if it has to be looked at.
    pub(crate) fn label_column(&self) -> Option<usize> {
        self.label.as_ref().map(|(column, _)| *column)
    }

    /// A value of the i-th one-hot column; `Err` says why it cannot be one.
    pub(crate) fn value(&mut self, i: usize, value: &str) -> std::result::Result<(), String> {
        let values = &mut self.one_hot[i].2;
        if !values.contains(value) {
            if values.len() == MOST_VALUES {
                return Err(format!(
                    "there are more than {MOST_VALUES} different values, too many for --one-hot"
                ));
            }
            values.insert(value.to_string());
        }
        Ok(())
    }

    /// A cell of the column of labels.
    pub(crate) fn label(&mut self, line: u64, text: &str) {
        let Some((_, sorts)) = &mut self.label else { return };
        let sort = match cells::number(text) {
            Reading::Missing => return,
            Reading::Number(_) | Reading::NotFinite if cells::is_integer(text) => return,
            Reading::Number(_) | Reading::NotFinite => &mut sorts.decimal,
            Reading::Word => &mut sorts.word,
        };
        sort.get_or_insert_with(|| (line, text.to_string()));
    }

    /// Writes the answers into the layout. Integers among words are words; decimals among words are a mistake.
    pub(crate) fn settle(self, layout: &mut Layout, header: &Header) -> Result<()> {
        for (k, _, values) in self.one_hot {
            layout.features[k].one_hot = Some(OneHot::sorted(values));
        }
        if let (Some((column, sorts)), Some(Target::One { kind, .. })) = (self.label, &mut layout.target) {
            *kind = match (sorts.word, sorts.decimal, layout.task) {
                (None, _, _) => Kind::Numbers,
                (Some(_), None, Some(_)) => Kind::Words,
                (Some(_), None, None) => Kind::Classes,
                (Some((line, word)), Some((other, decimal)), _) => {
                    let why = format!(
                        "{} is not a number, but {} on line {other} is; labels are all numbers or all words",
                        quoted(&word),
                        quoted(&decimal)
                    );
                    return Err(Error::new(header.path(), why).at_line(line).in_column(header.name(column)));
                }
            };
        }
        layout.note_features(header);
        Ok(())
    }
}
