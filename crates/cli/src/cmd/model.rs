//! `kinfolk model`: what a model file holds.

use crate::args::Global;
use crate::cmd::fit::print;
use crate::failure::{Failure, Result};
use crate::outputs::{CommandFiles, OutputKind};
use crate::report::Report;
use crate::text::{Grid, number, plural};
use clap::{Args, Subcommand};
use kinfolk::model::LinearCoefficients;
use kinfolk::{CertificateSummary, Scaling};
use kinfolk_io::{CellKind, Cells, Schema, TableWriter};
use kinfolk_train::{FitOutcome, FitSpec, Trained};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk model show school.safetensors
  kinfolk model show school.safetensors --spec > fit.toml
  kinfolk model show school.safetensors --coef --json";

const COEF_EXAMPLES: &str = "\
Examples:
  kinfolk model coef school.safetensors --top 10
  kinfolk model coef school.safetensors --task north --per-spread
  kinfolk model coef school.safetensors -o coefficients.csv";

/// Look into model files.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    Show(ShowArgs),
    Coef(CoefArgs),
}

/// Show the coefficients of a linear model, those that matter most first.
///
/// Coefficients are in the units of the data: what is added to a prediction when a feature grows by one unit. Their
/// order does not depend on units: it is that of --per-spread.
#[derive(Debug, Args)]
#[command(after_help = COEF_EXAMPLES)]
struct CoefArgs {
    /// A model that fit or select wrote.
    model: PathBuf,
    /// Only so many features.
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Only this task. May be repeated.
    #[arg(long, value_name = "NAME")]
    task: Vec<String>,
    /// What is added when a feature grows by one standard deviation of the training rows, instead of one unit: such
    /// numbers can be compared between features.
    #[arg(long)]
    per_spread: bool,
    /// A file to write all coefficients to, features by tasks: csv or parquet.
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
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
    #[arg(long, conflicts_with = "spec")]
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
#[derive(Clone, Serialize)]
struct Coefficients {
    features: Vec<String>,
    values: Vec<Vec<f64>>,
    intercept: Vec<f64>,
}

pub(crate) fn run(args: ModelArgs, global: &Global, report: Report) -> Result<ExitCode> {
    let args = match args.command {
        ModelCommand::Show(args) => args,
        ModelCommand::Coef(args) => return coef(&args, global, report),
    };
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

/// `kinfolk model coef`.
fn coef(args: &CoefArgs, global: &Global, report: Report) -> Result<ExitCode> {
    CommandFiles::default().reads([&args.model]).writes(&args.out, OutputKind::General).check(global)?;
    let trained = crate::files::load_model(&args.model)?;
    let mut all = coefficients(&trained)?;
    let tasks = all.choose_tasks(&trained, &args.task)?;
    let spread = spreads(&trained);
    if args.per_spread && spread.is_empty() {
        return Err(Failure::usage(
            "--per-spread: the features of this model are not scaled, so it knows no spread",
        ));
    }
    let known = spread;
    let spread = |j: usize| known.get(j).copied().unwrap_or(1.0);
    // Coefficients are in units of their features: what a feature contributes is its coefficient times its spread.
    let size = |j: usize| all.values[j].iter().fold(0.0_f64, |most, w| most.max((w * spread(j)).abs()));
    let mut order: Vec<usize> = (0..all.features.len()).collect();
    order.sort_by(|&a, &b| size(b).total_cmp(&size(a)));
    if args.per_spread {
        all.values.iter_mut().enumerate().for_each(|(j, row)| row.iter_mut().for_each(|w| *w *= spread(j)));
    }
    if let Some(out) = &args.out {
        let numbers = tasks.iter().map(|task| (task.clone(), CellKind::Numbers));
        let columns: Vec<(String, CellKind)> =
            [("feature".into(), CellKind::Words)].into_iter().chain(numbers).collect();
        let mut writer = TableWriter::create(out, &columns).map_err(Failure::output)?;
        let names = all.features.iter().cloned().chain(["intercept".into()]).collect();
        let rows: Vec<&Vec<f64>> = all.values.iter().chain([&all.intercept]).collect();
        let of_task = |t: usize| Cells::Numbers(rows.iter().map(|row| row[t]).collect());
        let cells: Vec<Cells> =
            [Cells::Words(names)].into_iter().chain((0..tasks.len()).map(of_task)).collect();
        writer.append(&cells).and_then(|()| writer.finish()).map_err(Failure::output)?;
    }
    order.truncate(args.top.unwrap_or(order.len()));
    all.features = order.iter().map(|&j| all.features[j].clone()).collect();
    all.values = order.iter().map(|&j| all.values[j].clone()).collect();
    if let Some(out) = &args.out {
        let (n, of) = (plural(all.features.len(), "feature"), plural(tasks.len(), "task"));
        report.done(&all, format!("coefficients of {n} for {of} in {}\n", out.display()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let scale = |j: usize| if args.per_spread { Some(1.0) } else { known.get(j).copied() };
    let scale: Option<Vec<f64>> = order.iter().map(|&j| scale(j)).collect();
    let mut text = readable(&tasks, &scale.map_or_else(|| all.clone(), |scale| all.without_rounding(&scale)));
    if args.task.is_empty() && args.top.is_none() {
        text = first_lines(&text);
    }
    report.answer(&all, text)?;
    Ok(ExitCode::SUCCESS)
}

/// Most lines of coefficients that are printed unless tasks or features are chosen.
const MAX_LINES: usize = 40;

/// The first lines of a table, and how many more there are.
fn first_lines(table: &str) -> String {
    let n = table.lines().count();
    if n <= MAX_LINES {
        return table.into();
    }
    let first: Vec<&str> = table.lines().take(MAX_LINES).collect();
    format!(
        "{}\n... and {} more lines; --task NAME prints all of a task, -o FILE writes all\n",
        first.join("\n"),
        n - MAX_LINES
    )
}

/// What adds less to predictions than this share of the feature that adds most is rounding.
const ROUNDING: f64 = 1e-9;

impl Coefficients {
    /// For people: rounding is 0. `spread` has the standard deviations of the features.
    fn without_rounding(&self, spread: &[f64]) -> Coefficients {
        let mut plain = self.clone();
        for t in 0..self.intercept.len() {
            let sizes = || self.values.iter().zip(spread).map(|(row, spread)| (row[t] * spread).abs());
            let most = sizes().fold(0.0, f64::max);
            let small = plain.values.iter_mut().zip(sizes()).filter(|(_, size)| *size < ROUNDING * most);
            small.for_each(|(row, _)| row[t] = 0.0);
        }
        plain
    }

    /// Keeps these tasks, or all if none is named; their names.
    fn choose_tasks(&mut self, trained: &Trained, names: &[String]) -> Result<Vec<String>> {
        let tasks = trained.model.tasks();
        if names.is_empty() {
            return Ok(tasks.iter().collect());
        }
        let place = |name: &String| tasks.find(&kinfolk_io::nfc(name.into()));
        let places = names.iter().map(place).collect::<kinfolk::Result<Vec<_>>>()?;
        let chosen = |row: &Vec<f64>| places.iter().map(|&t| row[t]).collect();
        self.values = self.values.iter().map(chosen).collect();
        self.intercept = chosen(&self.intercept);
        Ok(names.to_vec())
    }
}

/// Standard deviations of features in the training rows, where scaling knows them.
fn spreads(trained: &Trained) -> Vec<f64> {
    let factors = trained.model.scaling().mean_and_factor().map(|(_, factor)| factor);
    factors.unwrap_or(&[]).iter().map(|factor| 1.0 / factor).collect()
}

fn grid(tasks: &[String], coefficients: &Coefficients) -> Grid {
    let Coefficients { features, values, intercept } = coefficients;
    let heads: Vec<String> = tasks.iter().map(|task| format!(">{task}")).collect();
    let heads: Vec<&str> = std::iter::once("feature").chain(heads.iter().map(String::as_str)).collect();
    let mut grid = Grid::new(&heads);
    let names = features.iter().map(String::as_str).chain(["intercept"]);
    for (name, row) in names.zip(values.iter().chain([intercept])) {
        grid.row(std::iter::once(name.to_string()).chain(row.iter().map(|w| number(*w, 6))));
    }
    grid
}

/// Widest table of coefficients, in characters.
const MAX_WIDTH: usize = 120;

/// Features by tasks, or a line for each feature and task if that would be too wide.
fn readable(tasks: &[String], coefficients: &Coefficients) -> String {
    let table = grid(tasks, coefficients).to_string();
    if table.lines().all(|line| line.chars().count() <= MAX_WIDTH) {
        return table;
    }
    let Coefficients { features, values, intercept } = coefficients;
    let mut grid = Grid::new(&["feature", "task", ">coefficient"]);
    let names = features.iter().map(String::as_str).chain(["intercept"]);
    for (name, row) in names.zip(values.iter().chain([intercept])) {
        for (task, weight) in tasks.iter().zip(row) {
            grid.row([name.to_string(), task.clone(), number(*weight, 6)]);
        }
    }
    grid.to_string()
}

fn text(trained: &Trained, path: &Path, coefficients: Option<&Coefficients>) -> Result<String> {
    let tasks: Vec<String> = trained.model.tasks().iter().collect();
    let mut text = print::text(trained, path);
    text += &format!("\n{}: {}\n", plural(tasks.len(), "task"), tasks.join(", "));
    if let Some(names) = trained.schema.feature_names() {
        text += &format!("{}: {}\n", plural(names.len(), "feature"), names.join(", "));
    }
    let units = trained.schema.columns.units.iter();
    let units: Vec<String> = units.map(|(column, unit)| format!("{column} ({unit})")).collect();
    if !units.is_empty() {
        text += &format!("units, which new rows must have or lack: {}\n", units.join(", "));
    }
    if let Some(coefficients) = coefficients {
        text += &format!("\n{}", readable(&tasks, coefficients));
    }
    Ok(text + &format!("\n{}", trained.spec.without_file_data().to_toml().map_err(Failure::output)?))
}

/// Weights and intercepts for inputs and labels as they are in the file.
fn coefficients(trained: &Trained) -> Result<Coefficients> {
    let Some(LinearCoefficients { weights, intercept }) = trained.model.linear_coefficients() else {
        return Err(Failure::input(
            "only linear models have coefficients, and this one has a kernel; kinfolk evaluate MODEL DATA --importance \
             says which columns matter",
        ));
    };
    if *trained.model.scaling() == Scaling::Unit {
        return Err(Failure::input("rows scaled to length 1 have no coefficients in the units of the data"));
    }
    let values = (0..weights.rows()).map(|j| weights.row(j).to_vec()).collect();
    let numbered = || (0..weights.rows()).map(|j| j.to_string()).collect();
    Ok(Coefficients { features: trained.schema.feature_names().unwrap_or_else(numbered), values, intercept })
}
