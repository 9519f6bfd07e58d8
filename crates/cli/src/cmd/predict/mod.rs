//! `kinfolk predict`: scores of a model for new rows, however many.

mod columns;
mod writer;

use crate::args::{ColumnArgs, Global, NewRowArgs, task_column};
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result, argument};
use crate::outputs::{CommandFiles, OutputKind};
use crate::report::Report;
use crate::scores::{
    Chunk, about_probabilities, meant, places_of_tasks, relations_without, rows_of_unknown_tasks, strangers,
};
use crate::text::{number, plural};
use crate::{chunks, files, training};
use clap::Args;
use columns::OutputColumns;
pub(crate) use columns::half_widths;
use kinfolk_io::{ColumnRoles, Decimal, Table};
use kinfolk_train::{FarOffRows, Trained, Weight};
use serde::Serialize;
use std::collections::BTreeMap;
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
#[command(after_help = EXAMPLES, mut_args = ColumnArgs::hide_options_of_fits)]
pub(crate) struct PredictArgs {
    /// A model that fit wrote.
    model: PathBuf,
    /// Rows to predict for, read as the data of the fit were; labels are not needed.
    #[arg(required = true)]
    data: Vec<PathBuf>,
    #[arg(short, long, value_name = "FILE", help = out_help())]
    out: Option<PathBuf>,
    /// Also the label or class of each score; that is the default for classes.
    #[arg(long)]
    labels: bool,
    /// Probabilities instead of scores, for models with the logistic loss: of the positive label, or of each class.
    #[arg(long)]
    proba: bool,
    /// Also an interval that holds the label with this probability, such as 0.9, for numbers: columns low and high. Its
    /// width comes from rows that were held out when C was chosen, by fit or select, or by fit --interval-folds; for
    /// tasks without training rows, from whole tasks that fit --interval-new-tasks held out.
    #[arg(long, value_name = "LEVEL", conflicts_with = "proba", value_parser = level)]
    interval: Option<f64>,
    /// Only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true, value_parser = crate::args::part)]
    split: Option<i64>,
    #[command(flatten)]
    new_rows: NewRowArgs,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct PredictOutput<'a> {
    model: &'a Path,
    data: &'a DataFiles,
    out: &'a Path,
    n_inputs: usize,
    columns: &'a [String],
}

/// What `--out` says.
fn out_help() -> String {
    let formats = kinfolk_io::output_format_names(|format| format.writes_columns());
    format!("Where to write, by its ending: {formats} (npy: scores alone) [default: csv to stdout]")
}

/// Tasks that a note names.
const MAX_NAMED: usize = 8;

/// What to predict.
struct PredictJob<'a> {
    data: &'a DataFiles,
    columns: &'a ColumnArgs,
    new_rows: &'a NewRowArgs,
    wanted: WantedColumns,
    split: Option<i64>,
    report: Report,
}

/// What is to be written for a row.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct WantedColumns {
    labels: bool,
    /// Whether there is room for scores alone.
    scores_alone: bool,
    proba: bool,
    interval: Option<f64>,
}

/// A probability.
pub(crate) fn level(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("it is a number between 0 and 1, such as 0.9".into()),
    }
}

pub(crate) fn run(mut args: PredictArgs, global: &Global, report: Report) -> Result<ExitCode> {
    // Standard output, as other programs name it.
    args.out = args.out.filter(|out| out.as_os_str() != "-");
    if report.json && args.out.is_none() {
        return Err(Failure::usage("--json needs -o FILE: scores and the object cannot both go to stdout"));
    }
    let data = DataFiles::find(&args.data)?;
    CommandFiles::default()
        .reads([&args.model])
        .reads(data.paths())
        .reads(args.new_rows.files())
        .writes(&args.out, OutputKind::General)
        .check(global)?;
    if let Some(out) = &args.out {
        writer::check_format(out)?;
    }
    let trained = files::load_model(&args.model)?;
    let has_names = |path: &PathBuf| kinfolk_io::format_of(path).is_ok_and(|format| format.has_named_columns);
    let wanted = WantedColumns {
        labels: args.labels,
        scores_alone: args.out.as_ref().is_some_and(|out| !has_names(out)),
        proba: args.proba,
        interval: args.interval,
    };
    let job = PredictJob {
        data: &data,
        columns: &args.columns,
        new_rows: &args.new_rows,
        wanted,
        split: args.split,
        report,
    };
    // Numbers in other formats than text have no decimal sign.
    let is_text = |out: &PathBuf| kinfolk_io::format_of(out).is_ok_and(|format| format.is_csv());
    let decimal =
        args.columns.decimal().filter(|_| args.out.as_ref().is_none_or(is_text)).unwrap_or_default();
    let is_csv = args.out.as_ref().is_none_or(is_text);
    let is_comma = trained.schema.columns.decimal == Some(Decimal::Comma);
    let note_sign = || {
        if is_csv && is_comma && args.columns.decimal().is_none() {
            report.note("the data have decimal commas, predictions have points; --decimal , writes commas");
        }
    };
    let Some(out) = &args.out else {
        job.run(&trained, |columns| PredictionWriter::stdout(columns, decimal))?;
        note_sign();
        return Ok(ExitCode::SUCCESS);
    };
    let (n_inputs, columns) = job.run(&trained, |columns| PredictionWriter::file(out, columns, decimal))?;
    note_sign();
    let output = PredictOutput { model: &args.model, data: &data, out, n_inputs, columns: &columns };
    report.done(&output, format!("predictions for {} in {}\n", plural(n_inputs, "row"), out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Scores of all rows of a file, for the tasks that its rows say.
pub(crate) fn to_file(trained: &Trained, data: &Path, out: &Path, report: Report) -> Result<()> {
    let data = DataFiles::find(&[data.to_path_buf()])?;
    let columns = ColumnArgs::default();
    let (new_rows, wanted) = (NewRowArgs::default(), WantedColumns::default());
    let job = PredictJob { data: &data, columns: &columns, new_rows: &new_rows, wanted, split: None, report };
    job.run(trained, |columns| PredictionWriter::file(out, columns, Decimal::Point)).map(drop)
}

impl PredictJob<'_> {
    /// Says which columns the fit wanted to be carried along and these rows lack.
    fn note_lost_columns(&self, trained: &Trained, table: &Table) {
        if !self.columns.columns().keep.is_empty() {
            return;
        }
        let is_there = |name: &&String| table.kept.iter().any(|column| column.name == **name);
        for name in trained.schema.columns.keep.iter().filter(|name| !is_there(name)) {
            self.report.note(format!("no column {name:?} to carry along"));
        }
    }

    /// Says which tasks were not there in training, as a name may be misspelt.
    fn note_strangers(&self, trained: &Trained, strangers: &BTreeMap<String, usize>) {
        let named = strangers.iter().take(MAX_NAMED).map(|(name, rows)| {
            let meant =
                meant(name, trained.model.tasks()).map_or(String::new(), |meant| format!("; {meant}"));
            format!("{name:?} ({}{meant})", plural(*rows, "row"))
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let more = strangers.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.report
            .note(format!("not there in training, and predicted as --unknown-task says: {named}{more}"));
    }

    /// Says which relations of the model do not name a new task.
    fn note_half_known(&self, without: &BTreeMap<String, Vec<String>>) {
        let named = without.iter().take(MAX_NAMED);
        let named = named.map(|(task, relations)| format!("{task:?} ({})", relations.join(", ")));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = without.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        self.report.note(format!(
            "new tasks, each with the relations of the model that do not name it (--atom may be repeated): \
             {named}{more}"
        ));
    }

    /// Says that the offsets of the fit are not known for these rows.
    fn note_lost_offset(&self, trained: &Trained, table: &Table) {
        let Some(name) = trained.schema.columns.offset.as_ref().filter(|_| table.offset.is_none()) else {
            return;
        };
        self.report.note(format!(
            "no column {name:?}, the offset of the fit: predictions are for offset 0 (--offset names another column)"
        ));
    }

    /// Predicts chunk by chunk; how many rows, and the names of the columns written.
    fn run(
        &self,
        trained: &Trained,
        open: impl FnOnce(&OutputColumns) -> Result<PredictionWriter>,
    ) -> Result<(usize, Vec<String>)> {
        let roles = ColumnRoles { keep_rows: true, ..self.new_rows.roles(self.columns)? };
        let mut source = trained.open(self.data.paths(), &roles)?;
        let task_column = task_column(self.columns, trained);
        let atoms = self.new_rows.atoms(self.columns, trained)?;
        let (new_tasks, unknown) = (trained.new_tasks(&atoms)?, self.new_rows.unknown_task);
        let (mut open, mut out, mut rows, mut without_interval) = (Some(open), None, 0, 0);
        let (mut unrelated, mut has_new_tasks) = (BTreeMap::<String, usize>::new(), false);
        let mut without_relation: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut far_off = trained.outcome.ranges.as_ref().map(FarOffRows::new);
        chunks::for_each(&mut *source, |table| {
            let Some(table) =
                training::part_of_chunk(table, self.split).map_err(|f| f.about(self.data.first()))?
            else {
                return Ok(());
            };
            if let Some(open) = open.take() {
                self.note_lost_columns(trained, &table);
                self.note_lost_offset(trained, &table);
                let columns = OutputColumns::new(trained, &table, &self.wanted, unknown)?;
                out = Some((open(&columns)?, columns));
            }
            let Some((writer, columns)) = &mut out else { return Ok(()) };
            let task_column = task_column.as_deref();
            let chunk = Chunk { table: &table, path: self.data.first(), first_row: rows, task_column };
            writer.append(columns.fill(trained, &new_tasks, &chunk, unknown)?)?;
            rows += table.n_rows();
            let tasks = places_of_tasks(&table, &trained.model);
            far_off.iter_mut().for_each(|far_off| {
                far_off.add(&table.inputs);
                far_off.add_tasks(&table.inputs, &tasks);
            });
            without_interval += columns.rows_without_interval(trained, &table);
            for (name, rows) in rows_of_unknown_tasks(&table, &trained.model, &new_tasks)? {
                *unrelated.entry(name).or_default() += rows;
            }
            has_new_tasks |= !strangers(&table, &trained.model).is_empty();
            without_relation.append(&mut relations_without(&table, &trained.model, &new_tasks)?);
            Ok(())
        })?;
        source.remarks().iter().for_each(|remark| self.report.note(remark));
        if !unrelated.is_empty() {
            self.note_strangers(trained, &unrelated);
        }
        if !without_relation.is_empty() {
            self.note_half_known(&without_relation);
        }
        if let Some(factor) = new_tasks.factor_of_units().filter(|_| has_new_tasks) {
            self.report.note(format!(
                "labels of the tasks in training have spreads that differ by a factor of {}: predictions for new tasks \
                 are in a mean unit, which may not be theirs",
                number(factor, 2)
            ));
        }
        let beyond = new_tasks.beyond_model();
        let has_all = out.as_ref().is_some_and(|(_, columns)| columns.are_all_tasks());
        if has_all && !beyond.is_empty() {
            let named =
                beyond.iter().take(MAX_NAMED).map(|task| format!("{task:?}")).collect::<Vec<_>>().join(", ");
            let more = if beyond.len() > MAX_NAMED { ", ..." } else { "" };
            self.report.note(format!(
                "not predicted, since each row has a score for the tasks of the model alone: {named}{more}; for other \
                 tasks add a column with the name of the task to the rows, and name it with --task COLUMN"
            ));
        }
        if let Some((_, columns)) = &out {
            columns.renamed().into_iter().for_each(|said| self.report.note(said));
        }
        if let Some(note) = about_probabilities(trained).filter(|_| self.wanted.proba) {
            self.report.note(note);
        }
        if let Some(value) = trained.schema.label_encoding.positive_value().filter(|_| self.wanted.proba) {
            self.report.note(format!(
                "probabilities are those of {value:?} (fit --positive VALUE takes the other value)"
            ));
        }
        if let Some(name) = source.could_be_kept().first() {
            let name = argument(name);
            self.report.note(format!(
                "predictions are in the order of the rows; --keep {name} carries that column along"
            ));
        }
        if let Some(far_off) = far_off {
            let narrow = far_off.narrow_note(&trained.schema, trained.model.tasks());
            let notes = far_off.note(&trained.schema, None).into_iter().chain(narrow);
            notes.for_each(|note| self.report.note(note));
        }
        if without_interval > 0 {
            self.report.note(format!(
                "{} without interval: {}",
                plural(without_interval, "prediction"),
                match trained.outcome.residuals {
                    Some(_) if trained.schema.columns.target.len() > 1 => {
                        "nothing is known about errors for tasks without training rows"
                    }
                    Some(_) => {
                        "nothing is known about errors for tasks without training rows (fit --interval-new-tasks \
                         measures them)"
                    }
                    // Models of select have the C that it chose.
                    None if trained.spec.interval_new_tasks && trained.spec.c != Weight::Auto => {
                        "errors were measured for tasks without training rows alone (fit --interval-folds K measures \
                         those of the others)"
                    }
                    None => {
                        "whole tasks were held out when C was chosen, so errors are known for tasks without training \
                         rows alone"
                    }
                }
            ));
        }
        match out {
            Some((writer, columns)) => {
                writer.finish()?;
                Ok((rows, columns.names()))
            }
            None => Err(Failure::input("there are no rows").about(self.data.first())),
        }
    }
}
