//! How much wider intervals of tasks with few rows are.

/// The quantile of the normal distribution with 5 % above it.
const NORMAL_QUANTILE: f64 = 1.644_853_626_951_472_2;

/// What a task whose unit is the spread of its own n labels is to be multiplied by: that spread is uncertain.
///
/// An error over the standard deviation of n normal labels (in the form that divides by n) is `sqrt(n / (n - 1))` times
/// a Student variable with n - 1 degrees of freedom. The factor is its 95 % quantile over that of the normal
/// distribution, and so right for intervals of 0.9. It depends on the number of rows alone, so units of tasks do not
/// matter. 1 for fewer than two rows: their unit is that of other tasks.
pub(super) fn factor(rows: usize) -> f64 {
    if rows < 2 {
        return 1.0;
    }
    let n = rows as f64;
    student_quantile(n - 1.0) / NORMAL_QUANTILE * (n / (n - 1.0)).sqrt()
}

/// The 95 % quantile of Student's distribution: exact for one and two degrees of freedom, else by the expansion of
/// Cornish and Fisher (Abramowitz and Stegun 26.7.5), which is right to three digits from three on.
fn student_quantile(freedom: f64) -> f64 {
    match freedom {
        1.0 => 6.313_751_514_675_043,
        2.0 => 2.919_985_580_353_725_6,
        _ => {
            let z = NORMAL_QUANTILE;
            let powers = [z, z.powi(3), z.powi(5), z.powi(7), z.powi(9)];
            let term = |factors: [f64; 5], below: f64| {
                factors.iter().zip(powers).map(|(factor, power)| factor * power).sum::<f64>() / below
            };
            z + term([1.0, 1.0, 0.0, 0.0, 0.0], 4.0 * freedom)
                + term([3.0, 16.0, 5.0, 0.0, 0.0], 96.0 * freedom.powi(2))
                + term([-15.0, 17.0, 19.0, 3.0, 0.0], 384.0 * freedom.powi(3))
                + term([-945.0, -1920.0, 1482.0, 776.0, 79.0], 92160.0 * freedom.powi(4))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_tables() {
        for (freedom, quantile) in
            [(1.0, 6.314), (2.0, 2.920), (3.0, 2.353), (5.0, 2.015), (10.0, 1.812), (30.0, 1.697)]
        {
            assert!((student_quantile(freedom) - quantile).abs() < 2e-3, "{freedom}");
        }
        assert!(factor(0) == 1.0 && factor(1) == 1.0 && factor(1_000_000) < 1.0 + 1e-5);
        assert!((2..200).all(|n| factor(n) > factor(n + 1)));
    }
}
