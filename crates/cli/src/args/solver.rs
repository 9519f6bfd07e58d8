//! How, and how long.

use super::size::{bytes, positive};
use clap::{Args, ValueEnum};
use kinfolk::{Settings, SolverKind};
use std::time::Duration;

/// Solver and limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArgs {
    /// How to solve it.
    #[arg(long, value_enum, default_value_t = SolverName::Auto)]
    solver: SolverName,
    /// Relative duality gap to reach.
    #[arg(long, allow_negative_numbers = true, value_name = "GAP", default_value_t = 1e-3, value_parser = positive)]
    pub(crate) tol: f64,
    /// Passes over the data after which to stop.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) max_passes: usize,
    /// Time after which to stop.
    #[arg(long, allow_negative_numbers = true, value_name = "SECONDS", value_parser = positive)]
    pub(crate) max_seconds: Option<f64>,
    /// Memory for kernel matrices and the like.
    #[arg(long, value_name = "SIZE", default_value = "4GB", value_parser = bytes)]
    pub(crate) memory: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SolverName {
    /// The one that fits the problem.
    Auto,
    /// Dual coordinate ascent in blocks.
    Sdca,
    /// Dual coordinate ascent one observation at a time.
    SdcaSequential,
    /// In the eigenbasis of the inputs: squared loss, every input for every task.
    Spectral,
    /// Newton's method: smooth losses.
    Newton,
    /// Proximal point steps around Newton's method: losses with kinks.
    Proximal,
    /// Interior point method: any loss but the logistic one, while a direct system is small enough.
    InteriorPoint,
    /// Alternating direction method of multipliers: penalties of the task matrix as a whole.
    #[value(alias = "splitting")]
    Admm,
}

impl SolverArgs {
    pub(crate) fn settings(&self, seed: u64) -> Settings {
        let solver = match self.solver {
            SolverName::Auto => SolverKind::Auto,
            SolverName::Sdca => SolverKind::Sdca,
            SolverName::SdcaSequential => SolverKind::SdcaSequential,
            SolverName::Spectral => SolverKind::Spectral,
            SolverName::Newton => SolverKind::Newton,
            SolverName::Proximal => SolverKind::Proximal,
            SolverName::InteriorPoint => SolverKind::InteriorPoint,
            SolverName::Admm => SolverKind::Admm,
        };
        // Beyond what a duration can be there is no limit.
        let max_time = self.max_seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
        Settings { tolerance: self.tol, max_passes: self.max_passes, max_time, seed, solver }
    }
}
