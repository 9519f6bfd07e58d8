//! `kinfolk data`: look at data files, change their format, make new ones.

mod convert;
mod generate;
mod info;
mod survey;

use crate::args::Global;
use crate::failure::Result;
use crate::report::Report;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// Look at data files, change their format, make new ones.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    command: DataCommand,
}

#[derive(Debug, Subcommand)]
enum DataCommand {
    Info(info::InfoArgs),
    Convert(convert::ConvertArgs),
    Generate(generate::GenerateArgs),
}

pub(crate) fn run(args: DataArgs, global: &Global, report: Report) -> Result<ExitCode> {
    match args.command {
        DataCommand::Info(args) => info::run(args, report),
        DataCommand::Convert(args) => convert::run(args, report),
        DataCommand::Generate(args) => generate::run(args, global, report),
    }
}
