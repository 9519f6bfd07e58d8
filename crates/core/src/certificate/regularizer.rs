//! The terms of the certificate that do not come from losses.

use super::{Certificate, Form, Graded, LossTerms};
use crate::Matrix;
use crate::linalg::inner;
use crate::regularizer::Entrywise;

/// Rounding may make a zero negative: then it is zero. NaN (infinity minus infinity) proves nothing: then the
/// gap is infinite.
pub(crate) fn not_negative(term: f64) -> f64 {
    if term.is_nan() { f64::INFINITY } else { term.max(0.0) }
}

/// Sum of `phi(G) + phi*(Theta) - Theta G` over all pairs.
pub(crate) fn theta_terms(output: &dyn Entrywise, theta: &Matrix, gram_a: &Matrix) -> f64 {
    let t = gram_a.rows();
    let mut sum = 0.0;
    for r in 0..t {
        for s in 0..t {
            sum += not_negative(output.fenchel_young((r, s), gram_a[(r, s)], theta[(r, s)]));
        }
    }
    sum
}

/// The parts of P, D and the gap that do not come from losses, with Theta.
pub(crate) struct RegularizerTerms {
    pub(crate) theta: Matrix,
    pub(crate) primal: f64,
    pub(crate) dual: f64,
    pub(crate) gap: f64,
}

impl RegularizerTerms {
    /// The one-point form: Theta = phi'(gram).
    pub(crate) fn at(output: &dyn Entrywise, gram: &Matrix) -> Self {
        let theta = output.theta(gram);
        let half_phi = 0.5 * output.phi_sum(gram);
        RegularizerTerms { primal: inner(&theta, gram) - half_phi, dual: -half_phi, gap: 0.0, theta }
    }

    /// The two-point form: duals with the task Gram matrix `gram_a`, and `distance = <Theta, G(V - V_a)>`.
    pub(crate) fn move_dual_to(&mut self, output: &dyn Entrywise, gram_a: &Matrix, distance: f64) {
        self.dual = -0.5 * output.phi_sum(gram_a);
        self.gap = 0.5 * not_negative(distance) + 0.5 * theta_terms(output, &self.theta, gram_a);
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
            form,
            task_gaps: losses.gap,
        }
    }
}
