//! `kinfolk predict`: scores of a model for new rows, however many.

mod columns;
mod writer;

use crate::args::{ColumnArgs, Global};
use crate::failure::{Failure, Result};
use crate::outputs::{CommandFiles, OutputKind};
use crate::report::Report;
use crate::scores::{Chunk, UnknownTask};
use crate::text::plural;
use crate::{chunks, files, training};
use clap::Args;
use columns::OutputColumns;
use kinfolk_train::{AtomSetting, Trained};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use writer::PredictionWriter;

const EXAMPLES: &str = "\
Examples:
  kinfolk predict school.safetensors school.csv -o scores.csv
  kinfolk predict digits.safetensors digits.npz --labels -o digits.parquet
  kinfolk predict d.st school.csv --atom groups=districts.csv:district
  kinfolk predict mines.safetensors mines.npz --unknown-task mean --quiet";

/// Write the scores of a model for new rows.
///
/// Rows with a task get one score, for that task; others get a column of scores for every task. Files
/// larger than memory are read and written in chunks.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PredictArgs {
    /// A model that fit wrote.
    model: PathBuf,
    /// Rows to predict for, read as the data of the fit were; labels are not needed.
    data: PathBuf,
    #[arg(short, long, value_name = "FILE", help = out_help())]
    out: Option<PathBuf>,
    /// Also the label or class of each score.
    #[arg(long)]
    labels: bool,
    /// What to predict for tasks that the model does not know, or that had no labels in training, and that no atom
    /// relates to others.
    #[arg(long, value_enum, default_value = "error")]
    unknown_task: UnknownTask,
    /// Tasks that were not known at the fit, for an atom of the model, in a file like that of the fit. May be repeated.
    #[arg(long = "atom", value_name = "KIND=FILE")]
    atoms: Vec<AtomSetting>,
    /// Only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true)]
    split: Option<i64>,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct PredictOutput<'a> {
    model: &'a Path,
    data: &'a Path,
    out: &'a Path,
    n_inputs: usize,
    columns: &'a [String],
}

/// What `--out` says.
fn out_help() -> String {
    let formats = kinfolk_io::format_names(|format| format.writes_columns());
    format!("Where to write, by its ending: {formats} (npy: scores alone) [default: csv to stdout]")
}

/// What to predict.
struct PredictJob<'a> {
    data: &'a Path,
    columns: &'a ColumnArgs,
    atoms: &'a [AtomSetting],
    labels: bool,
    unknown: UnknownTask,
    split: Option<i64>,
}

pub(crate) fn run(args: PredictArgs, global: &Global, report: Report) -> Result<ExitCode> {
    if report.json && args.out.is_none() {
        return Err(Failure::usage("--json needs -o FILE: scores and the object cannot both go to stdout"));
    }
    let atom_files: Vec<&PathBuf> = args.atoms.iter().filter_map(|atom| atom.file.as_ref()).collect();
    CommandFiles::default()
        .reads([&args.model, &args.data])
        .reads(atom_files)
        .writes(&args.out, OutputKind::General)
        .check(global)?;
    if let Some(out) = &args.out {
        writer::check_format(out)?;
    }
    let trained = files::load_model(&args.model)?;
    let job = PredictJob {
        data: &args.data,
        columns: &args.columns,
        atoms: &args.atoms,
        labels: args.labels,
        unknown: args.unknown_task,
        split: args.split,
    };
    let Some(out) = &args.out else {
        job.run(&trained, PredictionWriter::stdout)?;
        return Ok(ExitCode::SUCCESS);
    };
    let (n_inputs, columns) = job.run(&trained, |columns| PredictionWriter::file(out, columns))?;
    let output = PredictOutput { model: &args.model, data: &args.data, out, n_inputs, columns: &columns };
    report.done(&output, format!("predictions for {} in {}\n", plural(n_inputs, "row"), out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Scores of all rows of a file, for the tasks that its rows say.
pub(crate) fn to_file(trained: &Trained, data: &Path, out: &Path) -> Result<()> {
    let columns = ColumnArgs::default();
    let unknown = UnknownTask::Error;
    let job = PredictJob { data, columns: &columns, atoms: &[], labels: false, unknown, split: None };
    job.run(trained, |columns| PredictionWriter::file(out, columns)).map(drop)
}

impl PredictJob<'_> {
    /// Predicts chunk by chunk; how many rows, and the names of the columns written.
    fn run(
        &self,
        trained: &Trained,
        open: impl FnOnce(&OutputColumns) -> Result<PredictionWriter>,
    ) -> Result<(usize, Vec<String>)> {
        let mut source = trained.open(self.data, &self.columns.columns())?;
        let task_column = self.columns.columns().task.or_else(|| trained.schema.columns.task.clone());
        let read = |atom: &AtomSetting| atom.with_file_read(task_column.as_deref());
        let atoms = self.atoms.iter().map(read).collect::<kinfolk_train::Result<Vec<_>>>()?;
        let new_tasks = trained.new_tasks(&atoms)?;
        let (mut open, mut out, mut rows) = (Some(open), None, 0);
        chunks::for_each(&mut *source, |table| {
            let Some(table) = training::part_of_chunk(table, self.split).map_err(|f| f.about(self.data))?
            else {
                return Ok(());
            };
            if let Some(open) = open.take() {
                let columns = OutputColumns::new(trained, &table, self.labels, self.unknown)?;
                out = Some((open(&columns)?, columns));
            }
            let Some((writer, columns)) = &mut out else { return Ok(()) };
            let task_column = task_column.as_deref();
            let chunk = Chunk { table: &table, path: self.data, first_row: rows, task_column };
            writer.append(columns.fill(trained, &new_tasks, &chunk, self.unknown)?)?;
            rows += table.n_rows();
            Ok(())
        })?;
        match out {
            Some((writer, columns)) => {
                writer.finish()?;
                Ok((rows, columns.names()))
            }
            None => Err(Failure::input("there are no rows").about(self.data)),
        }
    }
}
