//! What the spread of few rows says about the unit of a task.

use crate::special::{digamma, inverse_trigamma, trigamma};

/// A mean square is known well enough to be divided by if it is of more rows than this: of n normal deviations,
/// `(n - 3) / SST` is nearly an unbiased estimate of 1 / variance, and `1 / SST` has no finite mean for few rows.
const ROWS_WITHOUT_PRECISION: f64 = 3.0;

/// Weights for squared errors that are divided by the mean square deviation of their task, `ln s_t^2` of `n_t` rows, so
/// that their sum is one in better units.
///
/// A task whose few rows happen to lie close to its mean has a small `s_t`, and every error looks large in such a unit.
/// So `s_t^2` is replaced by `(d s^2 + n_t s_t^2) / (d + n_t)`, shrunk towards the `s^2` of all tasks: d is the number
/// of rows that all other tasks together are worth, and follows from how much `ln s_t^2` differ beyond chance
/// (empirical Bayes for variances: Smyth, 2004). By chance `ln s_t^2` has the variance `psi'((n_t - 1) / 2)`. If tasks
/// have one unit, d is infinite, and all errors are measured in it; if units are unlike each other, d is near zero.
pub fn precision_weights(ln_mean_squares: &[f64], rows: &[f64]) -> Vec<f64> {
    let (prior_rows, ln_common) = prior(ln_mean_squares, rows);
    let weight = |(l, n): (&f64, &f64)| {
        // s_t^2 / s^2
        let ratio = (l - ln_common).exp();
        if prior_rows.is_infinite() {
            return ratio;
        }
        let worth = n + prior_rows;
        let shrunk = if prior_rows > 0.0 { worth / (prior_rows / ratio + n) } else { 1.0 };
        shrunk * (worth - ROWS_WITHOUT_PRECISION).max(0.0) / worth
    };
    ln_mean_squares.iter().zip(rows).map(weight).collect()
}

/// d and `ln s^2`.
fn prior(ln_mean_squares: &[f64], rows: &[f64]) -> (f64, f64) {
    if ln_mean_squares.len() < 2 {
        return (0.0, 0.0);
    }
    // Less its bias, with its variance by chance and its weight. One row says nothing about a spread.
    let unbiased = |(l, n): (&f64, &f64)| {
        let freedom = 0.5 * (n - 1.0);
        (freedom > 0.0).then(|| (l - digamma(freedom) + (0.5 * n).ln(), trigamma(freedom), *n))
    };
    let known: Vec<(f64, f64, f64)> = ln_mean_squares.iter().zip(rows).filter_map(unbiased).collect();
    let total: f64 = known.iter().map(|(_, _, n)| n).sum();
    if total == 0.0 {
        return (f64::INFINITY, ln_mean_squares.iter().sum::<f64>() / ln_mean_squares.len() as f64);
    }
    let mean = known.iter().map(|(l, _, n)| n * l).sum::<f64>() / total;
    let beyond_chance = known.iter().map(|(l, v, n)| n * ((l - mean).powi(2) - v)).sum::<f64>() / total;
    if beyond_chance > 0.0 {
        let half = inverse_trigamma(beyond_chance);
        (2.0 * half, mean + digamma(half) - half.ln())
    } else {
        (f64::INFINITY, mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_for_all_if_spreads_differ_by_chance() {
        // Mean squares 1, 2 and 1/2 of four rows each.
        let weights = precision_weights(&[0.0, 2f64.ln(), 0.5f64.ln()], &[4.0; 3]);
        assert!(
            (weights[1] / weights[0] - 2.0).abs() < 1e-12 && (weights[2] / weights[0] - 0.5).abs() < 1e-12
        );
    }

    #[test]
    fn own_units_if_they_differ_or_rows_are_many() {
        let unlike = precision_weights(&[0.0, 30.0, -30.0, 700.0, -700.0], &[20.0; 5]);
        assert!(unlike.iter().all(|w| (w - 0.85).abs() < 0.01), "{unlike:?}");
        let many = precision_weights(&[0.0, 0.7, -0.7], &[1e6; 3]);
        assert!(many.iter().all(|w| (w - 1.0).abs() < 1e-4), "{many:?}");
        let single = precision_weights(&[0.0, 1.0, 2.0], &[1.0; 3]);
        assert!((single[1] / single[0] - 1f64.exp()).abs() < 1e-12);
        assert_eq!(precision_weights(&[5.0], &[6.0]), [0.5]);
        assert_eq!(precision_weights(&[5.0], &[2.0]), [0.0]);
    }
}
