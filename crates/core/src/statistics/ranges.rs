//! The smallest and the largest value of each feature.

use super::PART_ROWS;
use crate::inputs::Inputs;
use rayon::prelude::*;

/// Of the rows that count; NaN where they are not known, as in files of older versions.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FeatureRanges {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl FeatureRanges {
    /// Of no rows.
    fn empty(n_features: usize) -> Self {
        FeatureRanges { low: vec![f64::INFINITY; n_features], high: vec![f64::NEG_INFINITY; n_features] }
    }

    /// Of some rows of these inputs, each with at least one label that counts.
    pub(super) fn of_rows(inputs: &Inputs<'_>, rows: &[u32]) -> Self {
        let d = inputs.n_features();
        let of_part = |rows: &[u32]| {
            let mut own = FeatureRanges::empty(d);
            match inputs {
                Inputs::Dense(x) => {
                    let mut row = vec![0.0; d];
                    for &i in rows {
                        x.load_range(i as usize..i as usize + 1, &mut row);
                        own.low.iter_mut().zip(&row).for_each(|(low, x)| *low = low.min(*x));
                        own.high.iter_mut().zip(&row).for_each(|(high, x)| *high = high.max(*x));
                    }
                }
                _ => own.add_sparse(inputs, rows),
            }
            own
        };
        let parts: Vec<FeatureRanges> = rows.par_chunks(PART_ROWS).map(of_part).collect();
        parts.into_iter().fold(FeatureRanges::empty(d), |mut all, part| {
            all.absorb(&part);
            all
        })
    }

    fn add_sparse(&mut self, inputs: &Inputs<'_>, rows: &[u32]) {
        let mut entries = vec![0usize; self.low.len()];
        for &i in rows {
            inputs.for_each_in_row(i as usize, |j, x| {
                self.add(j, x);
                entries[j] += 1;
            });
        }
        for (j, _) in entries.iter().enumerate().filter(|(_, n)| **n < rows.len()) {
            self.add(j, 0.0);
        }
    }

    fn add(&mut self, j: usize, x: f64) {
        self.low[j] = self.low[j].min(x);
        self.high[j] = self.high[j].max(x);
    }

    /// Those of both.
    pub(super) fn absorb(&mut self, other: &FeatureRanges) {
        if self.low.is_empty() {
            self.clone_from(other);
            return;
        }
        let join = |own: &mut [f64], others: &[f64], of_two: fn(f64, f64) -> f64| {
            for (own, other) in own.iter_mut().zip(others) {
                *own = if own.is_nan() || other.is_nan() { f64::NAN } else { of_two(*own, *other) };
            }
        };
        join(&mut self.low, &other.low, f64::min);
        join(&mut self.high, &other.high, f64::max);
    }
}
