//! Kernels on many inputs: the problem in a subspace that grows, without eigenvectors of K.
//!
//! At a solution the coefficients are `Z = gamma (Y - K Z Theta)`. A round finds the best functions of a subspace with
//! a few dimensions for each task, as the spectral solver does with all functions. What is left,
//! `R = gamma (Y - K Z Theta) - Z`, gives new directions `(K + s I)^-1 R`. In the eigenbasis of Theta the exact
//! correction of task j is `(I + gamma theta_j K)^-1 R_j`; so one Cholesky factor with s near all `1 / (gamma theta_j)`
//! serves all tasks, and a round brings at least as much as a step of conjugate gradients behind that factor.
//! `<Theta, R'K R> / 2` is the gap of the duals `Z + R` and the function of Z, up to terms of higher order.

use super::centred_kernel::{CentredKernel, ShiftedInverse};
use super::span::Span;
use super::square::Diagonal;
use super::{Reduced, SpectralSearch, VPoint, finish};
use crate::backend::{OrthonormalBasis, Subspace};
use crate::dataset::Moments;
use crate::linalg::{self, inner, view};
use crate::solver::{Clock, Poll, Settings, SolverOutcome, SolverRun};
use crate::{Matrix, Problem, Result};
use std::ops::ControlFlow;

/// Inputs from which on it is worth while.
const MIN_INPUTS: usize = 1000;
/// Inputs for each task from which on it is worth while: a round adds a dimension for each task.
const MIN_INPUTS_PER_TASK: usize = 15;
/// The first subspace is spanned by so many inputs.
const FIRST_INPUTS: usize = 256;
/// The subspace may have so many dimensions for each input.
const MAX_DIMENSION_SHARE: f64 = 0.6;
/// Dimensions for each task that a solution takes, for an estimate of the memory.
const USUAL_DIMENSIONS_PER_TASK: u64 = 20;
/// The gap must become half as large in so many rounds.
const PATIENCE_ROUNDS: usize = 6;
/// Factor by which a shift may differ from the one that is wanted, before another Cholesky factor is made.
const MAX_SHIFT_RATIO: f64 = 12.0;
/// Gap within a subspace, relative to the one that is left outside of it.
const INNER_GAP_SHARE: f64 = 0.02;
/// Steps of the spectral solver in a subspace at most.
const MAX_INNER_PASSES: usize = 200;

/// Whether this way is likely to be the faster one. It depends on the problem alone: the same fit gives the same bits.
pub(super) fn pays(problem: &Problem<'_>) -> bool {
    let (backend, tasks) = (problem.data().backend(), problem.observations().n_tasks());
    !backend.coordinates_are_state() && backend.n_inputs() >= MIN_INPUTS.max(MIN_INPUTS_PER_TASK * tasks)
}

/// Bytes: the Gram matrix, its factor, and directions, images and frames of some subspaces.
pub(super) fn memory(problem: &Problem<'_>) -> u64 {
    let (n, t) = (problem.data().backend().n_inputs() as u64, problem.observations().n_tasks() as u64);
    8 * n * (2 * n + 4 * (FIRST_INPUTS as u64).max(USUAL_DIMENSIONS_PER_TASK * t))
}

/// The outcome; or the duals it reached, if any, where the subspace becomes too large or progress is slow.
pub(super) fn run(run: &mut SolverRun<'_>) -> Result<ControlFlow<SolverOutcome, Option<Vec<f64>>>> {
    let (data, centred) = (run.problem.data(), run.problem.is_centred());
    let matrix = run.clock.unless_stopped(|interrupt| data.kernel_matrix(interrupt))?;
    let Some(matrix) = matrix else { return Ok(ControlFlow::Break(run.give_up()?)) };
    let Some(matrix) = matrix else { return Ok(ControlFlow::Continue(None)) };
    data.pool().install(|| {
        let kernel = CentredKernel { matrix: &matrix, centred, threads: data.threads() };
        GrowingSubspace::new(run.problem, kernel)?.run(run)
    })
}

/// What does not change while the subspace grows.
struct GrowingSubspace<'a> {
    problem: &'a Problem<'a>,
    kernel: CentredKernel<'a>,
    /// Inputs x tasks, less their means if intercepts are free.
    labels: Matrix,
    gamma: f64,
    threads: usize,
}

/// The best point of a subspace.
struct SubspacePoint {
    point: VPoint,
    /// Coefficients Z and `K Z`.
    span: Span,
    /// `gamma (Y - K Z Theta)`.
    duals: Matrix,
    /// `R = duals - Z`, and `R' K R`.
    rest: Matrix,
    rest_gram: Matrix,
    objective: f64,
}

impl SubspacePoint {
    /// About the relative gap of these duals and the point.
    fn gap(&self) -> f64 {
        0.5 * inner(&self.point.theta, &self.rest_gram) / self.objective.max(f64::MIN_POSITIVE)
    }
}

impl<'a> GrowingSubspace<'a> {
    fn new(problem: &'a Problem<'a>, kernel: CentredKernel<'a>) -> Result<Self> {
        let table = problem.data().label_table(kernel.centred).into_owned();
        let labels = Matrix::from_vec(table, kernel.matrix.rows(), problem.observations().n_tasks())?;
        Ok(GrowingSubspace { problem, labels, gamma: problem.gamma(0), threads: kernel.threads, kernel })
    }

    fn run(&self, run: &mut SolverRun<'_>) -> Result<ControlFlow<SolverOutcome, Option<Vec<f64>>>> {
        let (n, t, tolerance) = (self.labels.rows(), self.labels.cols(), run.settings.tolerance);
        let (mut span, mut z) = match &run.given {
            None => (self.kernel.span_of_inputs(FIRST_INPUTS), None),
            Some(kappa) => {
                let mut z = Matrix::from_vec(kappa.clone(), n, t)?;
                self.kernel.centre(&mut z);
                let span = Span { images: self.kernel.times(&z), directions: z.clone() };
                (span.orthonormal(self.threads)?, Some(z))
            }
        };
        let (mut inverse, mut gaps, mut wanted): (Option<ShiftedInverse>, Vec<f64>, f64) =
            (None, vec![], tolerance);
        loop {
            let subspace = Subspace::of((&span.directions, &span.images), self.threads)?;
            let outside = gaps.last().copied().unwrap_or(1.0);
            let inner_gap = (INNER_GAP_SHARE * outside).clamp(0.1 * tolerance, 1e-2);
            let best = self.best(run, &subspace, z.as_ref(), inner_gap)?;
            run.clock.passes += 1;
            run.clock.objective(self.problem.unit() * best.objective);
            let gap = best.gap();
            if !gap.is_finite() {
                return Ok(ControlFlow::Continue(None));
            }
            // The estimate leaves something out.
            if gap <= 0.7 * wanted || run.clock.is_over() {
                let kappa = best.duals.as_slice().to_vec();
                let place: (&dyn OrthonormalBasis, _) = (&subspace, &best.point.v);
                let point = finish::certify_in(self.problem, kappa, place, tolerance)?;
                if let Some(status) = run.report(&point) {
                    return Ok(ControlFlow::Break(point.ended(status)));
                }
                wanted = 0.1 * gap;
            }
            gaps.push(gap);
            let slow = gaps.len() > PATIENCE_ROUNDS && gap > 0.5 * gaps[gaps.len() - 1 - PATIENCE_ROUNDS];
            let full = (span.dimension() + t) as f64 > MAX_DIMENSION_SHARE * n as f64;
            if slow || full {
                return Ok(ControlFlow::Continue(Some(best.duals.into_vec())));
            }
            let shift = self.wanted_shift(&best)?;
            if inverse.as_ref().is_none_or(|made| (made.shift / shift).ln().abs() > MAX_SHIFT_RATIO.ln()) {
                // The old factor makes room for the new one.
                inverse = None;
                match run.clock.unless_stopped(|interrupt| self.kernel.shifted(shift, interrupt))? {
                    Some(Some(made)) => inverse = Some(made),
                    Some(None) => return Ok(ControlFlow::Continue(Some(best.duals.into_vec()))),
                    // Stopped: the next round certifies this point.
                    None => {}
                }
            }
            if z.is_none() {
                // Of the first subspace only its best functions are worth keeping.
                let Span { directions, images } = &best.span;
                span = Span { directions: directions.clone(), images: images.clone() }
                    .orthonormal(self.threads)?;
            }
            if let Some(inverse) = &inverse {
                span.extend(inverse.times(&best.rest), self.threads)?;
            }
            z = Some(best.span.directions);
        }
    }

    /// The best functions of a subspace, up to a relative gap within it.
    fn best(
        &self,
        run: &mut SolverRun<'_>,
        subspace: &Subspace,
        from: Option<&Matrix>,
        tolerance: f64,
    ) -> Result<SubspacePoint> {
        let threads = self.threads;
        let moments = Moments {
            moment: subspace.project_coefficients(self.labels.clone(), threads),
            label_square: inner(&self.labels, &self.labels),
        };
        let square = Diagonal(&subspace.values);
        let reduced = Reduced::in_memory(self.problem, &square, &moments)?;
        let settings = Settings { tolerance, max_passes: MAX_INNER_PASSES, ..Settings::default() }.check()?;
        let mut poll = Poll(&mut run.clock);
        let mut clock = Clock::new("spectral", &settings, &mut poll);
        let mut search = SpectralSearch::new(&reduced, tolerance, &mut clock);
        let point = match from {
            Some(z) => search.warm(reduced.point(subspace.project_coefficients(z.clone(), threads))),
            None => search.cold(),
        }
        .point;
        let span = Span {
            directions: subspace.coordinates(self.problem.data().backend(), &point.v, threads),
            images: subspace.images(&point.v, threads),
        };
        let mut duals = linalg::times(view(&span.images), view(&point.theta), threads);
        for (dual, label) in duals.as_mut_slice().iter_mut().zip(self.labels.as_slice()) {
            *dual = self.gamma * (label - *dual);
        }
        let rest = duals.minus(&span.directions);
        let mut rest_gram = linalg::times(view(&rest).transpose(), view(&self.kernel.times(&rest)), threads);
        linalg::symmetrise(&mut rest_gram);
        let objective = point.psi + 0.5 * self.gamma * reduced.data.floor;
        Ok(SubspacePoint { point, span, duals, rest, rest_gram, objective })
    }

    /// `1 / (gamma theta_j)`, the geometric mean over the directions of the tasks, weighed by their shares of the gap.
    fn wanted_shift(&self, best: &SubspacePoint) -> Result<f64> {
        let (theta, turn) = linalg::eigen(&best.point.theta)?;
        let of_rest = linalg::times(view(&best.rest_gram), view(&turn), 1);
        let largest = theta.iter().fold(f64::MIN_POSITIVE, |a, &b| a.max(b));
        let (mut sum, mut total) = (0.0, f64::MIN_POSITIVE);
        for (j, &theta) in theta.iter().enumerate().filter(|(_, theta)| **theta > 0.0) {
            let left: f64 = (0..turn.rows()).map(|r| turn[(r, j)] * of_rest[(r, j)]).sum();
            let share = theta * left.max(0.0);
            sum += share * (theta / largest).ln();
            total += share;
        }
        Ok(1.0 / (self.gamma * largest * (sum / total).exp()))
    }
}
