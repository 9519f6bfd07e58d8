//! Hinge loss: support vector classification.

use super::{LossProperties, QuadraticConjugate, QuadraticLoss};

/// `L(y, z) = max(0, 1 - y z)` for labels y = -1, +1.
///
/// Conjugate: `L*(u) = y u` on `-1 <= y u <= 0`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Hinge;

/// The u with `0 <= -y u <= high`, for y = -1 or +1.
pub(super) fn margin_domain(y: f64, high: f64) -> (f64, f64) {
    if y > 0.0 { (-high, 0.0) } else { (0.0, high) }
}

impl QuadraticLoss for Hinge {
    fn properties(&self) -> LossProperties {
        LossProperties { name: "hinge", is_classification: true, conj_modulus: 0.0, has_linear_tail: true }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        (1.0 - y * z).max(0.0)
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        let margin = y * z;
        if margin < 1.0 {
            (-y, -y)
        } else if margin > 1.0 {
            (0.0, 0.0)
        } else {
            (f64::min(-y, 0.0), f64::max(-y, 0.0))
        }
    }

    fn curvature(&self, _y: f64, _z: f64) -> f64 {
        0.0
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        let (low, high) = margin_domain(y, 1.0);
        QuadraticConjugate { y, quad: 0.0, eps: 0.0, low, high }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // With v = -y u in [0, 1] and s = 1 - y z the term is max(0, s) - v s.
        let (s, v) = (1.0 - y * z, -y * u);
        if s > 0.0 { (1.0 - v) * s } else { -v * s }
    }
}
