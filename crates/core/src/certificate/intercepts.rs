//! Intercepts in the certificate.
//!
//! With s the sum of a task's duals and `rho b^2 / 2` the cost of its intercept, the gap gains
//! `rho b^2 / 2 + s^2 / (2 rho) - s b = (b - s / rho)^2 rho / 2`. Free intercepts (rho = 0) need s = 0 and
//! add nothing to the gap, up to rounding of the sums.

use super::LossTerms;
use crate::backend::{Columns, RowBlock};
use crate::intercept::balance;
use crate::intercept::best::{TaskPredictions, best_intercept};
use crate::{Matrix, Problem, Result};
use rayon::prelude::*;

/// The best intercept of each task for scores of all blocks.
pub(super) fn best(problem: &Problem<'_>, blocks: &[RowBlock], scores: &[Matrix], rho: f64) -> Vec<f64> {
    let obs = problem.observations();
    let empty = |task: usize| TaskPredictions { loss: problem.loss(task), y: vec![], z: vec![], w: vec![] };
    let mut tasks: Vec<TaskPredictions<'_>> = (0..obs.n_tasks()).map(empty).collect();
    for (block, scores) in blocks.iter().zip(scores) {
        for (row, &i) in block.rows.iter().enumerate() {
            for o in obs.of_input(i as usize).filter(|&o| problem.gamma(o) > 0.0) {
                let task = obs.task(o);
                let column = if block.columns == Columns::All { task } else { 0 };
                let TaskPredictions { y, z, w, .. } = &mut tasks[task];
                y.push(obs.label(o));
                z.push(scores[(row, column)] + obs.offset(o));
                w.push(problem.gamma(o));
            }
        }
    }
    tasks.into_par_iter().map(|task| best_intercept(task, rho)).collect()
}

/// Adds the intercepts to scores of these columns.
pub(super) fn add(intercept: &[f64], columns: Columns, scores: &mut Matrix) {
    for row in 0..scores.rows() {
        match columns {
            Columns::All => scores.row_mut(row).iter_mut().zip(intercept).for_each(|(z, b)| *z += b),
            Columns::One(task) => scores[(row, 0)] += intercept[task],
        }
    }
}

/// Adds what intercepts contribute to both values and to the gap.
///
/// # Errors
/// If intercepts are free and the duals of a task do not add up to zero.
pub(super) fn add_terms(
    problem: &Problem<'_>,
    kappa: &[f64],
    rho: f64,
    intercept: &[f64],
    terms: &mut LossTerms,
) -> Result<()> {
    let sums = balance::task_sums(problem, kappa);
    balance::check(problem, &sums)?;
    for ((&(sum, _), b), gap) in sums.iter().zip(intercept).zip(&mut terms.gap) {
        if rho == 0.0 {
            *gap += (sum * b).abs();
            continue;
        }
        terms.value += 0.5 * rho * b * b;
        terms.conj += 0.5 * sum * (sum / rho);
        *gap += 0.5 * rho * (b - sum / rho) * (b - sum / rho);
    }
    Ok(())
}
