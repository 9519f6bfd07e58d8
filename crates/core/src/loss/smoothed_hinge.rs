//! Smoothed hinge loss: the hinge with its corner rounded by a parabola of width gamma.

use super::hinge::margin_domain;
use super::{LossProperties, QuadraticConjugate, QuadraticLoss, checked};

/// With `s = 1 - y z` and labels y = -1, +1:
///
/// ```text
/// L(y, z) = 0              if s <= 0
///           s^2 / (2 gamma)  if 0 <= s <= gamma
///           s - gamma / 2    if s >= gamma
/// ```
///
/// Conjugate: `L*(u) = y u + gamma u^2 / 2` on `-1 <= y u <= 0`. As gamma tends to 0 this is the hinge.
///
/// ```
/// use kinfolk::loss::{Loss, SmoothedHinge};
/// let loss = SmoothedHinge::new(0.5)?;
/// assert_eq!(loss.value(1.0, 0.75), 0.0625);
/// assert_eq!(loss.value(1.0, -1.0), 1.75);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmoothedHinge {
    gamma: f64,
}

impl SmoothedHinge {
    /// Width of the rounded corner: gamma > 0.
    pub fn new(gamma: f64) -> crate::Result<Self> {
        let gamma = checked("gamma", gamma, gamma > 0.0, "must be a positive finite number")?;
        Ok(SmoothedHinge { gamma })
    }
}

impl QuadraticLoss for SmoothedHinge {
    fn properties(&self) -> LossProperties {
        LossProperties {
            name: "smoothed_hinge",
            is_classification: true,
            conj_modulus: self.gamma,
            has_linear_tail: true,
        }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        let s = (1.0 - y * z).max(0.0);
        if s < self.gamma { 0.5 * s * (s / self.gamma) } else { s - 0.5 * self.gamma }
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        let slope = -y * ((1.0 - y * z) / self.gamma).clamp(0.0, 1.0);
        (slope, slope)
    }

    fn curvature(&self, y: f64, z: f64) -> f64 {
        let s = 1.0 - y * z;
        if 0.0 <= s && s <= self.gamma { self.gamma.recip() } else { 0.0 }
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        let (low, high) = margin_domain(y, 1.0);
        QuadraticConjugate { y, quad: self.gamma, eps: 0.0, low, high }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // With v = -y u in [0, 1] the term is L + gamma v^2 / 2 - v s; on each piece a product of signed
        // factors.
        let (gamma, s, v) = (self.gamma, 1.0 - y * z, -y * u);
        if s <= 0.0 {
            v * (0.5 * gamma * v - s)
        } else if s < gamma {
            let r = s - gamma * v;
            0.5 * r * (r / gamma)
        } else {
            (1.0 - v) * ((s - gamma) + 0.5 * gamma * (1.0 - v))
        }
    }
}
