//! Intercepts in the certificate.
//!
//! With s the sum of a task's duals and `rho b^2 / 2` the cost of its intercept, the gap gains
//! `rho b^2 / 2 + s^2 / (2 rho) - s b = (b - s / rho)^2 rho / 2`. Free intercepts (rho = 0) need s = 0 and
//! add nothing to the gap, up to rounding of the sums.

use super::LossTerms;
use crate::backend::{Columns, RowBlock};
use crate::intercept::balance;
use crate::intercept::best::{TaskPredictions, middle, nearly_best_intercept};
use crate::{Matrix, Problem, Result, linalg};
use rayon::prelude::*;

/// The best intercept of each task for scores of all blocks. The search for it begins where it is right for some of the
/// duals.
pub(super) fn best(
    problem: &Problem<'_>,
    kappa: &[f64],
    (blocks, scores): (&[RowBlock], &[Matrix]),
    rho: &[f64],
) -> Vec<f64> {
    if let (true, true, Some(gamma)) =
        (problem.observations().is_complete(), problem.has_only_squared_loss(), problem.uniform_gamma())
    {
        let rho_per_gamma: Vec<f64> = rho.iter().map(|rho| rho / gamma).collect();
        return of_squared_loss(problem, blocks, scores, &rho_per_gamma);
    }
    let tasks = if problem.observations().is_complete() {
        of_table(problem, blocks, scores)
    } else {
        of_rows(problem, blocks, scores)
    };
    let guesses = guesses(problem, kappa, blocks, scores);
    let search = |((task, rho), guess): ((TaskPredictions<'_>, &f64), f64)| {
        nearly_best_intercept(task, *rho, guess, 0.0)
    };
    tasks.into_par_iter().zip(rho).zip(guesses).map(search).collect()
}

/// Observations of a task whose predictions are compared with what their duals demand.
const OBSERVATIONS_OF_A_GUESS: usize = 5;

/// The middle of the intercepts with which some observations of a task would have the predictions that their duals
/// demand; zero for losses with kinks.
fn guesses(problem: &Problem<'_>, kappa: &[f64], blocks: &[RowBlock], scores: &[Matrix]) -> Vec<f64> {
    let obs = problem.observations();
    let mut found: Vec<Vec<f64>> = vec![vec![]; obs.n_tasks()];
    let mut open = (0..obs.n_tasks()).filter(|task| problem.loss(*task).is_smooth()).count();
    for (block, scores) in blocks.iter().zip(scores) {
        for (row, &i) in block.rows.iter().enumerate() {
            if open == 0 {
                return found.iter_mut().map(|own| middle(own).unwrap_or(0.0)).collect();
            }
            for o in obs.of_input(i as usize) {
                let (task, gamma) = (obs.task(o), problem.gamma(o));
                if found[task].len() == OBSERVATIONS_OF_A_GUESS || !problem.loss(task).is_smooth() {
                    continue;
                }
                let column = if block.columns == Columns::All { task } else { 0 };
                let demanded = problem.loss_at(o).conj_slope(-kappa[o] / gamma).0;
                let guess = demanded - scores[(row, column)];
                if guess.is_finite() {
                    found[task].push(guess);
                    open -= usize::from(found[task].len() == OBSERVATIONS_OF_A_GUESS);
                }
            }
        }
    }
    found.iter_mut().map(|own| middle(own).unwrap_or(0.0)).collect()
}

/// The best intercepts for the squared loss with equal weights, if every input has a label for every task: the sum of
/// labels less predictions, divided by the number of inputs plus `rho / gamma`. The second time adds what rounding
/// left out.
fn of_squared_loss(
    problem: &Problem<'_>,
    blocks: &[RowBlock],
    scores: &[Matrix],
    rho_per_gamma: &[f64],
) -> Vec<f64> {
    let (targets, t) = (problem.observations().targets(), problem.observations().n_tasks());
    let mut intercept = vec![0.0; t];
    for _ in 0..2 {
        let of_block = |(block, scores): (&RowBlock, &Matrix)| {
            let mut sums = vec![0.0; t];
            for (row, &i) in block.rows.iter().enumerate() {
                let targets = &targets[i as usize * t..(i as usize + 1) * t];
                let left = targets.iter().zip(scores.row(row)).zip(&intercept).map(|((y, z), b)| y - z - b);
                sums.iter_mut().zip(left).for_each(|(sum, left)| *sum += left);
            }
            sums
        };
        let parts: Vec<Vec<f64>> = blocks.par_iter().zip(scores).map(of_block).collect();
        let mut sums: Vec<f64> = intercept.iter().zip(rho_per_gamma).map(|(b, rho)| -rho * b).collect();
        parts.iter().for_each(|part| linalg::axpy(&mut sums, 1.0, part));
        let rows = problem.observations().n_inputs() as f64;
        for ((b, sum), rho) in intercept.iter_mut().zip(sums).zip(rho_per_gamma) {
            *b += sum / (rows + rho);
        }
    }
    intercept
}

/// Tasks gathered at a time: as many as have their scores in the same few cache lines.
const NEIGHBOURS: usize = 8;

/// The observations of each task, if every input has a label for every task.
fn of_table<'a>(
    problem: &'a Problem<'_>,
    blocks: &[RowBlock],
    scores: &[Matrix],
) -> Vec<TaskPredictions<'a>> {
    let (obs, t) = (problem.observations(), problem.observations().n_tasks());
    let starts: Vec<usize> = (0..t).step_by(NEIGHBOURS).collect();
    let gather = |&start: &usize| {
        let own = start..t.min(start + NEIGHBOURS);
        let mut tasks: Vec<_> = own.clone().map(|task| TaskPredictions::empty(problem.loss(task))).collect();
        for (block, scores) in blocks.iter().zip(scores) {
            for (row, &i) in block.rows.iter().enumerate() {
                for (task, own) in own.clone().zip(&mut tasks) {
                    let o = i as usize * t + task;
                    let (column, gamma) =
                        (if block.columns == Columns::All { task } else { 0 }, problem.gamma(o));
                    if gamma > 0.0 {
                        own.push(obs.label(o), scores[(row, column)] + obs.offset(o), gamma);
                    }
                }
            }
        }
        tasks
    };
    starts.par_iter().map(gather).collect::<Vec<_>>().into_iter().flatten().collect()
}

/// The observations of each task, whatever they are.
fn of_rows<'a>(problem: &'a Problem<'_>, blocks: &[RowBlock], scores: &[Matrix]) -> Vec<TaskPredictions<'a>> {
    let obs = problem.observations();
    let empty = |task: usize| TaskPredictions::empty(problem.loss(task));
    let mut tasks: Vec<TaskPredictions<'_>> = (0..obs.n_tasks()).map(empty).collect();
    for (block, scores) in blocks.iter().zip(scores) {
        for (row, &i) in block.rows.iter().enumerate() {
            for o in obs.of_input(i as usize).filter(|&o| problem.gamma(o) > 0.0) {
                let task = obs.task(o);
                let column = if block.columns == Columns::All { task } else { 0 };
                tasks[task].push(obs.label(o), scores[(row, column)] + obs.offset(o), problem.gamma(o));
            }
        }
    }
    tasks
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

/// Adds what intercepts contribute to both values and to the gap, for the sums of each task's duals and of their sizes.
///
/// # Errors
/// If an intercept is free and the duals of its task do not add up to zero.
pub(super) fn add_terms(
    problem: &Problem<'_>,
    sums: &[(f64, f64)],
    rho: &[f64],
    intercept: &[f64],
    terms: &mut LossTerms,
) -> Result<()> {
    balance::check(problem, sums)?;
    for (((&(sum, _), b), &rho), gap) in sums.iter().zip(intercept).zip(rho).zip(&mut terms.gap) {
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
