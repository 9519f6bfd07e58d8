//! What is added to the slope of a cubic step: by Theta at rho = 0, and by atoms.

use super::RowSums;
use crate::regularizer::{AtomStep, RowSlope, RowStep, SumRegularizer};

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

/// The regulariser's part of a step where `phi'` is linear: a polynomial, whose sums over tasks are made once.
#[derive(Debug, Clone, Copy)]
pub(super) struct OutputPolynomial {
    slope: AddedSlope,
    /// At least the sum of the absolute values of what the constant is made of.
    size: f64,
}

impl OutputPolynomial {
    /// `c_squares` is at least the sum of all `c_s^2`.
    pub(super) fn new(gain: f64, sums: &RowSums, c_squares: f64, added: &AddedSlope) -> Self {
        let RowSums { a, b, c, squares, inner } = *sums;
        let slope = AddedSlope {
            constant: added.constant + gain * inner,
            linear: added.linear + gain * (a * c + b * b + squares.max(b * b)),
            square: added.square + 3.0 * gain * a * b,
            cube: added.cube + gain * a * a,
        };
        OutputPolynomial { slope, size: added.constant.abs() + gain * squares.sqrt() * c_squares.sqrt() }
    }

    pub(super) fn at(&self, d: f64) -> RowSlope {
        let AddedSlope { constant, linear, square, cube } = self.slope;
        RowSlope {
            slope: ((cube * d + square) * d + linear) * d + constant,
            curvature: (3.0 * cube * d + 2.0 * square) * d + linear,
            size: self.size + ((cube * d).abs() + square.abs()) * d * d + (linear * d).abs(),
            log_scale: 0.0,
        }
    }
}
