//! `kinfolk man`: manual pages.

use crate::args::{Cli, Global};
use crate::failure::{Failure, Result};
use crate::outputs::{CommandFiles, OutputKind};
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

pub(crate) fn run(args: ManArgs, global: &Global, report: Report) -> Result<ExitCode> {
    std::fs::create_dir_all(&args.folder).map_err(|error| Failure::output(error).about(&args.folder))?;
    let mut command = Cli::command();
    command.build();
    let mut pages = vec![];
    render(&command, "kinfolk", &args.folder, &mut pages)?;
    CommandFiles::default().writes(pages.iter().map(|(path, _)| path), OutputKind::Manual).check(global)?;
    pages.iter().try_for_each(|(path, page)| files::write(path, page))?;
    let said = format!("{} in {}\n", text::plural(pages.len(), "page"), args.folder.display());
    report.done(&ManOutput { folder: &args.folder, pages: pages.len() }, said)?;
    Ok(ExitCode::SUCCESS)
}

/// The page of a command, and those of the commands below it.
fn render(command: &Command, name: &str, folder: &Path, pages: &mut Vec<(PathBuf, Vec<u8>)>) -> Result<()> {
    let mut page = vec![];
    clap_mangen::Man::new(command.clone()).render(&mut page).map_err(Failure::output)?;
    pages.push((folder.join(format!("{name}.1")), page));
    let mut inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    inner.try_for_each(|inner| render(inner, &format!("{name}-{}", inner.get_name()), folder, pages))
}
