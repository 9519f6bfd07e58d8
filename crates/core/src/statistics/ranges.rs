//! The smallest and the largest value of each feature, and whether it has others.

use super::PART_ROWS;
use crate::inputs::{Dense, Inputs};
use rayon::prelude::*;

/// Of the rows that count, whatever their weights. Of files of older versions it is not known: then features may have
/// any values.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct FeatureRanges {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) others: Vec<bool>,
}

impl FeatureRanges {
    /// Of no rows.
    fn empty(n_features: usize) -> Self {
        FeatureRanges {
            low: vec![f64::INFINITY; n_features],
            high: vec![f64::NEG_INFINITY; n_features],
            others: vec![false; n_features],
        }
    }

    /// Of rows that are not known.
    pub(super) fn unknown(n_features: usize) -> Self {
        FeatureRanges {
            low: vec![0.0; n_features],
            high: vec![0.0; n_features],
            others: vec![true; n_features],
        }
    }

    /// Of some rows of these inputs, each with at least one label that counts.
    pub(super) fn of_rows(inputs: &Inputs<'_>, rows: &[u32]) -> Self {
        let of_part = |rows: &[u32]| match inputs {
            Inputs::Dense(x) => FeatureRanges::of_dense(x, rows),
            _ => FeatureRanges::of_sparse(inputs, rows),
        };
        let parts: Vec<FeatureRanges> = rows.par_chunks(PART_ROWS).map(of_part).collect();
        parts.into_iter().fold(FeatureRanges::empty(inputs.n_features()), |mut all, part| {
            all.absorb(&part);
            all
        })
    }

    fn of_dense(x: &Dense<'_>, rows: &[u32]) -> Self {
        let mut own = FeatureRanges::empty(x.cols());
        let mut row = vec![0.0; x.cols()];
        for &i in rows {
            x.load_range(i as usize..i as usize + 1, &mut row);
            own.low.iter_mut().zip(&row).for_each(|(low, x)| *low = low.min(*x));
            own.high.iter_mut().zip(&row).for_each(|(high, x)| *high = high.max(*x));
        }
        for &i in rows {
            x.load_range(i as usize..i as usize + 1, &mut row);
            let ends = own.low.iter().zip(&own.high).zip(&row);
            own.others
                .iter_mut()
                .zip(ends)
                .for_each(|(others, ((low, high), x))| *others |= x != low && x != high);
        }
        own
    }

    fn of_sparse(inputs: &Inputs<'_>, rows: &[u32]) -> Self {
        let mut own = FeatureRanges::empty(inputs.n_features());
        let mut entries = vec![0usize; own.low.len()];
        for &i in rows {
            inputs.for_each_in_row(i as usize, |j, x| {
                own.low[j] = own.low[j].min(x);
                own.high[j] = own.high[j].max(x);
                entries[j] += 1;
            });
        }
        let has_zeros: Vec<bool> = entries.iter().map(|n| *n < rows.len()).collect();
        for (j, _) in has_zeros.iter().enumerate().filter(|(_, has)| **has) {
            // A zero between the two is another value.
            own.others[j] = own.low[j] < 0.0 && own.high[j] > 0.0;
            own.low[j] = own.low[j].min(0.0);
            own.high[j] = own.high[j].max(0.0);
        }
        for &i in rows {
            inputs.for_each_in_row(i as usize, |j, x| own.others[j] |= x != own.low[j] && x != own.high[j]);
        }
        own
    }

    /// Those of both.
    pub(super) fn absorb(&mut self, other: &FeatureRanges) {
        if self.low.is_empty() {
            self.clone_from(other);
            return;
        }
        for j in 0..self.low.len() {
            let (low, high) = (self.low[j].min(other.low[j]), self.high[j].max(other.high[j]));
            // Infinite ends are those of no rows.
            let ends = [self.low[j], self.high[j], other.low[j], other.high[j]];
            let is_other = |x: &f64| x.is_finite() && *x != low && *x != high;
            self.others[j] |= other.others[j] || ends.iter().any(is_other);
            (self.low[j], self.high[j]) = (low, high);
        }
    }

    /// The distance of the two values of feature j in this unit, if it has two.
    pub(super) fn distance(&self, j: usize, unit: f64) -> Option<f64> {
        let distance = self.high[j] / unit - self.low[j] / unit;
        (!self.others[j] && distance > 0.0 && distance.is_finite()).then_some(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Sparse;

    /// Of one feature with these values, in two parts.
    fn in_parts(values: &[f64], first: usize) -> FeatureRanges {
        let inputs = Inputs::from(Dense::f64(values, values.len(), 1).expect("finite numbers"));
        let rows: Vec<u32> = (0..values.len() as u32).collect();
        let mut own = FeatureRanges::of_rows(&inputs, &rows[..first]);
        own.absorb(&FeatureRanges::of_rows(&inputs, &rows[first..]));
        own
    }

    #[test]
    fn parts_know_whether_there_are_two_values_in_all() {
        for first in 0..=4 {
            assert_eq!(in_parts(&[3.0, 5.0, 3.0, 5.0], first).distance(0, 1.0), Some(2.0));
            for one in [[0.0, 0.0, 1e9, 1.0], [1.0, 2.0, 1.0 + 1e-9, 2.0], [-1.0, 0.0, 1.0, 1.0], [7.0; 4]] {
                assert_eq!(in_parts(&one, first).distance(0, 1.0), None, "{one:?}");
            }
        }
        // Their distance is out of range, but not in their unit.
        assert_eq!(in_parts(&[-1e308, 1e308], 1).distance(0, 1e308), Some(2.0));
        let mut unknown = FeatureRanges::unknown(1);
        unknown.absorb(&in_parts(&[0.0, 1.0], 1));
        assert_eq!(unknown.distance(0, 1.0), None);
    }

    #[test]
    fn sparse_rows_have_zeros() {
        let range = |values: &[f64], n_rows: usize| {
            let indptr: Vec<usize> = (0..=n_rows).map(|i| i.min(values.len())).collect();
            let indices = vec![0; values.len()];
            let inputs = Inputs::from(Sparse::f64(&indptr, &indices, values, 1).expect("sound rows"));
            FeatureRanges::of_rows(&inputs, &(0..n_rows as u32).collect::<Vec<_>>())
        };
        for (values, distance) in
            [(&[4.0, 4.0][..], Some(4.0)), (&[-4.0], Some(4.0)), (&[1.0, 2.0], None), (&[-1.0, 1.0], None)]
        {
            assert_eq!(range(values, 5).distance(0, 1.0), distance, "{values:?}");
        }
        assert_eq!(range(&[1.0, 2.0], 2).distance(0, 1.0), Some(1.0));
    }
}
