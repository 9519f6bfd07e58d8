//! `kinfolk data info`: what is in a file.

use super::suggestion::Suggestion;
use super::summary::RowCounts;
use super::{columns, suggestion};
use crate::args::ColumnArgs;
use crate::data_files::DataFiles;
use crate::failure::{Failure, Result};
use crate::report::Report;
use crate::text::{count, number, plural};
use crate::{chunks, text};
use clap::Args;
use kinfolk_io::{ColumnRoles, FileProfile, Role, Schema, Storage};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kinfolk data info digits.npz
  kinfolk data info school.csv
  kinfolk data info school.csv --task school --target score";

/// Tasks whose names are listed.
const MAX_LISTED_TASKS: usize = 12;

/// Say what is in a file: its columns, what fit would make of them, and the command to go on with.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InfoArgs {
    #[arg(required = true, help = crate::files::all_formats())]
    data: Vec<PathBuf>,
    #[command(flatten)]
    columns: ColumnArgs,
}

#[derive(Serialize)]
struct DataInfo<'a> {
    data: &'a DataFiles,
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
    /// The columns, if they have names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<columns::ColumnOutput<'a>>,
    /// What is done to the columns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
    /// Why a fit cannot start.
    #[serde(skip_serializing_if = "Option::is_none")]
    in_the_way: Option<String>,
    /// The command to go on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    suggestion: Option<String>,
    /// What the command rests on where that is a guess.
    #[serde(skip_serializing_if = "Option::is_none")]
    guess: Option<String>,
    /// Columns that are named as targets.
    #[serde(skip)]
    n_targets: usize,
}

pub(super) fn run(args: InfoArgs, report: Report) -> Result<ExitCode> {
    let (data, roles) = (DataFiles::find(&args.data)?, args.columns.columns());
    let profile = kinfolk_io::profile(data.paths(), &roles)?;
    let mut counts = RowCounts::default();
    let read =
        kinfolk_io::open_all(data.paths(), &roles, None).map_err(Failure::from).and_then(|mut source| {
            chunks::for_each(&mut *source, |table| {
                counts.add(&table);
                Ok(())
            })?;
            Ok(source.schema())
        });
    let mut in_the_way = match (&read, &profile) {
        (Err(failure), Some(_)) => Some(failure.to_string()),
        _ => None,
    };
    let schema = match read {
        Err(failure) if profile.is_none() => return Err(failure),
        Err(_) => {
            // A recipe would say it.
            let remark = profile.as_ref().and_then(|profile| profile.remark.as_ref());
            remark.into_iter().for_each(|remark| report.note(remark));
            counts = RowCounts::default();
            counts.rows = profile.as_ref().map_or(0, |profile| profile.rows as usize);
            None
        }
        Ok(schema) => Some(schema),
    };
    let suggestion = profile.as_ref().map(|profile| suggest(profile, &roles, &data, in_the_way.is_none()));
    let suggestion = suggestion.transpose().unwrap_or_else(|why| {
        in_the_way.get_or_insert(why);
        None
    });
    let (suggestion, guess, suggested) = match suggestion {
        Some(Suggested { command, guess, schema }) => (Some(command), guess, schema),
        None => (None, None, None),
    };
    // What is in the way of one column says nothing about the others.
    let notes = schema.as_ref().or(suggested.as_ref()).map_or(vec![], |schema| {
        schema.notes().into_iter().chain(counts.correlations.note(schema)).collect()
    });
    let info = DataInfo {
        data: &data,
        bytes: data.bytes(),
        n_inputs: counts.rows,
        n_features: counts.features,
        inputs: stored(&counts, schema.as_ref().map_or(Storage::Dense, |schema| schema.storage), roles.dense),
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
        columns: profile.as_ref().map_or(vec![], columns::output),
        notes,
        in_the_way,
        suggestion,
        guess,
        n_targets: profile.as_ref().map_or(0, count_targets),
    };
    let table = profile.as_ref().map_or(String::new(), columns::in_words);
    report.answer(&info, in_words(&info) + &table + &closing(&info))?;
    Ok(ExitCode::SUCCESS)
}

fn count_targets(profile: &FileProfile) -> usize {
    profile.columns.iter().filter(|column| column.role == Some(Role::Target)).count()
}

/// The command to go on with.
struct Suggested {
    command: String,
    guess: Option<String>,
    /// How it reads the file, if the file is read for that.
    schema: Option<Schema>,
}

/// What to go on with. `Err` says why it would fail.
fn suggest(
    profile: &FileProfile,
    roles: &ColumnRoles,
    data: &DataFiles,
    is_readable: bool,
) -> std::result::Result<Suggested, String> {
    let suggestion = Suggestion::new(profile, roles);
    let schema = match &suggestion.roles {
        Some(roles) => {
            let mut source = kinfolk_io::open_all(data.paths(), roles, None).map_err(in_words_of)?;
            chunks::for_each(&mut *source, |_| Ok(())).map_err(|failure| failure.to_string())?;
            Some(source.schema())
        }
        None if is_readable => None,
        None => {
            let mut without = roles.clone();
            let in_the_way = profile.columns.iter().filter(|column| column.used_as == "in the way");
            without.drop.extend(in_the_way.map(|column| column.name.clone()));
            Some(kinfolk_io::open_all(data.paths(), &without, None).map_err(in_words_of)?.schema())
        }
    };
    let given = suggestion::given_words(std::env::args_os().map(|word| word.to_string_lossy().into_owned()));
    let command = suggestion::command(&given, &suggestion.options, data.first());
    Ok(Suggested { command, guess: suggestion.guess, schema })
}

fn in_words_of(error: kinfolk_io::Error) -> String {
    Failure::from(error).to_string()
}

/// What a fit does to the columns, or why it cannot start, and how to go on.
fn closing(info: &DataInfo<'_>) -> String {
    let mut lines: Vec<String> = info.notes.iter().map(|note| format!("columns   {note}")).collect();
    lines.extend(info.in_the_way.as_ref().map(|why| format!("problem   {why}")));
    lines.extend(info.suggestion.as_ref().map(|command| format!("next      {command}")));
    lines.extend(info.guess.as_ref().map(|guess| format!("          ({guess})")));
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
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
        match info.data.has_stdin() {
            true => format!("file      {}", info.data.in_words()),
            false => format!("file      {}, {}", info.data.in_words(), text::bytes(info.bytes)),
        },
        match info.in_the_way.is_some() && info.n_features == 0 {
            true => format!("inputs    {}", plural(info.n_inputs, "row")),
            false => format!(
                "inputs    {}, {}, {}, {} % not zero",
                plural(info.n_inputs, "row"),
                plural(info.n_features, "feature"),
                info.inputs,
                number(100.0 * info.nonzero, 3)
            ),
        },
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
        _ if info.n_targets > 0 => format!("targets   {}", plural(info.n_targets, "column")),
        _ if info.columns.is_empty() => "targets   none: only for predict".into(),
        _ => "targets   none is named: --target says what is to be learned".into(),
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
