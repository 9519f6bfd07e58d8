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
//! `(2 gap N)^(1/2) + N / 2` with `N = sum_i c_i h e_i^2`. At a kink of a loss the change is of first order:
//! `e_i` times the largest change of the dual in its interval. Where the dual of a smooth loss is zero, most losses are
//! flat.
//!
//! The task Gram matrix G has errors `d_ts`, and Theta was computed from it: `phi'(G + d)`. The model has this Theta,
//! and the Fenchel-Young term of Theta is not zero at the true G. It changes as a loss with curvature does:
//! `h_ts d_ts / 2` is added to N, with `h = phi'(G + d) - phi'(G)`. From features, G is a sum of squares, and
//! `d_ts = EPSILON (m_t G_ss^(1/2) + m_s G_tt^(1/2))`. From kernel values it is `Z' (K Z)`, whose terms may be larger
//! than their sum: `d_ts = EPSILON m_t m_s`. For the same reason the distance between two points is wrong in second
//! order with features and in first order with kernel values.
//!
//! Who checks the certificate computes Theta from the duals again, with other errors. With kernel values this changes
//! the score of input i for task t by `(sum_s (h_ts S_is)^2)^(1/2)`, where `S = K Z`, which counts as `e_i` does.

use crate::backend::Backend;
use crate::regularizer::SumRegularizer;
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
    /// `K Z`, or weights of features.
    pub(super) state: &'a Matrix,
    /// The task Gram matrix of the point.
    pub(super) gram: &'a Matrix,
    pub(super) gap: f64,
}

/// What rounding may add to the gap of a point.
pub(super) fn change(problem: &Problem<'_>, point: &GradedPoint<'_>) -> f64 {
    let duals = dual_sizes(problem, point.kappa);
    let sum = match (problem.normal_regularizer().entrywise(), point.v) {
        // Its terms are no squares, but differences of larger numbers.
        (None, _) => first_order(point.theta, (&duals, &duals)) + 0.5 * of_dual_sums(problem, point.kappa),
        (Some(output), None) => of_scores(problem, output, point, &duals),
        (Some(output), Some(v)) => {
            let own = coordinate_sizes(problem.data().backend(), v);
            of_scores(problem, output, point, &own) + of_distance(problem, point, v, (&own, &duals))
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

/// What errors of the task Gram matrix do.
struct ThetaErrors {
    /// `h_ts`.
    of_theta: Matrix,
    /// `sum_ts h_ts d_ts / 2`.
    of_conjugate: f64,
}

fn theta_errors(
    backend: &dyn Backend,
    output: &SumRegularizer,
    point: &GradedPoint<'_>,
    sizes: &[f64],
) -> ThetaErrors {
    let (t, sums_of_squares) = (sizes.len(), backend.coordinates_are_state());
    let root = |s: usize| point.gram[(s, s)].max(0.0).sqrt();
    let error = |r: usize, s: usize| {
        let size = match sums_of_squares {
            true => sizes[r] * root(s) + sizes[s] * root(r),
            false => sizes[r] * sizes[s],
        };
        f64::EPSILON * size
    };
    let mut moved = point.gram.clone();
    for r in 0..t {
        for s in 0..t {
            moved[(r, s)] += error(r, s).copysign(point.gram[(r, s)]);
        }
    }
    let mut of_theta = output.theta(&moved);
    let mut of_conjugate = 0.0;
    for r in 0..t {
        for s in 0..t {
            of_theta[(r, s)] = (of_theta[(r, s)] - point.theta[(r, s)]).abs();
            of_conjugate += 0.5 * of_theta[(r, s)] * error(r, s);
        }
    }
    ThetaErrors { of_theta, of_conjugate }
}

fn of_scores(problem: &Problem<'_>, output: &SumRegularizer, point: &GradedPoint<'_>, sizes: &[f64]) -> f64 {
    let (obs, diagonal) = (problem.observations(), problem.data().backend().diagonal());
    let errors: Vec<f64> =
        (0..obs.n_tasks()).map(|t| f64::EPSILON * score_size(point.theta, sizes, t)).collect();
    let backend = problem.data().backend();
    let ThetaErrors { of_theta, of_conjugate } = theta_errors(backend, output, point, sizes);
    let of_sums = of_dual_sums(problem, point.kappa);
    let total = |squares: f64, kinks: f64| {
        let squares = squares + of_sums + of_conjugate;
        (2.0 * point.gap * squares).sqrt() + 0.5 * squares + kinks
    };
    // The same curvature everywhere, and a label of every task for every input: sums over inputs and tasks come apart.
    let only = problem.only_loss().filter(|loss| loss.name() == "squared" && obs.is_complete());
    if let (Some(_), Some(gamma)) = (only, problem.uniform_gamma()) {
        let of_inputs: f64 = diagonal.iter().sum();
        let of_tasks: f64 = errors.iter().map(|error| error * error).sum();
        let of_theta: f64 =
            if backend.coordinates_are_state() { 0.0 } else { all_score_changes(&of_theta, point.state) };
        return total(gamma * (of_inputs * of_tasks + of_theta), 0.0);
    }
    let of_theta: Vec<f64> = match backend.coordinates_are_state() {
        true => Vec::new(),
        false => (0..obs.len())
            .into_par_iter()
            .map(|o| score_size(&of_theta, point.state.row(obs.input(o)), obs.task(o)))
            .collect(),
    };
    let (mut squares, mut kinks) = (0.0, 0.0);
    for (o, &kappa) in point.kappa.iter().enumerate() {
        let (task, gamma) = (obs.task(o), problem.gamma(o));
        let error =
            (errors[task] * diagonal[obs.input(o)].sqrt()).hypot(of_theta.get(o).copied().unwrap_or(0.0));
        let loss = problem.loss(task);
        if !loss.is_smooth() {
            // A dual at an end of its interval may have a score that is closer to the kink than the error.
            let (low, high) = problem.box_of(o);
            kinks += (kappa - low).max(high - kappa) * error;
        } else if kappa != 0.0 {
            squares += gamma * error * (error / loss.conj_curvature(obs.label(o), -kappa / gamma));
        }
    }
    total(squares, kinks)
}

/// `sum_its (h_ts S_is)^2`.
fn all_score_changes(of_theta: &Matrix, state: &Matrix) -> f64 {
    let squares = |m: &Matrix| {
        let mut sums = vec![0.0; m.cols()];
        (0..m.rows()).for_each(|i| m.row(i).iter().zip(&mut sums).for_each(|(x, sum)| *sum += x * x));
        sums
    };
    squares(of_theta).iter().zip(squares(state)).map(|(h, s)| h * s).sum()
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

/// Of the distance `<Theta, G(V - V_a)> / 2` between the point and that of the duals.
fn of_distance(
    problem: &Problem<'_>,
    point: &GradedPoint<'_>,
    v: &Matrix,
    (own, duals): (&[f64], &[f64]),
) -> f64 {
    let backend = problem.data().backend();
    if backend.coordinates_are_state() {
        let error = |t: usize| f64::EPSILON * duals[t];
        return 0.5 * (0..duals.len()).map(|t| point.theta[(t, t)] * error(t) * error(t)).sum::<f64>();
    }
    // Coefficients `V - Z` times the difference of two states, each with its own errors.
    let mut offset = v.clone();
    let obs = problem.observations();
    point.kappa.iter().enumerate().for_each(|(o, k)| offset[(obs.input(o), obs.task(o))] -= k);
    let states: Vec<f64> = own.iter().zip(duals).map(|(a, b)| a.hypot(*b)).collect();
    0.5 * first_order(point.theta, (&coordinate_sizes(backend, &offset), &states))
}

/// `EPSILON sum_t a_t (sum_s (Theta_ts b_s)^2)^(1/2)`.
fn first_order(theta: &Matrix, (a, b): (&[f64], &[f64])) -> f64 {
    f64::EPSILON * (0..a.len()).map(|t| a[t] * score_size(theta, b, t)).sum::<f64>()
}
