//! Section "Theta": which tasks are related, and the values that the script draws.

use crate::text::{number, shorten};
use crate::{Tree, distances};
use data_encoding::BASE64;
use kinfolk::{Matrix, Model};
use serde::Serialize;

/// With more tasks, the values of Theta would make the page too large for browsers.
const MAX_DRAWN_TASKS: usize = 3000;

/// Correlations below this are called weak.
const WEAK_CORRELATION: f64 = 0.05;

/// Characters of a task's name in a heading.
const MAX_NAME_CHARS: usize = 40;

/// The JSON element `#theta-data`.
#[derive(Serialize)]
pub(super) struct ThetaJson {
    names: Vec<String>,
    /// Tasks from top to bottom.
    order: Vec<usize>,
    /// Two nodes and their distance for each join of the tree; nodes from `names.len()` on are joins.
    joins: Vec<(usize, usize, f64)>,
    /// The largest absolute value, by which the others are divided.
    unit: f64,
    /// The lower triangle with the diagonal, row by row, as little-endian 32-bit floats in base64.
    theta: String,
}

impl ThetaJson {
    /// Values, order and tree; only the names if nothing is drawn.
    pub(super) fn new(model: &Model, correlation: &Matrix, drawn: bool) -> Self {
        let names: Vec<String> = model.tasks().iter().collect();
        if !drawn {
            return ThetaJson { names, order: vec![], joins: vec![], unit: 0.0, theta: String::new() };
        }
        let d = distances(correlation);
        let tree = Tree::new(&d);
        let theta = model.theta();
        let unit = theta.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let share = |x: &f64| if unit > 0.0 { (x / unit) as f32 } else { 0.0 };
        let lower = (0..names.len()).flat_map(|r| &theta.row(r)[..=r]);
        let bytes: Vec<u8> = lower.flat_map(|x| share(x).to_le_bytes()).collect();
        let joins = tree.joins().to_vec();
        ThetaJson { order: tree.order(&d), joins, unit, theta: BASE64.encode(&bytes), names }
    }
}

#[derive(Serialize)]
pub(super) struct ThetaSection {
    pub(super) heading: String,
    sentence: String,
    /// Whether there is a map.
    pub(super) drawn: bool,
    n_tasks: usize,
}

/// For each task, the one with the largest absolute correlation, and that correlation.
pub(super) fn nearest(correlation: &Matrix) -> Vec<Option<(usize, f64)>> {
    let of = |r: usize| {
        let row = correlation.row(r);
        let others = (0..row.len()).filter(|&s| s != r && row[s] != 0.0);
        others.reduce(|a, b| if row[b].abs() > row[a].abs() { b } else { a }).map(|s| (s, row[s]))
    };
    (0..correlation.rows()).map(of).collect()
}

pub(super) fn section(model: &Model, nearest: &[Option<(usize, f64)>]) -> ThetaSection {
    let n_tasks = model.tasks().len();
    let drawn = n_tasks > 1 && n_tasks <= MAX_DRAWN_TASKS;
    let sentence = if n_tasks == 1 {
        "There is only one task.".into()
    } else if drawn {
        "Theta says how much two tasks have in common: red for alike, blue for opposite, pale for unrelated. Related \
         tasks are called kin and stand side by side; the tree shows at which distance groups of them join."
            .into()
    } else {
        format!(
            "The map is left out: {n_tasks} tasks are more than a page can hold ({MAX_DRAWN_TASKS}). kinfolk theta \
             MODEL -o FILE writes the matrix."
        )
    };
    ThetaSection { heading: heading(model, nearest), sentence, drawn, n_tasks }
}

fn heading(model: &Model, nearest: &[Option<(usize, f64)>]) -> String {
    let pairs = nearest.iter().enumerate().filter_map(|(r, nearest)| nearest.map(|(s, c)| (r, s, c)));
    let Some((r, s, c)) = pairs.reduce(|a, b| if b.2.abs() > a.2.abs() { b } else { a }) else {
        return "No two tasks are related".into();
    };
    let (r, s) = (short_name(&model.tasks().name(r)), short_name(&model.tasks().name(s)));
    if c.abs() < WEAK_CORRELATION {
        format!("Tasks are hardly related: the closest are {r} and {s}, correlation {}", number(c, 2))
    } else {
        format!("Closest kin: {r} and {s}, correlation {c:.2}")
    }
}

/// A name that fits into a heading.
pub(super) fn short_name(name: &str) -> String {
    shorten(name, MAX_NAME_CHARS)
}
