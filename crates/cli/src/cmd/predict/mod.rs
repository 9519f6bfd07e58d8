//! `kinfolk predict`: scores of a model for new rows, however many.

mod columns;
mod sink;

use crate::args::{ColumnArgs, Global};
use crate::failure::{Failure, Result};
use crate::fitted::Fitted;
use crate::report::Report;
use crate::scores::{Chunk, UnknownTask};
use crate::text::plural;
use crate::{chunks, files, training};
use clap::Args;
use columns::Layout;
use kinfolk_io::Format;
use serde::Serialize;
use sink::Sink;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk predict school.safetensors school.csv -o scores.csv
  kinfolk predict digits.safetensors digits.npz --labels -o digits.parquet
  kinfolk predict mines.safetensors mines.npz --unknown-task mean --quiet";

/// Write the scores of a model for new rows.
///
/// Rows that say their task get one score, for that task; others a column of scores for every task. Files larger than
/// memory are read and written in chunks.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PredictArgs {
    /// A model that fit wrote.
    model: PathBuf,
    /// Rows to predict for, read as the data of the fit were; labels are not needed.
    data: PathBuf,
    /// Where to write, by its ending: csv, npy (scores alone) or parquet [default: csv to stdout].
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Also the label or class of each score.
    #[arg(long)]
    labels: bool,
    /// What to predict for tasks that the model does not know [default: that is an error].
    #[arg(long, value_enum)]
    unknown_task: Option<UnknownTask>,
    /// Only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true)]
    split: Option<i64>,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct Said<'a> {
    model: &'a Path,
    data: &'a Path,
    out: &'a Path,
    n_inputs: usize,
    columns: &'a [String],
}

/// What to predict.
struct Wish<'a> {
    data: &'a Path,
    columns: &'a ColumnArgs,
    labels: bool,
    unknown: Option<UnknownTask>,
    split: Option<i64>,
}

pub(crate) fn run(args: PredictArgs, _: &Global, report: Report) -> Result<ExitCode> {
    if report.json && args.out.is_none() {
        return Err(Failure::usage("--json needs -o FILE: scores and the object cannot both go to stdout"));
    }
    let fitted = Fitted::load(&args.model)?;
    let wish = Wish {
        data: &args.data,
        columns: &args.columns,
        labels: args.labels,
        unknown: args.unknown_task,
        split: args.split,
    };
    let Some(out) = &args.out else {
        wish.grant(&fitted, Sink::stdout)?;
        return Ok(ExitCode::SUCCESS);
    };
    files::check_writable(out)?;
    Format::of(out).map_err(Failure::usage)?;
    let (n_inputs, columns) = wish.grant(&fitted, |layout| Sink::file(out, layout))?;
    let said = Said { model: &args.model, data: &args.data, out, n_inputs, columns: &columns };
    report.done(&said, format!("predictions for {} in {}\n", plural(n_inputs, "row"), out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Scores of all rows of a file, for the tasks that its rows say.
pub(crate) fn to_file(fitted: &Fitted, data: &Path, out: &Path) -> Result<()> {
    let columns = ColumnArgs::default();
    let wish = Wish { data, columns: &columns, labels: false, unknown: None, split: None };
    wish.grant(fitted, |layout| Sink::file(out, layout)).map(drop)
}

impl Wish<'_> {
    /// Predicts chunk by chunk; how many rows, and the names of the columns written.
    fn grant(
        &self,
        fitted: &Fitted,
        open: impl FnOnce(&Layout) -> Result<Sink>,
    ) -> Result<(usize, Vec<String>)> {
        let mut source = fitted.open(self.data, self.columns)?;
        let task_column = self.columns.columns().task.or_else(|| fitted.recipe.columns.task.clone());
        let (mut open, mut out, mut rows) = (Some(open), None, 0);
        chunks::for_each(&mut *source, |table| {
            let Some(table) = training::part_of_chunk(table, self.split).map_err(|f| f.about(self.data))?
            else {
                return Ok(());
            };
            if let Some(open) = open.take() {
                let layout = Layout::new(fitted, &table, self.labels, self.unknown)?;
                out = Some((open(&layout)?, layout));
            }
            let Some((sink, layout)) = &mut out else { return Ok(()) };
            let task_column = task_column.as_deref();
            let chunk = Chunk { table: &table, path: self.data, first_row: rows, task_column };
            sink.append(&layout.fill(fitted, &chunk, self.unknown)?)?;
            rows += table.n_rows();
            Ok(())
        })?;
        match out {
            Some((sink, layout)) => {
                sink.finish()?;
                Ok((rows, layout.names()))
            }
            None => Err(Failure::input("there are no rows").about(self.data)),
        }
    }
}
