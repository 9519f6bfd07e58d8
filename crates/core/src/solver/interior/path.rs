//! Follows the central path, and keeps the best points.

use super::InteriorPoint;
use super::duals::BoundedDuals;
use super::step::{InteriorProblem, InteriorStep, PrimalPoint};
use crate::algebra::Host;
use crate::backend::Interrupt;
use crate::design::{Curvature, Design};
use crate::intercept::best::{TaskPredictions, best_intercept};
use crate::linalg::gram;
use crate::solver::newton_system::{Derivative, direct::Direct};
use crate::solver::{Algorithm, Incumbent, SolverOutcome, SolverRun, Status, finish, start};
use crate::{Error, Matrix, Problem, Result};
use rayon::prelude::*;

/// The first barriers, in units of the expected product of slack and multiplier: rather too strong, so that
/// nothing starts close to a bound that it must leave. Of given duals only the predictions are used: an
/// interior point method is slow from duals at their bounds for another C.
const COLD_BARRIERS: f64 = 10.0;
const WARM_BARRIERS: f64 = 1.0;
/// Steps without an improvement after which it has stalled.
const MAX_IDLE_STEPS: usize = 12;
/// If the gap between the two points is more than this factor above what barriers explain, barriers are
/// lowered slower.
const MAX_BARRIER_EXCESS: f64 = 5.0;

pub(super) struct CentralPath<'a, 'r> {
    model: InteriorProblem<'a>,
    best: Estimates,
    run: &'a mut SolverRun<'r>,
}

/// The best primal point and the best duals so far, by values that the method computes without a certificate.
/// Only the certificate proves them.
struct Estimates {
    primal: f64,
    v: Matrix,
    dual: f64,
    /// Of all entries.
    kappa: Vec<f64>,
    /// Their relative gap, and the one when a certificate was last made.
    gap: f64,
    certified: f64,
    /// The least difference of the values of a point and its duals, and mean product of slack and multiplier.
    apart: f64,
    mean: f64,
    /// Steps since anything became better.
    idle: usize,
}

impl<'a, 'r> CentralPath<'a, 'r> {
    pub(super) fn new(model: InteriorProblem<'a>, run: &'a mut SolverRun<'r>) -> Self {
        let best = Estimates {
            primal: f64::INFINITY,
            v: Matrix::default(),
            dual: f64::NEG_INFINITY,
            kappa: vec![],
            gap: f64::INFINITY,
            certified: f64::INFINITY,
            apart: f64::INFINITY,
            mean: f64::INFINITY,
            idle: 0,
        };
        CentralPath { model, best, run }
    }

    /// From a cold start or given duals, whichever is better, until the gap is certified or nothing gets
    /// better.
    pub(super) fn follow(mut self, cold: &[f64]) -> Result<SolverOutcome> {
        let InteriorProblem { design, output, threads, rho } = self.model;
        let problem = self.run.problem;
        let Some(mut variables) = BoundedDuals::new(problem, design) else {
            let why = "a loss has no quadratic conjugate".into();
            return Err(Error::Unsuitable { solver: InteriorPoint.name(), why });
        };
        // If nothing can be learnt, the solution is zero, which no interior point comes close to.
        self.begin(&variables, &vec![0.0; problem.observations().len()]);
        let (mut point, is_warm) = match self.run.given.clone() {
            None => (self.begin(&variables, cold), false),
            Some(warm) => {
                let (cold, warm) = (self.begin(&variables, cold), self.begin(&variables, &warm));
                if warm.value < cold.value { (warm, true) } else { (cold, false) }
            }
        };
        let barriers = if is_warm { WARM_BARRIERS } else { COLD_BARRIERS };
        variables.place(&point.f, barriers);
        if let Some(rho) = rho {
            let intercept = variables.balance(design, (&point.f, &point.intercept), barriers, rho);
            point = self.model.with_intercept(&variables, point, intercept);
        }
        let mut last_excess = f64::INFINITY;
        let status = loop {
            let (mut sums, mut curvatures) = variables.linearise(&point.f);
            let kappa = variables.kappa();
            let induced = design.backward(&kappa, threads);
            let intercepts = self.model.intercept_cost(&kappa);
            let dual = -sums.conj - intercepts - 0.5 * output.value(&gram(&induced, threads));
            let excess = (point.value - dual) / sums.products;
            if excess > 2.0 {
                let other = self.model.point(&variables, induced.clone(), point.intercept.clone());
                if other.value < point.value {
                    point = other;
                    (sums, curvatures) = variables.linearise(&point.f);
                }
            }
            if !self.best.note(&point, kappa, dual, variables.mean(sums.products)) {
                break Status::Stalled;
            }
            if self.best.wants_certificate(self.run.settings.tolerance) {
                let certified = self.certify()?;
                if let Some(status) = self.run.report(&certified) {
                    return Ok(certified.ended(status));
                }
            }
            if self.best.idle > MAX_IDLE_STEPS {
                break Status::Stalled;
            }
            if self.run.clock.is_over() {
                break self.run.clock.must_stop().unwrap_or(Status::PassLimit);
            }
            let offset = point.v.minus(&induced);
            let curvature = Curvature::new(design, curvatures.clone(), rho, threads);
            let derivative = Derivative::new(output, (&point.v, &point.gram, &point.theta), Host { threads });
            let Some(direct) = Direct::new(design, &curvature, &derivative) else { break Status::Stalled };
            self.run.clock.passes += 1;
            if let Some(status) = self.run.clock.must_stop() {
                break status;
            }
            let step = InteriorStep {
                model: self.model,
                point: &point,
                offset: &offset,
                curvatures: &curvatures,
                centring: curvature.centring(),
                derivative: &derivative,
                direct: &direct,
                products: sums.products,
                allowance: self.allowance(&variables, &point, sums.products),
                least: match excess {
                    excess if excess > MAX_BARRIER_EXCESS && excess > 0.5 * last_excess => 1.0,
                    excess if excess > MAX_BARRIER_EXCESS => 0.3,
                    _ => 0.0,
                },
            };
            last_excess = excess;
            match step.take(&mut variables, &mut self.run.clock.passes) {
                Some(next) => point = next,
                None => break Status::Stalled,
            }
        };
        Ok(self.certify()?.ended(status))
    }

    /// The primal point of given duals.
    fn begin(&mut self, variables: &BoundedDuals, first: &[f64]) -> PrimalPoint {
        let InteriorProblem { design, output, threads, rho } = self.model;
        let kappa = design.gather(first);
        let mut point =
            self.model.point(variables, design.backward(&kappa, threads), vec![0.0; design.n_tasks()]);
        if let Some(rho) = rho {
            let best = best_intercepts(self.run.problem, design, &point.f, rho);
            point = self.model.with_intercept(variables, point, best);
        }
        let intercepts = self.model.intercept_cost(&kappa);
        let dual = -variables.conj_of(&kappa) - intercepts - 0.5 * output.value(&point.gram);
        self.best.note(&point, kappa, dual, f64::INFINITY);
        point
    }

    /// How much the primal value may rise in a step: the barriers may need more than their own part of the
    /// gap, but never more than the tolerance. Without bounds there are no barriers.
    fn allowance(&self, variables: &BoundedDuals, point: &PrimalPoint, products: f64) -> f64 {
        let size = point.value.abs();
        let gap = if variables.are_bounded() { 0.0 } else { (point.value - self.best.dual).min(size) };
        products.max(0.1 * self.run.settings.tolerance * size).max(0.03 * gap)
    }

    fn certify(&mut self) -> Result<Incumbent> {
        self.best.certified = self.best.gap;
        let problem = self.run.problem;
        let kappa = self.model.design.scatter(&self.best.kappa, problem.observations().len());
        // Duals are sums of variables: rounding may have put them outside their bounds.
        let kappa = start::warm(problem, kappa);
        let basis = problem.data().eigenbasis(problem.is_centred(), &mut Interrupt::never())?;
        finish::certify_in(problem, kappa, (basis, &self.best.v), self.run.settings.tolerance)
    }
}

/// The best intercepts for predictions of all entries.
fn best_intercepts(problem: &Problem<'_>, design: &Design, f: &[f64], rho: &[f64]) -> Vec<f64> {
    let empty = |task: usize| TaskPredictions::empty(problem.loss(task));
    let mut tasks: Vec<TaskPredictions<'_>> = (0..design.n_tasks()).map(empty).collect();
    let (gammas, obs) = (design.per_entry(|o| problem.gamma(o)), problem.observations());
    for (entry, &gamma) in gammas.iter().enumerate().filter(|(_, gamma)| **gamma > 0.0) {
        let o = design.observation(entry);
        tasks[obs.task(o)].push(obs.label(o), f[entry] + obs.offset(o), gamma);
    }
    tasks.into_par_iter().zip(rho).map(|(task, rho)| best_intercept(task, *rho)).collect()
}

impl Estimates {
    /// Keeps the better points; false if values are not finite.
    fn note(&mut self, point: &PrimalPoint, kappa: Vec<f64>, dual: f64, mean: f64) -> bool {
        let apart = point.value - dual;
        let improved = point.value < self.primal - 1e-3 * self.primal.abs() || apart < 0.97 * self.apart;
        self.apart = self.apart.min(apart);
        if point.value < self.primal || self.v.rows() == 0 {
            (self.primal, self.v) = (point.value, point.v.clone());
        }
        if dual > self.dual || self.kappa.is_empty() {
            (self.dual, self.kappa) = (dual, kappa);
        }
        let size = self.primal.abs().max(self.dual.abs());
        let gap = if self.primal == self.dual { 0.0 } else { (self.primal - self.dual) / size };
        if improved || gap < 0.99 * self.gap || mean < 0.97 * self.mean {
            self.idle = 0;
        } else {
            self.idle += 1;
        }
        // Infinity divided by infinity means nothing.
        self.gap = self.gap.min(if gap.is_nan() { f64::INFINITY } else { gap });
        self.mean = self.mean.min(mean);
        point.value.is_finite() && !mean.is_nan()
    }

    /// Whether the estimated gap is small enough, or a tenth of the last one certified.
    fn wants_certificate(&self, tolerance: f64) -> bool {
        self.gap < 0.1 * self.certified || (self.gap <= tolerance && self.gap < 0.5 * self.certified)
    }
}
