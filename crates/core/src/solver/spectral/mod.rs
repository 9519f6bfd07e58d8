//! Squared loss on shared inputs, from X'X and X'Y alone, in the basis where X'X is diagonal.
//!
//! Everything the data say is in `l = eigenvalues of X'X`, `b = X'Y` (features x tasks, rotated) and `|Y|^2`. With
//! `W = V phi'(V'V)` the problem is a smooth one in V, of the size of b, and optimal where `V = gamma (b - l W)`.
//! [`alternation`] is quick where Theta is well conditioned (k = 1 only); [`newton`] does the rest.

mod alternation;
mod newton;
mod reduced;

use super::{CheckedSettings, Clock, Solution, Solver, Start, Status, graded, needs_entries, start};
use crate::backend::{self, Columns, Expansion, Interrupt, Panel, STREAM_ROWS};
use crate::certificate::{Graded, certify_normal};
use crate::linalg::{self, view};
use crate::{Error, Matrix, Observer, Problem, Result};
use reduced::{Point, Reduced};
use std::ops::ControlFlow;

/// Newton's method on sufficient statistics.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spectral;

impl Solver for Spectral {
    fn name(&self) -> &'static str {
        "spectral"
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        needs_entries(problem)?;
        let obs = problem.observations();
        match problem.only_loss() {
            Some(loss) if loss.name() == "squared" => {}
            _ => return Err("not every task has the squared loss".into()),
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
        // A dozen matrices of the size of V, the Krylov space, and the duals.
        let point = (backend.dim().min(backend.n_inputs()) * obs.n_tasks()) as u64;
        let matrices = 12 + newton::MAX_STEPS as u64;
        backend.spectrum_bytes().saturating_add(8 * (matrices * point + 2 * obs.len() as u64))
    }

    fn solve(
        &self,
        problem: &Problem<'_>,
        settings: &CheckedSettings,
        start: Start<'_>,
        observer: &mut dyn Observer,
    ) -> Result<Solution> {
        if let Err(why) = self.suits(problem) {
            return Err(Error::Unsuitable { solver: self.name(), why });
        }
        start.passes(self.name(), settings.seed)?;
        let start = start.kappa(problem)?;
        let mut clock = Clock::new(self.name(), settings, observer);
        if let Some(kappa) = &start {
            // Refitting from a solution does no work.
            let graded = certify_normal(problem, kappa, None, &mut Interrupt::never())?;
            if let Some(status) = clock.report(&graded.certificate, None) {
                return Ok(solution(kappa.clone(), None, graded, status, clock));
            }
        }
        let statistics = match clock.interrupting(|interrupt| problem.data().statistics(interrupt)) {
            Err(Error::Interrupted) => return self.give_up(problem, start, clock),
            other => other?,
        };
        problem.data().pool().install(|| {
            let reduced = Reduced::new(problem, statistics);
            let (first, diagonal) = match &start {
                Some(kappa) => (reduced.point(reduced.rotated_state(problem, kappa)?), None),
                None => {
                    let (v, diagonal) = reduced.cold_start();
                    (reduced.point(v), Some(diagonal))
                }
            };
            // Alternation starts from the diagonal, wherever it can be used.
            let own = diagonal.as_ref().filter(|_| alternation::gain(&reduced).is_none());
            let first = own.and_then(|own| reduced.in_company(&first, own)).unwrap_or(first);
            let mut search = Search { reduced: &reduced, tolerance: settings.tolerance, polished: 0, clock };
            let ended = search.run(first, diagonal);
            let kappa = residual_duals(problem, &ended.point)?;
            let (kappa, v, graded) = graded::grade(problem, kappa, &ended.point.v, settings.tolerance)?;
            let certified = graded.certificate.rel_gap() <= settings.tolerance;
            let status = match ended.status {
                _ if certified => Status::Certified,
                Status::Certified => Status::Stalled,
                other => other,
            };
            Ok(solution(kappa, v, graded, status, search.clock))
        })
    }
}

impl Spectral {
    /// Stopped before the data were reduced: ends with what can be had at once.
    fn give_up(
        &self,
        problem: &Problem<'_>,
        start: Option<Vec<f64>>,
        mut clock: Clock<'_>,
    ) -> Result<Solution> {
        let (kappa, graded) = start::at_once(problem, start)?;
        let status = clock.report(&graded.certificate, None).unwrap_or(Status::Stopped);
        Ok(solution(kappa, None, graded, status, clock))
    }
}

fn solution(
    kappa: Vec<f64>,
    v: Option<Matrix>,
    graded: Graded,
    status: Status,
    clock: Clock<'_>,
) -> Solution {
    let (passes, trace) = (clock.passes, clock.trace);
    Solution { kappa, v, graded, status, solver: "spectral", passes, trace, reason: None }
}

/// The size of predictions of tasks on their own (root of the mean square), without solving anything.
pub(super) fn typical_prediction(problem: &Problem<'_>, interrupt: &mut Interrupt<'_>) -> Result<f64> {
    let reduced = Reduced::new(problem, problem.data().statistics(interrupt)?);
    let (v, theta) = reduced.cold_start();
    let mut sum = 0.0;
    for (j, l) in reduced.data.values.iter().enumerate() {
        sum += l * v.row(j).iter().zip(&theta).map(|(v, theta)| (v * theta).powi(2)).sum::<f64>();
    }
    Ok((sum / problem.observations().len() as f64).sqrt())
}

/// Further steps taken for a certificate that needs no V beside the duals.
const POLISH: usize = 4;

/// Where the search ended.
struct Ended {
    point: Point,
    status: Status,
}

/// The search for a V, watched by the clock.
struct Search<'a, 'c> {
    reduced: &'a Reduced<'a>,
    tolerance: f64,
    /// Steps made beyond a certified point.
    polished: usize,
    clock: Clock<'c>,
}

impl Search<'_, '_> {
    fn run(&mut self, first: Point, diagonal: Option<Vec<f64>>) -> Ended {
        match alternation::run(self, first, diagonal) {
            ControlFlow::Break(ended) => ended,
            ControlFlow::Continue(point) => newton::run(self, point),
        }
    }

    /// Certifies a V from the statistics and reports it; the relative gap, and a status if it is time to end.
    fn report(&mut self, reduced: &Reduced<'_>, v: &Matrix) -> (f64, Option<Status>) {
        let certificate = reduced.certify(v);
        (certificate.rel_gap(), self.clock.report(&certificate, None))
    }

    /// Whether to end with these weights although a few more steps might make their duals certify themselves, without a V
    /// beside them.
    fn is_final(&mut self, w: &Matrix, reduced: &Reduced<'_>, status: Status) -> bool {
        if status != Status::Certified
            || self.polished == POLISH
            || self.clock.is_over()
            || reduced.certify_induced(w).rel_gap() <= self.tolerance
        {
            return true;
        }
        self.polished += 1;
        false
    }
}

/// `gamma (Y - X W)`, one streaming pass.
fn residual_duals(problem: &Problem<'_>, point: &Point) -> Result<Vec<f64>> {
    use rayon::prelude::*;
    let (backend, threads, obs) =
        (problem.data().backend(), problem.data().threads(), problem.observations());
    let spectrum = problem.data().eigenbasis(&mut Interrupt::never())?;
    let coordinates = spectrum.coordinates(backend, &point.v, threads);
    let expansion = Expansion::Coordinates(&coordinates);
    let state = backend::state_of(backend, expansion, threads, &mut Interrupt::never())?;
    let weights = linalg::times(view(&state), view(&point.theta), threads);
    let (gamma, t) = (problem.gamma(0), obs.n_tasks());
    let mut kappa = obs.labels().to_vec();
    let rows: Vec<u32> = (0..obs.n_inputs() as u32).collect();
    kappa.par_chunks_mut(STREAM_ROWS * t).zip(rows.par_chunks(STREAM_ROWS)).for_each_init(
        || (Panel::default(), Matrix::default()),
        |(panel, scores), (kappa, rows)| {
            backend.load(rows, panel);
            backend.scores(panel, Columns::All, &weights, scores, 1);
            for (k, z) in kappa.iter_mut().zip(scores.as_slice()) {
                *k = gamma * (*k - z);
            }
        },
    );
    Ok(kappa)
}
