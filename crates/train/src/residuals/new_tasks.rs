//! Errors for tasks without training rows, which folds of whole tasks measure.

use super::HeldOutError;
use serde::{Deserialize, Serialize};

/// Quantiles that a model file keeps, evenly spaced, from the smallest error to the largest.
const N_QUANTILES: usize = 201;

/// Errors of predictions for tasks none of whose rows were learned from, in the units of the labels.
///
/// Rows of a task share much of their error, so each task counts as one, whatever number of rows it has: what is
/// uncertain is the next task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NewTaskErrors {
    /// How many tasks there were.
    pub tasks: usize,
    /// Absolute errors at evenly spaced shares, increasing.
    #[serde(deserialize_with = "super::not_negative")]
    quantiles: Vec<f64>,
}

impl NewTaskErrors {
    /// Of these errors; `None` if there are none.
    pub fn new(n_tasks: usize, mut errors: Vec<HeldOutError>) -> Option<Self> {
        errors.retain(|row| row.error.is_finite());
        let mut rows = vec![0_usize; n_tasks];
        errors.iter().for_each(|row| rows[row.task] += 1);
        let tasks = rows.iter().filter(|n| **n > 0).count();
        errors.sort_unstable_by(|a, b| a.error.abs().total_cmp(&b.error.abs()));
        let last = errors.last()?.error.abs();
        let (mut quantiles, mut share) = (Vec::with_capacity(N_QUANTILES), 0.0);
        for row in &errors {
            share += 1.0 / (rows[row.task] * tasks) as f64;
            // Rounding of the sum may leave a share just below the one that it is.
            while quantiles.len() < N_QUANTILES && share + 1e-9 >= share_of(quantiles.len()) {
                quantiles.push(row.error.abs());
            }
        }
        quantiles.resize(N_QUANTILES, last);
        Some(NewTaskErrors { tasks, quantiles })
    }

    /// Half of the width of an interval that holds a label of a new task with this probability, if new tasks are like
    /// the held-out ones: of T tasks, the error at the share `level (T + 1) / T`. `None` if T is too small for this
    /// level.
    pub fn half_width(&self, level: f64) -> Option<f64> {
        let share = level * (self.tasks + 1) as f64 / self.tasks as f64;
        let place = (share * (N_QUANTILES - 1) as f64 - 1e-9).ceil() as usize;
        self.quantiles.get(place).copied().filter(|_| share <= 1.0 + 1e-12)
    }
}

fn share_of(place: usize) -> f64 {
    place as f64 / (N_QUANTILES - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_task_counts_as_one() {
        // Nine tasks of one row, whose errors are 1 to 9, and a large one of a hundred rows with errors of 10.
        let of_task = |task: usize| HeldOutError { task, error: -((task + 1) as f64) };
        let mut errors: Vec<HeldOutError> = (0..10).map(of_task).collect();
        errors.extend([of_task(9); 99]);
        let found = NewTaskErrors::new(12, errors).unwrap();
        assert_eq!(found.tasks, 10);
        // 0.5 * 11 / 10 of ten tasks: the sixth.
        assert_eq!(
            (found.half_width(0.5), found.half_width(0.9), found.half_width(0.95)),
            (Some(6.0), Some(10.0), None)
        );
        assert_eq!(NewTaskErrors::new(3, vec![]), None);
    }
}
