//! Division by the spread of each feature, without centring: zeros stay zeros.

use super::{FeatureSpread, RowWeights, out_of_range};
use crate::inputs::{Dense, Inputs, Sparse, Values};
use crate::linalg::power_of_two;
use crate::{Error, Result};
use std::borrow::Cow;

/// Weighted sums over entries that are not zero, in the order of the rows: dense and sparse inputs give the same
/// bits. Each feature is in units of a power of two, so that no square over- or underflows.
pub(super) fn features(inputs: &Inputs<'_>, weights: &RowWeights<'_>) -> Vec<FeatureSpread> {
    let (d, total) = (inputs.n_features(), weights.sum());
    let (mut low, mut high) = (vec![f64::INFINITY; d], vec![f64::NEG_INFINITY; d]);
    let (mut mean, mut entries) = (vec![0.0; d], vec![0.0; d]);
    for_each(inputs, weights, |weight, j, x| {
        low[j] = low[j].min(x);
        high[j] = high[j].max(x);
        entries[j] += weight;
    });
    let unit_of = |(low, high): (&f64, &f64)| power_of_two(if low > high { 0.0 } else { high.max(-low) });
    let unit: Vec<f64> = low.iter().zip(&high).map(unit_of).collect();
    for_each(inputs, weights, |weight, j, x| mean[j] += weight * (x / unit[j]));
    mean.iter_mut().for_each(|sum| *sum /= total);
    let mut squares = vec![0.0; d];
    for_each(inputs, weights, |weight, j, x| squares[j] += weight * (x / unit[j] - mean[j]).powi(2));
    let mut others = vec![false; d];
    for_each(inputs, weights, |_, j, x| others[j] |= x != low[j] && x != high[j]);
    let spread = |j: usize| {
        // The zeros weigh total - entries, and are -mean from the mean.
        let zeros = (total - entries[j]).max(0.0);
        // With zeros, all other values must be one.
        let (low, high) = (low[j] / unit[j], high[j] / unit[j]);
        let distance = match zeros > 0.0 {
            true if low == high => Some(high.abs()),
            true => None,
            false => (high > low && !others[j]).then_some(high - low),
        };
        FeatureSpread {
            centre: mean[j],
            deviation: ((squares[j] + zeros * mean[j] * mean[j]) / total).sqrt(),
            distance,
            unit: unit[j],
        }
    };
    (0..d).map(spread).collect()
}

/// Calls `visit(weight, j, x_ij)` for every entry that is not zero, of rows that count.
fn for_each(inputs: &Inputs<'_>, weights: &RowWeights<'_>, mut visit: impl FnMut(f64, usize, f64)) {
    for i in weights.rows() {
        inputs.for_each_in_row(i, |j, x| {
            if x != 0.0 {
                visit(weights.get(i), j, x);
            }
        });
    }
}

/// The inputs, dense or sparse, times the factors.
pub(super) fn apply(inputs: &Inputs<'_>, factor: &[f64]) -> Result<Inputs<'static>> {
    let scaled: Result<Inputs<'static>> = match inputs {
        Inputs::Sparse(x) => {
            let mut out = vec![0.0; x.nnz()];
            x.values().load(0..x.nnz(), &mut out);
            out.iter_mut().zip(x.indices()).for_each(|(x, &j)| *x *= factor[j as usize]);
            let (indptr, indices) = (x.indptr().to_vec(), x.indices().to_vec());
            let values = Values::F64(Cow::Owned(out));
            Sparse::of_any_length(Cow::Owned(indptr), Cow::Owned(indices), values, x.cols()).map(Inputs::from)
        }
        Inputs::Dense(x) => {
            let mut out = vec![0.0; x.rows() * x.cols()];
            x.load_range(0..x.rows(), &mut out);
            out.chunks_exact_mut(x.cols()).for_each(|row| {
                row.iter_mut().zip(factor).for_each(|(x, factor)| *x *= factor);
            });
            Dense::of_any_length(Values::F64(Cow::Owned(out)), x.rows(), x.cols()).map(Inputs::from)
        }
        Inputs::Gram(_) => unreachable!("refused by check_form"),
    };
    scaled.map_err(|error| match error {
        Error::NonFiniteInput { row, column, .. } => {
            let mut value = 0.0;
            inputs.for_each_in_row(row, |j, x| value = if j == column { x } else { value });
            out_of_range(row, column, value, "", factor[column])
        }
        other => other,
    })
}
