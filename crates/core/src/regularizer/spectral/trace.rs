//! The trace of Theta, which is the trace norm of the weights.

use super::SpectralFunction;
use crate::{Error, Result};

/// `G(Theta) = nu tr(Theta) / 2`. Then `Omega(W) = sqrt(nu) (sum of the singular values of W)`, and H is zero
/// if the largest eigenvalue of the duals' task Gram matrix is at most nu, else infinite. Weights have low
/// rank at the solution: a shared representation of few dimensions.
///
/// ```
/// use kinfolk::regularizer::{SpectralFunction, Trace};
/// let trace = Trace::new(4.0)?;
/// assert_eq!(trace.value(&[9.0, 0.0]), 6.0);
/// assert_eq!(trace.theta(&[9.0, 0.0]), [1.5, 0.0]);
/// assert_eq!(trace.shrink(&[3.0, 1.0], 1.0), [1.0, 0.0]);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trace {
    nu: f64,
}

impl Trace {
    /// nu > 0.
    pub fn new(nu: f64) -> Result<Self> {
        if nu.is_finite() && nu > 0.0 {
            return Ok(Trace { nu });
        }
        Err(Error::Parameter { name: "nu", value: nu, expected: "must be positive and finite" })
    }
}

/// Rounding errors of eigenvalues are not held against duals.
const ROUNDING: f64 = 1e-12;

impl SpectralFunction for Trace {
    fn name(&self) -> &'static str {
        "trace"
    }

    fn value(&self, squares: &[f64]) -> f64 {
        self.nu.sqrt() * squares.iter().map(|s| s.sqrt()).sum::<f64>()
    }

    fn dual_value(&self, squares: &[f64]) -> f64 {
        if largest(squares) <= self.nu * (1.0 + ROUNDING) { 0.0 } else { f64::INFINITY }
    }

    fn feasible_share(&self, squares: &[f64]) -> f64 {
        let most = largest(squares);
        if most <= self.nu { 1.0 } else { (self.nu / most).sqrt() }
    }

    fn theta(&self, squares: &[f64]) -> Vec<f64> {
        squares.iter().map(|s| (s / self.nu).sqrt()).collect()
    }

    fn shrink(&self, lengths: &[f64], tau: f64) -> Vec<f64> {
        lengths.iter().map(|v| (v - tau * self.nu.sqrt()).max(0.0)).collect()
    }

    fn typical_theta(&self, rho: f64, _n_tasks: usize) -> f64 {
        rho / self.nu
    }
}

pub(super) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, x| x.max(most))
}
