//! A given task matrix: nothing is learned about the tasks, and every classic method with a fixed Theta is
//! this one.

use super::{Entrywise, Pair, check_size};
use crate::linalg::psd;
use crate::{Error, Matrix, Result};

/// `phi_rs(z) = Theta_rs z`, so Theta is what was given, whatever rho. `phi*` is zero there and infinite
/// elsewhere.
///
/// Independent tasks ([`identity`](Self::identity)), mean-regularised multi-task learning
/// ([`pooled_mean`](Self::pooled_mean)) and the inner problem of any alternating method are the same problem
/// to a solver as a learned Theta.
///
/// ```
/// use kinfolk::regularizer::{Fixed, Entrywise};
/// let fixed = Fixed::pooled_mean(3, 0.5)?;
/// assert_eq!(fixed.theta()[(0, 0)], 3.0);
/// assert_eq!(fixed.dphi((0, 1), 17.0), 2.0);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Fixed {
    theta: Matrix,
}

/// Relative to the size an entry may have, sqrt(Theta_rr Theta_ss): below it two entries are the same number.
const ROUNDING: f64 = 1e-12;

impl Fixed {
    /// Takes one row per task: finite, symmetric, positive semidefinite up to rounding.
    pub fn new(theta: Matrix) -> Result<Self> {
        let theta = psd::checked("theta", theta)?;
        if theta.as_slice().iter().all(|entry| *entry == 0.0) {
            return Err(Error::Incompatible(
                "theta is zero: with this task matrix nothing can be learned".into(),
            ));
        }
        Ok(Fixed { theta })
    }

    /// Independent tasks: the identity.
    pub fn identity(n_tasks: usize) -> Self {
        Fixed { theta: Matrix::identity(n_tasks) }
    }

    /// Classic mean-regularised multi-task learning: `Theta = 1/mu + identity`, mu > 0. Every task is the
    /// common mean, with weight mu in the objective, plus its own deviation, with weight 1.
    pub fn pooled_mean(n_tasks: usize, mu: f64) -> Result<Self> {
        let shared = 1.0 / mu;
        if !(mu > 0.0 && mu.is_finite() && shared.is_finite()) {
            return Err(Error::Parameter { name: "mu", value: mu, expected: "must be positive and finite" });
        }
        let mut theta = Matrix::identity(n_tasks);
        theta.as_mut_slice().iter_mut().for_each(|entry| *entry += shared);
        Ok(Fixed { theta })
    }

    /// A diagonal matrix of positive entries, which needs no check.
    pub(crate) fn diagonal(theta: Matrix) -> Self {
        Fixed { theta }
    }

    /// The task matrix. (Hides the trait's `theta`, whose rho does not matter here; generic code sees that
    /// one.)
    pub fn theta(&self) -> &Matrix {
        &self.theta
    }

    fn is_given(&self, rs: Pair, theta: f64) -> bool {
        let (r, s) = rs;
        let given = self.theta[rs];
        let size = (self.theta[(r, r)].sqrt() * self.theta[(s, s)].sqrt()).max(given.abs());
        (theta - given).abs() <= ROUNDING * size
    }
}

impl Entrywise for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    #[inline]
    fn phi(&self, rs: Pair, z: f64) -> f64 {
        self.theta[rs] * z
    }

    #[inline]
    fn dphi(&self, rs: Pair, _: f64) -> f64 {
        self.theta[rs]
    }

    #[inline]
    fn d2phi(&self, _: Pair, _: f64) -> f64 {
        0.0
    }

    fn phi_conj(&self, rs: Pair, theta: f64) -> f64 {
        if self.is_given(rs, theta) { 0.0 } else { f64::INFINITY }
    }

    fn scaled(&self, gain: f64, _rate: f64) -> Box<dyn Entrywise> {
        let mut theta = self.theta.clone();
        theta.as_mut_slice().iter_mut().for_each(|entry| *entry *= gain);
        Box::new(Fixed { theta })
    }

    fn check_tasks(&self, n_tasks: usize) -> Result<()> {
        check_size("theta", &self.theta, n_tasks)
    }

    fn linear_slope(&self) -> Option<f64> {
        Some(0.0)
    }

    fn fenchel_young(&self, rs: Pair, _: f64, theta: f64) -> f64 {
        self.phi_conj(rs, theta)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_given_theta_is_free() {
        let fixed = Fixed::new(Matrix::from_vec(vec![2.0, -1.0, -1.0, 2.0], 2, 2).unwrap()).unwrap();
        assert_eq!(Entrywise::theta(&fixed, &Matrix::zeros(2, 2)), *fixed.theta());
        assert_eq!(fixed.phi((1, 0), 3.0), -3.0);
        assert_eq!(fixed.phi_conj((1, 0), -1.0 + 1e-14), 0.0);
        assert_eq!(fixed.phi_conj((1, 0), -0.999), f64::INFINITY);
        assert_eq!(fixed.fenchel_young((1, 0), 1e9, -1.0), 0.0);
    }

    #[test]
    fn named_matrices() {
        assert_eq!(Fixed::identity(2).theta().as_slice(), [1.0, 0.0, 0.0, 1.0]);
        assert_eq!(Fixed::pooled_mean(2, 2.0).unwrap().theta().as_slice(), [1.5, 0.5, 0.5, 1.5]);
        for mu in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
            assert!(matches!(Fixed::pooled_mean(2, mu), Err(Error::Parameter { name: "mu", .. })));
        }
    }
}
