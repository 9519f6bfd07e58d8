//! Special functions.

/// Where the asymptotic series below have nine digits.
const LARGE: f64 = 8.0;

/// psi(x), x > 0: `psi(x) = psi(x + 1) - 1 / x` up to where its series is exact enough.
pub(crate) fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < LARGE {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + x.ln() - 0.5 / x - y * (1.0 / 12.0 - y * (1.0 / 120.0 - y * (1.0 / 252.0 - y / 240.0)))
}

/// psi'(x), x > 0, in the same way.
pub(crate) fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < LARGE {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    sum + 1.0 / x + 0.5 * y + y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y / 30.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let euler = 0.577_215_664_901_532_9;
        assert!((digamma(1.0) + euler).abs() < 1e-9);
        assert!((digamma(0.5) + euler + 2.0 * 2f64.ln()).abs() < 1e-9);
        let pi2 = std::f64::consts::PI.powi(2);
        assert!((trigamma(1.0) - pi2 / 6.0).abs() < 1e-9);
        assert!((trigamma(0.5) - pi2 / 2.0).abs() < 1e-9);
        assert!((trigamma(1e6) * 1e6 - 1.0).abs() < 1e-5);
    }
}
