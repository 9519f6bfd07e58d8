//! Regularisers of the task matrix Theta.
//!
//! There are two kinds. [`Entrywise`] ones are sums over the entries of Theta: Theta is then a function of
//! the duals, entry by entry. [`SpectralRegularizer`]s are functions of its eigenvalues: Theta is then a
//! function of the weights. Solvers and the certificate differ for the two, so that a [`Regularizer`] says
//! which one it is.

mod atom;
mod entrywise;
mod kind;
mod spectral;
mod sum;

pub use crate::linalg::psd::{NearestPsd, nearest_psd};
pub use atom::{Atom, AtomKind, AtomSpec, AtomStep};
pub use entrywise::{Cosh, Entrywise, Exp, Fixed, Frobenius, Pair, Power, RowSlope, RowStep, Series};
pub use kind::{RegularizerDescription, RegularizerKind};
pub use spectral::{Clusters, Relationship, SpectralFunction, SpectralRegularizer, Trace};
pub use sum::SumRegularizer;
pub(crate) use sum::not_negative;

use crate::Result;

/// A regulariser of the task matrix.
#[derive(Debug)]
pub enum Regularizer {
    /// A sum over the entries of Theta, and over atoms.
    Entrywise(SumRegularizer),
    /// A function of the eigenvalues of Theta.
    Spectral(SpectralRegularizer),
}

impl Regularizer {
    /// Name in messages and files.
    pub fn name(&self) -> &'static str {
        match self {
            Regularizer::Entrywise(regularizer) => regularizer.entries().name(),
            Regularizer::Spectral(regularizer) => regularizer.name(),
        }
    }

    /// The sum over entries, if it is one.
    pub fn entrywise(&self) -> Option<&SumRegularizer> {
        match self {
            Regularizer::Entrywise(regularizer) => Some(regularizer),
            Regularizer::Spectral(_) => None,
        }
    }

    /// The function of eigenvalues, if it is one.
    pub fn spectral(&self) -> Option<&SpectralRegularizer> {
        match self {
            Regularizer::Entrywise(_) => None,
            Regularizer::Spectral(regularizer) => Some(regularizer),
        }
    }

    /// The same regulariser in other units: Theta is multiplied by `gain` and rho by `rate`, both positive.
    pub(crate) fn scaled(&self, gain: f64, rate: f64) -> Regularizer {
        match self {
            Regularizer::Entrywise(regularizer) => Regularizer::Entrywise(regularizer.scaled(gain, rate)),
            Regularizer::Spectral(regularizer) => Regularizer::Spectral(regularizer.scaled(gain, rate)),
        }
    }

    /// Theta_rr where rho_rr = rho, exactly or about: to choose units and values of C.
    pub(crate) fn typical_theta(&self, r: usize, rho: f64) -> f64 {
        match self {
            Regularizer::Entrywise(regularizer) => regularizer.diagonal(r, rho),
            Regularizer::Spectral(regularizer) => regularizer.typical_theta(r, rho),
        }
    }

    /// `Err` if the regulariser does not exist for this number of tasks, or holds a matrix of another size.
    fn check_tasks(&self, n_tasks: usize) -> Result<()> {
        match self {
            Regularizer::Entrywise(regularizer) => regularizer.entries().check_tasks(n_tasks),
            Regularizer::Spectral(regularizer) => regularizer.check_tasks(n_tasks),
        }
    }
}
