//! The columns of a file, one line each, and the command that makes sense next.

use crate::failure::argument;
use crate::text::{Grid, count};
use kinfolk_io::{ColumnProfile, ColumnRoles, FileProfile, Role};
use serde::Serialize;
use std::path::Path;

/// Columns that are listed in the text.
const MAX_LISTED: usize = 60;
/// Longest example, in characters.
const MAX_EXAMPLE: usize = 24;
/// Rows that a task should have on average, at least, for a column to be taken for tasks.
const MIN_ROWS_PER_TASK: u64 = 4;
/// Names that targets often have.
const TARGETS: [&str; 12] = [
    "target",
    "y",
    "label",
    "class",
    "outcome",
    "score",
    "response",
    "price",
    "sales",
    "value",
    "result",
    "diagnosis",
];
/// Names that tasks often have.
const TASKS: [&str; 16] = [
    "task", "group", "school", "shop", "store", "site", "hospital", "clinic", "centre", "center", "patient",
    "subject", "sensor", "station", "region", "user",
];

/// A column in JSON.
#[derive(Serialize)]
pub(super) struct ColumnOutput<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    kind: &'static str,
    missing: u64,
    distinct: usize,
    more_distinct: bool,
    range: Option<&'a (String, String)>,
    examples: &'a [String],
    role: String,
    why: &'a str,
}

pub(super) fn output(profile: &FileProfile) -> Vec<ColumnOutput<'_>> {
    profile.columns.iter().map(ColumnOutput::new).collect()
}

impl<'a> ColumnOutput<'a> {
    fn new(column: &'a ColumnProfile) -> Self {
        ColumnOutput {
            name: &column.name,
            kind: column.kind,
            missing: column.missing,
            distinct: column.distinct,
            more_distinct: column.more_distinct,
            range: column.range.as_ref(),
            examples: &column.examples,
            role: role(column),
            why: &column.why,
        }
    }
}

/// What a column is used for.
fn role(column: &ColumnProfile) -> String {
    match column.role {
        Some(Role::OneHot) | None => column.used_as.to_string(),
        Some(role) => role.to_string(),
    }
}

pub(super) fn in_words(profile: &FileProfile) -> String {
    let mut grid = Grid::new(&["column", "type", ">missing", ">values", "range", "examples", "use"]);
    for column in profile.columns.iter().take(MAX_LISTED) {
        let share = 100.0 * column.missing as f64 / (profile.rows.max(1)) as f64;
        let missing = match column.missing {
            0 => String::new(),
            _ => format!("{share:.1} %"),
        };
        let more = if column.more_distinct { ">" } else { "" };
        let use_of = match (role(column), column.why.as_str()) {
            (role, "") => role,
            (role, why) => format!("{role}: {why}"),
        };
        grid.row([
            short(&column.name),
            column.kind.into(),
            missing,
            format!("{more}{}", count(column.distinct)),
            column
                .range
                .as_ref()
                .map_or(String::new(), |(low, high)| format!("{} to {}", short(low), short(high))),
            column.examples.iter().map(|text| short(text)).collect::<Vec<_>>().join(", "),
            use_of,
        ]);
    }
    let rest = profile.columns.len().saturating_sub(MAX_LISTED);
    let rest = if rest > 0 {
        format!("... and {} more columns; --json lists all\n", count(rest))
    } else {
        String::new()
    };
    format!("\n{grid}{rest}")
}

/// The command that fits the file, as far as the names of its columns tell.
pub(super) fn suggestion(profile: &FileProfile, columns: &ColumnRoles, data: &Path) -> String {
    let is_free = |column: &&ColumnProfile| column.role.is_none();
    let named = |names: &'static [&'static str]| {
        move |column: &&ColumnProfile| names.contains(&column.name.to_lowercase().as_str())
    };
    let target = match columns.target.as_slice() {
        [] => {
            let mut known = profile.columns.iter().filter(is_free).filter(|column| column.kind != "empty");
            known.find(named(&TARGETS)).map_or("COLUMN".into(), |column| argument(&column.name))
        }
        names => names.iter().map(|name| argument(name)).collect::<Vec<_>>().join(","),
    };
    let is_task = |column: &&ColumnProfile| {
        let enough = column.distinct as u64 * MIN_ROWS_PER_TASK <= profile.rows;
        enough && column.distinct > 1 && !column.more_distinct && ["words", "integers"].contains(&column.kind)
    };
    let candidates =
        || profile.columns.iter().filter(is_free).filter(is_task).filter(|column| column.name != target);
    let task = match (&columns.task, columns.target.len()) {
        (Some(name), _) => Some(argument(name)),
        (None, 2..) => None,
        (None, _) => candidates().find(named(&TASKS)).map(|column| argument(&column.name)),
    };
    let task = task.map_or(String::new(), |task| format!(" --task {task}"));
    let stem = data.file_stem().map_or("model".into(), |stem| stem.to_string_lossy().into_owned());
    let data = argument(&data.display().to_string());
    format!("kinfolk fit {data}{task} --target {target} -o {}", argument(&format!("{stem}.safetensors")))
}

fn short(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(MAX_EXAMPLE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
