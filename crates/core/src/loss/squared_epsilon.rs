//! Squared epsilon-insensitive loss: support vector regression with a smooth loss.

use super::epsilon::check_epsilon;
use super::squared::residual;
use super::{LossProperties, QuadraticConjugate, QuadraticLoss};

/// `L(y, z) = max(0, |y - z| - epsilon)^2 / 2` for real labels.
///
/// Conjugate: `L*(u) = y u + epsilon |u| + u^2 / 2` everywhere.
///
/// ```
/// use kinfolk::loss::{Loss, SquaredEpsilon};
/// let loss = SquaredEpsilon::new(0.5)?;
/// assert_eq!(loss.value(1.0, 0.75), 0.0);
/// assert_eq!(loss.value(1.0, 3.0), 1.125);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SquaredEpsilon {
    epsilon: f64,
}

impl SquaredEpsilon {
    /// Half-width of the tube of free errors, in the unit of the labels: epsilon >= 0.
    pub fn new(epsilon: f64) -> crate::Result<Self> {
        Ok(SquaredEpsilon { epsilon: check_epsilon(epsilon)? })
    }
}

impl QuadraticLoss for SquaredEpsilon {
    fn properties(&self) -> LossProperties {
        LossProperties {
            name: "squared_epsilon",
            is_classification: false,
            conj_modulus: 1.0,
            has_linear_tail: false,
        }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        let excess = ((y - z).abs() - self.epsilon).max(0.0);
        0.5 * excess * excess
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        let r = z - y;
        let slope = (r.abs() - self.epsilon).max(0.0).copysign(r);
        (slope, slope)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        if (y - z).abs() >= self.epsilon { 1.0 } else { 0.0 }
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        QuadraticConjugate { y, quad: 1.0, eps: self.epsilon, low: f64::NEG_INFINITY, high: f64::INFINITY }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // With r = y - z the term is max(0, |r| - epsilon)^2 / 2 + epsilon |u| + u^2 / 2 + r u.
        let (r, w) = (residual(y, z), u.abs());
        let excess = r.abs() - self.epsilon;
        if u * r.signum() > 0.0 {
            let excess = excess.max(0.0);
            0.5 * excess * excess + 0.5 * w * w + w * self.epsilon + w * r.abs()
        } else if excess > 0.0 {
            0.5 * (excess - w) * (excess - w)
        } else {
            w * (0.5 * w - excess)
        }
    }
}
