//! `kinfolk data`: look at data files, change their format, make new ones.

mod columns;
mod convert;
mod generate;
mod info;
mod suggestion;
mod summary;

use crate::args::Global;
use crate::failure::{Result, argument};
use crate::report::Report;
use crate::text::plural;
use clap::{Args, Subcommand};
use kinfolk_io::{ColumnRoles, Table, format_of};
use std::path::Path;
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
        DataCommand::Convert(args) => convert::run(args, global, report),
        DataCommand::Generate(args) => generate::run(args, global, report),
    }
}

/// The options with which fit reads a file that was written from a table; nothing if it needs none.
fn how_to_read(table: &Table, out: &Path, names: &ColumnRoles) -> Option<String> {
    if !format_of(out).is_ok_and(|format| format.has_named_columns) {
        return None;
    }
    let ColumnRoles { task, target, weight, offset, split, classes, .. } =
        kinfolk_io::columns_as(table, names);
    let mut options = vec![];
    let mut option = |name: &str, value: &str| options.push(format!("--{name} {}", argument(value)));
    task.iter().for_each(|column| option("task", column));
    if !target.is_empty() {
        option("target", &target.join(","));
    }
    weight.iter().for_each(|column| option("weight", column));
    offset.iter().for_each(|column| option("offset", column));
    split.iter().for_each(|column| option("split-column", column));
    options.extend(classes.then(|| "--classes".into()));
    Some(options.join(" "))
}

/// What was written, for people.
fn written(table: &Table, out: &Path, names: &ColumnRoles) -> String {
    let (rows, features) = (plural(table.n_rows(), "row"), plural(table.inputs.n_features(), "feature"));
    let how = how_to_read(table, out, names).filter(|options| !options.is_empty());
    let how = how.map_or(String::new(), |options| format!("; read it with {options}"));
    format!("{rows} of {features} in {}{how}\n", out.display())
}
