//! `kinfolk demo`: data generate, select --compare, predict and report in one go, in a few seconds and
//! without any file.

mod data;
mod print;

use crate::args::{ColumnArgs, Global, NewRowArgs};
use crate::cmd::report::ReportFiles;
use crate::cmd::select;
use crate::failure::{Failure, Result};
use crate::outputs::{CommandFiles, OutputKind};
use crate::report::Report;
use crate::{files, interrupt};
use clap::Args;
use data::DemoData;
use kinfolk::{CertifyOptions, Silent};
use kinfolk_report::{HeatMap, Tree, adjusted_rand_index, distances};
use kinfolk_train::select::{Selection, SelectionResults, Study, cross_validate};
use kinfolk_train::{FitSpec, Measure, Metric, Trained, Training, Unobserved, predict};
use print::{DemoOutput, Entry, Groups};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  kinfolk demo
  kinfolk demo --data digits -o digits-demo";

/// Rows are few, so three folds.
const FOLDS: usize = 3;
/// Relative gap of the final fits.
const FINAL_TOLERANCE: f64 = 1e-6;

/// Show what kinfolk does: learn related tasks with few rows each on their own, as one, and jointly.
///
/// C is chosen by cross-validation on the training rows, for each method on the same folds; test rows are
/// used once, at the end.
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

/// Where everything is written.
#[derive(Debug, Serialize)]
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

impl Files {
    fn of(folder: &Path) -> Result<Files> {
        let about = |error| Failure::output(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(about)?;
        let place = |name: &str| folder.join(name);
        Ok(Files {
            train: place("train.npz"),
            test: place("test.npz"),
            model: place("model.safetensors"),
            predictions: place("predictions.csv"),
            theta: place("theta.svg"),
            results: place("results.json"),
            report: place("report.html"),
        })
    }

    /// `Err` if there are files of these names that are not those of an earlier demo.
    fn check(&self, global: &Global) -> Result<()> {
        if OutputKind::Report.may_replace(&self.report) {
            return Ok(());
        }
        let Files { train, test, model, predictions, theta, results, report } = self;
        let all = [train, test, model, predictions, theta, results, report];
        CommandFiles::default().writes(all, OutputKind::General).check(global)
    }
}

pub(crate) fn run(args: DemoArgs, global: &Global, report: Report) -> Result<ExitCode> {
    let started = Instant::now();
    let files = Files::of(&args.out)?;
    files.check(global)?;
    let made = data::make(args.data, global.seed())?;
    for (path, table) in [(&files.train, &made.train), (&files.test, &made.test)] {
        interrupt::will_write(path);
        kinfolk_io::write_table(table, path).map_err(Failure::output)?;
    }
    // From here on with the files, as any user would.
    let spec = FitSpec { threads: global.threads(), seed: global.seed(), ..FitSpec::default() };
    let (table, schema) = kinfolk_io::read(&files.train, &spec.columns, None)?;
    let training = kinfolk_train::unscaled(&spec, table, schema)?;
    let mut study = Study::new(&training.inputs, &training.observations, training.losses.clone(), spec);
    study.folds = FOLDS;
    let candidates = select::candidates(&methods(study.metric()), None, &[])?;
    let stopped = || Failure::output("the selection was stopped");
    let selection = cross_validate(&study, &candidates, &Unobserved)?.ok_or_else(stopped)?;
    let mut results = SelectionResults::new(&study, &selection);
    study.spec.tol = FINAL_TOLERANCE;
    let entries = entries(&study, &selection, &training, &made.test)?;
    let best = best(&entries, selection.metric);
    let Entry { trained, .. } = best;
    let options = CertifyOptions::default();
    let recomputed = trained.model.certify(&training.inputs, &training.observations, &options)?;
    select::save(&mut results, trained, &files.model)?;
    files::write(&files.results, &serde_json::to_vec(&results).map_err(Failure::output)?)?;
    let groups = draw(trained, made.groups.as_deref(), &files.theta)?;
    crate::cmd::predict::to_file(&files::load_model(&files.model)?, &files.test, &files.predictions, report)?;
    write_report(&files, global)?;
    let output = DemoOutput {
        data: args.data,
        n_train: made.train.n_rows(),
        n_test: made.test.n_rows(),
        metric: selection.metric,
        methods: &entries,
        best: &best.method,
        best_test: best.test,
        primal: recomputed.primal,
        dual: recomputed.dual,
        rel_gap: recomputed.rel_gap(),
        groups,
        files: &files,
        seconds: started.elapsed().as_secs_f64(),
    };
    report.answer(&output, output.text(&made.about))?;
    Ok(ExitCode::SUCCESS)
}

/// Baselines and three regularisers; one model for all classes would be no classifier.
fn methods(metric: Metric) -> Vec<String> {
    let all = ["stl", "pooled", "fmtl:k=1", "fmtl:k=2", "fmtl:k=4"].into_iter();
    all.filter(|name| metric.measure != Measure::ClassAccuracy || *name != "pooled")
        .map(String::from)
        .collect()
}

/// The best setting of each method, fitted to all training rows and scored on the test rows.
fn entries(
    study: &Study<'_>,
    selection: &Selection,
    training: &Training<'_>,
    test: &kinfolk_io::Table,
) -> Result<Vec<Entry>> {
    let labels = test.observations_in(&training.schema.label_encoding, training.observations.task_names())?;
    let entry = |&best: &usize| {
        let row = &selection.rows[best];
        let trained = study.refit(row, &training.schema, &mut Silent)?;
        let predictions = predict(&trained.model, &test.inputs, &labels)?;
        Ok(Entry {
            method: row.method.brief(),
            c: trained.model.about().problem.c,
            cross_validated: row.score,
            test: selection.metric.score(&labels, &study.losses, &predictions)?.value,
            status: trained.model.status(),
            rel_gap: trained.model.certificate().rel_gap(),
            passes: trained.outcome.passes,
            trained,
        })
    };
    selection.best.iter().map(entry).collect()
}

/// The one that cross-validation chooses among those that learn Theta, without looking at the test rows.
fn best(entries: &[Entry], metric: Metric) -> &Entry {
    let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
    let better = |a: &&Entry, b: &&Entry| sign * b.cross_validated > sign * a.cross_validated;
    let learned = entries.iter().filter(|entry| entry.learns_theta());
    learned.reduce(|a, b| if better(&a, &b) { b } else { a }).unwrap_or(&entries[0])
}

/// Draws Theta, and compares its clusters with the true groups where these are known.
fn draw(trained: &Trained, truth: Option<&[usize]>, path: &Path) -> Result<Option<Groups>> {
    let model = &trained.model;
    let names: Vec<String> = model.tasks().iter().collect();
    let correlation = model.correlation();
    let d = distances(&correlation);
    let tree = Tree::new(&d);
    let order = tree.order(&d);
    let map = HeatMap::new("Theta as correlations, related tasks side by side", &names, &correlation);
    files::write(path, map.ordered(order.clone()).with_tree(&tree).to_svg().as_bytes())?;
    Ok(truth.map(|truth| {
        let found = tree.cut(truth.iter().max().map_or(0, |g| g + 1));
        let adjusted_rand_index = adjusted_rand_index(&found, truth);
        let ordered = order.iter().map(|&task| (found[task], names[task].clone())).collect();
        Groups { found, truth: truth.to_vec(), adjusted_rand_index, ordered }
    }))
}

/// As `kinfolk report MODEL TRAIN TEST --select RESULTS` does.
fn write_report(files: &Files, global: &Global) -> Result<()> {
    let sources = ReportFiles {
        model: &files.model,
        data: &[files.train.clone(), files.test.clone()],
        select: Some(&files.results),
        trace: None,
        split: None,
        memory: CertifyOptions::default().memory,
        columns: &ColumnArgs::default(),
        new_rows: &NewRowArgs::default(),
    };
    crate::cmd::report::to_file(&sources, global, &files.report)
}
