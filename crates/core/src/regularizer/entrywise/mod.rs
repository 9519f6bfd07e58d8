//! Regularisers that are sums over the entries of Theta, `V(Theta) = sum over r, s of phi*(Theta_rs)`, one
//! file each.
//!
//! Each is given by a convex phi whose Taylor series has non-negative coefficients (constant term zero). Then
//! `Theta = phi'(rho)`, entry by entry, is positive semidefinite whenever rho is, and the cone constraint of
//! the learning problem needs no care at all. `docs/math.md` tells why.

mod cosh;
mod exp;
mod fixed;
mod frobenius;
mod numeric;
mod polynomial;
mod power;
mod series;

pub use cosh::Cosh;
pub use exp::Exp;
pub use fixed::Fixed;
pub use frobenius::Frobenius;
pub use power::Power;
pub use series::Series;

use super::not_negative;
use crate::linalg::{map_rows, mirror_lower};
use crate::{Error, Result, matrix::Matrix};
use std::fmt::Debug;

/// A pair of tasks (r, s).
pub type Pair = (usize, usize);

/// A sum over the entries of Theta, through phi, its derivatives and its conjugate.
///
/// All regularisers form families closed under `phi(z) -> (gain / rate) phi(rate z)`
/// ([`scaled`](Self::scaled)), which multiplies Theta by `gain` and rho by `rate`: problems are brought to
/// units in which nothing over- or underflows without any regulariser knowing.
pub trait Entrywise: Debug + Send + Sync {
    /// Name in messages and files.
    fn name(&self) -> &'static str;

    /// phi(z).
    fn phi(&self, rs: Pair, z: f64) -> f64;

    /// phi'(z): the entry Theta_rs for rho_rs = z.
    fn dphi(&self, rs: Pair, z: f64) -> f64;

    /// phi''(z).
    fn d2phi(&self, rs: Pair, z: f64) -> f64;

    /// phi*(theta) = sup over z of theta z - phi(z): the term of the entry Theta_rs = theta. Infinite outside
    /// its domain.
    fn phi_conj(&self, rs: Pair, theta: f64) -> f64;

    /// The regulariser `z -> (gain / rate) phi(rate z)`, of the same family; gain, rate > 0.
    fn scaled(&self, gain: f64, rate: f64) -> Box<dyn Entrywise>;

    /// `Err` if the regulariser holds a matrix that does not fit this number of tasks.
    fn check_tasks(&self, _n_tasks: usize) -> Result<()> {
        Ok(())
    }

    /// Whether atoms may be added: phi is the same for all pairs of tasks, and not linear.
    fn takes_atoms(&self) -> bool {
        false
    }

    /// `Some(g)` if `phi'(z) = phi'(0) + g z` for all pairs: opens the way to closed-form coordinate steps.
    fn linear_slope(&self) -> Option<f64> {
        None
    }

    /// `(sum over s of phi'_rs(0) b_s, phi'_rr(0))`: what Theta at rho = 0 adds to a coordinate's slope. Zero
    /// for most.
    fn prior_slope(&self, r: usize, b: &[f64]) -> (f64, f64) {
        ((0..b.len()).map(|s| self.dphi((r, s), 0.0) * b[s]).sum(), self.dphi((r, r), 0.0))
    }

    /// `Some(2k)` if phi(a z) = a^2k phi(z): then the two hyper-parameters act as one.
    fn degree(&self) -> Option<u32> {
        None
    }

    /// `phi(z) + phi*(theta) - z theta`, never negative, and zero where theta = phi'(z). Overridden where a
    /// form without cancellation exists.
    fn fenchel_young(&self, rs: Pair, z: f64, theta: f64) -> f64 {
        self.phi(rs, z) + self.phi_conj(rs, theta) - z * theta
    }

    /// Logarithm of a common factor that keeps `phi'` and `phi''` in range for all z from `low` to `high`, as
    /// close to their largest values as it can be; 0 for polynomials. Both ends are needed: e^z is small
    /// where z is very negative, cosh is not, and a factor larger than necessary would turn every slope into
    /// zero.
    fn log_scale(&self, _low: f64, _high: f64) -> f64 {
        0.0
    }

    /// `(phi'(z), phi''(z))` times `exp(-log_scale)`, computed without overflow.
    fn scaled_slopes(&self, rs: Pair, z: f64, _log_scale: f64) -> (f64, f64) {
        (self.dphi(rs, z), self.d2phi(rs, z))
    }

    /// Theta = phi'(rho), entry by entry, made exactly symmetric.
    fn theta(&self, rho: &Matrix) -> Matrix {
        let t = rho.rows();
        let mut theta = Matrix::zeros(t, t);
        let below = |r: usize| {
            let mean = |s: usize| 0.5 * (rho[(r, s)] + rho[(s, r)]);
            (0..r).map(|s| self.dphi((r, s), mean(s))).collect::<Vec<f64>>()
        };
        for (r, row) in map_rows(t, below).iter().enumerate() {
            theta[(r, r)] = self.dphi((r, r), rho[(r, r)]);
            theta.row_mut(r)[..r].copy_from_slice(row);
        }
        mirror_lower(&mut theta);
        theta
    }

    /// phi''(rho), entry by entry.
    fn curvatures(&self, rho: &Matrix) -> Matrix {
        let of_row = |r: usize| {
            let row = rho.row(r).iter().enumerate();
            row.map(|(s, z)| self.d2phi((r, s), *z)).collect::<Vec<f64>>()
        };
        let mut out = Matrix::zeros(rho.rows(), rho.cols());
        for (r, row) in map_rows(rho.rows(), of_row).iter().enumerate() {
            out.row_mut(r).copy_from_slice(row);
        }
        out
    }

    /// Sum of phi over all pairs.
    fn phi_sum(&self, rho: &Matrix) -> f64 {
        let t = rho.rows();
        let of_row = |r: usize| (0..t).map(|s| self.phi((r, s), rho[(r, s)])).sum::<f64>();
        map_rows(t, of_row).iter().sum()
    }

    /// Sum of `phi'(factor z) z` over all entries z of rho.
    fn pull_sum(&self, rho: &Matrix, factor: f64) -> f64 {
        let t = rho.rows();
        let term = |rs: Pair, z: f64| if z == 0.0 { 0.0 } else { self.dphi(rs, factor * z) * z };
        (0..t).map(|r| (0..t).map(|s| term((r, s), rho[(r, s)])).sum::<f64>()).sum()
    }

    /// Sum of [`fenchel_young`](Self::fenchel_young) over all pairs, no term negative.
    fn fenchel_young_sum(&self, rho: &Matrix, theta: &Matrix) -> f64 {
        let t = rho.rows();
        let term = |r: usize, s: usize| not_negative(self.fenchel_young((r, s), rho[(r, s)], theta[(r, s)]));
        map_rows(t, |r| (0..t).map(|s| term(r, s)).sum::<f64>()).iter().sum()
    }

    /// Slope and curvature of the regulariser's part of a coordinate step; see [`RowStep`].
    fn row_slope(&self, row: &RowStep<'_>, step: f64) -> RowSlope {
        let RowStep { task: r, a, b, c } = *row;
        let z_r = (c[r] + step * (2.0 * b[r] + a * step)).max(0.0);
        let (mut low, mut high) = (z_r, z_r);
        for s in 0..b.len() {
            if s != r {
                let z_s = c[s] + b[s] * step;
                (low, high) = (low.min(z_s), high.max(z_s));
            }
        }
        let log_scale = self.log_scale(low, high);
        let along = b[r] + a * step;
        let (d1, d2) = self.scaled_slopes((r, r), z_r, log_scale);
        let mut out = RowSlope {
            slope: d1 * along,
            curvature: 2.0 * d2 * along * along + a * d1,
            size: (d1 * along).abs(),
            log_scale,
        };
        for s in 0..b.len() {
            if s != r {
                let (d1, d2) = self.scaled_slopes((r, s), c[s] + b[s] * step, log_scale);
                out.slope += d1 * b[s];
                out.curvature += d2 * b[s] * b[s];
                out.size += (d1 * b[s]).abs();
            }
        }
        out
    }
}

/// `Err` if a matrix held by a regulariser has another size than the number of tasks.
fn check_size(what: &'static str, m: &Matrix, n_tasks: usize) -> Result<()> {
    if m.rows() == n_tasks {
        return Ok(());
    }
    Err(Error::Length { what, got: m.rows(), expected: n_tasks })
}

/// One coordinate of the dual as the regulariser sees it, in units where lambda = 1/2 and so rho is the task
/// Gram matrix:
/// `g(step) = [phi(c_r + 2 b_r step + a step^2) + 2 sum over s != r of phi(c_s + b_s step)] / 2`.
#[derive(Debug, Clone, Copy)]
pub struct RowStep<'a> {
    /// Task r of the observation.
    pub task: usize,
    /// k(x, x).
    pub a: f64,
    /// Scores b_s of the observation's input for every task.
    pub b: &'a [f64],
    /// Row r of the task Gram matrix.
    pub c: &'a [f64],
}

/// `g'` and `g''` of [`RowStep`], both times `exp(-log_scale)`.
#[derive(Debug, Clone, Copy)]
pub struct RowSlope {
    /// g'.
    pub slope: f64,
    /// g'', not negative.
    pub curvature: f64,
    /// Sum of the absolute values of the terms of g': the scale of its rounding error.
    pub size: f64,
    /// Logarithm of the factor taken out.
    pub log_scale: f64,
}
