//! Proximal point steps around Newton's method, for losses with kinks on problems too large to factorise.
//!
//! The conjugate of a loss with kinks is not strongly convex. A round adds `mu (a - a0)^2 / 2` to it, where
//! the centre a0 are the current duals. This makes the loss smooth, and Newton's method solves the smooth
//! problem to moderate accuracy. Its duals are the centre of the next round. The centres converge to the
//! solution for every mu. With a small mu there are few rounds of many Newton steps each; mu adapts to the
//! number of these steps.

use super::newton::{self, Descent, DeviceModel, DualModel, NewtonModel, Smoothed, mismatch, scaled_best};
use super::newton_system::{MatOf, PointOf, VPoint};
use super::{Algorithm, Clock, Incumbent, SolverOutcome, SolverRun, Status, needs_entries};
use crate::backend::Interrupt;
use crate::{Problem, Result};

/// Proximal point steps around Newton's method.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Proximal;

/// Newton steps of a round at most.
const MAX_ROUND_STEPS: usize = 20;
/// Accuracy of a round, as a share of the current gap.
const ROUND_GAP_SHARE: f64 = 0.3;
const MIN_RELATIVE_MU: f64 = 1e-4;

impl Algorithm for Proximal {
    fn name(&self) -> &'static str {
        "proximal"
    }

    fn suits(&self, problem: &Problem<'_>) -> std::result::Result<(), String> {
        needs_entries(problem)
    }

    fn memory(&self, problem: &Problem<'_>) -> u64 {
        newton::memory(problem)
    }

    fn iterate(&self, run: &mut SolverRun<'_>) -> Result<SolverOutcome> {
        let problem = run.problem;
        if let Some(mut model) = DeviceModel::of(problem)? {
            let (best, ended) = newton::begin_on_device(run)?;
            if let (Some(best), Some(status)) = (&best, ended) {
                return Ok(best.clone().ended(status));
            }
            return problem.data().pool().install(|| {
                let first = model.first(run)?;
                let best = match best {
                    Some(best) => best,
                    None => {
                        Incumbent::pair(problem, model.in_order(&first.1)?, model.coordinates(&first.0)?)?
                    }
                };
                rounds(run, model, first, best)
            });
        }
        let (best, ended) = newton::begin(run)?;
        if let Some(status) = ended {
            return Ok(best.ended(status));
        }
        problem.data().pool().install(|| {
            let design = problem.data().design(problem.is_centred(), &mut Interrupt::never())?;
            let model = Smoothed::new(problem, design)?;
            let first = model.first(&best.kappa);
            rounds(run, model, first, best)
        })
    }
}

/// Proximal point steps from a first V and its duals. `best` is the best point so far.
fn rounds<M: DualModel>(
    run: &mut SolverRun<'_>,
    mut model: M,
    (mut v, mut kappa): (MatOf<M>, M::Duals),
    mut best: Incumbent,
) -> Result<SolverOutcome> {
    let problem = run.problem;
    let mut descent = Descent::default();
    model.centre_at(&kappa);
    let softest = softest_conjugate(problem);
    model.set_mu(1.0 / scale(&model.centre()?));
    loop {
        model.centre_at(&kappa);
        let wanted = ROUND_GAP_SHARE * best.certificate().gap / problem.unit();
        let (point, inner) = round(&model, v, wanted, &mut descent, &mut run.clock);
        kappa = model.duals(&point);
        let duals = model.in_order(&kappa)?;
        best.offer(problem, duals, model.coordinates(&scaled_best(&model, &point))?)?;
        if let Some(status) = run.report(&best) {
            return Ok(best.ended(status));
        }
        if inner == 0 {
            return Ok(best.ended(Status::Stalled));
        }
        // Where the losses themselves are smooth enough, this becomes Newton's method.
        let least = (MIN_RELATIVE_MU / scale(&model.centre()?)).max(0.05 * softest);
        model.set_mu(match inner {
            ..=2 => (model.mu() / 4.0).max(least),
            3..=5 => (model.mu() / 2.0).max(least),
            6..=10 => model.mu(),
            _ => 2.0 * model.mu(),
        });
        v = point.v;
    }
}

/// The least curvature of all conjugates: zero if any loss has a kink.
fn softest_conjugate(problem: &Problem<'_>) -> f64 {
    let tasks = 0..problem.observations().n_tasks();
    tasks.map(|task| problem.loss(task).conj_modulus()).fold(f64::INFINITY, f64::min)
}

/// Typical size of the duals that are not zero, in units of their bound.
fn scale(shares: &[f64]) -> f64 {
    let (mut sum, mut count) = (0.0, 0usize);
    for a in shares.iter().filter(|a| **a != 0.0) {
        sum += a * a;
        count += 1;
    }
    let mean = if count == 0 { 1.0 } else { sum / count as f64 };
    mean.sqrt().clamp(1e-100, 1.0)
}

/// Makes Newton steps until the smoothed problem is solved accurately enough; returns the point and their
/// number.
fn round<M: NewtonModel>(
    model: &M,
    v: MatOf<M>,
    wanted: f64,
    descent: &mut Descent,
    clock: &mut Clock<'_>,
) -> (PointOf<M>, usize) {
    let (mut point, mut steps) = (VPoint::at(model, v), 0);
    while steps < MAX_ROUND_STEPS && !clock.is_over() {
        let residual = model.residual(&point);
        if steps > 0 && mismatch(model, &point, &residual) <= wanted {
            break;
        }
        clock.passes += 1;
        let mut stop = || clock.must_stop().is_some();
        match descent.step(model, &point, &residual, 0.1, &mut stop) {
            Some(next) => point = next,
            None => break,
        }
        steps += 1;
    }
    (point, steps)
}
