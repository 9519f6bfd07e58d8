//! `kinfolk completions`: what a shell needs to complete our options.

use crate::args::Cli;
use crate::failure::Result;
use clap::{Args, CommandFactory};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk completions bash > kinfolk.bash";

/// Print a script that completes commands and options in a shell.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Which shell.
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: CompletionsArgs) -> Result<ExitCode> {
    let mut script = vec![];
    clap_complete::generate(args.shell, &mut Cli::command(), "kinfolk", &mut script);
    crate::report::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
