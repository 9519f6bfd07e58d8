//! A feature column at work: from a cell to a number, and from that to features.

use super::cells::{CellRules, Reading, TableCell, canonical, folded};
use super::messages;
use crate::{Feature, Missing, Result};
use std::collections::HashMap;

/// A column to learn from.
pub(crate) struct FeatureColumn {
    /// Where it is in the file, unless it is absent.
    pub(crate) column: usize,
    pub(crate) feature: Feature,
    /// How many features it becomes.
    pub(crate) width: usize,
    /// Which of the features a value has.
    codes: HashMap<String, u32>,
    /// The codes of all values by what they are without letter case; `None` where several are the same then, and all
    /// of them where not every value of training is known.
    folded: HashMap<String, Option<f64>>,
    /// The features of all rows, if the column is absent.
    constant: Option<Vec<f64>>,
    /// The features of rows that lack a value, if there was none in training, and they are to be filled in.
    gap: Option<Vec<f64>>,
}

/// What a cell becomes. One number per column stands for all features of the column, until the rows are complete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Code {
    /// A number, a day, or which of the values it is.
    Value(f64),
    /// A missing value, for which there is no feature.
    Missing,
    /// A value that was not there in training, and for which there is no feature.
    Unseen,
    /// A value that was not there in training, but in another letter case; what it became there.
    Respelled(f64),
    /// A value without a feature of its own, which counts as one of the rest; which feature that is.
    Rest(f64),
}

/// Stands for no feature of a one-hot column.
const NOTHING: f64 = f64::NAN;

/// A missing one of two values that say yes and no is this less what it becomes, an unknown one is `UNKNOWN` less that:
/// other codes of a one-hot column are not negative.
const MISSING: f64 = 0.0;
const UNKNOWN: f64 = -2.0;

/// Stands for a missing value where there was none in training. No value is infinite.
const GAP: f64 = f64::INFINITY;

/// The codes of the values of a column by their words without letter case. Empty for columns that count some values as
/// the rest: a word of training may be among these.
fn spellings(feature: &Feature, codes: &HashMap<String, u32>) -> HashMap<String, Option<f64>> {
    let Feature::OneHot { other: false, no, .. } = feature else { return HashMap::new() };
    let values = codes.iter().map(|(word, code)| (word, f64::from(*code)));
    let mut all: HashMap<String, Option<f64>> = HashMap::new();
    for (word, code) in values.chain(no.iter().map(|no| (no, NOTHING))) {
        all.entry(folded(word)).and_modify(|own| *own = None).or_insert(Some(code));
    }
    all
}

impl FeatureColumn {
    pub(crate) fn new(column: usize, feature: Feature) -> Self {
        let codes = match &feature {
            Feature::OneHot { values, .. } => {
                values.iter().map(|value| canonical(value.into()).into_owned()).zip(0..).collect()
            }
            _ => HashMap::new(),
        };
        let width = match &feature {
            Feature::Number(_) => 1,
            Feature::Filled { indicator, .. } => 1 + usize::from(*indicator),
            Feature::OneHot { values, other, missing, .. } => {
                values.len() + usize::from(*other) + usize::from(*missing)
            }
            Feature::Date { parts, .. } => {
                let parts = parts.iter().map(|part| part.values().count()).sum::<usize>();
                1 + parts + usize::from(feature.has_indicator())
            }
        };
        let folded = spellings(&feature, &codes);
        FeatureColumn { column, feature, width, codes, folded, constant: None, gap: None }
    }

    /// A column that is absent. All its values are missing: they are filled in by the recipe, or with the `means` of
    /// its features if it has none. `None` if these are not known either.
    pub(crate) fn absent(feature: Feature, missing: Missing, means: Option<&[f64]>) -> Option<Self> {
        let mut column = FeatureColumn::new(0, feature);
        let mut constant = vec![0.0; column.width];
        match &column.feature {
            Feature::OneHot { missing: true, fill, .. } => {
                constant[0] = fill.unwrap_or(0.0);
                constant[column.width - 1] = 1.0;
            }
            Feature::OneHot { filled: true, fill: None, .. } => {}
            Feature::OneHot { filled: true, fill: Some(fill), .. } => constant[0] = *fill,
            Feature::Filled { .. } | Feature::Date { fill: Some(_), .. } => {
                column.spread(f64::NAN, |place, value| constant[place] = value);
            }
            Feature::Number(_) if missing == Missing::Zero => {}
            _ => constant = means?.to_vec(),
        }
        column.constant = Some(constant);
        Some(column)
    }

    /// Fills in missing values with these means of its features, if there was none in training.
    pub(super) fn fill_gaps(&mut self, means: &[f64]) {
        if !self.is_absent() && !self.feature.is_filled() {
            self.gap = Some(means.to_vec());
        }
    }

    /// Whether missing values are filled in although there was none in training.
    pub(super) fn fills_gaps(&self) -> bool {
        self.gap.is_some()
    }

    /// Whether the file does not have it.
    pub(crate) fn is_absent(&self) -> bool {
        self.constant.is_some()
    }

    /// Whether a code is the feature itself.
    pub(crate) fn is_plain_number(&self) -> bool {
        !self.is_absent() && !self.fills_gaps() && matches!(self.feature, Feature::Number(_))
    }

    /// Whether the code of a number is that number, and that of a missing one NaN, or 0 where none may be missing.
    pub(crate) fn takes_numbers(&self) -> bool {
        self.is_plain_number() || !self.is_absent() && matches!(self.feature, Feature::Filled { .. })
    }

    /// Whether all its features are 0 or 1.
    pub(crate) fn is_zero_or_one(&self) -> bool {
        let has_shares =
            matches!(self.feature, Feature::OneHot { fill: Some(_), .. }) && self.feature.is_filled();
        self.is_one_hot() && !has_shares && !self.fills_gaps()
    }

    /// Whether it is 0 in almost all of its features.
    pub(crate) fn is_one_hot(&self) -> bool {
        matches!(self.feature, Feature::OneHot { .. })
    }

    /// The code of a cell.
    pub(crate) fn code(&self, cell: &dyn TableCell, rules: &CellRules, fitting: bool) -> Result<Code> {
        Ok(match self.own_code(cell, rules, fitting)? {
            Code::Missing if self.fills_gaps() => Code::Value(GAP),
            code => code,
        })
    }

    fn own_code(&self, cell: &dyn TableCell, rules: &CellRules, fitting: bool) -> Result<Code> {
        let column = self.feature.column();
        match &self.feature {
            Feature::Number(_) | Feature::Filled { .. } => match rules.number(cell) {
                Reading::Number(value) => Ok(Code::Value(value)),
                Reading::Missing if matches!(self.feature, Feature::Filled { .. }) => {
                    Ok(Code::Value(f64::NAN))
                }
                Reading::Missing => Ok(Code::Missing),
                other => Err(messages::feature(column, &cell.text()?, other, fitting)),
            },
            Feature::OneHot { values, other, missing, filled, no, fill, .. } => match rules.word(cell)? {
                Some(word) => Ok(match (self.codes.get(word.as_ref()), other) {
                    (Some(code), _) => Code::Value(f64::from(*code)),
                    (None, _) if no.as_deref() == Some(&*word) => Code::Value(NOTHING),
                    (None, true) => Code::Rest(values.len() as f64),
                    (None, false) => match self.folded.get(&folded(&word)) {
                        Some(Some(code)) => Code::Respelled(*code),
                        _ => Code::Unseen,
                    },
                }),
                // Beside other words, `none` is one of them.
                None => Ok(match (rules.none(cell).map(|word| self.codes.get(word.as_ref())), fill) {
                    (Some(Some(code)), _) => Code::Value(f64::from(*code)),
                    (_, Some(fill)) if *missing || *filled => Code::Value(MISSING - fill),
                    _ if *missing => Code::Value((values.len() + usize::from(*other)) as f64),
                    _ if *filled => Code::Value(NOTHING),
                    (Some(None), _) if *other => Code::Rest(values.len() as f64),
                    (Some(None), _) => Code::Unseen,
                    (None, _) => Code::Missing,
                }),
            },
            Feature::Date { order, fill, .. } => match cell.date(*order) {
                Some(day) => Ok(Code::Value(day)),
                None => match (rules.number(cell), fill) {
                    (Reading::Missing, Some(_)) => Ok(Code::Value(f64::NAN)),
                    (Reading::Missing, None) => Ok(Code::Missing),
                    _ => Err(messages::date(&cell.text()?, *order)),
                },
            },
        }
    }

    /// Whether a time has a zone where those of the fit had none, or the other way round.
    pub(crate) fn has_other_zone(&self, cell: &dyn TableCell) -> bool {
        match &self.feature {
            Feature::Date { zone, .. } => cell.has_zone().is_some_and(|own| own != *zone),
            _ => false,
        }
    }

    /// The code of a value that says nothing.
    pub(crate) fn nothing(&self) -> f64 {
        match &self.feature {
            Feature::OneHot { fill: Some(fill), .. } => UNKNOWN - fill,
            Feature::OneHot { .. } => NOTHING,
            _ => 0.0,
        }
    }

    /// Whether a code is that of a missing value.
    pub(crate) fn is_missing(&self, code: f64) -> bool {
        match &self.feature {
            _ if code == GAP => true,
            Feature::Number(_) => false,
            Feature::Filled { .. } | Feature::Date { .. } => code.is_nan(),
            Feature::OneHot { fill: Some(_), .. } => code < MISSING && code > UNKNOWN,
            Feature::OneHot { missing: true, .. } => code == (self.width - 1) as f64,
            Feature::OneHot { filled, no, .. } => *filled && no.is_none() && code.is_nan(),
        }
    }

    /// Calls `put` with the features that a code stands for, those that are 0 left out or not.
    pub(crate) fn spread(&self, code: f64, mut put: impl FnMut(usize, f64)) {
        if let Some(constant) = self.constant.as_ref().or(self.gap.as_ref().filter(|_| code == GAP)) {
            return constant.iter().enumerate().for_each(|(place, value)| put(place, *value));
        }
        match &self.feature {
            Feature::Number(_) => put(0, code),
            Feature::OneHot { .. } if code.is_nan() => {}
            Feature::OneHot { .. } if code < UNKNOWN => put(0, UNKNOWN - code),
            Feature::OneHot { missing, .. } if code < MISSING => {
                put(0, MISSING - code);
                if *missing {
                    put(self.width - 1, 1.0);
                }
            }
            Feature::OneHot { .. } => put(code as usize, 1.0),
            Feature::Filled { fill, .. } | Feature::Date { fill: Some(fill), .. } if code.is_nan() => {
                put(0, *fill);
                if self.feature.has_indicator() {
                    put(self.width - 1, 1.0);
                }
            }
            Feature::Filled { .. } => put(0, code),
            Feature::Date { parts, .. } => {
                put(0, code);
                let mut first = 1;
                for part in parts {
                    let values = part.values();
                    put(first + (part.of(code) - values.start) as usize, 1.0);
                    first += values.count();
                }
            }
        }
    }
}
