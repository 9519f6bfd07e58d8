//! Losses as numbers, for devices; their formulas, which kernels of devices repeat.

use super::{Logistic, Loss, LossDerivatives, QuadraticConjugate};
use crate::algebra::LossForm;

impl LossForm {
    /// Of a loss with these conjugates for the labels 1 and -1.
    pub(super) fn quadratic(plus: QuadraticConjugate, minus: QuadraticConjugate) -> Self {
        LossForm::Quadratic {
            factor: plus.y,
            quad: plus.quad,
            eps: plus.eps,
            plus: (plus.low, plus.high),
            minus: (minus.low, minus.high),
        }
    }

    /// The conjugate for a label, if it is quadratic.
    fn conjugate(&self, label: f64) -> Option<QuadraticConjugate> {
        match *self {
            LossForm::Logistic => None,
            LossForm::Quadratic { factor, quad, eps, plus, minus } => {
                let (low, high) = if label < 0.0 { minus } else { plus };
                Some(QuadraticConjugate { y: factor * label, quad, eps, low, high })
            }
        }
    }

    /// Value and derivatives at a prediction, with a proximal term as in
    /// [`DerivativeBlock`](super::DerivativeBlock).
    pub fn answer(&self, label: f64, z: f64, mu: f64, centre: f64) -> LossDerivatives {
        match self.conjugate(label) {
            Some(conjugate) => conjugate.derivatives(z, mu, centre),
            None => super::derivatives::smooth(&Logistic, label, z),
        }
    }

    /// L(z), L*(u) and the Fenchel-Young term `L(z) + L*(u) - z u`, for u in the domain.
    pub fn terms(&self, label: f64, z: f64, u: f64) -> [f64; 3] {
        match self.conjugate(label) {
            Some(conjugate) => {
                let at = conjugate.derivatives(z, 0.0, 0.0);
                [at.value, conjugate.value(u), conjugate.term(z, u, -at.dual)]
            }
            None => [Logistic.value(label, z), Logistic.conj(label, u), Logistic.fenchel_young(label, z, u)],
        }
    }

    /// The interval where L* is finite.
    pub fn domain(&self, label: f64) -> (f64, f64) {
        match self.conjugate(label) {
            Some(conjugate) => (conjugate.low, conjugate.high),
            None => Logistic.conj_domain(label),
        }
    }
}

impl QuadraticConjugate {
    /// `L(z) + L*(u) - z u` as a sum of terms that are not negative; `best` is the slope of L at z.
    fn term(&self, z: f64, u: f64, best: f64) -> f64 {
        let (rest, step) = (self.y - z, u - best);
        let bend = 0.5 * self.quad * step * step;
        if best == 0.0 && rest.abs() <= self.eps {
            return u * rest + self.eps * u.abs() + bend;
        }
        let sign = if best == 0.0 { 0.0 } else { best.signum() };
        let kink = self.eps * (u.abs() - sign * u);
        if best > self.low && best < self.high && best != 0.0 {
            return bend + kink;
        }
        step * (rest + self.quad * best + self.eps * sign) + bend + kink
    }
}

#[cfg(test)]
mod tests {
    use crate::LossKind;

    /// The form of every loss gives its values, derivatives and terms.
    #[test]
    fn forms_are_the_losses() {
        for kind in LossKind::all_examples() {
            let loss = kind.build().unwrap();
            let Some(form) = loss.form() else { panic!("{} has no form", loss.name()) };
            let labels: &[f64] =
                if loss.is_classification() { &[-1.0, 1.0] } else { &[-2.5, -1.0, 0.0, 0.3, 7.0] };
            for &y in labels {
                assert_eq!(form.domain(y), loss.conj_domain(y), "{}", loss.name());
                for z in [-30.0, -2.6, -1.0, -0.2, 0.0, 0.31, 0.9, 1.0, 4.0, 1e3] {
                    let (at, value) = (form.answer(y, z, 0.0, 0.0), loss.value(y, z));
                    assert!(
                        (at.value - value).abs() <= 1e-13 * (1.0 + value + z * z),
                        "{} {y} {z}",
                        loss.name()
                    );
                    let (left, right) = loss.slope(y, z);
                    assert!(-at.dual >= left - 1e-13 * left.abs() && -at.dual <= right + 1e-13 * right.abs());
                    for share in [0.0, 0.1, 0.5, 0.99, 1.0] {
                        let (low, high) = form.domain(y);
                        let u = low.max(-3.0) * (1.0 - share) + high.min(4.0) * share;
                        let [value, conj, term] = form.terms(y, z, u);
                        let size = 1.0 + value.abs() + conj.abs() + (z * u).abs();
                        assert!((conj - loss.conj(y, u)).abs() <= 1e-13 * size);
                        let want = loss.fenchel_young(y, z, u);
                        assert!(
                            (term - want).abs() <= 1e-13 * size,
                            "{} {y} {z} {u}: {term} {want}",
                            loss.name()
                        );
                        assert!(term >= 0.0, "{} {y} {z} {u}: {term}", loss.name());
                    }
                }
            }
        }
    }
}
