//! `kinfolk demo`: what this is about, in a few seconds and without any file.

mod contest;
mod kin;
mod words;
mod world;

use crate::args::{ColumnArgs, Global, LossChoice};
use crate::cmd::report::ReportFiles;
use crate::failure::{Failure, Result};
use crate::fit_params::{Choice, FitParams};
use crate::fitted::{self, Fitted};
use crate::report::Report;
use crate::training::{Choices, Training};
use crate::{files, interrupt, results};
use clap::{Args, ValueEnum};
use contest::Contest;
use kinfolk::{CertifyOptions, ScalingKind};
use kinfolk_report::HeatMap;
use kinfolk_train::select::Scored;
use serde::Serialize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;
use world::World;

const EXAMPLES: &str = "\
Examples:
  kinfolk demo
  kinfolk demo --data digits -o digits-demo";

/// Show what it is about: related tasks with few rows each, learned alone, as one, and as kin.
///
/// C is chosen by cross-validation on the training rows, for each method on the same folds; test rows are looked at once, at
/// the end.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DemoArgs {
    /// Generated tasks whose true groups are known, or handwritten digits.
    #[arg(long, value_enum, default_value_t = DemoData::Tasks)]
    data: DemoData,
    /// Folder for data, model, predictions, the picture of Theta and the report.
    #[arg(short, long, value_name = "FOLDER", default_value = "kinfolk-demo")]
    out: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum DemoData {
    Tasks,
    Digits,
}

/// Where everything is written.
#[derive(Debug, Clone, Serialize)]
struct Files {
    train: PathBuf,
    test: PathBuf,
    model: PathBuf,
    predictions: PathBuf,
    theta: PathBuf,
    /// What cross-validation found.
    results: PathBuf,
    report: PathBuf,
}

pub(crate) fn run(args: DemoArgs, global: &Global, report: Report) -> Result<ExitCode> {
    let started = Instant::now();
    std::fs::create_dir_all(&args.out)
        .map_err(|error| Failure::output(format!("{}: {error}", args.out.display())))?;
    let place = |name: &str| args.out.join(name);
    let files = Files {
        train: place("train.npz"),
        test: place("test.npz"),
        model: place("model.safetensors"),
        predictions: place("predictions.csv"),
        theta: place("theta.svg"),
        results: place("results.json"),
        report: place("report.html"),
    };
    let world = World::new(args.data, global.seed)?;
    for (path, table) in [(&files.train, &world.train), (&files.test, &world.test)] {
        interrupt::will_write(path);
        kinfolk_io::write_table(table, path).map_err(Failure::output)?;
    }
    // From here on as anyone would do it with the files.
    let columns = ColumnArgs::default();
    let choices = Choices {
        columns: &columns,
        scale: ScalingKind::None,
        loss: &LossChoice::Auto,
        split: None,
        balanced: false,
    };
    let training = Training::read(&files.train, &choices)?;
    let contest = Contest::run(&training, &world, global)?;
    let mut best = contest.best_kinfolk().fit.model.clone();
    let recomputed = best.certify(&training.inputs, &training.observations, &CertifyOptions::default())?;
    save(&files, &mut best, &training, &contest, global)?;
    let kin = kin::look(&best, world.truth.as_ref());
    files::write(&files.theta, picture(&best, &kin).as_bytes())?;
    let fitted = Fitted::load(&files.model)?;
    crate::cmd::predict::to_file(&fitted, &files.test, &files.predictions)?;
    write_results(&files, &training, &contest)?;
    write_report(&files, &columns, global)?;
    let seconds = started.elapsed().as_secs_f64();
    let scene = words::Scene {
        world: &world,
        contest: &contest,
        recomputed: &recomputed,
        kin: &kin,
        files: &files,
        seconds,
    };
    report.answer(&scene.said(args.data), scene.text())?;
    Ok(ExitCode::SUCCESS)
}

fn save(
    files: &Files,
    model: &mut kinfolk::Model,
    training: &Training,
    contest: &Contest,
    global: &Global,
) -> Result<()> {
    let options = contest::options(global);
    let data = kinfolk::Dataset::new(&training.inputs, &training.observations, options)?;
    let choice = Choice {
        method: "fmtl".into(),
        c_rule: "cross-validation",
        scale: ScalingKind::None,
        balanced: false,
        split: None,
    };
    let params = FitParams::of_model(model, &data, &contest.settings, choice);
    fitted::save(&files.model, model, &training.recipe, &params)
}

/// As `kinfolk select --results` would.
fn write_results(files: &Files, training: &Training, contest: &Contest) -> Result<()> {
    let (tasks, best) = (training.observations.task_names(), contest.best_kinfolk());
    let told = results::Told {
        selection: &contest.selection,
        verdicts: results::verdicts(&contest.selection, tasks),
        tasks,
        folds: contest::FOLDS,
        repeats: 1,
        scored: Scored::ByFold,
        fit: Some((&contest.selection.rows[best.row], &best.fit)),
        model: Some(&files.model),
    };
    let json = serde_json::to_vec(&results::said(&told)).map_err(Failure::output)?;
    files::write(&files.results, &json)
}

/// As `kinfolk report MODEL TRAIN TEST --select RESULTS` would.
fn write_report(files: &Files, columns: &ColumnArgs, global: &Global) -> Result<()> {
    let sources = ReportFiles {
        model: &files.model,
        data: &[files.train.clone(), files.test.clone()],
        select: Some(&files.results),
        trace: None,
        split: None,
        memory: CertifyOptions::default().memory,
        columns,
    };
    crate::cmd::report::to_file(&sources, global, &files.report)
}

fn picture(model: &kinfolk::Model, kin: &kin::Kin) -> String {
    let names: Vec<String> = model.tasks().iter().collect();
    let correlation = model.correlation();
    let map = HeatMap::new("Theta as correlations, kin beside kin", &names, &correlation);
    map.ordered(kin.order.clone()).with_tree(&kin.tree).to_svg()
}
