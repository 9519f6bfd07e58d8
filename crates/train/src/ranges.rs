//! Ranges of the features of the training rows, and new rows that are far from them.

mod narrow;

use kinfolk::{Inputs, Observations, TaskNames};
use kinfolk_io::Schema;
use narrow::{NarrowRows, TaskRange};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A model of more features keeps no ranges: no person looks at so many, and to find them would take time.
const MAX_FEATURES: usize = 1_000;

/// Columns that a note names; the rest is counted.
const MAX_NAMED: usize = 3;

/// Smallest and largest value of each feature, before features are scaled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputRanges {
    low: Vec<f64>,
    high: Vec<f64>,
    /// Of tasks whose rows cover only a part of what others cover.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    narrow: Vec<TaskRange>,
}

impl InputRanges {
    /// Of the training rows; `None` for kernel values and for very many features.
    pub fn new(inputs: &Inputs<'_>) -> Option<Self> {
        let d = inputs.n_features();
        if matches!(inputs, Inputs::Gram(_)) || d > MAX_FEATURES {
            return None;
        }
        let (low, high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
        let mut own = InputRanges { low, high, narrow: vec![] };
        let mut seen = vec![0_usize; d];
        visit(inputs, |j, x| {
            own.low[j] = own.low[j].min(x);
            own.high[j] = own.high[j].max(x);
            seen[j] += 1;
        });
        // What a sparse row does not have is zero.
        for j in (0..d).filter(|&j| seen[j] < inputs.n_inputs()) {
            (own.low[j], own.high[j]) = (own.low[j].min(0.0), own.high[j].max(0.0));
        }
        Some(own)
    }

    /// The same with tasks whose rows cover only a part of what others cover.
    #[must_use]
    pub(crate) fn of_tasks(mut self, inputs: &Inputs<'_>, observations: &Observations) -> Self {
        self.narrow = narrow::find(inputs, observations, &self);
        self
    }

    /// How many widths of the range a value is outside of it; 0 inside, and for features that were always the same.
    fn excess(&self, feature: usize, value: f64) -> f64 {
        let (low, high) = (self.low[feature], self.high[feature]);
        // Halves, so that the width of the largest range is finite.
        let width = 0.5 * high - 0.5 * low;
        let outside = (0.5 * low - 0.5 * value).max(0.5 * value - 0.5 * high);
        if width > 0.0 && outside > 0.0 { outside / width } else { 0.0 }
    }
}

/// New rows whose values are outside the range of the training rows by more than its width.
#[derive(Debug, Clone)]
pub struct FarOffRows<'a> {
    ranges: &'a InputRanges,
    columns: BTreeMap<usize, FarOffColumn>,
    narrow: NarrowRows,
}

#[derive(Debug, Clone)]
struct FarOffColumn {
    rows: usize,
    /// The worst value, and how many widths of the range it is outside.
    value: f64,
    excess: f64,
}

impl<'a> FarOffRows<'a> {
    /// No rows so far.
    pub fn new(ranges: &'a InputRanges) -> Self {
        FarOffRows { ranges, columns: BTreeMap::new(), narrow: NarrowRows::default() }
    }

    /// Looks at more rows. Those of another number of features are of no model with these ranges.
    pub fn add(&mut self, inputs: &Inputs<'_>) {
        let InputRanges { low, high, .. } = self.ranges;
        if inputs.n_features() != low.len() || low.len() != high.len() {
            return;
        }
        visit(inputs, |feature, value| {
            let excess = self.ranges.excess(feature, value);
            if excess <= 1.0 {
                return;
            }
            let column = self.columns.entry(feature).or_insert(FarOffColumn { rows: 0, value, excess });
            column.rows += 1;
            if excess > column.excess {
                (column.value, column.excess) = (value, excess);
            }
        });
    }

    /// Looks at the same rows with the task of each, by its place in the model; `None` for one that it does not know.
    pub fn add_tasks(&mut self, inputs: &Inputs<'_>, tasks: &[Option<u32>]) {
        if !self.ranges.narrow.is_empty() && inputs.n_features() == self.ranges.low.len() {
            self.narrow.add(&self.ranges.narrow, inputs, tasks);
        }
    }

    /// What is to be said about rows of tasks that cover only a part of a column, and are outside of it.
    pub fn narrow_note(&self, schema: &Schema, tasks: &TaskNames) -> Option<String> {
        self.narrow.note(&self.ranges.narrow, schema, tasks)
    }

    /// What is to be said about them, the worst columns first; `None` if there are none. `names` of features are given
    /// if the schema does not have them.
    pub fn note(&self, schema: &Schema, names: Option<&[String]>) -> Option<String> {
        let mut columns: Vec<(&usize, &FarOffColumn)> = self.columns.iter().collect();
        columns.sort_by(|a, b| b.1.excess.total_cmp(&a.1.excess));
        let named = columns.iter().take(MAX_NAMED).map(|&(&feature, column)| {
            let rows = if column.rows == 1 { "1 row".into() } else { format!("{} rows", column.rows) };
            let text = |value: f64| schema.value_in_words(feature, value);
            let (low, high) = (self.ranges.low[feature], self.ranges.high[feature]);
            let given = names.and_then(|names| names.get(feature)).map(|name| format!("{name:?}"));
            let name = given.unwrap_or_else(|| schema.feature_in_words(feature));
            let value = text(column.value);
            format!("{name} ({rows}, such as {value}; in training {} to {})", text(low), text(high))
        });
        let named: Vec<String> = named.collect();
        let more = self.columns.len() - named.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| {
            format!(
                "values far outside those of the training rows, where predictions are extrapolations: {}{more}",
                named.join(", ")
            )
        })
    }
}

/// All features of a row.
fn load_row(inputs: &Inputs<'_>, i: usize, row: &mut [f64]) {
    match inputs {
        Inputs::Dense(dense) => dense.load_range(i..i + 1, row),
        Inputs::Sparse(sparse) => {
            row.fill(0.0);
            sparse.row(i).for_each(|(j, x)| row[j] = x);
        }
        _ => {}
    }
}

/// Calls `see` with feature and value of all numbers that are stored.
fn visit(inputs: &Inputs<'_>, mut see: impl FnMut(usize, f64)) {
    match inputs {
        Inputs::Dense(dense) => {
            let mut row = vec![0.0; dense.cols()];
            for i in 0..dense.rows() {
                dense.load_range(i..i + 1, &mut row);
                row.iter().enumerate().for_each(|(j, x)| see(j, *x));
            }
        }
        Inputs::Sparse(sparse) => {
            for i in 0..sparse.rows() {
                sparse.row(i).for_each(|(j, x)| see(j, x));
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::{Dense, Sparse};
    use kinfolk_io::ColumnRoles;

    fn note(ranges: &InputRanges, rows: &[f64]) -> Option<String> {
        let mut far = FarOffRows::new(ranges);
        far.add(&Inputs::from(Dense::f64(rows, rows.len() / 2, 2).unwrap()));
        far.note(&Schema::new(ColumnRoles::default(), None, 2), None)
    }

    #[test]
    fn values_beyond_a_width_of_the_range_are_far_off() {
        let rows = [1.0, 5.0, 3.0, 5.0];
        let ranges = InputRanges::new(&Inputs::from(Dense::f64(&rows, 2, 2).unwrap())).unwrap();
        // Up to 5, one width above; a constant feature tells nothing.
        assert_eq!(note(&ranges, &[5.0, 90.0, -1.0, 5.0]), None);
        assert_eq!(
            note(&ranges, &[5.5, 5.0, 30.0, 5.0, 2.0, 5.0]).unwrap(),
            "values far outside those of the training rows, where predictions are extrapolations: feature 0 (2 rows, \
             such as 30; in training 1 to 3)"
        );
        let huge = InputRanges { low: vec![-1e308, 0.0], high: vec![1e308, 1e-300], narrow: vec![] };
        assert_eq!(note(&huge, &[1.7e308, 1e-300]), None);
        assert!(note(&huge, &[0.0, 1e300]).is_some());
    }

    #[test]
    fn sparse_rows_have_the_ranges_of_dense_ones() {
        let sparse = Sparse::f64(vec![0, 1, 2], vec![0, 0], vec![2.0, 4.0], 2).unwrap();
        let dense = [2.0, 0.0, 4.0, 0.0];
        assert_eq!(
            InputRanges::new(&Inputs::from(sparse)),
            InputRanges::new(&Inputs::from(Dense::f64(&dense, 2, 2).unwrap()))
        );
    }
}
