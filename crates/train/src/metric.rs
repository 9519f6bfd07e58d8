//! Scores by which methods are compared.

use crate::{Error, Result, all_losses, nan};
use kinfolk::{Inputs, LossKind, Losses, Model, Observations, metrics};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A score of predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Metric {
    /// Area under the ROC curve, of each task.
    Auc,
    /// Share of right signs, of each task.
    Accuracy,
    /// Mean of the shares of right signs among positives and among negatives, of each task.
    BalancedAccuracy,
    /// Negative logarithm of the likelihood with probabilities 1 / (1 + exp(-score)), of each task.
    LogLoss,
    /// 1 - SSE / SST around the task's own mean, of each task.
    ExplainedVariance,
    /// Root of the mean squared error, of each task.
    Rmse,
    /// Share of inputs whose class has the highest score.
    ClassAccuracy,
}

/// A score, and those of the tasks it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Mean over the tasks where it is defined; NaN if there is none.
    #[serde(deserialize_with = "nan::from_null")]
    pub mean: f64,
    /// `None` where it is not defined (one class only, no rows).
    pub per_task: Vec<Option<f64>>,
}

const ALL: [(Metric, &str); 7] = [
    (Metric::Auc, "auc"),
    (Metric::Accuracy, "accuracy"),
    (Metric::BalancedAccuracy, "balanced-accuracy"),
    (Metric::LogLoss, "log-loss"),
    (Metric::ExplainedVariance, "explained-variance"),
    (Metric::Rmse, "rmse"),
    (Metric::ClassAccuracy, "class-accuracy"),
];

impl Metric {
    /// What suits these labels: class accuracy for classes, AUC for two values, else explained variance.
    pub fn default_for(observations: &Observations) -> Metric {
        if observations.labels().iter().any(|y| y.abs() != 1.0) {
            Metric::ExplainedVariance
        } else if observations.n_tasks() > 1 && is_one_vs_all(observations) {
            Metric::ClassAccuracy
        } else {
            Metric::Auc
        }
    }

    /// The names of all.
    pub fn names() -> [&'static str; 7] {
        ALL.map(|(_, name)| name)
    }

    /// Whether more is better.
    pub fn higher_is_better(self) -> bool {
        !matches!(self, Metric::LogLoss | Metric::Rmse)
    }

    /// `Err` if the score makes no sense for these labels or losses.
    pub fn check(self, observations: &Observations, losses: &Losses) -> Result<()> {
        let signs = observations.labels().iter().all(|y| y.abs() == 1.0);
        let logistic = all_losses(losses, |loss| *loss == LossKind::Logistic);
        let why = match self {
            Metric::Auc | Metric::Accuracy | Metric::BalancedAccuracy if !signs => {
                "needs labels of two values"
            }
            Metric::LogLoss if !logistic => "needs the logistic loss",
            Metric::ClassAccuracy if !is_one_vs_all(observations) => "needs one class per row",
            _ => return Ok(()),
        };
        Err(Error::Study(format!("the metric {self} {why}")))
    }

    /// The score of predictions, one for each observation.
    pub fn score(self, observations: &Observations, predictions: &[f64]) -> Score {
        let t = observations.n_tasks();
        if self == Metric::ClassAccuracy {
            return class_accuracy(observations, predictions);
        }
        let mut of_task: Vec<(Vec<f64>, Vec<f64>)> = vec![Default::default(); t];
        for (o, &z) in predictions.iter().enumerate() {
            let (labels, scores) = &mut of_task[observations.task(o)];
            labels.push(observations.label(o));
            scores.push(z);
        }
        let one = |(labels, scores): &(Vec<f64>, Vec<f64>)| match self {
            Metric::Auc => metrics::auc(labels, scores, None),
            Metric::Accuracy => metrics::accuracy(labels, scores, None),
            Metric::BalancedAccuracy => metrics::balanced_accuracy(labels, scores, None),
            Metric::LogLoss => metrics::log_loss(labels, scores, None),
            Metric::ExplainedVariance => metrics::explained_variance(labels, scores, None),
            Metric::Rmse => metrics::rmse(labels, scores, None),
            Metric::ClassAccuracy => None,
        };
        Score::of(of_task.iter().map(one).collect())
    }
}

impl Score {
    fn of(per_task: Vec<Option<f64>>) -> Self {
        let defined: Vec<f64> = per_task.iter().flatten().copied().collect();
        Score { mean: defined.iter().sum::<f64>() / defined.len() as f64, per_task }
    }
}

/// Per task: the share of the inputs of that class that are recognised. The mean is over inputs, not over classes.
fn class_accuracy(observations: &Observations, predictions: &[f64]) -> Score {
    let t = observations.n_tasks();
    let (mut right, mut count) = (vec![0.0; t], vec![0.0; t]);
    for (labels, scores) in observations.labels().chunks(t).zip(predictions.chunks(t)) {
        let highest =
            |values: &[f64]| (0..t).rev().max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
        let own = highest(labels);
        count[own] += 1.0;
        right[own] += f64::from(u8::from(highest(scores) == own));
    }
    let per_task = (0..t).map(|c| (count[c] > 0.0).then(|| right[c] / count[c])).collect();
    Score { mean: right.iter().sum::<f64>() / count.iter().sum::<f64>(), per_task }
}

/// Whether every input has every task, and is positive for one.
fn is_one_vs_all(observations: &Observations) -> bool {
    observations.is_complete()
        && observations
            .labels()
            .chunks(observations.n_tasks())
            .all(|row| row.iter().filter(|y| **y > 0.0).count() == 1)
}

/// Predictions of a model for observations of these inputs, in their order, with their offsets.
pub fn predict(model: &Model, inputs: &Inputs<'_>, observations: &Observations) -> Result<Vec<f64>> {
    let one_each = observations.len() == inputs.n_inputs()
        && (0..observations.len()).all(|o| observations.input(o) == o);
    let mut predictions = if one_each {
        let tasks: Vec<u32> = (0..observations.len()).map(|o| observations.task(o) as u32).collect();
        model.predict(inputs, &tasks)?
    } else {
        let all = model.predict_all(inputs)?;
        (0..observations.len()).map(|o| all[(observations.input(o), observations.task(o))]).collect()
    };
    observations.add_offsets(&mut predictions);
    Ok(predictions)
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(ALL.iter().find(|(metric, _)| metric == self).map_or("", |(_, name)| name))
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        ALL.iter().find(|(_, name)| *name == text).map(|(metric, _)| *metric).ok_or_else(|| {
            Error::Study(format!(
                "there is no metric {text:?}; the metrics are {}",
                Metric::names().join(", ")
            ))
        })
    }
}
