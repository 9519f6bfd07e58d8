//! In which order a design keeps the observations.

use crate::Observations;
use std::ops::Range;

/// Marks a cell of a table without an observation (a hole).
pub(super) const NO_OBSERVATION: u32 = u32::MAX;

/// A table is used if at least this share of its cells has an observation.
const FULL_ENOUGH: f64 = 0.25;

#[derive(Debug)]
pub(super) struct RowLayout {
    /// The observation of each entry.
    observations: Vec<u32>,
    n_tasks: usize,
    /// Runs of entries of each task, or `None` for a table (inputs x tasks).
    task_rows: Option<Vec<Range<usize>>>,
}

impl RowLayout {
    /// Whether a table of inputs x tasks: most cells are filled, none twice.
    fn is_table(obs: &Observations) -> bool {
        let cells = obs.n_inputs() * obs.n_tasks();
        if obs.is_complete() {
            return true;
        }
        if (obs.len() as f64) < FULL_ENOUGH * cells as f64 {
            return false;
        }
        let mut last = vec![u32::MAX; obs.n_tasks()];
        (0..obs.n_inputs())
            .all(|i| obs.of_input(i).all(|o| std::mem::replace(&mut last[obs.task(o)], i as u32) != i as u32))
    }

    /// Rows of inputs, and entries, that a layout of these observations has.
    pub(super) fn size(obs: &Observations) -> (usize, usize) {
        if Self::is_table(obs) {
            (obs.n_inputs(), obs.n_inputs() * obs.n_tasks())
        } else {
            (obs.len(), obs.len())
        }
    }

    /// The layout, and the input of each of its rows.
    pub(super) fn new(obs: &Observations) -> (Self, Vec<u32>) {
        let t = obs.n_tasks();
        if Self::is_table(obs) {
            let mut observations = vec![NO_OBSERVATION; obs.n_inputs() * t];
            for o in 0..obs.len() {
                observations[obs.input(o) * t + obs.task(o)] = o as u32;
            }
            let layout = RowLayout { observations, n_tasks: t, task_rows: None };
            return (layout, (0..obs.n_inputs() as u32).collect());
        }
        let counts = obs.task_counts();
        let mut next = 0;
        let ranges: Vec<Range<usize>> = counts
            .iter()
            .map(|n| {
                next += n;
                next - n..next
            })
            .collect();
        let mut free: Vec<usize> = ranges.iter().map(|range| range.start).collect();
        let (mut observations, mut rows) = (vec![0; obs.len()], vec![0; obs.len()]);
        for o in 0..obs.len() {
            let slot = &mut free[obs.task(o)];
            (observations[*slot], rows[*slot]) = (o as u32, obs.input(o) as u32);
            *slot += 1;
        }
        (RowLayout { observations, n_tasks: t, task_rows: Some(ranges) }, rows)
    }

    pub(super) fn n_tasks(&self) -> usize {
        self.n_tasks
    }

    pub(super) fn observations(&self) -> &[u32] {
        &self.observations
    }

    pub(super) fn task_rows(&self) -> Option<&[Range<usize>]> {
        self.task_rows.as_deref()
    }

    pub(super) fn place(&self, entry: usize) -> (usize, usize) {
        match &self.task_rows {
            None => (entry / self.n_tasks, entry % self.n_tasks),
            Some(ranges) => (entry, ranges.partition_point(|range| range.end <= entry)),
        }
    }

    pub(super) fn gather(&self, of_observations: &[f64]) -> Vec<f64> {
        let value = |&o: &u32| if o == NO_OBSERVATION { 0.0 } else { of_observations[o as usize] };
        self.observations.iter().map(value).collect()
    }

    pub(super) fn scatter(&self, of_entries: &[f64], n_observations: usize) -> Vec<f64> {
        let mut out = vec![0.0; n_observations];
        for (&o, &value) in self.observations.iter().zip(of_entries) {
            if o != NO_OBSERVATION {
                out[o as usize] = value;
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(input: Vec<u32>, task: Vec<u32>) -> Observations {
        let label = (0..input.len()).map(|o| o as f64).collect();
        Observations::from_triples(4, 3, input, task, label).unwrap()
    }

    #[test]
    fn full_tables_stay_tables_and_others_are_sorted_by_task() {
        let nearly_full = listed(vec![3, 0, 0, 1, 1, 2, 2], vec![0, 0, 1, 1, 2, 0, 2]);
        let (layout, rows) = RowLayout::new(&nearly_full);
        assert!(layout.task_rows().is_none());
        assert_eq!(rows, [0, 1, 2, 3]);
        assert_eq!(layout.place(7), (2, 1));
        let there_and_back = layout.scatter(&layout.gather(nearly_full.labels()), 7);
        assert_eq!(there_and_back, nearly_full.labels());

        let own = listed(vec![3, 0], vec![2, 0]);
        let (layout, rows) = RowLayout::new(&own);
        assert_eq!(layout.task_rows().unwrap(), [0..1, 1..1, 1..2]);
        assert_eq!((rows, layout.place(1)), (vec![0, 3], (1, 2)));
        assert_eq!(layout.gather(own.labels()), [1.0, 0.0]);
        assert_eq!(RowLayout::size(&own), (2, 2));

        let twice = listed(vec![0, 0, 1, 2, 3], vec![1, 1, 1, 1, 1]);
        assert!(RowLayout::new(&twice).0.task_rows().is_some());
    }
}
