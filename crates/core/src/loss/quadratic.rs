//! The shape shared by most conjugates, and the short way to write a loss that has it.

use super::{DerivativeBlock, Loss, LossProperties};
use crate::algebra::LossForm;
use std::fmt::Debug;

/// `L*(u) = y u + quad u^2 / 2 + eps |u|` on `low <= u <= high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuadraticConjugate {
    /// Coefficient of u.
    pub y: f64,
    /// Curvature.
    pub quad: f64,
    /// Half the jump of the slope at u = 0.
    pub eps: f64,
    /// Lower end of the domain.
    pub low: f64,
    /// Upper end of the domain.
    pub high: f64,
}

impl QuadraticConjugate {
    /// The conjugate of `z -> L(z + offset)`: `L*(u) - offset u`.
    #[inline(always)]
    pub fn with_offset(self, offset: f64) -> Self {
        QuadraticConjugate { y: self.y - offset, ..self }
    }

    /// The conjugate with an intercept b that grows by `stiffness` per unit of the dual `kappa = -gamma u`, for a dual
    /// that is kappa now: `gamma L*` gains `b kappa' + stiffness (kappa' - kappa)^2 / 2` at another dual kappa'.
    #[inline(always)]
    pub fn with_intercept(self, (b, stiffness): (f64, f64), gamma: f64, kappa: f64) -> Self {
        let y = self.y - b + stiffness * kappa;
        QuadraticConjugate { y, quad: self.quad + gamma * stiffness, ..self }
    }

    /// L*(u), infinite outside the domain.
    #[inline]
    pub fn value(&self, u: f64) -> f64 {
        if u < self.low || u > self.high {
            return f64::INFINITY;
        }
        // One product, not a sum of products: it may overflow, but not to infinity minus infinity.
        u * (self.y + 0.5 * self.quad * u + self.eps.copysign(u))
    }

    /// Left and right derivative of the formula, ignoring the ends of the domain.
    #[inline]
    pub fn slope(&self, u: f64) -> (f64, f64) {
        let smooth = self.y + self.quad * u;
        let (left, right) = if u > 0.0 {
            (self.eps, self.eps)
        } else if u < 0.0 {
            (-self.eps, -self.eps)
        } else {
            (-self.eps, self.eps)
        };
        (smooth + left, smooth + right)
    }
}

/// A loss whose conjugate is a [`QuadraticConjugate`]. Implementing this gives [`Loss`].
pub trait QuadraticLoss: Debug + Send + Sync {
    /// See [`Loss::properties`]; `conj_modulus` is `quad` of every conjugate.
    fn properties(&self) -> LossProperties;
    /// See [`Loss::value`].
    fn value(&self, y: f64, z: f64) -> f64;
    /// See [`Loss::slope`].
    fn slope(&self, y: f64, z: f64) -> (f64, f64);
    /// See [`Loss::curvature`].
    fn curvature(&self, y: f64, z: f64) -> f64;
    /// L*(y, .). Its coefficient of u is a multiple of the label; its other numbers depend on the sign of the label
    /// alone.
    fn conjugate(&self, y: f64) -> QuadraticConjugate;
    /// See [`Loss::fenchel_young`].
    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        self.value(y, z) + self.conjugate(y).value(u) - z * u
    }
}

impl<L: QuadraticLoss> Loss for L {
    #[inline(always)]
    fn properties(&self) -> LossProperties {
        QuadraticLoss::properties(self)
    }
    fn form(&self) -> Option<LossForm> {
        Some(LossForm::quadratic(self.conjugate(1.0), self.conjugate(-1.0)))
    }
    #[inline(always)]
    fn has_quadratic_conjugate(&self) -> bool {
        true
    }
    #[inline(always)]
    fn value(&self, y: f64, z: f64) -> f64 {
        QuadraticLoss::value(self, y, z)
    }
    #[inline(always)]
    fn slope(&self, y: f64, z: f64) -> (f64, f64) {
        QuadraticLoss::slope(self, y, z)
    }
    #[inline(always)]
    fn curvature(&self, y: f64, z: f64) -> f64 {
        QuadraticLoss::curvature(self, y, z)
    }
    #[inline(always)]
    fn conj(&self, y: f64, u: f64) -> f64 {
        self.conjugate(y).value(u)
    }
    #[inline(always)]
    fn conj_domain(&self, y: f64) -> (f64, f64) {
        let shape = self.conjugate(y);
        (shape.low, shape.high)
    }
    #[inline(always)]
    fn conj_slope(&self, y: f64, u: f64) -> (f64, f64) {
        self.conjugate(y).slope(u)
    }
    #[inline(always)]
    fn conj_curvature(&self, y: f64, _u: f64) -> f64 {
        self.conjugate(y).quad
    }
    #[inline(always)]
    fn quadratic_conjugate(&self, y: f64) -> Option<QuadraticConjugate> {
        Some(self.conjugate(y))
    }
    fn derivatives(&self, block: &mut DerivativeBlock<'_>) {
        block.fill(|y, z, mu, centre| self.conjugate(y).derivatives(z, mu, centre));
    }
    fn quadratic_conjugates(&self, labels: &[f64], out: &mut Vec<QuadraticConjugate>) {
        out.extend(labels.iter().map(|&y| self.conjugate(y)));
    }
    #[inline(always)]
    fn fenchel_young(&self, y: f64, z: f64, u: f64) -> f64 {
        QuadraticLoss::fenchel_young(self, y, z, u)
    }
}
