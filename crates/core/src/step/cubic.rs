//! Closed form where `phi'(z) = theta0 + gain z` and L* is quadratic: the slope of the coordinate problem is
//! a cubic polynomial (linear for a given Theta), increasing, with one real root.

use super::{AddedSlope, RowSums};
use crate::linalg::fma;
use crate::loss::QuadraticConjugate;
use pulp::Simd;

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
    fn at<S: Simd>(&self, d: f64) -> f64 {
        fma::<S>(fma::<S>(fma::<S>(self.cube, d, self.square), d, self.linear), d, self.constant)
    }

    #[inline(always)]
    fn slope<S: Simd>(&self, d: f64) -> f64 {
        fma::<S>(fma::<S>(3.0 * self.cube, d, 2.0 * self.square), d, self.linear)
    }

    /// The real root; an infinity if the polynomial is constant.
    #[inline(always)]
    fn root<S: Simd>(&self) -> f64 {
        if self.constant == 0.0 {
            return 0.0;
        }
        if self.cube == 0.0 {
            return -self.constant / self.linear;
        }
        // Near a solution steps are small, and Halley's iteration from zero, which cubes the error, is done
        // in two rounds.
        let bottom = fma::<S>(self.linear, self.linear, -self.constant * self.square);
        let mut d = -self.constant * self.linear / bottom;
        for _ in 0..4 {
            let (value, slope) = (self.at::<S>(d), self.slope::<S>(d));
            let bend = fma::<S>(3.0 * self.cube, d, self.square);
            let move_by = value * slope / fma::<S>(slope, slope, -value * bend);
            d -= move_by;
            // What is left is of the order of the cube.
            if move_by.abs() <= 1e-3 * d.abs() && d.is_finite() {
                return d;
            }
        }
        let mut d = self.closed_form();
        for _ in 0..2 {
            let slope = self.slope::<S>(d);
            if slope > 0.0 {
                d -= self.at::<S>(d) / slope;
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
pub(crate) fn solve<S: Simd>(
    _simd: S,
    shape: &QuadraticConjugate,
    gamma: f64,
    kappa: f64,
    gain: f64,
    sums: &RowSums,
    added: &AddedSlope,
) -> f64 {
    let RowSums { a, b, c, squares, inner } = *sums;
    let (low, high) = (-gamma * shape.high, -gamma * shape.low);
    let quad = shape.quad / gamma;
    if a == 0.0 {
        return without_input(shape, gamma, low, high);
    }
    let mut cubic = Cubic {
        cube: fma::<S>(gain * a, a, added.cube),
        square: fma::<S>(3.0 * gain * a, b, added.square),
        linear: fma::<S>(gain, fma::<S>(a, c, b * b) + squares.max(b * b), added.linear + quad),
        constant: fma::<S>(gain, inner, fma::<S>(quad, kappa, added.constant - shape.y)),
    };
    // At the end of its interval and pushed further out: nothing to solve.
    if (kappa <= low && cubic.constant - shape.eps >= 0.0)
        || (kappa >= high && cubic.constant + shape.eps <= 0.0)
    {
        return kappa.clamp(low, high);
    }
    if shape.eps == 0.0 {
        return (kappa + cubic.root::<S>()).clamp(low, high);
    }
    // A kink at kappa = 0: the root with slope +eps counts if it is positive, the one with -eps if it is
    // negative.
    let smooth = cubic.constant;
    cubic.constant = smooth + shape.eps;
    let above = kappa + cubic.root::<S>();
    if above > 0.0 {
        return above.clamp(low, high);
    }
    cubic.constant = smooth - shape.eps;
    let below = kappa + cubic.root::<S>();
    if below < 0.0 { below.clamp(low, high) } else { 0.0 }
}

/// The best kappa for an input of zero norm, whose prediction is 0 whatever happens: the minimum of
/// `quad kappa^2 / 2 gamma - y kappa + eps |kappa|`.
#[cold]
fn without_input(shape: &QuadraticConjugate, gamma: f64, low: f64, high: f64) -> f64 {
    let excess = (shape.y.abs() - shape.eps).max(0.0);
    let free = if excess == 0.0 { 0.0 } else { gamma * excess / shape.quad };
    free.copysign(shape.y).clamp(low, high)
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
            cubic.constant = -cubic.at::<pulp::Scalar>(root);
            let found = cubic.root::<pulp::Scalar>();
            assert!((found - root).abs() <= 1e-9 * root.abs().max(shift.abs()), "{found} is not {root}");
        }
    }

    #[test]
    fn a_root_is_found_where_the_slope_at_zero_vanishes() {
        for constant in [-8.0, 8.0, -1e-300, 1e300] {
            let found = Cubic { cube: 1.0, square: 0.0, linear: 0.0, constant }.root::<pulp::Scalar>();
            let root = -constant.cbrt();
            assert!((found - root).abs() <= 1e-12 * root.abs(), "{found} is not {root}");
        }
    }
}
