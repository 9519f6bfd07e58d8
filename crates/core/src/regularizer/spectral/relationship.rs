//! A task matrix of trace one beside independent tasks: Zhang and Yeung's task relationships.

use super::{SpectralFunction, trace::largest};
use crate::{Error, Result};

/// `Omega(W)` is the minimum of `l1 |W|^2 / 2 + l2 tr(W Om^+ W') / 2` over all Om with `tr(Om) <= 1`, so that
/// `Theta = Om (l1 Om + l2)^-1` and `Omega(W) = l1 |W|^2 / 2 + l2 |W|_*^2 / 2`, with the trace norm `|W|_*`,
/// the sum of the singular values.
///
/// ```
/// use kinfolk::regularizer::{Relationship, SpectralFunction};
/// let relationship = Relationship::new(0.0, 0.5)?;
/// assert_eq!(relationship.value(&[9.0, 1.0]), 4.0);
/// assert_eq!(relationship.theta(&[9.0, 1.0]), [1.5, 0.5]);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Relationship {
    l1: f64,
    l2: f64,
}

impl Relationship {
    /// l1 >= 0 for each task on its own, l2 > 0 for their relationship.
    pub fn new(l1: f64, l2: f64) -> Result<Self> {
        if !(l1.is_finite() && l1 >= 0.0) {
            let expected = "must be finite and not negative";
            return Err(Error::Parameter { name: "l1", value: l1, expected });
        }
        if !(l2.is_finite() && l2 > 0.0) {
            return Err(Error::Parameter { name: "l2", value: l2, expected: "must be positive and finite" });
        }
        Ok(Relationship { l1, l2 })
    }
}

impl SpectralFunction for Relationship {
    fn name(&self) -> &'static str {
        "relationship"
    }

    fn value(&self, squares: &[f64]) -> f64 {
        let lengths: f64 = squares.iter().map(|s| s.sqrt()).sum();
        0.5 * self.l1 * squares.iter().sum::<f64>() + 0.5 * self.l2 * lengths * lengths
    }

    /// The largest `sum o r / (l1 o + l2) / 2` over o >= 0 of sum one: `o = max(0, sqrt(l2 r / nu) - l2) /
    /// l1` with the nu for which they sum to one.
    fn dual_value(&self, squares: &[f64]) -> f64 {
        let (l1, l2, most) = (self.l1, self.l2, largest(squares));
        if l1 == 0.0 || most == 0.0 {
            return 0.5 * most / l2;
        }
        let shares = |root: f64| -> Vec<f64> {
            squares.iter().map(|r| ((l2 * r / most).sqrt() * root - l2).max(0.0) / l1).collect()
        };
        // In x = sqrt(most / nu) the sum increases, from 0 where the largest share is 0 to at least 1 where
        // it is 1.
        let (mut low, mut high) = (l2.sqrt(), (l1 + l2) / l2.sqrt());
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if shares(middle).iter().sum::<f64>() > 1.0 { high = middle } else { low = middle }
        }
        // An upper bound also where the sum of the shares is not one to the last bit: by duality, for any nu,
        // max <= nu + sum of max over o >= 0 of (o r / (l1 o + l2) - nu o), halved.
        let nu = most / (high * high);
        let excess = |(o, r): (&f64, &f64)| o * r / (l1 * o + l2) - nu * o;
        0.5 * (nu + shares(high).iter().zip(squares).map(excess).sum::<f64>())
    }

    fn theta(&self, squares: &[f64]) -> Vec<f64> {
        let sum: f64 = squares.iter().map(|s| s.sqrt()).sum();
        let even = (squares.len() as f64).recip();
        let share = |s: &f64| if sum > 0.0 { s.sqrt() / sum } else { even };
        squares.iter().map(share).map(|o| o / (self.l1 * o + self.l2)).collect()
    }

    /// The l1 part scales, the rest is a threshold at which as many lengths are cut as it takes: `z = max(v -
    /// t (sum of z), 0)`.
    fn shrink(&self, lengths: &[f64], tau: f64) -> Vec<f64> {
        let scale = 1.0 + tau * self.l1;
        let (v, t): (Vec<f64>, f64) = (lengths.iter().map(|v| v / scale).collect(), tau * self.l2 / scale);
        let mut sorted = v.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let (mut sum, mut cut) = (0.0, 0.0);
        for (m, length) in sorted.iter().enumerate() {
            sum += length;
            let candidate = t * sum / (1.0 + (m + 1) as f64 * t);
            if *length <= candidate {
                break;
            }
            cut = candidate;
        }
        v.iter().map(|v| (v - cut).max(0.0)).collect()
    }

    fn typical_theta(&self, _rho: f64, n_tasks: usize) -> f64 {
        let share = (n_tasks as f64).recip();
        share / (self.l1 * share + self.l2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duals_pay_what_the_best_shares_of_one_give() {
        let penalty = Relationship::new(0.3, 0.4).unwrap();
        let squares = [2.0, 0.5, 1.0];
        let value =
            |o: [f64; 3]| -> f64 { o.iter().zip(squares).map(|(o, r)| 0.5 * o * r / (0.3 * o + 0.4)).sum() };
        let mut best = 0.0f64;
        for i in 0..=400 {
            for j in 0..=400 - i {
                let (a, b) = (f64::from(i) / 400.0, f64::from(j) / 400.0);
                best = best.max(value([a, b, 1.0 - a - b]));
            }
        }
        let price = penalty.dual_value(&squares);
        assert!(price >= best && price < best + 1e-4, "{price} {best}");
    }
}
