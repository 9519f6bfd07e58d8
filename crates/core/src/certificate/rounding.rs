//! What rounding in double precision may change in a certificate.
//!
//! A score is a sum of terms `Theta_ts kappa_j k(x, x_j)`, each with a relative error of about EPSILON. Where large
//! terms cancel, these errors may be all that is left of the score. With
//!
//! ```text
//! m_s^2 = sum of kappa_j^2 k(x_j, x_j) over the observations of task s
//! ```
//!
//! errors that add up like independent ones change the score of input i for task t by about
//!
//! ```text
//! e_i = EPSILON k(x_i, x_i)^(1/2) (sum_s (Theta_ts m_s)^2)^(1/2).
//! ```
//!
//! The gap is smallest where it is, so `e_i` change it in second order: a loss with curvature h has the term
//! `c_i h (d_i + e_i)^2 / 2` in place of `c_i h d_i^2 / 2`. By Cauchy-Schwarz the sum changes by at most
//! `(2 gap N)^(1/2) + N / 2` with `N = sum_i c_i h e_i^2`. At a kink of a loss the change is of first order. Where the
//! dual is zero, most losses are flat.

use crate::backend::Backend;
use crate::{Matrix, Problem, linalg};
use rayon::prelude::*;

/// Rows of a partial sum.
const ROWS_AT_ONCE: usize = 1024;

/// What was graded, in the problem's own units.
pub(super) struct GradedPoint<'a> {
    pub(super) kappa: &'a [f64],
    /// Coordinates of the primal point, if it is not that of the duals.
    pub(super) v: Option<&'a Matrix>,
    pub(super) theta: &'a Matrix,
    pub(super) gap: f64,
}

/// What rounding may add to the gap of a point.
pub(super) fn change(problem: &Problem<'_>, point: &GradedPoint<'_>) -> f64 {
    let duals = dual_sizes(problem, point.kappa);
    let sum = match (problem.normal_regularizer().entrywise(), point.v) {
        // Its terms are no squares, but differences of larger numbers.
        (None, _) => first_order(point.theta, &duals) + 0.5 * of_dual_sums(problem, point.kappa),
        (Some(_), None) => of_scores(problem, point, &duals),
        (Some(_), Some(v)) => {
            let own = coordinate_sizes(problem.data().backend(), v);
            of_scores(problem, point, &own) + of_dual_point(point.theta, &duals)
        }
    };
    if sum.is_nan() { f64::INFINITY } else { sum }
}

/// `m_s` of each task.
pub(super) fn dual_sizes(problem: &Problem<'_>, kappa: &[f64]) -> Vec<f64> {
    let (obs, diagonal) = (problem.observations(), problem.data().backend().diagonal());
    let t = obs.n_tasks();
    // A dual of 5e-324 has no inverse.
    let largest = kappa.par_iter().map(|k| k.abs()).reduce(|| f64::MIN_POSITIVE, f64::max);
    let square = |k: f64, size: f64| (k / largest) * (k / largest) * size;
    let mut squares = vec![0.0; t];
    if obs.is_complete() {
        let of_rows = |(kappa, sizes): (&[f64], &[f64])| {
            let mut sums = vec![0.0; t];
            for (row, &size) in kappa.chunks(t).zip(sizes) {
                row.iter().zip(&mut sums).for_each(|(&k, sum)| *sum += square(k, size));
            }
            sums
        };
        let parts: Vec<Vec<f64>> =
            kappa.par_chunks(ROWS_AT_ONCE * t).zip(diagonal.par_chunks(ROWS_AT_ONCE)).map(of_rows).collect();
        parts.iter().for_each(|part| linalg::axpy(&mut squares, 1.0, part));
    } else {
        for (o, &k) in kappa.iter().enumerate() {
            squares[obs.task(o)] += square(k, diagonal[obs.input(o)]);
        }
    }
    squares.iter().map(|square| largest * square.sqrt()).collect()
}

/// The same for coordinates: features are summands of their own, inputs have the size of their kernel value.
fn coordinate_sizes(backend: &dyn Backend, v: &Matrix) -> Vec<f64> {
    let largest = v.as_slice().iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
    let mut squares = vec![0.0; v.cols()];
    for i in 0..v.rows() {
        let size = if backend.coordinates_are_state() { 1.0 } else { backend.diagonal()[i] };
        v.row(i).iter().zip(&mut squares).for_each(|(x, sum)| *sum += size * (x / largest) * (x / largest));
    }
    squares.iter().map(|square| largest * square.sqrt()).collect()
}

/// `(sum_s (Theta_ts m_s)^2)^(1/2)`: the size of the terms of a score of task t.
fn score_size(theta: &Matrix, sizes: &[f64], t: usize) -> f64 {
    theta.row(t).iter().zip(sizes).map(|(theta, m)| (theta * m) * (theta * m)).sum::<f64>().sqrt()
}

fn of_scores(problem: &Problem<'_>, point: &GradedPoint<'_>, sizes: &[f64]) -> f64 {
    let (obs, diagonal) = (problem.observations(), problem.data().backend().diagonal());
    let errors: Vec<f64> =
        (0..obs.n_tasks()).map(|t| f64::EPSILON * score_size(point.theta, sizes, t)).collect();
    let of_sums = of_dual_sums(problem, point.kappa);
    let total = |squares: f64, kinks: f64| {
        let squares = squares + of_sums;
        (2.0 * point.gap * squares).sqrt() + 0.5 * squares + kinks
    };
    // The same curvature everywhere, and a label of every task for every input: sums over inputs and tasks come apart.
    let only = problem.only_loss().filter(|loss| loss.name() == "squared" && obs.is_complete());
    if let (Some(_), Some(gamma)) = (only, problem.uniform_gamma()) {
        let of_inputs: f64 = diagonal.iter().sum();
        let of_tasks: f64 = errors.iter().map(|error| error * error).sum();
        return total(gamma * of_inputs * of_tasks, 0.0);
    }
    let (mut squares, mut kinks) = (0.0, 0.0);
    for (o, &kappa) in point.kappa.iter().enumerate().filter(|(_, kappa)| **kappa != 0.0) {
        let (task, gamma) = (obs.task(o), problem.gamma(o));
        let error = errors[task] * diagonal[obs.input(o)].sqrt();
        let loss = problem.loss(task);
        let (low, high) = problem.box_of(o);
        if loss.is_smooth() {
            squares += gamma * error * (error / loss.conj_curvature(obs.label(o), -kappa / gamma));
        } else if low < kappa && kappa < high {
            kinks += (kappa - low).max(high - kappa) * error;
        }
    }
    total(squares, kinks)
}

/// An intercept that costs `rho b^2 / 2` has the term `(s - rho b)^2 / (2 rho)` with the sum s of its task's duals,
/// which each have a relative error of EPSILON.
fn of_dual_sums(problem: &Problem<'_>, kappa: &[f64]) -> f64 {
    let Some(rho) = problem.intercept_costs().filter(|rho| rho.iter().any(|rho| *rho > 0.0)) else {
        return 0.0;
    };
    let obs = problem.observations();
    let mut sums = vec![0.0; obs.n_tasks()];
    for (o, k) in kappa.iter().enumerate() {
        sums[obs.task(o)] += (f64::EPSILON * k) * (f64::EPSILON * k);
    }
    sums.iter().zip(rho).filter(|(_, rho)| **rho > 0.0).map(|(sum, rho)| sum / rho).sum()
}

/// The distance between the duals' point and what was computed for it, `<Theta, G> / 2`.
fn of_dual_point(theta: &Matrix, sizes: &[f64]) -> f64 {
    let error = |t: usize| f64::EPSILON * sizes[t];
    0.5 * (0..sizes.len()).map(|t| theta[(t, t)] * error(t) * error(t)).sum::<f64>()
}

fn first_order(theta: &Matrix, sizes: &[f64]) -> f64 {
    f64::EPSILON * (0..sizes.len()).map(|t| sizes[t] * score_size(theta, sizes, t)).sum::<f64>()
}
