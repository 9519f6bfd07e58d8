//! The problem as a function of V, by questions about rows.

use super::RowsPointFound;
use super::RowsStart;
use super::curvature::{RowsCurvature, SampleShape, SystemWay};
use super::intercepts::InterceptPulls;
use crate::algebra::{Algebra, Host};
use crate::certificate::RowsGrade;
use crate::linalg::{self, view};
use crate::regularizer::SumRegularizer;
use crate::rows::{
    CurveSums, GradeAt, GradeSums, LookSums, Question, Rows, RowsPoint, TaskSquares, balancing_factors,
};
use crate::solver::newton::NewtonModel;
use crate::solver::newton_system::linear::Linear;
use crate::solver::newton_system::{self, Derivative, Smooth};
use crate::{Error, Matrix, Problem, Result};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The problem of rows that are elsewhere, in its own units. Coordinates of V are turned where that helps, see
/// [`SystemWay`].
pub(super) struct RowsModel<'a> {
    /// Of some rows, with the weight of all.
    pub(super) problem: &'a Problem<'a>,
    output: &'a SumRegularizer,
    rows: &'a dyn Rows,
    /// The cost of the intercept of each task, `rho b^2 / 2`, if tasks have them.
    pub(super) rho: Option<Vec<f64>>,
    /// The weight of each task, about.
    pub(super) gammas: Vec<f64>,
    way: SystemWay,
    sample: Option<SampleShape>,
    pub(super) mu: f64,
    /// Where a step begins, from which the intercepts of its trials are guessed.
    pub(super) base: Mutex<Base>,
    failed: Mutex<Option<Error>>,
    questions: AtomicUsize,
}

/// What a look found, in the problem's own units and turned coordinates, and where.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    pub(super) w: Matrix,
    pub(super) intercept: Vec<f64>,
    pub(super) positive: Vec<f64>,
    pub(super) negative: Vec<f64>,
    pub(super) curvature: Vec<f64>,
    v_a: Matrix,
    /// X'D.
    pub(super) moment: Matrix,
    /// Sums of how fast duals fall with mu, and X' of it.
    pub(super) falls: Vec<f64>,
    pub(super) fall: Matrix,
    /// X'DX of each task; none where products are asked for instead.
    pub(super) blocks: Vec<Matrix>,
    value: f64,
    /// Where it was, as a question says it.
    pub(super) point: Option<RowsPoint>,
}

impl Seen {
    /// `X'kappa`.
    pub(super) fn v_a(&self) -> &Matrix {
        &self.v_a
    }
}

pub(super) type RowsVPoint = newton_system::VPoint<Seen>;

impl<'a> RowsModel<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, start: &RowsStart, rows: &'a dyn Rows) -> Result<Self> {
        let (obs, unit) = (problem.observations(), problem.unit());
        let way = SystemWay::of(problem, rows.reads_again())?;
        let sample = SampleShape::new(problem, &way);
        let rho = start.rho.as_ref().map(|rho| rho.iter().map(|rho| rho / unit).collect());
        let mut gammas = vec![0.0; obs.n_tasks()];
        (0..obs.len()).for_each(|o| gammas[obs.task(o)] += problem.gamma(o));
        // Some tasks may have no rows here.
        let mean = gammas.iter().sum::<f64>() / gammas.len() as f64;
        gammas.iter_mut().filter(|gamma| **gamma == 0.0).for_each(|gamma| *gamma = mean);
        let base = Base { seen: Seen { intercept: start.intercept.clone(), ..Seen::default() }, reach: None };
        Ok(RowsModel {
            problem,
            output: problem.entrywise()?,
            rows,
            rho,
            gammas,
            way,
            sample,
            mu: 0.0,
            base: Mutex::new(base),
            failed: Mutex::new(None),
            questions: AtomicUsize::new(0),
        })
    }

    pub(super) fn questions(&self) -> usize {
        self.questions.load(Ordering::Relaxed)
    }

    pub(super) fn has_failed(&self) -> bool {
        locked(&self.failed).is_some()
    }

    /// `Err` if a question was not answered.
    pub(super) fn check(&self) -> Result<()> {
        locked(&self.failed).take().map_or(Ok(()), Err)
    }

    /// Features as coordinates of V.
    pub(super) fn turned(&self, m: &Matrix) -> Matrix {
        match &self.way {
            SystemWay::Blocks => m.clone(),
            SystemWay::Products { basis } => {
                linalg::times(view(basis).transpose(), view(m), self.algebra().threads)
            }
        }
    }

    /// Coordinates of V as features.
    fn turned_back(&self, m: &Matrix) -> Matrix {
        match &self.way {
            SystemWay::Blocks => m.clone(),
            SystemWay::Products { basis } => linalg::times(view(basis), view(m), self.algebra().threads),
        }
    }

    /// Weights W as questions have them.
    pub(super) fn asked_weights(&self, w: &Matrix) -> Matrix {
        let backend = self.problem.data().backend();
        let mut weights = self.turned_back(w);
        weights.scale(backend.coordinate_unit() / backend.unit());
        weights
    }

    /// An answer `X'a` in the problem's own units.
    fn own_state(&self, state: &Matrix) -> Matrix {
        let mut own = self.turned(state);
        own.scale(1.0 / self.problem.coordinate_scale());
        own
    }

    pub(super) fn ask(&self, question: &Question) -> Option<Vec<f64>> {
        if self.has_failed() {
            return None;
        }
        self.questions.fetch_add(1, Ordering::Relaxed);
        match self.rows.ask(question) {
            Ok(numbers) => Some(numbers),
            Err(error) => {
                *locked(&self.failed) = Some(error);
                None
            }
        }
    }

    /// The losses at weights W and intercepts; `None` if there is no answer, or predictions are beyond double
    /// precision.
    pub(super) fn look(&self, w: &Matrix, intercept: Vec<f64>) -> Option<Seen> {
        let weights = self.asked_weights(w);
        let finite = |values: &[f64]| values.iter().all(|x| x.is_finite());
        if !finite(weights.as_slice()) || !finite(&intercept) {
            return None;
        }
        let wanted = matches!(self.way, SystemWay::Blocks);
        let shape = (weights.rows(), weights.cols());
        let point = RowsPoint { weights, intercept: intercept.clone(), smoothing: self.mu };
        let blocks = if wanted { TaskSquares::Wanted } else { TaskSquares::Unwanted };
        let numbers = self.ask(&Question::Look(point.clone(), blocks))?;
        let sums = self.keep_error(LookSums::from_numbers(&numbers, shape, self.mu > 0.0, wanted))?;
        let (unit, coordinate) = (self.problem.unit(), self.problem.data().backend().coordinate_unit());
        let own = |values: Vec<f64>| values.into_iter().map(|x| x / unit).collect();
        let mut blocks = sums.blocks;
        blocks.iter_mut().for_each(|block| block.scale(1.0 / unit / coordinate / coordinate));
        Some(Seen {
            w: w.clone(),
            intercept,
            positive: own(sums.positive),
            negative: own(sums.negative),
            curvature: own(sums.curvature),
            v_a: self.own_state(&sums.v_a),
            moment: self.own_state(&sums.moment),
            falls: own(sums.falls),
            fall: self.own_state(&sums.fall),
            blocks,
            value: sums.value / unit,
            point: Some(point),
        })
    }

    fn keep_error<T>(&self, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                *locked(&self.failed) = Some(error);
                None
            }
        }
    }

    /// X'(D o X U) and the sums of D o X U at a point that was seen.
    pub(super) fn curve(&self, seen: &Seen, u: &Matrix) -> Option<(Matrix, Vec<f64>)> {
        let direction = self.asked_weights(u);
        let shape = (direction.rows(), direction.cols());
        let question = Question::Curve(seen.point.clone()?, direction);
        let numbers = self.ask(&question)?;
        let CurveSums { product, sums } = self.keep_error(CurveSums::from_numbers(&numbers, shape))?;
        let unit = self.problem.unit();
        Some((self.own_state(&product), sums.into_iter().map(|x| x / unit).collect()))
    }

    /// The certificate of a point and the duals that answer to it, from all rows; `None` if its predictions are beyond
    /// double precision.
    pub(super) fn grade(&self, point: &RowsVPoint) -> Result<Option<RowsPointFound>> {
        self.check()?;
        let (seen, problem) = (&point.side, self.problem);
        let Some(asked) = seen.point.clone() else { return Ok(None) };
        let factors = balancing_factors(&seen.positive, &seen.negative, self.rho.as_deref());
        let shape = (asked.weights.rows(), asked.weights.cols());
        let (backend, unit) = (problem.data().backend(), problem.unit());
        let own = self.turned_back(&point.v);
        let mut v = own.clone();
        v.scale(problem.coordinate_scale());
        let rho: Option<Vec<f64>> = self.rho.as_ref().map(|rho| rho.iter().map(|rho| rho * unit).collect());
        let grade = RowsGrade {
            spec: problem.spec(),
            units: (backend.unit(), backend.coordinate_unit()),
            v: &v,
            intercept: &seen.intercept,
            rho: rho.as_deref(),
        };
        let numbers = self.ask(&Question::Grade(asked, GradeAt { factors, errors: grade.errors()? }));
        self.check()?;
        let sums = GradeSums::from_numbers(&numbers.unwrap_or_default(), shape)?;
        let certificate = grade.certificate(&sums, problem.observations().task_names())?;
        let (theta, gram) = (point.theta.clone(), point.gram.clone());
        let (intercept, smoothing, counts) = (seen.intercept.clone(), self.mu, sums.counts);
        Ok(Some(RowsPointFound { v: own, intercept, smoothing, theta, gram, certificate, counts }))
    }

    /// A point with the best intercepts: the duals of each task add up to what they demand, to this share of their
    /// sizes.
    pub(super) fn with_balance(&self, point: RowsVPoint, share: f64) -> RowsVPoint {
        let pulls = InterceptPulls::of(self, &point.side);
        if pulls.is_balanced(share) {
            return point;
        }
        let guess = pulls.first_steps();
        match self.settled(&point.w, guess, share) {
            Some(side) => {
                *locked(&self.base) = Base { seen: side.clone(), reach: None };
                let psi = point.psi - self.value_of(&point.side) + self.value_of(&side);
                newton_system::VPoint { psi, side, ..point }
            }
            None => point,
        }
    }

    /// The mean loss of an observation of weight one.
    pub(super) fn mean_loss(&self, point: &RowsVPoint) -> f64 {
        let mean = point.side.value / self.gammas.iter().sum::<f64>();
        if mean > 0.0 && mean.is_finite() { mean } else { 1.0 }
    }

    /// Losses and the cost of intercepts.
    fn value_of(&self, seen: &Seen) -> f64 {
        seen.value + self.intercept_cost(&seen.intercept)
    }

    pub(super) fn intercept_cost(&self, intercept: &[f64]) -> f64 {
        let cost = |rho: &Vec<f64>| -> f64 {
            0.5 * rho.iter().zip(intercept).map(|(rho, b)| rho * b * b).sum::<f64>()
        };
        self.rho.as_ref().map_or(0.0, cost)
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Where a step begins.
pub(super) struct Base {
    seen: Seen,
    /// How far W went in its first trial, which is the whole step.
    reach: Option<f64>,
}

impl Base {
    /// Intercepts for weights W. They move as far as W does: by all of their own Newton step after a whole step.
    pub(super) fn guess(&mut self, model: &RowsModel<'_>, w: &Matrix) -> Vec<f64> {
        if self.seen.point.is_none() {
            return self.seen.intercept.clone();
        }
        let change = w.minus(&self.seen.w);
        let far = linalg::inner(&change, &change).sqrt();
        let share = (far / *self.reach.get_or_insert(far)).min(1.0);
        InterceptPulls::of(model, &self.seen).guess(&change, if share.is_finite() { share } else { 0.0 })
    }
}

impl Smooth for RowsModel<'_> {
    type Side = Seen;
    type Algebra = Host;

    fn output(&self) -> &SumRegularizer {
        self.output
    }

    fn algebra(&self) -> Host {
        Host { threads: self.problem.data().threads() }
    }

    fn losses(&self, w: &Matrix) -> (f64, Seen) {
        let guess = locked(&self.base).guess(self, w);
        match self.look(w, guess) {
            Some(seen) => {
                let mut base = locked(&self.base);
                if base.seen.point.is_none() {
                    base.seen = seen.clone();
                }
                (self.value_of(&seen), seen)
            }
            None => (f64::INFINITY, Seen::default()),
        }
    }
}

impl<'a> NewtonModel for RowsModel<'a> {
    type Curvature<'c>
        = RowsCurvature<'c, 'a>
    where
        Self: 'c;

    /// `V - X'kappa`, where kappa are the duals after the Newton step of the intercepts, to first order.
    fn residual(&self, point: &RowsVPoint) -> Matrix {
        let mut residual = point.v.minus(&point.side.v_a);
        let steps = InterceptPulls::of(self, &point.side).changes();
        for j in 0..residual.rows() {
            let moment = point.side.moment.row(j).iter().zip(&steps);
            residual.row_mut(j).iter_mut().zip(moment).for_each(|(r, (m, step))| *r += m * step);
        }
        residual
    }

    fn curvature<'c>(&'c self, point: &'c RowsVPoint) -> RowsCurvature<'c, 'a> {
        *locked(&self.base) = Base { seen: point.side.clone(), reach: None };
        RowsCurvature::new(self, &point.side)
    }

    fn direction(
        &self,
        _: &mut Linear,
        (curvature, derivative): (&RowsCurvature<'_, 'a>, &Derivative<'_>),
        residual: &Matrix,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Matrix> {
        let mut dv = curvature.solve(derivative, residual, tolerance, stop)?;
        derivative.algebra.scale(&mut dv, -1.0);
        Some(dv)
    }
}

impl RowsModel<'_> {
    pub(super) fn sample(&self) -> Option<&SampleShape> {
        self.sample.as_ref()
    }
}
