//! How inputs are compared.

use super::not_negative;
use super::spec::set;
use crate::failure::{Failure, Result};
use clap::Args;
use kinfolk::kernel::Gamma;
use kinfolk::{Kernel, ScalingKind};
use kinfolk_train::{FitSpec, InterceptSetting, KernelSetting};

/// Kernel, scaling, intercepts and bias.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Inputs")]
pub(crate) struct InputArgs {
    #[arg(long, value_name = "NAME", help = kernel_help())]
    kernel: Option<KernelSetting>,
    /// Inverse width of the kernel: a number, scale (1 / features / variance) or auto (1 / features) [default: scale].
    #[arg(long)]
    gamma: Option<Gamma>,
    /// Degree of the polynomial kernel [default: 3].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    degree: Option<u32>,
    /// Constant of the polynomial kernel [default: 0].
    #[arg(long, value_name = "X", value_parser = not_negative)]
    coef0: Option<f64>,
    /// Scaling of the features, kept in the model: none, mean 0 and variance 1 (standard), variance 1 alone (spread),
    /// the same but half the distance of the values where there are two (mixed), or rows of length 1 (unit); auto is
    /// mixed, and none for kernel values [default: auto].
    #[arg(long, value_name = "auto|none|mixed|standard|spread|unit")]
    scale: Option<ScalingKind>,
    /// Intercept of each task: not penalised (free), drawn to what all tasks have in common as by K more rows of each
    /// (shrunk:K), penalised like a number of about the size B (ridge:B), or none; auto is free, or shrunk:K where C is
    /// auto and held-out rows of tasks with rows of their own are predicted better so [default: auto].
    #[arg(long, value_name = "auto|free|shrunk:K|ridge:B|none")]
    intercept: Option<InterceptSetting>,
    /// A constant feature B, penalised and mixed by Theta like any other: B^2 is added to the kernel; 0 = none
    /// [default: 0].
    #[arg(long, allow_negative_numbers = true, value_name = "B", value_parser = not_negative)]
    bias: Option<f64>,
}

fn kernel_help() -> String {
    let names: Vec<String> = Kernel::ALL.iter().map(ToString::to_string).collect();
    format!(
        "{}; or auto: linear, or rbf where C is auto and up to 6,000 rows predict held-out ones better with it \
         [default: auto; precomputed for a Gram matrix]",
        names.join(", ")
    )
}

impl InputArgs {
    pub(super) fn apply(&self, spec: &mut FitSpec) -> Result<()> {
        if let Some(KernelSetting(kernel)) = &self.kernel {
            spec.kernel.clone_from(kernel);
        }
        set(&mut spec.scale, &self.scale);
        if let Some(InterceptSetting(intercept)) = self.intercept {
            spec.intercept = intercept;
        }
        set(&mut spec.bias, &self.bias);
        let kernel = || spec.kernel.clone().unwrap_or_default();
        let mut changed = Ok(kernel());
        if let Some(gamma) = self.gamma {
            changed = changed.and_then(|kernel| kernel.with_gamma(gamma));
        }
        if let Some(degree) = self.degree {
            changed = changed.and_then(|kernel| kernel.with_degree(degree));
        }
        if let Some(coef0) = self.coef0 {
            changed = changed.and_then(|kernel| kernel.with_coef0(coef0));
        }
        let changed = changed.map_err(|why| Failure::usage(format!("{why}; choose one with --kernel")))?;
        if changed != kernel() {
            spec.kernel = Some(changed);
        }
        Ok(())
    }
}
