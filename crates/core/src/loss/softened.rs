//! Losses with kinks made smooth, with duals that are functions of the prediction alone.
//!
//! A loss whose conjugate is linear on an interval of duals `[-A, B]`, but for `eps |a|`, is a sum of two hinges of the
//! residual `r = y - z`: `L = B max(0, r - eps) + A max(0, -r - eps)`. Softened, each `max(0, s)` is
//! `mu log(1 + exp(s / mu))`. Its slope is a dual inside the interval, its curvature is positive everywhere, and it
//! becomes the loss itself as mu falls. Duals of the softened loss are feasible for the loss, and only observations
//! within about mu of a kink have a Fenchel-Young term worth mentioning.

use super::QuadraticConjugate;

/// Value and derivatives of a softened loss of weight one.
pub(crate) struct Softened {
    pub(crate) value: f64,
    /// -L'(z).
    pub(crate) dual: f64,
    /// L''(z).
    pub(crate) curvature: f64,
    /// How fast the dual falls with mu.
    pub(crate) fall: f64,
}

/// `mu log(1 + exp(s / mu))` with its first two derivatives in s, and minus that of the first in mu.
fn soft_hinge(s: f64, mu: f64) -> [f64; 4] {
    let small = (-(s / mu).abs()).exp();
    let value = s.max(0.0) + mu * small.ln_1p();
    let slope = if s >= 0.0 { 1.0 } else { small } / (1.0 + small);
    let curvature = small / (1.0 + small) / (1.0 + small) / mu;
    [value, slope, curvature, curvature * (s / mu)]
}

impl QuadraticConjugate {
    /// Whether the loss has kinks.
    pub(crate) fn has_kinks(&self) -> bool {
        self.quad == 0.0
    }

    /// The softened loss at a prediction, for a loss with kinks.
    pub(crate) fn softened(&self, z: f64, mu: f64) -> Softened {
        let residual = self.y - z;
        let mut out = Softened { value: 0.0, dual: 0.0, curvature: 0.0, fall: 0.0 };
        for (sign, size) in [(1.0, -self.low), (-1.0, self.high)] {
            if size > 0.0 {
                let [value, slope, curvature, fall] = soft_hinge(sign * residual - self.eps, mu);
                out.value += size * value;
                out.dual += sign * size * slope;
                out.curvature += size * curvature;
                out.fall += sign * size * fall;
            }
        }
        // Rounding must not carry a sum of two slopes out of the interval.
        out.dual = out.dual.clamp(-self.high, -self.low);
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::loss::LossKind;

    #[test]
    fn softened_losses_have_their_derivatives_and_approach_the_loss() {
        for kind in LossKind::all_examples() {
            let loss = kind.build().unwrap();
            let Some(conjugate) = loss.quadratic_conjugate(1.0).filter(|own| own.has_kinks()) else {
                continue;
            };
            for z in [-3.0, -0.5, 0.3, 0.9, 1.0, 1.15, 4.0] {
                let (mu, h) = (0.2, 1e-5);
                let at = |z: f64, mu: f64| conjugate.softened(z, mu);
                let (here, up, down) = (at(z, mu), at(z + h, mu), at(z - h, mu));
                let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * (1.0 + a.abs() + b.abs());
                assert!(close(-here.dual, (up.value - down.value) / (2.0 * h)), "{kind} at {z}");
                assert!(close(-here.curvature, (up.dual - down.dual) / (2.0 * h)), "{kind} at {z}");
                let less = (at(z, mu + h).dual - at(z, mu - h).dual) / (2.0 * h);
                assert!(close(-here.fall, less), "{kind} at {z}: {} {less}", here.fall);
                let (low, high) = loss.conj_domain(1.0);
                assert!(-here.dual >= low && -here.dual <= high, "{kind} at {z}");
                assert!((at(z, 1e-9).value - loss.value(1.0, z)).abs() <= 2e-9, "{kind} at {z}");
            }
        }
    }
}
