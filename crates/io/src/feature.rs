//! How columns become features: the recipe that a model keeps, applied alike to the rows of a fit and to new ones.

use crate::schema::is_default;
use crate::{DateOrder, DatePart};
use serde::{Deserialize, Serialize};

/// Most values of a column of words that become a feature each, unless
/// [`max_levels`](crate::ColumnRoles::max_levels) says otherwise.
pub const MAX_LEVELS: usize = 50;

/// Where one or several features come from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// A numeric column.
    Number(String),
    /// A numeric column with missing values: the number or `fill`, and with an indicator 1 where it is missing.
    Filled {
        /// The column.
        column: String,
        /// What a missing value becomes.
        fill: f64,
        /// Rows of the training file in which it was missing.
        rows: u64,
        /// Whether a feature says where it is missing.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        indicator: bool,
    },
    /// A column of words: one feature for each of the values seen in training, 0 or 1.
    OneHot {
        /// The column.
        column: String,
        /// Its values in increasing order.
        values: Vec<String>,
        /// Whether the other values of the training file, which were rare, have a feature together.
        #[serde(default, skip_serializing_if = "is_default")]
        other: bool,
        /// Whether missing values have a feature.
        #[serde(default, skip_serializing_if = "is_default")]
        missing: bool,
        /// Whether there were missing values, too few for a feature: they are 0 in all features.
        #[serde(default, skip_serializing_if = "is_default")]
        filled: bool,
        /// The value without a feature, where there are two that say yes and no.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        no: Option<String>,
        /// What a missing or unknown value of these two becomes, between no (0) and yes (1).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<f64>,
    },
    /// A column of dates: days since 1970-01-01, one feature for each value of its parts, and 1 where it is missing.
    Date {
        /// The column.
        column: String,
        /// The order of day, month and year in text.
        order: DateOrder,
        /// The parts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<DatePart>,
        /// What a missing date becomes; `None`: none was missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fill: Option<f64>,
        /// Whether a feature says where it is missing.
        #[serde(default = "yes", skip_serializing_if = "is_yes")]
        indicator: bool,
        /// Whether its times had a zone, and became UTC.
        #[serde(default, skip_serializing_if = "is_default")]
        zone: bool,
    },
}

impl Feature {
    /// The column that it comes from.
    pub fn column(&self) -> &str {
        match self {
            Feature::Number(column)
            | Feature::Filled { column, .. }
            | Feature::OneHot { column, .. }
            | Feature::Date { column, .. } => column,
        }
    }

    /// What its features are called: `age`, or `colour=blue`, `colour=red`.
    pub fn names(&self) -> Vec<String> {
        let column = self.column();
        let marked = |name: &str, is: bool| is.then(|| format!("{column}=({name})"));
        match self {
            Feature::Number(_) => vec![column.into()],
            Feature::Filled { indicator, .. } => {
                [column.into()].into_iter().chain(marked("missing", *indicator)).collect()
            }
            Feature::OneHot { values, other, missing, .. } => {
                let values = values.iter().map(|value| format!("{column}={value}"));
                values.chain(marked("other", *other)).chain(marked("missing", *missing)).collect()
            }
            Feature::Date { parts, .. } => {
                let parts = parts.iter().flat_map(|part| {
                    part.values().map(move |value| format!("{column}.{}={value}", part.name()))
                });
                let indicator = marked("missing", self.has_indicator());
                [column.into()].into_iter().chain(parts).chain(indicator).collect()
            }
        }
    }

    /// Whether values were missing in training.
    pub(crate) fn is_filled(&self) -> bool {
        match self {
            Feature::Number(_) => false,
            Feature::Filled { .. } => true,
            Feature::OneHot { missing, filled, .. } => *missing || *filled,
            Feature::Date { fill, .. } => fill.is_some(),
        }
    }

    /// Whether a feature says where a value is missing.
    pub(crate) fn has_indicator(&self) -> bool {
        match self {
            Feature::Number(_) => false,
            Feature::Filled { indicator, .. } => *indicator,
            Feature::OneHot { missing, .. } => *missing,
            Feature::Date { fill, indicator, .. } => fill.is_some() && *indicator,
        }
    }

    /// The same without the feature that says where a value is missing.
    pub(crate) fn without_indicator(mut self) -> Self {
        match &mut self {
            Feature::Number(_) => {}
            Feature::OneHot { missing, filled, .. } => (*missing, *filled) = (false, *filled || *missing),
            Feature::Filled { indicator, .. } | Feature::Date { indicator, .. } => *indicator = false,
        }
        self
    }
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

/// How missing values of features are filled in. Where many are missing, a feature says where.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Missing {
    /// With the mean of the column.
    #[default]
    Mean,
    /// With the median of the column.
    Median,
    /// With 0.
    Zero,
    /// Not at all: such rows are left out.
    Drop,
    /// Not at all: it is an error.
    Error,
}

named! {
    Missing, "way to treat missing values":
    Mean = "mean",
    Median = "median",
    Zero = "zero",
    Drop = "drop",
    Error = "error",
}

/// What becomes of what new rows lack and training rows had: columns, or single values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NewGaps {
    /// It is an error.
    #[default]
    Error,
    /// Columns are ones of missing values, filled in by the recipe of the model. Where no value was missing in
    /// training, the means of the features in the training rows stand for one.
    Fill,
}

named! {
    NewGaps, "way to treat gaps":
    Error = "error",
    Fill = "fill",
}

/// The decimal sign of numbers in text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Decimal {
    /// `1,234.5`.
    #[default]
    Point,
    /// `1.234,5`.
    Comma,
    /// Both, told by each number: of `1,234.5` and `1.234,5` the last sign, of `1,5` and `2.5` the only one. A sign
    /// that is there more than once separates thousands.
    Either,
}

named! {
    Decimal, "decimal sign":
    Point = ".",
    Comma = ",",
    Either = "either",
}
