//! `kinfolk report`: reads the files, and writes the page that [`kinfolk_report::render`] makes of them.

mod data_check;

use crate::args::{ColumnArgs, Global, NewRowArgs};
use crate::failure::{Failure, Result};
use crate::outputs::{CommandFiles, OutputKind, check_ending};
use crate::report::Report;
use crate::{files, text, trace};
use clap::Args;
use kinfolk::{CertificateSummary, Model};
use kinfolk_report::{MadeBy, ReportInputs, render};
use kinfolk_train::Trained;
use kinfolk_train::select::SelectionResults;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk report school.safetensors
  kinfolk report school.safetensors school.csv -o school.html
  kinfolk report mines.safetensors mines.npz --trace mines-trace.csv -o mines.html
  kinfolk report best.safetensors mines.npz --select mines.json -o best.html";

/// Write an HTML report: which tasks are related, whether joint learning helped, and how far from optimal the model is.
///
/// One HTML file that loads nothing from the network. With data, it shows scores of each task, and recomputes the
/// certificate if they are the data of the fit. With the results of `kinfolk select --compare --results FILE`, it shows
/// which tasks gained by joint learning, and the path over C. Sections without data say how to get them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_args = ColumnArgs::hide_options_of_fits)]
pub(crate) struct ReportArgs {
    /// A model that fit or select wrote.
    model: PathBuf,
    /// Data with labels: those of the fit, new ones, or both.
    data: Vec<PathBuf>,
    /// Where to write the page.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// The results of `kinfolk select --results FILE`.
    #[arg(long, value_name = "RESULTS")]
    select: Option<PathBuf>,
    /// The trace of `kinfolk fit --trace FILE`.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Score only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true, value_parser = crate::args::part)]
    split: Option<i64>,
    /// Memory for kernel matrices.
    #[arg(long, value_name = "SIZE", default_value = "4GB", value_parser = crate::args::bytes)]
    memory: u64,
    #[command(flatten)]
    new_rows: NewRowArgs,
    #[command(flatten)]
    columns: ColumnArgs,
}

/// The files that a page is made from, and how to read them.
pub(crate) struct ReportFiles<'a> {
    pub(crate) model: &'a Path,
    pub(crate) data: &'a [PathBuf],
    pub(crate) select: Option<&'a Path>,
    pub(crate) trace: Option<&'a Path>,
    pub(crate) split: Option<i64>,
    pub(crate) memory: u64,
    pub(crate) columns: &'a ColumnArgs,
    pub(crate) new_rows: &'a NewRowArgs,
}

/// The answer with `--json`.
#[derive(Serialize)]
struct ReportAnswer<'a> {
    report: &'a Path,
    model: &'a Path,
    n_tasks: usize,
    #[serde(flatten)]
    certificate: CertificateSummary,
    bytes: usize,
}

pub(crate) fn run(args: ReportArgs, global: &Global, report: Report) -> Result<ExitCode> {
    CommandFiles::default()
        .reads([&args.model])
        .reads(&args.data)
        .reads(&args.select)
        .reads(&args.trace)
        .reads(args.new_rows.files())
        .writes([&args.out], OutputKind::Report)
        .check(global)?;
    check_ending(&args.out, "report", &["html", "htm"])?;
    let files = ReportFiles {
        model: &args.model,
        data: &args.data,
        select: args.select.as_deref(),
        trace: args.trace.as_deref(),
        split: args.split,
        memory: args.memory,
        columns: &args.columns,
        new_rows: &args.new_rows,
    };
    let model = LoadedModel::read(&files)?;
    let html = page(&model, &files, global)?;
    files::write(&args.out, html.as_bytes())?;
    let n_tasks = model.model().tasks().len();
    let answer = ReportAnswer {
        report: &args.out,
        model: &args.model,
        n_tasks,
        certificate: model.model().summary(),
        bytes: html.len(),
    };
    let text = format!("report of {} in {}\n", text::plural(n_tasks, "task"), args.out.display());
    report.done(&answer, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page, for another command.
pub(crate) fn to_file(sources: &ReportFiles<'_>, global: &Global, out: &Path) -> Result<()> {
    files::write(out, page(&LoadedModel::read(sources)?, sources, global)?.as_bytes())
}

/// Reads the other files and makes the page.
fn page(loaded: &LoadedModel, files: &ReportFiles<'_>, global: &Global) -> Result<String> {
    let model = loaded.model();
    let selection = files.select.map(|path| selection(path, model)).transpose()?;
    let trace = match files.trace {
        Some(path) => trace::read(path)?,
        None => selection.as_ref().map_or(vec![], |selection| selection.trace(model)),
    };
    let metric = selection.as_ref().map(|selection| selection.metric);
    let checks = |trained| {
        let tables = data_check::tables(trained, files, global)?;
        tables.iter().map(|rows| data_check::check(trained, rows, files, metric, global)).collect()
    };
    let data = loaded.trained().map_or(Ok(vec![]), checks)?;
    let inputs = ReportInputs {
        model,
        made_by: MadeBy::Command { model: files.model },
        spec: loaded.trained().map(|trained| &trained.spec),
        auto_c: loaded.trained().and_then(|trained| trained.outcome.auto_c.as_ref()),
        score: loaded.trained().and_then(|trained| trained.outcome.score_in_words()),
        data,
        selection: selection.as_ref(),
        trace,
    };
    render(&inputs).map_err(Failure::output)
}

/// A model; if this command fitted it, with how its data were read.
enum LoadedModel {
    Trained(Box<Trained>),
    /// A model of another program: it has a Theta and a certificate, but does not say how to read its data.
    Bare(Box<Model>),
}

impl LoadedModel {
    fn read(files: &ReportFiles<'_>) -> Result<Self> {
        let model = files::load_any_model(files.model)?;
        if model.tasks().is_empty() {
            return Err(Failure::input("the model has no tasks").about(files.model));
        }
        let bare = model.attachments().next().is_none() && files.data.is_empty();
        Ok(match bare {
            true => LoadedModel::Bare(Box::new(model)),
            false => LoadedModel::Trained(Box::new(files::trained(files.model, model)?)),
        })
    }

    fn model(&self) -> &Model {
        match self {
            LoadedModel::Trained(trained) => &trained.model,
            LoadedModel::Bare(model) => model,
        }
    }

    fn trained(&self) -> Option<&Trained> {
        match self {
            LoadedModel::Trained(trained) => Some(trained),
            LoadedModel::Bare(_) => None,
        }
    }
}

fn selection(path: &Path, model: &Model) -> Result<SelectionResults> {
    SelectionResults::parse(&files::read_text(path)?, model)
        .map_err(|error| Failure::input(error).about(path))
}
