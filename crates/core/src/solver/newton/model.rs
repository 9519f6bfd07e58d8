//! Losses of all entries at given weights, smooth by nature or smoothed around a centre.

use crate::design::Design;
use crate::linalg::{axpy, gram, inner};
use crate::loss::DerivativeBlock;
use crate::regularizer::{SumRegularizer, not_negative};
use crate::solver::newton_system::{self, Smooth};
use crate::{Matrix, Problem, Result};
use rayon::prelude::*;
use std::sync::Mutex;

/// The problem with smooth losses; those with kinks are replaced by their proximal approximation.
pub(in crate::solver) struct Smoothed<'a> {
    pub(in crate::solver) problem: &'a Problem<'a>,
    pub(in crate::solver) design: &'a Design,
    output: &'a SumRegularizer,
    gamma: Vec<f64>,
    labels: Vec<f64>,
    offsets: Option<Vec<f64>>,
    /// The cost of intercepts, `rho b^2 / 2`, if tasks have them.
    pub(in crate::solver) rho: Option<f64>,
    /// The intercepts found last: where the next search starts.
    last_intercept: Mutex<Vec<f64>>,
    /// Weight of the proximal term; 0 where all losses are smooth.
    pub(in crate::solver) mu: f64,
    /// Its centre, kappa / gamma.
    pub(in crate::solver) centre: Vec<f64>,
}

/// Predictions of all entries, without intercepts, and the best intercepts for them; the duals and curvatures of the
/// losses there.
#[derive(Debug, Clone)]
pub(in crate::solver) struct Answer {
    predictions: Vec<f64>,
    intercept: Vec<f64>,
    pub(in crate::solver) kappa: Vec<f64>,
    pub(in crate::solver) curvature: Vec<f64>,
}

pub(in crate::solver) type VPoint = newton_system::VPoint<Answer>;

/// Entries handled at a time.
const CHUNK: usize = 8192;

impl<'a> Smoothed<'a> {
    pub(in crate::solver) fn new(problem: &'a Problem<'a>, design: &'a Design) -> Result<Self> {
        let (obs, gamma) = (problem.observations(), design.per_entry(|o| problem.gamma(o)));
        let (labels, offsets) = (design.gather(obs.labels()), obs.offsets().map(|o| design.gather(o)));
        let (output, rho) = (problem.entrywise()?, problem.intercept_weight());
        let last_intercept = Mutex::new(vec![0.0; design.n_tasks()]);
        let centre = vec![];
        Ok(Smoothed { problem, design, output, gamma, labels, offsets, rho, last_intercept, mu: 0.0, centre })
    }

    /// Centres the proximal term at these duals.
    pub(in crate::solver) fn centre_at(&mut self, kappa: &[f64]) {
        let share = |(k, g): (&f64, &f64)| if *g > 0.0 { k / g } else { 0.0 };
        self.centre = kappa.iter().zip(&self.gamma).map(share).collect();
    }

    /// `V - X'kappa`, zero at the solution.
    pub(in crate::solver) fn residual(&self, point: &VPoint) -> Matrix {
        let mut residual = self.design.backward(&point.side.kappa, self.threads());
        residual.as_mut_slice().iter_mut().zip(point.v.as_slice()).for_each(|(x, v)| *x = v - *x);
        residual
    }

    /// Distance of psi from the bound of its own duals: an estimate, not a certificate.
    pub(in crate::solver) fn mismatch(&self, point: &VPoint, residual: &Matrix) -> f64 {
        let induced = point.v.minus(residual);
        let (threads, output) = (self.threads(), self.output());
        let distance = not_negative(inner(&point.theta, &gram(residual, threads)));
        0.5 * distance + 0.5 * output.fenchel_young(&point.gram, &point.theta, &gram(&induced, threads))
    }
}

impl Smoothed<'_> {
    /// The multiple of V with the least objective, losses with their kinks. Where losses weigh much, margins
    /// missed by 1e-8 make most of the objective, and slightly larger predictions miss none. For homogeneous
    /// regularisers only, where `V -> s V` means `F -> t F`, `t = s^(2n-1)`, and t^(2n/(2n-1)) times the
    /// regularisation, for `phi(a z) = a^n phi(z)`.
    pub(in crate::solver) fn scaled_best(&self, point: &VPoint) -> Matrix {
        let Some(degree) = self.output().degree() else { return point.v.clone() };
        let n = f64::from(degree);
        let power = 2.0 * n / (2.0 * n - 1.0);
        let price = inner(&point.theta, &point.gram) - 0.5 * self.output().value(&point.gram);
        let mut intercepts = vec![0.0; self.design.len()];
        self.design.add_to_tasks(&point.side.intercept, &mut intercepts);
        let slope = |t: f64| self.loss_slope(&point.side.predictions, &intercepts, t);
        let rises = |t: f64| slope(t) + price * power * t.powf(power - 1.0) > 0.0;
        let (mut low, mut high) = (-MOST_SCALED, MOST_SCALED);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if rises(1.0 + middle) { high = middle } else { low = middle }
        }
        let factor = (1.0 + high).powf(1.0 / (2.0 * n - 1.0));
        let mut v = point.v.clone();
        v.scale(factor);
        v
    }

    /// The derivative of the losses at predictions `t z + b` in t, from the right.
    fn loss_slope(&self, z: &[f64], b: &[f64], t: f64) -> f64 {
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

/// How far from one the best multiple is looked for.
const MOST_SCALED: f64 = 1e-2;

impl Smooth for Smoothed<'_> {
    type Side = Answer;

    fn output(&self) -> &SumRegularizer {
        self.output
    }

    fn threads(&self) -> usize {
        self.problem.data().threads()
    }

    fn losses(&self, w: &Matrix) -> (f64, Answer) {
        let predictions = self.design.forward(w, self.threads());
        let mut z = predictions.clone();
        self.offsets.iter().for_each(|offsets| axpy(&mut z, 1.0, offsets));
        let Some(rho) = self.rho else {
            let Evaluated { value, kappa, curvature } = self.evaluate(&z);
            return (value, Answer { predictions, intercept: vec![0.0; w.cols()], kappa, curvature });
        };
        let mut last = self.last_intercept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (Evaluated { value, kappa, curvature }, intercept) =
            self.with_best_intercept(z, rho, last.clone());
        last.clone_from(&intercept);
        (value, Answer { predictions, intercept, kappa, curvature })
    }
}

/// Losses with their derivatives at given predictions.
struct Evaluated {
    value: f64,
    kappa: Vec<f64>,
    curvature: Vec<f64>,
}

/// An intercept is found once the duals of the task add up to this share of their sizes.
const BALANCED: f64 = 1e-11;
const MAX_INTERCEPT_ROUNDS: usize = 80;

impl Smoothed<'_> {
    fn evaluate(&self, z: &[f64]) -> Evaluated {
        let (mut kappa, mut curvature) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let (labels, t) = (&self.labels, self.design.n_tasks());
        let fill = |task: usize, start: usize, kappa: &mut [f64], curvature: &mut [f64]| {
            let range = start..start + kappa.len();
            let centre = if self.centre.is_empty() { &[] } else { &self.centre[range.clone()] };
            let (y, z, w) = (&labels[range.clone()], &z[range.clone()], &self.gamma[range]);
            let mut block = DerivativeBlock { y, z, w, centre, mu: self.mu, kappa, curvature, value: 0.0 };
            self.problem.loss(task).derivatives(&mut block);
            block.value
        };
        let one_loss = self.problem.only_loss().is_some();
        // Fixed chunks, added up in order: same bits whatever the number of threads.
        let values: Vec<f64> = kappa
            .par_chunks_mut(CHUNK)
            .zip(curvature.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(chunk, (kappa, curvature))| {
                let start = chunk * CHUNK;
                if one_loss {
                    return fill(0, start, kappa, curvature);
                }
                let mut sum = 0.0;
                for (j, (kappa, curvature)) in kappa.chunks_mut(1).zip(curvature.chunks_mut(1)).enumerate() {
                    sum += fill(self.design.place(start + j).1.min(t - 1), start + j, kappa, curvature);
                }
                sum
            })
            .collect();
        Evaluated { value: values.iter().sum(), kappa, curvature }
    }

    /// The losses at the best intercepts for predictions z, from a first guess `b`: Newton's method for all tasks at
    /// once, each inside its own bracket.
    fn with_best_intercept(&self, z: Vec<f64>, rho: f64, mut b: Vec<f64>) -> (Evaluated, Vec<f64>) {
        let mut brackets = vec![InterceptBracket::default(); b.len()];
        let weights = self.design.task_sums(&self.gamma);
        for round in 1.. {
            let mut shifted = z.clone();
            self.design.add_to_tasks(&b, &mut shifted);
            let mut losses = self.evaluate(&shifted);
            let sums = self.design.task_sums(&losses.kappa);
            let curvatures = self.design.task_sums(&losses.curvature);
            let sizes: Vec<f64> = losses.kappa.iter().map(|k| k.abs()).collect();
            let sizes = self.design.task_sums(&sizes);
            let mut found = true;
            for task in 0..b.len() {
                let pull = sums[task] - rho * b[task];
                // Slopes of losses of classes are at most about one; they may all vanish far away.
                let bound = if self.problem.loss(task).is_classification() { weights[task] } else { 0.0 };
                if pull.abs() > BALANCED * (sizes[task] + rho * b[task].abs()).max(bound)
                    && round < MAX_INTERCEPT_ROUNDS
                {
                    let next = brackets[task].next(b[task], pull, curvatures[task] + rho);
                    found &= next == b[task];
                    b[task] = next;
                }
            }
            if found {
                losses.value += 0.5 * rho * b.iter().map(|b| b * b).sum::<f64>();
                return (losses, b);
            }
        }
        unreachable!("the last round finds all")
    }
}

/// What is known of the best intercept of a task.
#[derive(Debug, Clone)]
struct InterceptBracket {
    low: f64,
    high: f64,
    reach: f64,
}

impl Default for InterceptBracket {
    fn default() -> Self {
        InterceptBracket { low: f64::NEG_INFINITY, high: f64::INFINITY, reach: 0.0 }
    }
}

impl InterceptBracket {
    /// What to try after b, where the slope of the losses is `-pull`.
    fn next(&mut self, b: f64, pull: f64, curvature: f64) -> f64 {
        *(if pull > 0.0 { &mut self.low } else { &mut self.high }) = b;
        let newton = b + pull / curvature;
        if newton > self.low && newton < self.high && newton.is_finite() {
            return newton;
        }
        if self.low.is_finite() && self.high.is_finite() {
            return 0.5 * (self.low + self.high);
        }
        self.reach = (2.0 * self.reach).max(1.0).max(b.abs());
        b + self.reach.copysign(pull)
    }
}
