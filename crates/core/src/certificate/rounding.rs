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
//! `(2 gap N)^(1/2) + N / 2` with `N = sum_i c_i h e_i^2`. At a kink of a loss the change is of first order: `e_i`
//! times the largest change of the dual in its interval. Where the dual of a smooth loss is zero, most losses are
//! flat. Where that counts, the predictions decide: only those within `e_i` of a kink, or on the wrong side of it,
//! can change.
//!
//! The task Gram matrix G has errors `d_ts`, and Theta was computed from it: `phi'(G + d)`. The model has this
//! Theta, and the Fenchel-Young term of Theta is not zero at the true G. It changes as a loss with curvature does:
//! `h_ts d_ts / 2` is added to N, with `h = phi'(G + d) - phi'(G)`. From features, G is a sum of squares, and
//! `d_ts = EPSILON (m_t G_ss^(1/2) + m_s G_tt^(1/2))`. From kernel values it is `Z' (K Z)`, whose terms may be
//! larger than their sum: `d_ts = EPSILON m_t m_s`. For the same reason the distance between two points is wrong in
//! second order with features and in first order with kernel values.
//!
//! Who checks the certificate computes Theta from the duals again, with other errors. With kernel values this
//! changes the score of input i for task t by `(sum_s (h_ts S_is)^2)^(1/2)`, where `S = K Z`, which counts as `e_i`
//! does.
//!
//! A prediction `F = (z + b) + o` is a sum of a score, an intercept and an offset. Adding b rounds by EPSILON
//! `|z + b| <= |y| + |o| + |y - F|` at most, and by no more than |z|, of which b takes the last digits away. Adding
//! o rounds by EPSILON `|F|`. The part of these with `|y - F|` is a last digit of the loss itself. The rest counts
//! as `e_i` does: where labels are met up to their last digits, it is all there is.
//!
//! Duals of rows that are elsewhere are functions of the predictions, and nobody stores them. Who checks the
//! certificate has others, by `D_i e_i` with the curvature D of the (softened) loss. That changes V of the duals,
//! and the factor by which those of one sign are made smaller so that all add up to zero.
//!
//! A free intercept needs duals that add up to zero. Rounding of their sum, `EPSILON (sum_i kappa_i^2)^(1/2)`,
//! times b is part of the gap.

use crate::backend::{self, Backend, Interrupt};
use crate::regularizer::SumRegularizer;
use crate::{Matrix, Problem, Result, linalg};
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
    /// Of each task; zeros if there are none.
    pub(super) intercept: &'a [f64],
    pub(super) gap: f64,
    /// The larger of objective and bound.
    pub(super) size: f64,
}

/// Kinks that may change this share of the objective are looked at one by one.
const WORTH_A_LOOK: f64 = 1e-10;

/// How wrong predictions of a task may be, for an input whose kernel value is one.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct PredictionErrors {
    /// Of a score.
    pub(crate) score: f64,
    /// The largest score, if an intercept is added to it.
    pub(crate) added: f64,
}

/// What errors of all observations do: N, and what kinks add.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct LossErrors {
    pub(crate) squares: f64,
    pub(crate) kinks: f64,
}

impl PredictionErrors {
    /// Of sums, for an observation of an input of this length, the root of its kernel value.
    fn of_sums(self, y: f64, offset: f64, length: f64) -> f64 {
        let (y, offset) = (f64::EPSILON * y.abs(), f64::EPSILON * offset.abs());
        (y + offset).min(self.added * length) + if offset > 0.0 { y } else { 0.0 }
    }

    /// The same errors for inputs in other units.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        PredictionErrors { score: factor * self.score, added: factor * self.added }
    }
}

impl LossErrors {
    fn and(self, other: LossErrors) -> LossErrors {
        LossErrors { squares: self.squares + other.squares, kinks: self.kinks + other.kinks }
    }

    /// What they may add to a gap.
    fn total(self, gap: f64) -> f64 {
        (2.0 * gap * self.squares).sqrt() + 0.5 * self.squares + self.kinks
    }
}

/// What rounding may add to the gap of a point.
pub(super) fn change(problem: &Problem<'_>, point: &GradedPoint<'_>) -> f64 {
    let backend = problem.data().backend();
    let duals = dual_sizes(problem, point.kappa);
    let own = point.v.map(|v| coordinate_sizes(backend, v));
    let mut sum = of_dual_sums(problem, point);
    let mut rest = 0.0;
    match (problem.normal_regularizer().entrywise(), &own) {
        (None, own) => {
            // The point are weights. The other terms are no squares, but differences of larger numbers.
            let none = || vec![0.0; duals.len()];
            let sizes = own.as_ref().map_or_else(none, Vec::clone);
            let reach = sizes.iter().map(|size| f64::EPSILON * size).collect();
            let lengths = (0..duals.len()).map(|t| point.gram[(t, t)].max(0.0).sqrt());
            let errors = prediction_errors(reach, lengths, point.intercept);
            sum = sum.and(of_observations(problem, point, &errors, &[]));
            rest = first_order(point.theta, (&duals, &duals));
        }
        (Some(output), own) => {
            let (sizes, threads) = (own.as_ref().unwrap_or(&duals), problem.data().threads());
            let errors = score_errors((point.theta, point.gram), sizes, point.intercept, threads);
            let features = backend.coordinates_are_state();
            let ThetaErrors { of_theta, of_conjugate } =
                theta_errors(output, (point.theta, point.gram), sizes, features);
            sum.squares += of_conjugate;
            sum = sum.and(of_scores(problem, point, &errors, &of_theta));
            match (point.v, own) {
                (Some(_), Some(_)) if features => sum.squares += of_feature_distance(point.theta, &duals),
                (Some(v), Some(own)) => rest = of_distance(problem, point, v, (own, &duals)),
                _ => {}
            }
        }
    }
    let total = sum.total(point.gap) + rest;
    if total.is_nan() { f64::INFINITY } else { total }
}

/// Of predictions of a Theta and functions of these sizes with this task Gram matrix.
fn score_errors(
    (theta, gram): (&Matrix, &Matrix),
    sizes: &[f64],
    intercept: &[f64],
    threads: usize,
) -> Vec<PredictionErrors> {
    let reach = (0..sizes.len()).map(|t| f64::EPSILON * score_size(theta, sizes, t)).collect();
    // `(Theta G Theta)_tt^(1/2)`: no score is larger for an input whose kernel value is one.
    let product = linalg::times(linalg::view(theta), linalg::view(gram), threads);
    let length = |t: usize| linalg::dot(product.row(t), theta.row(t)).max(0.0).sqrt();
    prediction_errors(reach, (0..sizes.len()).map(length), intercept)
}

/// For tasks with these errors of scores and lengths of weights.
fn prediction_errors(
    reach: Vec<f64>,
    lengths: impl Iterator<Item = f64>,
    intercept: &[f64],
) -> Vec<PredictionErrors> {
    let of = |(t, (score, length)): (usize, (f64, f64))| {
        let b = intercept.get(t).copied().unwrap_or(0.0);
        PredictionErrors { score, added: if b == 0.0 { 0.0 } else { length + score } }
    };
    reach.into_iter().zip(lengths).enumerate().map(of).collect()
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
    match backend.coordinates_are_state() {
        true => column_lengths(v),
        false => weighted_lengths(v, |i| backend.diagonal()[i]),
    }
}

fn column_lengths(v: &Matrix) -> Vec<f64> {
    weighted_lengths(v, |_| 1.0)
}

fn weighted_lengths(v: &Matrix, size_of: impl Fn(usize) -> f64) -> Vec<f64> {
    let largest = v.as_slice().iter().fold(f64::MIN_POSITIVE, |most: f64, x| most.max(x.abs()));
    let mut squares = vec![0.0; v.cols()];
    for i in 0..v.rows() {
        let size = size_of(i);
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

/// For the sizes of coordinates, which are features or coefficients of kernel values.
fn theta_errors(
    output: &SumRegularizer,
    (theta, gram): (&Matrix, &Matrix),
    sizes: &[f64],
    features: bool,
) -> ThetaErrors {
    let t = sizes.len();
    let root = |s: usize| gram[(s, s)].max(0.0).sqrt();
    let error = |r: usize, s: usize| {
        let size = match features {
            true => sizes[r] * root(s) + sizes[s] * root(r),
            false => sizes[r] * sizes[s],
        };
        f64::EPSILON * size
    };
    let mut moved = gram.clone();
    for r in 0..t {
        for s in 0..t {
            moved[(r, s)] += error(r, s).copysign(gram[(r, s)]);
        }
    }
    let mut of_theta = output.theta(&moved);
    let mut of_conjugate = 0.0;
    for r in 0..t {
        for s in 0..t {
            of_theta[(r, s)] = (of_theta[(r, s)] - theta[(r, s)]).abs();
            of_conjugate += 0.5 * of_theta[(r, s)] * error(r, s);
        }
    }
    ThetaErrors { of_theta, of_conjugate }
}

/// What errors of predictions do, those of Theta among them.
fn of_scores(
    problem: &Problem<'_>,
    point: &GradedPoint<'_>,
    errors: &[PredictionErrors],
    of_theta: &Matrix,
) -> LossErrors {
    let obs = problem.observations();
    let features = problem.data().backend().coordinates_are_state();
    // The same curvature everywhere, and a label of every task for every input: sums over inputs and tasks come apart.
    let only = problem.only_loss().filter(|loss| loss.name() == "squared" && obs.is_complete());
    if let (Some(_), Some(gamma)) = (only, problem.uniform_gamma()) {
        let of_theta = if features { 0.0 } else { all_score_changes(of_theta, point.state) };
        return LossErrors { squares: gamma * (of_theta + of_table(problem, errors)), kinks: 0.0 };
    }
    let of_theta: Vec<f64> = match features {
        true => Vec::new(),
        false => (0..obs.len())
            .into_par_iter()
            .map(|o| score_size(of_theta, point.state.row(obs.input(o)), obs.task(o)))
            .collect(),
    };
    of_observations(problem, point, errors, &of_theta)
}

/// `sum_i e_i^2`, if every input has a label for every task.
fn of_table(problem: &Problem<'_>, errors: &[PredictionErrors]) -> f64 {
    let (obs, diagonal) = (problem.observations(), problem.data().backend().diagonal());
    let of_tasks: f64 = errors.iter().map(|error| error.score * error.score).sum();
    let of_scores = diagonal.iter().sum::<f64>() * of_tasks;
    if obs.offsets().is_none() && errors.iter().all(|error| error.added == 0.0) {
        return of_scores;
    }
    let n_tasks = errors.len();
    let of_rows = |rows: std::ops::Range<usize>| {
        let mut sum = 0.0;
        for i in rows {
            let length = diagonal[i].sqrt();
            for (t, errors) in errors.iter().enumerate() {
                let o = i * n_tasks + t;
                let error = errors.of_sums(obs.label(o), obs.offset(o), length);
                sum += error * error;
            }
        }
        sum
    };
    let starts: Vec<usize> = (0..diagonal.len()).step_by(ROWS_AT_ONCE).collect();
    let parts: Vec<f64> =
        starts.par_iter().map(|&start| of_rows(start..diagonal.len().min(start + ROWS_AT_ONCE))).collect();
    of_scores + parts.iter().sum::<f64>()
}

/// What errors of predictions do, with further errors `of_theta` of each observation.
fn of_observations(
    problem: &Problem<'_>,
    point: &GradedPoint<'_>,
    errors: &[PredictionErrors],
    of_theta: &[f64],
) -> LossErrors {
    let rough = loss_errors(problem, point.kappa, errors, of_theta, None);
    if rough.kinks <= WORTH_A_LOOK * point.size {
        return rough;
    }
    let Ok(predictions) = point.predictions(problem) else { return rough };
    loss_errors(problem, point.kappa, errors, of_theta, Some(&predictions))
}

impl GradedPoint<'_> {
    /// Of all observations, without offsets.
    fn predictions(&self, problem: &Problem<'_>) -> Result<Vec<f64>> {
        let (backend, threads) = (problem.data().backend(), problem.data().threads());
        let weights = match problem.normal_regularizer().entrywise() {
            Some(_) => backend::state_times(backend, self.state, self.theta, threads)?,
            None => self.state.clone(),
        };
        let mut all = super::predictions(problem, &weights, &mut Interrupt::never())?;
        let obs = problem.observations();
        all.iter_mut().enumerate().for_each(|(o, z)| *z += self.intercept[obs.task(o)]);
        Ok(all)
    }
}

/// The error of the prediction of each observation.
fn error_of(problem: &Problem<'_>, errors: &[PredictionErrors], o: usize) -> f64 {
    let obs = problem.observations();
    let (own, length) = (errors[obs.task(o)], problem.data().backend().diagonal()[obs.input(o)].sqrt());
    (own.score * length).hypot(own.of_sums(obs.label(o), obs.offset(o), length))
}

/// The same; with predictions without offsets, kinks count only where they are near.
fn loss_errors(
    problem: &Problem<'_>,
    kappa: &[f64],
    errors: &[PredictionErrors],
    of_theta: &[f64],
    predictions: Option<&[f64]>,
) -> LossErrors {
    let obs = problem.observations();
    let mut sum = LossErrors::default();
    for (o, &kappa) in kappa.iter().enumerate() {
        let (task, gamma) = (obs.task(o), problem.gamma(o));
        let error = error_of(problem, errors, o).hypot(of_theta.get(o).copied().unwrap_or(0.0));
        let (loss, y) = (problem.loss(task), obs.label(o));
        if loss.is_smooth() {
            if kappa != 0.0 {
                sum.squares += gamma * error * (error / loss.conj_curvature(y, -kappa / gamma));
            }
            continue;
        }
        let steepest = match predictions {
            // Slopes of the Fenchel-Young term upwards and downwards: the loss is linear between kinks.
            Some(all) => {
                let z = all[o] + obs.offset(o);
                let (up, down) = (loss.slope(y, z + error).1, loss.slope(y, z - error).0);
                (gamma * up + kappa).max(-gamma * down - kappa).max(0.0)
            }
            None => {
                let (low, high) = problem.box_of(o);
                (kappa - low).max(high - kappa)
            }
        };
        sum.kinks += steepest * error;
    }
    sum
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

/// Of the sum s of each task's duals, which have a relative error of EPSILON each. An intercept that costs
/// `rho b^2 / 2` has the term `(s - rho b)^2 / (2 rho)`, a free one `|s b|`.
fn of_dual_sums(problem: &Problem<'_>, point: &GradedPoint<'_>) -> LossErrors {
    let Some(rho) = problem.intercept_costs() else { return LossErrors::default() };
    let obs = problem.observations();
    let mut sums = vec![0.0; obs.n_tasks()];
    for (o, k) in point.kappa.iter().enumerate() {
        sums[obs.task(o)] += (f64::EPSILON * k) * (f64::EPSILON * k);
    }
    let errors: Vec<f64> = sums.into_iter().map(f64::sqrt).collect();
    of_sum_errors(rho, &errors, point.intercept)
}

/// Of these errors of the sums of duals.
fn of_sum_errors(rho: &[f64], errors: &[f64], intercept: &[f64]) -> LossErrors {
    let mut sum = LossErrors::default();
    for ((rho, error), b) in rho.iter().zip(errors).zip(intercept) {
        match *rho > 0.0 {
            true => sum.squares += error * (error / rho),
            false => sum.kinks += error * b.abs(),
        }
    }
    sum
}

/// From kernel values, of the distance `<Theta, G(V - V_a)> / 2` between the point and that of the duals.
fn of_distance(
    problem: &Problem<'_>,
    point: &GradedPoint<'_>,
    v: &Matrix,
    (own, duals): (&[f64], &[f64]),
) -> f64 {
    let backend = problem.data().backend();
    // Coefficients `V - Z` times the difference of two states, each with its own errors.
    let mut offset = v.clone();
    let obs = problem.observations();
    point.kappa.iter().enumerate().for_each(|(o, k)| offset[(obs.input(o), obs.task(o))] -= k);
    let states: Vec<f64> = own.iter().zip(duals).map(|(a, b)| a.hypot(*b)).collect();
    0.5 * first_order(point.theta, (&coordinate_sizes(backend, &offset), &states))
}

/// A point V of features whose rows came in parts, in the problem's own units.
pub(super) struct PartsPoint<'a> {
    pub(super) output: &'a SumRegularizer,
    pub(super) v: &'a Matrix,
    pub(super) theta: &'a Matrix,
    pub(super) gram: &'a Matrix,
    pub(super) intercept: &'a [f64],
}

/// What all rows say about rounding.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct RowErrors {
    pub(crate) losses: LossErrors,
    /// Of each task: `sum |kappa|` and `sum |kappa| k(x, x)^(1/2)`. They are added up one after the other, so their
    /// errors are counted as if all had the same sign.
    pub(crate) sizes: Vec<f64>,
    pub(crate) lengths: Vec<f64>,
    /// The same with `D e / EPSILON` in place of duals: what errors of predictions do to duals that answer to them.
    pub(crate) answer_sizes: Vec<f64>,
    pub(crate) answer_lengths: Vec<f64>,
}

/// What some rows say, in the problem's own units: for duals that answer to these predictions (without offsets), with
/// the curvatures D.
pub(crate) fn row_errors(
    problem: &Problem<'_>,
    (kappa, predictions): (&[f64], &[f64]),
    curvature: impl Fn(usize) -> f64,
    errors: &[PredictionErrors],
) -> RowErrors {
    let (obs, diagonal) = (problem.observations(), problem.data().backend().diagonal());
    let mut rows = RowErrors::zero(obs.n_tasks());
    rows.losses = loss_errors(problem, kappa, errors, &[], Some(predictions));
    for (o, kappa) in kappa.iter().enumerate() {
        let (task, length) = (obs.task(o), diagonal[obs.input(o)].sqrt());
        let answer = curvature(o) * (error_of(problem, errors, o) / f64::EPSILON);
        rows.sizes[task] += kappa.abs();
        rows.lengths[task] += kappa.abs() * length;
        rows.answer_sizes[task] += answer;
        rows.answer_lengths[task] += answer * length;
    }
    rows
}

impl RowErrors {
    fn zero(n_tasks: usize) -> Self {
        let [sizes, lengths, answer_sizes, answer_lengths] = std::array::from_fn(|_| vec![0.0; n_tasks]);
        RowErrors { losses: LossErrors::default(), sizes, lengths, answer_sizes, answer_lengths }
    }

    fn lists(&mut self) -> [&mut Vec<f64>; 4] {
        [&mut self.sizes, &mut self.answer_sizes, &mut self.lengths, &mut self.answer_lengths]
    }

    /// In other units of the objective and of coordinates.
    pub(crate) fn scaled(mut self, objective: f64, coordinate: f64) -> Self {
        self.losses.squares *= objective;
        self.losses.kinks *= objective;
        let factors = [objective, objective, objective * coordinate, objective * coordinate];
        for (list, factor) in self.lists().into_iter().zip(factors) {
            list.iter_mut().for_each(|x| *x *= factor);
        }
        self
    }

    /// Adds what other rows say.
    pub(crate) fn absorb(&mut self, mut other: RowErrors) {
        self.losses = self.losses.and(other.losses);
        self.lists().into_iter().zip(other.lists()).for_each(|(own, more)| linalg::axpy(own, 1.0, more));
    }

    /// All numbers in a row.
    pub(crate) fn to_numbers(&self) -> Vec<f64> {
        let RowErrors { losses, sizes, lengths, answer_sizes, answer_lengths } = self;
        let losses = [losses.squares, losses.kinks];
        [&losses[..], sizes, answer_sizes, lengths, answer_lengths].concat()
    }

    /// How many numbers that are.
    pub(crate) fn n_numbers(n_tasks: usize) -> usize {
        2 + 4 * n_tasks
    }

    /// From all numbers in a row.
    pub(crate) fn from_numbers(numbers: &[f64], n_tasks: usize) -> Option<Self> {
        let (losses, lists) = numbers.split_at_checked(2).filter(|(_, lists)| lists.len() == 4 * n_tasks)?;
        let mut rows = RowErrors::zero(n_tasks);
        rows.losses = LossErrors { squares: losses[0], kinks: losses[1] };
        for (list, numbers) in rows.lists().into_iter().zip(lists.chunks(n_tasks.max(1))) {
            list.copy_from_slice(numbers);
        }
        Some(rows)
    }
}

impl PartsPoint<'_> {
    /// Of its predictions.
    pub(super) fn prediction_errors(&self) -> Vec<PredictionErrors> {
        score_errors((self.theta, self.gram), &column_lengths(self.v), self.intercept, 1)
    }

    /// What rounding may add to the gap, for these costs of intercepts and this value of the losses.
    pub(super) fn change(&self, rows: &RowErrors, (rho, value): (Option<&[f64]>, f64), gap: f64) -> f64 {
        let RowErrors { losses, sizes, lengths, answer_sizes, answer_lengths } = rows;
        let errors: Vec<f64> = sizes.iter().map(|size| f64::EPSILON * size).collect();
        let rho = rho.unwrap_or_default();
        let mut sum = losses.and(of_sum_errors(rho, &errors, self.intercept));
        let sizes_of_v = column_lengths(self.v);
        sum.squares += theta_errors(self.output, (self.theta, self.gram), &sizes_of_v, true).of_conjugate;
        // Duals of one sign are half of the sizes, and their sum is that of the others.
        let shares: Vec<f64> = (0..sizes.len())
            .map(|t| match rho.get(t) {
                Some(rho) if *rho == 0.0 && sizes[t] > 0.0 => 2.0 * answer_sizes[t] / sizes[t],
                _ => 0.0,
            })
            .collect();
        let of_v = |t: usize| lengths[t] + answer_lengths[t] + shares[t] * lengths[t];
        sum.squares += of_feature_distance(self.theta, &(0..sizes.len()).map(of_v).collect::<Vec<_>>());
        sum.kinks += f64::EPSILON * shares.iter().fold(0.0, |most: f64, share| most.max(*share)) * value;
        let total = sum.total(gap);
        if total.is_nan() { f64::INFINITY } else { total }
    }
}

/// N of the distance between a point of features and that of duals of these sizes, whose V has errors.
fn of_feature_distance(theta: &Matrix, duals: &[f64]) -> f64 {
    let error = |t: usize| f64::EPSILON * duals[t];
    (0..duals.len()).map(|t| theta[(t, t)] * error(t) * error(t)).sum()
}

/// `EPSILON sum_t a_t (sum_s (Theta_ts b_s)^2)^(1/2)`.
fn first_order(theta: &Matrix, (a, b): (&[f64], &[f64])) -> f64 {
    f64::EPSILON * (0..a.len()).map(|t| a[t] * score_size(theta, b, t)).sum::<f64>()
}
