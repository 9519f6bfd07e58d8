//! The power family: V = sum |Theta_rs|^p / 2 with p = 2k / (2k - 1), the regulariser of the paper's main theorem.

use super::{OutputRegularizer, Pair};
use crate::{Error, Result};

/// `phi(z) = (q z)^2k / (2k q)`, so `Theta = (q rho)^(2k-1)`.
///
/// With `q = (2k-1)/k` this is `phi*(theta) = |theta|^p / 2`, p = 2k/(2k-1): p = 2 for k = 1 (squared Frobenius norm),
/// 4/3 for k = 2, 8/7 for k = 4; larger k gives sparser task matrices. For this family only one number made of C and
/// lambda matters: see [`crate::Problem`].
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
}

impl OutputRegularizer for Power {
    fn name(&self) -> &'static str {
        "power"
    }

    #[inline]
    fn phi(&self, _: Pair, z: f64) -> f64 {
        // t^(2k-1) z / 2k instead of t^2k / (2k q): one factor less to overflow.
        (self.q * z).powi(self.odd_power()) * z / f64::from(2 * self.k)
    }

    #[inline]
    fn dphi(&self, _: Pair, z: f64) -> f64 {
        (self.q * z).powi(self.odd_power())
    }

    #[inline]
    fn d2phi(&self, _: Pair, z: f64) -> f64 {
        let odd = self.odd_power();
        f64::from(odd) * self.q * (self.q * z).powi(odd - 1)
    }

    fn phi_conj(&self, _: Pair, theta: f64) -> f64 {
        // sup of theta z - phi(z) is at q z = theta^(1/(2k-1)) and equals (1 - 1/2k) theta z.
        let odd = f64::from(self.odd_power());
        let z = theta.abs().powf(1.0 / odd) / self.q;
        theta.abs() * z * odd / f64::from(2 * self.k)
    }

    fn scaled(&self, gain: f64, rate: f64) -> Box<dyn OutputRegularizer> {
        // gain (q rate z)^odd = (gain^(1/odd) q rate z)^odd
        let log_q = self.q.ln() + rate.ln() + gain.ln() / f64::from(self.odd_power());
        Box::new(Power { k: self.k, q: log_q.exp() })
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
}
