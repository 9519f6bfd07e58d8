//! Exponential expressions that neither cancel nor overflow before they must, shared by [`Exp`](super::Exp)
//! and [`Cosh`](super::Cosh).

/// `factor * e^u`, infinite only if the product is; factor >= 0.
pub(super) fn grow(factor: f64, u: f64) -> f64 {
    if u < 700.0 || factor == 0.0 {
        factor * u.min(700.0).exp()
    } else {
        let half = (0.5 * u).exp();
        (half * factor) * half
    }
}

/// `e^-x - 1 + x >= 0`, to full relative precision also near 0.
pub(super) fn exp_gap(x: f64) -> f64 {
    if x < -709.0 {
        return (-x).exp();
    }
    if x.abs() >= 0.5 {
        return (-x).exp_m1() + x;
    }
    // Taylor series x^2/2 - x^3/6 + ...; the term left out is below 1e-16 times the first.
    let mut sum = 0.0;
    for k in (3..=17).rev() {
        sum = (sum + 1.0) * -x / f64::from(k);
    }
    0.5 * x * x * (1.0 + sum)
}

/// `ln(a / b)` for a, b > 0, to full relative precision also near a = b.
pub(super) fn log_ratio(a: f64, b: f64) -> f64 {
    let ratio = a / b;
    if (0.5..=2.0).contains(&ratio) {
        ((a - b) / b).ln_1p()
    } else if ratio.is_normal() {
        ratio.ln()
    } else {
        a.ln() - b.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_gap_is_precise_near_zero_and_continuous_where_formulas_meet() {
        for x in [1e-300, 1e-150, 1e-20, 1e-9, 1e-5] {
            for x in [x, -x] {
                let expected = 0.5 * x * x * (1.0 - x / 3.0 + x * x / 12.0);
                assert!((exp_gap(x) - expected).abs() <= 1e-15 * expected, "{x}");
            }
        }
        assert_eq!(exp_gap(0.0), 0.0);
        for x in [0.5_f64, -0.5] {
            let (series, direct) = (exp_gap(x * (1.0 - 1e-15)), exp_gap(x));
            assert!((series / direct - 1.0).abs() < 1e-14, "{x}");
        }
        assert_eq!(exp_gap(-1e6), f64::INFINITY);
        assert_eq!(exp_gap(1e6), 1e6 - 1.0);
    }

    #[test]
    fn grow_survives_a_large_power_of_a_small_factor() {
        assert_eq!(grow(2.0, 0.0), 2.0);
        let expected = (800.0 - 100.0 * std::f64::consts::LN_10).exp();
        assert!((grow(1e-100, 800.0) / expected - 1.0).abs() < 1e-12);
        assert_eq!(grow(1e-100, 1e6), f64::INFINITY);
        assert_eq!(grow(1.0, -1e6), 0.0);
    }

    #[test]
    fn log_ratio_is_precise_near_one_and_at_the_ends_of_the_range() {
        assert_eq!(log_ratio(3.0, 3.0), 0.0);
        assert!((log_ratio(1.0 + f64::EPSILON, 1.0) / f64::EPSILON - 1.0).abs() < 1e-15);
        assert!((log_ratio(1e300, 1e-300) / (600.0 * std::f64::consts::LN_10) - 1.0).abs() < 1e-15);
    }
}
