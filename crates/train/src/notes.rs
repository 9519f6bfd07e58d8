//! What users should know about their rows and the labels of their tasks before they trust a model.

use crate::other_outcomes::outcome_note;
use crate::repeated_rows::repeated_rows_note;
use kinfolk::{Inputs, Intercept, Losses, Observations};
use kinfolk_io::Schema;

/// Names given in a note; the others are counted.
const MAX_NAMES: usize = 8;

const PENALISED: &str =
    "labels of one class only (intercept drawn to that of all tasks, so that no probability is 0 or 1):";

/// Labels of one task.
#[derive(Clone, Copy, Default)]
struct SeenLabels {
    count: usize,
    first: f64,
    differ: bool,
}

/// A sentence for each kind of task that a fit can learn little or nothing about, with the names of such tasks.
/// Observations of weight zero do not count.
pub(crate) fn task_notes(observations: &Observations, losses: &Losses, intercept: Intercept) -> Vec<String> {
    let mut seen = vec![SeenLabels::default(); observations.n_tasks()];
    for o in (0..observations.len()).filter(|&o| observations.weight(o) > 0.0) {
        let (task, label) = (&mut seen[observations.task(o)], observations.label(o));
        task.first = if task.count == 0 { label } else { task.first };
        task.differ |= label != task.first;
        task.count += 1;
    }
    let only_signs = observations.labels().iter().all(|y| y.abs() == 1.0);
    let is_class = |t: usize| only_signs || losses.is_classification(t);
    // A list of losses of the wrong length is refused elsewhere.
    let unbounded = losses.tasks_without_optimum(observations).unwrap_or_default();
    let is_penalised = |t: usize| intercept == Intercept::Free && unbounded.contains(&t);
    let has_one_class = |t: usize| is_class(t) && seen[t].count > 0 && !seen[t].differ;
    let kinds: [(&str, &dyn Fn(usize) -> bool); 5] = [
        ("no labels: nothing is learned about", &|t| seen[t].count == 0),
        ("labels of one class only:", &|t| has_one_class(t) && !is_penalised(t)),
        (PENALISED, &|t| has_one_class(t) && is_penalised(t)),
        ("one label only:", &|t| !is_class(t) && seen[t].count == 1),
        ("equal labels:", &|t| !is_class(t) && seen[t].count > 1 && !seen[t].differ),
    ];
    let note = |(what, holds): &(&str, &dyn Fn(usize) -> bool)| {
        let tasks: Vec<usize> = (0..seen.len()).filter(|&t| holds(t)).collect();
        (!tasks.is_empty()).then(|| sentence(observations, &tasks, what))
    };
    kinds.iter().filter_map(note).collect()
}

/// A sentence about columns that nearly are the label, and one about rows that are there more than once.
pub(crate) fn row_notes(inputs: &Inputs<'_>, observations: &Observations, schema: &Schema) -> Vec<String> {
    let outcomes = outcome_note(inputs, observations, schema);
    outcomes.into_iter().chain(repeated_rows_note(inputs, observations)).collect()
}

/// Such as "2 tasks have one label only: east, west".
fn sentence(observations: &Observations, tasks: &[usize], what: &str) -> String {
    let names: Vec<String> =
        tasks.iter().take(MAX_NAMES).map(|&t| observations.task_names().name(t)).collect();
    let more = match tasks.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let have = if tasks.len() == 1 { "1 task has".into() } else { format!("{} tasks have", tasks.len()) };
    format!("{have} {what} {}{more}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::{LossKind, TaskNames};

    #[test]
    fn tasks_that_say_little_are_named() {
        let names = TaskNames::Strings(["a", "b", "c", "d", "e"].map(String::from).to_vec());
        let task = [0, 0, 1, 2, 2, 3, 3];
        let numbers = Observations::multi_task(&task, vec![1.0, 2.0, 5.0, 7.0, 7.0, 0.5, 9.0]).unwrap();
        let numbers = numbers.with_task_names(names).unwrap();
        let numbers = numbers.with_weights(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0]).unwrap();
        assert_eq!(
            task_notes(&numbers, &LossKind::Squared.into(), Intercept::Free),
            [
                "1 task has no labels: nothing is learned about e",
                "2 tasks have one label only: b, d",
                "1 task has equal labels: c",
            ]
        );
        let classes = Observations::multi_task(&task, vec![1.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0]).unwrap();
        let expected = ["2 tasks have labels of one class only: 1, 2"];
        assert_eq!(task_notes(&classes, &LossKind::Hinge.into(), Intercept::Free), expected);
        assert_eq!(task_notes(&classes, &LossKind::Logistic.into(), Intercept::Ridge(1.0)), expected);
        let penalised = format!("2 tasks have {PENALISED} 1, 2");
        assert_eq!(task_notes(&classes, &LossKind::Logistic.into(), Intercept::Free), [penalised]);
        assert_eq!(task_notes(&classes, &LossKind::Squared.into(), Intercept::Free), expected);
    }

    #[test]
    fn long_lists_are_cut() {
        let task: Vec<u32> = (0..12).collect();
        let observations = Observations::multi_task(&task, vec![3.0; 12]).unwrap();
        let expected = "12 tasks have one label only: 0, 1, 2, 3, 4, 5, 6, 7 and 4 more";
        assert_eq!(task_notes(&observations, &LossKind::Squared.into(), Intercept::Free), [expected]);
    }
}
