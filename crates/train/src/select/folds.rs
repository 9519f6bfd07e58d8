//! Cutting data into parts that resemble each other.

use crate::{Error, Result};
use kinfolk::Observations;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// The rows of one fold. They need not be all rows of the data, and folds may share rows.
#[derive(Debug, Clone)]
pub struct FoldRows {
    /// Rows to train on.
    pub train: Vec<u32>,
    /// Rows to test on.
    pub test: Vec<u32>,
}

impl FoldRows {
    /// All folds, from the fold in which each input is tested.
    pub(crate) fn all(fold_of: &[u32], n_folds: usize) -> Vec<FoldRows> {
        let rows = |fold: usize, test: bool| -> Vec<u32> {
            let inputs = 0..fold_of.len() as u32;
            inputs.filter(|&i| (fold_of[i as usize] as usize == fold) == test).collect()
        };
        (0..n_folds).map(|fold| FoldRows { train: rows(fold, false), test: rows(fold, true) }).collect()
    }

    /// The same with a random part of the training rows, in which tasks and classes have their shares.
    ///
    /// # Errors
    /// If the part, or the rest, would be empty.
    pub(crate) fn with_share(&self, observations: &Observations, share: f64, seed: u64) -> Result<FoldRows> {
        let (some, _) = split(&observations.select_inputs(&self.train)?, share, seed)?;
        let train = some.into_iter().map(|i| self.train[i as usize]).collect();
        Ok(FoldRows { train, test: self.test.clone() })
    }
}

/// In which order strata, the classes of tasks, are dealt to the folds. Each stratum goes on where the last one
/// ended, so it is spread evenly, and so are strata that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FoldOrder {
    /// The positive rows of all tasks, then the others: they are spread evenly even if a task has one of them.
    #[default]
    ClassFirst,
    /// Task by task, as in version 0.1. If tasks have one positive row and as many rows as folds or a multiple
    /// of it, all positive rows are in one fold.
    TaskFirst,
}

/// Which fold each input is tested in. Stratified: every task, and every class of it, is spread evenly.
///
/// # Errors
/// If there are fewer than two folds, or fewer inputs than folds.
pub fn folds(observations: &Observations, n_folds: usize, order: FoldOrder, seed: u64) -> Result<Vec<u32>> {
    let n = observations.n_inputs();
    if n_folds < 2 || n_folds > n {
        return Err(Error::Study(format!("{n_folds} folds of {n} rows: there must be from 2 to {n}")));
    }
    let mut fold = vec![0; n];
    // Going on where the last stratum ended keeps the folds of equal size even if every stratum has one row.
    for (place, input) in spread(observations, order, seed).into_iter().enumerate() {
        fold[input as usize] = (place % n_folds) as u32;
    }
    Ok(fold)
}

/// A random part with this share of the inputs, and the rest; both increasing. Stratified as [`folds`] are.
///
/// # Errors
/// If one of the two would be empty.
pub fn split(observations: &Observations, share: f64, seed: u64) -> Result<(Vec<u32>, Vec<u32>)> {
    let n = observations.n_inputs();
    let taken = |place: usize| (place as f64 * share).floor();
    let (mut train, mut test) = (vec![], vec![]);
    for (place, input) in spread(observations, FoldOrder::ClassFirst, seed).into_iter().enumerate() {
        // One is taken whenever the running share passes a whole number.
        if taken(place + 1) > taken(place) { train.push(input) } else { test.push(input) }
    }
    if train.is_empty() || test.is_empty() {
        return Err(Error::Study(format!("a share of {share} of {n} rows leaves nothing on one side")));
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok((train, test))
}

/// All inputs, stratum by stratum, in random order within each.
fn spread(observations: &Observations, order: FoldOrder, seed: u64) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut strata: BTreeMap<(u64, usize, u64), Vec<u32>> = BTreeMap::new();
    let few = tasks_with_few_labels(observations);
    for i in 0..observations.n_inputs() {
        let (task, class) = stratum(observations, &few, i);
        let first = if order == FoldOrder::ClassFirst { class } else { 0 };
        strata.entry((first, task, class)).or_default().push(i as u32);
    }
    strata
        .into_values()
        .flat_map(|mut inputs| {
            inputs.shuffle(&mut rng);
            inputs
        })
        .collect()
}

/// Task and class of an input with one observation; class of an input of a one-vs-all problem; else all the same.
pub(super) fn stratum(observations: &Observations, few: &[bool], input: usize) -> (usize, u64) {
    let mut own = observations.of_input(input);
    let Some(first) = own.next() else { return (usize::MAX, 0) };
    if own.next().is_none() {
        let task = observations.task(first);
        let label = if few[task] { observations.label(first).to_bits() } else { 0 };
        return (task, label);
    }
    let mut positive = observations.of_input(input).filter(|&o| observations.label(o) > 0.0);
    match (positive.next(), positive.next()) {
        (Some(o), None) if few.iter().all(|f| *f) => (observations.task(o), 1),
        _ => (usize::MAX, 1),
    }
}

/// Which tasks have at most two different labels.
pub(super) fn tasks_with_few_labels(observations: &Observations) -> Vec<bool> {
    let mut seen: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); observations.n_tasks()];
    for o in 0..observations.len() {
        let labels = &mut seen[observations.task(o)];
        if labels.len() <= 2 {
            labels.insert(observations.label(o).to_bits());
        }
    }
    seen.iter().map(|labels| labels.len() <= 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_of_every_task_is_spread_evenly() {
        let task: Vec<u32> = (0..120).map(|i| i % 4).collect();
        let label: Vec<f64> = (0..120).map(|i| if (i / 4) % 5 == 0 { 1.0 } else { -1.0 }).collect();
        let obs = Observations::multi_task(&task, label.clone()).unwrap();
        let fold = folds(&obs, 3, FoldOrder::ClassFirst, 7).unwrap();
        for t in 0..4 {
            for f in 0..3 {
                let of = |y: f64| (0..120).filter(|&i| task[i] == t && fold[i] == f && label[i] == y).count();
                assert_eq!((of(1.0), of(-1.0)), (2, 8), "task {t}, fold {f}");
            }
        }
        assert_eq!(fold, folds(&obs, 3, FoldOrder::ClassFirst, 7).unwrap());
        assert_ne!(fold, folds(&obs, 3, FoldOrder::ClassFirst, 8).unwrap());
    }

    /// One positive row in each of 30 tasks of 20 rows: six of them in each of five folds.
    #[test]
    fn rare_classes_are_spread_evenly_over_all_tasks() {
        let task: Vec<u32> = (0..600).map(|i| i / 20).collect();
        let label: Vec<f64> = (0..600).map(|i| if i % 20 == 7 { 1.0 } else { -1.0 }).collect();
        let obs = Observations::multi_task(&task, label.clone()).unwrap();
        let positive = |order: FoldOrder| -> Vec<usize> {
            let fold = folds(&obs, 5, order, 1).unwrap();
            (0..5).map(|f| (0..600).filter(|&i| label[i] > 0.0 && fold[i] == f).count()).collect()
        };
        assert_eq!(positive(FoldOrder::ClassFirst), [6; 5]);
        assert_eq!(positive(FoldOrder::TaskFirst), [30, 0, 0, 0, 0]);
        let fold = folds(&obs, 5, FoldOrder::ClassFirst, 1).unwrap();
        let of_task = |t: u32, f: u32| (0..600).filter(|&i| task[i] == t && fold[i] == f).count();
        assert!((0..30).all(|t| (0..5).all(|f| (3..=5).contains(&of_task(t, f)))));
        let (train, _) = split(&obs, 0.5, 2).unwrap();
        assert_eq!(train.iter().filter(|&&i| label[i as usize] > 0.0).count(), 15);
    }

    #[test]
    fn classes_are_spread_evenly() {
        let class: Vec<u32> = (0..30).map(|i| u32::from(i >= 24)).collect();
        let obs = Observations::multi_class(&class, 2).unwrap();
        let fold = folds(&obs, 3, FoldOrder::ClassFirst, 0).unwrap();
        for f in 0..3 {
            assert_eq!((24..30).filter(|&i| fold[i] == f).count(), 2);
        }
    }

    #[test]
    fn a_split_takes_its_share_of_every_task() {
        let task: Vec<u32> = (0..100).map(|i| i / 50).collect();
        let label: Vec<f64> = (0..100).map(f64::from).collect();
        let obs = Observations::multi_task(&task, label).unwrap();
        let (train, test) = split(&obs, 0.2, 3).unwrap();
        assert_eq!((train.len(), test.len()), (20, 80));
        assert_eq!(train.iter().filter(|&&i| i < 50).count(), 10);
        assert!(
            split(&obs, 0.0, 3).is_err() && split(&obs, 1.0, 3).is_err() && split(&obs, f64::NAN, 3).is_err()
        );
    }

    #[test]
    fn too_many_folds_are_refused() {
        let obs = Observations::multi_task(&[0, 0], vec![1.0, 2.0]).unwrap();
        let cut = |n_folds: usize| folds(&obs, n_folds, FoldOrder::ClassFirst, 0);
        assert!(cut(3).is_err() && cut(1).is_err() && cut(2).is_ok());
    }
}
