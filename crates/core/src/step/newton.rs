//! Safeguarded Newton for any loss with any regulariser.
//!
//! Finds the zero of the increasing function `h(kappa) = g'(kappa - now) + slope of gamma L*(-kappa / gamma)`
//! on an interval. Plain Newton fails in every way there is: no curvature at kappa = 0, slow far away
//! (powers), tiny wrong steps (exponentials), kinks and infinite slopes at the ends (logistic); so steps are
//! only taken inside a shrinking bracket.

use super::Coordinate;
use super::added::OutputPolynomial;
use crate::regularizer::{AtomStep, RowSlope, RowStep, SumRegularizer};

/// Value of h, its slope, and the size of the terms h is made of; all three times a common positive factor.
#[derive(Debug, Clone, Copy)]
struct Slope {
    value: f64,
    derivative: f64,
    size: f64,
}

/// The regulariser's part of h.
pub(super) enum OutputSlope<'a> {
    /// A sum over all tasks.
    Any {
        output: &'a SumRegularizer,
        row: &'a RowStep<'a>,
        atoms: &'a [AtomStep],
    },
    Polynomial(OutputPolynomial),
}

impl OutputSlope<'_> {
    fn at(&self, step: f64) -> RowSlope {
        match self {
            OutputSlope::Any { output, row, atoms } => output.row_slope(row, atoms, step),
            OutputSlope::Polynomial(polynomial) => polynomial.at(step),
        }
    }
}

struct RootSearch<'a> {
    coordinate: &'a Coordinate<'a>,
    output: &'a OutputSlope<'a>,
}

/// Rounds until the bracket must have closed: halving takes at most this many from the largest number to the
/// smallest.
const MAX_ROUNDS: usize = 2200;
/// h is zero to this part of its terms: nothing to do, but for rounding.
const ROUNDING_SHARE: f64 = 4.0 * f64::EPSILON;
/// h is zero to this part of its terms: one more Newton step, whose result need not be looked at, does the
/// rest.
const LAST_STEP_SHARE: f64 = 1e-10;

impl Slope {
    /// Whether h is small compared with its terms. Where one of them is infinite nothing is known but its
    /// sign.
    fn vanishes(&self, tolerance: f64) -> bool {
        self.size.is_finite() && self.value.abs() <= tolerance * self.size
    }
}

impl RootSearch<'_> {
    /// h at kappa; at a kink the side is chosen by `right`.
    fn at(&self, kappa: f64, right: bool) -> Slope {
        let from_output = self.output.at(kappa - self.coordinate.kappa);
        let (left_slope, right_slope) = self.coordinate.slope(kappa);
        let from_loss = if right { right_slope } else { left_slope };
        let shrink = if from_output.log_scale == 0.0 { 1.0 } else { (-from_output.log_scale).exp() };
        // An infinite slope must win over a factor that underflowed.
        let from_loss = if from_loss.is_infinite() { from_loss } else { from_loss * shrink };
        let value = from_output.slope + from_loss;
        Slope {
            // So far away that terms of both signs overflow, the input's own one decides.
            value: if value.is_nan() { f64::INFINITY.copysign(kappa - self.coordinate.kappa) } else { value },
            derivative: from_output.curvature + self.coordinate.curvature(kappa) * shrink,
            size: from_output.size + from_loss.abs(),
        }
    }
}

pub(super) fn solve(coordinate: &Coordinate<'_>, output: &OutputSlope<'_>) -> f64 {
    let search = RootSearch { coordinate, output };
    let (mut low, mut high) = coordinate.bounds();
    let start = coordinate.kappa.clamp(low, high);
    // A kink at zero is either the answer or tells on which side the answer is.
    if low < 0.0 && high > 0.0 {
        let (left, right) = coordinate.slope(0.0);
        if left != right {
            if search.at(0.0, true).value < 0.0 {
                low = 0.0;
            } else if search.at(0.0, false).value > 0.0 {
                high = 0.0;
            } else {
                return 0.0;
            }
        }
    }
    let mut now = start.clamp(low, high);
    // Slopes are taken from inside the interval.
    let inside = |kappa: f64, high: f64| kappa < high;
    let mut slope = search.at(now, inside(now, high));
    if slope.vanishes(ROUNDING_SHARE) {
        return now;
    }
    if slope.value > 0.0 {
        high = now;
        if low.is_infinite() {
            low = expand(&search, now, slope, -1.0);
        } else if search.at(low, true).value >= 0.0 {
            return low;
        }
    } else {
        low = now;
        if high.is_infinite() {
            high = expand(&search, now, slope, 1.0);
        } else if search.at(high, false).value <= 0.0 {
            return high;
        }
    }
    let (mut last, mut before_last) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..MAX_ROUNDS {
        if high - low <= f64::EPSILON * low.abs().max(high.abs()) {
            break;
        }
        let newton = now - slope.value / slope.derivative;
        let useful =
            newton > low && newton < high && (2.0 * slope.value).abs() <= before_last * slope.derivative;
        let next = if useful { newton } else { split(low, high, coordinate) };
        if next == now {
            break;
        }
        (before_last, last) = (last, (next - now).abs());
        now = next;
        slope = search.at(now, inside(now, high));
        if slope.vanishes(LAST_STEP_SHARE) {
            let better = now - slope.value / slope.derivative;
            return if better > low && better < high { better } else { now };
        }
        if slope.value > 0.0 { high = now } else { low = now }
    }
    now
}

/// A point on the other side of the zero, in direction `sign`, by Newton steps that grow.
fn expand(search: &RootSearch<'_>, now: f64, slope: Slope, sign: f64) -> f64 {
    let mut reach = (slope.value / slope.derivative).abs();
    if !(reach.is_finite() && reach > 0.0) {
        reach = now.abs().max(1.0);
    }
    for _ in 0..MAX_ROUNDS {
        let far = now + sign * reach;
        if !far.is_finite() || search.at(far, sign < 0.0).value * sign >= 0.0 {
            return far.clamp(-f64::MAX, f64::MAX);
        }
        reach *= 4.0;
    }
    now + sign * reach
}

/// The middle, or a tenth of the way from an end where the conjugate is infinitely steep: zeros crowd there.
fn split(low: f64, high: f64, coordinate: &Coordinate<'_>) -> f64 {
    let (bound_low, bound_high) = coordinate.bounds();
    if low == bound_low && coordinate.slope(low).1.is_infinite() {
        return low + 0.1 * (high - low);
    }
    if high == bound_high && coordinate.slope(high).0.is_infinite() {
        return high - 0.1 * (high - low);
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::{Hinge, Logistic, Loss, ObservedLoss};
    use crate::regularizer::Power;

    /// One task, one input with k(x, x) = 1: `g'(kappa) = (q kappa^2)^(2k-1) kappa` wherever the search
    /// starts.
    fn alone(loss: &dyn Loss, k: u32, gamma: f64, kappa: f64) -> f64 {
        let row = RowStep { task: 0, a: 1.0, b: &[kappa], c: &[kappa * kappa] };
        let loss = ObservedLoss { loss, y: 1.0, offset: 0.0 };
        let output = SumRegularizer::new(Power::new(k).unwrap());
        let slope = OutputSlope::Any { output: &output, row: &row, atoms: &[] };
        solve(&Coordinate { loss, gamma, kappa, stiffness: 0.0 }, &slope)
    }

    #[test]
    fn an_infinite_slope_is_not_an_answer() {
        // The conjugate of the logistic loss is infinitely steep at both ends, where a search may well start.
        for k in [1, 4] {
            let inside = alone(&Logistic, k, 1.0, 0.3);
            assert!(inside > 0.1 && inside < 0.9);
            for end in [0.0, 1.0] {
                assert!((alone(&Logistic, k, 1.0, end) - inside).abs() < 1e-14, "k = {k} from {end}");
            }
        }
    }

    #[test]
    fn powers_beyond_all_numbers_are_not_an_answer() {
        for (k, gamma) in [(4, 1e30), (4, 1e300), (100, 1e3), (1000, 1e100)] {
            // (q kappa^2)^(2k-1) kappa = 1.
            let (odd, q) = (f64::from(2 * k - 1), f64::from(2 * k - 1) / f64::from(k));
            let exact = (-odd * q.ln() / (2.0 * odd + 1.0)).exp();
            for start in [0.0, 0.5, 2.0] {
                let found = alone(&Hinge, k, gamma, start);
                assert!(
                    (found / exact - 1.0).abs() < 1e-13,
                    "k = {k}: {found} instead of {exact} from {start}"
                );
            }
        }
    }

    #[test]
    fn nothing_moves_at_an_answer() {
        for loss in [&Logistic as &dyn Loss, &Hinge] {
            let answer = alone(loss, 4, 10.0, 0.2);
            assert!((alone(loss, 4, 10.0, answer) / answer - 1.0).abs() <= 2.0 * f64::EPSILON);
        }
    }
}
