//! How, and how long.

use super::size::{bytes, positive};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use kinfolk::{Settings, SolverKind};
use std::time::Duration;

/// Solver and limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArgs {
    /// How to solve it.
    #[arg(long, default_value_t = SolverKind::Auto, value_parser = solver_parser())]
    solver: SolverKind,
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

/// Solvers by name, with a line of help for each.
fn solver_parser() -> impl TypedValueParser<Value = SolverKind> {
    let value = |kind: SolverKind| {
        PossibleValue::new(kind.name()).help(format!("{}: {}", kind.about(), kind.suits()))
    };
    let old_name = PossibleValue::new("splitting").hide(true);
    PossibleValuesParser::new(SolverKind::ALL.map(value).into_iter().chain([old_name]))
        .try_map(|name| name.parse::<SolverKind>())
}

impl SolverArgs {
    pub(crate) fn settings(&self, seed: u64) -> Settings {
        // Beyond what a duration can be there is no limit.
        let max_time = self.max_seconds.and_then(|s| Duration::try_from_secs_f64(s).ok());
        Settings { tolerance: self.tol, max_passes: self.max_passes, max_time, seed, solver: self.solver }
    }
}
