//! Closed form where `phi'(z) = theta0 + gain z` and L* is quadratic: the slope of the coordinate problem is a cubic
//! polynomial (linear for a given Theta), increasing, with one real root.

use super::Coordinate;
use crate::linalg::dot_inline as dot;
use crate::loss::QuadraticConjugate;
use crate::output::{OutputRegularizer, RowStep};

/// `cube d^3 + square d^2 + linear d + constant`, increasing in d.
#[derive(Debug, Clone, Copy)]
struct Cubic {
    cube: f64,
    square: f64,
    linear: f64,
    constant: f64,
}

impl Cubic {
    #[inline(always)]
    fn at(&self, d: f64) -> f64 {
        ((self.cube * d + self.square) * d + self.linear) * d + self.constant
    }

    #[inline(always)]
    fn slope(&self, d: f64) -> f64 {
        (3.0 * self.cube * d + 2.0 * self.square) * d + self.linear
    }

    /// The real root; an infinity if the polynomial is constant.
    #[inline(always)]
    fn root(&self) -> f64 {
        if self.constant == 0.0 {
            return 0.0;
        }
        if self.cube == 0.0 {
            return -self.constant / self.linear;
        }
        // Near a solution steps are small and Newton from zero is done in two or three rounds.
        let mut d = 0.0;
        for _ in 0..4 {
            let move_by = self.at(d) / self.slope(d);
            d -= move_by;
            // Without any slope at zero (no dual of any task has moved yet) the first move is infinite.
            if move_by.abs() <= 1e-9 * d.abs() && d.is_finite() {
                return d - self.at(d) / self.slope(d);
            }
        }
        let mut d = self.closed_form();
        for _ in 0..2 {
            let slope = self.slope(d);
            if slope > 0.0 {
                d -= self.at(d) / slope;
            }
        }
        d
    }

    /// `d = z - s` with `z^3 + 3 h^2 z + q = 0`, whose root is `-2 h sinh(asinh(q / 2 h^3) / 3)`.
    #[cold]
    fn closed_form(&self) -> f64 {
        let shift = self.square / (3.0 * self.cube);
        let h_square = ((self.linear / self.cube - 3.0 * shift * shift) / 3.0).max(0.0);
        let q = 2.0 * shift * shift * shift - shift * self.linear / self.cube + self.constant / self.cube;
        let h = h_square.sqrt();
        let ratio = q / (2.0 * h * h_square);
        let z = if ratio.is_finite() { -2.0 * h * (ratio.asinh() / 3.0).sinh() } else { -q.cbrt() };
        z - shift
    }
}

#[inline(always)]
pub(super) fn solve(
    coordinate: &Coordinate<'_>,
    shape: &QuadraticConjugate,
    output: &dyn OutputRegularizer,
    gain: f64,
    row: &RowStep<'_>,
) -> f64 {
    let RowStep { task: r, a, b, c } = *row;
    let Coordinate { gamma, kappa, .. } = *coordinate;
    let (low, high) = (-gamma * shape.high, -gamma * shape.low);
    let (squares, prediction) = (dot(b, b) - b[r] * b[r], gain * dot(b, c));
    let (prior, prior_rr) = output.prior_slope(r, b);
    let quad = shape.quad / gamma;
    let mut cubic = Cubic {
        cube: gain * a * a,
        square: 3.0 * gain * a * b[r],
        linear: gain * (2.0 * b[r] * b[r] + a * c[r] + squares.max(0.0)) + prior_rr * a + quad,
        constant: prediction + prior - shape.y + quad * kappa,
    };
    if shape.eps == 0.0 {
        return (kappa + cubic.root()).clamp(low, high);
    }
    // A kink at kappa = 0: the root with slope +eps counts if it is positive, the one with -eps if it is negative.
    let smooth = cubic.constant;
    cubic.constant = smooth + shape.eps;
    let above = kappa + cubic.root();
    if above > 0.0 {
        return above.clamp(low, high);
    }
    cubic.constant = smooth - shape.eps;
    let below = kappa + cubic.root();
    if below < 0.0 { below.clamp(low, high) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_found_from_near_and_far() {
        for (shift, linear, root) in [(0.0, 1.0, 1e-9), (0.3, 2.0, -5.0), (-40.0, 1e-3, 1e6), (1e3, 0.0, 1.0)]
        {
            // (d - s)^3 + linear d, moved so that `root` is its root.
            let mut cubic = Cubic {
                cube: 1.0,
                square: -3.0 * shift,
                linear: 3.0 * shift * shift + linear,
                constant: 0.0,
            };
            cubic.constant = -cubic.at(root);
            let found = cubic.root();
            assert!((found - root).abs() <= 1e-9 * root.abs().max(shift.abs()), "{found} is not {root}");
        }
    }

    #[test]
    fn a_root_is_found_where_the_slope_at_zero_vanishes() {
        for constant in [-8.0, 8.0, -1e-300, 1e300] {
            let found = Cubic { cube: 1.0, square: 0.0, linear: 0.0, constant }.root();
            let root = -constant.cbrt();
            assert!((found - root).abs() <= 1e-12 * root.abs(), "{found} is not {root}");
        }
    }
}
