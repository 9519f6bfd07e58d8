//! `kinfolk data info`: what is in a file.

use super::summary::RowCounts;
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
const MAX_LISTED_TASKS: usize = 12;

/// Say what is in a file, as fit would read it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InfoArgs {
    #[arg(help = crate::files::all_formats())]
    data: PathBuf,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct DataInfo<'a> {
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
    offsets: bool,
    split: &'a BTreeMap<i64, usize>,
}

pub(super) fn run(args: InfoArgs, report: Report) -> Result<ExitCode> {
    let mut counts = RowCounts::default();
    let mut source = kinfolk_io::open(&args.data, &args.columns.columns(), None)?;
    chunks::for_each(&mut *source, |table| {
        counts.add(&table);
        Ok(())
    })?;
    let bytes = std::fs::metadata(&args.data).map_or(0, |metadata| metadata.len());
    let info = DataInfo {
        data: &args.data,
        bytes,
        n_inputs: counts.rows,
        n_features: counts.features,
        inputs: stored(&counts, source.schema().storage, args.columns.columns().dense),
        nonzero: counts.density(),
        targets: counts.targets,
        n_tasks: counts.tasks.names.len(),
        n_labels: counts.labels.known,
        n_missing: counts.labels.missing,
        rows_per_task: counts.tasks.spread(),
        tasks: &counts.tasks.names,
        label_values: counts.labels.few(),
        label_range: counts.labels.range,
        weights: counts.weights,
        offsets: counts.offsets,
        split: &counts.parts,
    };
    report.answer(&info, in_words(&info))?;
    Ok(ExitCode::SUCCESS)
}

/// How fit would store them: sparse if at most a tenth is not zero.
fn stored(counts: &RowCounts, storage: Storage, dense: bool) -> &'static str {
    match storage {
        Storage::Kernel => "kernel values",
        _ if counts.density() <= 0.1 && !dense => "sparse",
        _ => "dense",
    }
}

fn in_words(info: &DataInfo<'_>) -> String {
    let mut lines = vec![
        format!("file      {}, {}", info.data.display(), text::bytes(info.bytes)),
        format!(
            "inputs    {}, {}, {}, {} % not zero",
            plural(info.n_inputs, "row"),
            plural(info.n_features, "feature"),
            info.inputs,
            number(100.0 * info.nonzero, 3)
        ),
    ];
    let spread = match info.rows_per_task {
        Some([low, middle, high]) if low < high => {
            format!("{} to {} rows each, median {}", count(low), count(high), count(middle))
        }
        Some([low, ..]) => format!("{} each", plural(low, "row")),
        None => "no rows".into(),
    };
    lines.push(match info.targets {
        "tasks" => format!("tasks     {}, {spread}: {}", plural(info.n_tasks, "task"), names(info.tasks)),
        "classes" => format!("classes   {}, {spread}: {}", info.n_tasks, names(info.tasks)),
        "wide" => format!("targets   {}, {spread}: {}", info.n_tasks, names(info.tasks)),
        _ => "targets   none: only for predict".into(),
    });
    match (&info.label_values, info.label_range) {
        (Some(values), _) => {
            lines.push(format!("labels    {} (values: {})", count(info.n_labels), values.join(", ")))
        }
        (None, Some((low, high))) => lines.push(format!(
            "labels    {} (numbers from {} to {})",
            count(info.n_labels),
            number(low, 4),
            number(high, 4)
        )),
        (None, None) => {}
    }
    if info.n_missing > 0 {
        lines.push(format!("missing   {}", plural(info.n_missing, "label")));
    }
    if info.weights {
        lines.push("weights   one per row".into());
    }
    if info.offsets {
        lines.push("offsets   one per row".into());
    }
    if !info.split.is_empty() {
        let parts: Vec<String> =
            info.split.iter().map(|(part, n)| format!("{part} ({})", plural(*n, "row"))).collect();
        lines.push(format!("split     {}", parts.join(", ")));
    }
    lines.join("\n") + "\n"
}

fn names(all: &[String]) -> String {
    let shown = all.iter().take(MAX_LISTED_TASKS).cloned().collect::<Vec<_>>().join(", ");
    if all.len() > MAX_LISTED_TASKS { format!("{shown}, ...") } else { shown }
}
