//! Squared loss: ridge regression.

use super::{LossProperties, QuadraticConjugate, QuadraticLoss};

/// `L(y, z) = (y - z)^2 / 2` for real labels. For `(y - z)^2` double C.
///
/// Conjugate: `L*(u) = y u + u^2 / 2` everywhere.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Squared;

/// `y - z`, kept finite: in a Fenchel-Young term zero times an overflowed residual must stay zero.
pub(super) fn residual(y: f64, z: f64) -> f64 {
    (y - z).clamp(f64::MIN, f64::MAX)
}

impl QuadraticLoss for Squared {
    fn properties(&self) -> LossProperties {
        LossProperties {
            name: "squared",
            is_classification: false,
            conj_modulus: 1.0,
            has_linear_tail: false,
        }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        0.5 * (y - z) * (y - z)
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        (z - y, z - y)
    }

    fn curvature(&self, _y: f64, _z: f64) -> f64 {
        1.0
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        QuadraticConjugate { y, quad: 1.0, eps: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        let residual = y - z + u;
        0.5 * residual * residual
    }
}
