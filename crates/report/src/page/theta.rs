//! Section "Theta": which tasks are related, and the values that the script draws.

use crate::plot::share_bar;
use crate::text::{number, shorten};
use crate::{Tree, distances};
use data_encoding::BASE64;
use kinfolk::{Matrix, Model};
use kinfolk_train::{KinRule, shares_in_words};
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
    /// As [`lower_half`] writes it.
    theta: String,
    /// Correlations of the fitted functions, written alike.
    functions: Option<String>,
}

impl ThetaJson {
    /// Values, order and tree; only the names if nothing is drawn.
    pub(super) fn new(model: &Model, correlation: &Matrix, functions: Option<&Matrix>, drawn: bool) -> Self {
        let names: Vec<String> = model.tasks().iter().collect();
        if !drawn {
            let theta = String::new();
            return ThetaJson { names, order: vec![], joins: vec![], unit: 0.0, theta, functions: None };
        }
        let d = distances(correlation);
        let tree = Tree::new(&d);
        let theta = model.theta();
        let unit = theta.as_slice().iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let joins = tree.joins().to_vec();
        let functions = functions.map(|functions| lower_half(functions, 1.0));
        ThetaJson { order: tree.order(&d), joins, unit, theta: lower_half(theta, unit), functions, names }
    }
}

/// The lower triangle with the diagonal in this unit, row by row, as little-endian 32-bit floats in base64.
fn lower_half(m: &Matrix, unit: f64) -> String {
    let share = |x: &f64| if unit > 0.0 { (x / unit) as f32 } else { 0.0 };
    let lower = (0..m.rows()).flat_map(|r| &m.row(r)[..=r]);
    BASE64.encode(&lower.flat_map(|x| share(x).to_le_bytes()).collect::<Vec<u8>>())
}

#[derive(Serialize)]
pub(super) struct ThetaSection {
    pub(super) heading: String,
    sentence: String,
    /// What atoms contribute and what was found in the data, in words and as a picture.
    shares: Option<String>,
    share_bar: Option<String>,
    /// Whether there is a map.
    pub(super) drawn: bool,
    /// Whether the model can tell how alike fitted functions are.
    has_functions: bool,
    n_tasks: usize,
}

/// What tasks are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closeness {
    /// Correlations of the fitted functions.
    Functions,
    /// Correlations of Theta, where the model does not keep what functions need.
    Theta,
    /// The same without what each task has to itself.
    ThetaWithoutOwn,
}

impl Closeness {
    /// As `kinfolk theta` says it.
    pub(super) fn in_words(self) -> &'static str {
        match self {
            Closeness::Functions => "correlation of fitted functions",
            Closeness::Theta => "correlation in Theta",
            Closeness::ThetaWithoutOwn => "correlation in Theta, without own",
        }
    }
}

/// The closest task of each task.
pub(super) struct NearestKin {
    pub(super) by: Closeness,
    pub(super) kin: Vec<Option<Kin>>,
    /// Whether a task has enough labels to tell.
    has_a_say: Vec<bool>,
}

/// A task that is close to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kin {
    pub(super) task: usize,
    correlation: f64,
    /// The correlation without what each task has to itself, if there is such a part.
    without_own: Option<f64>,
}

impl Kin {
    /// What tasks are compared by.
    pub(super) fn closeness(self) -> f64 {
        self.without_own.unwrap_or(self.correlation)
    }

    /// Whether it is the opposite of the task, since none is like it.
    pub(super) fn is_opposite(self) -> bool {
        self.closeness() < 0.0
    }

    /// As `kinfolk theta` prints it: the correlation, and that without own.
    pub(super) fn in_words(self) -> String {
        let without_own = self.without_own.map_or(String::new(), |c| format!(", {c:.2}"));
        format!("{:.2}{without_own}", self.correlation)
    }
}

impl NearestKin {
    /// The task with the largest correlation of functions, or else in Theta, there without own if there is such a part;
    /// if none is above zero, the clearest opposite. A rule says which tasks may be named.
    pub(super) fn new(
        functions: Option<&Matrix>,
        theta: &Matrix,
        shared: Option<&Matrix>,
        rule: &KinRule,
    ) -> Self {
        let (by, correlation, shared) = match (functions, shared) {
            (Some(functions), _) => (Closeness::Functions, functions, None),
            (None, None) => (Closeness::Theta, theta, None),
            (None, Some(_)) => (Closeness::ThetaWithoutOwn, theta, shared),
        };
        let related = shared.unwrap_or(correlation);
        let of = |r: usize| {
            let kin = rule.closest(related, r).first().copied();
            let nearest = kin.or_else(|| rule.opposite(related, r, 0.0));
            nearest.map(|task| Kin {
                task,
                correlation: correlation[(r, task)],
                without_own: shared.map(|shared| shared[(r, task)]),
            })
        };
        let n_tasks = correlation.rows();
        let has_a_say = (0..n_tasks).map(|r| rule.has_a_say(r)).collect();
        NearestKin { by, kin: (0..n_tasks).map(of).collect(), has_a_say }
    }
}

/// `is_alone`: tasks were learned alone, so that nothing was looked for.
pub(super) fn section(model: &Model, nearest: &NearestKin, is_alone: bool) -> ThetaSection {
    let n_tasks = model.tasks().len();
    let drawn = n_tasks > 1 && n_tasks <= MAX_DRAWN_TASKS;
    let sentence = if n_tasks == 1 {
        "There is only one task.".into()
    } else if drawn {
        let functions = match nearest.by {
            Closeness::Functions => " How alike the fitted functions turned out is another view of the map.",
            _ => "",
        };
        format!(
            "Theta says what two tasks lend each other: red for alike, blue for opposite, pale for unrelated. Related \
             tasks are called kin and stand side by side; the tree shows at which distance groups of them join.\
             {functions}"
        )
    } else {
        format!(
            "The map is left out: {n_tasks} tasks are more than a page can hold ({MAX_DRAWN_TASKS}). kinfolk theta \
             MODEL -o FILE writes the matrix."
        )
    };
    let shares = shares_in_words(model);
    let share_bar = shares.as_ref().map(|words| share_bar(words, &kinfolk_train::shares(model)));
    let has_functions = nearest.by == Closeness::Functions;
    let heading = heading(model, nearest, is_alone);
    ThetaSection { heading, sentence, shares, share_bar, drawn, has_functions, n_tasks }
}

fn heading(model: &Model, nearest: &NearestKin, is_alone: bool) -> String {
    if is_alone && model.tasks().len() > 1 {
        return "Tasks were learned alone: relations were not looked for".into();
    }
    let pairs = nearest.kin.iter().enumerate().filter_map(|(r, kin)| Some((r, (*kin)?)));
    let pairs = pairs.filter(|(r, _)| nearest.has_a_say[*r]);
    let closest = pairs.reduce(|a, b| if b.1.closeness() > a.1.closeness() { b } else { a });
    let Some((r, kin)) = closest else { return "No two tasks are related".into() };
    let (s, c) = (kin.task, kin.correlation);
    let (r, s) = (short_name(&model.tasks().name(r)), short_name(&model.tasks().name(s)));
    let about = match kin.without_own {
        Some(c) => format!(" in Theta ({c:.2} without own)"),
        None => nearest.by.in_words().strip_prefix("correlation").unwrap_or_default().to_string(),
    };
    if kin.closeness().abs() < WEAK_CORRELATION {
        format!("Tasks are hardly related: the closest are {r} and {s}, correlation {}{about}", number(c, 2))
    } else if kin.is_opposite() {
        format!("No two tasks are alike: {r} and {s} are opposites, correlation {c:.2}{about}")
    } else {
        format!("Closest kin: {r} and {s}, correlation {c:.2}{about}")
    }
}

/// A name that fits into a heading.
pub(super) fn short_name(name: &str) -> String {
    shorten(name, MAX_NAME_CHARS)
}
