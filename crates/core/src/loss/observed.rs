//! The loss of one observation, with its label and offset filled in.

use super::{Loss, QuadraticConjugate};

/// `z -> L(y, z + offset)` for one observation. Its conjugate is `u -> L*(y, u) - offset u`.
///
/// This and the two sums over blocks ([`TermBlock`](super::TermBlock),
/// [`DerivativeBlock`](super::DerivativeBlock)), which are given `z + offset`, are the only places where a
/// loss meets an offset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObservedLoss<'a> {
    pub(crate) loss: &'a dyn Loss,
    pub(crate) y: f64,
    pub(crate) offset: f64,
}

impl ObservedLoss<'_> {
    /// Left and right derivative at z.
    pub(crate) fn slope(&self, z: f64) -> (f64, f64) {
        self.loss.slope(self.y, z + self.offset)
    }

    /// The derivative at z, in the middle of a kink.
    pub(crate) fn mean_slope(&self, z: f64) -> f64 {
        let (left, right) = self.slope(z);
        0.5 * (left + right)
    }

    pub(crate) fn curvature(&self, z: f64) -> f64 {
        self.loss.curvature(self.y, z + self.offset)
    }

    pub(crate) fn conj_domain(&self) -> (f64, f64) {
        self.loss.conj_domain(self.y)
    }

    pub(crate) fn conj_slope(&self, u: f64) -> (f64, f64) {
        let (left, right) = self.loss.conj_slope(self.y, u);
        (left - self.offset, right - self.offset)
    }

    pub(crate) fn conj_curvature(&self, u: f64) -> f64 {
        self.loss.conj_curvature(self.y, u)
    }

    pub(crate) fn quadratic_conjugate(&self) -> Option<QuadraticConjugate> {
        self.loss.quadratic_conjugate(self.y).map(|shape| shape.with_offset(self.offset))
    }
}
