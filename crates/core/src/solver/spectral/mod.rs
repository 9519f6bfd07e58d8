//! Squared loss on shared inputs, from X'X and X'Y alone, in a basis where X'X is diagonal, or a band.
//!
//! The problem depends on the data only through X'X, `b = X'Y` (features x tasks, rotated) and `|Y|^2`. With
//! `W = V phi'(V'V)` it is a smooth problem in V, of the size of b, and V is optimal if `V = gamma (b - X'X
//! W)`. [`alternation`] is for k = 1 only; it is fast if Theta is well conditioned, and needs no eigenvectors:
//! a band is enough for it, or X'X as it is ([`dense`]). In all other cases [`newton`] solves the problem, in
//! the eigenbasis. Kernels on many inputs do without eigenvectors: [`subspace`] solves the problem for some
//! functions, and adds others until that is enough. [`on_device`] does all of this, kernels aside, on a device.

mod alternation;
mod centred_kernel;
mod dense;
mod newton;
mod on_device;
mod reduced;
mod span;
mod square;
mod statistics;
mod subspace;

use super::{Algorithm, Clock, SolverOutcome, SolverRun, Status, finish, needs_entries};
use crate::algebra::Host;
use crate::backend::{
    self, Columns, Expansion, FeatureBasis, Interrupt, OrthonormalBasis, Panel, STREAM_ROWS,
};
use crate::linalg::{self, view};
use crate::{Matrix, Problem, Result};
use alternation::FirstTheta;
use dense::PlainSquare;
use newton::NewtonAlgebra;
use reduced::{Reduced, VPoint};
use square::Diagonal;
use std::ops::ControlFlow;

/// Newton's method on sufficient statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spectral;

impl Spectral {
    /// How it would solve such a problem, in words.
    pub(super) fn way(problem: &Problem<'_>) -> &'static str {
        if problem.data().resident().is_some_and(|resident| resident.is_tall()) {
            "solved on the device"
        } else if subspace::pays(problem) {
            "solved in a subspace of kernel functions that grows"
        } else {
            "solved in the eigenbasis of the inputs"
        }
    }
}

impl Algorithm for Spectral {
    fn name(&self) -> &'static str {
        "spectral"
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        needs_entries(problem)?;
        let obs = problem.observations();
        if !problem.has_only_squared_loss() {
            return Err("not every task has the squared loss".into());
        }
        if problem.intercept_costs().is_some() && !problem.is_centred() {
            return Err("intercepts are penalised".into());
        }
        if !obs.is_complete() {
            return Err("not every input has a label for every task".into());
        }
        if obs.uniform_weight().is_none() {
            return Err("observations have different weights".into());
        }
        Ok(())
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        let (backend, obs) = (problem.data().backend(), problem.observations());
        if subspace::pays(problem) {
            return subspace::memory(problem);
        }
        // A dozen matrices of the size of V, the Krylov space, and the duals.
        let point = (backend.dim().min(backend.n_inputs()) * obs.n_tasks()) as u64;
        let matrices = 12 + newton::MAX_STEPS as u64;
        backend.spectrum_bytes().saturating_add(8 * (matrices * point + 2 * obs.len() as u64))
    }

    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        if let Some(outcome) = run.check_given()? {
            return Ok(outcome);
        }
        let problem = run.problem;
        if let Some(resident) = problem.data().resident().filter(|resident| resident.is_tall()) {
            match on_device::run(run, resident)? {
                ControlFlow::Break(outcome) => return Ok(outcome),
                ControlFlow::Continue(reached) => run.given = reached.or(run.given.take()),
            }
        }
        if subspace::pays(problem) {
            match subspace::run(run)? {
                ControlFlow::Break(outcome) => return Ok(outcome),
                ControlFlow::Continue(reached) => run.given = reached.or(run.given.take()),
            }
            let data = problem.data();
            if data.backend().spectrum_bytes() > data.options().memory {
                // The subspace needs less memory than the eigenbasis.
                let (point, _) = run.first_point()?;
                let status = run.report(&point).unwrap_or(Status::Stalled);
                return Ok(point.ended(status));
            }
        }
        if plain_pays(problem) {
            let plain = run.clock.unless_stopped(|interrupt| {
                problem.data().plain_statistics(problem.is_centred(), interrupt)
            })?;
            let Some((matrix, moments)) = plain else { return run.give_up() };
            let host = Host { threads: problem.data().threads() };
            let trace: f64 = (0..matrix.rows()).map(|j| matrix[(j, j)]).sum();
            let square = PlainSquare::new(&host, matrix, trace / matrix.rows() as f64);
            let reduced = Reduced::in_memory(problem, &square, moments)?;
            match problem.data().pool().install(|| by_alternation(run, &reduced, &FeatureBasis))? {
                ControlFlow::Break(outcome) => return Ok(outcome),
                ControlFlow::Continue(reached) => run.given = reached.or(run.given.take()),
            }
        } else if band_pays(problem) {
            let banded = run.clock.unless_stopped(|interrupt| {
                problem.data().banded_statistics(problem.is_centred(), interrupt)
            })?;
            let Some(banded) = banded else { return run.give_up() };
            if let Some((banded, moments)) = banded {
                let reduced = Reduced::in_memory(problem, &banded.band, moments)?;
                match problem.data().pool().install(|| by_alternation(run, &reduced, banded))? {
                    ControlFlow::Break(outcome) => return Ok(outcome),
                    ControlFlow::Continue(reached) => run.given = reached.or(run.given.take()),
                }
            }
        }
        InEigenbasis.iterate(run)
    }
}

/// [`Spectral`] without the band, for callers that need the eigenbasis in any case.
#[derive(Debug, Clone, Copy)]
pub(super) struct InEigenbasis;

impl Algorithm for InEigenbasis {
    fn name(&self) -> &'static str {
        Spectral.name()
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        Spectral.suits(problem)
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        Spectral.memory(problem)
    }

    /// Alternation where it helps, then Newton's method.
    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        let problem = run.problem;
        let statistics = run
            .clock
            .unless_stopped(|interrupt| problem.data().statistics(problem.is_centred(), interrupt))?;
        let Some((spectrum, moments)) = statistics else { return run.give_up() };
        problem.data().pool().install(|| {
            let square = Diagonal(&spectrum.values);
            let reduced = Reduced::in_memory(problem, &square, moments)?;
            let mut search = SpectralSearch::new(&reduced, run.settings.tolerance, &mut run.clock);
            let ended = match &run.given {
                Some(kappa) => search.warm(reduced.point(rotated_state(problem, spectrum, kappa)?)),
                None => search.cold(),
            };
            finish(run, spectrum, ended)
        })
    }
}

/// Banded reduction costs about 1/5 of an eigendecomposition, (features)^3, but each round then solves
/// equations that cost tasks x features more. It is used where features^2 is at least this many times the
/// number of tasks; the margin is wide because later fits use an eigenbasis again.
const BAND_MIN_FEATURES_SQUARED_PER_TASK: usize = 4096;

/// Equations with X'X as it is take a few products with it for each round and task, and one Cholesky factor, which is
/// far less than a band if there are many features for each task.
const PLAIN_MIN_FEATURES_PER_TASK: usize = 8;

/// Whether to try X'X as it is first. Like a band, this depends on the problem alone.
fn plain_pays(problem: &Problem<'_>) -> bool {
    let (backend, tasks) = (problem.data().backend(), problem.observations().n_tasks());
    band_pays(problem)
        && backend.coordinates_are_state()
        && backend.dim() <= backend.n_inputs()
        && backend.dim() >= PLAIN_MIN_FEATURES_PER_TASK * tasks
}

/// Whether to try a band first. This depends on the problem alone, not on what was computed before: the same
/// fit gives the same bits.
fn band_pays(problem: &Problem<'_>) -> bool {
    let (backend, obs) = (problem.data().backend(), problem.observations());
    let size = backend.dim().min(backend.n_inputs());
    problem.entrywise().is_ok_and(|output| alternation::gain(output).is_some())
        && size * size >= BAND_MIN_FEATURES_SQUARED_PER_TASK * obs.n_tasks()
}

/// Alternation without Newton's method. The duals it reached where it gives up, or where its certificate does
/// not hold for the data.
fn by_alternation(
    run: &mut SolverRun<'_>,
    reduced: &Reduced<'_>,
    basis: &dyn OrthonormalBasis,
) -> Result<ControlFlow<SolverOutcome, Option<Vec<f64>>>> {
    let Some(gain) = alternation::gain(reduced.output) else { return Ok(ControlFlow::Continue(None)) };
    let problem = run.problem;
    let mut search = SpectralSearch::new(reduced, run.settings.tolerance, &mut run.clock);
    let flow = match &run.given {
        Some(kappa) => {
            let first = reduced.point(rotated_state(problem, basis, kappa)?);
            alternation::run(&mut search, FirstTheta::OfPoint(&first))
        }
        None => {
            alternation::run(&mut search, FirstTheta::Diagonal(&alternation::independent(reduced, gain)?))
        }
    };
    Ok(match flow {
        ControlFlow::Break(ended) => match finish(run, basis, ended)? {
            SolverOutcome { point, status: Status::Stalled } => ControlFlow::Continue(Some(point.kappa)),
            finished => ControlFlow::Break(finished),
        },
        ControlFlow::Continue(Some(point)) => {
            ControlFlow::Continue(Some(residual_duals(problem, basis, &point)?))
        }
        ControlFlow::Continue(None) => ControlFlow::Continue(None),
    })
}

/// The duals of the weights found, certified from the data.
fn finish(run: &SolverRun<'_>, basis: &dyn OrthonormalBasis, ended: Ended) -> Result<SolverOutcome> {
    let (problem, tolerance) = (run.problem, run.settings.tolerance);
    let kappa = residual_duals(problem, basis, &ended.point)?;
    let point = finish::certify_in(problem, kappa, (basis, &ended.point.v), tolerance)?;
    let status = final_status(ended.status, point.rel_gap(), tolerance);
    Ok(point.ended(status))
}

/// The same for duals and coordinates that are there; the duals alone where their certificate does not hold for the
/// data.
fn certified(
    run: &SolverRun<'_>,
    (kappa, status): (Vec<f64>, Status),
    coordinates: impl FnOnce() -> Result<Matrix> + Send,
) -> Result<ControlFlow<SolverOutcome, Option<Vec<f64>>>> {
    let (problem, tolerance) = (run.problem, run.settings.tolerance);
    let point = finish::certify(problem, kappa, coordinates, tolerance)?;
    Ok(match final_status(status, point.rel_gap(), tolerance) {
        Status::Stalled => ControlFlow::Continue(Some(point.kappa)),
        status => ControlFlow::Break(point.ended(status)),
    })
}

/// What the certificate from the data makes of the status of a search.
fn final_status(status: Status, gap: f64, tolerance: f64) -> Status {
    match status {
        _ if gap <= tolerance => Status::Certified,
        Status::Certified => Status::Stalled,
        other => other,
    }
}

/// Root mean square of the predictions of independent tasks, without solving anything.
pub(super) fn typical_prediction(problem: &Problem<'_>, interrupt: &mut Interrupt<'_>) -> Result<f64> {
    let (spectrum, moments) = problem.data().statistics(problem.is_centred(), interrupt)?;
    let square = Diagonal(&spectrum.values);
    let reduced = Reduced::in_memory(problem, &square, moments)?;
    let (v, theta) = reduced.cold_start();
    let mut sum = 0.0;
    for (j, l) in reduced.values().iter().enumerate() {
        sum += l * v.row(j).iter().zip(&theta).map(|(v, theta)| (v * theta).powi(2)).sum::<f64>();
    }
    Ok((sum / problem.observations().len() as f64).sqrt())
}

/// Further steps taken to reach a certificate that needs no V beside the duals.
const MAX_POLISH_STEPS: usize = 4;

/// Where the search ended.
struct Ended<M = Matrix> {
    point: VPoint<M>,
    status: Status,
}

/// The search for a V, watched by the clock.
struct SpectralSearch<'a, 'c, A: NewtonAlgebra = Host> {
    reduced: &'a Reduced<'a, A>,
    tolerance: f64,
    /// Steps made beyond a certified point.
    polished: usize,
    clock: &'a mut Clock<'c>,
}

impl<'a, 'c, A: NewtonAlgebra> SpectralSearch<'a, 'c, A> {
    fn new(reduced: &'a Reduced<'a, A>, tolerance: f64, clock: &'a mut Clock<'c>) -> Self {
        SpectralSearch { reduced, tolerance, polished: 0, clock }
    }

    fn warm(&mut self, first: VPoint<A::Mat>) -> Ended<A::Mat> {
        match alternation::run(self, FirstTheta::OfPoint(&first)) {
            ControlFlow::Break(ended) => ended,
            ControlFlow::Continue(point) => newton::run(self, point.unwrap_or(first)),
        }
    }

    fn cold(&mut self) -> Ended<A::Mat> {
        let (v, diagonal) = self.reduced.cold_start();
        match alternation::run(self, FirstTheta::Diagonal(&diagonal)) {
            ControlFlow::Break(ended) => ended,
            ControlFlow::Continue(Some(point)) => newton::run(self, point),
            ControlFlow::Continue(None) => {
                let first = self.reduced.point(v);
                let first = self.reduced.in_company(&first, &diagonal).unwrap_or(first);
                newton::run(self, first)
            }
        }
    }

    /// Certifies a V from the statistics and reports it; the relative gap, and a status if it is time to end.
    fn report(&mut self, reduced: &Reduced<'_, A>, v: &A::Mat) -> (f64, Option<Status>) {
        let certificate = reduced.certify(v);
        (certificate.rel_gap(), self.clock.report(&certificate, None))
    }

    /// Whether to end with these weights although a few more steps might make their duals certify themselves,
    /// without a V beside them.
    fn is_final(&mut self, w: &A::Mat, reduced: &Reduced<'_, A>, status: Status) -> bool {
        if status != Status::Certified
            || self.polished == MAX_POLISH_STEPS
            || self.clock.is_over()
            || reduced.certify_induced(w).rel_gap() <= self.tolerance
        {
            return true;
        }
        self.polished += 1;
        false
    }
}

/// The V of given duals.
fn rotated_state(problem: &Problem<'_>, basis: &dyn OrthonormalBasis, kappa: &[f64]) -> Result<Matrix> {
    let duals = (problem.observations(), kappa);
    basis.rotated(problem.data().backend(), duals, problem.data().threads(), &mut Interrupt::never())
}

/// `gamma (Y - X W)`, one streaming pass.
fn residual_duals(problem: &Problem<'_>, basis: &dyn OrthonormalBasis, point: &VPoint) -> Result<Vec<f64>> {
    use rayon::prelude::*;
    let (backend, threads, obs) =
        (problem.data().backend(), problem.data().threads(), problem.observations());
    let coordinates = basis.coordinates(backend, &point.v, threads);
    let expansion = Expansion::Coordinates(&coordinates);
    let state = backend::state_of(backend, expansion, threads, &mut Interrupt::never())?;
    let weights = linalg::times(view(&state), view(&point.theta), threads);
    let t = obs.n_tasks();
    let mut scores = vec![0.0; obs.len()];
    let rows: Vec<u32> = (0..obs.n_inputs() as u32).collect();
    scores.par_chunks_mut(STREAM_ROWS * t).zip(rows.par_chunks(STREAM_ROWS)).for_each_init(
        || (Panel::default(), Matrix::default()),
        |(panel, of_block), (scores, rows)| {
            backend.load(rows, panel);
            backend.scores(panel, Columns::All, &weights, of_block, 1);
            scores.copy_from_slice(of_block.as_slice());
        },
    );
    Ok(kappa_of(problem, &scores))
}

/// `gamma (Y - scores)`.
fn kappa_of(problem: &Problem<'_>, scores: &[f64]) -> Vec<f64> {
    use rayon::prelude::*;
    let (gamma, targets) = (problem.gamma(0), problem.observations().targets());
    targets.par_iter().zip(scores).map(|(y, z)| gamma * (y - z)).collect()
}
