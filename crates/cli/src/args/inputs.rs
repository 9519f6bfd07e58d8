//! How inputs are compared.

use super::size::{not_negative, positive};
use crate::failure::{Failure, Result};
use clap::{Args, ValueEnum};
use kinfolk::kernel::Gamma;
use kinfolk::{Inputs, Kernel, ScalingKind};

/// Kernel, scaling and bias.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct InputArgs {
    /// Kernel [default: linear; precomputed for a Gram matrix].
    #[arg(long, value_enum)]
    kernel: Option<KernelName>,
    /// Inverse width of the kernel: a number, scale (1 / features / variance) or auto (1 / features) [default: scale].
    #[arg(long, value_parser = gamma)]
    gamma: Option<Gamma>,
    /// Degree of the polynomial kernel [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    degree: Option<u32>,
    /// Constant of the polynomial kernel [default: 0].
    #[arg(long, value_name = "X", value_parser = not_negative)]
    coef0: Option<f64>,
    /// Scaling of the features, kept in the model: none, mean 0 and variance 1, or rows of length 1.
    #[arg(long, value_name = "none|standard|unit", default_value_t = ScalingKind::None)]
    pub(crate) scale: ScalingKind,
    /// A constant feature B: B^2 is added to the kernel; 0 = none.
    #[arg(long, allow_negative_numbers = true, value_name = "B", default_value_t = 1.0, value_parser = not_negative)]
    pub(crate) bias: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KernelName {
    Linear,
    Rbf,
    Polynomial,
    Laplacian,
    Cosine,
    Precomputed,
}

fn gamma(text: &str) -> std::result::Result<Gamma, String> {
    match text {
        "scale" => Ok(Gamma::Scale),
        "auto" => Ok(Gamma::Auto),
        _ => positive(text).map(Gamma::Value).map_err(|_| "must be scale, auto or a positive number".into()),
    }
}

impl InputArgs {
    /// The kernel, for these inputs.
    pub(crate) fn kernel(&self, inputs: &Inputs<'_>) -> Result<Kernel> {
        let gram = matches!(inputs, Inputs::Gram(_));
        let name = self.kernel.unwrap_or(if gram { KernelName::Precomputed } else { KernelName::Linear });
        let with_gamma = matches!(name, KernelName::Rbf | KernelName::Polynomial | KernelName::Laplacian);
        let unused = [
            ("--gamma", self.gamma.is_some() && !with_gamma),
            ("--degree", self.degree.is_some() && name != KernelName::Polynomial),
            ("--coef0", self.coef0.is_some() && name != KernelName::Polynomial),
        ];
        if let Some((option, _)) = unused.iter().find(|(_, unused)| *unused) {
            return Err(Failure::usage(format!(
                "{option} has no meaning for this kernel; choose one with --kernel"
            )));
        }
        let gamma = self.gamma.unwrap_or_default();
        Ok(match name {
            KernelName::Linear => Kernel::Linear,
            KernelName::Rbf => Kernel::Rbf { gamma },
            KernelName::Polynomial => Kernel::Polynomial {
                degree: self.degree.unwrap_or(3),
                gamma,
                coef0: self.coef0.unwrap_or(0.0),
            },
            KernelName::Laplacian => Kernel::Laplacian { gamma },
            KernelName::Cosine => Kernel::Cosine,
            KernelName::Precomputed => Kernel::Precomputed,
        })
    }
}
