//! Does joint learning help, and which tasks?

use super::noise::is_beyond_noise;
use super::{Row, Selection, mean_and_sd};
use crate::{Average, KinRule, Metric, nan};
use kinfolk::{Losses, Observations, TaskNames};
use serde::{Deserialize, Serialize};

/// Two settings on the same folds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// The method in question.
    pub method: String,
    /// What it is compared with.
    pub baseline: String,
    /// Gain in the score that settings are chosen by; positive is better whatever the metric.
    #[serde(deserialize_with = "nan::from_null")]
    pub gain: f64,
    /// Its standard error over the folds; NaN if there are fewer than two. Folds of another repeat have the same
    /// rows, and count as those of the first.
    #[serde(deserialize_with = "nan::from_null")]
    pub standard_error: f64,
    /// Gain of each task, mean over the folds where both are defined.
    pub per_task: Vec<Option<f64>>,
    /// Standard errors of these over the folds; `None` if there is only one.
    pub per_task_standard_error: Vec<Option<f64>>,
    /// Tasks that lose beyond noise: Student's test of their own gains, at 5 % for all tasks together.
    pub hurt: Vec<usize>,
    /// Tasks that gain beyond noise.
    pub helped: Vec<usize>,
    /// Tasks with so few labels that their own gain is mostly chance.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub few_labels: Vec<usize>,
    /// Gain without these, if the score is a mean over tasks and there are others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_of_others: Option<f64>,
}

impl Selection {
    /// The best setting of a candidate against that of another.
    pub fn compare(&self, candidate: usize, baseline: usize) -> Comparison {
        let (a, b) = (&self.rows[self.best[candidate]], &self.rows[self.best[baseline]]);
        let sign = if self.metric.higher_is_better() { 1.0 } else { -1.0 };
        let differences = a.folds.iter().zip(&b.folds).map(|(a, b)| sign * (a.value - b.value));
        let differences: Vec<f64> = differences.filter(|gain| !gain.is_nan()).collect();
        // The gain is that of the scores in the table; how much they differ between folds says how sure it is.
        let (gain, (_, sd)) = (sign * (a.score - b.score), mean_and_sd(&differences));
        let error = |sd: f64, n: usize| sd / (n as f64 / self.repeats as f64).sqrt();
        let standard_error = if differences.len() > 1 { error(sd, differences.len()) } else { f64::NAN };
        let n_tasks = a.folds.first().map_or(0, |fold| fold.per_task.len());
        let of_task = |t: usize| -> Vec<f64> {
            let both = a.folds.iter().zip(&b.folds);
            both.filter_map(|(a, b)| Some(sign * (a.per_task[t]? - b.per_task[t]?))).collect()
        };
        let (mut per_task, mut errors, mut hurt, mut helped) = (vec![], vec![], vec![], vec![]);
        let gains: Vec<Vec<f64>> = (0..n_tasks).map(of_task).collect();
        let tested = gains.iter().filter(|gains| gains.len() > 1).count();
        for (t, gains) in gains.into_iter().enumerate() {
            let (mean, sd) = mean_and_sd(&gains);
            per_task.push((!gains.is_empty()).then_some(mean));
            let standard_error = error(sd, gains.len());
            errors.push((gains.len() > 1).then_some(standard_error));
            if is_beyond_noise(mean, standard_error, gains.len() / self.repeats.max(1), tested) {
                if mean < 0.0 { hurt.push(t) } else { helped.push(t) }
            }
        }
        let (method, baseline) = (a.method.brief(), b.method.brief());
        let per_task_standard_error = errors;
        let (few_labels, gain_of_others) = (vec![], None);
        Comparison {
            method,
            baseline,
            gain,
            standard_error,
            per_task,
            per_task_standard_error,
            hurt,
            helped,
            few_labels,
            gain_of_others,
        }
    }
}

/// Tasks with so few labels that their own gain is mostly chance, by the rule for kin: fewer than ten, of the rarer of
/// two classes, and than half of those of the usual task.
pub(super) fn tasks_with_few_labels(observations: &Observations, losses: &Losses) -> Vec<usize> {
    let mut counts = vec![[0_usize; 2]; observations.n_tasks()];
    for o in (0..observations.len()).filter(|&o| observations.weight(o) > 0.0) {
        counts[observations.task(o)][usize::from(observations.label(o) > 0.0)] += 1;
    }
    let labels = |(t, [no, yes]): (usize, [usize; 2])| match losses.is_classification(t) {
        true => no.min(yes),
        false => no + yes,
    };
    let labels: Vec<usize> = counts.into_iter().enumerate().map(labels).collect();
    let rule = KinRule::of_labels(Some(&labels));
    (0..labels.len()).filter(|&t| !rule.has_a_say(t)).collect()
}

impl Comparison {
    /// With these tasks named, and the gain without them where the score is a mean over tasks.
    pub(super) fn marking(mut self, few: &[usize], metric: Metric, (a, b): (&Row, &Row)) -> Self {
        let is_scored = |&t: &usize| self.per_task[t].is_some();
        self.few_labels = few.iter().copied().filter(is_scored).collect();
        let (Some(a), Some(b)) = (&a.held_out, &b.held_out) else { return self };
        if self.few_labels.is_empty() || metric.average != Average::Tasks {
            return self;
        }
        let sign = if metric.higher_is_better() { 1.0 } else { -1.0 };
        let others = (0..self.per_task.len()).filter(|t| !self.few_labels.contains(t));
        let gains: Vec<f64> = others.filter_map(|t| Some(sign * (a.per_task[t]? - b.per_task[t]?))).collect();
        self.gain_of_others = (!gains.is_empty()).then(|| mean_and_sd(&gains).0);
        self
    }

    /// A sentence or two for people.
    pub fn in_words(&self, tasks: &TaskNames) -> String {
        let Comparison { method, baseline, gain, standard_error, .. } = self;
        let verdict = if standard_error.is_nan() || !gain.is_finite() {
            format!("{method} against {baseline}: gain {gain:+.4}, with too few folds to tell it from noise")
        } else if gain.abs() <= 2.0 * standard_error {
            format!(
                "{method} and {baseline} do not differ beyond noise (gain {gain:+.4} +- {standard_error:.4})"
            )
        } else if *gain > 0.0 {
            format!("{method} is better than {baseline} by {gain:.4} +- {standard_error:.4}")
        } else {
            format!("{method} is worse than {baseline} by {:.4} +- {standard_error:.4}", -gain)
        };
        let n = self.per_task.iter().flatten().count();
        let better = self.per_task.iter().flatten().filter(|g| **g > 0.0).count();
        // A task that is in one fold, as where whole tasks are held out, has no standard error.
        let tested = self.per_task_standard_error.iter().flatten().count();
        let beyond_noise = match (tested, self.helped.len()) {
            (0, _) => " (each task is in one fold, which does not tell noise)".into(),
            (_, helped) => format!(", {helped} of them beyond noise"),
        };
        let mut words = match n {
            0 => format!("{verdict}; no task has a score of its own"),
            _ => format!("{verdict}; it gains for {better} of {n} tasks{beyond_noise}"),
        };
        let list = |some: &[usize]| {
            let names: Vec<String> = some.iter().take(8).map(|&t| tasks.name(t)).collect();
            let more = some.len().saturating_sub(names.len());
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!("{}{more}", names.join(", "))
        };
        if !self.hurt.is_empty() {
            words += &format!(", and hurts beyond noise: {}", list(&self.hurt));
        }
        if let Some(gain) = self.gain_of_others {
            let few = list(&self.few_labels);
            words += &format!("; the gain is {gain:+.4} without tasks that have few labels ({few})");
        }
        words + "."
    }
}
