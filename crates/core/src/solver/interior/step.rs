//! One step: direction and length.

use super::corrector::{Corrected, Corrector};
use super::duals::BoundedDuals;
use crate::Matrix;
use crate::design::{Centring, Design};
use crate::linalg::{axpy, gram, inner, times, view};
use crate::regularizer::SumRegularizer;
use crate::solver::newton_system::{Derivative, direct::Direct};

/// Attempts to lengthen the steps by a better centred direction: each takes two substitutions and two passes,
/// which is little beside the factorisation.
const MAX_CENTRINGS: usize = 3;
/// Share of the distance to the nearest bound that a step may take.
const SHARE_TO_BOUND: f64 = 0.99;
/// Duals are reconciled with predictions once numbers cancel by more than this.
const CANCELLATION_LIMIT: f64 = 1e5;

/// The parts of the problem that do not change during the iteration.
#[derive(Clone, Copy)]
pub(super) struct InteriorProblem<'a> {
    pub(super) design: &'a Design,
    pub(super) output: &'a SumRegularizer,
    /// The cost of the intercept of each task, `rho b^2 / 2`, if tasks have them.
    pub(super) rho: Option<&'a [f64]>,
    pub(super) threads: usize,
}

/// A primal point, and what follows from it.
pub(super) struct PrimalPoint {
    pub(super) v: Matrix,
    pub(super) gram: Matrix,
    pub(super) theta: Matrix,
    w: Matrix,
    pub(super) intercept: Vec<f64>,
    /// Predictions of all entries, intercepts included.
    pub(super) f: Vec<f64>,
    /// Primal value.
    pub(super) value: f64,
}

impl InteriorProblem<'_> {
    pub(super) fn point(&self, variables: &BoundedDuals, v: Matrix, intercept: Vec<f64>) -> PrimalPoint {
        let gram = gram(&v, self.threads);
        let theta = self.output.theta(&gram);
        let w = times(view(&v), view(&theta), self.threads);
        let mut f = self.design.forward(&w, self.threads);
        self.design.add_to_tasks(&intercept, &mut f);
        let squares = |rho: &[f64]| rho.iter().zip(&intercept).map(|(rho, b)| rho * b * b).sum::<f64>();
        let cost = 0.5 * self.rho.map_or(0.0, squares);
        let value = variables.losses(&f) + cost + inner(&theta, &gram) - 0.5 * self.output.value(&gram);
        let value = if value.is_nan() { f64::INFINITY } else { value };
        PrimalPoint { v, gram, theta, w, intercept, f, value }
    }

    /// The same point with another intercept.
    pub(super) fn with_intercept(
        &self,
        variables: &BoundedDuals,
        point: PrimalPoint,
        b: Vec<f64>,
    ) -> PrimalPoint {
        self.point(variables, point.v, b)
    }

    /// The part of the dual value that intercepts add, for the duals of all entries.
    pub(super) fn intercept_cost(&self, kappa: &[f64]) -> f64 {
        let Some(rho) = self.rho else { return 0.0 };
        let sums = self.design.task_sums(kappa);
        sums.iter().zip(rho).filter(|(_, rho)| **rho > 0.0).map(|(sum, rho)| 0.5 * sum * (sum / rho)).sum()
    }
}

/// A step from a point.
///
/// Unknown are V and the variables x with their multipliers. V is not tied to the duals: it is to become
/// `X'kappa`, and each step takes a part of the way. That way the start can be well inside all bounds with
/// predictions of a moderate size, and V keeps its digits where it is a small difference of large duals. With
/// `D = sum gamma / stiffness` of an entry and `pull` the force on its variables at fixed predictions,
/// Newton's equations are `(I + S B) dV = X'(D pull) - (V - X'kappa)`.
pub(super) struct InteriorStep<'a> {
    pub(super) model: InteriorProblem<'a>,
    pub(super) point: &'a PrimalPoint,
    /// `V - X'kappa`.
    pub(super) offset: &'a Matrix,
    pub(super) curvatures: &'a [f64],
    pub(super) centring: Option<&'a Centring>,
    pub(super) derivative: &'a Derivative<'a>,
    pub(super) direct: &'a Direct<'a>,
    /// Sum of the products of slacks and multipliers.
    pub(super) products: f64,
    /// How much the primal value may rise.
    pub(super) allowance: f64,
    /// The least that is to be kept of the products.
    pub(super) least: f64,
}

struct Direction {
    dv: Matrix,
    dw: Matrix,
    /// Change of the intercepts.
    db: Vec<f64>,
    /// The longest steps of duals and of multipliers.
    longest: (f64, f64),
}

impl Direction {
    /// The longest steps, at most one.
    fn lengths(&self) -> (f64, f64) {
        (self.longest.0.min(1.0), self.longest.1.min(1.0))
    }
}

impl InteriorStep<'_> {
    /// Moves the variables; the next point, or `None` if no step is possible. Counts factorisations.
    pub(super) fn take(
        &self,
        variables: &mut BoundedDuals,
        factorisations: &mut usize,
    ) -> Option<PrimalPoint> {
        let Direction { dv, dw, db, longest } = self.direction(variables);
        if dv.as_slice().iter().chain(dw.as_slice()).any(|x| !x.is_finite()) {
            return None;
        }
        let (primal, dual) = ((SHARE_TO_BOUND * longest.0).min(1.0), (SHARE_TO_BOUND * longest.1).min(1.0));
        // Predictions belong to the multipliers: where the regulariser hardly counts, the two are all of the
        // primal problem.
        let mut t = dual;
        let next = loop {
            let corrected = self.end(&dv, &dw, t);
            *factorisations += corrected.factorisations;
            let mut intercept = self.point.intercept.clone();
            axpy(&mut intercept, t, &db);
            let next = self.model.point(variables, corrected.v, intercept);
            // Next to a kink the value may rise a lot although the step goes where it should.
            if next.value <= self.point.value + 0.5 * self.allowance || corrected.off <= self.allowance {
                break next;
            }
            t *= 0.5;
            if t < 1e-8 {
                return None;
            }
        };
        variables.advance(if t < dual { (primal.min(t), t) } else { (primal, dual) });
        let Some(rho) = self.model.rho.filter(|rho| rho.iter().any(|rho| *rho > 0.0)) else {
            return Some(next);
        };
        // The sums of duals make penalised intercepts; steps of duals and of multipliers have different lengths.
        let sums = self.model.design.task_sums(&variables.kappa());
        let of_sum = |((sum, rho), b): ((&f64, &f64), &f64)| if *rho > 0.0 { sum / rho } else { *b };
        let intercept = sums.iter().zip(rho).zip(&next.intercept).map(of_sum).collect();
        Some(self.model.with_intercept(variables, next, intercept))
    }

    /// Mehrotra's predictor and corrector, then Gondzio's centrings.
    fn direction(&self, variables: &mut BoundedDuals) -> Direction {
        let pull = variables.take_aim(0.0, 0.0);
        let predicted = self.towards(variables, pull);
        if !variables.are_bounded() {
            return predicted;
        }
        let mean = variables.mean(self.products);
        let (primal, dual) = predicted.lengths();
        let left = (variables.mean_after((primal, dual)) / mean).powi(3);
        let tau = mean * left.max(self.least).clamp(1e-4, 1.0);
        let pull = variables.take_aim(tau, primal * dual);
        let mut best = self.towards(variables, pull);
        for _ in 0..MAX_CENTRINGS {
            let (primal, dual) = best.lengths();
            if primal + dual > 1.9 {
                break;
            }
            let hoped = ((1.5 * primal + 0.1).min(1.0), (1.5 * dual + 0.1).min(1.0));
            let pull = variables.centre(hoped, tau);
            let next = self.towards(variables, pull);
            let lengths = next.lengths();
            let gain = lengths.0 + lengths.1 - primal - dual;
            let enough = 0.05 * (hoped.0 + hoped.1 - primal - dual);
            if gain < enough || lengths.0 < 0.9 * primal || lengths.1 < 0.9 * dual {
                variables.revert();
                break;
            }
            best = next;
        }
        best
    }

    /// The direction for what the duals of all entries would do if predictions did not change.
    fn towards(&self, variables: &mut BoundedDuals, mut pull: Vec<f64>) -> Direction {
        let InteriorProblem { design, threads, .. } = self.model;
        let mut weighted = pull.clone();
        let mean = |(pull, d): (&mut f64, &f64)| *pull = if *d > 0.0 { *pull / d } else { 0.0 };
        pull.iter_mut().zip(self.curvatures).for_each(mean);
        if let Some(centring) = self.centring {
            // M pull = D (pull - share mean(pull)).
            let mut means = vec![0.0; pull.len()];
            design.add_to_tasks(&centring.means(design, self.curvatures, &pull), &mut means);
            let less = |((x, d), mean): ((&mut f64, &f64), &f64)| *x -= d * mean;
            weighted.iter_mut().zip(self.curvatures).zip(&means).for_each(less);
        }
        let w = design.backward(&weighted, threads);
        let pulled = self.direct.solve_pull(design, &w, &pull, self.offset);
        let dw = self.derivative.apply(&pulled.x);
        let mut df = design.forward(&dw, threads);
        let mut db = vec![0.0; design.n_tasks()];
        if let Some(centring) = self.centring {
            let left: Vec<f64> = pull.iter().zip(&df).map(|(pull, df)| pull - df).collect();
            db = centring.means(design, self.curvatures, &left);
            design.add_to_tasks(&db, &mut df);
        }
        if pulled.cancelled > CANCELLATION_LIMIT {
            self.direct.reconcile(design, self.curvatures, &pull, &pulled, &mut df);
        }
        let longest = variables.follow(&df);
        Direction { dv: pulled.x, dw, db, longest }
    }

    /// V at the end of t steps.
    fn end(&self, dv: &Matrix, dw: &Matrix, t: f64) -> Corrected {
        let InteriorProblem { output, threads, .. } = self.model;
        let (mut v, mut w) = (self.point.v.clone(), self.point.w.clone());
        v.add_scaled(t, dv);
        w.add_scaled(t, dw);
        let corrector = Corrector { output, direct: self.direct, v: &v, w: &w, threads };
        let back = || self.direct.represent(dv).iter().map(|y| -t * y).collect();
        corrector.correct(back, 0.01 * self.allowance)
    }
}
