//! Safeguarded Newton for any loss with any regulariser.
//!
//! Finds the zero of the increasing function `h(kappa) = g'(kappa - now) + slope of gamma L*(-kappa / gamma)` on an
//! interval. Plain Newton fails in every way there is: no curvature at kappa = 0, slow far away (powers), tiny wrong steps
//! (exponentials), kinks and infinite slopes at the ends (logistic); so steps are only taken inside a shrinking bracket.

use super::Coordinate;
use crate::output::{OutputRegularizer, RowStep};

/// Value of h, its slope, and the size of the terms h is made of; all three times a common positive factor.
#[derive(Debug, Clone, Copy)]
struct Slope {
    value: f64,
    derivative: f64,
    size: f64,
}

struct Search<'a> {
    coordinate: &'a Coordinate<'a>,
    output: &'a dyn OutputRegularizer,
    row: &'a RowStep<'a>,
}

/// Rounds until the bracket must have closed; reached only when numbers run out.
const MAX_ROUNDS: usize = 200;
const TOLERANCE: f64 = 1e-12;

impl Search<'_> {
    /// h at kappa; at a kink the side is chosen by `right`.
    fn at(&self, kappa: f64, right: bool) -> Slope {
        let from_output = self.output.row_slope(self.row, kappa - self.coordinate.kappa);
        let (left_slope, right_slope) = self.coordinate.slope(kappa);
        let from_loss = if right { right_slope } else { left_slope };
        let shrink = (-from_output.log_scale).exp();
        // An infinite slope must win over a factor that underflowed.
        let from_loss = if from_loss.is_infinite() { from_loss } else { from_loss * shrink };
        Slope {
            value: from_output.slope + from_loss,
            derivative: from_output.curvature + self.coordinate.curvature(kappa) * shrink,
            size: from_output.size + from_loss.abs(),
        }
    }
}

pub(super) fn solve(coordinate: &Coordinate<'_>, output: &dyn OutputRegularizer, row: &RowStep<'_>) -> f64 {
    let search = Search { coordinate, output, row };
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
    if slope.value.abs() <= TOLERANCE * slope.size {
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
        if high - low <= TOLERANCE * low.abs().max(high.abs()) {
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
        if slope.value.abs() <= TOLERANCE * slope.size {
            break;
        }
        if slope.value > 0.0 { high = now } else { low = now }
    }
    now
}

/// A point on the other side of the zero, in direction `sign`, by Newton steps that grow.
fn expand(search: &Search<'_>, now: f64, slope: Slope, sign: f64) -> f64 {
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
