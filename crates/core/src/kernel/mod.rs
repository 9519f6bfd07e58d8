//! Kernels `k(x, z)`: symmetric, positive semidefinite measures of how alike two inputs are, one file each.
//!
//! | Name | k(x, z) | Parameters |
//! |---|---|---|
//! | `linear` | `<x, z>` | |
//! | `rbf` | `exp(-gamma \|x - z\|^2)` | gamma > 0 |
//! | `polynomial` | `(gamma <x, z> + coef0)^degree` | gamma > 0, coef0 >= 0, degree >= 1 |
//! | `laplacian` | `exp(-gamma sum_k \|x_k - z_k\|)` | gamma > 0 |
//! | `cosine` | `<x, z> / (\|x\| \|z\|)`, 0 if x or z is zero | |
//! | `precomputed` | the entry of a [`Gram`](crate::inputs::Gram) matrix | |
//!
//! [`Kernel::resolve`] checks the parameters and turns data-dependent ones into numbers; [`block()`] then
//! fills blocks of the kernel matrix and [`diagonal`] its diagonal. Both are plain functions of their
//! arguments: any number of threads may call them, each with its own [`Scratch`].

mod block;
mod cosine;
mod gamma;
mod laplacian;
mod linear;
mod polynomial;
mod rbf;
mod rows;
mod words;

pub use block::{Scratch, block, diagonal};
pub use gamma::Gamma;
pub(crate) use rbf::is_exact as is_exact_rbf;

use crate::{Error, Result, inputs::Inputs};
use serde::{Deserialize, Serialize};

/// Which kernel, with its parameters. See the [module](self) for the formulas.
///
/// As JSON: `{"kind": "rbf", "gamma": "scale"}`, `{"kind": "polynomial", "degree": 2, "gamma": 0.5, "coef0":
/// 1.0}`; parameters left out are gamma `scale`, degree 3, coef0 0. As text: `rbf:0.5`, `polynomial:2,0.5,1`,
/// see its [`FromStr`](std::str::FromStr).
///
/// ```
/// use kinfolk::{inputs::{Dense, Inputs}, kernel::{Gamma, Kernel}};
/// let x: Inputs = Dense::f64(&[0.0, 1.0, 2.0, 3.0], 2, 2)?.into();
/// let kernel: Kernel = "rbf".parse()?;
/// assert_eq!(kernel, Kernel::Rbf { gamma: Gamma::Scale });
/// assert_eq!(kernel.resolve(&x)?, Kernel::Rbf { gamma: Gamma::Value(0.4) }); // 1 / (2 * 1.25)
/// # Ok::<(), kinfolk::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Kernel {
    /// `<x, z>`.
    #[default]
    Linear,
    /// `exp(-gamma |x - z|^2)`.
    Rbf {
        /// Inverse squared width, > 0.
        #[serde(default)]
        gamma: Gamma,
    },
    /// `(gamma <x, z> + coef0)^degree`.
    Polynomial {
        /// Power, >= 1.
        #[serde(default = "polynomial::default_degree")]
        degree: u32,
        /// Factor of the inner product, > 0.
        #[serde(default)]
        gamma: Gamma,
        /// Constant, >= 0: with a negative one the kernel would not be positive semidefinite.
        #[serde(default)]
        coef0: f64,
    },
    /// `exp(-gamma sum_k |x_k - z_k|)`.
    Laplacian {
        /// Inverse width, > 0.
        #[serde(default)]
        gamma: Gamma,
    },
    /// `<x, z> / (|x| |z|)`, and 0 if x or z is zero.
    Cosine,
    /// The caller's own kernel values, in a [`Gram`](crate::inputs::Gram) matrix.
    Precomputed,
}

impl Kernel {
    /// All kernels, with default parameters.
    pub const ALL: [Kernel; 6] = [
        Kernel::Linear,
        Kernel::Rbf { gamma: Gamma::Scale },
        Kernel::Polynomial { degree: polynomial::default_degree(), gamma: Gamma::Scale, coef0: 0.0 },
        Kernel::Laplacian { gamma: Gamma::Scale },
        Kernel::Cosine,
        Kernel::Precomputed,
    ];

    /// Name without parameters.
    pub fn name(&self) -> &'static str {
        match self {
            Kernel::Linear => "linear",
            Kernel::Rbf { .. } => "rbf",
            Kernel::Polynomial { .. } => "polynomial",
            Kernel::Laplacian { .. } => "laplacian",
            Kernel::Cosine => "cosine",
            Kernel::Precomputed => "precomputed",
        }
    }

    /// The same kernel with checked parameters and gamma as a number, for these training inputs.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a parameter out of range, [`Error::Incompatible`] for a precomputed kernel
    /// without a Gram matrix or any other kernel with one.
    pub fn resolve(&self, inputs: &Inputs<'_>) -> Result<Kernel> {
        match (self, inputs) {
            (Kernel::Precomputed, Inputs::Gram(_)) => return Ok(Kernel::Precomputed),
            (Kernel::Precomputed, _) => {
                return Err(Error::Incompatible(format!(
                    "the precomputed kernel needs a Gram matrix of kernel values, the inputs are {} features; wrap \
                     kernel values in a Gram matrix or choose another kernel",
                    inputs.kind()
                )));
            }
            (_, Inputs::Gram(_)) => {
                return Err(Error::Incompatible(format!(
                    "the {} kernel needs features, the inputs are a Gram matrix of kernel values; choose the \
                     precomputed kernel",
                    self.name()
                )));
            }
            _ => {}
        }
        Ok(match *self {
            Kernel::Rbf { gamma } => Kernel::Rbf { gamma: gamma.resolve(inputs)? },
            Kernel::Laplacian { gamma } => Kernel::Laplacian { gamma: gamma.resolve(inputs)? },
            Kernel::Polynomial { degree, gamma, coef0 } => {
                polynomial::check(degree, coef0)?;
                Kernel::Polynomial { degree, gamma: gamma.resolve(inputs)?, coef0 }
            }
            Kernel::Linear | Kernel::Cosine | Kernel::Precomputed => self.clone(),
        })
    }

    /// `Err` unless all parameters are numbers in range, as [`resolve`](Self::resolve) leaves them.
    pub(crate) fn check_resolved(&self) -> Result<()> {
        match *self {
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } => gamma.check_resolved(),
            Kernel::Polynomial { degree, gamma, coef0 } => {
                polynomial::check(degree, coef0)?;
                gamma.check_resolved()
            }
            Kernel::Linear | Kernel::Cosine | Kernel::Precomputed => Ok(()),
        }
    }

    /// `Err` unless kernel values between `new` and `train` exist: features of the same number in both, dense
    /// or sparse; for the precomputed kernel a [`Gram`](crate::inputs::Gram) matrix in `train` and in `new` a
    /// [`Dense`](crate::inputs::Dense) matrix with one column of kernel values per training input.
    ///
    /// # Errors
    /// [`Error::Incompatible`].
    pub fn check_pair(&self, new: &Inputs<'_>, train: &Inputs<'_>) -> Result<()> {
        let (got, expected) = (new.n_features(), train.n_features());
        match (self, new, train) {
            (Kernel::Precomputed, Inputs::Dense(_) | Inputs::Gram(_), _) if got == train.n_inputs() => Ok(()),
            (Kernel::Precomputed, _, _) => Err(Error::Incompatible(format!(
                "the precomputed kernel needs a dense matrix with a column of kernel values for each of the \
                 {} training inputs, got {} inputs with {got} columns",
                train.n_inputs(),
                new.kind()
            ))),
            (_, Inputs::Gram(_), _) | (_, _, Inputs::Gram(_)) => Err(Error::Incompatible(format!(
                "the {} kernel needs features, got a Gram matrix of kernel values",
                self.name()
            ))),
            _ if got == expected => Ok(()),
            _ => Err(Error::Incompatible(format!(
                "the inputs have {got} features, the model was fitted on {expected} features"
            ))),
        }
    }
}
