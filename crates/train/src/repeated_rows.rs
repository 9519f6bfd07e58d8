//! Rows that are in the data more than once.

use kinfolk::{Inputs, Observations};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Where fewer of all rows have inputs of their own, values repeat by their nature, such as answers to a few questions.
const LEAST_SHARE_OF_OWN: f64 = 0.5;

/// A sentence about rows with the same features, task and label as a row before them; `None` if there are none, or
/// equal inputs are nothing special.
pub(crate) fn repeated_rows_note(inputs: &Inputs<'_>, observations: &Observations) -> Option<String> {
    let Inputs::Dense(dense) = inputs else { return None };
    let mut row = vec![0.0; dense.cols()];
    let (mut own, mut seen) = (HashSet::new(), HashMap::<u64, usize>::new());
    for i in 0..dense.rows() {
        dense.load_range(i..i + 1, &mut row);
        let mut hash = DefaultHasher::new();
        row.iter().for_each(|x| x.to_bits().hash(&mut hash));
        own.insert(hash.finish());
        for o in observations.of_input(i) {
            (observations.task(o), observations.label(o).to_bits()).hash(&mut hash);
        }
        *seen.entry(hash.finish()).or_default() += 1;
    }
    let (n, copies) = (dense.rows(), dense.rows() - seen.len());
    if copies == 0 || (own.len() as f64) < LEAST_SHARE_OF_OWN * n as f64 {
        return None;
    }
    let are = if copies == 1 { "1 row is a copy" } else { &format!("{copies} rows are copies") };
    Some(format!(
        "{are} of others, with the same features, task and label: if they are one observation written twice, leave \
         the copies out, as scores are too good for held-out rows whose copies were learned from"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;

    fn note(x: &[f64], task: &[u32], y: &[f64]) -> Option<String> {
        let inputs = Inputs::from(Dense::f64(x, y.len(), x.len() / y.len()).unwrap());
        repeated_rows_note(&inputs, &Observations::multi_task(task, y.to_vec()).unwrap())
    }

    #[test]
    fn copies_are_counted() {
        let x = [0.5, 1.5, 0.5, 2.5, 0.5];
        let said = note(&x, &[0; 5], &[1.0, 2.0, 1.0, 3.0, 1.0]).unwrap();
        assert!(said.starts_with("2 rows are copies of others"), "{said}");
        // Another task or label makes another row.
        assert_eq!(note(&x, &[0, 0, 1, 1, 0], &[1.0, 2.0, 1.0, 3.0, 4.0]), None);
        let said = note(&x, &[0, 0, 1, 1, 0], &[1.0, 2.0, 1.0, 3.0, 1.0]).unwrap();
        assert!(said.starts_with("1 row is a copy of others"), "{said}");
    }

    #[test]
    fn values_that_repeat_by_nature_are_no_copies() {
        let x: Vec<f64> = (0..30).map(|i| f64::from(i % 3)).collect();
        assert_eq!(note(&x, &[0; 30], &x), None);
    }
}
