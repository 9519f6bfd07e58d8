//! `kinfolk man`: manual pages.

use crate::args::Cli;
use crate::failure::{Failure, Result};
use crate::report::Report;
use crate::{files, text};
use clap::{Args, Command, CommandFactory};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk man man1";

/// Write the manual pages, one for each command, for `man`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ManArgs {
    /// A folder, such as ~/.local/share/man/man1; it is made if it is not there.
    folder: PathBuf,
}

#[derive(Serialize)]
struct ManOutput<'a> {
    folder: &'a Path,
    pages: usize,
}

pub(crate) fn run(args: ManArgs, report: Report) -> Result<ExitCode> {
    std::fs::create_dir_all(&args.folder).map_err(|error| Failure::output(error).about(&args.folder))?;
    let mut command = Cli::command();
    command.build();
    let pages = write(&command, "kinfolk", &args.folder)?;
    let said = format!("{} in {}\n", text::plural(pages, "page"), args.folder.display());
    report.done(&ManOutput { folder: &args.folder, pages }, said)?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a command, and those of the commands below it; how many.
fn write(command: &Command, name: &str, folder: &Path) -> Result<usize> {
    let mut page = vec![];
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(Failure::output)?;
    files::write(&folder.join(format!("{name}.1")), &page)?;
    let mut pages = 1;
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        pages += write(inner, &format!("{name}-{}", inner.get_name()), folder)?;
    }
    Ok(pages)
}
