//! The squared loss on shared inputs through sufficient statistics: values and certificates without another
//! pass over the data.

use crate::certificate::{Form, LossTerms, RegularizerTerms};
use crate::linalg::band::Band;
use crate::linalg::{self, gram, inner, view};
use crate::regularizer::SumRegularizer;
use crate::{Certificate, Matrix};

/// The squared loss on shared inputs, reduced to what the data say, `moment = X'Y` in a basis where X'X is
/// simple.
pub(super) struct SquaredStatistics<'a> {
    pub(super) square: Square<'a>,
    pub(super) moment: &'a Matrix,
    /// |Y|^2.
    pub(super) label_square: f64,
    /// The part of |Y|^2 that no weights can explain, where that is known.
    pub(super) floor: f64,
    pub(super) gamma: f64,
}

/// X'X.
#[derive(Debug, Clone, Copy)]
pub(super) enum Square<'a> {
    /// In the eigenbasis: diag(l).
    Diagonal(&'a [f64]),
    Banded(&'a Band),
}

impl Square<'_> {
    /// `X'X w`.
    fn times(&self, w: &Matrix) -> Matrix {
        match self {
            Square::Diagonal(values) => {
                let mut out = w.clone();
                for (j, &l) in values.iter().enumerate() {
                    out.row_mut(j).iter_mut().for_each(|x| *x *= l);
                }
                out
            }
            Square::Banded(band) => band.times(w),
        }
    }
}

impl SquaredStatistics<'_> {
    /// Grades the duals `gamma (Y - X w)` of any weights w with the primal point they induce; the sums of the
    /// certificate, with the observations' terms added up in closed form: `gamma/2 |X (W - w)|^2`.
    pub(super) fn certify(&self, output: &SumRegularizer, w: &Matrix, threads: usize) -> Certificate {
        let v = self.induced(w);
        let point = RegularizerTerms::at(output, &gram(&v, threads));
        let weights = linalg::times(view(&v), view(&point.theta), threads);
        let offset = weights.minus(w);
        let (mut gap, image) = (vec![0.0; w.cols()], self.square.times(&offset));
        for j in 0..offset.rows() {
            for ((gap, x), lx) in gap.iter_mut().zip(offset.row(j)).zip(image.row(j)) {
                *gap += 0.5 * self.gamma * lx * x;
            }
        }
        let losses = LossTerms { value: self.loss(&weights), conj: self.conj(w), gap, intercept: vec![] };
        point.certificate(losses, Form::OnePoint)
    }

    /// Grades the duals `gamma (Y - X W)` of the weights W of V with V itself: the observations' terms are
    /// all zero.
    pub(super) fn certify_point(&self, output: &SumRegularizer, v: &Matrix, threads: usize) -> Certificate {
        let gram_v = gram(v, threads);
        let mut point = RegularizerTerms::at(output, &gram_v);
        let w = linalg::times(view(v), view(&point.theta), threads);
        let v_a = self.induced(&w);
        let offset = v.minus(&v_a);
        let distance = inner(&offset, &linalg::times(view(&offset), view(&point.theta), threads));
        point.move_dual_to(output, &gram_v, &gram(&v_a, threads), distance);
        let gap = vec![0.0; w.cols()];
        let losses = LossTerms { value: self.loss(&w), conj: self.conj(&w), gap, intercept: vec![] };
        point.certificate(losses, Form::TwoPoint)
    }

    /// `gamma (X'Y - X'X w)`: the V that the duals `gamma (Y - X w)` induce.
    pub(super) fn induced(&self, w: &Matrix) -> Matrix {
        let mut out = self.square.times(w);
        for (x, b) in out.as_mut_slice().iter_mut().zip(self.moment.as_slice()) {
            *x = self.gamma * (b - *x);
        }
        out
    }

    /// Sum of `gamma L*(Y, X w - Y)`.
    fn conj(&self, w: &Matrix) -> f64 {
        self.loss(w) - self.gamma * (self.label_square - inner(self.moment, w))
    }

    /// `gamma/2 |Y - X w|^2`.
    pub(super) fn loss(&self, w: &Matrix) -> f64 {
        0.5 * self.gamma * self.floor + self.excess_loss(w)
    }

    /// `gamma/2 (|Y - X w|^2 - floor)`; in the eigenbasis a sum of squares, which loses no digits however
    /// close w comes to the best fit.
    pub(super) fn excess_loss(&self, w: &Matrix) -> f64 {
        let values = match self.square {
            Square::Diagonal(values) => values,
            Square::Banded(band) => {
                let explained = 2.0 * inner(self.moment, w) - inner(w, &band.times(w));
                return 0.5 * self.gamma * (self.label_square - self.floor - explained);
            }
        };
        let (noise, mut sum) = (noise_level(values), 0.0);
        for (j, &l) in values.iter().enumerate() {
            let pairs = self.moment.row(j).iter().zip(w.row(j));
            sum += if l > noise {
                pairs.map(|(b, w)| (b - l * w) * (b - l * w)).sum::<f64>() / l
            } else {
                pairs.map(|(b, w)| (l * w - 2.0 * b) * w).sum::<f64>()
            };
        }
        0.5 * self.gamma * sum
    }
}

/// Eigenvalues up to here are rounding errors.
fn noise_level(values: &[f64]) -> f64 {
    values.iter().fold(0.0f64, |a, &b| a.max(b)) * values.len() as f64 * f64::EPSILON
}

/// `|Y|^2 - sum b^2 / l`: what no weights can explain.
pub(super) fn unexplained(values: &[f64], moment: &Matrix, label_square: f64) -> f64 {
    let noise = noise_level(values);
    let kept = values.iter().enumerate().filter(|(_, l)| **l > noise);
    let explained: f64 = kept.map(|(j, l)| linalg::dot(moment.row(j), moment.row(j)) / l).sum();
    (label_square - explained).max(0.0)
}
