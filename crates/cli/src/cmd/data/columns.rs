//! The columns of a file, one line each.

use crate::text::{Grid, count, number};
use kinfolk_io::{ColumnProfile, FileProfile, Role};
use serde::Serialize;
use std::collections::BTreeMap;

/// Columns that are listed in the text.
const MAX_LISTED: usize = 60;
/// So many columns that are alike are one line.
const MIN_FAMILY: usize = 10;
/// Longest example, in characters.
const MAX_EXAMPLE: usize = 24;
/// Longest number that is shown with all its digits, in characters.
const MAX_WHOLE_NUMBER: usize = 9;
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
    // What is to be learned comes first.
    let is_target = |column: &&ColumnProfile| column.role == Some(Role::Target);
    // The first number of a list stands for all.
    let listed =
        || profile.columns.iter().filter(|column| column.in_list.is_none_or(|(place, _)| place == 0));
    let others = listed().filter(|column| !is_target(column));
    let families = Families::new(listed());
    let listed = || listed().filter(|column| families.shows(column));
    let others = others.filter(|column| families.shows(column));
    for column in listed().filter(is_target).chain(others).take(MAX_LISTED) {
        let name = match (column.in_list, families.others_like(column)) {
            (Some((_, length)), _) => format!("{} ({length} of a list)", short(&column.name)),
            (None, 0) => short(&column.name),
            (None, more) => format!("{} (and {more} like it)", short(&column.name)),
        };
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
            name,
            column.kind.into(),
            missing,
            format!("{more}{}", count(column.distinct)),
            column
                .range
                .as_ref()
                .map_or(String::new(), |(low, high)| format!("{} to {}", value(low), value(high))),
            column.examples.iter().map(|text| value(text)).collect::<Vec<_>>().join(", "),
            use_of,
        ]);
    }
    let rest = listed().count().saturating_sub(MAX_LISTED);
    let rest = if rest > 0 {
        format!("... and {} more columns; --json lists all\n", count(rest))
    } else {
        String::new()
    };
    format!("\n{grid}{rest}")
}

/// Columns that are alike: by their names, type and use. The first one stands for all.
struct Families<'a> {
    of: BTreeMap<(String, &'static str, String), Vec<&'a str>>,
}

impl<'a> Families<'a> {
    fn new(columns: impl Iterator<Item = &'a ColumnProfile>) -> Self {
        let mut of: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for column in columns {
            if let Some(key) = Families::key(column) {
                of.entry(key).or_default().push(&column.name);
            }
        }
        of.retain(|_, names| names.len() >= MIN_FAMILY);
        Families { of }
    }

    fn key(column: &ColumnProfile) -> Option<(String, &'static str, String)> {
        let stem = kinfolk_io::family(&column.name).filter(|_| column.in_list.is_none())?;
        Some((stem.to_string(), column.kind, role(column)))
    }

    fn names_like(&self, column: &ColumnProfile) -> &[&'a str] {
        Families::key(column).and_then(|key| self.of.get(&key)).map_or(&[], Vec::as_slice)
    }

    fn shows(&self, column: &ColumnProfile) -> bool {
        self.names_like(column).first().is_none_or(|first| *first == column.name)
    }

    fn others_like(&self, column: &ColumnProfile) -> usize {
        self.names_like(column).len().saturating_sub(1)
    }
}

/// A value in few characters: long decimals have four significant digits.
fn value(text: &str) -> String {
    match text.trim().parse::<f64>() {
        Ok(x) if x.is_finite() && text.contains(['.', 'e', 'E']) && text.len() > MAX_WHOLE_NUMBER => {
            number(x, 4)
        }
        _ => short(text),
    }
}

fn short(text: &str) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(MAX_EXAMPLE) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}
