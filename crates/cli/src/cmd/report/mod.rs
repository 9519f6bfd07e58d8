//! `kinfolk report`: a page to look at, in one file that needs nothing else.

mod base64;
mod evidence;
mod facts;
mod gains;
mod kin;
mod page;
mod path;
mod proof;
mod results;
mod tasks;

use crate::args::{ColumnArgs, Global};
use crate::failure::{Failure, Result};
use crate::fitted::Fitted;
use crate::report::Report;
use crate::trace::{self, Step};
use crate::{files, text};
use clap::Args;
use evidence::Evidence;
use kinfolk::{CertificateSummary, Model};
use kinfolk_train::Metric;
use results::Results;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk report school.safetensors
  kinfolk report school.safetensors school.csv -o school.html
  kinfolk report mines.safetensors mines.npz --trace mines-trace.csv -o mines.html
  kinfolk report best.safetensors mines.npz --select mines.json -o best.html";

/// Write a page to look at: who is kin to whom, whether joining helped, and whether to believe it.
///
/// One HTML file that asks nothing of the network. With data there are scores of each task, and the certificate is recomputed if they
/// are those of the fit; with the results of `kinfolk select --compare --results FILE` there is who gained by joining, and the path
/// over C. What is missing is left out, with a word on how to get it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReportArgs {
    /// A model that fit or select wrote.
    model: PathBuf,
    /// Data with labels: those of the fit, new ones, or both.
    data: Vec<PathBuf>,
    /// Where to write the page.
    #[arg(short, long, value_name = "FILE", default_value = "report.html")]
    out: PathBuf,
    /// What `kinfolk select --results FILE` wrote.
    #[arg(long, value_name = "RESULTS")]
    select: Option<PathBuf>,
    /// What `kinfolk fit --trace FILE` wrote.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Score only the rows of this part, by the split column or array.
    #[arg(long, value_name = "PART", allow_negative_numbers = true)]
    split: Option<i64>,
    /// Memory for kernel matrices.
    #[arg(long, value_name = "SIZE", default_value = "4GB", value_parser = crate::args::bytes)]
    memory: u64,
    #[command(flatten)]
    columns: ColumnArgs,
}

/// As people write it.
fn metric_name(metric: Metric) -> &'static str {
    match metric {
        Metric::Auc => "AUC",
        Metric::Accuracy => "accuracy",
        Metric::BalancedAccuracy => "balanced accuracy",
        Metric::LogLoss => "log-loss",
        Metric::ExplainedVariance => "explained variance",
        Metric::Rmse => "RMSE",
        Metric::ClassAccuracy => "class accuracy",
        _ => "score",
    }
}

/// What a page is made of.
pub(crate) struct Sources<'a> {
    pub(crate) model: &'a Path,
    pub(crate) data: &'a [PathBuf],
    pub(crate) select: Option<&'a Path>,
    pub(crate) trace: Option<&'a Path>,
    pub(crate) split: Option<i64>,
    pub(crate) memory: u64,
    pub(crate) columns: &'a ColumnArgs,
}

/// Everything known about a model.
struct Subject {
    fitted: Known,
    evidence: Vec<Evidence>,
    results: Option<Results>,
    trace: Vec<Step>,
}

/// A model, and how its data were read if the command wrote it.
enum Known {
    Fitted(Box<Fitted>),
    Bare(Box<Model>),
}

impl Known {
    fn model(&self) -> &Model {
        match self {
            Known::Fitted(fitted) => &fitted.model,
            Known::Bare(model) => model,
        }
    }

    fn fitted(&self) -> Option<&Fitted> {
        match self {
            Known::Fitted(fitted) => Some(fitted),
            Known::Bare(_) => None,
        }
    }
}

#[derive(Serialize)]
struct Said<'a> {
    report: &'a Path,
    model: &'a Path,
    n_tasks: usize,
    #[serde(flatten)]
    certificate: CertificateSummary,
    bytes: usize,
}

pub(crate) fn run(args: ReportArgs, global: &Global, report: Report) -> Result<ExitCode> {
    files::check_writable(&args.out)?;
    let sources = Sources {
        model: &args.model,
        data: &args.data,
        select: args.select.as_deref(),
        trace: args.trace.as_deref(),
        split: args.split,
        memory: args.memory,
        columns: &args.columns,
    };
    let subject = Subject::read(&sources, global)?;
    let html = page::html(&sources, &subject)?;
    files::write(&args.out, html.as_bytes())?;
    let model = subject.fitted.model();
    let said = Said {
        report: &args.out,
        model: &args.model,
        n_tasks: model.tasks().len(),
        certificate: model.summary(),
        bytes: html.len(),
    };
    let text = format!("report of {} in {}\n", text::plural(said.n_tasks, "task"), args.out.display());
    report.done(&said, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page, for another command.
pub(crate) fn to_file(sources: &Sources<'_>, global: &Global, out: &Path) -> Result<()> {
    let subject = Subject::read(sources, global)?;
    files::write(out, page::html(sources, &subject)?.as_bytes())
}

impl Subject {
    fn read(sources: &Sources<'_>, global: &Global) -> Result<Subject> {
        let model = Model::load(sources.model)?;
        if model.tasks().is_empty() {
            return Err(Failure::input("the model has no tasks").about(sources.model));
        }
        // Models of other programs have a Theta and a certificate, but nobody knows how to read their data.
        let bare = model.attachment("fit").is_none() && sources.data.is_empty();
        let fitted = match bare {
            true => Known::Bare(Box::new(model)),
            false => Known::Fitted(Box::new(Fitted::new(sources.model, model)?)),
        };
        let results = sources.select.map(|path| Results::read(path, fitted.model())).transpose()?;
        let trace = match sources.trace {
            Some(path) => trace::read(path)?,
            None => results.as_ref().map_or(vec![], |results| results.trace(fitted.model())),
        };
        let metric = results.as_ref().map(|results| results.metric);
        let mut evidence = vec![];
        if let Known::Fitted(fitted) = &fitted {
            for path in sources.data {
                evidence.push(Evidence::read(fitted, path, sources, metric, global)?);
            }
        }
        Ok(Subject { fitted, evidence, results, trace })
    }
}
