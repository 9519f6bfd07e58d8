//! What is added to the slope of a cubic step: by Theta at rho = 0, and by atoms.

use crate::regularizer::{AtomStep, RowStep, SumRegularizer};

/// `constant + linear d + square d^2 + cube d^3`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AddedSlope {
    pub(super) constant: f64,
    pub(super) linear: f64,
    pub(super) square: f64,
    pub(super) cube: f64,
}

impl AddedSlope {
    /// For `phi'(z) = phi'(0) + gain z`. An atom adds `w phi'(z + 2 b d + a s d^2) (b + a s d)`.
    pub(crate) fn new(output: &SumRegularizer, gain: f64, row: &RowStep<'_>, atoms: &[AtomStep]) -> Self {
        let (constant, linear) = output.entries().prior_slope(row.task, row.b);
        let mut added = AddedSlope { constant, linear: linear * row.a, ..AddedSlope::default() };
        if !atoms.is_empty() {
            added.add_atoms(output.entries().dphi((0, 0), 0.0), gain, row.a, atoms);
        }
        added
    }

    /// Adds atoms, for a Theta that is zero at rho = 0 or else `prior` times the matrix of ones.
    #[inline(always)]
    pub(crate) fn add_atoms(&mut self, prior: f64, gain: f64, a: f64, atoms: &[AtomStep]) {
        for &AtomStep { weight, z, b, s } in atoms {
            let (gain, prior, s) = (weight * gain, weight * prior, a * s);
            self.constant += (gain * z + prior) * b;
            // b^2 <= s z, but for rounding: so the slope increases everywhere.
            self.linear += gain * (2.0 * b * b + (s * z).max(b * b)) + prior * s;
            self.square += 3.0 * gain * s * b;
            self.cube += gain * s * s;
        }
    }
}
