//! Logistic loss: classification with probabilities.

use super::hinge::margin_domain;
use super::{DerivativeBlock, Loss, LossDerivatives, LossProperties, PredictionShift};
use crate::algebra::LossForm;

/// `L(y, z) = log(1 + exp(-y z))` for labels y = -1, +1.
///
/// Conjugate: `L*(u) = v log v + (1 - v) log(1 - v)` with `v = -y u` on `0 <= v <= 1`, where `0 log 0 = 0`.
/// Its slope is infinite at both ends.
///
/// ```
/// use kinfolk::loss::{Logistic, Loss};
/// assert_eq!(Logistic.value(1.0, 0.0), 2f64.ln());
/// assert_eq!(Logistic.value(1.0, -1e300), 1e300);
/// assert_eq!(Logistic.conj(1.0, -1.0), 0.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Logistic;

/// `log(1 + exp(t))`, of full relative accuracy for every t.
fn softplus(t: f64) -> f64 {
    t.max(0.0) + (-t.abs()).exp().ln_1p()
}

/// `1 / (1 + exp(-t))`, of full relative accuracy for every t.
fn sigmoid(t: f64) -> f64 {
    let e = (-t.abs()).exp();
    if t < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

/// `log(v / (1 - v))` for v in [0, 1], also near its zero at 1/2.
fn logit(v: f64) -> f64 {
    if (0.25..=0.75).contains(&v) { ((2.0 * v - 1.0) / (1.0 - v)).ln_1p() } else { v.ln() - (-v).ln_1p() }
}

/// `v log v`, 0 at 0.
fn v_log_v(v: f64) -> f64 {
    if v == 0.0 { 0.0 } else { v * v.ln() }
}

/// `v log(v / p) - v + p >= 0` for `v >= 0`, `p = exp(log_p)`, given `d = v - p`: half of a relative entropy.
fn divergence(v: f64, p: f64, log_p: f64, d: f64) -> f64 {
    if d.abs() >= 0.1 * (v + p) {
        return if v > 0.0 { v * (v.ln() - log_p) - d } else { p };
    }
    // log(v / p) = 2 (t + t^3/3 + t^5/5 + ...) with t = d / (v + p); the first term and -d make d t, which
    // does not cancel.
    let t = d / (v + p);
    let (mut sum, mut power) = (d * t, 2.0 * v * t);
    for odd in [3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0] {
        power *= t * t;
        sum += power / odd;
    }
    sum
}

impl Loss for Logistic {
    fn properties(&self) -> LossProperties {
        let (is_classification, has_linear_tail) = (true, false);
        LossProperties { name: "logistic", is_classification, conj_modulus: 4.0, has_linear_tail }
    }

    fn form(&self) -> Option<LossForm> {
        Some(LossForm::Logistic)
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        softplus(-y * z)
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        let slope = -y * sigmoid(-y * z);
        (slope, slope)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        sigmoid(y * z) * sigmoid(-y * z)
    }

    /// With one exponential for all three.
    fn derivatives(&self, block: &mut DerivativeBlock<'_>) {
        let with_value = block.with_value;
        block.fill(|y, z, _, _| {
            let margin = y * z;
            let e = (-margin.abs()).exp();
            let (small, large) = (e / (1.0 + e), 1.0 / (1.0 + e));
            LossDerivatives {
                dual: y * if margin > 0.0 { small } else { large },
                curvature: small * large,
                value: if with_value { (-margin).max(0.0) + e.ln_1p() } else { 0.0 },
            }
        });
    }

    /// The odds `v / (1 - v)` of `v = -y u` are `exp(-y z)`: a change of z multiplies them.
    fn shifted(&self, y: f64, u: f64, shift: &PredictionShift) -> (f64, f64) {
        let v = -y * u;
        let factor = if y > 0.0 { shift.exp_of_minus } else { shift.exp };
        // Where everything is in one of the two classes, it stays there.
        let (one, other) = if v > 0.0 && v < 1.0 { (v * factor, 1.0 - v) } else { (v, 1.0 - v) };
        let (one, other) = if one.is_finite() { (one, other) } else { (1.0, 0.0) };
        let sum = one + other;
        (-y * one / sum, (one / sum) * (other / sum))
    }

    fn conj(&self, y: f64, u: f64) -> f64 {
        let (low, high) = margin_domain(y, 1.0);
        if u < low || u > high {
            return f64::INFINITY;
        }
        let v = -y * u;
        v_log_v(v) + if v < 0.5 { (1.0 - v) * (-v).ln_1p() } else { v_log_v(1.0 - v) }
    }

    fn conj_domain(&self, y: f64) -> (f64, f64) {
        margin_domain(y, 1.0)
    }

    fn conj_slope(&self, y: f64, u: f64) -> (f64, f64) {
        let slope = -y * logit(-y * u);
        (slope, slope)
    }

    fn conj_curvature(&self, y: f64, u: f64) -> f64 {
        let v = (-y * u).abs(); // v >= 0 anyway; this turns -0 into 0
        (v * (1.0 - v)).recip()
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // The relative entropy of v and p = 1 / (1 + exp(y z)), in two halves that are never negative.
        // Whichever of p and 1 - p is small carries the digits, and so gives the difference d = v - p.
        let (m, v) = (y * z, -y * u);
        let (p, q) = (sigmoid(-m), sigmoid(m));
        let d = if m >= 0.0 { v - p } else { q - (1.0 - v) };
        divergence(v, p, -softplus(m), d) + divergence(1.0 - v, q, -softplus(-m), -d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small terms keep their digits, of which the plain sum has none left below 1e-16. References: mpmath,
    /// 4000 bits.
    #[test]
    fn small_fenchel_young_terms_are_accurate() {
        for (y, z, u, expected) in [
            (1.0, 0.25, -0.4375, 2.1260238529834216e-7),
            (1.0, 2.0, -0.1192, 4.066092965307134e-11),
            (1.0, 2.0, -0.11920292, 1.9472424904092245e-17),
            (1.0, -30.0, -0.9999999999999, 2.1767811296744827e-16),
            (-1.0, -700.0, 1e-304, 9.93841860891438e-309),
            (1.0, 40.0, -0.5, 19.306852819440056),
            (1.0, 800.0, -1e-3, 0.7920927448877679),
        ] {
            let got = Logistic.fenchel_young(y, z, u);
            // Moving z or u by one rounding moves the hardest of these by 1e-8 of itself.
            assert!((got / expected - 1.0).abs() < 1e-7, "{got:e} instead of {expected:e}");
        }
    }

    #[test]
    fn logit_undoes_sigmoid() {
        for z in [-700.0, -30.0, -1.2, -1e-9, 0.0, 1e-300, 0.5, 1.0, 20.0] {
            let back = logit(sigmoid(z));
            assert!((back - z).abs() <= 4.0 * f64::EPSILON * (z.abs() + z.exp()), "{back} instead of {z}");
        }
    }
}
