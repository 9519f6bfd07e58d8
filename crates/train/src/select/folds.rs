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

/// In which order rows are dealt to the folds, stratum by stratum. Each stratum goes on where the last one ended, so it
/// is spread evenly, and so are strata that follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FoldOrder {
    /// Strata are tasks. Of several draws it is the one that spreads the classes of all tasks together most evenly; in
    /// which rows of a task they are is left to chance. If they were spread evenly in each task, held-out rows would
    /// have the same share of each class as the training rows of their task: its level would be known, and free
    /// intercepts of small tasks would look better than they are. A single task has its classes as strata.
    #[default]
    Balanced,
    /// Strata are the classes of each task, task by task, as in version 0.1.
    TaskFirst,
}

/// So many draws are looked at if a class has few rows.
const DRAWS: usize = 16;

/// A class has few rows if it has fewer than this for each fold: of more, chance leaves nearly the same shares.
const FEW_ROWS_OF_A_CLASS: usize = 50;

/// Which fold each input is tested in, stratified.
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
    let fold_of = |place: usize| place % n_folds;
    for (place, input) in spread(observations, order, seed, (n_folds, &fold_of)).into_iter().enumerate() {
        fold[input as usize] = fold_of(place) as u32;
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
    // One is taken whenever the running share passes a whole number.
    let is_taken = |place: usize| taken(place + 1) > taken(place);
    let (mut train, mut test) = (vec![], vec![]);
    let part_of = |place: usize| usize::from(is_taken(place));
    for (place, input) in
        spread(observations, FoldOrder::Balanced, seed, (2, &part_of)).into_iter().enumerate()
    {
        if is_taken(place) { train.push(input) } else { test.push(input) }
    }
    if train.is_empty() || test.is_empty() {
        return Err(Error::Study(format!("a share of {share} of {n} rows leaves nothing on one side")));
    }
    train.sort_unstable();
    test.sort_unstable();
    Ok((train, test))
}

/// All inputs, stratum by stratum, in random order within each; `part_of` says in which of the parts a place is.
fn spread(
    observations: &Observations,
    order: FoldOrder,
    seed: u64,
    (n_parts, part_of): (usize, &dyn Fn(usize) -> usize),
) -> Vec<u32> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let few = tasks_with_few_labels(observations);
    let by_class = order == FoldOrder::TaskFirst || observations.n_tasks() == 1;
    let mut strata: BTreeMap<(usize, u64), Vec<u32>> = BTreeMap::new();
    let mut classes: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
    for i in 0..observations.n_inputs() as u32 {
        let (task, class) = stratum(observations, &few, i as usize);
        strata.entry((task, if by_class { class } else { 0 })).or_default().push(i);
        classes.entry(class).or_default().push(i);
    }
    let mut draw = || -> Vec<u32> {
        let shuffled = strata.values_mut().map(|inputs| {
            inputs.shuffle(&mut rng);
            inputs.as_slice()
        });
        shuffled.collect::<Vec<_>>().concat()
    };
    let rarest = classes.values().map(Vec::len).min().unwrap_or(0);
    if by_class || classes.len() != 2 || rarest >= FEW_ROWS_OF_A_CLASS * n_parts {
        return draw();
    }
    let is_first = {
        let mut is_first = vec![false; observations.n_inputs()];
        classes.values().take(1).flatten().for_each(|&i| is_first[i as usize] = true);
        is_first
    };
    let unevenness = |inputs: &[u32]| {
        let (mut rows, mut of_class) = (vec![0usize; n_parts], vec![0usize; n_parts]);
        for (place, &i) in inputs.iter().enumerate() {
            rows[part_of(place)] += 1;
            of_class[part_of(place)] += usize::from(is_first[i as usize]);
        }
        let share = of_class.iter().sum::<usize>() as f64 / inputs.len() as f64;
        rows.iter().zip(&of_class).map(|(n, own)| (*own as f64 - share * *n as f64).powi(2)).sum::<f64>()
    };
    let draws = (0..DRAWS).map(|_| draw()).map(|inputs| (unevenness(&inputs), inputs));
    let best = draws.reduce(|best, other| if other.0 < best.0 { other } else { best });
    best.map(|(_, inputs)| inputs).unwrap_or_default()
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

    fn tasks_of_two_classes(n: u32, n_tasks: u32, is_positive: impl Fn(u32) -> bool) -> Observations {
        let task: Vec<u32> = (0..n).map(|i| i % n_tasks).collect();
        let label = (0..n).map(|i| if is_positive(i / n_tasks) { 1.0 } else { -1.0 }).collect();
        Observations::multi_task(&task, label).unwrap()
    }

    #[test]
    fn tasks_are_spread_evenly_and_so_are_classes_of_all_together() {
        let obs = tasks_of_two_classes(120, 4, |row| row % 5 == 0);
        let fold = folds(&obs, 3, FoldOrder::Balanced, 7).unwrap();
        for f in 0..3 {
            let inside = |o: &usize| fold[*o] == f;
            let of_task = |t: usize| (0..120).filter(inside).filter(|&o| obs.task(o) == t).count();
            assert_eq!((0..4).map(of_task).collect::<Vec<_>>(), [10; 4]);
            let positive = (0..120).filter(inside).filter(|&o| obs.label(o) > 0.0).count();
            assert!((7..=9).contains(&positive), "{positive} of 24");
        }
        assert_eq!(fold, folds(&obs, 3, FoldOrder::Balanced, 7).unwrap());
        assert_ne!(fold, folds(&obs, 3, FoldOrder::Balanced, 8).unwrap());
    }

    #[test]
    fn training_rows_do_not_tell_the_classes_of_held_out_ones() {
        // Half of the eight rows of each of 50 tasks are positive: what a fold lacks of them is in the others.
        let obs = tasks_of_two_classes(400, 50, |row| row % 2 == 0);
        let fold = folds(&obs, 2, FoldOrder::Balanced, 3).unwrap();
        let positive =
            |t: usize| (0..400).filter(|&o| obs.task(o) == t && fold[o] == 0 && obs.label(o) > 0.0).count();
        assert!((0..50).filter(|&t| positive(t) != 2).count() > 10);
    }

    /// One positive row in each of 30 tasks of 20 rows: about six of them in each of five folds.
    #[test]
    fn rare_classes_are_spread_evenly_over_all_tasks() {
        let obs = tasks_of_two_classes(600, 30, |row| row == 7);
        let positive = |order: FoldOrder| -> Vec<usize> {
            let fold = folds(&obs, 5, order, 1).unwrap();
            (0..5).map(|f| (0..600).filter(|&o| obs.label(o) > 0.0 && fold[o] == f).count()).collect()
        };
        let balanced = positive(FoldOrder::Balanced);
        assert!(balanced.iter().all(|n| (4..=8).contains(n)), "{balanced:?}");
        assert_eq!(positive(FoldOrder::TaskFirst), [30, 0, 0, 0, 0]);
        let (train, _) = split(&obs, 0.5, 2).unwrap();
        let positive = train.iter().filter(|&&i| obs.label(i as usize) > 0.0).count();
        assert!((13..=17).contains(&positive), "{positive}");
    }

    #[test]
    fn two_positive_rows_in_all_are_in_two_folds() {
        let obs = tasks_of_two_classes(40, 20, |_| false);
        let labels = (0..40).map(|o| if o == 3 || o == 17 { 1.0 } else { -1.0 }).collect();
        let obs = obs.with_labels(labels).unwrap();
        for seed in 0..20 {
            let fold = folds(&obs, 2, FoldOrder::Balanced, seed).unwrap();
            assert_ne!(fold[3], fold[17], "seed {seed}");
        }
    }

    #[test]
    fn classes_are_spread_evenly() {
        let class: Vec<u32> = (0..30).map(|i| u32::from(i >= 24)).collect();
        let obs = Observations::multi_class(&class, 2).unwrap();
        let fold = folds(&obs, 3, FoldOrder::Balanced, 0).unwrap();
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
        let cut = |n_folds: usize| folds(&obs, n_folds, FoldOrder::Balanced, 0);
        assert!(cut(3).is_err() && cut(1).is_err() && cut(2).is_ok());
    }
}
