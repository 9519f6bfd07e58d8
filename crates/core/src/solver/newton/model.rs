//! Losses of all entries at given weights, smooth by nature or smoothed around a centre.

use super::generic::{DualModel, NewtonModel};
use crate::algebra::Host;
use crate::backend::{OrthonormalBasis, Spectrum};
use crate::design::{Curvature, Design};
use crate::intercept::best::{TaskPredictions, nearly_best_intercept};
use crate::linalg::axpy;
use crate::loss::{Evaluated, LossEntries};
use crate::regularizer::SumRegularizer;
use crate::solver::newton_system::linear::{Linear, System};
use crate::solver::newton_system::{self, Derivative, Smooth};
use crate::{Matrix, Problem, Result};
use rayon::prelude::*;
use std::borrow::Cow;
use std::sync::Mutex;

/// The problem with smooth losses; those with kinks are replaced by their proximal approximation.
pub(in crate::solver) struct Smoothed<'a> {
    problem: &'a Problem<'a>,
    spectrum: &'a Spectrum,
    design: &'a Design,
    output: &'a SumRegularizer,
    gamma: Vec<f64>,
    labels: Vec<f64>,
    offsets: Option<Vec<f64>>,
    /// The cost of the intercept of each task, `rho b^2 / 2`, if tasks have them.
    rho: Option<&'a [f64]>,
    /// What was evaluated last: where the next search for intercepts starts.
    last: Mutex<LastEvaluated>,
    columns: TaskColumns,
    /// Weight of the proximal term; 0 where all losses are smooth.
    mu: f64,
    /// Its centre, kappa / gamma.
    centre: Vec<f64>,
}

/// Predictions of all entries, without intercepts, and the best intercepts for them; the duals and curvatures of the
/// losses there.
#[derive(Debug, Clone)]
pub(in crate::solver) struct Answer {
    predictions: Vec<f64>,
    intercept: Vec<f64>,
    kappa: Vec<f64>,
    curvature: Vec<f64>,
}

type VPoint = newton_system::VPoint<Answer>;

/// Entries handled at a time.
const CHUNK: usize = 8192;

impl<'a> Smoothed<'a> {
    pub(in crate::solver) fn new(
        problem: &'a Problem<'a>,
        (spectrum, design): (&'a Spectrum, &'a Design),
    ) -> Result<Self> {
        let (obs, gamma) = (problem.observations(), design.per_entry(|o| problem.gamma(o)));
        let (labels, offsets) = (design.gather(obs.labels()), obs.offsets().map(|o| design.gather(o)));
        let (output, rho) = (problem.entrywise()?, problem.intercept_costs());
        let last = Mutex::new(LastEvaluated::default());
        let (mu, centre) = (0.0, vec![]);
        let mut columns = TaskColumns::default();
        if rho.is_some() {
            (columns.labels, columns.gamma) =
                (columns.of(design, &labels).into_owned(), columns.of(design, &gamma).into_owned());
        }
        Ok(Smoothed {
            problem,
            spectrum,
            design,
            output,
            gamma,
            labels,
            offsets,
            rho,
            last,
            columns,
            mu,
            centre,
        })
    }

    /// Where to begin with these duals: their V, and the duals as entries.
    pub(in crate::solver) fn first(&self, kappa: &[f64]) -> (Matrix, Vec<f64>) {
        let entries = self.design.gather(kappa);
        (self.design.backward(&entries, self.algebra().threads), entries)
    }

    /// The derivative of the losses at predictions `t z + b` in t, from the right.
    fn slope_at(&self, z: &[f64], b: &[f64], t: f64) -> f64 {
        let slope = |e: usize| {
            let (left, right) = self.problem.loss_at(self.design.observation(e)).slope(t * z[e] + b[e]);
            self.gamma[e] * z[e] * if z[e] > 0.0 { right } else { left }
        };
        let counted = |e: &usize| self.gamma[*e] > 0.0;
        let chunks: Vec<usize> = (0..z.len()).step_by(CHUNK).collect();
        let sums: Vec<f64> = chunks
            .par_iter()
            .map(|&start| (start..z.len().min(start + CHUNK)).filter(counted).map(slope).sum())
            .collect();
        sums.iter().sum()
    }
}

impl NewtonModel for Smoothed<'_> {
    type Curvature<'c>
        = Curvature<'c>
    where
        Self: 'c;

    fn residual(&self, point: &VPoint) -> Matrix {
        let mut residual = self.design.backward(&point.side.kappa, self.algebra().threads);
        residual.as_mut_slice().iter_mut().zip(point.v.as_slice()).for_each(|(x, v)| *x = v - *x);
        residual
    }

    fn curvature<'c>(&'c self, point: &'c VPoint) -> Curvature<'c> {
        Curvature::new(self.design, point.side.curvature.clone(), self.rho, self.algebra().threads)
    }

    fn direction(
        &self,
        linear: &mut Linear,
        (curvature, derivative): (&Curvature<'_>, &Derivative<'_>),
        residual: &Matrix,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<Matrix> {
        linear.step(&System { design: self.design, curvature, derivative, residual }, tolerance, stop)
    }
}

impl DualModel for Smoothed<'_> {
    type Duals = Vec<f64>;

    fn problem(&self) -> &Problem<'_> {
        self.problem
    }

    fn duals(&self, point: &VPoint) -> Vec<f64> {
        point.side.kappa.clone()
    }

    fn in_order(&self, duals: &Vec<f64>) -> Result<Vec<f64>> {
        Ok(self.design.scatter(duals, self.problem.observations().len()))
    }

    fn coordinates(&self, v: &Matrix) -> Result<Matrix> {
        let data = self.problem.data();
        Ok(data.pool().install(|| self.spectrum.coordinates(data.backend(), v, data.threads())))
    }

    fn centre_at(&mut self, kappa: &Vec<f64>) {
        let share = |(k, g): (&f64, &f64)| if *g > 0.0 { k / g } else { 0.0 };
        self.centre = kappa.iter().zip(&self.gamma).map(share).collect();
        if self.rho.is_some() {
            self.columns.centre = self.columns.of(self.design, &self.centre).into_owned();
        }
    }

    fn centre(&self) -> Result<Vec<f64>> {
        Ok(self.centre.clone())
    }

    fn set_mu(&mut self, mu: f64) {
        self.mu = mu;
    }

    fn mu(&self) -> f64 {
        self.mu
    }

    fn loss_slope<'p>(&'p self, point: &'p VPoint) -> Box<dyn Fn(f64) -> f64 + 'p> {
        let mut intercepts = vec![0.0; self.design.len()];
        self.design.add_to_tasks(&point.side.intercept, &mut intercepts);
        Box::new(move |t| self.slope_at(&point.side.predictions, &intercepts, t))
    }
}

impl Smooth for Smoothed<'_> {
    type Side = Answer;
    type Algebra = Host;

    fn output(&self) -> &SumRegularizer {
        self.output
    }

    fn algebra(&self) -> Host {
        Host { threads: self.problem.data().threads() }
    }

    fn losses(&self, w: &Matrix) -> (f64, Answer) {
        let predictions = self.design.forward(w, self.algebra().threads);
        let mut z = predictions.clone();
        self.offsets.iter().for_each(|offsets| axpy(&mut z, 1.0, offsets));
        let Some(rho) = self.rho else {
            let Evaluated { value, kappa, curvature } = self.evaluate(&z);
            return (value, Answer { predictions, intercept: vec![0.0; w.cols()], kappa, curvature });
        };
        let mut last = self.last.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let guess = last.guess(self.design, &predictions, rho);
        let (Evaluated { value, kappa, curvature }, intercept) = self.with_best_intercept(z, rho, guess);
        last.keep(&predictions, &curvature, &intercept);
        (value, Answer { predictions, intercept, kappa, curvature })
    }
}

/// An intercept is found once the duals of the task add up to this share of their sizes.
pub(super) const BALANCED: f64 = 1e-11;

impl Smoothed<'_> {
    fn evaluate(&self, z: &[f64]) -> Evaluated {
        let (design, problem, t) = (self.design, self.problem, self.design.n_tasks());
        let loss_of = |entry: usize| problem.loss(design.place(entry).1.min(t - 1));
        let entries = LossEntries {
            labels: &self.labels,
            z,
            gamma: &self.gamma,
            centre: &self.centre,
            mu: self.mu,
            only_loss: problem.only_loss(),
            loss_of: &loss_of,
        };
        entries.evaluate()
    }

    /// The losses at the best intercepts for predictions z, from a first guess.
    fn with_best_intercept(&self, z: Vec<f64>, rho: &[f64], guess: Vec<f64>) -> (Evaluated, Vec<f64>) {
        let at = |b: &[f64]| {
            let mut shifted = z.clone();
            self.design.add_to_tasks(b, &mut shifted);
            let mut losses = self.evaluate(&shifted);
            losses.value += 0.5 * rho.iter().zip(b).map(|(rho, b)| rho * b * b).sum::<f64>();
            losses
        };
        let first = at(&guess);
        let sums = self.design.task_sums(&first.kappa);
        let sizes = self.design.task_sums(&first.kappa.iter().map(|k| k.abs()).collect::<Vec<f64>>());
        let found = |task: usize| {
            let rest = rho[task] * guess[task];
            (sums[task] - rest).abs() <= BALANCED * (sizes[task] + rest.abs())
        };
        if (0..guess.len()).all(found) {
            return (first, guess);
        }
        let by_task = self.columns.of(self.design, &z);
        let n = z.len() / self.design.n_tasks().max(1);
        let best = |(task, &guess): (usize, &f64)| {
            if found(task) {
                return guess;
            }
            let own = self.design.task_rows().map_or(task * n..(task + 1) * n, |ranges| ranges[task].clone());
            let centre = if self.columns.centre.is_empty() { &[] } else { &self.columns.centre[own.clone()] };
            let losses = TaskPredictions {
                loss: self.problem.loss(task),
                y: self.columns.labels[own.clone()].into(),
                z: by_task[own.clone()].into(),
                w: self.columns.gamma[own].into(),
                centre: centre.into(),
                mu: self.mu,
            };
            nearly_best_intercept(losses, rho[task], guess, BALANCED)
        };
        let b: Vec<f64> = guess.par_iter().enumerate().map(best).collect();
        (at(&b), b)
    }
}

/// Predictions, curvatures and intercepts.
#[derive(Default)]
struct LastEvaluated {
    predictions: Vec<f64>,
    curvature: Vec<f64>,
    intercept: Vec<f64>,
}

impl LastEvaluated {
    /// The best intercepts for other predictions, to first order.
    fn guess(&self, design: &Design, predictions: &[f64], rho: &[f64]) -> Vec<f64> {
        if self.intercept.is_empty() {
            return vec![0.0; design.n_tasks()];
        }
        let change = predictions.iter().zip(&self.predictions).zip(&self.curvature);
        let weighted: Vec<f64> = change.map(|((new, old), d)| d * (new - old)).collect();
        let (sums, curvatures) = (design.task_sums(&weighted), design.task_sums(&self.curvature));
        let guess = |(((b, sum), curvature), rho): (((&f64, f64), f64), &f64)| {
            let step = sum / (curvature + rho);
            if step.is_finite() { b - step } else { *b }
        };
        self.intercept.iter().zip(sums).zip(curvatures).zip(rho).map(guess).collect()
    }

    fn keep(&mut self, predictions: &[f64], curvature: &[f64], intercept: &[f64]) {
        self.predictions.clear();
        self.predictions.extend_from_slice(predictions);
        self.curvature.clear();
        self.curvature.extend_from_slice(curvature);
        self.intercept.clear();
        self.intercept.extend_from_slice(intercept);
    }
}

/// What the search for intercepts needs of all entries, task after task; empty without intercepts.
#[derive(Default)]
struct TaskColumns {
    labels: Vec<f64>,
    gamma: Vec<f64>,
    centre: Vec<f64>,
}

/// Tasks copied at a time: as many as have their values in the same few cache lines.
const NEIGHBOURS: usize = 8;

impl TaskColumns {
    /// Values of all entries, task after task.
    fn of<'v>(&self, design: &Design, values: &'v [f64]) -> Cow<'v, [f64]> {
        let t = design.n_tasks();
        if design.task_rows().is_some() || t <= 1 {
            return values.into();
        }
        let n = values.len() / t;
        let mut out = vec![0.0; values.len()];
        out.par_chunks_mut((NEIGHBOURS * n).max(1)).enumerate().for_each(|(group, out)| {
            for (row, of_row) in values.chunks(t).enumerate() {
                let own = of_row[group * NEIGHBOURS..].iter();
                out.iter_mut().skip(row).step_by(n.max(1)).zip(own).for_each(|(out, value)| *out = *value);
            }
        });
        out.into()
    }
}
