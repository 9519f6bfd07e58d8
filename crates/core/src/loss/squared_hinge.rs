//! Squared hinge loss: support vector classification with a smooth loss.

use super::hinge::margin_domain;
use super::{LossProperties, QuadraticConjugate, QuadraticLoss};

/// `L(y, z) = max(0, 1 - y z)^2 / 2` for labels y = -1, +1.
///
/// Conjugate: `L*(u) = y u + u^2 / 2` on `y u <= 0`.
///
/// ```
/// use kinfolk::loss::{Loss, SquaredHinge};
/// assert_eq!(SquaredHinge.value(1.0, -2.0), 4.5);
/// assert_eq!(SquaredHinge.conj(1.0, -2.0), 0.0);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SquaredHinge;

impl QuadraticLoss for SquaredHinge {
    fn properties(&self) -> LossProperties {
        LossProperties {
            name: "squared_hinge",
            is_classification: true,
            conj_modulus: 1.0,
            has_linear_tail: true,
        }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        let s = (1.0 - y * z).max(0.0);
        0.5 * s * s
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        let slope = -y * (1.0 - y * z).max(0.0);
        (slope, slope)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        if y * z <= 1.0 { 1.0 } else { 0.0 }
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        let (low, high) = margin_domain(y, f64::INFINITY);
        QuadraticConjugate { y, quad: 1.0, eps: 0.0, low, high }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // With v = -y u >= 0 and s = 1 - y z the term is max(0, s)^2 / 2 + v^2 / 2 - v s.
        let (s, v) = (1.0 - y * z, -y * u);
        if s > 0.0 { 0.5 * (s - v) * (s - v) } else { v * (0.5 * v - s) }
    }
}
