//! The power family: V = sum |Theta_rs|^p / 2 with p = 2k / (2k - 1), the regulariser of the paper's main
//! theorem.

use super::{Entrywise, Pair, RowSlope, RowStep};
use crate::{Error, Result};
use pulp::{Simd, WithSimd};

/// `phi(z) = (q z)^2k / (2k q)`, so `Theta = (q rho)^(2k-1)`.
///
/// With `q = (2k-1)/k` this is `phi*(theta) = |theta|^p / 2`, p = 2k/(2k-1): p = 2 for k = 1 (squared
/// Frobenius norm), 4/3 for k = 2, 8/7 for k = 4; larger k gives sparser task matrices. For this family only
/// one number made of C and lambda matters: see [`crate::Problem`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Power {
    k: u32,
    q: f64,
}

/// Largest k accepted: beyond it p = 2k/(2k-1) is 1 for all practical purposes.
const MAX_K: u32 = 1000;

impl Power {
    /// The member with p = 2k/(2k-1).
    pub fn new(k: u32) -> Result<Self> {
        if k == 0 || k > MAX_K {
            return Err(Error::Parameter {
                name: "k",
                value: f64::from(k),
                expected: "must be an integer from 1 to 1000",
            });
        }
        Ok(Power { k, q: f64::from(2 * k - 1) / f64::from(k) })
    }

    /// k.
    pub fn k(&self) -> u32 {
        self.k
    }

    #[inline]
    fn odd_power(&self) -> i32 {
        2 * self.k as i32 - 1
    }

    /// `t^(2k-1)`; for small k without the general power, which takes longer than all else.
    #[inline(always)]
    fn odd(&self, t: f64) -> f64 {
        match self.k {
            1 => t,
            2 => t * (t * t),
            _ => t.powi(self.odd_power()),
        }
    }

    /// `|theta|^(1/(2k-1))`; a general power takes longer than all else here, also where it changes nothing.
    #[inline]
    fn root(&self, theta: f64) -> f64 {
        if self.k == 1 { theta.abs() } else { theta.abs().powf(1.0 / f64::from(self.odd_power())) }
    }
}

impl Entrywise for Power {
    fn name(&self) -> &'static str {
        "power"
    }

    #[inline]
    fn phi(&self, _: Pair, z: f64) -> f64 {
        // t^(2k-1) z / 2k instead of t^2k / (2k q): one factor less to overflow.
        self.odd(self.q * z) * z / f64::from(2 * self.k)
    }

    #[inline]
    fn dphi(&self, _: Pair, z: f64) -> f64 {
        self.odd(self.q * z)
    }

    #[inline]
    fn d2phi(&self, _: Pair, z: f64) -> f64 {
        if self.k == 1 {
            return self.q;
        }
        let odd = self.odd_power();
        f64::from(odd) * self.q * (self.q * z).powi(odd - 1)
    }

    fn phi_conj(&self, _: Pair, theta: f64) -> f64 {
        // sup of theta z - phi(z) is at q z = theta^(1/(2k-1)) and equals (1 - 1/2k) theta z. For large k
        // this is nearly linear in theta; z then has few digits of theta left, but its error counts only to
        // second order.
        let z = self.root(theta) / self.q;
        theta.abs() * z * f64::from(self.odd_power()) / f64::from(2 * self.k)
    }

    fn scaled(&self, gain: f64, rate: f64) -> Box<dyn Entrywise> {
        // gain (q rate z)^odd = (gain^(1/odd) q rate z)^odd. No logarithm of q: the power would multiply its
        // rounding.
        Box::new(Power { k: self.k, q: self.q * rate * gain.powf(1.0 / f64::from(self.odd_power())) })
    }

    /// With n = 2k, t = q z and `theta = y^(n-1)` the sum is `(t^n - n t y^(n-1) + (n-1) y^n) / (n q)`. For
    /// t, y of one sign the bracket is `(t - y)^2 (sum over j = 1..n-1 of j t^(n-1-j) y^(j-1))`; else no term
    /// is negative.
    fn fenchel_young(&self, rs: Pair, z: f64, theta: f64) -> f64 {
        if self.k == 1 {
            let off = self.q * z - theta;
            return 0.5 * off * (off / self.q);
        }
        let (t, y) = (self.q * z, self.root(theta).copysign(theta));
        if t * y <= 0.0 {
            return self.phi(rs, z) + self.phi_conj(rs, theta) + (z * theta).abs();
        }
        let top = t.abs().max(y.abs());
        if top == f64::INFINITY {
            return f64::INFINITY;
        }
        // In units of `top` both are at most 1: Horner on whichever of the two ratios is not 1.
        let (off, t, y) = ((t - y) / top, t.abs() / top, y.abs() / top);
        let last = 2 * self.k - 1;
        let sum = if t < y {
            (1..=last).fold(0.0, |sum, j| sum * t + f64::from(j))
        } else {
            (1..=last).rev().fold(0.0, |sum, j| sum * y + f64::from(j))
        };
        top.powi(self.odd_power()) * (top / self.q) * off * off * sum / f64::from(2 * self.k)
    }

    fn takes_atoms(&self) -> bool {
        true
    }

    fn linear_slope(&self) -> Option<f64> {
        (self.k == 1).then_some(self.q)
    }

    fn prior_slope(&self, _r: usize, _b: &[f64]) -> (f64, f64) {
        (0.0, 0.0)
    }

    fn degree(&self) -> Option<u32> {
        Some(2 * self.k)
    }

    fn row_slope(&self, row: &RowStep<'_>, step: f64) -> RowSlope {
        pulp::Arch::new().dispatch(PowerRow { power: *self, row, step })
    }
}

/// The sums of a coordinate step, as many tasks at a time as the machine can take.
struct PowerRow<'a> {
    power: Power,
    row: &'a RowStep<'a>,
    step: f64,
}

/// Sums over the tasks other than r.
struct PowerSums<V> {
    slope: V,
    curvature: V,
    size: V,
}

impl PowerRow<'_> {
    /// Adds tasks with scores `b` and Gram entries `c`.
    #[inline(always)]
    fn add<S: Simd>(&self, simd: S, sums: &mut PowerSums<S::f64s>, b: S::f64s, c: S::f64s) {
        let (q, step) = (simd.splat_f64s(self.power.q), simd.splat_f64s(self.step));
        let t = simd.mul_f64s(q, simd.mul_add_e_f64s(b, step, c));
        let even_b = simd.mul_f64s(even_power(simd, t, self.power.k - 1), b);
        let term = simd.mul_f64s(t, even_b);
        sums.slope = simd.add_f64s(sums.slope, term);
        sums.curvature = simd.mul_add_e_f64s(even_b, b, sums.curvature);
        // |x| as max(x, -x): the absolute value is not inlined on every machine.
        sums.size = simd.add_f64s(sums.size, simd.max_f64s(term, simd.neg_f64s(term)));
    }
}

/// `t^(2 n)` by repeated squaring.
#[inline(always)]
fn even_power<S: Simd>(simd: S, t: S::f64s, n: u32) -> S::f64s {
    let (mut base, mut power, mut left) = (simd.mul_f64s(t, t), simd.splat_f64s(1.0), n);
    while left > 0 {
        if left & 1 == 1 {
            power = simd.mul_f64s(power, base);
        }
        base = simd.mul_f64s(base, base);
        left >>= 1;
    }
    power
}

impl WithSimd for PowerRow<'_> {
    type Output = RowSlope;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> RowSlope {
        let RowStep { task: r, a, b, c } = *self.row;
        let (q, step) = (self.power.q, self.step);
        let zero = simd.splat_f64s(0.0);
        let mut sums = PowerSums { slope: zero, curvature: zero, size: zero };
        // The task itself is treated apart.
        for (b, c) in [(&b[..r], &c[..r]), (&b[r + 1..], &c[r + 1..])] {
            let (b, b_rest) = S::as_simd_f64s(b);
            let (c, c_rest) = S::as_simd_f64s(c);
            for (b, c) in b.iter().zip(c) {
                self.add(simd, &mut sums, *b, *c);
            }
            if !b_rest.is_empty() {
                self.add(simd, &mut sums, simd.partial_load_f64s(b_rest), simd.partial_load_f64s(c_rest));
            }
        }
        let odd = q * f64::from(self.power.odd_power());
        let along = b[r] + a * step;
        let t = q * (c[r] + step * (2.0 * b[r] + a * step)).max(0.0);
        let even = t.powi(self.power.odd_power() - 1);
        let sum = |x| simd.reduce_sum_f64s(x);
        RowSlope {
            slope: sum(sums.slope) + t * even * along,
            curvature: odd * (sum(sums.curvature) + 2.0 * even * along * along) + a * t * even,
            size: sum(sums.size) + (t * even * along).abs(),
            log_scale: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RS: Pair = (1, 0);

    #[test]
    fn theta_is_that_of_the_theorem() {
        // Theta = ((2k-1) R / (2k lambda))^(2k-1) and lambda V* = lambda / (4k-2) ((2k-1) R / (2k
        // lambda))^2k.
        let (gram, lambda): (f64, f64) = (1.3, 0.7);
        for k in 1..=5 {
            let (power, kf) = (Power::new(k).unwrap(), f64::from(k));
            let base = (2.0 * kf - 1.0) / (2.0 * kf * lambda) * gram;
            let rho = gram / (2.0 * lambda);
            let theta = base.powi(2 * k as i32 - 1);
            assert!((power.dphi(RS, rho) / theta - 1.0).abs() < 1e-14);
            assert!((power.phi(RS, rho) * (4.0 * kf - 2.0) / base.powi(2 * k as i32) - 1.0).abs() < 1e-14);
            // phi*(theta) = |theta|^p / 2.
            let price = 0.5 * theta.powf(2.0 * kf / (2.0 * kf - 1.0));
            assert!((power.phi_conj(RS, -theta) / price - 1.0).abs() < 1e-14);
        }
    }

    #[test]
    fn first_member_is_half_the_square() {
        let power = Power::new(1).unwrap();
        assert_eq!((power.phi(RS, 3.0), power.dphi(RS, 3.0), power.d2phi(RS, 3.0)), (4.5, 3.0, 1.0));
        assert_eq!(power.phi_conj(RS, -3.0), 4.5);
        assert!((power.fenchel_young(RS, 1.0, 3.0) - 2.0).abs() < 1e-15);
    }

    #[test]
    fn the_largest_member_is_still_tight() {
        let power = Power::new(MAX_K).unwrap();
        for z in [0.4, 0.5, 0.51, 0.6] {
            let theta = power.dphi(RS, z);
            assert!(power.fenchel_young(RS, z, theta) <= 1e-10 * (z * theta), "{z}");
            let sum = power.phi(RS, z) + power.phi_conj(RS, theta) - z * theta;
            assert!(sum.abs() <= 1e-12 * (z * theta), "{z}");
        }
        assert_eq!(power.phi(RS, 2.0), f64::INFINITY);
        assert_eq!(power.fenchel_young(RS, 2.0, 1.0), f64::INFINITY);
    }
}
