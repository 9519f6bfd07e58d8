//! Tasks in clusters, as a convex relaxation: Jacob, Bach and Vert's cluster norm.

use super::{SpectralFunction, box_trace::box_trace};
use crate::{Error, Result};

/// `Omega(W)` is half of `mean |mean of all|^2 + between |spread of cluster means|^2 + within |spread within
/// clusters|^2` for the best partition into this number of clusters, relaxed to a convex problem: the centred
/// part of Theta has eigenvalues from 1/within to 1/between whose sum is that of a partition.
///
/// ```
/// use kinfolk::regularizer::{Clusters, SpectralFunction};
/// // Two clusters of four tasks: the mean has weight 0.1, one more direction 0.5, the other two 1.
/// let clusters = Clusters::new(2, 0.1, 0.5, 1.0)?;
/// assert_eq!(clusters.theta(&[1.0, 100.0, 1e-3, 1e-3]), [10.0, 2.0, 1.0, 1.0]);
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clusters {
    clusters: u32,
    mean: f64,
    between: f64,
    within: f64,
}

impl Clusters {
    /// At least one cluster; `0 < mean <= between <= within`.
    pub fn new(clusters: u32, mean: f64, between: f64, within: f64) -> Result<Self> {
        let no = |name, value, expected| Err(Error::Parameter { name, value, expected });
        if clusters == 0 {
            return no("clusters", 0.0, "must be at least 1");
        }
        if !(mean.is_finite() && mean > 0.0) {
            return no("mean", mean, "must be positive and finite");
        }
        if !(between.is_finite() && between >= mean) {
            return no("between", between, "must be finite and at least the weight of the mean");
        }
        if !(within.is_finite() && within >= between) {
            return no("within", within, "must be finite and at least the weight between clusters");
        }
        Ok(Clusters { clusters, mean, between, within })
    }

    /// Least and largest eigenvalue of the centred part of Theta, and its trace, for so many directions.
    fn limits(&self, directions: usize) -> (f64, f64, f64) {
        let (low, high) = (self.within.recip(), self.between.recip());
        let wide = (self.clusters as usize - 1).min(directions);
        (low, high, (directions - wide) as f64 * low + wide as f64 * high)
    }
}

impl SpectralFunction for Clusters {
    fn name(&self) -> &'static str {
        "clusters"
    }

    fn check_tasks(&self, n_tasks: usize) -> Result<()> {
        if self.clusters as usize <= n_tasks {
            return Ok(());
        }
        let expected = "must be at most the number of tasks";
        Err(Error::Parameter { name: "clusters", value: f64::from(self.clusters), expected })
    }

    fn is_centred(&self) -> bool {
        true
    }

    fn value(&self, squares: &[f64]) -> f64 {
        let parts = squares.iter().zip(self.theta(squares)).map(|(s, l)| s / l);
        0.5 * parts.sum::<f64>()
    }

    fn dual_value(&self, squares: &[f64]) -> f64 {
        let mut centred = squares[1..].to_vec();
        centred.sort_by(|a, b| b.total_cmp(a));
        let (low, high, _) = self.limits(centred.len());
        let wide = (self.clusters as usize - 1).min(centred.len());
        let largest: f64 = centred[..wide].iter().sum();
        0.5 * (squares[0] / self.mean + low * centred.iter().sum::<f64>() + (high - low) * largest)
    }

    fn theta(&self, squares: &[f64]) -> Vec<f64> {
        let (low, high, total) = self.limits(squares.len() - 1);
        let mut theta = vec![self.mean.recip()];
        theta.extend(box_trace(&squares[1..], low, high, total));
        theta
    }

    /// The eigenvalues that are best after shrinking are those of `l + tau`, between bounds moved by tau.
    fn shrink(&self, lengths: &[f64], tau: f64) -> Vec<f64> {
        let squares: Vec<f64> = lengths[1..].iter().map(|v| v * v).collect();
        let (low, high, total) = self.limits(squares.len());
        let moved = box_trace(&squares, low + tau, high + tau, total + squares.len() as f64 * tau);
        let mut out = vec![lengths[0] / (1.0 + tau * self.mean)];
        out.extend(lengths[1..].iter().zip(moved).map(|(v, l)| v * (l - tau) / l));
        out
    }

    fn typical_theta(&self, _rho: f64, n_tasks: usize) -> f64 {
        let (_, _, total) = self.limits(n_tasks - 1);
        (self.mean.recip() + total) / n_tasks as f64
    }
}
