//! Folds that a column decides about: whole groups, whole tasks, or later rows.

use super::folds::{self, stratum, tasks_with_few_labels};
use super::{FoldOrder, FoldRows};
use crate::{Error, Result};
use kinfolk::Observations;
use kinfolk_io::FoldKeys;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, BTreeSet};

/// Numbers of rows by task and class.
type StratumRows = BTreeMap<(usize, u64), f64>;

/// The rows of all folds: by groups or times if there are any, else at random, as [`folds`](super::folds::folds).
///
/// # Errors
/// If there are fewer than two folds, or more than rows, groups or times allow.
pub fn cut(
    observations: &Observations,
    keys: Option<&FoldKeys>,
    n_folds: usize,
    order: FoldOrder,
    seed: u64,
) -> Result<Vec<FoldRows>> {
    let fold_of = match keys {
        Some(FoldKeys::Times(times)) => return time_folds(times, n_folds),
        Some(FoldKeys::Groups(groups)) => group_folds(observations, &groups.index, "groups", n_folds, seed)?,
        None => folds::folds(observations, n_folds, order, seed)?,
    };
    Ok(FoldRows::all(&fold_of, n_folds))
}

/// Whether no input has labels of several tasks.
pub(crate) fn one_task_per_row(observations: &Observations) -> bool {
    tasks_as_groups(observations).is_ok()
}

/// The task of each input, as its group: a fit then knows nothing about the tasks that it is tested on.
///
/// # Errors
/// If several tasks share an input.
pub(super) fn tasks_as_groups(observations: &Observations) -> Result<Vec<u32>> {
    let mut task_of: Vec<Option<usize>> = vec![None; observations.n_inputs()];
    for o in 0..observations.len() {
        let (input, task) = (observations.input(o), observations.task(o));
        if task_of[input].replace(task).is_some_and(|other| other != task) {
            return Err(Error::Study(format!(
                "folds of whole tasks need rows that belong to one task each; row {input} has labels of several"
            )));
        }
    }
    // Inputs without a label count nowhere.
    Ok(task_of.iter().map(|task| task.unwrap_or(0) as u32).collect())
}

/// Which fold each input is tested in, with all inputs of a group in one fold. `what` groups are called in messages.
///
/// Groups are placed from the largest to the smallest, equal ones in random order, each where the rows of its tasks
/// and classes are rarest: so folds are of about the same size, and every task keeps training rows if its groups are
/// several.
///
/// # Errors
/// If there are fewer than two folds, or fewer groups than folds.
pub(super) fn group_folds(
    observations: &Observations,
    group_of: &[u32],
    what: &str,
    n_folds: usize,
    seed: u64,
) -> Result<Vec<u32>> {
    let few = tasks_with_few_labels(observations);
    // For each group the number of its rows in each stratum, and for each stratum that of all rows.
    let mut groups: BTreeMap<u32, StratumRows> = BTreeMap::new();
    let mut totals: StratumRows = BTreeMap::new();
    for (input, &group) in group_of.iter().enumerate() {
        let own = stratum(observations, &few, input);
        *groups.entry(group).or_default().entry(own).or_default() += 1.0;
        *totals.entry(own).or_default() += 1.0;
    }
    let n = groups.len();
    if n_folds < 2 || n_folds > n {
        return Err(Error::Study(format!("{n_folds} folds of {n} {what}: there must be from 2 to {n}")));
    }
    let mut order: Vec<(&u32, &StratumRows)> = groups.iter().collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let rows = |strata: &StratumRows| strata.values().sum::<f64>();
    order.sort_by(|a, b| rows(b.1).total_cmp(&rows(a.1)));
    let mut filled: Vec<StratumRows> = vec![BTreeMap::new(); n_folds];
    let mut sizes = vec![0.0; n_folds];
    let mut fold_of: BTreeMap<u32, u32> = BTreeMap::new();
    for (place, (group, strata)) in order.into_iter().enumerate() {
        // How much of what is in the fold is like this group: in its tasks and classes, and of all rows.
        let crowd = |fold: usize| {
            let share = |(own, n): (&(usize, u64), &f64)| {
                n * filled[fold].get(own).copied().unwrap_or(0.0) / totals[own]
            };
            strata.iter().map(share).sum::<f64>() + rows(strata) * sizes[fold] / group_of.len() as f64
        };
        // The first groups open the folds, so that none is empty.
        let best = match place < n_folds {
            true => place,
            false => (0..n_folds).min_by(|&a, &b| crowd(a).total_cmp(&crowd(b))).unwrap_or(0),
        };
        strata.iter().for_each(|(own, n)| *filled[best].entry(*own).or_default() += n);
        sizes[best] += rows(strata);
        fold_of.insert(*group, best as u32);
    }
    Ok(group_of.iter().map(|group| fold_of[group]).collect())
}

/// Folds in the order of time: each is tested on inputs later than all its training inputs, as scikit-learn's
/// `TimeSeriesSplit` does. Inputs of the same time are never on both sides, and the first part is never tested.
///
/// The cuts are the same for all tasks: what is learned of one task is used for the others, so a row may not be
/// predicted from later rows of other tasks either.
///
/// # Errors
/// If there are fewer than two folds, or not more times than folds.
pub(super) fn time_folds(times: &[f64], n_folds: usize) -> Result<Vec<FoldRows>> {
    let part = parts_of_time(times, n_folds + 1);
    let most = times_in_order(times).len().saturating_sub(1);
    if n_folds < 2 || n_folds > most {
        return Err(Error::Study(format!(
            "{n_folds} folds of {} different times: there must be from 2 to {most}, and rows before the first",
            most + 1
        )));
    }
    let rows = |fits: &dyn Fn(usize) -> bool| -> Vec<u32> {
        (0..times.len() as u32).filter(|&i| fits(part[i as usize])).collect()
    };
    Ok((1..=n_folds)
        .map(|fold| FoldRows { train: rows(&|part| part < fold), test: rows(&|part| part == fold) })
        .collect())
}

/// The inputs up to a time, about this share of them, and the later ones.
///
/// # Errors
/// If one of the two would be empty.
pub(super) fn split_by_time(times: &[f64], share: f64) -> Result<(Vec<u32>, Vec<u32>)> {
    let goal = share * times.len() as f64;
    let mut ends = 0;
    let last = times_in_order(times).into_iter().take_while(|(_, n)| {
        ends += n;
        ends as f64 <= goal
    });
    let last = last.last().map_or(f64::NEG_INFINITY, |(time, _)| time);
    let (train, test): (Vec<u32>, Vec<u32>) =
        (0..times.len() as u32).partition(|&i| times[i as usize] <= last);
    two_sides(train, test, share)
}

/// Whole groups at random, about this share of the inputs, and the rest.
///
/// # Errors
/// If one of the two would be empty.
pub(super) fn split_by_group(group_of: &[u32], share: f64, seed: u64) -> Result<(Vec<u32>, Vec<u32>)> {
    let mut groups: Vec<u32> = group_of.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    groups.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let n = (share * groups.len() as f64).round() as usize;
    let taken: BTreeSet<u32> = groups.into_iter().take(n).collect();
    let inputs = 0..group_of.len() as u32;
    let (train, test) = inputs.partition(|&i| taken.contains(&group_of[i as usize]));
    two_sides(train, test, share)
}

fn two_sides(train: Vec<u32>, test: Vec<u32>, share: f64) -> Result<(Vec<u32>, Vec<u32>)> {
    match train.is_empty() || test.is_empty() {
        true => Err(Error::Study(format!(
            "a share of {share} of {} rows leaves nothing on one side",
            train.len() + test.len()
        ))),
        false => Ok((train, test)),
    }
}

/// Different times, increasing, with the number of their inputs.
fn times_in_order(times: &[f64]) -> Vec<(f64, usize)> {
    let mut sorted: Vec<f64> = times.iter().map(|time| time + 0.0).collect();
    sorted.sort_by(f64::total_cmp);
    sorted.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect()
}

/// The part of each input, of so many parts in the order of time with about as many inputs each and at least one time.
fn parts_of_time(times: &[f64], n_parts: usize) -> Vec<usize> {
    let in_order = times_in_order(times);
    let (mut part, mut seen) = (0, 0);
    let mut first_times = vec![f64::NEG_INFINITY];
    for (place, (time, n)) in in_order.iter().enumerate() {
        let is_full = seen * n_parts >= (part + 1) * times.len();
        // Each of the remaining parts needs a time.
        let must_start = in_order.len() - place < n_parts - part;
        if place > 0 && part + 1 < n_parts && (is_full || must_start) {
            part += 1;
            first_times.push(*time);
        }
        seen += n;
    }
    times.iter().map(|time| first_times.partition_point(|first| first <= time) - 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_tasks_are_left_out() {
        let task: Vec<u32> = (0..40).map(|i| i % 5).collect();
        let obs = Observations::multi_task(&task, vec![1.0; 40]).unwrap();
        let groups = tasks_as_groups(&obs).unwrap();
        for n_folds in [2, 5] {
            let fold = group_folds(&obs, &groups, "whole tasks", n_folds, 1).unwrap();
            assert!((0..40).all(|i| fold[i] == fold[i % 5]));
            assert_eq!(fold.iter().copied().collect::<BTreeSet<_>>().len(), n_folds);
        }
        let why = group_folds(&obs, &groups, "whole tasks", 6, 1).unwrap_err().to_string();
        assert_eq!(why, "6 folds of 5 whole tasks: there must be from 2 to 5");
        let classes = Observations::multi_class(&[0, 1, 1], 2).unwrap();
        let why = tasks_as_groups(&classes).unwrap_err().to_string();
        assert!(why.contains("row 0 has labels of several"), "{why}");
    }

    /// Three groups of each of four tasks: every fold has one group of every task, so no task is without rows.
    #[test]
    fn groups_are_whole_and_tasks_are_spread() {
        let task: Vec<u32> = (0..120).map(|i| i / 30).collect();
        let group: Vec<u32> = (0..120).map(|i| i / 10).collect();
        let obs = Observations::multi_task(&task, (0..120).map(f64::from).collect()).unwrap();
        for seed in 0..20 {
            let fold = group_folds(&obs, &group, "groups", 3, seed).unwrap();
            assert!((0..120).all(|i| fold[i] == fold[10 * (i / 10)]));
            for t in 0..4 {
                let own: BTreeSet<u32> = (30 * t..30 * (t + 1)).map(|i| fold[i]).collect();
                assert_eq!(own.len(), 3, "seed {seed}, task {t}");
            }
        }
        assert_eq!(
            group_folds(&obs, &group, "groups", 3, 7).unwrap(),
            group_folds(&obs, &group, "groups", 3, 7).unwrap()
        );
    }

    /// One large group and many small ones: the small ones fill the other folds.
    #[test]
    fn folds_of_groups_are_of_about_the_same_size() {
        let group: Vec<u32> = (0..90).map(|i| if i < 30 { 0 } else { i - 29 }).collect();
        let obs = Observations::multi_task(&[0; 90], (0..90).map(f64::from).collect()).unwrap();
        let fold = group_folds(&obs, &group, "groups", 3, 0).unwrap();
        assert_eq!([0, 1, 2].map(|f| fold.iter().filter(|own| **own == f).count()), [30; 3]);
    }

    #[test]
    fn every_test_row_is_later_than_all_training_rows() {
        // Seven rows a day for ten days, in no order.
        let times: Vec<f64> = (0..70).map(|i| f64::from(i * 31 % 70 / 7)).collect();
        for n_folds in [2, 3, 9] {
            let folds = time_folds(&times, n_folds).unwrap();
            assert_eq!(folds.len(), n_folds);
            for FoldRows { train, test } in &folds {
                let last = train.iter().map(|&i| times[i as usize]).fold(f64::MIN, f64::max);
                assert!(!train.is_empty() && !test.is_empty());
                assert!(test.iter().all(|&i| times[i as usize] > last));
            }
        }
        let why = time_folds(&times, 10).unwrap_err().to_string();
        assert_eq!(
            why,
            "10 folds of 10 different times: there must be from 2 to 9, and rows before the first"
        );
    }

    /// With as many rows in each time, the folds are those of TimeSeriesSplit.
    #[test]
    fn folds_by_time_are_those_of_scikit_learn() {
        let times: Vec<f64> = (0..12).map(f64::from).collect();
        let folds = time_folds(&times, 3).unwrap();
        let ends: Vec<(usize, usize)> =
            folds.iter().map(|fold| (fold.train.len(), fold.test.len())).collect();
        assert_eq!(ends, [(3, 3), (6, 3), (9, 3)]);
        assert_eq!(folds[1].test, [6, 7, 8]);
    }

    /// A time with almost all rows leaves a time for each other part.
    #[test]
    fn a_crowded_time_leaves_no_fold_empty() {
        let mut times = vec![1.0; 50];
        times.extend([2.0, 3.0, -0.0, 0.0]);
        let folds = time_folds(&times, 3).unwrap();
        assert!(folds.iter().all(|fold| !fold.train.is_empty() && !fold.test.is_empty()));
        assert_eq!(folds[0].train, [52, 53]);
    }

    #[test]
    fn splits_keep_groups_and_times_whole() {
        let (train, test) = split_by_time(&[3.0, 1.0, 2.0, 2.0, 4.0], 0.7).unwrap();
        assert_eq!((train, test), (vec![1, 2, 3], vec![0, 4]));
        assert!(split_by_time(&[1.0, 1.0], 0.5).is_err());
        let group = [0, 1, 0, 1, 2, 2, 3, 3];
        let (train, test) = split_by_group(&group, 0.5, 3).unwrap();
        assert_eq!((train.len(), test.len()), (4, 4));
        assert!(train.iter().all(|i| test.iter().all(|j| group[*i as usize] != group[*j as usize])));
        assert!(split_by_group(&group, 0.01, 3).is_err());
    }
}
