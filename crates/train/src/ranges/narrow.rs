//! Tasks whose rows cover only a part of a column, and new rows of theirs outside of it.
//!
//! A shop that is open for one month has one season of a year: its predictions for the next season rest on other
//! shops, and its interval has the spread of the labels of one season.

use super::{InputRanges, MAX_FEATURES, MAX_NAMED, load_row};
use kinfolk::{Inputs, Observations, TaskNames};
use kinfolk_io::Schema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Fewer rows cover a small part by chance: eight rows from anywhere cover less than a quarter in one case of 2,000.
const MIN_ROWS: usize = 8;

/// A task is narrow in a column if it covers less than this share of what the usual task does.
const NARROW: f64 = 0.25;

/// With more numbers for tasks and features, no person looks at single tasks.
const MAX_NUMBERS: usize = 4_000_000;

/// What the rows of a task cover of a feature that others cover more of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct TaskRange {
    pub(super) task: usize,
    pub(super) feature: usize,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// The narrow ones among tasks with rows of their own, of features with more than two values.
pub(super) fn find(inputs: &Inputs<'_>, observations: &Observations, all: &InputRanges) -> Vec<TaskRange> {
    let (d, n_tasks) = (inputs.n_features(), observations.n_tasks());
    let is_too_large = d > MAX_FEATURES || d.saturating_mul(n_tasks) > MAX_NUMBERS;
    if observations.is_complete() || is_too_large || !matches!(inputs, Inputs::Dense(_)) {
        return vec![];
    }
    let mut own = vec![(f64::INFINITY, f64::NEG_INFINITY); d * n_tasks];
    let (mut rows, mut is_between) = (vec![0_usize; n_tasks], vec![false; d]);
    let mut row = vec![0.0; d];
    for o in 0..observations.len() {
        let task = observations.task(o);
        rows[task] += 1;
        load_row(inputs, observations.input(o), &mut row);
        for (j, &x) in row.iter().enumerate() {
            let (low, high) = &mut own[task * d + j];
            (*low, *high) = (low.min(x), high.max(x));
            is_between[j] |= all.low[j] < x && x < all.high[j];
        }
    }
    let large: Vec<usize> = (0..n_tasks).filter(|&t| rows[t] >= MIN_ROWS).collect();
    let mut found = vec![];
    for j in (0..d).filter(|&j| is_between[j]) {
        let width = |t: usize| 0.5 * own[t * d + j].1 - 0.5 * own[t * d + j].0;
        let mut widths: Vec<f64> = large.iter().map(|&t| width(t)).collect();
        widths.sort_unstable_by(f64::total_cmp);
        let Some(&usual) = widths.get(widths.len() / 2) else { break };
        for &task in large.iter().filter(|&&t| width(t) < NARROW * usual) {
            let (low, high) = own[task * d + j];
            found.push(TaskRange { task, feature: j, low, high });
        }
    }
    found
}

/// New rows of narrow tasks that are outside of what their own rows covered.
#[derive(Debug, Clone, Default)]
pub(super) struct NarrowRows {
    /// For each narrow range, by its place: how many rows, and the value farthest away.
    outside: BTreeMap<usize, (usize, f64)>,
}

impl NarrowRows {
    /// Looks at more rows, and at which task each of them has in the model.
    pub(super) fn add(&mut self, narrow: &[TaskRange], inputs: &Inputs<'_>, tasks: &[Option<u32>]) {
        let mut of_task: BTreeMap<usize, Vec<(usize, &TaskRange)>> = BTreeMap::new();
        for (place, range) in
            narrow.iter().enumerate().filter(|(_, range)| range.feature < inputs.n_features())
        {
            of_task.entry(range.task).or_default().push((place, range));
        }
        let mut row = vec![0.0; inputs.n_features()];
        for (i, task) in tasks.iter().enumerate().take(inputs.n_inputs()) {
            let Some(ranges) = task.and_then(|task| of_task.get(&(task as usize))) else { continue };
            load_row(inputs, i, &mut row);
            for &(place, range) in ranges {
                let x = row[range.feature];
                if x < range.low || x > range.high {
                    let distance = |x: f64| (range.low - x).max(x - range.high);
                    let (rows, worst) = self.outside.entry(place).or_insert((0, x));
                    *rows += 1;
                    if distance(x) > distance(*worst) {
                        *worst = x;
                    }
                }
            }
        }
    }

    /// What is to be said about them, tasks with most rows first; `None` if there are none.
    pub(super) fn note(&self, narrow: &[TaskRange], schema: &Schema, tasks: &TaskNames) -> Option<String> {
        // Of each task the column with most rows outside.
        let mut of_task: BTreeMap<usize, (usize, &TaskRange, f64)> = BTreeMap::new();
        for (&place, &(rows, worst)) in &self.outside {
            let range = &narrow[place];
            let best = of_task.entry(range.task).or_insert((rows, range, worst));
            if rows > best.0 {
                *best = (rows, range, worst);
            }
        }
        let mut found: Vec<_> = of_task.into_iter().filter(|(task, _)| *task < tasks.len()).collect();
        found.sort_by_key(|(_, (rows, ..))| std::cmp::Reverse(*rows));
        let named = found.iter().take(MAX_NAMED).map(|(task, (rows, range, worst))| {
            let text = |value: f64| schema.value_in_words(range.feature, value);
            let rows = if *rows == 1 { "1 row".into() } else { format!("{rows} rows") };
            let (name, feature) = (tasks.name(*task), schema.feature_in_words(range.feature));
            let (value, low, high) = (text(*worst), text(range.low), text(range.high));
            format!("{name:?} ({rows}, {feature} such as {value}; in its training {low} to {high})")
        });
        let named: Vec<String> = named.collect();
        let more = found.len() - named.len();
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| {
            format!(
                "tasks whose own training rows cover a small part of a column, with rows outside of it: predictions \
                 there rest on other tasks, and intervals are too narrow if labels differ there: {}{more}",
                named.join(", ")
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kinfolk::inputs::Dense;
    use kinfolk_io::ColumnRoles;

    /// Four tasks of twenty rows over twenty days, the last of which has two days alone; of the second feature, which
    /// has two values, tasks have one each.
    fn rows() -> (Vec<f64>, Vec<u32>) {
        let task: Vec<u32> = (0..80).map(|i| i / 20).collect();
        let x = (0..80).flat_map(|i| {
            let day = if i < 60 { i % 20 } else { i % 2 };
            [f64::from(day), f64::from(i / 20 % 2)]
        });
        (x.collect(), task)
    }

    #[test]
    fn a_task_of_one_season_is_named_for_rows_of_the_next() {
        let (x, task) = rows();
        let inputs = Inputs::from(Dense::f64(&x, 80, 2).unwrap());
        let observations = Observations::multi_task(&task, vec![0.0; 80]).unwrap();
        let ranges = InputRanges::new(&inputs).unwrap().of_tasks(&inputs, &observations);
        assert_eq!(ranges.narrow, [TaskRange { task: 3, feature: 0, low: 0.0, high: 1.0 }]);
        let new = [5.0, 0.0, 5.0, 0.0, 7.0, 1.0, 1.0, 0.0];
        let new = Inputs::from(Dense::f64(&new, 4, 2).unwrap());
        let note = |tasks: [Option<u32>; 4]| {
            let mut rows = NarrowRows::default();
            rows.add(&ranges.narrow, &new, &tasks);
            let schema = Schema::new(ColumnRoles::default(), None, 2);
            rows.note(&ranges.narrow, &schema, &TaskNames::Numbered(4))
        };
        assert_eq!(note([Some(0), Some(1), None, Some(3)]), None);
        let said = note([Some(0), Some(3), Some(3), Some(3)]).unwrap();
        assert!(said.ends_with("\"3\" (2 rows, feature 0 such as 7; in its training 0 to 1)"), "{said}");
    }

    #[test]
    fn few_rows_and_columns_of_tasks_are_no_narrow_ranges() {
        let (mut x, task) = rows();
        // A column that is the same in every task says what the task is.
        (0..80).for_each(|i| x[2 * i + 1] = f64::from(task[i]));
        let inputs = Inputs::from(Dense::f64(&x, 80, 2).unwrap());
        let observations = Observations::multi_task(&task, vec![0.0; 80]).unwrap();
        let found = find(&inputs, &observations, &InputRanges::new(&inputs).unwrap());
        assert_eq!(found.iter().map(|range| range.feature).collect::<Vec<_>>(), [0]);
        let few: Vec<u32> = (0..66).collect();
        let (inputs, observations) = (inputs.select_rows(&few), observations.select_inputs(&few).unwrap());
        assert_eq!(find(&inputs, &observations, &InputRanges::new(&inputs).unwrap()), []);
    }
}
