//! The problem reduced to statistics, and a point of it.

use crate::backend::{self, Expansion};
use crate::certificate::SquaredStatistics;
use crate::dataset::Statistics;
use crate::linalg::{self, inner, view};
use crate::output::OutputRegularizer;
use crate::{Certificate, Matrix, Problem};

/// `min over V of psi(V) = gamma/2 |Y - X W|^2 + <Theta, V'V> - sum phi(V'V) / 2`, `Theta = phi'(V'V)`, `W = V Theta`.
pub(super) struct Reduced<'a> {
    pub(super) data: SquaredStatistics<'a>,
    pub(super) output: &'a dyn OutputRegularizer,
    pub(super) threads: usize,
    statistics: &'a Statistics,
    unit: f64,
}

/// A V with what follows from it.
#[derive(Debug, Clone)]
pub(super) struct Point {
    pub(super) v: Matrix,
    pub(super) gram: Matrix,
    pub(super) theta: Matrix,
    pub(super) w: Matrix,
    pub(super) psi: f64,
}

impl<'a> Reduced<'a> {
    pub(super) fn new(problem: &'a Problem<'a>, statistics: &'a Statistics) -> Self {
        let data = SquaredStatistics {
            values: &statistics.spectrum.values,
            moment: &statistics.moment,
            label_square: statistics.label_square,
            gamma: problem.gamma(0),
        };
        let (output, threads) = (problem.normal_output(), problem.data().threads());
        Reduced { data, output, threads, statistics, unit: problem.unit() }
    }

    pub(super) fn times(&self, a: &Matrix, b: &Matrix) -> Matrix {
        linalg::times(view(a), view(b), self.threads)
    }

    /// `a' b`.
    pub(super) fn cross(&self, a: &Matrix, b: &Matrix) -> Matrix {
        linalg::times(view(a).transpose(), view(b), self.threads)
    }

    pub(super) fn point(&self, v: Matrix) -> Point {
        let mut gram = self.cross(&v, &v);
        linalg::symmetrise(&mut gram);
        let theta = self.output.theta(&gram);
        let w = self.times(&v, &theta);
        let psi = self.data.loss(&w) + inner(&theta, &gram) - 0.5 * self.output.phi_sum(&gram);
        Point { v, gram, theta, w, psi: if psi.is_nan() { f64::INFINITY } else { psi } }
    }

    /// `gamma (b - l W)`: the V that the duals of W induce.
    pub(super) fn induced(&self, w: &Matrix) -> Matrix {
        let mut out = self.data.moment.clone();
        for (j, &l) in self.data.values.iter().enumerate() {
            for (x, w) in out.row_mut(j).iter_mut().zip(w.row(j)) {
                *x = self.data.gamma * (*x - l * w);
            }
        }
        out
    }

    pub(super) fn certify(&self, point: &Point) -> Certificate {
        self.data.certify(self.output, &point.w, self.threads).in_units(self.unit)
    }

    /// The V of given duals, in the eigenbasis.
    pub(super) fn rotated_state(&self, problem: &Problem<'_>, kappa: &[f64]) -> Matrix {
        let duals = Expansion::Duals(problem.observations(), kappa);
        let state = backend::state_of(problem.data().backend(), duals, self.threads);
        self.cross(&self.statistics.spectrum.frame, &state)
    }

    /// V of the duals `s gamma Y` with the best s: the slope of the dual along the ray changes sign there.
    pub(super) fn cold_start(&self) -> Matrix {
        let (moment, gamma) = (self.data.moment, self.data.gamma);
        let gram = self.cross(moment, moment);
        let t = gram.rows();
        let rises = |s: f64| {
            let factor = gamma * gamma * s;
            let mut pull = 0.0;
            for r in 0..t {
                for q in 0..t {
                    let g = gram[(r, q)];
                    pull += if g == 0.0 { 0.0 } else { self.output.dphi((r, q), factor * s * g) * g };
                }
            }
            gamma * self.data.label_square * (1.0 - s) - factor * pull > 0.0
        };
        let (mut low, mut high) = (-400.0f64, 0.0f64);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if rises(middle.exp()) { low = middle } else { high = middle }
        }
        let mut v = moment.clone();
        v.as_mut_slice().iter_mut().for_each(|x| *x *= gamma * low.exp());
        v
    }
}
