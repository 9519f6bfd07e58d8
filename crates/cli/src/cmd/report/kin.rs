//! Theta for the script of the page: every value, an order that puts kin beside kin, and the tree it comes from.

use super::base64;
use crate::text::number;
use kinfolk::{Matrix, Model};
use kinfolk_report::{Tree, distances};
use serde::Serialize;

/// Beyond this many tasks the values would make a page that browsers choke on.
const MOST_TASKS: usize = 3000;

/// A correlation that nobody would call one.
const FAINT: f64 = 0.05;

/// What the script draws.
#[derive(Serialize)]
pub(super) struct Island {
    names: Vec<String>,
    /// Tasks from top to bottom.
    order: Vec<usize>,
    /// Two nodes and their distance for each join; nodes from `names.len()` on are joins.
    joins: Vec<(usize, usize, f64)>,
    /// The largest value: the others are multiples of it.
    unit: f64,
    /// Rows of the lower triangle, diagonal included, as floats of 32 bits in base64.
    theta: String,
}

/// Who is kin to whom.
#[derive(Serialize)]
pub(super) struct Kin {
    pub(super) heading: String,
    pub(super) sentence: String,
    /// Whether there is a map.
    pub(super) drawn: bool,
    pub(super) tasks: usize,
}

/// The closest kin of each task: which, and its correlation.
pub(super) fn nearest(correlation: &Matrix) -> Vec<Option<(usize, f64)>> {
    let of = |r: usize| {
        let row = correlation.row(r);
        let others = (0..row.len()).filter(|&s| s != r && row[s] != 0.0);
        others.reduce(|a, b| if row[b].abs() > row[a].abs() { b } else { a }).map(|s| (s, row[s]))
    };
    (0..correlation.rows()).map(of).collect()
}

pub(super) fn kin(model: &Model, nearest: &[Option<(usize, f64)>]) -> Kin {
    let n = model.tasks().len();
    let closest = nearest.iter().enumerate().filter_map(|(r, kin)| kin.map(|(s, c)| (r, s, c)));
    let closest = closest.reduce(|a, b| if b.2.abs() > a.2.abs() { b } else { a });
    let heading = match closest {
        Some((r, s, c)) => {
            let (r, s) = (model.tasks().name(r), model.tasks().name(s));
            match c.abs() < FAINT {
                true => format!(
                    "Hardly any kin: the closest are {} and {}, correlation {}",
                    brief(&r),
                    brief(&s),
                    number(c, 2)
                ),
                false => format!("Closest kin: {} and {}, correlation {c:.2}", brief(&r), brief(&s)),
            }
        }
        None => "No task is kin to another".into(),
    };
    let drawn = n > 1 && n <= MOST_TASKS;
    let sentence = match () {
        () if n == 1 => "There is only one task.".into(),
        () if !drawn => format!(
            "The map is left out: {n} tasks are more than a page can hold ({MOST_TASKS}). kinfolk theta MODEL -o FILE writes \
             the matrix."
        ),
        () => "Theta says how much two tasks have in common: red for alike, blue for opposite, pale for unrelated. Tasks are \
               ordered so that kin stand side by side; the tree shows which groups join at which distance."
            .into(),
    };
    Kin { heading, sentence, drawn, tasks: n }
}

/// A name that fits a heading.
pub(super) fn brief(name: &str) -> String {
    kinfolk_report::shorten(name, 40)
}

pub(super) fn island(model: &Model, correlation: &Matrix, drawn: bool) -> Island {
    let names: Vec<String> = model.tasks().iter().collect();
    if !drawn {
        return Island { names, order: vec![], joins: vec![], unit: 0.0, theta: String::new() };
    }
    let d = distances(correlation);
    let tree = Tree::new(&d);
    let theta = model.theta();
    let unit = theta.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut bytes = Vec::with_capacity(2 * names.len() * (names.len() + 1));
    for r in 0..names.len() {
        for x in &theta.row(r)[..=r] {
            let share = if unit > 0.0 { x / unit } else { 0.0 };
            bytes.extend((share as f32).to_le_bytes());
        }
    }
    Island { order: tree.order(&d), joins: tree.joins().to_vec(), unit, theta: base64::encode(&bytes), names }
}
