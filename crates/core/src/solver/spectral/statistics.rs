//! The squared loss on shared inputs through sufficient statistics: values and certificates without another
//! pass over the data.

use super::square::Square;
use crate::Certificate;
use crate::algebra::Algebra;
use crate::certificate::{Form, LossTerms, RegularizerTerms};
use crate::regularizer::SumRegularizer;

/// The squared loss on shared inputs, reduced to what the data say, `moment = X'Y` in a basis where X'X is
/// simple.
pub(super) struct SquaredStatistics<'a, A: Algebra> {
    pub(super) square: &'a dyn Square<A>,
    pub(super) moment: &'a A::Mat,
    /// |Y|^2.
    pub(super) label_square: f64,
    /// The part of |Y|^2 that no weights can explain, where that is known.
    pub(super) floor: f64,
    pub(super) gamma: f64,
    pub(super) algebra: A,
}

impl<A: Algebra> SquaredStatistics<'_, A> {
    /// Grades the duals `gamma (Y - X w)` of any weights w with the primal point they induce; the sums of the
    /// certificate, with the observations' terms added up in closed form: `gamma/2 |X (W - w)|^2`.
    pub(super) fn certify(&self, output: &SumRegularizer, w: &A::Mat) -> Certificate {
        let algebra = &self.algebra;
        let image = self.square.times(algebra, w);
        let v = self.induced(&image);
        let point = RegularizerTerms::at(output, &algebra.gram(&v));
        let weights = algebra.times_small(&v, &point.theta);
        let image_of_weights = self.square.times(algebra, &weights);
        let mut gap =
            algebra.column_products(&algebra.minus(&weights, w), &algebra.minus(&image_of_weights, &image));
        gap.iter_mut().for_each(|gap| *gap *= 0.5 * self.gamma);
        let value = self.loss(&weights, &image_of_weights);
        let losses = LossTerms { value, conj: self.conj(w, &image), gap, intercept: vec![] };
        point.certificate(losses, Form::OnePoint)
    }

    /// Grades the duals `gamma (Y - X W)` of the weights W of V with V itself: the observations' terms are
    /// all zero.
    pub(super) fn certify_point(&self, output: &SumRegularizer, v: &A::Mat) -> Certificate {
        let algebra = &self.algebra;
        let gram_v = algebra.gram(v);
        let mut point = RegularizerTerms::at(output, &gram_v);
        let w = algebra.times_small(v, &point.theta);
        let image = self.square.times(algebra, &w);
        let v_a = self.induced(&image);
        let offset = algebra.minus(v, &v_a);
        let distance = algebra.inner(&offset, &algebra.times_small(&offset, &point.theta));
        point.move_dual_to(output, &gram_v, &algebra.gram(&v_a), distance);
        let (value, conj) = (self.loss(&w, &image), self.conj(&w, &image));
        let gap = vec![0.0; point.theta.rows()];
        point.certificate(LossTerms { value, conj, gap, intercept: vec![] }, Form::TwoPoint)
    }

    /// `gamma (X'Y - X'X w)`: the V that the duals `gamma (Y - X w)` induce, from `image = X'X w`.
    pub(super) fn induced(&self, image: &A::Mat) -> A::Mat {
        let mut out = self.algebra.minus(self.moment, image);
        self.algebra.scale(&mut out, self.gamma);
        out
    }

    /// Sum of `gamma L*(Y, X w - Y)`.
    fn conj(&self, w: &A::Mat, image: &A::Mat) -> f64 {
        self.loss(w, image) - self.gamma * (self.label_square - self.algebra.inner(self.moment, w))
    }

    /// `gamma/2 |Y - X w|^2`.
    pub(super) fn loss(&self, w: &A::Mat, image: &A::Mat) -> f64 {
        0.5 * self.gamma * self.floor + self.excess_loss(w, image)
    }

    /// `gamma/2 (|Y - X w|^2 - floor)`; in the eigenbasis a sum of squares, which loses no digits however
    /// close w comes to the best fit.
    pub(super) fn excess_loss(&self, w: &A::Mat, image: &A::Mat) -> f64 {
        let algebra = &self.algebra;
        let Some(values) = self.square.values() else {
            let explained = 2.0 * algebra.inner(self.moment, w) - algebra.inner(w, image);
            return 0.5 * self.gamma * (self.label_square - self.floor - explained);
        };
        let rest = algebra.minus(self.moment, image);
        let squares = algebra.row_products(&rest, &rest);
        let noise = noise_level(values);
        let mut sum = 0.0;
        let (mut of_rest, mut of_moment) = (None, None);
        for (j, &l) in values.iter().enumerate() {
            sum += if l > noise {
                squares[j] / l
            } else {
                // (l w - 2 b) w
                let of_rest = of_rest.get_or_insert_with(|| algebra.row_products(&rest, w));
                let of_moment = of_moment.get_or_insert_with(|| algebra.row_products(self.moment, w));
                -of_rest[j] - of_moment[j]
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
pub(super) fn unexplained<A: Algebra>(
    values: &[f64],
    moment: &A::Mat,
    label_square: f64,
    algebra: &A,
) -> f64 {
    let noise = noise_level(values);
    let squares = algebra.row_products(moment, moment);
    let kept = values.iter().zip(squares).filter(|(l, _)| **l > noise);
    (label_square - kept.map(|(l, square)| square / l).sum::<f64>()).max(0.0)
}
