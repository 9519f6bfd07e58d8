//! What the spread of few rows says about the unit of a task.

use crate::special::{digamma, trigamma};

/// Weights for squared errors that are divided by the mean square deviation of their task, `ln s_t^2` of `n_t` rows, so
/// that their sum is one in better units.
///
/// A task whose few rows happen to lie close to its mean has a small `s_t`, and every error looks large in such a unit.
/// So `ln s_t^2` is shrunk towards the mean m of all tasks (empirical Bayes). Less its bias it has the variance
/// `v_t = psi'((n_t - 1) / 2)` by chance, for normal labels; what it varies beyond that, tau^2, is the variance of true
/// units. The unit u_t is
/// ```text
/// ln u_t^2 = m + tau^2 / (tau^2 + v_t) (ln s_t^2 - bias_t - m)
/// ```
/// and the weight `s_t^2 / u_t^2`. If tasks have one unit, all errors are measured in it; if units are unlike each
/// other, or rows are many, each task keeps its own.
pub fn precision_weights(ln_mean_squares: &[f64], rows: &[f64]) -> Vec<f64> {
    let tasks: Vec<LogSpread> =
        ln_mean_squares.iter().zip(rows).map(|(l, n)| LogSpread::new(*l, *n)).collect();
    // One row says nothing about a spread, unless no task has two.
    let most = rows.iter().fold(0.0f64, |a, &b| a.max(b));
    let known = || tasks.iter().filter(|task| task.rows > 1.0 || most <= 1.0);
    let total: f64 = known().map(|task| task.rows).sum();
    let mean = known().map(|task| task.rows * task.unbiased).sum::<f64>() / total;
    let seen = |task: &LogSpread| task.rows * ((task.unbiased - mean).powi(2) - task.by_chance);
    let beyond_chance = (known().map(seen).sum::<f64>() / total).max(0.0);
    let weight = |(task, l): (&LogSpread, &f64)| {
        let kept = beyond_chance / (beyond_chance + task.by_chance);
        (l - mean - kept * (task.unbiased - mean)).exp()
    };
    tasks.iter().zip(ln_mean_squares).map(weight).collect()
}

/// `ln s^2` of so many rows, less its bias, and its variance by chance.
struct LogSpread {
    rows: f64,
    unbiased: f64,
    by_chance: f64,
}

impl LogSpread {
    fn new(ln_mean_square: f64, rows: f64) -> Self {
        // The mean took one of them.
        let half = 0.5 * (rows - 1.0).max(LEAST_FREEDOM);
        LogSpread {
            rows,
            unbiased: ln_mean_square - digamma(half) + (0.5 * rows).ln(),
            by_chance: trigamma(half),
        }
    }
}

/// Degrees of freedom of a single row: it says hardly anything.
const LEAST_FREEDOM: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_unit_for_all_if_spreads_differ_by_chance() {
        // Mean squares 1, 2 and 1/2 of four rows each, and of one row each.
        for rows in [4.0, 1.0] {
            let weights = precision_weights(&[0.0, 2f64.ln(), 0.5f64.ln()], &[rows; 3]);
            assert!((weights[1] / weights[0] - 2.0).abs() < 1e-12, "{weights:?}");
            assert!((weights[2] / weights[0] - 0.5).abs() < 1e-12, "{weights:?}");
        }
    }

    #[test]
    fn own_units_if_they_differ_or_rows_are_many() {
        let unlike = precision_weights(&[0.0, 30.0, -30.0, 700.0, -700.0], &[20.0; 5]);
        assert!(unlike.iter().all(|w| (w / unlike[0] - 1.0).abs() < 0.01), "{unlike:?}");
        let many = precision_weights(&[0.0, 0.7, -0.7], &[1e6; 3]);
        assert!(many.iter().all(|w| (w - 1.0).abs() < 1e-4), "{many:?}");
        assert!(precision_weights(&[5.0], &[6.0])[0] > 0.0 && precision_weights(&[], &[]).is_empty());
    }
}
