//! The hyperbolic cosine regulariser: like the exponential for strong relations, but of either sign.

use super::{
    Entrywise, Pair,
    numeric::{exp_gap, grow},
};

/// `phi(z) = (gain / rate) (cosh(rate z) - 1)`, so `Theta = gain sinh(rate rho)`, entry by entry.
///
/// With gain = rate = 1 this is `phi*(theta) = theta asinh(theta) - sqrt(1 + theta^2) + 1`. The paper's table
/// prints arcsinh for Theta; that is the inverse map, and it does not keep matrices positive semidefinite.
///
/// ```
/// use kinfolk::regularizer::{Cosh, Entrywise};
/// assert_eq!(Cosh::new().dphi((0, 1), 1.0), 1.0_f64.sinh());
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cosh {
    gain: f64,
    rate: f64,
}

impl Default for Cosh {
    fn default() -> Self {
        Cosh::new()
    }
}

impl Cosh {
    /// The regulariser, in the paper's units.
    pub fn new() -> Self {
        Cosh { gain: 1.0, rate: 1.0 }
    }

    /// rate z, finite.
    #[inline]
    fn argument(&self, z: f64) -> f64 {
        (self.rate * z).clamp(-f64::MAX, f64::MAX)
    }

    /// `x >= 0` with `gain sinh x = |theta|`.
    fn inverse(&self, theta: f64) -> f64 {
        let v = theta.abs() / self.gain;
        if v < 1e300 { v.asinh() } else { theta.abs().ln() - self.gain.ln() + std::f64::consts::LN_2 }
    }
}

impl Entrywise for Cosh {
    fn name(&self) -> &'static str {
        "cosh"
    }

    fn phi(&self, _: Pair, z: f64) -> f64 {
        // cosh u - 1 = 2 sinh^2(u / 2): no cancellation for small u, and the product overflows only if phi
        // does.
        let half = (0.5 * self.argument(z)).sinh();
        (self.gain * half) * (2.0 * half / self.rate)
    }

    #[inline]
    fn dphi(&self, _: Pair, z: f64) -> f64 {
        let u = self.argument(z);
        if u.abs() < 700.0 { self.gain * u.sinh() } else { grow(0.5 * self.gain, u.abs()).copysign(u) }
    }

    #[inline]
    fn d2phi(&self, _: Pair, z: f64) -> f64 {
        let u = self.argument(z).abs();
        if u < 700.0 { self.gain * self.rate * u.cosh() } else { grow(0.5 * self.gain, u) * self.rate }
    }

    fn phi_conj(&self, _: Pair, theta: f64) -> f64 {
        // [x sinh x - (cosh x - 1)] gain / rate, and (cosh x - 1) / sinh x = tanh(x / 2).
        let x = self.inverse(theta);
        theta.abs() * ((x - (0.5 * x).tanh()) / self.rate)
    }

    fn scaled(&self, gain: f64, rate: f64) -> Box<dyn Entrywise> {
        Box::new(Cosh { gain: self.gain * gain, rate: self.rate * rate })
    }

    fn takes_atoms(&self) -> bool {
        true
    }

    /// With `theta = gain sinh x` and `rate z = x + s` the sum is, times rate / gain and for x >= 0,
    /// `cosh(x + s) - cosh x - s sinh x = sinh x (e^s - 1 - s) + e^-x (cosh s - 1)`: two terms, neither
    /// negative. For x < 0 change the signs of both x and z.
    fn fenchel_young(&self, rs: Pair, z: f64, theta: f64) -> f64 {
        if theta == 0.0 {
            return self.phi(rs, z);
        }
        let x = self.inverse(theta);
        let s = self.argument(z) * theta.signum() - x;
        let uneven = if s < 700.0 {
            theta.abs() * (exp_gap(-s) / self.rate)
        } else {
            grow(theta.abs(), s) / self.rate
        };
        let even = if s.abs() < 700.0 {
            let half = (0.5 * s).sinh();
            (self.gain * (-x).exp() * half) * (2.0 * half / self.rate)
        } else {
            grow(0.5 * self.gain, s.abs() - x) / self.rate
        };
        uneven + even
    }

    fn log_scale(&self, low: f64, high: f64) -> f64 {
        self.argument(low.abs().max(high.abs()))
    }

    #[inline]
    fn scaled_slopes(&self, _: Pair, z: f64, log_scale: f64) -> (f64, f64) {
        // sinh u = sign(u) e^|u| (1 - e^-2|u|) / 2, and cosh u with a plus.
        let u = self.argument(z);
        let grown = 0.5 * self.gain * (u.abs() - log_scale).exp();
        let minus = (-2.0 * u.abs()).exp_m1();
        (grown * -minus.copysign(-u), grown * (2.0 + minus) * self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RS: Pair = (1, 0);

    #[test]
    fn values_of_the_table() {
        let cosh = Cosh::new();
        assert!((cosh.dphi(RS, 1.0) - 1.17520).abs() < 1e-5);
        assert!((cosh.phi(RS, 1.0) - 0.54308).abs() < 1e-5);
        // theta asinh theta - sqrt(1 + theta^2) + 1 at sinh 1: sinh 1 - cosh 1 + 1.
        assert!((cosh.phi_conj(RS, 1.0_f64.sinh()) - (1.0 - (-1.0_f64).exp())).abs() < 1e-15);
        assert_eq!(cosh.phi_conj(RS, 0.0), 0.0);
    }

    #[test]
    fn slopes_are_odd_and_even() {
        let cosh = Cosh::new();
        for z in [1e-9, 0.3, 2.0, 50.0] {
            let m = cosh.log_scale(-1.0, 60.0);
            let (plus, minus) = (cosh.scaled_slopes(RS, z, m), cosh.scaled_slopes(RS, -z, m));
            assert!(plus.0 > 0.0);
            assert_eq!((plus.0, plus.1), (-minus.0, minus.1));
        }
    }

    #[test]
    fn far_arguments_overflow_only_with_the_result() {
        let cosh = Cosh::new().scaled(1e-100, 1.0);
        let z = 750.0;
        assert!((cosh.dphi(RS, z) / cosh.phi(RS, z) - 1.0).abs() < 1e-13);
        for x in [-3.0, -1e-3, 1e-3, 3.0] {
            let theta = cosh.dphi(RS, x);
            let sum = cosh.phi(RS, z) + cosh.phi_conj(RS, theta) - z * theta;
            assert!((cosh.fenchel_young(RS, z, theta) / sum - 1.0).abs() < 1e-12, "{x}");
        }
        assert_eq!(Cosh::new().fenchel_young(RS, -1e300, 1.0), f64::INFINITY);
    }

    #[test]
    fn tiny_arguments_keep_their_digits() {
        let cosh = Cosh::new();
        assert!((cosh.phi(RS, 1e-10) / 5e-21 - 1.0).abs() < 1e-15);
        assert!((cosh.phi_conj(RS, 1e-10) / 5e-21 - 1.0).abs() < 1e-15);
        assert!((cosh.fenchel_young(RS, 3e-10, 1e-10) / 2e-20 - 1.0).abs() < 1e-14);
    }
}
