//! A first pass through the file, for what only the whole file can tell: the values of one-hot columns, and
//! whether a column of labels holds numbers or words.

use super::cells::{self, Reading};
use super::one_hot::MAX_VALUES;
use super::{ColumnLayout, ColumnNames, LabelKind, OneHot, TargetColumns};
use crate::Result;
use crate::error::quoted;
use std::collections::HashSet;

/// What was found while reading a file for the first time.
pub(crate) struct FirstPass {
    /// Position among the features, column, values found.
    one_hot: Vec<(usize, usize, HashSet<String>)>,
    /// Column of labels, and the first cells of each sort with their lines.
    label: Option<(usize, LabelSorts)>,
}

#[derive(Default)]
struct LabelSorts {
    decimal: Option<(u64, String)>,
    word: Option<(u64, String)>,
}

impl FirstPass {
    /// What has to be found out for this layout; `None` if nothing has.
    pub(crate) fn needed_for(layout: &ColumnLayout) -> Option<Self> {
        let one_hot = layout.features.iter().enumerate().filter(|(_, feature)| feature.one_hot.is_some());
        let one_hot = one_hot.map(|(k, feature)| (k, feature.column, HashSet::new())).collect::<Vec<_>>();
        let label = match layout.target {
            Some(TargetColumns::One { column, kind: LabelKind::Unknown, .. }) => {
                Some((column, LabelSorts::default()))
            }
            _ => None,
        };
        (layout.fitting && (label.is_some() || !one_hot.is_empty())).then_some(FirstPass { one_hot, label })
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
    pub(crate) fn value(&mut self, i: usize, value: &str) -> Result<()> {
        let values = &mut self.one_hot[i].2;
        if !values.contains(value) {
            if values.len() == MAX_VALUES {
                return Err(wrong!(
                    "there are more than {MAX_VALUES} different values, too many for one-hot"
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

    /// Completes the layout. Integers among words are words; decimals among words are a mistake.
    pub(crate) fn complete(self, layout: &mut ColumnLayout, names: &ColumnNames) -> Result<()> {
        for (k, _, values) in self.one_hot {
            layout.features[k].one_hot = Some(OneHot::sorted(values));
        }
        if let (Some((column, sorts)), Some(TargetColumns::One { kind, .. })) =
            (self.label, &mut layout.target)
        {
            *kind =
                match (sorts.word, sorts.decimal, layout.task) {
                    (None, _, _) => LabelKind::Numbers,
                    (Some(_), None, Some(_)) => LabelKind::Words,
                    (Some(_), None, None) => LabelKind::Classes,
                    (Some((line, word)), Some((other, decimal)), _) => {
                        return Err(wrong!(
                        "{} is not a number, but {} on line {other} is; labels are all numbers or all words",
                        quoted(&word),
                        quoted(&decimal)
                    ).at_line(line).in_column(names.name(column)));
                    }
                };
        }
        layout.note_features(names);
        Ok(())
    }
}
