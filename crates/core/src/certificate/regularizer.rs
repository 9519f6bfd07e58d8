//! The terms of the certificate that do not come from losses.

use super::{Certificate, Form, Graded, LossTerms};
use crate::Matrix;
use crate::linalg::inner;
use crate::regularizer::{SumRegularizer, not_negative};

/// The parts of P, D and the gap that do not come from losses, with Theta.
pub(crate) struct RegularizerTerms {
    pub(crate) theta: Matrix,
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) gap: f64,
}

impl RegularizerTerms {
    /// The one-point form: the Theta of `gram`.
    pub(crate) fn at(output: &SumRegularizer, gram: &Matrix) -> Self {
        let theta = output.theta(gram);
        let half_phi = 0.5 * output.value(gram);
        RegularizerTerms { primal: inner(&theta, gram) - half_phi, dual: -half_phi, gap: 0.0, theta }
    }

    /// The two-point form: a point with the task Gram matrix `gram`, duals with `gram_a`, and
    /// `distance = <Theta, G(V - V_a)>`.
    pub(crate) fn move_dual_to(
        &mut self,
        output: &SumRegularizer,
        gram: &Matrix,
        gram_a: &Matrix,
        distance: f64,
    ) {
        self.dual = -0.5 * output.value(gram_a);
        let theta_terms = output.fenchel_young(gram, &self.theta, gram_a);
        self.gap = 0.5 * not_negative(distance) + 0.5 * theta_terms;
    }

    pub(crate) fn graded(
        self,
        mut losses: LossTerms,
        form: Form,
        unit: f64,
        state: Matrix,
        gram: Matrix,
    ) -> Graded {
        let intercept = std::mem::take(&mut losses.intercept);
        let certificate = self.certificate(losses, form).in_units(unit);
        Graded { certificate, theta: self.theta, state, gram, intercept }
    }

    pub(crate) fn certificate(&self, losses: LossTerms, form: Form) -> Certificate {
        let or_infinite = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
        Certificate {
            primal: or_infinite(losses.value + self.primal),
            dual: -or_infinite(losses.conj - self.dual),
            gap: or_infinite(losses.gap.iter().sum::<f64>() + self.gap),
            rounding: 0.0,
            form,
            task_gaps: losses.gap,
        }
    }
}
