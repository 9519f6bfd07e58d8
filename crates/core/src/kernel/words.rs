//! Kernels as written on a command line or in a table, and built up piece by piece.

use super::{Gamma, Kernel};
use crate::{Error, Result};
use std::{fmt, str::FromStr};

/// `rbf:0.5`, `polynomial:3,scale,0`: such that parsing gives the same kernel back.
impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self {
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } => f.pad(&format!("{name}:{gamma}")),
            Kernel::Polynomial { degree, gamma, coef0 } => f.pad(&format!("{name}:{degree},{gamma},{coef0}")),
            Kernel::Linear | Kernel::Cosine | Kernel::Precomputed => f.pad(name),
        }
    }
}

/// | Text | Parameters, of which the last ones may be left out | If left out |
/// |---|---|---|
/// | `linear`, `cosine`, `precomputed` | | |
/// | `rbf:0.5`, `laplacian:scale` | gamma: a number, `scale` or `auto` | `scale` |
/// | `polynomial:3,0.5,1` | degree, gamma, coef0 | 3, `scale`, 0 |
///
/// Ranges are checked when the kernel meets its inputs, in [`Kernel::resolve`].
impl FromStr for Kernel {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let fail = |why: String| Error::Parse { what: "kernel", text: text.into(), why };
        let (name, parameters) = match text.split_once(':') {
            Some((name, parameters)) => (name, parameters.split(',').collect()),
            None => (text, vec![]),
        };
        let Some(mut kernel) = Kernel::ALL.into_iter().find(|kernel| kernel.name() == name) else {
            return Err(fail(format!(
                "the kernels are {}",
                Kernel::ALL.map(|kernel| kernel.name()).join(", ")
            )));
        };
        let number = |text: &str| text.parse::<f64>().map_err(|_| fail(format!("{text:?} is not a number")));
        let most = match &mut kernel {
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } => {
                if let Some(text) = parameters.first() {
                    *gamma = text.parse()?;
                }
                1
            }
            Kernel::Polynomial { degree, gamma, coef0 } => {
                if let Some(text) = parameters.first() {
                    *degree =
                        text.parse().map_err(|_| fail(format!("{text:?} is not a degree: 1, 2, ...")))?;
                }
                if let Some(text) = parameters.get(1) {
                    *gamma = text.parse()?;
                }
                if let Some(text) = parameters.get(2) {
                    *coef0 = number(text)?;
                }
                3
            }
            Kernel::Linear | Kernel::Cosine | Kernel::Precomputed => 0,
        };
        if parameters.len() > most {
            let takes = ["no parameter", "one parameter", "two parameters", "three parameters"][most];
            return Err(fail(format!("{name} takes {takes}, not {}", parameters.len())));
        }
        Ok(kernel)
    }
}

/// For callers that have name and parameters apart, `"rbf".parse::<Kernel>()?.with_gamma(gamma)?` for
/// example.
impl Kernel {
    /// The same with another gamma.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if it has none.
    pub fn with_gamma(mut self, new: Gamma) -> Result<Self> {
        match &mut self {
            Kernel::Rbf { gamma } | Kernel::Laplacian { gamma } | Kernel::Polynomial { gamma, .. } => {
                *gamma = new
            }
            _ => return Err(self.has_no("gamma")),
        }
        Ok(self)
    }

    /// The same with another degree.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if it has none.
    pub fn with_degree(mut self, new: u32) -> Result<Self> {
        match &mut self {
            Kernel::Polynomial { degree, .. } => *degree = new,
            _ => return Err(self.has_no("degree")),
        }
        Ok(self)
    }

    /// The same with another constant.
    ///
    /// # Errors
    /// [`Error::Incompatible`] if it has none.
    pub fn with_coef0(mut self, new: f64) -> Result<Self> {
        match &mut self {
            Kernel::Polynomial { coef0, .. } => *coef0 = new,
            _ => return Err(self.has_no("coef0")),
        }
        Ok(self)
    }

    fn has_no(&self, what: &str) -> Error {
        Error::Incompatible(format!("the {} kernel has no {what}", self.name()))
    }
}
