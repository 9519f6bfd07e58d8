//! `kinfolk model show`: what a model file holds.

use crate::cmd::fit::print;
use crate::failure::{Failure, Result};
use crate::report::Report;
use crate::text::{Grid, number, plural};
use clap::{Args, Subcommand};
use kinfolk::model::LinearCoefficients;
use kinfolk::{CertificateSummary, Scaling};
use kinfolk_io::Schema;
use kinfolk_train::{FitOutcome, FitSpec, Trained};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk model show school.safetensors
  kinfolk model show school.safetensors --spec > fit.toml
  kinfolk model show school.safetensors --coef --json";

/// Look into model files.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    Show(ShowArgs),
}

/// Show the spec, certificate, tasks and columns of a model.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
struct ShowArgs {
    /// A model that fit or select wrote.
    model: PathBuf,
    /// Only the spec, as toml that fit and select take with --spec.
    #[arg(long)]
    spec: bool,
    /// Also the coefficients of a linear model, features by tasks.
    #[arg(long)]
    coef: bool,
}

/// The JSON object of a model.
#[derive(Serialize)]
struct ModelOutput<'a> {
    model: &'a Path,
    #[serde(flatten)]
    certificate: CertificateSummary,
    #[serde(flatten)]
    outcome: &'a FitOutcome,
    c: f64,
    lambda: f64,
    n_inputs: usize,
    n_features: usize,
    n_observations: usize,
    tasks: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    atoms: Vec<print::AtomOutput<'a>>,
    spec: &'a FitSpec,
    schema: &'a Schema,
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficients: Option<Coefficients>,
}

/// `features x tasks`, in the units of the data.
#[derive(Serialize)]
struct Coefficients {
    features: Vec<String>,
    values: Vec<Vec<f64>>,
    intercept: Vec<f64>,
}

pub(crate) fn run(args: ModelArgs, report: Report) -> Result<ExitCode> {
    let ModelCommand::Show(args) = args.command;
    let trained = Trained::load(&args.model).map_err(|error| Failure::from(error).about(&args.model))?;
    let coefficients = args.coef.then(|| coefficients(&trained)).transpose()?;
    let text = match args.spec {
        true => trained.spec.to_toml().map_err(Failure::output)?,
        false => text(&trained, &args.model, coefficients.as_ref())?,
    };
    let about = trained.model.about();
    let output = ModelOutput {
        model: &args.model,
        certificate: trained.model.summary(),
        outcome: &trained.outcome,
        c: about.problem.c,
        lambda: about.problem.lambda,
        n_inputs: about.n_inputs,
        n_features: about.n_features,
        n_observations: about.n_observations,
        tasks: about.tasks.iter().collect(),
        atoms: print::atoms(&trained.model),
        spec: &trained.spec,
        schema: &trained.schema,
        coefficients,
    };
    report.answer(&output, text)?;
    Ok(ExitCode::SUCCESS)
}

fn text(trained: &Trained, path: &Path, coefficients: Option<&Coefficients>) -> Result<String> {
    let tasks: Vec<String> = trained.model.tasks().iter().collect();
    let mut text = print::text(trained, path);
    text += &format!("\n{}: {}\n", plural(tasks.len(), "task"), tasks.join(", "));
    if let Some(names) = trained.schema.feature_names() {
        text += &format!("{}: {}\n", plural(names.len(), "feature"), names.join(", "));
    }
    if let Some(Coefficients { features, values, intercept }) = coefficients {
        let heads: Vec<String> = tasks.iter().map(|task| format!(">{task}")).collect();
        let heads: Vec<&str> = std::iter::once("feature").chain(heads.iter().map(String::as_str)).collect();
        let mut grid = Grid::new(&heads);
        let names = features.iter().map(String::as_str).chain(["intercept"]);
        for (name, row) in names.zip(values.iter().chain([intercept])) {
            grid.row(std::iter::once(name.to_string()).chain(row.iter().map(|w| number(*w, 6))));
        }
        text += &format!("\n{grid}");
    }
    Ok(text + &format!("\n{}", trained.spec.without_file_data().to_toml().map_err(Failure::output)?))
}

/// Weights and intercepts for inputs and labels as they are in the file.
fn coefficients(trained: &Trained) -> Result<Coefficients> {
    let Some(LinearCoefficients { weights, intercept }) = trained.model.linear_coefficients() else {
        return Err(Failure::input("only linear models have coefficients, and this one has a kernel"));
    };
    if *trained.model.scaling() == Scaling::Unit {
        return Err(Failure::input("rows scaled to length 1 have no coefficients in the units of the data"));
    }
    let values = (0..weights.rows()).map(|j| weights.row(j).to_vec()).collect();
    let numbered = || (0..weights.rows()).map(|j| j.to_string()).collect();
    Ok(Coefficients { features: trained.schema.feature_names().unwrap_or_else(numbered), values, intercept })
}
