//! Epsilon-insensitive loss: support vector regression.

use super::squared::residual;
use super::{LossProperties, QuadraticConjugate, QuadraticLoss, checked};

/// `L(y, z) = max(0, |y - z| - epsilon)` for real labels: errors up to epsilon are free.
///
/// Conjugate: `L*(u) = y u + epsilon |u|` on `-1 <= u <= 1`.
///
/// ```
/// use kinfolk::loss::{Epsilon, Loss};
/// let loss = Epsilon::new(0.5)?;
/// assert_eq!(loss.value(1.0, 0.75), 0.0);
/// assert_eq!(loss.value(1.0, 3.0), 1.5);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epsilon {
    epsilon: f64,
}

impl Epsilon {
    /// Half-width of the tube of free errors, in the unit of the labels: epsilon >= 0.
    pub fn new(epsilon: f64) -> crate::Result<Self> {
        Ok(Epsilon { epsilon: check_epsilon(epsilon)? })
    }
}

/// `Ok` for a half-width of a tube.
pub(super) fn check_epsilon(epsilon: f64) -> crate::Result<f64> {
    checked("epsilon", epsilon, epsilon >= 0.0, "must be a non-negative finite number")
}

impl QuadraticLoss for Epsilon {
    fn properties(&self) -> LossProperties {
        LossProperties { name: "epsilon", is_classification: false, conj_modulus: 0.0, has_linear_tail: true }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        ((y - z).abs() - self.epsilon).max(0.0)
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        // At a corner the left slope is that of a slightly larger residual, the right slope that of a smaller
        // one.
        let (r, epsilon) = (y - z, self.epsilon);
        let step = |below: bool, above: bool| f64::from(above) - f64::from(below);
        (step(r >= epsilon, r < -epsilon), step(r > epsilon, r <= -epsilon))
    }

    fn curvature(&self, _y: f64, _z: f64) -> f64 {
        0.0
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        QuadraticConjugate { y, quad: 0.0, eps: self.epsilon, low: -1.0, high: 1.0 }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // With r = y - z the term is max(0, |r| - epsilon) + epsilon |u| + r u.
        let (r, w) = (residual(y, z), u.abs());
        let excess = r.abs() - self.epsilon;
        if u * r.signum() > 0.0 {
            excess.max(0.0) + w * self.epsilon + w * r.abs()
        } else if excess > 0.0 {
            (1.0 - w) * excess
        } else {
            -w * excess
        }
    }
}
