//! What `kinfolk select --results` wrote, read again.

use crate::failure::{Failure, Result};
use crate::trace::Step;
use kinfolk::Model;
use kinfolk_train::{Metric, Params, Point, Score};
use serde::Deserialize;
use std::path::Path;

/// A selection.
#[derive(Debug, Deserialize)]
pub(super) struct Results {
    pub(super) metric: Metric,
    pub(super) folds: usize,
    tasks: Vec<String>,
    best: Vec<Best>,
    pub(super) rows: Vec<Setting>,
    pub(super) comparisons: Vec<Comparison>,
    fit: Option<Refit>,
}

/// How one setting did.
#[derive(Debug, Deserialize)]
pub(super) struct Setting {
    pub(super) method: String,
    pub(super) params: Params,
    pub(super) point: Point,
    pub(super) c: f64,
    /// Not there where no task has a score.
    pub(super) mean: Option<f64>,
    pub(super) sd: Option<f64>,
    pub(super) rel_gap: Option<f64>,
}

/// The best setting of a method.
#[derive(Debug, Deserialize)]
struct Best {
    #[serde(flatten)]
    setting: Setting,
    scores: Vec<FoldScore>,
}

/// A [`Score`] whose mean may be missing.
#[derive(Debug, Deserialize)]
struct FoldScore {
    per_task: Vec<Option<f64>>,
}

/// A method against another, on the same folds.
#[derive(Debug, Deserialize)]
pub(super) struct Comparison {
    pub(super) method: String,
    pub(super) baseline: String,
    pub(super) gain: Option<f64>,
    pub(super) standard_error: Option<f64>,
    pub(super) per_task: Vec<Option<f64>>,
    pub(super) per_task_standard_error: Vec<Option<f64>>,
    pub(super) hurt: Vec<usize>,
    pub(super) helped: Vec<usize>,
}

/// What was fitted to all rows.
#[derive(Debug, Deserialize)]
struct Refit {
    method: String,
    params: Params,
    primal: serde_json::Value,
    trace: Vec<Step>,
}

impl Setting {
    pub(super) fn title(&self) -> String {
        title(&self.method, &self.params)
    }
}

/// `fmtl (k=1, output=power)`.
fn title(method: &str, params: &Params) -> String {
    if params.is_empty() { method.to_string() } else { format!("{method} ({params})") }
}

impl Results {
    /// Reads them; `Err` if they are about other tasks than the model.
    pub(super) fn read(path: &Path, model: &Model) -> Result<Results> {
        let wrong = |why: String| Failure::input(why).about(path);
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let results: Results = serde_json::from_str(&text).map_err(|error| {
            wrong(format!("these are not the results of kinfolk select --results: {error}"))
        })?;
        let n = model.tasks().len();
        if results.tasks.len() != n {
            return Err(wrong(format!("it has {} tasks, and the model has {n}", results.tasks.len())));
        }
        let other = model.tasks().iter().zip(&results.tasks).find(|(own, other)| own != *other);
        if let Some((own, other)) = other {
            return Err(wrong(format!("it has a task {other:?} where the model has {own:?}")));
        }
        results.check(n).map_err(wrong)?;
        Ok(results)
    }

    /// Every list of tasks has a place for each.
    fn check(&self, n: usize) -> std::result::Result<(), String> {
        let mut lists = self.comparisons.iter().flat_map(|c| [&c.per_task, &c.per_task_standard_error]);
        let mut scores = self.best.iter().flat_map(|best| &best.scores);
        let mut places = self.comparisons.iter().flat_map(|c| c.hurt.iter().chain(&c.helped));
        let fine = lists.all(|list| list.len() == n)
            && scores.all(|score| score.per_task.len() == n)
            && places.all(|&t| t < n);
        if fine { Ok(()) } else { Err(format!("some of its lists are not about {n} tasks")) }
    }

    /// The method of the model, if the selection fitted it.
    fn fitted(&self) -> Option<String> {
        self.fit.as_ref().map(|fit| title(&fit.method, &fit.params))
    }

    /// The model's method against independent tasks; if it does not join them, or nobody knows, the best one that does.
    pub(super) fn against_alone(&self) -> Option<&Comparison> {
        let alone = || self.comparisons.iter().filter(|c| c.baseline == "stl" && c.gain.is_some());
        let own = self.fitted().and_then(|fitted| alone().find(|c| c.method == fitted));
        own.or_else(|| alone().reduce(|a, b| if b.gain > a.gain { b } else { a }))
    }

    /// The best setting of the model's method, or else of the one whose gains are told, or of the first.
    fn told(&self) -> Option<&Best> {
        let of = |title: String| self.best.iter().find(|best| best.setting.title() == title);
        let compared = || self.against_alone().map(|c| c.method.clone());
        self.fitted().and_then(of).or_else(|| compared().and_then(of)).or(self.best.first())
    }

    /// Its scores in cross-validation: the mean over folds of each task.
    pub(super) fn cross_validated(&self) -> Option<Score> {
        let told = self.told()?;
        let n = self.tasks.len();
        let of_task = |t: usize| mean(told.scores.iter().filter_map(|fold| fold.per_task[t]));
        let per_task = (0..n).map(of_task).collect();
        Some(Score { mean: told.setting.mean?, per_task })
    }

    /// The point that was chosen for it.
    pub(super) fn chosen(&self) -> Option<&Setting> {
        self.told().map(|best| &best.setting)
    }

    /// The way of the last fit, if that gave this model.
    pub(super) fn trace(&self, model: &Model) -> Vec<Step> {
        let own = self.fit.as_ref().filter(|fit| fit.primal.as_f64() == Some(model.certificate().primal));
        own.map_or(vec![], |fit| fit.trace.clone())
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0);
    values.for_each(|x| (sum, n) = (sum + x, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}
