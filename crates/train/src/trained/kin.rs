//! Which tasks may be called the closest kin of a task.

use crate::residuals::FEW_LABELS;
use kinfolk::{Matrix, Model};

/// Which tasks have a say in relations of others, by how many labels they have.
///
/// What is known about a task with few labels is mostly what all tasks have in common, so it is close to all of them.
/// It is not named as kin of others, unless most tasks have about as few labels. Of two classes, the labels of the
/// rarer one count: a hundred rows of which one is positive say as little about what makes a row positive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KinRule {
    /// `None` if all tasks have one.
    has_a_say: Option<Vec<bool>>,
}

impl KinRule {
    /// For the tasks of a model; all of them may be named if it does not say how many labels they had.
    pub fn new(model: &Model) -> Self {
        KinRule::of_labels(model.rarer_labels().or_else(|| model.task_labels()).as_deref())
    }

    /// For tasks with so many labels, of the rarer class where there are two.
    pub(crate) fn of_labels(labels: Option<&[usize]>) -> Self {
        KinRule { has_a_say: labels.map(have_a_say) }
    }

    /// The same for tasks in another order.
    #[must_use]
    pub fn in_order(&self, order: &[usize]) -> Self {
        KinRule { has_a_say: self.has_a_say.as_ref().map(|all| order.iter().map(|&t| all[t]).collect()) }
    }

    /// Whether something can be told about the relations of a task: it has ten labels (of the rarer class),
    /// or half as many as the task in the middle.
    pub fn has_a_say(&self, task: usize) -> bool {
        self.has_a_say.as_ref().is_none_or(|all| all[task])
    }

    /// The tasks that are related to a task by these correlations, the closest first.
    pub fn closest(&self, correlation: &Matrix, task: usize) -> Vec<usize> {
        let row = correlation.row(task);
        let is_kin = |&s: &usize| s != task && row[s] > 0.0 && self.has_a_say(s);
        let mut kin: Vec<usize> = (0..row.len()).filter(is_kin).collect();
        kin.sort_by(|&a, &b| row[b].total_cmp(&row[a]));
        kin
    }

    /// The task that is most opposite to a task by these correlations, below zero by more than `beyond`.
    pub fn opposite(&self, correlation: &Matrix, task: usize, beyond: f64) -> Option<usize> {
        let row = correlation.row(task);
        let is_opposite = |&s: &usize| s != task && row[s] < -beyond && self.has_a_say(s);
        (0..row.len()).filter(is_opposite).reduce(|a, b| if row[b] < row[a] { b } else { a })
    }
}

fn have_a_say(labels: &[usize]) -> Vec<bool> {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).copied().unwrap_or(0);
    labels.iter().map(|&n| n >= FEW_LABELS || 2 * n >= middle).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::{Dense, Inputs};
    use kinfolk::{Dataset, DatasetOptions, LossKind, Observations, Problem, ProblemSpec, Settings};

    /// Thirty rows of each of three tasks; of task 1 only two are positive.
    fn model_of(loss: LossKind) -> Model {
        let x: Vec<f64> = (0..90).map(|i| f64::from(i * 37 % 91) / 45.0 - 1.0).collect();
        let task: Vec<u32> = (0..90).map(|i| i / 30).collect();
        let is_positive = |i: u32| if i / 30 == 1 { i % 30 < 2 } else { i.is_multiple_of(3) };
        let label = (0..90).map(|i| if is_positive(i) { 1.0 } else { -1.0 }).collect();
        let inputs = Inputs::from(Dense::f64(&x, 90, 1).unwrap());
        let observations = Observations::multi_task(&task, label).unwrap();
        let data = Dataset::new(&inputs, &observations, DatasetOptions::default()).unwrap();
        let spec = ProblemSpec { loss: loss.into(), ..ProblemSpec::default() };
        kinfolk::fit(&Problem::new(&data, spec).unwrap(), &Settings::default()).unwrap().model
    }

    #[test]
    fn the_rarer_class_counts() {
        let classes = KinRule::new(&model_of(LossKind::Logistic));
        assert_eq!(classes, KinRule { has_a_say: Some(vec![true, false, true]) });
        let numbers = KinRule::new(&model_of(LossKind::Squared));
        assert_eq!(numbers, KinRule { has_a_say: Some(vec![true; 3]) });
    }

    #[test]
    fn a_task_with_few_labels_is_no_kin_of_a_large_one() {
        let rule = KinRule { has_a_say: Some(have_a_say(&[80, 3, 90, 4])) };
        let correlation = Matrix::from_vec(
            vec![1.0, 0.9, 0.5, -0.9, 0.9, 1.0, 0.4, 0.8, 0.5, 0.4, 1.0, 0.2, -0.9, 0.8, 0.2, 1.0],
            4,
            4,
        )
        .unwrap();
        assert_eq!(rule.closest(&correlation, 0), [2]);
        assert_eq!(rule.closest(&correlation, 1), [0, 2]);
        assert!(rule.has_a_say(0) && !rule.has_a_say(1) && !rule.has_a_say(3));
        assert_eq!(
            (rule.opposite(&correlation, 0, 0.0), rule.opposite(&correlation, 3, 0.0)),
            (None, Some(0))
        );
        assert_eq!(rule.in_order(&[1, 0, 2, 3]), KinRule { has_a_say: Some(have_a_say(&[3, 80, 90, 4])) });
        // Where nothing is known, all are named.
        assert_eq!(KinRule { has_a_say: None }.closest(&correlation, 0), [1, 2]);
    }
}
