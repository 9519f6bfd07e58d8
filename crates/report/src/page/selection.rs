//! The results of `kinfolk select --results`.

use kinfolk::Model;
use kinfolk::solver::TracePoint;
use kinfolk_train::{Metric, Params, Point, Score};
use serde::Deserialize;

/// The results of a selection.
#[derive(Debug, Deserialize)]
pub struct SelectionResults {
    pub(super) metric: Metric,
    pub(super) folds: usize,
    tasks: Vec<String>,
    best: Vec<BestSetting>,
    pub(super) rows: Vec<Setting>,
    comparisons: Vec<MethodComparison>,
    fit: Option<FinalFit>,
}

/// How one setting did.
#[derive(Debug, Deserialize)]
pub(super) struct Setting {
    pub(super) method: String,
    pub(super) params: Params,
    pub(super) point: Point,
    pub(super) c: f64,
    /// `None` if no task has a score.
    pub(super) mean: Option<f64>,
    pub(super) sd: Option<f64>,
    pub(super) rel_gap: Option<f64>,
}

/// The best setting of a method.
#[derive(Debug, Deserialize)]
struct BestSetting {
    #[serde(flatten)]
    setting: Setting,
    scores: Vec<FoldScore>,
}

/// A [`Score`] whose mean may be missing.
#[derive(Debug, Deserialize)]
struct FoldScore {
    per_task: Vec<Option<f64>>,
}

/// A method against another one, on the same folds.
#[derive(Debug, Deserialize)]
pub(super) struct MethodComparison {
    pub(super) method: String,
    pub(super) baseline: String,
    pub(super) gain: Option<f64>,
    pub(super) standard_error: Option<f64>,
    pub(super) per_task: Vec<Option<f64>>,
    pub(super) per_task_standard_error: Vec<Option<f64>>,
    pub(super) hurt: Vec<usize>,
    pub(super) helped: Vec<usize>,
}

/// The fit to all rows.
#[derive(Debug, Deserialize)]
struct FinalFit {
    method: String,
    params: Params,
    primal: serde_json::Value,
    trace: Vec<TracePoint>,
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

impl SelectionResults {
    /// Reads the JSON of `kinfolk select --results`.
    ///
    /// # Errors
    /// A sentence that says what is wrong: it is something else, or it is about other tasks than the model.
    pub fn parse(json: &str, model: &Model) -> Result<SelectionResults, String> {
        let results: SelectionResults = serde_json::from_str(json)
            .map_err(|error| format!("these are not the results of kinfolk select --results: {error}"))?;
        let n = model.tasks().len();
        if results.tasks.len() != n {
            return Err(format!("it has {} tasks, and the model has {n}", results.tasks.len()));
        }
        let other = model.tasks().iter().zip(&results.tasks).find(|(own, other)| own != *other);
        if let Some((own, other)) = other {
            return Err(format!("it has a task {other:?} where the model has {own:?}"));
        }
        results.check(n)?;
        Ok(results)
    }

    /// `Err` unless every list over tasks has an entry for each.
    fn check(&self, n: usize) -> Result<(), String> {
        let mut lists = self.comparisons.iter().flat_map(|c| [&c.per_task, &c.per_task_standard_error]);
        let mut scores = self.best.iter().flat_map(|best| &best.scores);
        let mut tasks = self.comparisons.iter().flat_map(|c| c.hurt.iter().chain(&c.helped));
        let fine = lists.all(|list| list.len() == n)
            && scores.all(|score| score.per_task.len() == n)
            && tasks.all(|&t| t < n);
        if fine { Ok(()) } else { Err(format!("some of its lists are not about {n} tasks")) }
    }

    /// The method of the final fit.
    fn fitted_method(&self) -> Option<String> {
        self.fit.as_ref().map(|fit| title(&fit.method, &fit.params))
    }

    /// The comparison of the fitted method with independent tasks. If there is none, that of the method with the
    /// largest gain.
    pub(super) fn against_independent(&self) -> Option<&MethodComparison> {
        let all = || self.comparisons.iter().filter(|c| c.baseline == "stl" && c.gain.is_some());
        let own = self.fitted_method().and_then(|fitted| all().find(|c| c.method == fitted));
        own.or_else(|| all().reduce(|a, b| if b.gain > a.gain { b } else { a }))
    }

    /// The best setting of the fitted method, else of the method in the comparison, else of the first method.
    fn best_setting(&self) -> Option<&BestSetting> {
        let of = |title: String| self.best.iter().find(|best| best.setting.title() == title);
        let compared = || self.against_independent().map(|c| c.method.clone());
        self.fitted_method().and_then(of).or_else(|| compared().and_then(of)).or(self.best.first())
    }

    /// Its scores in cross-validation: the mean over folds of each task.
    pub(super) fn cross_validated(&self) -> Option<Score> {
        let best = self.best_setting()?;
        let of_task = |t: usize| mean(best.scores.iter().filter_map(|fold| fold.per_task[t]));
        Some(Score { mean: best.setting.mean?, per_task: (0..self.tasks.len()).map(of_task).collect() })
    }

    /// The setting that was chosen.
    pub(super) fn chosen(&self) -> Option<&Setting> {
        self.best_setting().map(|best| &best.setting)
    }

    /// What the selection scored by.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The trace of the final fit, if that gave this model.
    pub fn trace(&self, model: &Model) -> Vec<TracePoint> {
        let own = self.fit.as_ref().filter(|fit| fit.primal.as_f64() == Some(model.certificate().primal));
        own.map_or(vec![], |fit| fit.trace.clone())
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0);
    values.for_each(|x| (sum, n) = (sum + x, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}
