//! Losses of all entries at given weights, smooth by nature or smoothed around a centre.

use crate::certificate::mismatch;
use crate::design::Design;
use crate::linalg::axpy;
use crate::loss::ResponseBlock;
use crate::output::OutputRegularizer;
use crate::solver::vspace::{self, Smooth, gram};
use crate::{Matrix, Problem};
use rayon::prelude::*;

/// The problem with smooth losses; those with kinks are replaced by their proximal approximation.
pub(in crate::solver) struct Smoothed<'a> {
    pub(in crate::solver) problem: &'a Problem<'a>,
    pub(in crate::solver) design: &'a Design,
    gamma: Vec<f64>,
    /// Weight of the proximal term; 0 where all losses are smooth.
    pub(in crate::solver) mu: f64,
    /// Its centre, kappa / gamma.
    pub(in crate::solver) centre: Vec<f64>,
}

/// What the losses answer: duals and curvatures of all entries.
#[derive(Debug, Clone)]
pub(in crate::solver) struct Answer {
    pub(in crate::solver) kappa: Vec<f64>,
    pub(in crate::solver) curvature: Vec<f64>,
}

pub(in crate::solver) type Point = vspace::Point<Answer>;

/// Entries handled at a time.
const CHUNK: usize = 8192;

impl<'a> Smoothed<'a> {
    pub(in crate::solver) fn new(problem: &'a Problem<'a>, design: &'a Design) -> Self {
        Smoothed { problem, design, gamma: design.gammas(problem), mu: 0.0, centre: vec![] }
    }

    /// Centres the proximal term at these duals.
    pub(in crate::solver) fn centre_at(&mut self, kappa: &[f64]) {
        let share = |(k, g): (&f64, &f64)| if *g > 0.0 { k / g } else { 0.0 };
        self.centre = kappa.iter().zip(&self.gamma).map(share).collect();
    }

    /// `V - X'kappa`, zero at the solution.
    pub(in crate::solver) fn residual(&self, point: &Point) -> Matrix {
        let mut residual = self.design.backward(&point.side.kappa, self.threads());
        residual.as_mut_slice().iter_mut().zip(point.v.as_slice()).for_each(|(x, v)| *x = v - *x);
        residual
    }

    /// How far psi is from the bound that its own duals give: an estimate to steer by, not a certificate.
    pub(in crate::solver) fn mismatch(&self, point: &Point, residual: &Matrix) -> f64 {
        let mut induced = point.v.clone();
        axpy(induced.as_mut_slice(), -1.0, residual.as_slice());
        let (threads, output) = (self.threads(), self.output());
        mismatch(output, &point.theta, &gram(&induced, threads), &gram(residual, threads))
    }
}

impl Smooth for Smoothed<'_> {
    type Side = Answer;

    fn output(&self) -> &dyn OutputRegularizer {
        self.problem.normal_output()
    }

    fn threads(&self) -> usize {
        self.problem.data().threads()
    }

    fn losses(&self, w: &Matrix) -> (f64, Answer) {
        let z = self.design.forward(w, self.threads());
        let (mut kappa, mut curvature) = (vec![0.0; z.len()], vec![0.0; z.len()]);
        let (labels, t) = (self.design.labels(), self.design.n_tasks());
        let respond = |task: usize, start: usize, kappa: &mut [f64], curvature: &mut [f64]| {
            let range = start..start + kappa.len();
            let centre = if self.centre.is_empty() { &[] } else { &self.centre[range.clone()] };
            let (y, z, w) = (&labels[range.clone()], &z[range.clone()], &self.gamma[range]);
            let mut block = ResponseBlock { y, z, w, centre, mu: self.mu, kappa, curvature, value: 0.0 };
            self.problem.loss(task).respond(&mut block);
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
                    return respond(0, start, kappa, curvature);
                }
                let mut sum = 0.0;
                for (j, (kappa, curvature)) in kappa.chunks_mut(1).zip(curvature.chunks_mut(1)).enumerate() {
                    sum += respond(self.design.place(start + j).1.min(t - 1), start + j, kappa, curvature);
                }
                sum
            })
            .collect();
        (values.iter().sum(), Answer { kappa, curvature })
    }
}
