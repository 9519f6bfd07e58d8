//! Absolute loss: regression towards the median.

use super::squared::residual;
use super::{LossProperties, QuadraticConjugate, QuadraticLoss};

/// `L(y, z) = |y - z|` for real labels.
///
/// Conjugate: `L*(u) = y u` on `-1 <= u <= 1`.
///
/// ```
/// use kinfolk::loss::{Absolute, Loss};
/// assert_eq!(Absolute.value(1.0, -2.0), 3.0);
/// assert_eq!(Absolute.slope(1.0, 1.0), (-1.0, 1.0));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Absolute;

impl QuadraticLoss for Absolute {
    fn properties(&self) -> LossProperties {
        LossProperties {
            name: "absolute",
            is_classification: false,
            conj_modulus: 0.0,
            has_linear_tail: true,
        }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        (y - z).abs()
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        (if z <= y { -1.0 } else { 1.0 }, if z < y { -1.0 } else { 1.0 })
    }

    fn curvature(&self, _y: f64, _z: f64) -> f64 {
        0.0
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        QuadraticConjugate { y, quad: 0.0, eps: 0.0, low: -1.0, high: 1.0 }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // With r = y - z the term is |r| + r u.
        let r = residual(y, z);
        (1.0 + u * r.signum()) * r.abs()
    }
}
