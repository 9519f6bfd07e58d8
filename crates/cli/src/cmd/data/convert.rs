//! `kinfolk data convert`: the same data in another format.

use crate::args::{ColumnArgs, Global};
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::limits::Need;
use crate::outputs::{CommandFiles, OutputKind};
use crate::report::Report;
use crate::{files, interrupt};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk data convert digits.npz digits.parquet
  kinfolk data convert school.csv school.npz --task school --target score";

/// Write the same data in another format, by the ending of its name: a model fitted on it is the same.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConvertArgs {
    #[arg(help = files::all_formats())]
    data: PathBuf,
    #[arg(help = format!("The new file: {}", files::all_formats()))]
    out: PathBuf,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct ConvertOutput<'a> {
    data: &'a Path,
    out: &'a Path,
    n_inputs: usize,
    n_features: usize,
    /// Options with which to read it.
    options: Option<String>,
}

pub(super) fn run(args: ConvertArgs, global: &Global, report: Report) -> Result<ExitCode> {
    CommandFiles::default().reads([&args.data]).writes([&args.out], OutputKind::General).check(global)?;
    kinfolk_io::format_of(&args.out).map_err(Failure::usage)?;
    let data = DataFiles::find(std::slice::from_ref(&args.data))?;
    Need::rows(&data, &args.columns.columns(), "convert its parts one by one")
        .check()
        .map_err(|failure| failure.about(&args.data))?;
    let (table, schema) = kinfolk_io::read_all(data.paths(), &args.columns.columns(), None)?;
    schema.notes().iter().for_each(|note| report.note(note));
    interrupt::will_write(&args.out);
    kinfolk_io::write_table(&table, &args.out).map_err(Failure::output)?;
    let (n_inputs, n_features) = (table.inputs.n_inputs(), table.inputs.n_features());
    let options = super::how_to_read(&table, &args.out);
    let output = ConvertOutput { data: &args.data, out: &args.out, n_inputs, n_features, options };
    report.done(&output, super::written(&table, &args.out))?;
    Ok(ExitCode::SUCCESS)
}
