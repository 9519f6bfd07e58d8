//! Options that several commands share; the others are with their command.

mod columns;
mod inputs;
mod new_rows;
mod number;
mod solver;
mod spec;

pub(crate) use columns::ColumnArgs;
pub(crate) use new_rows::{NewRowArgs, task_column};
pub(crate) use number::{bytes, not_negative, part, positive};
pub(crate) use spec::{MethodArgs, SpecArgs};

use inputs::InputArgs;
use solver::SolverArgs;

use crate::cmd;
use crate::failure::Result;
use crate::limits;
use crate::report::Report;
use clap::{ArgAction, Args, Parser, Subcommand};
use kinfolk::algebra::DeviceHandle;
use kinfolk_train::{DeviceSetting, Memory};

/// Learn many related tasks together, and how they are related, with a certificate of optimality.
#[derive(Debug, Parser)]
#[command(name = "kinfolk", version, propagate_version = true, max_term_width = 100, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  kinfolk demo
  kinfolk fit school.csv --task school --target score -o school.safetensors
  kinfolk certify school.safetensors school.csv

Exit codes: 0 fine, 1 the answer is no, 2 usage, 3 bad input, 4 cannot write, 130 interrupted.";

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Print one JSON object to stdout instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress and no notes; no text if the result is a file.
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// More messages on stderr; -vv for even more.
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Replace files that are there already, whatever is in them. Files that the command reads are never replaced.
    #[arg(long, global = true)]
    pub(crate) force: bool,
    /// Threads to use; 0 = one per core [default: 0].
    #[arg(long, global = true, value_name = "N")]
    threads: Option<usize>,
    /// Where large products are computed: cuda:N is a GPU by its number, auto the first one if there is one and the
    /// work is large enough [default: auto].
    #[arg(long, global = true, value_name = "auto|cpu|cuda[:N]")]
    device: Option<DeviceSetting>,
    /// Memory of the GPU that matrices may take, like 20GB [default: all that is free].
    #[arg(long, global = true, value_name = "SIZE")]
    device_memory: Option<Memory>,
    /// Seed of every random choice [default: 0].
    #[arg(long, global = true, value_name = "N")]
    seed: Option<u64>,
}

impl Global {
    /// More threads than cores only wait for each other, and very many cannot be started.
    pub(crate) fn limit_threads(&mut self, report: Report) {
        let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
        if let Some(asked) = self.threads.filter(|asked| *asked > cores) {
            report.note(format!("--threads {asked}: there are {cores} cores, so {cores} threads are used"));
            self.threads = Some(cores);
        }
        let threads = self.threads.filter(|threads| *threads > 0).unwrap_or(cores);
        if limits::threads_with_room(threads) < threads {
            report.note("the address space (ulimit -v) has room for the matrix products of one thread");
            self.threads = Some(1);
        }
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or(0)
    }

    /// The device that is asked for, by itself.
    pub(crate) fn device(&self) -> Result<Option<DeviceHandle>> {
        let memory = self.device_memory.map(|memory| memory.0);
        Ok(self.device.unwrap_or_default().given(memory)?)
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Fit(Box<cmd::fit::FitArgs>),
    Predict(cmd::predict::PredictArgs),
    Certify(cmd::certify::CertifyArgs),
    Evaluate(cmd::evaluate::EvaluateArgs),
    Select(Box<cmd::select::SelectArgs>),
    Theta(cmd::theta::ThetaArgs),
    Report(cmd::report::ReportArgs),
    Demo(cmd::demo::DemoArgs),
    Methods(cmd::methods::MethodsArgs),
    Model(cmd::model::ModelArgs),
    Data(cmd::data::DataArgs),
    Explain(cmd::explain::ExplainArgs),
    Completions(cmd::completions::CompletionsArgs),
    Man(cmd::man::ManArgs),
}
