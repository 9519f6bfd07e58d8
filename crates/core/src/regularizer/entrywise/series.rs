//! Any polynomial phi with non-negative coefficients that is convex: a regulariser made to measure.

use super::{
    Entrywise, Pair,
    polynomial::{derivative, find_negative, halfway, horner},
};
use crate::{Error, Result};

/// `phi(z) = (gain / rate) f(rate z)` with `f(u) = a_1 u + a_2 u^2 + ... + a_n u^n`, so `Theta = gain f'(rate
/// rho)`.
///
/// Non-negative coefficients keep Theta positive semidefinite; convexity on the whole real line, which they
/// do not imply, makes the learning problem convex. Both are checked. `phi*` has no formula and is found by
/// Newton's method.
///
/// ```
/// use kinfolk::regularizer::{Entrywise, Series};
/// let quartic = Series::new(vec![0.0, 0.5, 0.0, 0.25])?;      // z^2 / 2 + z^4 / 4
/// assert_eq!(quartic.dphi((0, 1), 2.0), 10.0);
/// assert!(Series::new(vec![0.0, 0.0, 1.0]).is_err());         // z^3 is not convex
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// a_1, a_2, ... without trailing zeros.
    coefficients: Vec<f64>,
    /// Coefficients of f' and f'', from the constant upwards.
    slope: Vec<f64>,
    curvature: Vec<f64>,
    gain: f64,
    rate: f64,
}

/// Most terms accepted: enough for any truncated series in double precision.
const MAX_TERMS: usize = 64;

/// Below this, relative to a_1, a linear series takes theta for its own a_1.
const ROUNDING: f64 = 1e-12;

impl Series {
    /// Takes a_1, a_2, ...: at least one, finite, none negative, one positive, and their polynomial convex
    /// ([`Error::NotConvex`] names a place where it is not).
    pub fn new(mut coefficients: Vec<f64>) -> Result<Self> {
        if coefficients.is_empty() {
            return Err(Error::Empty { what: "series" });
        }
        let name = "series coefficient";
        for (j, &value) in coefficients.iter().enumerate() {
            if !(value >= 0.0 && (value * (j * (j + 1)).max(1) as f64).is_finite()) {
                return Err(Error::Parameter { name, value, expected: "must be finite and not negative" });
            }
        }
        while coefficients.last() == Some(&0.0) {
            coefficients.pop();
        }
        if coefficients.is_empty() {
            return Err(Error::Parameter { name, value: 0.0, expected: "at least one must be positive" });
        }
        if coefficients.len() > MAX_TERMS {
            let value = coefficients.len() as f64;
            return Err(Error::Parameter {
                name: "number of series coefficients",
                value,
                expected: "at most 64",
            });
        }
        let slope: Vec<f64> = coefficients.iter().enumerate().map(|(j, a)| (j + 1) as f64 * a).collect();
        let curvature = derivative(&slope);
        match find_negative(&curvature) {
            Some((z, value)) => Err(Error::NotConvex { z, value }),
            None => Ok(Series { coefficients, slope, curvature, gain: 1.0, rate: 1.0 }),
        }
    }

    fn is_linear(&self) -> bool {
        self.coefficients.len() == 1
    }

    /// `f(u) - a_1 u`, which has its minimum 0 at 0.
    fn bend(&self, u: f64) -> f64 {
        u * (u * horner(&self.coefficients[1..], u))
    }

    /// Its slope `f'(u) - a_1`, with the sign of u.
    fn bend_slope(&self, u: f64) -> f64 {
        u * horner(&self.slope[1..], u)
    }

    /// u with `f'(u) - a_1 = w`, for w finite and f not linear: safeguarded Newton on t = |u|.
    fn inverse(&self, w: f64) -> f64 {
        if w == 0.0 {
            return 0.0;
        }
        let (sign, target) = (w.signum(), w.abs());
        let slope_at = |t: f64| sign * self.bend_slope(sign * t);
        // For w > 0 no term alone may exceed the target, which bounds t; for w < 0 it is where to start
        // looking.
        let mut high = f64::MAX;
        for (power, c) in self.slope.iter().enumerate().skip(1).filter(|(_, c)| **c > 0.0) {
            let log_t = (target.ln() - c.ln()) / power as f64;
            high = high.min((log_t * (1.0 + 4.0 * f64::EPSILON)).exp().max(f64::MIN_POSITIVE));
        }
        while slope_at(high) < target && high < f64::MAX {
            high = (2.0 * high).min(f64::MAX);
        }
        let (mut low, mut t, mut last_step) = (0.0_f64, high, f64::INFINITY);
        for _ in 0..200 {
            let miss = slope_at(t) - target;
            if miss == 0.0 || high.to_bits() - low.to_bits() <= 1 {
                break;
            }
            if miss > 0.0 {
                high = t;
            } else {
                low = t;
            }
            let mut next = t - miss / horner(&self.curvature, sign * t);
            if !(next > low && next < high && (next - t).abs() <= 0.5 * last_step) {
                next = halfway(low, high);
            }
            last_step = (next - t).abs();
            t = next;
            if last_step <= f64::EPSILON * t {
                break;
            }
        }
        sign * t
    }

    /// `f(u) - f(x) - w (u - x)` without the linear term, where `w = f'(x)`: what the tangent at x misses at
    /// u.
    fn tangent_gap(&self, u: f64, x: f64, w: f64) -> f64 {
        let (at_u, d) = (self.bend(u), u - x);
        if at_u == f64::INFINITY {
            return at_u;
        }
        if d.abs() > 0.1 * u.abs().max(x.abs()) {
            return (at_u + (w * x - self.bend(x)) - w * u).max(0.0);
        }
        // Close together the three terms cancel: expand around x instead, and leave out the first two terms.
        let mut shifted = self.coefficients.clone();
        shifted.insert(0, 0.0);
        let n = shifted.len();
        for k in 0..n {
            for j in (k..n - 1).rev() {
                shifted[j] += x * shifted[j + 1];
            }
        }
        (d * (d * horner(&shifted[2..], d))).max(0.0)
    }
}

impl Entrywise for Series {
    fn name(&self) -> &'static str {
        "series"
    }

    fn phi(&self, _: Pair, z: f64) -> f64 {
        if z == 0.0 {
            return 0.0;
        }
        z * horner(&self.coefficients, self.rate * z) * self.gain
    }

    #[inline]
    fn dphi(&self, _: Pair, z: f64) -> f64 {
        self.gain * horner(&self.slope, self.rate * z)
    }

    #[inline]
    fn d2phi(&self, _: Pair, z: f64) -> f64 {
        self.gain * self.rate * horner(&self.curvature, self.rate * z).max(0.0)
    }

    fn phi_conj(&self, rs: Pair, theta: f64) -> f64 {
        self.fenchel_young(rs, 0.0, theta)
    }

    fn scaled(&self, gain: f64, rate: f64) -> Box<dyn Entrywise> {
        Box::new(Series { gain: self.gain * gain, rate: self.rate * rate, ..self.clone() })
    }

    fn takes_atoms(&self) -> bool {
        !self.is_linear()
    }

    fn linear_slope(&self) -> Option<f64> {
        match self.curvature[..] {
            [] => Some(0.0),
            [constant] => Some(self.gain * self.rate * constant),
            _ => None,
        }
    }

    fn degree(&self) -> Option<u32> {
        let terms = self.coefficients.iter().filter(|a| **a > 0.0).count();
        // A single convex term: of even degree, or linear and thus not of the power family.
        (terms == 1 && !self.is_linear()).then_some(self.coefficients.len() as u32)
    }

    /// The gap between f and its tangent with slope theta / gain, both without their linear term a_1 u.
    fn fenchel_young(&self, _: Pair, z: f64, theta: f64) -> f64 {
        let w = theta / self.gain - self.slope[0];
        if self.is_linear() {
            return if w.abs() <= ROUNDING * self.slope[0] { 0.0 } else { f64::INFINITY };
        }
        if !w.is_finite() {
            return f64::INFINITY;
        }
        let x = self.inverse(w);
        self.gain * (self.tangent_gap(self.rate * z, x, w) / self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RS: Pair = (1, 0);

    fn exponential(terms: u32) -> Vec<f64> {
        let mut a = 1.0;
        (1..=terms).map(|j| (a /= f64::from(j), a).1).collect()
    }

    #[test]
    fn conjugate_of_a_quartic_by_hand() {
        // phi = z^4 / 4: phi' = z^3, phi* = 3/4 theta^(4/3).
        let quartic = Series::new(vec![0.0, 0.0, 0.0, 0.25]).unwrap();
        assert_eq!(quartic.dphi(RS, 2.0), 8.0);
        for theta in [8.0, -8.0] {
            assert!((quartic.phi_conj(RS, theta) - 12.0).abs() < 1e-13);
        }
        assert_eq!(quartic.phi_conj(RS, 0.0), 0.0);
        assert_eq!(quartic.degree(), Some(4));
    }

    #[test]
    fn truncated_exponentials_are_convex_for_even_degree_only() {
        for terms in 1..=20 {
            let series = Series::new(exponential(terms));
            assert_eq!(series.is_ok(), terms == 1 || terms % 2 == 0, "{terms} terms");
            if let Err(error) = series {
                assert!(matches!(error, Error::NotConvex { z, value } if z < 0.0 && value < 0.0));
            }
        }
        let series = Series::new(exponential(20)).unwrap();
        assert!((series.dphi(RS, 1.0) - std::f64::consts::E).abs() < 1e-14);
        assert!((series.phi_conj(RS, std::f64::consts::E) - 1.0).abs() < 1e-14);
    }

    #[test]
    fn curvature_may_touch_zero() {
        // phi'' = (1 + z)^2.
        let series = Series::new(vec![0.0, 0.5, 1.0 / 3.0, 1.0 / 12.0]).unwrap();
        let theta = series.dphi(RS, -1.0);
        assert!(series.d2phi(RS, -1.0).abs() < 1e-15);
        assert!(series.fenchel_young(RS, -1.0, theta) < 1e-14);
        let below = Series::new(vec![0.0, 0.499, 1.0 / 3.0, 1.0 / 12.0]);
        assert!(matches!(below, Err(Error::NotConvex { z, .. }) if (z + 1.0).abs() < 0.1));
    }

    #[test]
    fn a_linear_series_is_a_fixed_theta() {
        let series = Series::new(vec![2.0, 0.0, 0.0]).unwrap();
        assert_eq!(series.linear_slope(), Some(0.0));
        assert_eq!(series.phi_conj(RS, 2.0), 0.0);
        assert_eq!(series.phi_conj(RS, 2.1), f64::INFINITY);
    }

    #[test]
    fn inverse_is_found_over_the_whole_range() {
        for coefficients in [vec![0.1, 0.5, 0.0, 0.25], vec![0.0, 1e-200, 0.0, 1e200], exponential(20)] {
            let series = Series::new(coefficients).unwrap();
            for exponent in -250..=250 {
                for w in [10.0_f64.powi(exponent), -(10.0_f64.powi(exponent))] {
                    let found = series.bend_slope(series.inverse(w));
                    assert!((found / w - 1.0).abs() < 1e-11, "{series:?}: {found} for {w}");
                }
            }
        }
    }
}
