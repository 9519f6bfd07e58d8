//! The exponential regulariser: V is the generalised Kullback-Leibler divergence of Theta to a prior.

use super::{
    Entrywise, Pair, check_size,
    numeric::{exp_gap, grow, log_ratio},
};
use crate::linalg::psd;
use crate::{Error, Matrix, Result};

/// `phi_rs(z) = P_rs (gain / rate) (e^(rate z) - 1)`, so `Theta = gain P e^(rate rho)`, entry by entry.
///
/// With gain = rate = 1 this is `phi*(theta) = theta ln(theta / P) - theta + P` for theta >= 0: a
/// distance from the prior P. All entries of Theta are positive, so no negative relations can be learned,
/// and with nothing learned Theta is P itself; without a prior that is the matrix of ones, all tasks pooled.
///
/// ```
/// use kinfolk::regularizer::{Exp, Entrywise};
/// assert_eq!(Exp::new().dphi((0, 1), 0.0), 1.0);
/// assert_eq!(Exp::new().phi_conj((0, 1), -0.1), f64::INFINITY);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Exp {
    prior: Option<Matrix>,
    gain: f64,
    rate: f64,
}

impl Default for Exp {
    fn default() -> Self {
        Exp::new()
    }
}

impl Exp {
    /// Without a prior: all pairs of tasks start from Theta_rs = 1.
    pub fn new() -> Self {
        Exp { prior: None, gain: 1.0, rate: 1.0 }
    }

    /// With a prior for Theta: one row per task, symmetric, positive semidefinite, every entry positive.
    pub fn with_prior(prior: Matrix) -> Result<Self> {
        let what = "exp prior";
        for row in 0..prior.rows() {
            for (column, &value) in prior.row(row).iter().enumerate() {
                if value <= 0.0 {
                    return Err(Error::Entry { what, row, column, value, expected: "must be positive" });
                }
            }
        }
        Ok(Exp { prior: Some(psd::checked(what, prior)?), ..Exp::new() })
    }

    /// The entry of Theta at z = 0.
    #[inline]
    fn base(&self, rs: Pair) -> f64 {
        self.prior.as_ref().map_or(self.gain, |prior| self.gain * prior[rs])
    }

    /// rate z, finite.
    #[inline]
    fn exponent(&self, z: f64) -> f64 {
        (self.rate * z).clamp(-f64::MAX, f64::MAX)
    }
}

impl Entrywise for Exp {
    fn name(&self) -> &'static str {
        "exp"
    }

    fn phi(&self, rs: Pair, z: f64) -> f64 {
        let (u, unit) = (self.exponent(z), self.base(rs) / self.rate);
        if u < 1.0 { self.base(rs) * (u.exp_m1() / self.rate) } else { grow(unit, u) - unit }
    }

    #[inline]
    fn dphi(&self, rs: Pair, z: f64) -> f64 {
        grow(self.base(rs), self.exponent(z))
    }

    #[inline]
    fn d2phi(&self, rs: Pair, z: f64) -> f64 {
        self.dphi(rs, z) * self.rate
    }

    fn phi_conj(&self, rs: Pair, theta: f64) -> f64 {
        self.fenchel_young(rs, 0.0, theta)
    }

    fn scaled(&self, gain: f64, rate: f64) -> Box<dyn Entrywise> {
        Box::new(Exp { prior: self.prior.clone(), gain: self.gain * gain, rate: self.rate * rate })
    }

    fn takes_atoms(&self) -> bool {
        self.prior.is_none()
    }

    fn check_tasks(&self, n_tasks: usize) -> Result<()> {
        self.prior.as_ref().map_or(Ok(()), |prior| check_size("exp prior", prior, n_tasks))
    }

    /// With `theta = phi'(z) e^x` the sum is `(phi'(z) - theta + theta x) / rate = theta (e^-x - 1 + x) /
    /// rate`.
    fn fenchel_young(&self, rs: Pair, z: f64, theta: f64) -> f64 {
        let slope = self.dphi(rs, z);
        if theta < 0.0 {
            return f64::INFINITY;
        }
        if theta == 0.0 || slope == f64::INFINITY {
            return slope / self.rate;
        }
        // ln(theta / slope) is best for large u, whose digits after the point are few; for small u, slope has
        // few of u.
        let u = self.exponent(z);
        let x = if u.abs() < 0.5 || slope < f64::MIN_POSITIVE {
            log_ratio(theta, self.base(rs)) - u
        } else {
            log_ratio(theta, slope)
        };
        if x < -2.0 { (slope + theta * (x - 1.0)) / self.rate } else { theta * (exp_gap(x) / self.rate) }
    }

    fn log_scale(&self, _low: f64, high: f64) -> f64 {
        self.exponent(high).max(0.0)
    }

    #[inline]
    fn scaled_slopes(&self, rs: Pair, z: f64, log_scale: f64) -> (f64, f64) {
        let slope = self.base(rs) * (self.exponent(z) - log_scale).exp();
        (slope, slope * self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RS: Pair = (1, 0);

    #[test]
    fn values_of_the_table() {
        let (exp, e) = (Exp::new(), std::f64::consts::E);
        assert!((exp.phi(RS, 1.0) - (e - 1.0)).abs() < 1e-15);
        assert!((exp.dphi(RS, 1.0) - e).abs() < 1e-15);
        assert!((exp.phi_conj(RS, e) - 1.0).abs() < 1e-15);
        assert_eq!(exp.phi_conj(RS, 0.0), 1.0);
        assert_eq!(exp.phi_conj(RS, 1.0), 0.0);
    }

    #[test]
    fn prior_is_theta_at_zero() {
        let prior = Matrix::from_vec(vec![2.0, 0.5, 0.5, 1.0], 2, 2).unwrap();
        let exp = Exp::with_prior(prior.clone()).unwrap();
        assert_eq!(exp.theta(&Matrix::zeros(2, 2)), prior);
        assert_eq!(exp.phi_conj(RS, 0.0), 0.5);
        assert!(exp.check_tasks(3).is_err());
    }

    #[test]
    fn fenchel_young_sees_the_smallest_difference() {
        // theta = phi'(z) (1 + d): the term is theta d^2 / 2 to leading order, 1e-24 here, far below
        // rounding of phi.
        let exp = Exp::new();
        let (theta, d) = (exp.dphi(RS, 1.0), 1e-12);
        let price = exp.fenchel_young(RS, 1.0, theta * (1.0 + d));
        assert!((price / (0.5 * theta * d * d) - 1.0).abs() < 1e-3, "{price}");
        assert_eq!(exp.fenchel_young(RS, 1.0, theta), 0.0);
    }

    #[test]
    fn a_very_negative_partner_does_not_hide_the_other_slopes() {
        let exp = Exp::new();
        let log_scale = exp.log_scale(-1e6, 1.0);
        assert!(exp.scaled_slopes(RS, 1.0, log_scale).0 > 0.5);
    }
}
