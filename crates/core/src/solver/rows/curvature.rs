//! The second derivative of the losses in W, from blocks that were summed over all rows, or by a question for each
//! product.
//!
//! With intercepts as functions of W, the block of a task is `X'DX - mm' / (d + rho)` for `m = X'D`, d the sum of its
//! curvatures: see `design/curvature.rs`.

use super::intercepts::InterceptPulls;
use super::model::{RowsModel, RowsVPoint, Seen};
use crate::algebra::Host;
use crate::linalg::{self, axpy, dot, view};
use crate::rows::observed_curvatures;
use crate::solver::newton::NewtonModel;
use crate::solver::newton_system::blocks::Blocks;
use crate::solver::newton_system::direct::Direct;
use crate::solver::newton_system::kronecker::{Kronecker, TaskCurvature};
use crate::solver::newton_system::{Derivative, Smooth, gmres, linear};
use crate::{Matrix, Problem, Result};

/// How Newton systems are solved.
pub(super) enum SystemWay {
    /// X'DX of all tasks come with each look, and no question is needed after that.
    Blocks,
    /// A question for each product, preconditioned as `kronecker.rs` says with the curvatures of the rows that are
    /// here. Coordinates are those in which the second moment of these rows is diagonal: `basis` has them in columns.
    Products { basis: Matrix },
}

/// Bytes that the blocks of all tasks may take.
const MOST_BLOCK_BYTES: f64 = (1u64 << 30) as f64;
/// Questions that a Newton step takes where each product is one, for smooth losses and for smoothed ones.
const QUESTIONS_OF_A_STEP: (f64, f64) = (15.0, 60.0);
/// What it costs to get at a number of the rows once more, in additions and multiplications: from memory, from a file.
const REACH_COSTS: (f64, f64) = (20.0, 400.0);
/// Unknowns of a system that is factorised: a second or so.
const MOST_UNKNOWNS: usize = 3000;
/// Krylov vectors at most where products are cheap.
const MANY_STEPS: usize = 300;

impl SystemWay {
    /// The cheaper one.
    pub(super) fn of(problem: &Problem<'_>, reads_again: bool) -> Result<Self> {
        let (data, obs) = (problem.data(), problem.observations());
        let (d, t) = (data.backend().dim() as f64, obs.n_tasks() as f64);
        let labels = obs.len() as f64 / obs.n_inputs().max(1) as f64;
        let reach = if reads_again { REACH_COSTS.1 } else { REACH_COSTS.0 };
        let questions = match (0..obs.n_tasks()).all(|task| problem.loss(task).is_smooth()) {
            true => QUESTIONS_OF_A_STEP.0,
            false => QUESTIONS_OF_A_STEP.1,
        };
        // Of one row.
        let blocks = labels * d * (d + 1.0);
        let products = questions * d * (6.0 * labels + reach);
        if blocks <= products && 8.0 * t * d * d <= MOST_BLOCK_BYTES {
            return Ok(SystemWay::Blocks);
        }
        let x = own_rows(problem);
        let second = linalg::times(view(&x).transpose(), view(&x), data.threads());
        Ok(SystemWay::Products { basis: linalg::eigen(&second)?.1 })
    }
}

/// The rows that are here, in the problem's own units.
fn own_rows(problem: &Problem<'_>) -> Matrix {
    let (inputs, backend) = (problem.data().inputs(), problem.data().backend());
    let rows: Vec<u32> = (0..inputs.n_inputs() as u32).collect();
    let mut x = Matrix::zeros(rows.len(), inputs.n_features());
    inputs.load(&rows, x.as_mut_slice());
    x.scale(1.0 / backend.coordinate_unit());
    x
}

/// The rows that are here, turned, from which the shape of second derivatives is known.
pub(super) struct SampleShape {
    x: Matrix,
}

impl SampleShape {
    pub(super) fn new(problem: &Problem<'_>, way: &SystemWay) -> Option<Self> {
        let SystemWay::Products { basis } = way else { return None };
        let x = linalg::times(view(&own_rows(problem)), view(basis), problem.data().threads());
        Some(SampleShape { x })
    }

    /// Diagonal of the mean of the tasks' blocks, and the trace of each block.
    fn shape(&self, model: &RowsModel<'_>, seen: &Seen) -> (Vec<f64>, Vec<f64>) {
        let obs = model.problem.observations();
        let (d, t) = (self.x.cols(), obs.n_tasks());
        let (mut lam, mut traces) = (vec![0.0; d], vec![0.0; t]);
        let Some(point) = &seen.point else { return (lam, traces) };
        let curvatures = observed_curvatures(model.problem, point);
        let (mut means, mut sums) = (Matrix::zeros(t, d), vec![0.0; t]);
        for i in 0..self.x.rows() {
            let (row, mut total) = (self.x.row(i), 0.0);
            let square = dot(row, row);
            for o in obs.of_input(i).filter(|&o| curvatures[o] > 0.0) {
                let (task, curvature) = (obs.task(o), curvatures[o]);
                total += curvature;
                sums[task] += curvature;
                traces[task] += curvature * square;
                axpy(means.row_mut(task), curvature, row);
            }
            lam.iter_mut().zip(row).for_each(|(lam, x)| *lam += total * x * x);
        }
        if let Some(rho) = &model.rho {
            for (task, (sum, rho)) in sums.iter().zip(rho).enumerate().filter(|(_, (sum, _))| **sum > 0.0) {
                let mean = means.row(task);
                lam.iter_mut().zip(mean).for_each(|(lam, m)| *lam = (*lam - m * m / (sum + rho)).max(0.0));
                traces[task] = (traces[task] - dot(mean, mean) / (sum + rho)).max(0.0);
            }
        }
        lam.iter_mut().for_each(|lam| *lam /= t as f64);
        (lam, traces)
    }
}

/// The second derivative at a point.
pub(super) struct RowsCurvature<'c, 'a> {
    model: &'c RowsModel<'a>,
    seen: &'c Seen,
    /// Of each task: `1 / (d + rho)`, see `intercepts.rs`; nothing without intercepts.
    shares: Option<Vec<f64>>,
    /// The blocks of all tasks, where they are known.
    squares: Vec<Matrix>,
}

impl<'c, 'a> RowsCurvature<'c, 'a> {
    pub(super) fn new(model: &'c RowsModel<'a>, seen: &'c Seen) -> Self {
        let shares = model.rho.as_ref().map(|_| InterceptPulls::of(model, seen).shares());
        let mut squares = seen.blocks.clone();
        if let Some(shares) = &shares {
            let moments = linalg::transposed(&seen.moment);
            for (task, square) in squares.iter_mut().enumerate() {
                let moment = moments.row(task);
                (0..moment.len()).for_each(|i| axpy(square.row_mut(i), -shares[task] * moment[i], moment));
            }
        }
        RowsCurvature { model, seen, shares, squares }
    }

    /// x with `(I + S B) x = r`, to this tolerance.
    pub(super) fn solve(
        &self,
        derivative: &Derivative<'_>,
        residual: &Matrix,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Matrix> {
        let solved = match self.squares.is_empty() {
            true => {
                let operator = Kronecker::new(self, derivative)?;
                gmres::solve(&operator, residual, tolerance, linear::MAX_STEPS, stop)
            }
            false => {
                if let Some(direct) = Direct::of_squares(&self.squares, derivative, MOST_UNKNOWNS) {
                    return Some(direct.solve(residual));
                }
                let operator = Blocks::of_squares(self, derivative, &self.squares)?;
                gmres::solve(&operator, residual, tolerance, MANY_STEPS, stop)
            }
        };
        solved.map(|(x, _)| x)
    }
}

/// To which accuracy the way to the next mu is computed.
const PREDICTOR_ACCURACY: f64 = 0.05;

impl RowsModel<'_> {
    /// Multiplies mu by a factor; where the solution for the new mu is, to first order. Duals fall by g for each unit
    /// of mu, so `(I + S B) dV = -dmu (X'g - X'D sum(g) / (d + rho))`.
    pub(super) fn with_less_smoothing(
        &mut self,
        point: &RowsVPoint,
        factor: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Matrix {
        let (seen, change) = (&point.side, (factor - 1.0) * self.mu);
        let curvature = self.curvature(point);
        let mut pull = seen.fall.clone();
        if let Some(shares) = &curvature.shares {
            for j in 0..pull.rows() {
                let moments = seen.moment.row(j).iter().zip(shares).zip(&seen.falls);
                pull.row_mut(j)
                    .iter_mut()
                    .zip(moments)
                    .for_each(|(x, ((m, share), fall))| *x -= m * share * fall);
            }
        }
        pull.scale(change);
        let derivative = point.derivative(self.output(), self.algebra());
        let step = curvature.solve(&derivative, &pull, PREDICTOR_ACCURACY, stop);
        let mut v = point.v.clone();
        if let Some(step) = step.filter(|step| step.as_slice().iter().all(|x| x.is_finite())) {
            v.add_scaled(-1.0, &step);
        }
        drop(curvature);
        self.mu *= factor;
        v
    }
}

impl TaskCurvature for RowsCurvature<'_, '_> {
    type Algebra = Host;

    fn apply(&self, u: &Matrix) -> Matrix {
        if !self.squares.is_empty() {
            let columns = linalg::transposed(u);
            let column = |task: usize| {
                let (square, own) = (&self.squares[task], columns.row(task));
                (0..own.len()).map(|i| dot(square.row(i), own)).collect::<Vec<f64>>()
            };
            let products = linalg::map_rows(columns.rows(), column).concat();
            let products = Matrix::from_vec(products, columns.rows(), columns.cols());
            return linalg::transposed(&products.expect("one column for each task"));
        }
        let Some((mut product, sums)) = self.model.curve(self.seen, u) else {
            // No answer: numbers that end the iteration.
            let mut lost = Matrix::zeros(u.rows(), u.cols());
            lost.as_mut_slice().fill(f64::NAN);
            return lost;
        };
        if let Some(shares) = &self.shares {
            let means: Vec<f64> = sums.iter().zip(shares).map(|(sum, share)| -share * sum).collect();
            for j in 0..product.rows() {
                let moment = self.seen.moment.row(j).iter().zip(&means);
                product.row_mut(j).iter_mut().zip(moment).for_each(|(x, (m, mean))| *x += m * mean);
            }
        }
        product
    }

    fn shape(&self) -> (Vec<f64>, Vec<f64>) {
        match self.model.sample() {
            Some(sample) => sample.shape(self.model, self.seen),
            None => (vec![1.0; self.seen.w.rows()], vec![1.0; self.seen.w.cols()]),
        }
    }
}
