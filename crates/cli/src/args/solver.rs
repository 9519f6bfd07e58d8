//! How, and how long.

use super::positive;
use super::spec::set;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use kinfolk::SolverKind;
use kinfolk_train::{FitSpec, Memory};

/// Solver and limits.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Solver")]
pub(crate) struct SolverArgs {
    /// How to solve it [default: auto].
    #[arg(long, value_parser = solver_parser())]
    solver: Option<SolverKind>,
    /// Relative duality gap to reach [default: 0.001].
    #[arg(long, allow_negative_numbers = true, value_name = "GAP", value_parser = positive)]
    tol: Option<f64>,
    /// Passes over the data after which to stop [default: 1000].
    #[arg(long, value_name = "N")]
    max_passes: Option<usize>,
    /// Time after which to stop, with the best so far.
    #[arg(long, allow_negative_numbers = true, value_name = "SECONDS", value_parser = positive)]
    max_seconds: Option<f64>,
    /// Memory for kernel matrices and the like [default: 4GB].
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,
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
    pub(super) fn apply(&self, spec: &mut FitSpec) {
        set(&mut spec.solver, &self.solver);
        set(&mut spec.tol, &self.tol);
        set(&mut spec.max_passes, &self.max_passes);
        set(&mut spec.memory, &self.memory);
        spec.max_seconds = self.max_seconds.or(spec.max_seconds);
    }
}
