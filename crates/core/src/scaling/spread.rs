//! Division by the spread of each feature, without centring: zeros stay zeros.

use super::{FeatureSpread, RowWeights, Scaling, one_over, out_of_range};
use crate::inputs::{Dense, Inputs, Sparse, Values};
use crate::linalg::power_of_two;
use crate::{Error, Result};
use std::borrow::Cow;

/// Weighted sums over entries that are not zero, in the order of the rows: dense and sparse inputs give the same
/// bits. Each feature is in units of a power of two, so that no square over- or underflows.
pub(super) fn fit(inputs: &Inputs<'_>, weights: &RowWeights<'_>) -> Result<Scaling> {
    let (n, d, total) = (inputs.n_inputs() as f64, inputs.n_features(), weights.sum());
    let mut unit = vec![0.0f64; d];
    for_each(inputs, weights, |_, j, x| unit[j] = unit[j].max(x.abs()));
    unit.iter_mut().for_each(|unit| *unit = power_of_two(*unit));
    let (mut mean, mut entries) = (vec![0.0; d], vec![0.0; d]);
    for_each(inputs, weights, |weight, j, x| {
        mean[j] += weight * (x / unit[j]);
        entries[j] += weight;
    });
    mean.iter_mut().for_each(|sum| *sum /= total);
    let mut squares = vec![0.0; d];
    for_each(inputs, weights, |weight, j, x| squares[j] += weight * (x / unit[j] - mean[j]).powi(2));
    let spread = |j: usize| {
        // The zeros weigh total - entries, and are -mean from the mean.
        let zeros = (total - entries[j]).max(0.0);
        let deviation = ((squares[j] + zeros * mean[j] * mean[j]) / total).sqrt();
        FeatureSpread { centre: mean[j], deviation, unit: unit[j] }
    };
    Scaling::spread_of(&(0..d).map(spread).collect::<Vec<_>>(), n)
}

impl Scaling {
    /// Spread scaling of features with these means and deviations in n inputs.
    pub(crate) fn spread_of(features: &[FeatureSpread], n: f64) -> Result<Scaling> {
        let factor = |(j, own): (usize, &FeatureSpread)| match own.is_positive(n) {
            true => one_over(own.deviation, own.unit, j),
            false if own.centre == 0.0 => Ok(1.0),
            false => one_over(own.centre.abs(), own.unit, j),
        };
        let factor = features.iter().enumerate().map(factor).collect::<Result<_>>()?;
        Ok(Scaling::Spread { mean: features.iter().map(|own| own.centre * own.unit).collect(), factor })
    }
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
