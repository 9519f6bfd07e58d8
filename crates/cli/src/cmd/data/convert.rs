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

/// Write the same data in another format, by the ending of its name: a model fitted on it is the same. Columns keep
/// their names.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConvertArgs {
    #[arg(help = files::all_formats())]
    data: PathBuf,
    #[arg(value_name = "OUT", required_unless_present = "to",
          help = format!("The new file: {}", files::all_formats()))]
    out: Option<PathBuf>,
    /// The new file, as in other commands.
    #[arg(short = 'o', long = "out", value_name = "OUT", conflicts_with = "out")]
    to: Option<PathBuf>,
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
    // One of them is there, or the options would have been refused.
    let out = args.out.or(args.to).ok_or_else(|| Failure::usage("-o says what to write"))?;
    CommandFiles::default().reads([&args.data]).writes([&out], OutputKind::General).check(global)?;
    kinfolk_io::format_of(&out).map_err(Failure::usage)?;
    let data = DataFiles::find(std::slice::from_ref(&args.data))?;
    Need::rows(&data, &args.columns.columns(), "convert its parts one by one")
        .check()
        .map_err(|failure| failure.about(&args.data))?;
    let (table, schema) = kinfolk_io::read_all(data.paths(), &args.columns.columns(), None)?;
    schema.notes().iter().for_each(|note| report.note(note));
    let format = kinfolk_io::format_of(&out).map_err(Failure::usage)?;
    Need::new_file(&table.inputs, format).check().map_err(|failure| failure.about(&args.data))?;
    interrupt::will_write(&out);
    kinfolk_io::write_table_as(&table, &out, &schema.columns).map_err(Failure::output)?;
    let (n_inputs, n_features) = (table.inputs.n_inputs(), table.inputs.n_features());
    let options = super::how_to_read(&table, &out, &schema.columns);
    let output = ConvertOutput { data: &args.data, out: &out, n_inputs, n_features, options };
    report.done(&output, super::written(&table, &out, &schema.columns))?;
    Ok(ExitCode::SUCCESS)
}
