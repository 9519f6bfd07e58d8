//! Squared Frobenius distance to a prior: V = |Theta - Theta_0|^2 / 2.

use super::{Entrywise, Pair, check_size};
use crate::linalg::psd;
use crate::{Matrix, Result};

/// `phi_rs(z) = slope z^2 / 2 + P_rs z`, so `Theta = P + slope rho`; slope = 1 until rescaled.
///
/// Without a prior (P = 0) this is [`Power`](super::Power) with k = 1.
///
/// ```
/// use kinfolk::{Matrix, regularizer::{Frobenius, Entrywise}};
/// let output = Frobenius::new(Matrix::identity(2))?;
/// assert_eq!(output.dphi((0, 0), 0.5), 1.5);
/// assert_eq!(output.phi_conj((0, 1), 2.0), 2.0);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Frobenius {
    prior: Matrix,
    slope: f64,
}

impl Frobenius {
    /// Takes a prior for Theta: one row per task, finite, symmetric, positive semidefinite up to rounding.
    pub fn new(prior: Matrix) -> Result<Self> {
        Ok(Frobenius { prior: psd::checked("frobenius prior", prior)?, slope: 1.0 })
    }
}

impl Entrywise for Frobenius {
    fn name(&self) -> &'static str {
        "frobenius"
    }

    #[inline]
    fn phi(&self, rs: Pair, z: f64) -> f64 {
        (0.5 * self.slope * z + self.prior[rs]) * z
    }

    #[inline]
    fn dphi(&self, rs: Pair, z: f64) -> f64 {
        self.prior[rs] + self.slope * z
    }

    #[inline]
    fn d2phi(&self, _: Pair, _: f64) -> f64 {
        self.slope
    }

    fn phi_conj(&self, rs: Pair, theta: f64) -> f64 {
        self.fenchel_young(rs, 0.0, theta)
    }

    fn scaled(&self, gain: f64, rate: f64) -> Box<dyn Entrywise> {
        let mut prior = self.prior.clone();
        prior.as_mut_slice().iter_mut().for_each(|entry| *entry *= gain);
        Box::new(Frobenius { prior, slope: self.slope * gain * rate })
    }

    fn check_tasks(&self, n_tasks: usize) -> Result<()> {
        check_size("frobenius prior", &self.prior, n_tasks)
    }

    fn linear_slope(&self) -> Option<f64> {
        Some(self.slope)
    }

    /// The sum is `(theta - phi'(z))^2 / (2 slope)`.
    fn fenchel_young(&self, rs: Pair, z: f64, theta: f64) -> f64 {
        // In this order: prior + slope z would lose the digits of a small z.
        let off = (theta - self.prior[rs]) - self.slope * z;
        0.5 * off * (off / self.slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_is_half_the_squared_distance_to_the_prior() {
        let output = Frobenius::new(Matrix::from_vec(vec![1.0, -0.5, -0.5, 1.0], 2, 2).unwrap()).unwrap();
        assert_eq!(output.phi_conj((0, 1), -0.5), 0.0);
        assert_eq!(output.phi_conj((0, 1), 1.5), 2.0);
        assert_eq!(output.phi((0, 1), 2.0), 1.0);
        assert_eq!(output.fenchel_young((0, 1), 2.0, 1.5), 0.0);
        assert!(output.check_tasks(2).is_ok() && output.check_tasks(1).is_err());
    }
}
