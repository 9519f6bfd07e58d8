//! Which rows train, which choose, which test.

use crate::data::Loaded;
use crate::experiment::SplitRule;
use crate::{Error, Result};
use kinfolk::Observations;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

/// Rows of one split, each list increasing.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SplitRows {
    pub(crate) train: Vec<u32>,
    pub(crate) validation: Option<Vec<u32>>,
    pub(crate) test: Vec<u32>,
}

/// The rows of a split.
pub(crate) fn rows(loaded: &Loaded, rule: &SplitRule, number: usize, seed: u64) -> Result<SplitRows> {
    let n = loaded.inputs.n_inputs();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let obs = &loaded.observations;
    let train = match rule {
        SplitRule::Task { rows, .. } => match &loaded.together {
            None => of_units(units_of_rows(obs), |task_rows| *rows as f64 / task_rows as f64, &mut rng),
            Some(together) => {
                let units = units_of_groups(obs, together);
                let per_task = obs.len() as f64 / obs.n_tasks() as f64;
                of_units(units, |_| *rows as f64 / per_task, &mut rng)
            }
        },
        SplitRule::Share { share } => of_units(units_of_rows(obs), |_| *share, &mut rng),
        SplitRule::Class { rows, test } => return by_class(loaded, *rows, *test, &mut rng),
        SplitRule::Trials { .. } => return trial(loaded, number),
    };
    let is_train = marks(n, &train);
    let test = (0..n as u32).filter(|&i| !is_train[i as usize]).collect();
    checked(SplitRows { train, validation: None, test })
}

fn checked(rows: SplitRows) -> Result<SplitRows> {
    match rows.train.is_empty() || rows.test.is_empty() {
        true => Err(Error::experiment("split", "it leaves no rows to train or none to test")),
        false => Ok(rows),
    }
}

fn marks(n: usize, rows: &[u32]) -> Vec<bool> {
    let mut marked = vec![false; n];
    rows.iter().for_each(|&i| marked[i as usize] = true);
    marked
}

/// Rows that stay together, by stratum; and how many rows the task of the stratum has.
type Strata = BTreeMap<Vec<(usize, u64)>, (usize, Vec<Vec<u32>>)>;

/// Each row alone; strata are the classes of a task, or the whole task where labels are numbers.
fn units_of_rows(obs: &Observations) -> Strata {
    let counts = obs.task_counts();
    let two = |o: usize| if obs.label(o).abs() == 1.0 { obs.label(o).to_bits() } else { 0 };
    let mut strata = Strata::new();
    for i in 0..obs.n_inputs() {
        let Some(o) = obs.of_input(i).next() else { continue };
        let key = vec![(obs.task(o), two(o))];
        strata.entry(key).or_insert((counts[obs.task(o)], vec![])).1.push(vec![i as u32]);
    }
    strata
}

/// Rows of the same number together; strata are groups with the same tasks and classes.
fn units_of_groups(obs: &Observations, together: &[i64]) -> Strata {
    let mut groups: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    together.iter().enumerate().for_each(|(i, g)| groups.entry(*g).or_default().push(i as u32));
    let mut strata = Strata::new();
    for rows in groups.into_values() {
        let of_row = |i: &u32| obs.of_input(*i as usize).map(|o| (obs.task(o), obs.label(o).to_bits()));
        let mut key: Vec<(usize, u64)> = rows.iter().flat_map(of_row).collect();
        key.sort_unstable();
        strata.entry(key).or_insert((0, vec![])).1.push(rows);
    }
    strata
}

/// A share of every stratum; what is left over by rounding goes on to the next stratum of the same task.
fn of_units(strata: Strata, share: impl Fn(usize) -> f64, rng: &mut ChaCha8Rng) -> Vec<u32> {
    let (mut taken, mut due, mut last) = (vec![], 0.0f64, None);
    for (key, (count, mut units)) in strata {
        let task = key.first().map(|(task, _)| *task);
        // Strata of a task come one after another; a new task starts anew.
        if task != last && key.len() == 1 {
            due = 0.0;
        }
        last = task;
        units.shuffle(rng);
        for unit in units {
            due += share(count);
            if due > 1.0 - 1e-9 {
                due -= 1.0;
                taken.extend(unit);
            }
        }
    }
    taken.sort_unstable();
    taken
}

/// Some rows of each class train; official test rows test, or as many of the rest.
fn by_class(loaded: &Loaded, rows: usize, test: usize, rng: &mut ChaCha8Rng) -> Result<SplitRows> {
    let obs = &loaded.observations;
    let mut of_class: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    let part = |i: usize| loaded.part.as_ref().map(|part| part[i]);
    for i in (0..obs.n_inputs()).filter(|&i| part(i) != Some(1)) {
        let own = obs.of_input(i).find(|&o| obs.label(o) > 0.0).map(|o| obs.task(o));
        of_class.entry(own.unwrap_or(usize::MAX)).or_default().push(i as u32);
    }
    let (mut train, mut rest) = (vec![], vec![]);
    for mut own in of_class.into_values() {
        own.shuffle(rng);
        let left = own.split_off(rows.min(own.len()));
        train.extend(own);
        rest.extend(left.into_iter().take(test));
    }
    let test = match &loaded.part {
        Some(part) => (0..part.len()).filter(|&i| part[i] == 1).map(|i| i as u32).collect(),
        None => rest,
    };
    let sorted = |mut rows: Vec<u32>| {
        rows.sort_unstable();
        rows
    };
    checked(SplitRows { train: sorted(train), validation: None, test: sorted(test) })
}

/// A trial that came with the data. The array may be shorter than the rows: it is about the first ones.
fn trial(loaded: &Loaded, split: usize) -> Result<SplitRows> {
    let (Some(trials), Some(part)) = (&loaded.trials, &loaded.part) else {
        return Err(Error::experiment("trials", "they need an array of trials and an official test part"));
    };
    let row = trials.row(split % trials.rows());
    let (mut train, mut validation, mut test) = (vec![], vec![], vec![]);
    for (i, part) in part.iter().enumerate() {
        match (part, row.get(i)) {
            (1, _) => test.push(i as u32),
            (_, Some(&yes)) if yes != 0.0 => train.push(i as u32),
            _ => validation.push(i as u32),
        }
    }
    checked(SplitRows { train, validation: Some(validation), test })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Origin;
    use kinfolk::inputs::Dense;

    fn loaded(observations: Observations) -> Loaded {
        let n = observations.n_inputs();
        let inputs = Dense::f64_owned(vec![1.0; n], n, 1).unwrap().into();
        Loaded { inputs, observations, part: None, together: None, trials: None, origin: Origin::Generated }
    }

    /// Two tasks of 10 and 20 rows, one in five positive.
    fn two_tasks() -> Loaded {
        let task: Vec<u32> = (0..30).map(|i| u32::from(i >= 10)).collect();
        let label = (0..30).map(|i| if i % 5 == 0 { 1.0 } else { -1.0 }).collect();
        loaded(Observations::multi_task(&task, label).unwrap())
    }

    #[test]
    fn every_task_gets_its_rows_and_both_classes() {
        let set = two_tasks();
        let rule = SplitRule::Task { rows: 5, together: None };
        let split = rows(&set, &rule, 0, 1).unwrap();
        assert_eq!((split.train.len(), split.test.len()), (10, 20));
        let count = |keep: &dyn Fn(usize) -> bool| split.train.iter().filter(|i| keep(**i as usize)).count();
        assert_eq!((count(&|i| i < 10), count(&|i| i >= 10)), (5, 5));
        assert_eq!(count(&|i| i % 5 == 0), 2);
        assert_eq!(split, rows(&set, &rule, 0, 1).unwrap());
        assert_ne!(split, rows(&set, &rule, 1, 2).unwrap());
        let share = rows(&set, &SplitRule::Share { share: 0.2 }, 0, 1).unwrap();
        assert_eq!(share.train.len(), 6);
    }

    #[test]
    fn what_belongs_together_stays_together() {
        let mut set = two_tasks();
        set.together = Some((0..30).map(|i| i / 2).collect());
        let split = rows(&set, &SplitRule::Task { rows: 5, together: None }, 0, 3).unwrap();
        assert!(split.train.chunks(2).all(|pair| pair[0] % 2 == 0 && pair[1] == pair[0] + 1));
        assert_eq!(split.train.len() + split.test.len(), 30);
    }

    #[test]
    fn classes_have_official_test_rows_or_some_of_the_rest() {
        let class: Vec<u32> = (0..30).map(|i| i / 10).collect();
        let mut set = loaded(Observations::multi_class(&class, 3).unwrap());
        let rule = SplitRule::Class { rows: 4, test: 3 };
        let split = rows(&set, &rule, 0, 1).unwrap();
        assert_eq!((split.train.len(), split.test.len()), (12, 9));
        set.part = Some((0..30).map(|i| i64::from(i % 10 > 7)).collect());
        let split = rows(&set, &rule, 0, 1).unwrap();
        assert_eq!(split.test, [8, 9, 18, 19, 28, 29]);
        assert!(split.train.iter().all(|i| i % 10 < 8));
    }

    #[test]
    fn trials_are_taken_as_they_are() {
        let class: Vec<u32> = (0..6).map(|i| i % 2).collect();
        let mut set = loaded(Observations::multi_class(&class, 2).unwrap());
        set.part = Some(vec![0, 0, 0, 0, 1, 1]);
        set.trials =
            Some(kinfolk::Matrix::from_vec(vec![1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0], 2, 4).unwrap());
        let split = rows(&set, &SplitRule::Trials { array: String::new() }, 1, 0).unwrap();
        assert_eq!((split.train, split.validation, split.test), (vec![1, 2], Some(vec![0, 3]), vec![4, 5]));
    }
}
