//! What a selection found, as one JSON object: written by `kinfolk select --results`, read by `kinfolk report`.

use super::compare::tasks_with_few_labels;
use super::{Comparison, GrownGrid, ReplacedMetric, Row, Scored, Selection, Study};
use crate::{Error, MethodSpec, Metric, Result, Score, Trained};
use kinfolk::solver::TracePoint;
use kinfolk::{CertificateSummary, Model, TaskNames};
use kinfolk_io::FoldsBy;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A selection and what came of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SelectionResults {
    /// The score that settings were chosen by.
    pub metric: Metric,
    /// The one that was asked for, if settings could not be chosen by it.
    #[serde(default)]
    pub instead_of: Option<ReplacedMetric>,
    /// Number of tasks for which the score of the winner is undefined.
    #[serde(default)]
    pub undefined: usize,
    /// Grids that grew because the best was at their edge.
    #[serde(default)]
    pub grown: Vec<GrownGrid>,
    /// What a reader should know about the choice, in words.
    #[serde(default)]
    pub notes: Vec<String>,
    /// Number of folds.
    pub folds: usize,
    /// What decides about the folds, if that is not chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folds_by: Option<FoldsBy>,
    /// How often the data were cut into folds.
    pub repeats: usize,
    /// What settings were chosen by.
    pub scored: Scored,
    /// Names of the tasks.
    pub tasks: Vec<String>,
    /// The best setting of all.
    pub winner: Row,
    /// The best setting of each candidate.
    pub best: Vec<BestRow>,
    /// All settings.
    pub rows: Vec<Row>,
    /// The best of every method against independent tasks and against one model for all.
    pub comparisons: Vec<Verdict>,
    /// What was fitted to all rows.
    pub fit: Option<Refit>,
    /// Where that was written.
    pub model: Option<PathBuf>,
}

/// The best setting of a method, with its scores fold by fold and task by task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BestRow {
    /// The setting.
    #[serde(flatten)]
    pub row: Row,
    /// Its scores, fold by fold.
    pub scores: Vec<Score>,
    /// What it is chosen by, task by task. Version 0.1 did not write it.
    #[serde(default)]
    pub held_out: Option<Score>,
}

/// A comparison, and the same in words.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Verdict {
    /// The numbers.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// A sentence or two.
    pub words: String,
}

/// A setting that was fitted to all rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refit {
    /// The method with its parameters.
    pub method: MethodSpec,
    /// Claim, status and certificate.
    #[serde(flatten)]
    pub certificate: CertificateSummary,
    /// C.
    pub c: f64,
    /// Weight of the output regulariser.
    pub lambda: f64,
    /// The solver that ended it.
    pub solver: String,
    /// Passes over the data, or iterations.
    pub passes: Option<usize>,
    /// The certificates of the fit that are finite.
    pub trace: Vec<TracePoint>,
}

impl SelectionResults {
    /// What a study found, without a fit to all rows.
    pub fn new(study: &Study<'_>, selection: &Selection) -> Self {
        let tasks = study.observations.task_names();
        let best = |&row: &usize| BestRow {
            row: selection.rows[row].clone(),
            scores: selection.rows[row].folds.clone(),
            held_out: selection.rows[row].held_out.clone(),
        };
        SelectionResults {
            metric: selection.metric,
            instead_of: selection.instead_of,
            undefined: selection.undefined(),
            grown: selection.grown.clone(),
            notes: selection.notes().into_iter().chain(lone_rows(study, selection.metric)).collect(),
            folds: study.folds,
            folds_by: study.spec.folds_by.clone(),
            repeats: study.repeats,
            scored: study.scored,
            tasks: tasks.iter().collect(),
            winner: selection.rows[selection.winner].clone(),
            best: selection.best.iter().map(best).collect(),
            rows: selection.rows.clone(),
            comparisons: verdicts(study, selection),
            fit: None,
            model: None,
        }
    }
}

impl From<&Trained> for Refit {
    fn from(trained: &Trained) -> Self {
        let problem = &trained.model.about().problem;
        let finite =
            |point: &&TracePoint| [point.primal, point.dual, point.gap].iter().all(|x| x.is_finite());
        Refit {
            method: trained.spec.method.clone(),
            certificate: trained.model.summary(),
            c: problem.c,
            lambda: problem.lambda,
            solver: trained.outcome.solver.clone(),
            passes: trained.outcome.passes,
            trace: trained.trace.iter().filter(finite).cloned().collect(),
        }
    }
}

/// A note on tasks whose AUC rests on a single row of a class.
fn lone_rows(study: &Study<'_>, metric: Metric) -> Option<String> {
    let observations = study.observations;
    let mut counts = vec![(0_usize, 0_usize); observations.n_tasks()];
    for o in 0..observations.len() {
        let own = &mut counts[observations.task(o)];
        if observations.label(o) > 0.0 { own.0 += 1 } else { own.1 += 1 }
    }
    let names = observations.task_names();
    let lone = (0..counts.len()).filter(|&t| counts[t].0.min(counts[t].1) == 1).map(|t| names.name(t));
    metric.note_on_lone_rows(&lone.collect::<Vec<_>>())
}

/// The best of every method against independent tasks and against one model for all, as far as these were candidates.
fn verdicts(study: &Study<'_>, selection: &Selection) -> Vec<Verdict> {
    let few = tasks_with_few_labels(study.observations, &study.losses);
    let is_baseline = |candidate: &usize| {
        let row = &selection.rows[selection.best[*candidate]];
        row.method.method().info().is_baseline
    };
    let (baselines, joint): (Vec<usize>, Vec<usize>) = (0..selection.best.len()).partition(is_baseline);
    let pairs = joint.iter().flat_map(|&candidate| baselines.iter().map(move |&base| (candidate, base)));
    pairs
        .map(|(candidate, base)| {
            let [own, other] = [candidate, base].map(|of| &selection.rows[selection.best[of]]);
            let comparison = selection.compare(candidate, base);
            let comparison = comparison.marking(&few, selection.metric, (own, other));
            Verdict { words: comparison.in_words(study.observations.task_names()), comparison }
        })
        .collect()
}

impl SelectionResults {
    /// The score of the winner on held-out rows, and those of simpler methods: `pooled-r2 0.783 on held-out rows; stl
    /// 0.761, pooled 0.593`.
    /// `whole_tasks` says that folds hold out whole tasks.
    pub fn score_in_words(&self, whole_tasks: bool) -> String {
        let number = |score: f64| if score.is_nan() { "undefined".into() } else { format!("{score:.3}") };
        let rows = match &self.folds_by {
            _ if whole_tasks => "held-out tasks",
            None => "held-out rows",
            Some(FoldsBy::Group(_)) => "held-out groups",
            Some(FoldsBy::Time(_)) => "later rows",
        };
        let own = format!("{} {} on {rows}, by select", self.metric, number(self.winner.score));
        let is_other = |best: &&BestRow| {
            let method = &best.row.method;
            method.method().info().is_baseline && *method != self.winner.method
        };
        let other = |best: &BestRow| format!("{} {}", best.row.method.brief(), number(best.row.score));
        let others: Vec<String> = self.best.iter().filter(is_other).map(other).collect();
        if others.is_empty() { own } else { format!("{own}; {}", others.join(", ")) }
    }
}

/// Reading.
impl SelectionResults {
    /// Reads the JSON of `kinfolk select --results`, for a model.
    ///
    /// # Errors
    /// If it is something else, or about other tasks than the model.
    pub fn parse(json: &str, model: &Model) -> Result<SelectionResults> {
        let wrong = |error: serde_json::Error| {
            Error::Spec(format!("these are not the results of kinfolk select --results: {error}"))
        };
        let mut stored: serde_json::Value = serde_json::from_str(json).map_err(wrong)?;
        // Version 0.1, which wrote no notes, had R^2 under this name.
        if stored.get("notes").is_none() && stored["metric"] == "explained-variance" {
            stored["metric"] = "r2".into();
        }
        let results: SelectionResults = serde_json::from_value(stored).map_err(wrong)?;
        results.check_tasks(model.tasks()).map_err(Error::Spec)?;
        Ok(results)
    }

    /// `Err` unless it is about these tasks, and every list over tasks has an entry for each.
    fn check_tasks(&self, tasks: &TaskNames) -> std::result::Result<(), String> {
        let n = tasks.len();
        if self.tasks.len() != n {
            return Err(format!("it has {} tasks, and the model has {n}", self.tasks.len()));
        }
        if let Some((own, other)) = tasks.iter().zip(&self.tasks).find(|(own, other)| own != *other) {
            return Err(format!("it has a task {other:?} where the model has {own:?}"));
        }
        let comparisons = || self.comparisons.iter().map(|verdict| &verdict.comparison);
        let mut lists = comparisons().flat_map(|c| [&c.per_task, &c.per_task_standard_error]);
        let mut scores = self.best.iter().flat_map(|best| best.scores.iter().chain(&best.held_out));
        let mut named = comparisons().flat_map(|c| c.hurt.iter().chain(&c.helped).chain(&c.few_labels));
        let fine = lists.all(|list| list.len() == n)
            && scores.all(|score| score.per_task.len() == n)
            && named.all(|&t| t < n);
        if fine { Ok(()) } else { Err(format!("some of its lists are not about {n} tasks")) }
    }

    /// The comparison of the fitted method with independent tasks. If there is none, that of the method with
    /// the largest gain.
    pub fn against_independent(&self) -> Option<&Comparison> {
        let all = || {
            let comparisons = self.comparisons.iter().map(|verdict| &verdict.comparison);
            comparisons.filter(|c| c.baseline == "stl" && !c.gain.is_nan())
        };
        let fitted = self.fit.as_ref().map(|fit| fit.method.brief());
        let own = fitted.and_then(|fitted| all().find(|c| c.method == fitted));
        own.or_else(|| all().reduce(|a, b| if b.gain > a.gain { b } else { a }))
    }

    /// The best setting of the fitted method, else of the method in the comparison, else of the first method.
    pub fn chosen(&self) -> Option<&BestRow> {
        let of = |method: &str| self.best.iter().find(|best| best.row.method.brief() == method);
        let fitted = self.fit.as_ref().and_then(|fit| of(&fit.method.brief()));
        let compared = || self.against_independent().and_then(|c| of(&c.method));
        fitted.or_else(compared).or(self.best.first())
    }

    /// Its scores in cross-validation: what it is chosen by, or for files of version 0.1 the mean over folds.
    pub fn cross_validated(&self) -> Option<Score> {
        let best = self.chosen().filter(|best| !best.row.score.is_nan())?;
        Some(best.held_out.clone().unwrap_or_else(|| Score::average(&best.scores, 0)))
    }

    /// The trace of the final fit, if that gave this model.
    pub fn trace(&self, model: &Model) -> Vec<TracePoint> {
        let own = self.fit.as_ref().filter(|fit| fit.certificate.primal == model.certificate().primal);
        own.map_or(vec![], |fit| fit.trace.clone())
    }
}
