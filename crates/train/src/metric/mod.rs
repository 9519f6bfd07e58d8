//! Scores by which methods are compared, by name.
//!
//! | Module | Task |
//! |---|---|
//! | `mod` | names of metrics, and which labels and losses they suit |
//! | `score` | `Score`: a metric of each task, their mean, and the metric of all rows together |
//! | `class_probabilities` | probabilities of classes that exclude each other |
//! | `predictions` | `Predictions`: labels with what was predicted for them, ready to be scored |

mod class_probabilities;
mod predictions;
mod row_loss;
mod score;

pub use class_probabilities::class_probabilities;
pub use predictions::{Predictions, predict};
pub use score::Score;

pub(crate) use row_loss::{RowLoss, bound, gain, is_better, mean};

use crate::{Error, Result, all_losses};
use kinfolk::{LossKind, Losses, Observations};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A score of predictions: what is measured, and whether tasks or rows count the same.
///
/// As text it is the name of the measure, with `mean-` or `pooled-` before it where that is not the usual
/// average of the measure: `r2`, `pooled-r2`, `class-accuracy`, `mean-class-accuracy`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Metric {
    /// What is measured.
    pub measure: Measure,
    /// What counts the same.
    pub average: Average,
}

/// What a metric measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Measure {
    /// 1 - SSE / SST. SST is around the mean label of the task: that of the rows that are scored, or in
    /// cross-validation that of the training rows.
    R2,
    /// The same without the mean error.
    ExplainedVariance,
    /// Root of the mean squared error.
    Rmse,
    /// Root of the mean squared error over the standard deviation of the task's labels: the root of 1 - R2.
    Nrmse,
    /// Mean absolute error.
    Mae,
    /// Area under the ROC curve.
    Auc,
    /// Area under the curve of precision and recall: average precision.
    PrAuc,
    /// Share of right signs.
    Accuracy,
    /// Mean of the shares of right signs among positives and among negatives.
    BalancedAccuracy,
    /// Mean of F1 of the positives and of the negatives.
    F1Macro,
    /// Negative logarithm of the likelihood with probabilities 1 / (1 + exp(-score)); of classes, those divided by
    /// their sum, for the right class of each input.
    LogLoss,
    /// Mean squared error of those probabilities; of classes, summed over the classes.
    Brier,
    /// Mean of the loss of the fit, for two classes.
    Loss,
    /// Share of inputs whose class has the highest score.
    ClassAccuracy,
    /// Share of inputs whose class is among the k highest scores.
    TopK(u32),
}

/// What counts the same in a score of several tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Average {
    /// Tasks: the mean over the tasks where the measure is defined.
    Tasks,
    /// Rows: the measure of the rows of all tasks together.
    Rows,
}

/// Measures with their names and what they mean, for people.
const MEASURES: [(Measure, &str, &str); 15] = [
    (
        Measure::R2,
        "r2",
        "share of the variance of a task's labels that predictions explain: 1 - SSE / SST, 1 is best",
    ),
    (Measure::ExplainedVariance, "explained-variance", "r2 without the mean error; 1 is best"),
    (Measure::Rmse, "rmse", "root of the mean squared error, in the units of the labels; 0 is best"),
    (Measure::Nrmse, "nrmse", "rmse over the standard deviation of the task's labels; 0 is best"),
    (Measure::Mae, "mae", "mean absolute error, in the units of the labels; 0 is best"),
    (
        Measure::Auc,
        "auc",
        "chance that a positive row has a higher score than a negative one; 0.5 is chance, 1 is best",
    ),
    (Measure::PrAuc, "pr-auc", "average precision: area under the curve of precision and recall; 1 is best"),
    (Measure::Accuracy, "accuracy", "share of rows with the right label; 1 is best"),
    (
        Measure::BalancedAccuracy,
        "balanced-accuracy",
        "mean of the accuracies of positives and negatives; 1 is best",
    ),
    (Measure::F1Macro, "f1-macro", "mean of F1 of the positives and of the negatives; 1 is best"),
    (
        Measure::LogLoss,
        "log-loss",
        "minus the mean logarithm of the probability of the right label; 0 is best",
    ),
    (
        Measure::Brier,
        "brier",
        "mean squared error of probabilities, of classes the sum over all classes; 0 is best",
    ),
    (Measure::Loss, "loss", "mean of the loss of the fit; smaller is better"),
    (Measure::ClassAccuracy, "class-accuracy", "share of rows whose class has the highest score; 1 is best"),
    (
        Measure::TopK(5),
        "top-5",
        "share of rows whose class is among the 5 highest scores; any number does; 1 is best",
    ),
];

/// Prefixes of names, by average.
const MEAN: &str = "mean-";
const POOLED: &str = "pooled-";

impl Metric {
    /// With the average of its name without prefix.
    pub fn new(measure: Measure) -> Metric {
        Metric { measure, average: measure.usual_average() }
    }

    /// The names without prefixes. `top-5` stands for any number of classes.
    pub fn names() -> [&'static str; 15] {
        MEASURES.map(|(_, name, _)| name)
    }

    /// The name of the measure.
    pub fn measure_name(self) -> String {
        match self.measure {
            Measure::TopK(k) => format!("top-{k}"),
            own => MEASURES.iter().find(|(m, ..)| *m == own).map_or("", |(_, name, _)| name).into(),
        }
    }

    /// What it measures, and what counts the same, for people.
    pub fn meaning(self) -> String {
        let same = |known: &Measure| {
            *known == self.measure || matches!((known, self.measure), (Measure::TopK(_), Measure::TopK(_)))
        };
        let measure = MEASURES.iter().find(|(known, ..)| same(known)).map_or("", |(_, _, meaning)| meaning);
        match self.average {
            Average::Tasks => format!("{measure}. The mean over the tasks where it is defined."),
            Average::Rows => match self.measure {
                Measure::R2 | Measure::ExplainedVariance | Measure::Nrmse => format!(
                    "{measure}. Of the rows of all tasks together, around the mean of each task and in units of its \
                     variance; so it is not r2_score over all rows."
                ),
                _ => format!("{measure}. Of the rows of all tasks together."),
            },
        }
    }

    /// What suits these labels: class accuracy for classes, AUC for two values, else R^2 of all rows together,
    /// which is robust where tasks have few rows. AUC is that of all rows together if a task has few rows of a class:
    /// its own is mostly chance, and would count as much as that of a task with hundreds of rows.
    pub fn default_for(observations: &Observations) -> Metric {
        if !has_signs(observations) {
            Metric { measure: Measure::R2, average: Average::Rows }
        } else if observations.n_tasks() > 1 && is_one_vs_all(observations) {
            Metric::new(Measure::ClassAccuracy)
        } else if has_task_of_few(observations) {
            Metric { measure: Measure::Auc, average: Average::Rows }
        } else {
            Metric::new(Measure::Auc)
        }
    }

    /// A metric for the same kind of labels that exists for any of them: even if a task has one class, or labels
    /// that are all equal.
    pub fn always_defined(self, losses: &Losses) -> Metric {
        use Measure::{LogLoss, Loss, Mae, R2, Rmse};
        let measure = match self.measure {
            R2 | Measure::ExplainedVariance | Rmse | Measure::Nrmse => Rmse,
            Mae | Measure::ClassAccuracy | Measure::TopK(_) => self.measure,
            _ if is_logistic(losses) => LogLoss,
            _ if is_classification(losses) => Loss,
            _ => Rmse,
        };
        Metric::new(measure)
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        use Measure::{Brier, LogLoss, Loss, Mae, Nrmse, Rmse};
        !matches!(self.measure, Rmse | Nrmse | Mae | LogLoss | Brier | Loss)
    }

    /// A note on tasks with a single positive or a single negative row: where rows are ranked, such a row decides over
    /// the score of its task, which counts in the mean like any other. `None` if there is nothing to say.
    pub fn note_on_lone_rows(self, tasks: &[String]) -> Option<String> {
        const MAX_NAMED: usize = 8;
        let ranks = matches!(self.measure, Measure::Auc | Measure::PrAuc) && self.average == Average::Tasks;
        if tasks.is_empty() || !ranks {
            return None;
        }
        let (n, more) = (tasks.len(), tasks.len().saturating_sub(MAX_NAMED));
        let some: Vec<&str> = tasks.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (s, rests) = if n == 1 { ("", "rests") } else { ("s", "rest") };
        Some(format!(
            "{self} of {n} task{s} {rests} on one positive or one negative row, and counts in the mean like others: \
             {}{more}",
            some.join(", ")
        ))
    }

    /// `Err` if the score makes no sense for these labels or losses.
    pub fn check(self, observations: &Observations, losses: &Losses) -> Result<()> {
        let Some(lacks) = self.lacks(observations, losses) else { return Ok(()) };
        let suits = |(measure, ..): &&(Measure, &str, &str)| {
            Metric::new(*measure).lacks(observations, losses).is_none()
        };
        let others: Vec<&str> = MEASURES.iter().filter(suits).map(|(_, name, _)| *name).collect();
        Err(Error::Study(format!("the metric {self} needs {lacks}; {} suit here", others.join(", "))))
    }

    /// What the score needs that these labels or losses do not have; `None` if it suits them.
    fn lacks(self, observations: &Observations, losses: &Losses) -> Option<&'static str> {
        use Measure::{Accuracy, Auc, BalancedAccuracy, Brier, ClassAccuracy, F1Macro, LogLoss, PrAuc, TopK};
        match self.measure {
            Auc | PrAuc | Accuracy | BalancedAccuracy | F1Macro if !has_signs(observations) => {
                Some("labels of two values")
            }
            LogLoss | Brier if !is_logistic(losses) => Some("the logistic loss"),
            Measure::Loss if !is_classification(losses) => Some("losses for two classes"),
            ClassAccuracy | TopK(_) if !is_one_vs_all(observations) => Some("one class per row"),
            // Scores of such losses are not in the units of the labels.
            Measure::R2 | Measure::ExplainedVariance | Measure::Rmse | Measure::Nrmse | Measure::Mae
                if is_classification(losses) =>
            {
                Some("labels that are numbers")
            }
            _ => None,
        }
    }

    /// The score of predictions, one for each observation, by the weights of the observations.
    ///
    /// # Errors
    /// If the losses are not those of the tasks.
    pub fn score(self, observations: &Observations, losses: &Losses, predictions: &[f64]) -> Result<Score> {
        let mut all = Predictions::new(losses, observations.n_tasks())?;
        predictions
            .iter()
            .enumerate()
            .for_each(|(o, &z)| all.push(observations, o, z, observations.weight(o)));
        Ok(all.score(self))
    }
}

impl Measure {
    fn usual_average(self) -> Average {
        match self {
            Measure::ClassAccuracy | Measure::TopK(_) => Average::Rows,
            _ => Average::Tasks,
        }
    }
}

fn has_signs(observations: &Observations) -> bool {
    observations.labels().iter().all(|y| y.abs() == 1.0)
}

fn is_logistic(losses: &Losses) -> bool {
    all_losses(losses, |loss| *loss == LossKind::Logistic)
}

fn is_classification(losses: &Losses) -> bool {
    all_losses(losses, LossKind::is_classification)
}

/// With fewer rows of a class, the AUC of a task is mostly chance.
const FEW_ROWS_OF_A_CLASS: usize = 5;

/// Whether some task has rows of both classes, but few of one.
fn has_task_of_few(observations: &Observations) -> bool {
    let mut counts = vec![[0; 2]; observations.n_tasks()];
    for o in (0..observations.len()).filter(|&o| observations.weight(o) > 0.0) {
        counts[observations.task(o)][usize::from(observations.label(o) > 0.0)] += 1;
    }
    counts.iter().map(|[a, b]| *a.min(b)).any(|rarer| (1..FEW_ROWS_OF_A_CLASS).contains(&rarer))
}

/// Whether every input has every task, and is positive for one.
fn is_one_vs_all(observations: &Observations) -> bool {
    observations.is_complete()
        && observations
            .labels()
            .chunks(observations.n_tasks())
            .all(|row| row.iter().filter(|y| **y > 0.0).count() == 1)
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = match self.average {
            usual if usual == self.measure.usual_average() => "",
            Average::Tasks => MEAN,
            Average::Rows => POOLED,
        };
        write!(f, "{prefix}{}", self.measure_name())
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (average, name) = match (text.strip_prefix(MEAN), text.strip_prefix(POOLED)) {
            (Some(name), _) => (Some(Average::Tasks), name),
            (_, Some(name)) => (Some(Average::Rows), name),
            _ => (None, text),
        };
        let k = name.strip_prefix("top-").and_then(|k| k.parse().ok()).filter(|k| *k > 0);
        let listed = MEASURES.iter().find(|(_, known, _)| *known == name).map(|(measure, ..)| *measure);
        let Some(measure) = k.map(Measure::TopK).or(listed) else {
            return Err(Error::Study(format!(
                "there is no metric {text:?}; the metrics are {}, with {MEAN} or {POOLED} before them if wanted",
                Metric::names().join(", ")
            )));
        };
        Ok(Metric { measure, average: average.unwrap_or(measure.usual_average()) })
    }
}

impl TryFrom<String> for Metric {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> String {
        metric.to_string()
    }
}
