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
use crate::linalg;
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
/// The factor of mu where it was too small to take a step, and how often it may be raised.
const RAISE: f64 = 16.0;
const MAX_RAISES: usize = 6;
/// The least factor of mu from one level to the next, and the largest.
const SMOOTHING_STEPS: (f64, f64) = (0.25, 0.5);
/// The part of the gap that smoothing may have in the end.
const SMOOTHING_SHARE: f64 = 0.5;
/// The largest factor of mu. Between the least and this, the way is shortened where it leads astray.
const LAST_FACTOR: f64 = 0.92;
/// Newton steps after which a way is taken to lead astray.
const MOST_STEPS: usize = 15;
/// What a level of mu is solved to, in units of the gap that its smoothing leaves.
const LEVEL_SHARE: f64 = 0.2;
/// The part of the tolerance that rounding may have for a smaller gap to be worth its questions.
const ROUNDING_ROOM: f64 = 0.1;
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
    let mut run = RowsRun {
        clock: Clock::new("newton on rows", settings, observer),
        best: None,
        tolerance: settings.tolerance,
    };
    let pool = problem.data().pool();
    let ended = pool.install(|| run.descend(&mut model, start.v, settings.tolerance, kinked));
    let RowsRun { clock, best, .. } = run;
    let (questions, trace) = (model.questions(), clock.trace);
    match (ended, best) {
        (Ok(status), Some(point)) => {
            let is_reached = point.certificate.rel_gap() <= settings.tolerance;
            let status = if is_reached { Status::Certified } else { status };
            Ok(RowsSolution { point, status, questions, trace })
        }
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

/// The last smoothing that was solved, and the factor to the next one.
struct Level {
    point: RowsVPoint,
    mu: f64,
    factor: f64,
}

impl Level {
    /// Whether the way to the next smoothing may be shortened.
    fn is_long(&self) -> bool {
        self.factor.sqrt() <= LAST_FACTOR
    }

    /// Where the way to the next smoothing begins.
    fn next_point(&self, model: &mut RowsModel<'_>, stop: &mut dyn FnMut() -> bool) -> RowsVPoint {
        model.mu = self.mu;
        let v = model.with_less_smoothing(&self.point, self.factor, stop);
        model.with_balance(VPoint::at(model, v), ROUGH_BALANCE)
    }
}

/// A run with the best point so far.
struct RowsRun<'a> {
    clock: Clock<'a>,
    best: Option<RowsPointFound>,
    /// The relative error that is asked for.
    tolerance: f64,
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
        let (mut raises, mut left_zero) = (0, false);
        let mut level: Option<Level> = None;
        let (mut steps, mut least_factor) = (0, SMOOTHING_STEPS.0);
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
                let Some(found) = model.grade(&point)? else { return self.lost() };
                if let Some(status) = self.report(model, found.clone()) {
                    return Ok(status);
                }
                goal =
                    (TOLERANCE_SHARE * tolerance).max(0.1 * estimate).min(0.5 * estimate).min(WORTH_GRADING);
                let by_losses = loss_part(&found.certificate);
                if kinked && by_losses > SMOOTHING_SHARE * tolerance && estimate <= by_losses {
                    let wanted = (0.8 * SMOOTHING_SHARE * tolerance / by_losses).powf(0.6);
                    let factor = wanted.clamp(least_factor, SMOOTHING_STEPS.1.max(least_factor));
                    (steps, least_factor) = (0, least_factor.powi(2).max(SMOOTHING_STEPS.0));
                    // Labels that are met exactly leave an objective of zero, and no share of it is small.
                    if factor * model.mu < least_smoothing {
                        return Ok(Status::Stalled);
                    }
                    let last = level.insert(Level { mu: model.mu, point, factor });
                    point = last.next_point(model, &mut || self.clock.must_stop().is_some());
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
            steps += 1;
            let is_astray = steps > MOST_STEPS && level.as_ref().is_some_and(Level::is_long);
            let next = match is_astray {
                true => None,
                false => step(model, &point, &residual, accuracy, &mut stop),
            };
            model.check()?;
            match next {
                Some(next) => point = model.with_balance(next, ROUGH_BALANCE),
                None if self.best.is_some() && self.clock.must_stop().is_some() => {}
                // No step leads away from zero where Theta has no part of first order there.
                None if linalg::inner(&point.v, &point.v) == 0.0 && !left_zero => {
                    left_zero = true;
                    point = shortened(model, VPoint::at(model, point.side.v_a().clone()));
                    model.check()?;
                }
                // So little smoothing that nothing is known of a point's neighbours.
                None if kinked && raises < MAX_RAISES && self.is_far() => {
                    raises += 1;
                    model.mu *= RAISE;
                    point = model.with_balance(VPoint::at(model, point.v), ROUGH_BALANCE);
                    model.check()?;
                    goal = WORTH_GRADING;
                }
                None => {
                    if let Some(last) = level.as_mut().filter(|last| last.is_long()) {
                        last.factor = last.factor.sqrt();
                        (steps, least_factor) = (0, last.factor);
                        point = last.next_point(model, &mut || self.clock.must_stop().is_some());
                        model.check()?;
                        continue;
                    }
                    point = model.with_balance(point, BALANCE_SHARE * tolerance);
                    let Some(found) = model.grade(&point)? else { return self.lost() };
                    let status = self.report(model, found);
                    return Ok(status.unwrap_or(Status::Stalled));
                }
            }
        }
    }

    /// The end at a point whose predictions are beyond double precision: the best one before is the result.
    fn lost(&self) -> Result<Status> {
        match self.best {
            Some(_) => Ok(Status::Stalled),
            None => Err(Error::Incompatible(
                "predictions leave the range of double precision: inputs, labels or C are too large; scale the inputs \
                 or the labels, or choose a smaller C"
                    .into(),
            )),
        }
    }

    /// Whether no certificate says anything yet.
    fn is_far(&self) -> bool {
        self.best.as_ref().is_none_or(|best| best.certificate.rel_gap() > WORTH_GRADING)
    }

    /// Records a certificate and keeps the best point; a status if the run must end now.
    fn report(&mut self, model: &RowsModel<'_>, found: RowsPointFound) -> Option<Status> {
        self.clock.passes = model.questions();
        let status = self.clock.report(&found.certificate, None);
        // With the rounding of all sums the gap may be too large. A smaller gap leaves room for it, where rounding is
        // so small that it stays so with less smoothing.
        let certificate = &found.certificate;
        let status = status.filter(|status| {
            let has_room = certificate.rel_error() - certificate.rel_gap() < ROUNDING_ROOM * self.tolerance;
            *status != Status::Certified || certificate.rel_error() <= self.tolerance || !has_room
        });
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
