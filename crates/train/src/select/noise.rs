//! Is a mean of a few differences more than chance?

/// How rarely at least one of several means is called beyond noise, if all of them are chance.
const LEVEL: f64 = 0.05;

/// Whether the mean of `n` differences is beyond noise, where `tests` such means are looked at together: Student's test
/// on both sides, at the level divided by their number (Bonferroni).
pub(super) fn is_beyond_noise(mean: f64, standard_error: f64, n: usize, tests: usize) -> bool {
    n > 1 && mean != 0.0 && chance(mean.abs() / standard_error, n - 1) < LEVEL / tests.max(1) as f64
}

/// The chance that a Student variable with so many degrees of freedom is larger than t in size
/// (Abramowitz and Stegun 26.7.3 and 26.7.4).
fn chance(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let odd = freedom % 2 == 1;
    // Even: 1 + cos^2 / 2 + (1 * 3) / (2 * 4) cos^4 + ...; odd: cos + 2/3 cos^3 + (2 * 4) / (3 * 5) cos^5 + ...
    let (mut term, mut sum) = (if odd { cosine } else { 1.0 }, 0.0);
    let mut k = if odd { 1.0 } else { 0.0 };
    while (k as usize) + 1 < freedom {
        sum += term;
        term *= cosine * cosine * (k + 1.0) / (k + 2.0);
        k += 2.0;
    }
    let within = if odd { (angle + sine * sum) * 2.0 / std::f64::consts::PI } else { sine * sum };
    (1.0 - within).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_are_those_of_tables() {
        for (freedom, t, expected) in [
            (1, 12.706, 0.05),
            (2, 4.303, 0.05),
            (3, 3.182, 0.05),
            (4, 2.776, 0.05),
            (9, 3.250, 0.01),
            (10, 2.228, 0.05),
        ] {
            assert!((chance(t, freedom) - expected).abs() < 1e-4, "{freedom}: {}", chance(t, freedom));
        }
        assert_eq!(chance(f64::INFINITY, 4), 0.0);
        assert!((chance(0.0, 5) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn many_tasks_need_more() {
        assert!(is_beyond_noise(3.0, 1.0, 5, 1) && !is_beyond_noise(3.0, 1.0, 5, 2));
        assert!(!is_beyond_noise(2.1, 1.0, 5, 1), "five folds say little");
        assert!(
            is_beyond_noise(1.0, 0.0, 5, 100)
                && !is_beyond_noise(0.0, 0.0, 5, 1)
                && !is_beyond_noise(1.0, 0.1, 1, 1)
        );
    }
}
