//! What the spread of few rows says about the unit of a task.

use crate::target_scaling::{ENOUGH_LABELS, shrunk};

/// A mean square is known well enough to be divided by if it is of more rows than this: of n normal labels,
/// `(n - 3) / SST` is an unbiased estimate of 1 / variance, and `1 / SST` has no finite mean for n <= 3.
const ROWS_WITHOUT_PRECISION: f64 = 3.0;

/// Weights of tasks in a sum of squared errors that are divided by the mean square deviation `s_t^2` of their task, of
/// `n_t` rows: `(n_t - 3) / n_t`, or none.
///
/// A task whose few rows happen to lie close to its mean has a small `s_t`, and every error looks large in such a unit:
/// such tasks would decide. So if tasks have few rows on average, errors are measured in units `u_t` between `s_t` and
/// the typical one, as labels are with [`TargetScale::Shrunk`](crate::TargetScale::Shrunk). Then the weights are
/// `s_t^2 / u_t^2`.
pub fn precision_weights(ln_mean_squares: &[f64], rows: &[f64]) -> Vec<f64> {
    let spreads: Vec<(f64, f64)> = rows.iter().zip(ln_mean_squares).map(|(n, l)| (*n, 0.5 * l)).collect();
    let known = || rows.iter().filter(|n| **n >= 2.0);
    let are_few = known().sum::<f64>() < ENOUGH_LABELS * known().count() as f64;
    if let Some(units) = shrunk(&spreads).filter(|_| are_few) {
        let logs: Vec<f64> = ln_mean_squares.iter().zip(&units).map(|(l, unit)| l - 2.0 * unit).collect();
        let largest = logs.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        return logs.iter().map(|l| (l - largest).exp()).collect();
    }
    rows.iter().map(|n| (n - ROWS_WITHOUT_PRECISION).max(0.0) / n).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_for_all_if_spreads_differ_by_chance() {
        // Mean squares 1, 2 and 1/2 of four rows each.
        for unit in [-600.0, 0.0, 600.0] {
            let weights = precision_weights(&[unit, unit + 2f64.ln(), unit + 0.5f64.ln()], &[4.0; 3]);
            assert!((weights[1] / weights[0] - 2.0).abs() < 1e-9, "{weights:?}");
            assert!((weights[2] / weights[0] - 0.5).abs() < 1e-9, "{weights:?}");
        }
    }

    #[test]
    fn own_units_if_they_differ_or_rows_are_many() {
        let far_apart = precision_weights(&[0.0, 30.0, -30.0, 700.0, -700.0], &[5.0; 5]);
        assert!(far_apart.iter().all(|weight| *weight > 0.9), "{far_apart:?}");
        assert_eq!(precision_weights(&[0.0, 0.7, -0.7], &[6.0; 3]), [0.5; 3]);
        assert_eq!(precision_weights(&[5.0], &[2.0]), [0.0]);
        assert!(precision_weights(&[], &[]).is_empty());
    }
}
