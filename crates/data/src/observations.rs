//! From a table to a learning problem: how labels become numbers, and which row is an observation of which task.

use crate::error::quoted;
use crate::{Coding, Error, Keys, Labels, Result, Table, Targets, keys, text};
use kinfolk::{Matrix, Observations, TaskNames};
use std::collections::BTreeSet;

/// So many values are listed in a message.
const SHOWN: usize = 6;

impl Table {
    /// How the labels become numbers. For a `classification` loss two values, numbers or words, become -1 and +1, the smaller
    /// or alphabetically first one -1. Classes are one task each, whatever the loss.
    ///
    /// # Errors
    /// If there are no labels, if they do not suit, or if one is missing where each row has to have one.
    pub fn coding(&self, classification: bool) -> Result<Coding> {
        match &self.targets {
            Targets::None | Targets::Tasks { label: None, .. } => Err(no_labels()),
            Targets::Classes(_) => Ok(Coding::Classes),
            Targets::Tasks { label: Some(Labels::Numbers(labels)), .. } => {
                check_labels(labels)?;
                if classification { binary_numbers(labels) } else { Ok(Coding::Numbers) }
            }
            Targets::Wide { label, .. } if classification => binary_numbers(label.as_slice()),
            Targets::Wide { .. } => Ok(Coding::Numbers),
            Targets::Tasks { label: Some(Labels::Words(labels)), .. } if classification => {
                binary_words(labels)
            }
            Targets::Tasks { label: Some(Labels::Words(labels)), .. } => {
                let why = format!(
                    "labels are words ({}), and this loss is for numbers",
                    listed(names_in_use(labels))
                );
                Err(Error::of_table(why + "; take a loss for classification"))
            }
        }
    }

    /// The observations, with the tasks of the table, weights included.
    ///
    /// # Errors
    /// If there are no labels, or one is missing or not among those that `coding` knows.
    pub fn observations(&self, coding: &Coding) -> Result<Observations> {
        match &self.targets {
            Targets::None => Err(no_labels()),
            Targets::Tasks { task: keys, .. } | Targets::Classes(keys) => {
                self.observations_in(coding, &keys.names)
            }
            Targets::Wide { tasks, .. } => self.observations_in(coding, tasks),
        }
    }

    /// The observations, with the given tasks: those of a model, say. Tasks are found by name.
    ///
    /// # Errors
    /// As [`observations`](Self::observations), and if a task of some row is not among those given.
    pub fn observations_in(&self, coding: &Coding, tasks: &TaskNames) -> Result<Observations> {
        let n = self.n_rows();
        let observations = match &self.targets {
            Targets::None | Targets::Tasks { label: None, .. } => return Err(no_labels()),
            Targets::Tasks { task, label: Some(label) } => {
                let labels = match label {
                    Labels::Numbers(labels) => numbers(labels, coding)?,
                    Labels::Words(labels) => words(labels, coding)?,
                };
                let rows = (0..n as u32).collect();
                Observations::from_triples(n, tasks.len(), rows, find_rows(task, tasks)?, labels)
            }
            Targets::Classes(class) => Observations::multi_class(&find_rows(class, tasks)?, tasks.len()),
            Targets::Wide { label, tasks: own } => wide(label, own, coding, tasks)?,
        };
        let observations =
            observations.and_then(|o| o.with_task_names(tasks.clone())).map_err(Error::of_table)?;
        let Some(weight) = &self.weight else { return Ok(observations) };
        let weights: Vec<f64> = (0..observations.len()).map(|o| weight[observations.input(o)]).collect();
        observations.with_weights(&weights).map_err(Error::of_table)
    }
}

impl Coding {
    /// What was done to the labels, for people; nothing if they are used as they are.
    pub fn note(&self) -> Option<String> {
        match self {
            Coding::Numbers => None,
            Coding::Binary { negative, positive }
                if (negative.as_str(), positive.as_str()) == ("-1", "1") =>
            {
                None
            }
            Coding::Binary { negative, positive } => {
                Some(format!("labels: {} became -1 and {} became +1", quoted(negative), quoted(positive)))
            }
            Coding::Classes => {
                Some("classes: one task each, +1 for its own rows and -1 for all others".into())
            }
        }
    }
}

fn no_labels() -> Error {
    Error::of_table(
        "there are no labels (npz: arrays y and task, or label, or Y; csv and parquet: name the target)",
    )
}

/// A label for each row, finite.
fn check_labels(labels: &[f64]) -> Result<()> {
    let Some(row) = labels.iter().position(|y| !y.is_finite()) else { return Ok(()) };
    let why = match labels[row].is_nan() {
        true => "its label is missing; leave such rows out".to_string(),
        false => format!("label {} is not a finite number", labels[row]),
    };
    Err(Error::of_table(why).at_row(row))
}

fn binary(negative: impl Into<String>, positive: impl Into<String>) -> Coding {
    Coding::Binary { negative: negative.into(), positive: positive.into() }
}

fn binary_numbers(labels: &[f64]) -> Result<Coding> {
    let mut values: Vec<f64> = vec![];
    for &y in labels.iter().filter(|y| !y.is_nan()) {
        // Few values, or it ends here.
        if !values.contains(&y) {
            values.push(y + 0.0);
        }
        if values.len() > SHOWN {
            break;
        }
    }
    values.sort_unstable_by(f64::total_cmp);
    match values[..] {
        [negative, positive] => Ok(binary(text::of_number(negative), text::of_number(positive))),
        // One side of a common pair: then the other side is known.
        [1.0] => Ok(binary("-1", "1")),
        [zero_or_less] if zero_or_less == 0.0 || zero_or_less == -1.0 => {
            Ok(binary(text::of_number(zero_or_less), "1"))
        }
        _ => Err(not_two(values.into_iter().map(text::of_number))),
    }
}

fn binary_words(labels: &Keys) -> Result<Coding> {
    let mut used = names_in_use(labels);
    match (used.next(), used.next(), used.next()) {
        (Some(negative), Some(positive), None) => Ok(binary(negative, positive)),
        _ => Err(not_two(names_in_use(labels))),
    }
}

fn not_two(values: impl Iterator<Item = String>) -> Error {
    let why =
        format!("a classification loss needs labels of two values, and here they are {}", listed(values));
    Error::of_table(why + "; declare them classes to learn one task per class, or take a loss for regression")
}

/// In increasing order.
fn names_in_use(labels: &Keys) -> impl Iterator<Item = String> + '_ {
    let used: BTreeSet<u32> = labels.index.iter().copied().collect();
    used.into_iter().map(|i| labels.names.name(i as usize))
}

fn listed(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.take(SHOWN + 1).collect();
    let mut shown: Vec<String> = values.iter().take(SHOWN).map(|value| quoted(value)).collect();
    if values.len() > SHOWN {
        shown.push("...".into());
    }
    if shown.is_empty() { "missing".into() } else { shown.join(", ") }
}

/// -1 or +1 of a text; numbers are the same however they are written.
fn sign(value: &str, coding: &Coding) -> Option<f64> {
    let Coding::Binary { negative, positive } = coding else { return None };
    let same =
        |a: &str, b: &str| a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b);
    if same(value, negative) {
        return Some(-1.0);
    }
    same(value, positive).then_some(1.0)
}

fn unknown_label(value: &str, coding: &Coding, row: usize) -> Error {
    let why = match coding {
        Coding::Binary { negative, positive } => {
            let (negative, positive) = (quoted(negative), quoted(positive));
            format!("label {} is neither {negative} (-1) nor {positive} (+1)", quoted(value))
        }
        Coding::Classes => format!("label {} of a task, where classes are expected", quoted(value)),
        Coding::Numbers => format!("label {} is not a number", quoted(value)),
    };
    Error::of_table(why).at_row(row)
}

/// Numbers as the solver takes them; NaN stays.
fn coder(coding: &Coding) -> impl Fn(f64, usize) -> Result<f64> + '_ {
    let value = |text: &str| text.parse().unwrap_or(f64::NAN);
    let (negative, positive) = match coding {
        Coding::Binary { negative, positive } => (value(negative), value(positive)),
        _ => (f64::NAN, f64::NAN),
    };
    move |y, row| match y {
        y if y.is_nan() || *coding == Coding::Numbers => Ok(y),
        y if y == negative => Ok(-1.0),
        y if y == positive => Ok(1.0),
        y => Err(unknown_label(&text::of_number(y), coding, row)),
    }
}

fn numbers(labels: &[f64], coding: &Coding) -> Result<Vec<f64>> {
    check_labels(labels)?;
    let coded = coder(coding);
    labels.iter().enumerate().map(|(row, &y)| coded(y, row)).collect()
}

fn words(labels: &Keys, coding: &Coding) -> Result<Vec<f64>> {
    let signs: Vec<Option<f64>> =
        (0..labels.names.len()).map(|i| sign(&labels.names.name(i), coding)).collect();
    let label = |(row, &i): (usize, &u32)| {
        signs[i as usize].ok_or_else(|| unknown_label(&labels.name(row), coding, row))
    };
    labels.index.iter().enumerate().map(label).collect()
}

/// The position of each row's name in a list.
fn find_rows(keys: &Keys, tasks: &TaskNames) -> Result<Vec<u32>> {
    let to = keys.find_in(tasks);
    let find = |(row, &i): (usize, &u32)| {
        to[i as usize].ok_or_else(|| unknown_task(&keys.name(row), tasks).at_row(row))
    };
    keys.index.iter().enumerate().map(find).collect()
}

/// In the words of the list itself, which knows what to show of it.
fn unknown_task(name: &str, tasks: &TaskNames) -> Error {
    match tasks.find(name) {
        Err(error) => Error::of_table(error),
        Ok(_) => Error::of_table(format!("task {} is unknown", quoted(name))),
    }
}

fn wide(
    label: &Matrix,
    own: &TaskNames,
    coding: &Coding,
    tasks: &TaskNames,
) -> Result<kinfolk::Result<Observations>> {
    let found = keys::find_in(own, tasks).into_iter().enumerate();
    let to: Vec<u32> =
        found.map(|(t, to)| to.ok_or_else(|| unknown_task(&own.name(t), tasks))).collect::<Result<_>>()?;
    let mut table = Matrix::zeros(label.rows(), tasks.len());
    table.as_mut_slice().fill(f64::NAN);
    let coded = coder(coding);
    for row in 0..label.rows() {
        for (t, &y) in label.row(row).iter().enumerate() {
            if y.is_infinite() {
                let why = format!("label {y} is not a finite number");
                return Err(Error::of_table(why).at_row(row).in_column(own.name(t)));
            }
            table[(row, to[t] as usize)] = coded(y, row).map_err(|error| error.in_column(own.name(t)))?;
        }
    }
    Ok(Observations::multi_output(table.as_slice(), label.rows(), tasks.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;

    fn table(targets: Targets, rows: usize) -> Table {
        let inputs = Dense::f64_owned(vec![1.0; rows], rows, 1).unwrap().into();
        Table { inputs, features: None, targets, weight: None, split: None }
    }

    fn one_task(label: Labels) -> Table {
        let rows = match &label {
            Labels::Numbers(labels) => labels.len(),
            Labels::Words(labels) => labels.len(),
        };
        table(Targets::Tasks { task: Keys::from_integers(&vec![0; rows]), label: Some(label) }, rows)
    }

    fn message<T>(result: Result<T>) -> String {
        result.err().unwrap().to_string()
    }

    #[test]
    fn two_values_become_minus_and_plus_one() {
        for (labels, negative, positive) in [
            ([0.0, 1.0], "0", "1"),
            ([2.0, 1.0], "1", "2"),
            ([1.0, -1.0], "-1", "1"),
            ([1.0, 1.0], "-1", "1"),
        ] {
            let coding = one_task(Labels::Numbers(labels.to_vec())).coding(true).unwrap();
            assert_eq!(coding, binary(negative, positive));
        }
        let words = one_task(Labels::Words(Keys::from_words(&["yes", "no", "yes"])));
        let coding = words.coding(true).unwrap();
        assert_eq!(coding.note().unwrap(), "labels: \"no\" became -1 and \"yes\" became +1");
        assert_eq!(words.observations(&coding).unwrap().labels(), [1.0, -1.0, 1.0]);
    }

    #[test]
    fn labels_that_are_signs_already_need_no_note() {
        let signs = one_task(Labels::Numbers(vec![1.0, -1.0]));
        let coding = signs.coding(true).unwrap();
        assert_eq!(coding.note(), None);
        assert_eq!(signs.observations(&coding).unwrap().labels(), [1.0, -1.0]);
    }

    #[test]
    fn more_than_two_values_are_listed() {
        let many = one_task(Labels::Numbers((0..20).map(f64::from).collect()));
        assert_eq!(
            message(many.coding(true)),
            "a classification loss needs labels of two values, and here they are \"0\", \"1\", \"2\", \"3\", \"4\", \"5\", \
             ...; declare them classes to learn one task per class, or take a loss for regression"
        );
        assert_eq!(many.coding(false).unwrap(), Coding::Numbers);
        let one = one_task(Labels::Words(Keys::from_words(&["yes"])));
        assert!(message(one.coding(true)).contains("here they are \"yes\""));
        assert!(message(one.coding(false)).contains("this loss is for numbers"));
    }

    #[test]
    fn a_missing_label_names_the_row() {
        let holes = one_task(Labels::Numbers(vec![1.0, f64::NAN]));
        assert_eq!(message(holes.coding(false)), "row 1: its label is missing; leave such rows out");
        assert_eq!(
            message(holes.observations(&Coding::Numbers)),
            "row 1: its label is missing; leave such rows out"
        );
        assert!(message(table(Targets::None, 1).coding(true)).starts_with("there are no labels"));
    }

    #[test]
    fn a_label_never_seen_in_training_is_an_error() {
        let labels = one_task(Labels::Numbers(vec![1.0, 3.0]));
        let error = message(labels.observations(&binary("0", "1")));
        assert_eq!(error, "row 1: label \"3\" is neither \"0\" (-1) nor \"1\" (+1)");
    }

    #[test]
    fn wide_tables_have_holes_and_weights() {
        let label = Matrix::from_vec(vec![0.0, f64::NAN, 1.0, 0.0], 2, 2).unwrap();
        let tasks = TaskNames::Strings(vec!["b".into(), "a".into()]);
        let mut wide = table(Targets::Wide { label, tasks }, 2);
        wide.weight = Some(vec![2.0, 3.0]);
        let coding = wide.coding(true).unwrap();
        let own = wide.observations(&coding).unwrap();
        assert_eq!(own.labels(), [-1.0, 1.0, -1.0]);
        assert_eq!((0..3).map(|o| own.weight(o)).collect::<Vec<_>>(), [2.0, 3.0, 3.0]);
        let known = TaskNames::Strings(vec!["a".into(), "b".into()]);
        let of_model = wide.observations_in(&coding, &known).unwrap();
        assert_eq!((0..3).map(|o| of_model.task(o)).collect::<Vec<_>>(), [1, 0, 1]);
        let unknown = TaskNames::Strings(vec!["a".into()]);
        assert_eq!(
            message(wide.observations_in(&coding, &unknown)),
            "task \"b\" is unknown; the tasks are a"
        );
    }

    #[test]
    fn classes_are_one_task_each() {
        let mut classes = table(Targets::Classes(Keys::from_words(&["oak", "elm", "ash"])), 3);
        classes.weight = Some(vec![1.0, 2.0, 3.0]);
        let coding = classes.coding(true).unwrap();
        let observations = classes.observations(&coding).unwrap();
        assert_eq!(observations.labels()[..3], [-1.0, -1.0, 1.0]);
        assert_eq!((observations.len(), observations.weight(8)), (9, 3.0));
        assert_eq!(observations.task_names().name(0), "ash");
        assert!(coding.note().unwrap().starts_with("classes: one task each"));
    }
}
