//! Huber loss: regression that tolerates outliers.

use super::squared::residual;
use super::{LossProperties, QuadraticConjugate, QuadraticLoss, checked};

/// With `r = y - z` and real labels:
///
/// ```text
/// L(y, z) = r^2 / 2                if |r| <= delta
///           delta (|r| - delta / 2)  if |r| >= delta
/// ```
///
/// Conjugate: `L*(u) = y u + u^2 / 2` on `-delta <= u <= delta`.
///
/// ```
/// use kinfolk::loss::{Huber, Loss};
/// let loss = Huber::new(1.0)?;
/// assert_eq!(loss.value(0.0, 0.5), 0.125);
/// assert_eq!(loss.value(0.0, 3.0), 2.5);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    delta: f64,
}

impl Huber {
    /// Size of the residual, in the unit of the labels, beyond which the loss grows linearly: delta > 0.
    pub fn new(delta: f64) -> crate::Result<Self> {
        Ok(Huber { delta: checked("delta", delta, delta > 0.0, "must be a positive finite number")? })
    }
}

impl QuadraticLoss for Huber {
    fn properties(&self) -> LossProperties {
        LossProperties { name: "huber", is_classification: false, conj_modulus: 1.0, has_linear_tail: true }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        let size = (y - z).abs();
        if size <= self.delta { 0.5 * size * size } else { self.delta * (size - 0.5 * self.delta) }
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        let slope = (z - y).clamp(-self.delta, self.delta);
        (slope, slope)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        if (y - z).abs() <= self.delta { 1.0 } else { 0.0 }
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        QuadraticConjugate { y, quad: 1.0, eps: 0.0, low: -self.delta, high: self.delta }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        let (r, delta) = (residual(y, z), self.delta);
        if r.abs() <= delta {
            return 0.5 * (r + u) * (r + u);
        }
        // With t = u sign(r) in [-delta, delta] the term is delta |r| - delta^2 / 2 + t^2 / 2 + t |r|. As a
        // product of factors that are not negative it does not cancel.
        let slack = delta + u * r.signum();
        slack * ((r.abs() - delta) + 0.5 * slack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The term is 2e-8, a difference of numbers near 1e8. Subtracting them would give only rounding, 1.5e-8.
    #[test]
    fn fenchel_young_term_survives_on_the_linear_piece() {
        let loss = Huber { delta: 1.0 };
        let u = -1.0 + f64::EPSILON;
        let expected = f64::EPSILON * (1e8 - 1.0 + 0.5 * f64::EPSILON);
        assert_eq!(loss.fenchel_young(1e8, 0.0, u), expected);
        assert_eq!(loss.fenchel_young(1e8, 0.0, -1.0), 0.0);
    }
}
