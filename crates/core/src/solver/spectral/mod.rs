//! Squared loss on shared inputs, from X'X and X'Y alone, in a basis where X'X is diagonal, or a band.
//!
//! Everything the data say is in X'X, `b = X'Y` (features x tasks, rotated) and `|Y|^2`. With
//! `W = V phi'(V'V)` the problem is a smooth one in V, of the size of b, and optimal where `V = gamma (b - X'X W)`.
//! [`alternation`] is quick where Theta is well conditioned (k = 1 only), and a band is enough for it; [`newton`] does the rest, in the
//! eigenbasis.

mod alternation;
mod newton;
mod reduced;
mod statistics;

use super::{CheckedSettings, Clock, Solution, Solver, Start, Status, finish, needs_entries, start};
use crate::backend::{self, Columns, Expansion, Interrupt, OrthonormalBasis, Panel, STREAM_ROWS};
use crate::certificate::{Graded, certify_normal};
use crate::linalg::{self, view};
use crate::{Error, Matrix, Observer, Problem, Result};
use alternation::FirstTheta;
use reduced::{Reduced, VPoint};
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
        let mut start = start.kappa(problem)?;
        let mut clock = Clock::new(self.name(), settings, observer);
        if let Some(kappa) = &start {
            // Refitting from a solution does no work.
            let graded = certify_normal(problem, kappa, None, &mut Interrupt::never())?;
            if let Some(status) = clock.report(&graded.certificate, None) {
                return Ok(solution(kappa.clone(), None, graded, status, clock));
            }
        }
        if band_will_do(problem) {
            let banded = clock.interrupting(|interrupt| problem.data().banded_statistics(interrupt));
            let banded = match banded {
                Err(Error::Interrupted) => return give_up(problem, start, clock),
                other => other?,
            };
            if let Some(statistics) = banded {
                let reduced = Reduced::banded(problem, statistics)?;
                let in_band = || by_alternation(problem, &reduced, settings, start.as_deref(), &mut clock);
                match problem.data().pool().install(in_band)? {
                    ControlFlow::Break((kappa, v, graded, status)) => {
                        return Ok(solution(kappa, v, graded, status, clock));
                    }
                    ControlFlow::Continue(reached) => start = reached.or(start),
                }
            }
        }
        in_eigenbasis(problem, settings, start, clock)
    }
}

/// As [`Spectral`], for those who have the eigenbasis anyhow.
pub(super) fn solve_in_eigenbasis(
    problem: &Problem<'_>,
    settings: &CheckedSettings,
    observer: &mut dyn Observer,
) -> Result<Solution> {
    in_eigenbasis(problem, settings, None, Clock::new(Spectral.name(), settings, observer))
}

/// A band is had for a fifth of what eigenvectors cost, (features)^3; equations with it cost more, tasks x features in each round. By far, since
/// eigenvectors serve many fits.
const BAND_PAYS: usize = 4096;

/// Whether to try a band first. A matter of the problem alone, not of what is there already: the same fit gives the same bits.
fn band_will_do(problem: &Problem<'_>) -> bool {
    let (backend, obs) = (problem.data().backend(), problem.observations());
    let size = backend.dim().min(backend.n_inputs());
    problem.entrywise().is_ok_and(|output| alternation::gain(output).is_some())
        && size * size >= BAND_PAYS * obs.n_tasks()
}

/// What [`finish::certify`] makes of a point, and the status.
type Finished = (Vec<f64>, Option<Matrix>, Graded, Status);

/// Alternation alone. The duals it reached where it gives up, or where its certificate does not stand up to the data.
fn by_alternation(
    problem: &Problem<'_>,
    reduced: &Reduced<'_>,
    settings: &CheckedSettings,
    start: Option<&[f64]>,
    clock: &mut Clock<'_>,
) -> Result<ControlFlow<Finished, Option<Vec<f64>>>> {
    let Some(gain) = alternation::gain(reduced.output) else { return Ok(ControlFlow::Continue(None)) };
    let mut search = SpectralSearch { reduced, tolerance: settings.tolerance, polished: 0, clock };
    let flow = match start {
        Some(kappa) => {
            let first = reduced.point(reduced.rotated_state(problem, kappa)?);
            alternation::run(&mut search, FirstTheta::OfPoint(&first))
        }
        None => alternation::run(&mut search, FirstTheta::Diagonal(&alternation::alone(reduced, gain))),
    };
    Ok(match flow {
        ControlFlow::Break(ended) => match finish(problem, reduced, ended, settings)? {
            (kappa, _, _, Status::Stalled) => ControlFlow::Continue(Some(kappa)),
            finished => ControlFlow::Break(finished),
        },
        ControlFlow::Continue(Some(point)) => {
            ControlFlow::Continue(Some(residual_duals(problem, reduced.basis, &point)?))
        }
        ControlFlow::Continue(None) => ControlFlow::Continue(None),
    })
}

/// Alternation where it helps, then Newton's method.
fn in_eigenbasis(
    problem: &Problem<'_>,
    settings: &CheckedSettings,
    start: Option<Vec<f64>>,
    mut clock: Clock<'_>,
) -> Result<Solution> {
    let statistics = match clock.interrupting(|interrupt| problem.data().statistics(interrupt)) {
        Err(Error::Interrupted) => return give_up(problem, start, clock),
        other => other?,
    };
    problem.data().pool().install(|| {
        let reduced = Reduced::new(problem, statistics)?;
        let mut search = SpectralSearch {
            reduced: &reduced,
            tolerance: settings.tolerance,
            polished: 0,
            clock: &mut clock,
        };
        let ended = match &start {
            Some(kappa) => search.warm(reduced.point(reduced.rotated_state(problem, kappa)?)),
            None => search.cold(),
        };
        let (kappa, v, graded, status) = finish(problem, &reduced, ended, settings)?;
        Ok(solution(kappa, v, graded, status, clock))
    })
}

/// The duals of the weights found, graded from the data.
fn finish(
    problem: &Problem<'_>,
    reduced: &Reduced<'_>,
    ended: Ended,
    settings: &CheckedSettings,
) -> Result<Finished> {
    let kappa = residual_duals(problem, reduced.basis, &ended.point)?;
    let point = (reduced.basis, &ended.point.v);
    let (kappa, v, graded) = finish::certify(problem, kappa, point, settings.tolerance)?;
    let certified = graded.certificate.rel_gap() <= settings.tolerance;
    let status = match ended.status {
        _ if certified => Status::Certified,
        Status::Certified => Status::Stalled,
        other => other,
    };
    Ok((kappa, v, graded, status))
}

/// Stopped before the data were reduced: ends with what can be had at once.
fn give_up(problem: &Problem<'_>, start: Option<Vec<f64>>, mut clock: Clock<'_>) -> Result<Solution> {
    let (kappa, graded) = start::at_once(problem, start)?;
    let status = clock.report(&graded.certificate, None).unwrap_or(Status::Stopped);
    Ok(solution(kappa, None, graded, status, clock))
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
    let reduced = Reduced::new(problem, problem.data().statistics(interrupt)?)?;
    let (v, theta) = reduced.cold_start();
    let mut sum = 0.0;
    for (j, l) in reduced.values().iter().enumerate() {
        sum += l * v.row(j).iter().zip(&theta).map(|(v, theta)| (v * theta).powi(2)).sum::<f64>();
    }
    Ok((sum / problem.observations().len() as f64).sqrt())
}

/// Further steps taken for a certificate that needs no V beside the duals.
const POLISH: usize = 4;

/// Where the search ended.
struct Ended {
    point: VPoint,
    status: Status,
}

/// The search for a V, watched by the clock.
struct SpectralSearch<'a, 'c> {
    reduced: &'a Reduced<'a>,
    tolerance: f64,
    /// Steps made beyond a certified point.
    polished: usize,
    clock: &'a mut Clock<'c>,
}

impl SpectralSearch<'_, '_> {
    fn warm(&mut self, first: VPoint) -> Ended {
        match alternation::run(self, FirstTheta::OfPoint(&first)) {
            ControlFlow::Break(ended) => ended,
            ControlFlow::Continue(point) => newton::run(self, point.unwrap_or(first)),
        }
    }

    fn cold(&mut self) -> Ended {
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
fn residual_duals(problem: &Problem<'_>, basis: &dyn OrthonormalBasis, point: &VPoint) -> Result<Vec<f64>> {
    use rayon::prelude::*;
    let (backend, threads, obs) =
        (problem.data().backend(), problem.data().threads(), problem.observations());
    let coordinates = basis.coordinates(backend, &point.v, threads);
    let expansion = Expansion::Coordinates(&coordinates);
    let state = backend::state_of(backend, expansion, threads, &mut Interrupt::never())?;
    let weights = linalg::times(view(&state), view(&point.theta), threads);
    let (gamma, t) = (problem.gamma(0), obs.n_tasks());
    let mut kappa = obs.targets().into_owned();
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
