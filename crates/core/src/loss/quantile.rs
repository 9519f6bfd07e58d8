//! Quantile (pinball) loss: regression towards a quantile.

use super::squared::residual;
use super::{LossProperties, QuadraticConjugate, QuadraticLoss, checked};

/// `L(y, z) = q (y - z)` if `y >= z`, else `(1 - q) (z - y)`, for real labels: a fraction q of them should
/// end up below the prediction.
///
/// Conjugate: `L*(u) = y u` on `-q <= u <= 1 - q`. For q = 1/2 this is half the absolute loss.
///
/// ```
/// use kinfolk::loss::{Loss, Quantile};
/// let loss = Quantile::new(0.75)?;
/// assert_eq!(loss.value(2.0, 0.0), 1.5);
/// assert_eq!(loss.value(0.0, 2.0), 0.5);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantile {
    q: f64,
}

impl Quantile {
    /// The quantile aimed at: 0 < q < 1.
    pub fn new(q: f64) -> crate::Result<Self> {
        Ok(Quantile { q: checked("q", q, 0.0 < q && q < 1.0, "must lie strictly between 0 and 1")? })
    }
}

impl QuadraticLoss for Quantile {
    fn properties(&self) -> LossProperties {
        LossProperties {
            name: "quantile",
            is_classification: false,
            conj_modulus: 0.0,
            has_linear_tail: true,
        }
    }

    fn value(&self, y: f64, z: f64) -> f64 {
        if y >= z { self.q * (y - z) } else { (1.0 - self.q) * (z - y) }
    }

    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        let (down, up) = (-self.q, 1.0 - self.q);
        (if z <= y { down } else { up }, if z < y { down } else { up })
    }

    fn curvature(&self, _y: f64, _z: f64) -> f64 {
        0.0
    }

    fn conjugate(&self, y: f64) -> QuadraticConjugate {
        QuadraticConjugate { y, quad: 0.0, eps: 0.0, low: -self.q, high: 1.0 - self.q }
    }

    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        // With r = y - z the term is q r + u r or (1 - q) |r| + u r.
        let r = residual(y, z);
        if r >= 0.0 { (self.q + u) * r } else { (1.0 - self.q - u) * -r }
    }
}
