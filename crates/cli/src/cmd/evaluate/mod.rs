//! `kinfolk evaluate`: how good are the predictions of a model?

mod classes;
mod importance;
mod per_task;

use crate::args::{ColumnArgs, Global, NewRowArgs};
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::limits::Need;
use crate::recheck::recheck;
use crate::report::Report;
use crate::scores::about_probabilities;
use crate::{chunks, interrupt, training};
use clap::Args;
use kinfolk::CertifyOptions;
use kinfolk_io::{LabelEncoding, Table};
use kinfolk_report::Recheck;
use kinfolk_train::{Metric, Trained};
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk evaluate school.safetensors school.csv
  kinfolk evaluate school.safetensors school.csv --interval 0.9
  kinfolk evaluate school.safetensors school.csv --importance
  kinfolk evaluate digits.safetensors digits.npz --top 1,2,3 --json";

/// Score the predictions of a model, task by task and on average.
///
/// Two-valued labels: AUC, PR-AUC (average precision), accuracy, balanced accuracy and F1 (macro), and for the
/// logistic loss log-loss and Brier score. Numbers: R2 (1 - SSE / SST around the task's own mean), explained variance
/// (the same without the mean error), RMSE, NRMSE (RMSE over the standard deviation of the task's labels) and mean
/// absolute error. Classes: accuracy and top-k. A score that does not exist for a task, such as the AUC of one class,
/// is left out of the mean and counted. Of all rows together, R2, explained variance and NRMSE are in units of each
/// task's variance, and a task of n rows counts as n - 3: its variance is not known exactly.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_args = ColumnArgs::hide_options_of_fits)]
pub(crate) struct EvaluateArgs {
    /// A model that fit wrote.
    model: PathBuf,
    /// Data with labels.
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true, value_parser = crate::args::part)]
    split: Option<i64>,
    /// For classes: the right one among the k with the highest scores.
    #[arg(long, value_name = "K,...", value_delimiter = ',', default_value = "1,5",
          value_parser = clap::value_parser!(u32).range(1..))]
    top: Vec<u32>,
    /// Use the weights of the rows.
    #[arg(long)]
    weighted: bool,
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', help = format!(
        "Only these scores, of those of select: {} [default: all that suit the labels]", Metric::names().join(", ")
    ))]
    metric: Vec<Metric>,
    /// For numbers: also how many labels the intervals of this level hold, as predict --interval gives them.
    #[arg(long, value_name = "LEVEL", value_parser = super::predict::level)]
    interval: Option<f64>,
    /// What drives the predictions: by how much the score falls when a column is shuffled. All features that a column
    /// became are shuffled together, over all rows. For any kernel.
    #[arg(long, conflicts_with_all = ["interval", "weighted"])]
    importance: bool,
    /// How often each column is shuffled.
    #[arg(long, value_name = "N", default_value_t = 5, requires = "importance",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    shuffles: u32,
    /// Importance also for each task.
    #[arg(long, requires = "importance")]
    by_task: bool,
    #[command(flatten)]
    new_rows: NewRowArgs,
    #[command(flatten)]
    columns: ColumnArgs,
}

pub(crate) fn run(args: EvaluateArgs, global: &Global, report: Report) -> Result<ExitCode> {
    let trained = crate::files::load_model(&args.model)?;
    let data = DataFiles::find(&args.data)?;
    if args.importance {
        let code = importance::run(&args, &data, &trained, global, report)?;
        // Nobody waits for it after Ctrl-C.
        if !interrupt::asked() {
            args.note_training_data(&data, &trained, global, report)?;
        }
        return Ok(code);
    }
    match trained.schema.label_encoding {
        LabelEncoding::Classes if args.metric.is_empty() && args.interval.is_none() => {
            classes::run(&args, &data, &trained, report)?
        }
        _ => {
            per_task::run(&args, &data, &trained, report)?;
            about_probabilities(&trained).into_iter().for_each(|note| report.note(note));
        }
    }
    args.note_training_data(&data, &trained, global, report)?;
    Ok(ExitCode::SUCCESS)
}

impl EvaluateArgs {
    /// Says if the model was fitted to these rows, whose scores are then too good.
    fn note_training_data(
        &self,
        data: &DataFiles,
        trained: &Trained,
        global: &Global,
        report: Report,
    ) -> Result<()> {
        // Standard input can be read only once.
        let is_all = self.split.is_none() && trained.spec.split.is_some();
        if (self.split != trained.spec.split && !is_all)
            || data.paths().iter().any(|path| path.as_os_str() == "-")
        {
            return Ok(());
        }
        // Scores come from chunks of rows; only this would need all of them at once.
        if Need::rows(data, &trained.spec.columns, "").check().is_err() {
            return Ok(());
        }
        let options = CertifyOptions { threads: global.threads(), ..CertifyOptions::default() };
        if let Recheck::Agrees(_) = recheck(trained, data.paths(), &self.columns.for_model()?, &options)? {
            report.note(match is_all {
                true => "the model was fitted to some of these rows: --split takes the others",
                false => "the model was fitted to these rows: expect less on new ones",
            });
        }
        Ok(())
    }

    /// Calls `visit` with all rows of the part, chunk by chunk, and how many came before; how many there were.
    fn for_each_chunk(
        &self,
        data: &DataFiles,
        trained: &Trained,
        report: Report,
        mut visit: impl FnMut(&Table, usize) -> Result<()>,
    ) -> Result<usize> {
        let mut source = trained.open(data.paths(), &self.new_rows.roles(&self.columns)?)?;
        let mut rows = 0;
        chunks::for_each(&mut *source, |table| {
            if self.weighted && table.weight.is_none() {
                let why = "--weighted: these rows have no weights; --weight COL names their column";
                return Err(Failure::usage(why).about(data.first()));
            }
            let Some(table) =
                training::part_of_chunk(table, self.split).map_err(|f| f.about(data.first()))?
            else {
                return Ok(());
            };
            visit(&table, rows)?;
            rows += table.n_rows();
            Ok(())
        })?;
        source.remarks().iter().for_each(|remark| report.note(remark));
        match (rows, self.split) {
            (0, Some(part)) => {
                let part = kinfolk_io::part_in_words(part);
                Err(Failure::input(format!("there are no rows of part {part}")).about(data.first()))
            }
            (0, None) => Err(Failure::input("there are no rows").about(data.first())),
            _ => Ok(rows),
        }
    }
}
