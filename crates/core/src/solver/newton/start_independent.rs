//! A start for tasks with separate inputs: independent tasks, each with the scale that the regulariser would
//! give it.

use crate::backend::Interrupt;
use crate::design::Design;
use crate::linalg::{self, axpy, dot, view};
use crate::regularizer::SumRegularizer;
use crate::solver::start;
use crate::{Matrix, Problem, Result};
use rayon::prelude::*;
use std::ops::Range;

/// Work (rank^3 x tasks) beyond which eigenvectors of all tasks take longer than the Newton steps they save.
const MAX_EIGEN_WORK: f64 = 2e8;

/// The start is used only if squared slopes differ from those of the parabolas by at most this share of their
/// values at prediction 0.
const MAX_PARABOLA_ERROR: f64 = 0.01;

/// Duals of the best diagonal Theta for losses replaced by their parabolas at prediction 0, `L(z) ~ a (z -
/// b)^2 / 2`, which are the losses themselves if they are squares. `None` where inputs are shared, or losses
/// are no parabolas there, or features are many.
///
/// For task r, `V_r = x'(gamma a (b - s x V_r))` with `s = phi'(|V_r|^2)`: in the eigenbasis of `x'(gamma a
/// x)` both sides are functions of s alone, and meet since the right one falls.
pub(super) fn start(problem: &Problem<'_>, design: &Design) -> Result<Option<Vec<f64>>> {
    let Some(task_rows) = design.task_rows() else { return Ok(None) };
    let rank = design.rank() as f64;
    if rank.powi(3) * task_rows.len() as f64 > MAX_EIGEN_WORK {
        return Ok(None);
    }
    let (gammas, output) = (design.per_entry(|o| problem.gamma(o)), problem.entrywise()?);
    let of_task =
        |(task, rows): (usize, &Range<usize>)| duals(problem, design, output, &gammas, task, rows.clone());
    let parts: Option<Vec<IndependentTask>> = task_rows.par_iter().enumerate().map(of_task).collect();
    let Some(parts) = parts else { return Ok(None) };
    let (far, size) = parts.iter().fold((0.0, 0.0), |(far, size), part| (far + part.far, size + part.size));
    if far > MAX_PARABOLA_ERROR * size {
        return Ok(None);
    }
    let kappa: Vec<f64> = parts.into_iter().flat_map(|part| part.duals).collect();
    let kappa = design.scatter(&kappa, problem.observations().len());
    Ok(Some(start::along(problem, start::warm(problem, kappa), &mut Interrupt::never())?))
}

/// What intercepts do to the parabolas `a_i z^2 / 2 - c_i z` of a task: see `design/centring.rs`.
struct Centre {
    /// Mean of the rows, weighted by a.
    mean: Vec<f64>,
    curvature_sum: f64,
    dual_sum: f64,
    rho: f64,
    share: f64,
    root: f64,
}

impl Centre {
    fn new(design: &Design, rows: Range<usize>, parabolas: &[(f64, f64)], rho: f64) -> Self {
        let sums = parabolas.iter().fold((0.0, 0.0), |(a, c), parabola| (a + parabola.0, c + parabola.1));
        let (curvature_sum, dual_sum) = sums;
        let mut mean = vec![0.0; design.rank()];
        if curvature_sum > 0.0 {
            rows.zip(parabolas).for_each(|(row, (a, _))| axpy(&mut mean, a / curvature_sum, design.row(row)));
        }
        let share = if curvature_sum > 0.0 { curvature_sum / (curvature_sum + rho) } else { 0.0 };
        Centre { mean, curvature_sum, dual_sum, rho, share, root: 1.0 - (1.0 - share).sqrt() }
    }

    /// The best intercept for these weights.
    fn intercept(&self, weights: &[f64]) -> f64 {
        let stiffness = self.curvature_sum + self.rho;
        if stiffness > 0.0 {
            (self.dual_sum - self.curvature_sum * dot(&self.mean, weights)) / stiffness
        } else {
            0.0
        }
    }
}

/// The result for one task.
struct IndependentTask {
    duals: Vec<f64>,
    /// Squared differences of slopes from those of the parabolas, and squared slopes at 0, summed.
    far: f64,
    size: f64,
}

fn duals(
    problem: &Problem<'_>,
    design: &Design,
    output: &SumRegularizer,
    gammas: &[f64],
    task: usize,
    rows: Range<usize>,
) -> Option<IndependentTask> {
    let (rank, loss_of) = (design.rank(), |row: usize| problem.loss_at(design.observation(row)));
    let mut scaled = Matrix::zeros(rows.len(), rank);
    let mut moment = vec![0.0; rank];
    let mut parabolas = vec![];
    for row in rows.clone() {
        let (curvature, slope) = (loss_of(row).curvature(0.0), loss_of(row).slope(0.0));
        if !(curvature > 0.0 && slope.0 == slope.1) {
            return None;
        }
        parabolas.push((gammas[row] * curvature, -gammas[row] * slope.0));
    }
    let centre =
        problem.intercept_costs().map(|rho| Centre::new(design, rows.clone(), &parabolas, rho[task]));
    for ((i, row), &(curvature, dual)) in rows.clone().enumerate().zip(&parabolas) {
        axpy(scaled.row_mut(i), curvature.sqrt(), design.row(row));
        axpy(&mut moment, dual, design.row(row));
        if let Some(centre) = &centre {
            axpy(scaled.row_mut(i), -centre.root * curvature.sqrt(), &centre.mean);
        }
    }
    if let Some(centre) = &centre {
        axpy(&mut moment, -centre.share * centre.dual_sum, &centre.mean);
    }
    let (values, vectors) =
        linalg::eigen(&linalg::times(view(&scaled).transpose(), view(&scaled), 1)).ok()?;
    let mut inner = vec![0.0; rank];
    (0..rank).for_each(|j| axpy(&mut inner, moment[j], vectors.row(j)));
    let at = |s: f64| inner.iter().zip(&values).map(move |(c, l)| c / (1.0 + s * l.max(0.0)));
    let (mut low, mut high) = (-300.0f64, 300.0f64);
    while high - low > 1e-3 {
        let middle = 0.5 * (low + high);
        let slope = output.diagonal(task, at(middle.exp()).map(|v| v * v).sum());
        if slope.is_nan() || slope > middle.exp() { low = middle } else { high = middle }
    }
    let s = (0.5 * (low + high)).exp();
    let turned: Vec<f64> = at(s).collect();
    let weights: Vec<f64> = (0..rank).map(|j| s * dot(vectors.row(j), &turned)).collect();
    let b = centre.as_ref().map_or(0.0, |centre| centre.intercept(&weights));
    let mut task_result = IndependentTask { duals: Vec::with_capacity(rows.len()), far: 0.0, size: 0.0 };
    for row in rows {
        let (loss, z) = (loss_of(row), dot(design.row(row), &weights) + b);
        let (slope, first) = (loss.mean_slope(z), loss.slope(0.0).0);
        task_result.duals.push(-gammas[row] * slope);
        task_result.far += (slope - first - loss.curvature(0.0) * z).powi(2);
        task_result.size += first * first;
    }
    Some(task_result)
}
