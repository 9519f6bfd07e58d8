//! Newton's method where the rows are elsewhere and answer questions: see [`crate::rows`].
//!
//! The steps are those of `newton`. Three things differ. Intercepts are unknowns of the same Newton system, so that
//! most points cost one question (`intercepts.rs`). Second derivatives are sums over rows, X'DX of each task, where
//! these are small; then a whole step costs one question, since they come with the losses. Else the system is solved
//! by iteration, one question for each product, with a preconditioner from some rows that are here (`curvature.rs`).
//!
//! Losses with kinks are softened (`loss/softened.rs`), with smaller and smaller mu. Duals that answer to the softened
//! loss are feasible for the loss itself, and only rows within about mu of a kink add to the gap. So the duals are a
//! function of the point, and nobody has to keep them.

mod curvature;
mod intercepts;
mod model;
mod search;

use super::newton::{NewtonModel, mismatch, shortened};
use super::newton_system::{NewtonStep, Smooth, VPoint};
use super::{CheckedSettings, Clock, Status, TracePoint, badness};
use crate::rows::Rows;
use crate::{Certificate, Error, Matrix, Observer, Problem, Result};
use model::{RowsModel, RowsVPoint};

/// Where a solver of rows that are elsewhere begins, in the problem's own units.
pub(crate) struct RowsStart {
    pub(crate) v: Matrix,
    pub(crate) intercept: Vec<f64>,
    /// The mean loss of an observation there, about.
    pub(crate) mean_loss: f64,
    /// The cost of the intercept of each task, `rho b^2 / 2` in the caller's units, if tasks have them.
    pub(crate) rho: Option<Vec<f64>>,
}

/// Where it ended: a point and its certificate from the rows, in the problem's own units.
#[derive(Debug, Clone)]
pub(crate) struct RowsPointFound {
    pub(crate) v: Matrix,
    pub(crate) intercept: Vec<f64>,
    pub(crate) smoothing: f64,
    pub(crate) theta: Matrix,
    pub(crate) gram: Matrix,
    /// In the caller's units.
    pub(crate) certificate: Certificate,
    /// Numbers of rows and of labels that the certificate is about.
    pub(crate) counts: [f64; 2],
}

/// A point with why the solver ended there.
pub(crate) struct RowsSolution {
    pub(crate) point: RowsPointFound,
    pub(crate) status: Status,
    pub(crate) questions: usize,
    pub(crate) trace: Vec<TracePoint>,
}

/// The first mu, in units of the mean loss.
const FIRST_SMOOTHING: f64 = 0.5;
/// The least factor of mu from one level to the next, and the largest.
const SMOOTHING_STEPS: (f64, f64) = (0.25, 0.5);
/// The part of the gap that smoothing may have in the end.
const SMOOTHING_SHARE: f64 = 0.5;
/// What a level of mu is solved to, in units of the gap that its smoothing leaves.
const LEVEL_SHARE: f64 = 0.2;
/// Before the relative gap is estimated to be this, a certificate would say little.
const WORTH_GRADING: f64 = 0.1;
/// What a smooth problem is solved to, in units of the tolerance.
const TOLERANCE_SHARE: f64 = 0.5;
/// How far duals may be from adding up to what intercepts demand on the way, as a share of their sizes: the rest is
/// part of the next Newton step.
const ROUGH_BALANCE: f64 = 0.3;
/// How far duals may be from adding up before they are certified, in units of the tolerance.
const BALANCE_SHARE: f64 = 0.05;

/// Solves a problem whose rows are elsewhere. `problem` is that of some rows with the weight of all.
pub(crate) fn solve(
    problem: &Problem<'_>,
    start: RowsStart,
    rows: &dyn Rows,
    settings: &CheckedSettings,
    observer: &mut dyn Observer,
) -> Result<RowsSolution> {
    let kinked = (0..problem.observations().n_tasks()).any(|task| !problem.loss(task).is_smooth());
    let mut model = RowsModel::new(problem, &start, rows)?;
    model.mu = if kinked { FIRST_SMOOTHING * start.mean_loss } else { 0.0 };
    let mut run = RowsRun { clock: Clock::new("newton on rows", settings, observer), best: None };
    let pool = problem.data().pool();
    let ended = pool.install(|| run.descend(&mut model, start.v, settings.tolerance, kinked));
    let RowsRun { clock, best } = run;
    let (questions, trace) = (model.questions(), clock.trace);
    match (ended, best) {
        (Ok(status), Some(point)) => Ok(RowsSolution { point, status, questions, trace }),
        // Stopped while rows were asked: what was certified last is still true.
        (Err(Error::Interrupted), Some(point)) => {
            Ok(RowsSolution { point, status: Status::Stopped, questions, trace })
        }
        (Ok(_), None) => Err(Error::Interrupted),
        (Err(error), _) => Err(error),
    }
}

/// A point after a Newton step; `None` if psi does not fall.
fn step(
    model: &RowsModel<'_>,
    point: &RowsVPoint,
    residual: &Matrix,
    accuracy: f64,
    stop: &mut dyn FnMut() -> bool,
) -> Option<RowsVPoint> {
    let curvature = model.curvature(point);
    let derivative = point.derivative(model.output(), model.algebra());
    let mut dv = curvature.solve(&derivative, residual, accuracy, stop)?;
    dv.scale(-1.0);
    let step = NewtonStep::down(&derivative, residual, dv)?;
    search::search(model, point, &step)
}

/// A run with the best point so far.
struct RowsRun<'a> {
    clock: Clock<'a>,
    best: Option<RowsPointFound>,
}

impl RowsRun<'_> {
    /// Newton steps from a first V, until there is a reason to end.
    fn descend(
        &mut self,
        model: &mut RowsModel<'_>,
        v: Matrix,
        tolerance: f64,
        kinked: bool,
    ) -> Result<Status> {
        let mut point = shortened(model, VPoint::at(model, model.turned(&v)));
        model.check()?;
        if kinked {
            // A model of some rows can fit them much better than it fits all.
            model.mu = FIRST_SMOOTHING * model.mean_loss(&point);
            point = VPoint::at(model, point.v);
        }
        let least_smoothing = f64::EPSILON * model.mu;
        point = model.with_balance(point, ROUGH_BALANCE);
        model.check()?;
        let mut goal = f64::INFINITY;
        loop {
            if self.best.is_some() && self.clock.is_over() {
                return Ok(self.clock.must_stop().unwrap_or(Status::PassLimit));
            }
            let residual = model.residual(&point);
            let estimate = mismatch(model, &point, &residual) / point.psi.abs();
            if estimate <= goal {
                point = model.with_balance(point, BALANCE_SHARE * tolerance.max(estimate.min(1.0)));
                let found = model.grade(&point)?;
                if let Some(status) = self.report(model, found.clone()) {
                    return Ok(status);
                }
                goal =
                    (TOLERANCE_SHARE * tolerance).max(0.1 * estimate).min(0.5 * estimate).min(WORTH_GRADING);
                let by_losses = loss_part(&found.certificate);
                if kinked && by_losses > SMOOTHING_SHARE * tolerance && estimate <= by_losses {
                    let wanted = (0.8 * SMOOTHING_SHARE * tolerance / by_losses).powf(0.6);
                    let factor = wanted.clamp(SMOOTHING_STEPS.0, SMOOTHING_STEPS.1);
                    // Labels that are met exactly leave an objective of zero, and no share of it is small.
                    if factor * model.mu < least_smoothing {
                        return Ok(Status::Stalled);
                    }
                    let v =
                        model.with_less_smoothing(&point, factor, &mut || self.clock.must_stop().is_some());
                    point = model.with_balance(VPoint::at(model, v), ROUGH_BALANCE);
                    model.check()?;
                    // The gap of a level falls faster than mu.
                    goal = LEVEL_SHARE * tolerance.max(by_losses * factor.powf(1.5));
                } else if kinked {
                    goal = (LEVEL_SHARE * tolerance.max(by_losses)).min(0.5 * estimate).min(WORTH_GRADING);
                }
                continue;
            }
            self.clock.passes = model.questions();
            let wanted = 0.3 * (tolerance / estimate).sqrt();
            let accuracy = estimate.sqrt().max(wanted).clamp(1e-4, 0.1);
            let mut stop = || self.clock.must_stop().is_some() || model.has_failed();
            let next = step(model, &point, &residual, accuracy, &mut stop);
            model.check()?;
            match next {
                Some(next) => point = model.with_balance(next, ROUGH_BALANCE),
                None if self.best.is_some() && self.clock.must_stop().is_some() => {}
                None => {
                    point = model.with_balance(point, BALANCE_SHARE * tolerance);
                    let found = model.grade(&point)?;
                    let status = self.report(model, found);
                    return Ok(status.unwrap_or(Status::Stalled));
                }
            }
        }
    }

    /// Records a certificate and keeps the best point; a status if the run must end now.
    fn report(&mut self, model: &RowsModel<'_>, found: RowsPointFound) -> Option<Status> {
        self.clock.passes = model.questions();
        let status = self.clock.report(&found.certificate, None);
        let better = |best: &RowsPointFound| badness(&found.certificate) < badness(&best.certificate);
        if self.best.as_ref().is_none_or(better) {
            self.best = Some(found);
        }
        status
    }
}

/// The part of the gap that comes from losses, as a share of the objective: that of smoothing, where duals answer to
/// smooth losses.
fn loss_part(certificate: &Certificate) -> f64 {
    let share = certificate.task_gaps.iter().sum::<f64>() / certificate.primal;
    if share.is_finite() { share } else { 0.0 }
}
