//! How labels become numbers.

use crate::error::quoted;
use crate::{
    Categorical, Error, Hint, LabelEncoding, Labels, Result, Table, Targets, spelling, text, two_values,
};
use std::collections::BTreeSet;

/// Most values that a message lists.
const MAX_LISTED: usize = 6;

impl Table {
    /// How the labels become numbers. For a `classification` loss two values, numbers or words, become -1 and +1: the
    /// smaller number or the word that says no is -1, of other words the first one in the alphabet. Classes are one
    /// task each, whatever the loss.
    ///
    /// # Errors
    /// If there are no labels, or they do not suit. Missing ones do not count.
    pub fn label_encoding(&self, classification: bool) -> Result<LabelEncoding> {
        self.encoding(classification).map_err(|error| self.place(error))
    }

    /// A hint, where the labels of the only task look like classes and are learned as numbers: whole numbers
    /// without a gap, each of them twice or more on average.
    pub fn class_hint(&self, encoding: &LabelEncoding) -> Option<String> {
        let labels = match &self.targets {
            _ if *encoding != LabelEncoding::Numbers => return None,
            Targets::Tasks { task, label: Some(Labels::Numbers(labels)) } if task.names.len() == 1 => labels,
            Targets::Wide { label, .. } if label.cols() == 1 => label.as_slice(),
            _ => return None,
        };
        let mut values: Vec<f64> = labels.iter().copied().filter(|y| !y.is_nan()).collect();
        let n_labels = values.len();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let (first, last) = (*values.first()?, *values.last()?);
        let in_a_row = values.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
        let like_classes = first.fract() == 0.0 && in_a_row && 2 * values.len() <= n_labels;
        (like_classes && values.len() > 2).then(|| {
            let these = format!("the whole numbers {first} to {last}");
            format!("labels are {these}, learned as numbers; if they are classes, add --classes")
        })
    }

    fn encoding(&self, classification: bool) -> Result<LabelEncoding> {
        match &self.targets {
            Targets::None | Targets::Tasks { label: None, .. } => Err(no_labels()),
            Targets::Classes(_) => Ok(LabelEncoding::Classes),
            Targets::Tasks { label: Some(Labels::Numbers(labels)), .. } => {
                check_labels(labels)?;
                if classification { binary_numbers(labels) } else { Ok(LabelEncoding::Numbers) }
            }
            Targets::Wide { label, .. } if classification => binary_numbers(label.as_slice()),
            Targets::Wide { .. } => Ok(LabelEncoding::Numbers),
            Targets::Tasks { task, label: Some(Labels::Words(labels)) } if classification => {
                // Where a file has no column of tasks, there is one.
                let may_be_classes = task.names.len() == 1;
                binary_words(labels)
                    .map_err(|error| if may_be_classes { error.hint(Hint::Classes) } else { error })
            }
            Targets::Tasks { label: Some(Labels::Words(labels)), .. } => {
                let words = listed(names_in_use(labels));
                let cure = match names_in_use(labels).count() {
                    0..=2 => "take a loss for classification",
                    _ => "write a number in each cell, or leave it empty",
                };
                Err(wrong!("labels are words ({words}), and this loss is for numbers; {cure}"))
            }
        }
    }
}

impl LabelEncoding {
    /// The same with this value as the positive one of two, +1.
    ///
    /// # Errors
    /// If labels are not of two values, or this is none of them.
    pub fn with_positive(self, value: &str) -> Result<LabelEncoding> {
        match self {
            LabelEncoding::Binary { ref positive, .. } if same_value(value, positive) => Ok(self),
            LabelEncoding::Binary { negative, positive } if same_value(value, &negative) => {
                Ok(binary(positive, negative))
            }
            LabelEncoding::Binary { negative, positive } => Err(wrong!(
                "the positive value {} is none of the labels {} and {}",
                quoted(value),
                quoted(&negative),
                quoted(&positive)
            )),
            LabelEncoding::Numbers | LabelEncoding::Classes => Err(wrong!(
                "a positive value ({}) is for labels of two values and a loss for classification",
                quoted(value)
            )),
        }
    }

    /// The value that probabilities are of, unless it is what one expects: 1, or a word that says yes.
    pub fn positive_value(&self) -> Option<&str> {
        match self {
            LabelEncoding::Binary { positive, .. } if two_values::is_yes(positive) != Some(true) => {
                Some(positive)
            }
            _ => None,
        }
    }

    /// What was done to the labels, for people; nothing if they are used as they are.
    pub fn note(&self) -> Option<String> {
        match self {
            LabelEncoding::Numbers => None,
            LabelEncoding::Binary { negative, positive } if negative == "-1" && positive == "1" => None,
            LabelEncoding::Binary { negative, positive } => {
                Some(format!("labels: {} became -1 and {} became +1", quoted(negative), quoted(positive)))
            }
            LabelEncoding::Classes => {
                Some("classes: one task each, +1 for its own rows and -1 for all others".into())
            }
        }
    }
}

pub(crate) fn no_labels() -> Error {
    wrong!(
        "there are no labels (files of named columns: --target names their column; npz: arrays y and task, or label, \
         or Y, as of numpy.savez(FILE, X=X, y=y))"
    )
}

/// Labels are finite, or missing.
fn check_labels(labels: &[f64]) -> Result<()> {
    match labels.iter().position(|y| y.is_infinite()) {
        Some(row) => Err(wrong!("label {} is not a finite number", labels[row]).at_row(row)),
        None if !labels.is_empty() && labels.iter().all(|y| y.is_nan()) => {
            Err(wrong!("all labels are missing"))
        }
        None => Ok(()),
    }
}

fn binary(negative: impl Into<String>, positive: impl Into<String>) -> LabelEncoding {
    LabelEncoding::Binary { negative: negative.into(), positive: positive.into() }
}

fn binary_numbers(labels: &[f64]) -> Result<LabelEncoding> {
    let mut values: Vec<f64> = vec![];
    for &y in labels.iter().filter(|y| !y.is_nan()) {
        // More than a few values need not be counted.
        if !values.contains(&y) {
            values.push(y + 0.0);
        }
        if values.len() > MAX_LISTED {
            break;
        }
    }
    values.sort_unstable_by(f64::total_cmp);
    match values[..] {
        [negative, positive] => Ok(binary(text::of_number(negative), text::of_number(positive))),
        // One value of a usual pair (-1 and 1, or 0 and 1): then the other one is known.
        [1.0] => Ok(binary("-1", "1")),
        [zero_or_less] if zero_or_less == 0.0 || zero_or_less == -1.0 => {
            Ok(binary(text::of_number(zero_or_less), "1"))
        }
        _ => {
            let cure = "declare them classes to learn one task per class, or take a loss for regression";
            Err(not_two(values.into_iter().map(text::of_number), cure))
        }
    }
}

fn binary_words(labels: &Categorical) -> Result<LabelEncoding> {
    let mut used = names_in_use(labels);
    match (used.next(), used.next(), used.next()) {
        (Some(one), Some(other), None) => {
            let (negative, positive) = two_values::in_order(&one, &other);
            Ok(binary(negative, positive))
        }
        _ => {
            if let Some((negative, positive)) = two_values::of_several(&counts_in_use(labels)) {
                return Ok(binary(negative, positive));
            }
            let mut names: Vec<String> = names_in_use(labels).collect();
            // First those that say neither yes nor no.
            names.sort_by_key(|name| two_values::is_yes(name).is_some());
            let differ = spelling::differ_in_case(names.iter().map(String::as_str)).next().is_some();
            // Words of several values stand beside a column of tasks: without it they are classes.
            let cure = "with a column of tasks there are no classes: make two values of them, or learn them as \
                        classes without the tasks";
            let error = not_two(names.into_iter(), cure);
            Err(if differ { error.hint(Hint::IgnoreCase) } else { error })
        }
    }
}

fn not_two(values: impl Iterator<Item = String>, cure: &str) -> Error {
    wrong!("a classification loss needs labels of two values, and here they are {}; {cure}", listed(values))
}

/// The names that some row has, in increasing order. No name is a missing label.
pub(crate) fn names_in_use(labels: &Categorical) -> impl Iterator<Item = String> + '_ {
    let used: BTreeSet<u32> = labels.index.iter().copied().collect();
    used.into_iter().map(|i| labels.names.name(i as usize)).filter(|name| !name.is_empty())
}

/// The same with the number of their rows.
pub(crate) fn counts_in_use(labels: &Categorical) -> Vec<(String, usize)> {
    let mut rows = vec![0; labels.names.len()];
    labels.index.iter().for_each(|&i| rows[i as usize] += 1);
    let named = rows.into_iter().enumerate().map(|(i, n)| (labels.names.name(i), n));
    named.filter(|(name, n)| *n > 0 && !name.is_empty()).collect()
}

pub(crate) fn listed(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.take(MAX_LISTED + 1).collect();
    let mut shown: Vec<String> = values.iter().take(MAX_LISTED).map(|value| quoted(value)).collect();
    if values.len() > MAX_LISTED {
        shown.push("...".into());
    }
    if shown.is_empty() { "missing".into() } else { shown.join(", ") }
}

/// Whether two texts are the same, or the same number.
fn same_value(a: &str, b: &str) -> bool {
    a == b || matches!((a.parse::<f64>(), b.parse::<f64>()), (Ok(a), Ok(b)) if a == b)
}

/// -1 or +1 of a text; numbers are the same however they are written.
fn sign(value: &str, encoding: &LabelEncoding) -> Option<f64> {
    let LabelEncoding::Binary { negative, positive } = encoding else { return None };
    if same_value(value, negative) {
        return Some(-1.0);
    }
    if same_value(value, positive) {
        return Some(1.0);
    }
    two_values::spelling_of(value, negative, positive)
}

/// What is wrong with a label that is none of two values.
pub(crate) fn neither(value: &str, negative: &str, positive: &str) -> String {
    format!("label {} is neither {} (-1) nor {} (+1)", quoted(value), quoted(negative), quoted(positive))
}

fn unknown_label(value: &str, encoding: &LabelEncoding, row: usize) -> Error {
    let why = match encoding {
        LabelEncoding::Binary { negative, positive } => neither(value, negative, positive),
        LabelEncoding::Classes => format!("label {} of a task, where classes are expected", quoted(value)),
        LabelEncoding::Numbers => format!("label {} is not a number", quoted(value)),
    };
    Error::of_table(why).at_row(row)
}

/// Numbers as the solver takes them; NaN stays.
pub(crate) fn coder(encoding: &LabelEncoding) -> impl Fn(f64, usize) -> Result<f64> + '_ {
    let value = |text: &str| text.parse().unwrap_or(f64::NAN);
    let (negative, positive) = match encoding {
        LabelEncoding::Binary { negative, positive } => (value(negative), value(positive)),
        _ => (f64::NAN, f64::NAN),
    };
    move |y, row| match y {
        y if y.is_nan() || *encoding == LabelEncoding::Numbers => Ok(y),
        y if y == negative => Ok(-1.0),
        y if y == positive => Ok(1.0),
        y => Err(unknown_label(&text::of_number(y), encoding, row)),
    }
}

/// Labels that are numbers, as the solver takes them; NaN where one is missing.
pub(crate) fn numbers(labels: &[f64], encoding: &LabelEncoding) -> Result<Vec<f64>> {
    check_labels(labels)?;
    let coded = coder(encoding);
    labels.iter().enumerate().map(|(row, &y)| coded(y, row)).collect()
}

/// Labels that are words, as the solver takes them; NaN where one is missing.
pub(crate) fn words(labels: &Categorical, encoding: &LabelEncoding) -> Result<Vec<f64>> {
    let signs: Vec<Option<f64>> = labels.names.iter().map(|name| sign(&name, encoding)).collect();
    let missing = |i: u32| labels.names.name(i as usize).is_empty();
    let label = |(row, &i): (usize, &u32)| match signs[i as usize] {
        None if missing(i) => Ok(f64::NAN),
        sign => sign.ok_or_else(|| unknown_label(&labels.name(row), encoding, row)),
    };
    labels.index.iter().enumerate().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;

    fn table(targets: Targets, rows: usize) -> Table {
        let inputs = Dense::f64_owned(vec![1.0; rows], rows, 1).unwrap().into();
        Table::new(inputs, targets)
    }

    fn one_task(label: Labels) -> Table {
        let rows = match &label {
            Labels::Numbers(labels) => labels.len(),
            Labels::Words(labels) => labels.len(),
        };
        table(Targets::Tasks { task: Categorical::from_integers(&vec![0; rows]), label: Some(label) }, rows)
    }

    fn message<T>(result: Result<T>) -> String {
        result.err().unwrap().to_string()
    }

    #[test]
    fn either_value_can_be_the_positive_one() {
        let alive = || binary("alive", "lost");
        assert_eq!(alive().with_positive("alive").unwrap(), binary("lost", "alive"));
        assert_eq!(alive().with_positive("lost").unwrap(), alive());
        assert_eq!(binary("1", "2").with_positive("1.0").unwrap(), binary("2", "1"));
        assert!(message(alive().with_positive("x")).starts_with("the positive value \"x\" is none of"));
        assert!(message(LabelEncoding::Numbers.with_positive("x")).contains("labels of two values"));
    }

    #[test]
    fn two_values_become_minus_and_plus_one() {
        for (labels, negative, positive) in [
            ([0.0, 1.0], "0", "1"),
            ([2.0, 1.0], "1", "2"),
            ([1.0, -1.0], "-1", "1"),
            ([1.0, 1.0], "-1", "1"),
        ] {
            let encoding = one_task(Labels::Numbers(labels.to_vec())).label_encoding(true).unwrap();
            assert_eq!(encoding, binary(negative, positive));
        }
        let words = one_task(Labels::Words(Categorical::from_words(&["yes", "no", "yes"])));
        let encoding = words.label_encoding(true).unwrap();
        assert_eq!(encoding.note().unwrap(), "labels: \"no\" became -1 and \"yes\" became +1");
        assert_eq!(words.observations(&encoding).unwrap().labels(), [1.0, -1.0, 1.0]);
    }

    #[test]
    fn labels_that_are_signs_already_need_no_note() {
        let signs = one_task(Labels::Numbers(vec![1.0, -1.0]));
        let encoding = signs.label_encoding(true).unwrap();
        assert_eq!(encoding.note(), None);
        assert_eq!(signs.observations(&encoding).unwrap().labels(), [1.0, -1.0]);
    }

    #[test]
    fn more_than_two_values_are_listed() {
        let many = one_task(Labels::Numbers((0..20).map(f64::from).collect()));
        assert_eq!(
            message(many.label_encoding(true)),
            "a classification loss needs labels of two values, and here they are \
             \"0\", \"1\", \"2\", \"3\", \"4\", \"5\", ...; \
             declare them classes to learn one task per class, or take a loss for regression"
        );
        assert_eq!(many.label_encoding(false).unwrap(), LabelEncoding::Numbers);
        let one = one_task(Labels::Words(Categorical::from_words(&["yes"])));
        assert!(message(one.label_encoding(true)).contains("here they are \"yes\""));
        assert!(message(one.label_encoding(false)).contains("this loss is for numbers"));
    }

    #[test]
    fn whole_numbers_in_a_row_may_be_classes() {
        let hint = |labels: &[f64]| {
            one_task(Labels::Numbers(labels.to_vec())).class_hint(&LabelEncoding::Numbers).is_some()
        };
        assert!(hint(&[0.0, 1.0, 2.0, 2.0, 1.0, f64::NAN, 0.0]));
        assert!(!hint(&[0.0, 1.0, 2.0]), "each one once");
        assert!(!hint(&[0.0, 1.0, 3.0, 3.0, 1.0, 0.0]), "a gap");
        assert!(!hint(&[0.5, 1.5, 2.5, 2.5, 1.5, 0.5]), "no whole numbers");
        assert!(hint(&[7.0, 8.0, 9.0, 9.0, 8.0, 7.0]));
    }

    #[test]
    fn rows_without_a_label_are_no_observations() {
        let holes = one_task(Labels::Numbers(vec![1.0, f64::NAN, 3.0]));
        assert_eq!(holes.label_encoding(false).unwrap(), LabelEncoding::Numbers);
        assert_eq!(holes.observations(&LabelEncoding::Numbers).unwrap().labels(), [1.0, 3.0]);
        let words = one_task(Labels::Words(Categorical::from_words(&["yes", "", "no"])));
        let encoding = words.label_encoding(true).unwrap();
        assert_eq!(words.observations(&encoding).unwrap().labels(), [1.0, -1.0]);
        assert!(message(table(Targets::None, 1).label_encoding(true)).starts_with("there are no labels"));
        let none = one_task(Labels::Numbers(vec![f64::NAN]));
        assert_eq!(message(none.label_encoding(false)), "all labels are missing");
    }

    #[test]
    fn a_label_never_seen_in_training_is_an_error() {
        let labels = one_task(Labels::Numbers(vec![1.0, 3.0]));
        let error = message(labels.observations(&binary("0", "1")));
        assert_eq!(error, "row 2: label \"3\" is neither \"0\" (-1) nor \"1\" (+1)");
    }
}
