//! Losses of all entries at given weights, smooth by nature or smoothed around a centre.

use crate::certificate::{not_negative, theta_terms};
use crate::design::Design;
use crate::linalg::{axpy, gram, inner};
use crate::loss::DerivativeBlock;
use crate::regularizer::Entrywise;
use crate::solver::newton_system::{self, Smooth};
use crate::{Matrix, Problem, Result};
use rayon::prelude::*;

/// The problem with smooth losses; those with kinks are replaced by their proximal approximation.
pub(in crate::solver) struct Smoothed<'a> {
    pub(in crate::solver) problem: &'a Problem<'a>,
    pub(in crate::solver) design: &'a Design,
    output: &'a dyn Entrywise,
    gamma: Vec<f64>,
    labels: Vec<f64>,
    offsets: Option<Vec<f64>>,
    /// Weight of the proximal term; 0 where all losses are smooth.
    pub(in crate::solver) mu: f64,
    /// Its centre, kappa / gamma.
    pub(in crate::solver) centre: Vec<f64>,
}

/// Predictions of all entries, with the duals and curvatures of the losses there.
#[derive(Debug, Clone)]
pub(in crate::solver) struct Answer {
    predictions: Vec<f64>,
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
        let output = problem.entrywise()?;
        Ok(Smoothed { problem, design, output, gamma, labels, offsets, mu: 0.0, centre: vec![] })
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
        0.5 * distance + 0.5 * theta_terms(output, &point.theta, &gram(&induced, threads))
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
        let price = inner(&point.theta, &point.gram) - 0.5 * self.output().phi_sum(&point.gram);
        let rises =
            |t: f64| self.loss_slope(&point.side.predictions, t) + price * power * t.powf(power - 1.0) > 0.0;
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

    /// The derivative of the losses at predictions `t z` in t, from the right.
    fn loss_slope(&self, z: &[f64], t: f64) -> f64 {
        let slope = |e: usize| {
            let (left, right) = self.problem.loss_at(self.design.observation(e)).slope(t * z[e]);
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

    fn output(&self) -> &dyn Entrywise {
        self.output
    }

    fn threads(&self) -> usize {
        self.problem.data().threads()
    }

    fn losses(&self, w: &Matrix) -> (f64, Answer) {
        let predictions = self.design.forward(w, self.threads());
        let with_offsets = self.offsets.as_ref().map(|offsets| {
            let mut sum = predictions.clone();
            axpy(&mut sum, 1.0, offsets);
            sum
        });
        let z = with_offsets.as_ref().unwrap_or(&predictions);
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
        (values.iter().sum(), Answer { predictions, kappa, curvature })
    }
}
