//! What is learned.

use super::size::positive;
use clap::{Args, ValueEnum};
use kinfolk::LossKind;
use std::path::PathBuf;

/// Loss, regulariser and their weights.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Problem")]
pub(crate) struct ProblemArgs {
    /// squared, hinge, squared_hinge, smoothed_hinge:GAMMA, logistic, epsilon:EPS, squared_epsilon:EPS, huber:DELTA,
    /// absolute or quantile:Q; auto is hinge for two-valued labels, else squared.
    #[arg(long, default_value = "auto", value_parser = loss)]
    pub(crate) loss: LossChoice,
    /// Method with its parameters, such as stl or mtl:mu=0.1; see `kinfolk methods` [default: fmtl].
    #[arg(long, value_name = "NAME")]
    pub(crate) method: Option<String>,
    /// Regulariser of the task matrix: power, exp or cosh learn it, fixed takes the one of --theta [default: power].
    #[arg(long, value_enum)]
    pub(crate) output: Option<OutputName>,
    /// For power: sum |Theta|^p / 2 with p = 2k / (2k - 1); 1 is the Frobenius norm, larger is sparser [default: 1].
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) k: Option<u32>,
    /// The task matrix for --output fixed: csv, npy, or a model to take it from.
    #[arg(long, value_name = "FILE")]
    pub(crate) theta: Option<PathBuf>,
    /// A task matrix to start from, for exp, and power with k = 1: csv, npy, or a model to take it from.
    #[arg(long, value_name = "FILE")]
    pub(crate) prior: Option<PathBuf>,
    /// Weight of the losses: a number, or auto, the middle of the useful range for the data at hand.
    #[arg(long, allow_negative_numbers = true, value_name = "C", default_value = "auto", value_parser = weight)]
    pub(crate) c: Weight,
    /// Weight of the regulariser [default: 1; with --c auto, for exp and cosh, what suits the data].
    #[arg(long, allow_negative_numbers = true, value_name = "X", value_parser = positive)]
    pub(crate) lambda: Option<f64>,
    /// Weights of classes: balanced gives both classes of each task the same weight.
    #[arg(long, value_enum)]
    pub(crate) class_weight: Option<ClassWeight>,
}

/// A loss, or the one that fits the labels.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LossChoice {
    Auto,
    Is(LossKind),
}

/// A regulariser of the task matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputName {
    Power,
    Exp,
    Cosh,
    Fixed,
}

/// C, or the rule for it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Weight {
    Auto,
    Is(f64),
}

/// How classes are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClassWeight {
    Balanced,
}

pub(crate) fn loss(text: &str) -> Result<LossChoice, String> {
    match text {
        "auto" => Ok(LossChoice::Auto),
        _ => text.parse().map(LossChoice::Is).map_err(|error: kinfolk::Error| error.to_string()),
    }
}

fn weight(text: &str) -> Result<Weight, String> {
    match text {
        "auto" => Ok(Weight::Auto),
        _ => positive(text).map(Weight::Is).map_err(|_| "must be auto or a positive number".into()),
    }
}
