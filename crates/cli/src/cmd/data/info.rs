//! `kinfolk data info`: what is in a file.

use super::survey::Survey;
use crate::args::ColumnArgs;
use crate::failure::Result;
use crate::report::Report;
use crate::text::{count, number, plural};
use crate::{chunks, text};
use clap::Args;
use kinfolk_io::Storage;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk data info digits.npz
  kinfolk data info school.csv --task school --target score";

/// Tasks whose names are listed.
const NAMES: usize = 12;

/// Say what is in a file, as fit would read it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InfoArgs {
    /// csv, csv.gz, parquet, npz, npy or svm.
    data: PathBuf,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct Said<'a> {
    data: &'a Path,
    bytes: u64,
    n_inputs: usize,
    n_features: usize,
    inputs: &'static str,
    nonzero: f64,
    targets: &'static str,
    n_tasks: usize,
    n_labels: usize,
    n_missing: usize,
    rows_per_task: Option<[usize; 3]>,
    tasks: &'a [String],
    label_values: Option<Vec<&'a str>>,
    label_range: Option<(f64, f64)>,
    weights: bool,
    split: &'a BTreeMap<i64, usize>,
}

pub(super) fn run(args: InfoArgs, report: Report) -> Result<ExitCode> {
    let mut survey = Survey::default();
    let mut source = kinfolk_io::open(&args.data, &args.columns.columns(), None)?;
    chunks::for_each(&mut *source, |table| {
        survey.add(&table);
        Ok(())
    })?;
    let bytes = std::fs::metadata(&args.data).map_or(0, |metadata| metadata.len());
    let said = Said {
        data: &args.data,
        bytes,
        n_inputs: survey.rows,
        n_features: survey.features,
        inputs: stored(&survey, source.recipe().storage, args.columns.columns().dense),
        nonzero: survey.density(),
        targets: survey.targets,
        n_tasks: survey.tasks.names.len(),
        n_labels: survey.labels.known,
        n_missing: survey.labels.missing,
        rows_per_task: survey.tasks.spread(),
        tasks: &survey.tasks.names,
        label_values: survey.labels.few(),
        label_range: survey.labels.range,
        weights: survey.weights,
        split: &survey.parts,
    };
    report.answer(&said, in_words(&said))?;
    Ok(ExitCode::SUCCESS)
}

/// How fit would store them: sparse if at most a tenth is not zero.
fn stored(survey: &Survey, storage: Storage, dense: bool) -> &'static str {
    match storage {
        Storage::Kernel => "kernel values",
        _ if survey.density() <= 0.1 && !dense => "sparse",
        _ => "dense",
    }
}

fn in_words(said: &Said<'_>) -> String {
    let mut lines = vec![
        format!("file      {}, {}", said.data.display(), text::bytes(said.bytes)),
        format!(
            "inputs    {}, {}, {}, {} % not zero",
            plural(said.n_inputs, "row"),
            plural(said.n_features, "feature"),
            said.inputs,
            number(100.0 * said.nonzero, 3)
        ),
    ];
    let spread = match said.rows_per_task {
        Some([low, middle, high]) if low < high => {
            format!("{} to {} rows each, median {}", count(low), count(high), count(middle))
        }
        Some([low, ..]) => format!("{} each", plural(low, "row")),
        None => "no rows".into(),
    };
    lines.push(match said.targets {
        "tasks" => format!("tasks     {}, {spread}: {}", plural(said.n_tasks, "task"), names(said.tasks)),
        "classes" => format!("classes   {}, {spread}: {}", said.n_tasks, names(said.tasks)),
        "wide" => format!("targets   {}, {spread}: {}", said.n_tasks, names(said.tasks)),
        _ => "targets   none: good for predict".into(),
    });
    match (&said.label_values, said.label_range) {
        (Some(values), _) => {
            lines.push(format!("labels    {} (values: {})", count(said.n_labels), values.join(", ")))
        }
        (None, Some((low, high))) => lines.push(format!(
            "labels    {} (numbers from {} to {})",
            count(said.n_labels),
            number(low, 4),
            number(high, 4)
        )),
        (None, None) => {}
    }
    if said.n_missing > 0 {
        lines.push(format!("missing   {}", plural(said.n_missing, "label")));
    }
    if said.weights {
        lines.push("weights   one per row".into());
    }
    if !said.split.is_empty() {
        let parts: Vec<String> =
            said.split.iter().map(|(part, n)| format!("{part} ({})", plural(*n, "row"))).collect();
        lines.push(format!("split     {}", parts.join(", ")));
    }
    lines.join("\n") + "\n"
}

fn names(all: &[String]) -> String {
    let shown = all.iter().take(NAMES).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > NAMES { format!("{shown}, ...") } else { shown }
}
